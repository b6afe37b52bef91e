/* Options: rows of the tables of commands, their values, and those that all commands share. */
#ifndef CLI_CORE_OPTIONS_OPTIONS_H
#define CLI_CORE_OPTIONS_OPTIONS_H

#include "cli/core/terminal/report.h"
#include "gufo/codec.h"
#include "gufo/plan.h"
#include "gufo/schema.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One option of a command: a row of its table, and how its value is read and stored. */

/* Texts of an option that may be repeated. */
typedef struct option_texts {
    const char **items;
    size_t count;
} option_texts;

/* Returns the exit code. */
int option_add(option_texts *texts, const char *text);

typedef struct command_option command_option;

/* An option on a command line. */
typedef struct option_given {
    const command_option *option;
    const char *text;         /* NULL: no argument */
    struct argp_state *state; /* from which further arguments may be taken */
} option_given;

/* Reads an option that takes more than a value.  Returns the exit code. */
typedef int option_reader(void *options, const option_given *given);

typedef enum option_kind {
    OPTION_KIND_FLAG,   /* bool: true */
    OPTION_KIND_BITS,   /* uint32_t: the bits `lowest` are set */
    OPTION_KIND_TEXT,   /* const char * */
    OPTION_KIND_TEXTS,  /* option_texts, which command_line_run frees */
    OPTION_KIND_NUMBER, /* uint64_t from `lowest` to `highest` */
    OPTION_KIND_SIZE,
    OPTION_KIND_MEMORY, /* uint64_t, at least `lowest`, as in number.h */
    OPTION_KIND_CHOICE, /* unsigned, or an enum: the place in `words`, counted from `lowest` */
    OPTION_KIND_READ,   /* `read` does it */
} option_kind;

/* A row of a command's table, and the place of the value in the struct of its options.  The macros
 * below fill in the fields from `kind` on. */
struct command_option {
    const char *name;     /* NULL without a letter: `help` is a heading */
    const char *argument; /* NULL: it has none */
    const char *help;
    option_kind kind;
    size_t place, given; /* offsets: of the value, and of a bool that is set, too (0: none) */
    uint64_t lowest, highest;
    const char *const *words; /* in any case; the last is NULL */
    gufo_spelling own;        /* of what they are names, if the format has others */
    const char *example;      /* of a size */
    const char *fallback;     /* the value without an argument; NULL: none */
    option_reader *read;
    int letter;    /* its short form */
    bool optional; /* it may be given without its argument */
    bool common;   /* part of the short help; of a command that marks none, all are */
    int group;     /* in the help */
};

/* The place of a field.  It compiles only if the field has the type that is stored, or as many
 * bytes. */
#define OPTION_PLACE(type, field, stored) \
    .place = offsetof(type, field) + 0 * sizeof(_Generic(((type *)0)->field, stored : 0))
#define OPTION_PLACE_OF_SIZE(type, field, stored) \
    .place = offsetof(type, field) +              \
             0 * sizeof(char[sizeof(((type *)0)->field) == sizeof(stored) ? 1 : -1])

#define OPTION_FLAG(type, field) .kind = OPTION_KIND_FLAG, OPTION_PLACE(type, field, bool)
#define OPTION_BITS(type, field, bits) \
    .kind = OPTION_KIND_BITS, OPTION_PLACE(type, field, uint32_t), .lowest = (bits)
#define OPTION_TEXT(type, field) .kind = OPTION_KIND_TEXT, OPTION_PLACE(type, field, const char *)
#define OPTION_TEXTS(type, field) .kind = OPTION_KIND_TEXTS, OPTION_PLACE(type, field, option_texts)
#define OPTION_NUMBER(type, field, from, to)                                           \
    .kind = OPTION_KIND_NUMBER, OPTION_PLACE(type, field, uint64_t), .lowest = (from), \
    .highest = (to)
#define OPTION_SIZE(type, field, from, such_as)                                      \
    .kind = OPTION_KIND_SIZE, OPTION_PLACE(type, field, uint64_t), .lowest = (from), \
    .example = such_as
