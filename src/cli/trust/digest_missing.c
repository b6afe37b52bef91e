/* gufo hash, verify and sign in a minimal build, which has no room digest. */
#include "cli/commands.h"

static int missing(void *options)
{
    (void)options;
    return report_as(CODE_USAGE, NULL,
                     "this is a minimal build of gufo, without hashes and signatures: build it "
                     "without -DGUFO_MINIMAL=ON");
}

const command_line command_hash = {.unread = true, .run = missing};
const command_line command_verify = {.unread = true, .run = missing};
const command_line command_sign = {.unread = true, .run = missing};
