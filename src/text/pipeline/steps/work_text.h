/* A text on its way through a tokenizer.json, and where its bytes come from.
 *
 * Each step that changes a text writes a new one: stretches that stay, and others that replace
 * stretches.  Origins cost memory and time: they are kept where somebody asks for spans; where they
 * are not, only whether the text begins where the original does is known. */
#ifndef TEXT_WORK_TEXT_H
#define TEXT_WORK_TEXT_H

#include "text/characters/origins.h"

typedef struct work_text {
    const gufo_allocator *allocator;
    char *data; /* valid UTF-8 */
    size_t len, room;
    text_origin *origins; /* of each byte; NULL: they are not kept */
    bool keeps_origins;
    uint32_t start; /* where the stretch of the original text begins, if origins are kept */
    bool begins;    /* its first byte comes from the first one of the original text */
} work_text;

/* {.allocator, .keeps_origins} is an empty one. */
void work_text_free(work_text *t);
static inline gufo_str work_text_str(const work_text *t)
{
    return (gufo_str){t->data, t->len};
}

/* Empties `out`, for a new text with the origins of `in` if that keeps them. */
void work_text_clear(work_text *out, const work_text *in);
/* Room for `more` bytes, and for one at least; false without memory. */
bool work_text_reserve(work_text *t, size_t more);
/* Makes `out` a stretch of `in` that is worked on alone from here on.  False without memory. */
bool work_text_cut(work_text *out, const work_text *in, size_t begin, size_t end);
/* Appends in[begin .. end) as it is.  False without memory. */
bool work_text_keep(work_text *out, const work_text *in, size_t begin, size_t end);
/* Appends a text, all of whose bytes stand for in[begin .. end).  Where begin == end the origin is empty:
 * it is behind byte begin - 1, or at `start`. */
bool work_text_put(work_text *out, const work_text *in, size_t begin, size_t end, gufo_str text);

/* Appends an original text.  The origin of each character is its own bytes; each byte that is not UTF-8 becomes U+FFFD.
 * False without memory. */
bool work_text_take(work_text *out, gufo_str text);

/* The range of the original that a stretch, not empty, stands for; origins must be kept. */
static inline text_origin work_text_origin(const work_text *t, size_t begin, size_t end)
{
    return (text_origin){t->origins[begin].begin, t->origins[end - 1].end};
}

/* Whether the byte at `at` comes from the first one of the original text. */
static inline bool work_text_begins(const work_text *t, size_t at)
{
    return at == 0 ? t->begins : t->keeps_origins && at < t->len && t->origins[at].begin == 0;
}

static inline void work_text_swap(work_text *a, work_text *b)
{
    work_text other = *a;

    *a = *b;
    *b = other;
}

#endif
