/* Options that all commands share, and the way a command line is read (argp). */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

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

/* What every command's own options begin with: options_parse hands it from parser to parser. */
typedef struct command_input {
    shared_options *shared;
} command_input;

/* Keys of options without a short form, one space for all commands. */
enum {
    OPTION_COLOR = 0x100,
    OPTION_THREADS,
    OPTION_FORCE,
    OPTION_VERSION,
    OPTION_SINGLE,
    OPTION_COMMAND, /* the first one that a command may use for its own */
};

/* The parser of the shared options; its input is a shared_options. */
extern const struct argp options_shared;

/* It alone, for the `children` of a command's parser, which sets `state->child_inputs[0]` to the
 * shared options at ARGP_KEY_INIT. */
extern const struct argp_child options_children[];

/* The parser of a command without its own options. */
error_t options_parse_none(int key, char *text, struct argp_state *state);

/* Reads a command line: `argv[0]` is not looked at.  Returns 0, or CODE_USAGE after a report. */
int options_parse(const struct argp *parser, unsigned flags, int argc, char **argv,
                  command_input *input);

/* A whole number from `lowest` to `highest`; false after a report. */
bool options_number(const shared_options *shared, const char *option, const char *text,
                    uint64_t lowest, uint64_t highest, uint64_t *out);

/* Whether standard output gets colour: --color, NO_COLOR, TERM, and whether it is a terminal. */
bool options_color(const shared_options *shared);

#endif
