/* The table of commands. */
#include "cli/commands.h"

const command commands[] = {
    {"show", "Show what a model file is and what it holds", &command_show},
    {"get", "Print one metadata value", &command_get},
    {"validate", "Check files and report every fault", &command_validate},
    {"stats", "Show what numbers the tensors hold", &command_stats},
    {"quantize", "Change the element types of a model", &command_quantize},
    {"edit", "Change the metadata of a model", &command_edit},
    {"imatrix", "Show, merge and convert importance matrices", &command_imatrix},
    {"diff", "Show how two models differ", &command_diff},
    {"hash", "Hash the tensor data of models", &command_hash},
    {"verify", "Compare a model with a manifest of its hashes", &command_verify},
    {"sign", "Sign a manifest", &command_sign},
    {"split", "Split a model into several files", &command_split},
    {"merge", "Merge several files into one", &command_merge},
    {"endian", "Write a model in the other byte order", &command_endian},
    {"extract", "Write tensors to files of other formats", &command_extract},
    {"strip", "Write a model without its tensors", &command_strip},
    {"name", "Explain the names of files, and fix them", &command_name},
    {"explain", "Explain a key, a tensor, a type or a rule", &command_explain},
    {"list", "List the keys, architectures, tensors, types and rules that are known",
     &command_list},
    {"help", "Explain a command", &command_help},
};

const size_t command_count = sizeof commands / sizeof *commands;
