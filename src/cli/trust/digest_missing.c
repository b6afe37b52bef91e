/* gufo hash, verify and sign in a gufo that was built without the room digest. */
#include "cli/commands.h"
#include "cli/core/report.h"

static int missing(void *options)
{
    (void)options;
    report_message(NULL, "this gufo was built without hashes and signatures; build gufo with "
                         "-DGUFO_DIGEST=ON and Debian's packages libxxhash-dev, libssl-dev and "
                         "libsodium-dev");
    return CODE_USAGE;
}

const command_line command_hash = {.unread = true, .run = missing};
const command_line command_verify = {.unread = true, .run = missing};
const command_line command_sign = {.unread = true, .run = missing};
