/* Options that all commands share. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/option.h"

typedef enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;

typedef struct shared_options {
    const char *command; /* whose command line is read; NULL: that of gufo itself */
    bool json;
    bool quiet;
    bool force;
    unsigned verbose;
    unsigned threads; /* 0: all cores */
    color_mode color;
    bool done;   /* help was asked for and printed: nothing is left to do */
    char **args; /* arguments that are not options, in order */
    int arg_count;
} shared_options;

/* What every command's own options begin with. */
typedef struct command_input {
    shared_options *shared;
} command_input;

/* Keys of options without a short form. */
enum {
    OPTION_COLOR = 0x100,
    OPTION_THREADS,
    OPTION_FORCE,
    OPTION_VERSION,
    OPTION_SINGLE,
    OPTION_COMMAND, /* and those that follow: rows of a command's table */
};

/* The parser of the shared options, for the `children` of another; its input is a
 * shared_options. */
extern const struct argp_child options_children[];

/* Reads a command line into the `input` of a parser, which is about `shared`.  Returns 0, or
 * CODE_USAGE after a report. */
int options_parse(const struct argp *parser, unsigned flags, int argc, char **argv,
                  const shared_options *shared, void *input);

/* Whether standard output gets colour: --color, NO_COLOR, TERM, and whether it is a terminal. */
bool options_color(const shared_options *shared);

#endif
