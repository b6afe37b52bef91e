/* The command line of a command: a table of its options, and what runs when it has been read. */
#ifndef CLI_CORE_OPTIONS_COMMAND_LINE_H
#define CLI_CORE_OPTIONS_COMMAND_LINE_H

#include "cli/core/options/options.h"

enum { COMMAND_EXAMPLES = 3 };

typedef struct command_example {
    const char *command; /* NULL: no more */
    const char *says;    /* what it does */
} command_example;

/* Another form of an option, as other programs have it: letters after a single hyphen. */
typedef struct command_alias {
    const char *given; /* "-ngl"; NULL: no more */
    char name[24];     /* "--gpu-layers" */
} command_alias;

/* The likely meaning of a word that is not an option of the command. */
typedef struct command_hint {
    const char *given, *hint;
} command_hint;

/* Describes a command line, and what runs when it was read. */
typedef struct command_line {
    struct {
        const char *names;  /* as the usage shows them */
        int least, most;    /* how many; `most` 0: any number */
        const char *needed; /* the report of fewer or more */
    } operands;             /* arguments that are not options */
    int out;                /* the number, from 1, of OUT unless --output gives it; 0: no OUT */
    const char *doc; /* what the command does; after \v, below the options, what else to know */
    command_example examples[COMMAND_EXAMPLES];
    const command_option *options; /* the last one is empty; NULL: the shared ones alone */
    command_alias *aliases;        /* the last one is empty; NULL: none */
    const command_hint *hints;     /* the last one is empty; NULL: none */
    size_t size;                   /* of the struct of its options; 0: a command_input */
    unsigned flags;                /* of argp */
    bool unread;                   /* runs without reading the command line */
    int (*run)(void *options);     /* returns the exit code; NULL: */
    int (*each)(void *options, const char *argument); /* for command_line_each */
    void (*release)(
        void *options); /* frees what options own, also after wrong usage; may be NULL */
} command_line;

/* A row of the table of commands. */
typedef struct command {
    const char *name;
    const char *summary; /* one line of `gufo --help` */
    const command_line *line;
    const char *group; /* the heading above it, if it is the first one below it; else NULL */
    bool common;       /* part of the short help */
} command;

#define COMMAND_OPTIONS(table, type) .options = (table), .size = sizeof(type)

/* Prints the help of the command, or of gufo itself, with its commands, if shared->command is NULL:
 * the whole one, or a short one with examples and common options, which fills a screen at most. */
void command_line_help(const command_line *line, const shared_options *shared, bool whole,
                       FILE *out);

/* Runs shared->words, which stay as they are, as a command line of gufo.  A command that returns CODE_AGAIN has set
 * shared->planned, and is run once more.  Returns the exit code. */
int command_line_start(const shared_options *shared);

/* Reads a command line, without `argv[0]`, and runs the command unless it printed help.  Returns
 * the exit code. */
int command_line_run(const command_line *line, int argc, char **argv, shared_options *shared);

/* For commands that find OUT among their operands themselves.  Takes operand `index` out of
 * shared->args; reports that `operand` is OUT beside --output, and returns CODE_USAGE. */
const char *command_line_take(shared_options *shared, int index);
int command_line_twice(const char *operand);

/* Calls `one` for each argument that is not an option, as long as standard output takes anything;
 * returns the worst code. */
int command_line_each(void *options, int (*one)(void *options, const char *argument));

/* ---- words ----------------------------------------------------------------------------------- */

/* Classifies the words of a command line by the tables of options and stores nothing: for
 * suggestions and for completion.  getopt's rules: an option without its argument takes the next
 * word; a long one may be shortened as long as it is unique; after "--" all words are operands. */
enum { WORDS_MOST_OPTIONS = 64 }; /* of one command, with the shared ones */

/* The rows of a command: its own and the shared ones, without headings. */
typedef struct words_rows {
    const command_option *rows[WORDS_MOST_OPTIONS];
    size_t count;
} words_rows;

typedef enum word_kind { WORD_OPERAND, WORD_OPTION, WORD_ARGUMENT, WORD_UNKNOWN } word_kind;

typedef struct words_reader {
    words_rows all;
    const command_option *taking; /* its argument comes next; NULL: no option waits for one */
    unsigned taken;               /* words of it so far */
    size_t operands;              /* so far */
    bool in_order, all_operands;
} words_reader;

words_reader words_start(const command_line *line);
/* The kind of the next word, which is complete. */
word_kind words_next(words_reader *r, const char *word);

/* The option whose long name is the first `len` bytes of `name`, or else one whose name begins with
 * them; NULL if none does. */
const command_option *words_find(const words_rows *all, const char *name, size_t len);

#endif
