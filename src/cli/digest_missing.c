/* gufo hash, verify and sign in a gufo that was built without the room digest. */
#include "cli/commands.h"
#include "cli/report.h"

static int command_missing(void)
{
    report_message(NULL, "this gufo was built without hashes and signatures; build gufo with "
                         "-DGUFO_DIGEST=ON and Debian's packages libxxhash-dev, libssl-dev and "
                         "libsodium-dev");
    return CODE_USAGE;
}

int command_hash(int argc, char **argv, shared_options *shared)
{
    (void)argc;
    (void)argv;
    (void)shared;
    return command_missing();
}

int command_verify(int argc, char **argv, shared_options *shared)
{
    return command_hash(argc, argv, shared);
}

int command_sign(int argc, char **argv, shared_options *shared)
{
    return command_hash(argc, argv, shared);
}
