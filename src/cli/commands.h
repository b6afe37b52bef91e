/* The commands of gufo: one row each in the table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/core/command_line.h"

#include <stddef.h>

typedef struct command {
    const char *name;
    const char *summary; /* one line of `gufo --help` */
    const command_line *line;
} command;

extern const command commands[];
extern const size_t command_count;

/* gufo itself: reads what comes before the command, finds the command in the table and lets it read
 * the rest. */
extern const command_line command_gufo;

extern const command_line command_show, command_get, command_validate, command_stats,
    command_quantize, command_edit, command_imatrix, command_diff, command_hash, command_verify,
    command_sign, command_split, command_merge, command_endian, command_extract, command_strip,
    command_name, command_explain, command_list, command_help;

#endif
