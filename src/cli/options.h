/* Options: those that all commands share, and the table in which a command says what its own ones
 * are.  argp reads the command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
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

/* What every command's own options begin with. */
typedef struct command_input {
    shared_options *shared;
} command_input;

/* ---- one option ----------------------------------------------------------------------------- */

/* Texts of an option that may be repeated. */
typedef struct option_texts {
    const char **items;
    size_t count;
} option_texts;

/* False after a report. */
bool options_add(option_texts *texts, const char *text);

typedef struct command_option command_option;

/* An option on a command line. */
typedef struct option_given {
    const command_option *option;
    const char *text;         /* NULL: no argument */
    struct argp_state *state; /* from which further arguments may be taken */
} option_given;

/* Reads what is more than a value: false after a report. */
typedef bool option_reader(void *options, const option_given *given);

typedef enum option_kind {
    OPTION_KIND_FLAG,   /* bool: true */
    OPTION_KIND_BITS,   /* uint32_t: the bits `lowest` are set */
    OPTION_KIND_TEXT,   /* const char * */
    OPTION_KIND_TEXTS,  /* option_texts, which options_run frees */
    OPTION_KIND_NUMBER, /* uint64_t from `lowest` to `highest` */
    OPTION_KIND_SIZE,   /* uint64_t, at least `lowest`: K is 1000, Ki is 1024 */
    OPTION_KIND_MEMORY, /* the same, but K is 1024 */
    OPTION_KIND_CHOICE, /* unsigned, or an enum: one of `words`, of which the first is `lowest` */
    OPTION_KIND_READ,   /* `read` does it */
} option_kind;

/* A row of a command's table, and where in the struct of its options the value goes: the macros
 * below fill in from `kind` on. */
struct command_option {
    const char *name;     /* NULL: `help` is a heading */
    const char *argument; /* NULL: it has none */
    const char *help;
    option_kind kind;
    size_t place, given; /* offsets: of the value, and of a bool that is set, too (0: none) */
    uint64_t lowest, highest;
    const char *const *words; /* the last is NULL */
    const char *example;      /* of a size */
    option_reader *read;
    int letter;    /* its short form */
    bool optional; /* the argument may be left out */
    int group;     /* in the help; 0 is 1 */
};

#define OPTION_FLAG(type, field) .kind = OPTION_KIND_FLAG, .place = offsetof(type, field)
#define OPTION_BITS(type, field, bits) \
    .kind = OPTION_KIND_BITS, .place = offsetof(type, field), .lowest = (bits)
#define OPTION_TEXT(type, field) .kind = OPTION_KIND_TEXT, .place = offsetof(type, field)
#define OPTION_TEXTS(type, field) .kind = OPTION_KIND_TEXTS, .place = offsetof(type, field)
#define OPTION_NUMBER(type, field, from, to) \
    .kind = OPTION_KIND_NUMBER, .place = offsetof(type, field), .lowest = (from), .highest = (to)
#define OPTION_SIZE(type, field, from, such_as) \
    .kind = OPTION_KIND_SIZE, .place = offsetof(type, field), .lowest = (from), .example = such_as
#define OPTION_MEMORY(type, field, such_as) \
    .kind = OPTION_KIND_MEMORY, .place = offsetof(type, field), .lowest = 1, .example = such_as
#define OPTION_CHOICE(type, field, list, first) \
    .kind = OPTION_KIND_CHOICE, .place = offsetof(type, field), .words = list, .lowest = (first)
#define OPTION_READ(function) .kind = OPTION_KIND_READ, .read = function

/* ---- a command ------------------------------------------------------------------------------ */

/* What a command line may be, and what runs then. */
typedef struct command_line {
    const char *operands; /* as the usage shows them */
    const char *doc;
    const command_option *options; /* the last one is empty; NULL: none but the shared ones */
    size_t size;                   /* of the struct of its options */
    size_t single;                 /* offset in it of the bool of --single; 0: no such option */
    int least, most;               /* arguments that are not options; `most` 0: any number */
    const char *needed;            /* what is said if there are fewer or more */
    bool unread;                   /* it runs whatever the command line says */
    int (*run)(void *options);     /* returns the exit code; NULL: */
    int (*each)(void *options, const char *argument); /* for options_for_each */
    void (*release)(
        void *options); /* frees what options own, also after wrong usage; may be NULL */
} command_line;

/* Reads a command line (`argv[0]` is not looked at) and runs the command, unless help was asked for.
 * Returns the exit code. */
int options_run(const command_line *line, int argc, char **argv, shared_options *shared);

/* Calls `one` for each argument that is not an option, as long as standard output takes anything;
 * returns the worst code. */
int options_for_each(void *options, int (*one)(void *options, const char *argument));

/* ---- for the command line of gufo itself ---------------------------------------------------- */

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

/* ---- values --------------------------------------------------------------------------------- */

/* A whole number from `lowest` to `highest`; false after a report. */
bool options_number(const shared_options *shared, const char *option, const char *text,
                    uint64_t lowest, uint64_t highest, uint64_t *out);

/* Whether standard output gets colour: --color, NO_COLOR, TERM, and whether it is a terminal. */
bool options_color(const shared_options *shared);

#endif
