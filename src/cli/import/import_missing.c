/* gufo migrate, convert and export in a minimal build, which has no room import. */
#include "cli/commands.h"
#include "cli/core/terminal/report.h"

static int missing(void *options)
{
    (void)options;
    return report_as(CODE_USAGE, NULL,
                     "this is a minimal build of gufo, without other formats: build it without "
                     "-DGUFO_MINIMAL=ON");
}

const command_line command_migrate = {.unread = true, .run = missing};
const command_line command_convert = {.unread = true, .run = missing};
const command_line command_export = {.unread = true, .run = missing};
