/* The command line of gufo itself. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/options.h"

/* Reads the options before the command.  *command_at is the index of the command in argv, or argc
 * if there is none.  Returns 0 or CODE_USAGE. */
int help_parse_top(int argc, char **argv, shared_options *shared, int *command_at);
/* The help of gufo itself. */
void help_print_top(FILE *out);
/* Says that there is no such command, and which one may be meant.  Returns CODE_USAGE. */
int help_unknown_command(const char *name);

#endif
