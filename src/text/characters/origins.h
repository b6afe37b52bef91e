/* What the bytes of a text come from, once steps have rewritten it.
 *
 * The origin of a byte is the range of an earlier text that it comes from; of the bytes of one
 * character it is the same.  Origins are kept where somebody asks for the spans of tokens. */
#ifndef TEXT_ORIGINS_H
#define TEXT_ORIGINS_H

#include "gufo/vocab.h"

typedef struct text_origin {
    uint32_t begin, end; /* bytes of the earlier text */
} text_origin;

/* {.allocator = ...} is an empty one. */
typedef struct origin_list {
    const gufo_allocator *allocator;
    text_origin *list; /* of each byte */
    uint64_t count, room;
} origin_list;

void origins_free(origin_list *o);
/* Appends `count` bytes with one origin; false without memory. */
bool origins_add(origin_list *o, text_origin origin, size_t count);
/* Appends a text that begins at `at`, as it is.  A character is what lenient_decode reads. */
bool origins_add_text(origin_list *o, gufo_str text, size_t at);
/* The same as the bytes that lenient_encode writes. */
bool origins_add_lenient(origin_list *o, gufo_str text, size_t at);
/* Appends what add_escaped makes of a text with these origins. */
bool origins_add_escaped(origin_list *o, gufo_str text, const text_origin *from);

/* Of `size` bytes at `begin`. */
static inline text_origin origin_of_bytes(size_t begin, size_t size)
{
    return (text_origin){(uint32_t)begin, (uint32_t)(begin + size)};
}
/* The first character of a text, not empty, that begins at `at`. */
text_origin origin_of_first(gufo_str text, size_t at);

/* The range that a stretch, not empty, comes from. */
static inline gufo_span origins_range(const text_origin *list, size_t begin, size_t end)
{
    return (gufo_span){list[begin].begin, list[end - 1].end};
}

/* ---- code points with their origins --------------------------------------------------------- */

typedef struct placed_point {
    uint32_t code_point;
    text_origin origin;
} placed_point;

/* {.allocator = ...} is an empty one. */
typedef struct point_list {
    const gufo_allocator *allocator;
    placed_point *list;
    uint64_t count, room;
} point_list;

void points_free(point_list *p);
bool points_add(point_list *p, uint32_t code_point, text_origin origin);
/* Puts code points into form NFD, or NFC: a character that several become has the origin of the first of
 * them.  False without memory. */
bool points_normalize(point_list *p, bool composes);

#endif
