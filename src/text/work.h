/* What is to be encoded, in order: special tokens, and parts of the text between them.
 *
 * Threads share it: each takes a run of items of some size, and the ids come back in order. */
#ifndef TEXT_WORK_H
#define TEXT_WORK_H

#include "text/tokenizers/algorithm.h"

/* A part, or a token that is in the text. */
typedef struct work_item {
    fragment_part part;
    uint32_t id; /* GUFO_NO_TOKEN: a part */
} work_item;

typedef struct work_list {
    const gufo_allocator *allocator;
    tokenizing *workers; /* one for each thread */
    unsigned threads;
    work_item *items;
    uint64_t count, room;
    size_t bytes; /* of all parts */
} work_list;

enum { WORK_PART = 128 << 10 }; /* bytes that are encoded at once, as far as a text can be cut */

gufo_status work_add(work_list *list, work_item item, gufo_error *error);
/* Whether it is time to do the work: all threads are busy with it for a while. */
bool work_is_enough(const work_list *list);
/* Appends the ids of all items, and empties the list. */
gufo_status work_do(work_list *list, gufo_ids *out, gufo_error *error);

#endif
