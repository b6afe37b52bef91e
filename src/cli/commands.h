/* The commands of gufo: one row each in the table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

#include <stddef.h>

typedef struct command {
    const char *name;
    const char *summary; /* one line of `gufo --help` */
    /* Reads its command line (argv[0] is the command's name) and does its work.  Returns the exit
     * code. */
    int (*run)(int argc, char **argv, shared_options *shared);
} command;

extern const command commands[];
extern const size_t command_count;

const command *command_find(const char *name);
/* The command whose name is most like `name`; NULL if none is. */
const command *command_nearest(const char *name);

int command_show(int argc, char **argv, shared_options *shared);
int command_get(int argc, char **argv, shared_options *shared);
int command_validate(int argc, char **argv, shared_options *shared);
int command_stats(int argc, char **argv, shared_options *shared);
int command_quantize(int argc, char **argv, shared_options *shared);
int command_edit(int argc, char **argv, shared_options *shared);
int command_imatrix(int argc, char **argv, shared_options *shared);
int command_diff(int argc, char **argv, shared_options *shared);
int command_hash(int argc, char **argv, shared_options *shared);
int command_verify(int argc, char **argv, shared_options *shared);
int command_sign(int argc, char **argv, shared_options *shared);
int command_split(int argc, char **argv, shared_options *shared);
int command_merge(int argc, char **argv, shared_options *shared);
int command_endian(int argc, char **argv, shared_options *shared);
int command_extract(int argc, char **argv, shared_options *shared);
int command_strip(int argc, char **argv, shared_options *shared);
int command_name(int argc, char **argv, shared_options *shared);
int command_explain(int argc, char **argv, shared_options *shared);
int command_list(int argc, char **argv, shared_options *shared);
int command_help(int argc, char **argv, shared_options *shared);

#endif
