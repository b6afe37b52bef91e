/* The commands of gufo: one row each in the table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command_line.h"

#include <stddef.h>

typedef struct command {
    const char *name;
    const char *summary; /* one line of `gufo --help` */
    const command_line *line;
} command;

extern const command commands[];
extern const size_t command_count;

const command *command_find(const char *name);
/* The command whose name is most like `name`; NULL if none is. */
const command *command_nearest(const char *name);

extern const command_line command_show;
extern const command_line command_get;
extern const command_line command_validate;
extern const command_line command_stats;
extern const command_line command_quantize;
extern const command_line command_edit;
extern const command_line command_imatrix;
extern const command_line command_diff;
extern const command_line command_hash;
extern const command_line command_verify;
extern const command_line command_sign;
extern const command_line command_split;
extern const command_line command_merge;
extern const command_line command_endian;
extern const command_line command_extract;
extern const command_line command_strip;
extern const command_line command_name;
extern const command_line command_explain;
extern const command_line command_list;
extern const command_line command_help;

#endif
