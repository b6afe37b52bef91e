/* The commands about vocabularies and chat templates in a minimal build, which has no room text. */
#include "cli/commands.h"
#include "cli/core/terminal/report.h"

static int missing(void *options)
{
    (void)options;
    return report_as(
        CODE_USAGE, NULL,
        "this is a minimal build of gufo, without tokenizers and templates: build it without "
        "-DGUFO_MINIMAL=ON");
}

const command_line command_tokenize = {.unread = true, .run = missing};
const command_line command_detokenize = {.unread = true, .run = missing};
const command_line command_vocab = {.unread = true, .run = missing};
const command_line command_template = {.unread = true, .run = missing};
