/* Classifies the words of a command line by the tables of options and stores nothing: for
 * suggestions and for completion.  getopt's rules: an option without its argument takes the next
 * word; a long one may be shortened as long as it is unique; after "--" all words are operands. */
#ifndef CLI_CORE_OPTIONS_WORDS_H
#define CLI_CORE_OPTIONS_WORDS_H

#include "cli/core/options/command_line.h"

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
