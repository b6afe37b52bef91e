/* Special tokens in a text: which ones, and where.
 *
 * A longer token wins over a shorter one, even if the shorter one begins earlier: as if all
 * occurrences of the longest token were cut out first, then those of the next one, and so on.  What
 * is cut out here depends only on occurrences that overlap it, directly or through others; such a
 * group is settled once it has been seen whole. */
#ifndef TEXT_SPECIAL_LIST_H
#define TEXT_SPECIAL_LIST_H

#include "text/vocabulary/vocabulary.h"

/* Builds v->specials from the attributes, which are final. */
gufo_status special_list_make(gufo_vocab *v, gufo_error *error);
void special_list_free(gufo_vocab *v);

/* A token in the text; white space that it takes away belongs to it. */
typedef struct special_hit {
    bool found;
    size_t begin, end;
    uint32_t id;
} special_hit;

/* A stretch of a group: text that is free, or a token. */
typedef struct special_range {
    size_t begin, end;
    uint32_t id; /* GUFO_NO_TOKEN: free */
} special_range;

typedef struct range_list {
    special_range *ranges;
    uint64_t count, room;
} range_list;

typedef struct special_scan {
    const gufo_vocab *vocab;
    const struct special_finder *finder;
    const gufo_allocator *allocator;
    gufo_str text;
    bool final;
    size_t settled;    /* up to here the hits are known */
    size_t at;         /* the next place to look at */
    range_list ranges; /* of the group at hand */
    uint64_t next_range;
    range_list cut;       /* what they become when a token is cut out */
    special_range spaces; /* white space that was looked at last */
    uint32_t *seen;       /* which tokens are in it */
    uint64_t seen_count, seen_room;
    uint8_t *is_seen; /* bits by id */
} special_scan;

/* Begins to look for special tokens: all, or without `parse` those that are user-defined.  `final`:
 * no text follows. */
special_scan special_scan_start(const gufo_vocab *vocab, bool parse, gufo_str text, bool final,
                                const gufo_allocator *allocator);
void special_scan_end(special_scan *scan);
/* The next one in the order of the text into *hit.  Once none is found, scan->settled is the place up
 * to which no text that follows can bring one.  GUFO_E_MEMORY. */
gufo_status special_scan_next(special_scan *scan, special_hit *hit, gufo_error *error);

#endif
