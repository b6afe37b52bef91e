/* gufo: the command.
 *
 *     gufo [OPTION...] COMMAND [OPTION...] FILE...
 *
 * main reads what comes before the command, finds the command in the table and lets it read the
 * rest.  Shared options may be on either side of the command. */
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/stdout.h"

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

static int run(int argc, char **argv)
{
    shared_options shared = {0};
    int at;
    int code = help_parse_top(argc, argv, &shared, &at);

    if (code != 0 || shared.done)
        return code;
    if (at >= argc) { /* no command */
        help_print_top(stderr);
        return CODE_USAGE;
    }
    const command *found = command_find(argv[at]);

    if (found == NULL)
        return help_unknown_command(argv[at]);
    shared.command = found->name;
    return command_line_run(found->line, argc - at, argv + at, &shared);
}

int main(int argc, char **argv)
{
    signals_install();
    allow_many_files();
    stdout_start();
    if (argc < 1) /* execve allows that, argp does not */
        return CODE_USAGE;
    return stdout_finish(run(argc, argv));
}
