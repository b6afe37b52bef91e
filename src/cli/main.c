/* gufo: the command.
 *
 *     gufo [OPTION...] COMMAND [OPTION...] FILE...
 *
 * Shared options may be on either side of the command. */
#include "cli/commands.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/stdout.h"

#include <sys/resource.h>

/* A set of shards is open as a whole, and may have more files than are allowed by default. */
static void allow_many_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    shared_options shared = {.commands = commands, .gufo = &command_gufo};

    signals_install();
    allow_many_files();
    stdout_start();
    if (argc < 1) /* execve allows that, argp does not */
        return CODE_USAGE;
    shared.words = (const char *const *)argv;
    shared.word_count = (size_t)argc;
    return stdout_finish(command_line_start(&shared));
}