/* Memory: 24G is 24 * 2^30 bytes. */
#define OPTION_MEMORY(type, field, from, such_as)                                      \
    .kind = OPTION_KIND_MEMORY, OPTION_PLACE(type, field, uint64_t), .lowest = (from), \
    .example = such_as
#define OPTION_CHOICE(type, field, list, first)                                             \
    .kind = OPTION_KIND_CHOICE, OPTION_PLACE_OF_SIZE(type, field, unsigned), .words = list, \
    .lowest = (first)
#define OPTION_READ(function) .kind = OPTION_KIND_READ, .read = function

/* ---- values --------------------------------------------------------------------------------- */

/* Both return CODE_OK, or another code after a report. */

/* A whole number from `lowest` to `highest`; `name` is as the user writes it. */
int option_number(const char *name, const char *text, uint64_t lowest, uint64_t highest,
                  uint64_t *out);
/* Memory with a unit; `name` and `example` are as the user writes them. */
int option_memory(const char *name, const char *example, const char *text, uint64_t lowest,
                  uint64_t *out);
/* Stores an option into the struct of a command's options. */
int option_store(void *options, const option_given *given);

/* ---- options that all commands share --------------------------------------------------------- */

typedef enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;

enum { OPTIONS_MOST_THREADS = 1024 };

typedef struct shared_options {
    const struct command *commands;  /* all of them; the last one is empty */
    const struct command_line *gufo; /* what reads the name of one of them */
    const char *command;             /* the one whose command line is read; NULL: gufo itself */
    bool json, quiet, verbose, force;
    uint64_t threads; /* 0: one per processor that the process may use */
    color_mode color;
    enum { HELP_NONE, HELP_SHORT, HELP_WHOLE } help;
    bool done;   /* nothing is left to do but to print that help */
    char **args; /* arguments that are not options, in order */
    int arg_count;
    const char *const *words; /* the whole command line as it was given */
    size_t word_count;
    /* Of a job in parts: the output that gufo commit names, in a job whose command line comes from the plan; and the
     * one whose plan says names that come from a machine, known by now.  NULL: none. */
    const char *commits, *planned;
} shared_options;

/* --part: which parts of a job a command makes (part_option.c). */
typedef struct part_option {
    bool given;
    gufo_part share;
    uint64_t align;  /* of --part-align; 0: not given */
    gufo_plan *plan; /* of the output, if it has one that was asked for names: owned */
} part_option;

/* What every command's own options begin with. */
typedef struct command_input {
    shared_options *shared;
    const char *output; /* OUT, by its option or as an operand (command_line.h) */
    part_option part;
    struct {
        char **items;
        size_t count;
    } joined; /* words that aliases became, which options point into */
} command_input;

/* The end of the row of --output, where a command has it. */
#define OPTION_OUTPUT OPTION_TEXT(command_input, output), .letter = 'o'

/* Their rows, the last one empty; the values go into a shared_options. */
extern const command_option options_shared[];

/* --part, which part_options.def has. */
option_reader part_read;

/* How deep arrays may be nested in files that are opened (gufo_open_options); 0: as usual. */
uint64_t options_max_depth(void);
/* Whether symlinks in a model's folder may lead out of it (gufo_checkpoint_options). */
bool options_follow(void);

/* How models elsewhere are read: gufo_remote_flags. */
uint32_t options_remote(void);

/* Whether standard output gets colour: --color, NO_COLOR, TERM, and whether it is a terminal. */
bool options_color(const shared_options *shared);
/* Whether reports get colour: --color, NO_COLOR, TERM, and only if standard error is a terminal. */
bool options_error_color(const shared_options *shared);

/* Reads GUFO_CPU from the environment, which nothing else reads, into *cpu: the best level if it is
 * empty or not set.  Returns CODE_OK, or CODE_USAGE after a report if the level is unknown or this
 * machine lacks it. */
int options_cpu(gufo_cpu *cpu);

#endif
