/* Options that all commands share. */
#ifndef CLI_CORE_OPTIONS_OPTIONS_H
#define CLI_CORE_OPTIONS_OPTIONS_H

#include "cli/core/options/option.h"

#include "gufo/codec.h"

#include <stdio.h>

typedef enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;

enum { OPTIONS_MOST_THREADS = 1024 };

typedef struct shared_options {
    const struct command *commands; /* all of them; the last one is empty */
    const char *command;            /* the one whose command line is read; NULL: gufo itself */
    bool json, quiet, verbose, force;
    uint64_t threads; /* 0: all cores */
    color_mode color;
    enum { HELP_NONE, HELP_SHORT, HELP_WHOLE } help;
    bool done;   /* nothing is left to do but to print that help */
    char **args; /* arguments that are not options, in order */
    int arg_count;
} shared_options;

/* What every command's own options begin with. */
typedef struct command_input {
    shared_options *shared;
    const char *output; /* OUT, by its option or as an operand (command_line.h) */
    struct {
        char **items;
        size_t count;
    } joined; /* words that aliases became, which options point into */
} command_input;

/* The end of the row of --output, where a command has it. */
#define OPTION_OUTPUT OPTION_TEXT(command_input, output), .letter = 'o'

/* Their rows, the last one empty; the values go into a shared_options. */
extern const command_option options_shared[];

/* How deep arrays may be nested in files that are opened (gufo_open_options); 0: as usual. */
uint64_t options_max_depth(void);
/* Whether symlinks in a model's folder may lead out of it (gufo_checkpoint_options). */
bool options_follow(void);

/* Whether standard output gets colour: --color, NO_COLOR, TERM, and whether it is a terminal. */
bool options_color(const shared_options *shared);
/* Whether reports get colour: --color, NO_COLOR, TERM, and only if standard error is a terminal. */
bool options_error_color(const shared_options *shared);

/* Reads GUFO_CPU from the environment, which nothing else reads, into *cpu: the best level if it is
 * empty or not set.  Returns CODE_OK, or CODE_USAGE after a report if the level is unknown or this
 * machine lacks it. */
int options_cpu(gufo_cpu *cpu);

#endif
