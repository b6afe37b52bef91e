/* The commands of this folder in a minimal build, which has no room remote. */
#include "cli/commands.h"
#include "cli/core/terminal/report.h"

static int missing(void *options)
{
    (void)options;
    return report_as(CODE_USAGE, NULL,
                     "this is a minimal build of gufo, without other machines and stores: build it "
                     "without -DGUFO_MINIMAL=ON");
}

const command_line command_fetch = {.unread = true, .run = missing};
const command_line command_ollama = {.unread = true, .run = missing};
