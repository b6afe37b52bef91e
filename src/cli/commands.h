/* The commands of gufo: one row each in the table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/core/options/command_line.h"

/* The last row is empty. */
extern const command commands[];

/* gufo itself: reads what comes before the command, finds the command in the table and lets it read
 * the rest. */
extern const command_line command_gufo;

extern const command_line command_show, command_ls, command_get, command_validate, command_stats,
    command_quantize, command_edit, command_imatrix, command_diff, command_hash, command_verify,
    command_sign, command_split, command_merge, command_endian, command_extract, command_strip,
    command_name, command_explain, command_list, command_help, command_completion, command_migrate,
    command_convert, command_export, command_lora, command_tokenize, command_detokenize,
    command_vocab, command_template, command_estimate, command_commit, command_parts,
    command_progress, command_report, command_ollama, command_fetch;

#endif
