/* The texts that pairs of texts make, looked up in a table: "th" of "t" and "h".
 *
 * Results of merges mostly follow one another in the vocabulary, in the order of the merges: each is compared with the
 * text that is expected, and looked up only where it is another one. */
#ifndef TEXT_JOINED_TEXTS_H
#define TEXT_JOINED_TEXTS_H

#include "gufo/vocab.h"
#include "text/vocabulary/text_table.h"

enum { JOINED_BATCH = 32 };

typedef struct joined_texts {
    const text_table *texts;
    size_t prefix;     /* bytes that a second text loses */
    uint32_t expected; /* the number of the next result */
    gufo_text joined;  /* its allocator is the caller's to set; freed with gufo_text_free */
} joined_texts;

/* Finds the results of up to JOINED_BATCH pairs, left and right texts in turn; a right text must not be shorter than the
 * prefix.  The number of a result that the table lacks is UINT32_MAX.  False without memory. */
bool joined_find(joined_texts *j, const gufo_str *pairs, uint32_t count, uint32_t *numbers);
/* The result of a pair, which lives until the next call; no data without memory. */
gufo_str joined_text(joined_texts *j, const gufo_str pair[2]);

#endif
