/* Ids as people and programs write them: numbers between white space, commas and brackets. */
#ifndef CLI_TEXT_DETOKENIZE_IDS_H
#define CLI_TEXT_DETOKENIZE_IDS_H

#include "gufo/base.h"

enum { ID_READER_BATCH = 4096, ID_READER_WORD = 24 };

/* Takes ids in their order; returns the exit code. */
typedef int id_taker(void *context, const uint32_t *ids, size_t count);

typedef struct id_reader {
    uint32_t size; /* of the vocabulary */
    id_taker *take;
    void *context;
    /* For reports: the file, with lines and columns; or for an argument, NULL and its number, and
     * CODE_USAGE. */
    const char *path;
    int argument;
    uint64_t line, column;
    char word[ID_READER_WORD]; /* that has begun; a longer one is cut */
    size_t word_len;
    uint32_t ids[ID_READER_BATCH];
    size_t count;
} id_reader;

/* Reads the next part of a text, cut anywhere, and passes on the ids that have ended.  Returns the
 * exit code. */
int id_reader_feed(id_reader *r, gufo_str part);
/* The text, or an argument, ends here. */
int id_reader_end(id_reader *r);

#endif
