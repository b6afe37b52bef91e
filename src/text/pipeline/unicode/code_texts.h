/* A text for some code points: lower case, decompositions. */
#ifndef TEXT_PIPELINE_CODE_TEXTS_H
#define TEXT_PIPELINE_CODE_TEXTS_H

#include "base/buffer.h"
#include "text/pipeline/unicode/code_ranges.h"

/* {.allocator} has none. */
typedef struct code_texts {
    const gufo_allocator *allocator;
    uint8_t
        pages[(LAST_CODE_POINT >> 8) + 1]; /* of 256 code points: 1 + where in `numbers`; 0: none */
    uint16_t *numbers;                     /* of texts; 0: none */
    uint64_t page_count, page_room;
    gufo_str *list; /* views of `texts`, once all are there */
    uint64_t count, room;
    buffer texts;
} code_texts;

void code_texts_free(code_texts *t);

/* Adds a text, as tables have it: numbers of characters in hexadecimal.  False without memory. */
bool code_texts_add(code_texts *t, uint32_t code_point, const char *numbers);
/* After the last one. */
void code_texts_close(code_texts *t);

/* The text of a code point; empty if it has none. */
static inline gufo_str code_texts_get(const code_texts *t, uint32_t code_point)
{
    uint8_t page = t->pages[code_point >> 8];
    uint16_t number = page == 0 ? 0 : t->numbers[(size_t)(page - 1) << 8 | (code_point & 0xFF)];

    return number == 0 ? (gufo_str){"", 0} : t->list[number - 1];
}

#endif
