/* A byte for each code point, found in two steps. */
#ifndef TEXT_PIPELINE_CODE_MAP_H
#define TEXT_PIPELINE_CODE_MAP_H

#include "text/pipeline/unicode/code_ranges.h"

typedef struct code_map {
    uint16_t pages[(LAST_CODE_POINT >> 8) + 1]; /* of 256 code points: where in `blocks` */
    uint8_t *blocks;
} code_map;

static inline uint8_t code_map_get(const code_map *m, uint32_t code_point)
{
    return m->blocks[(size_t)m->pages[code_point >> 8] << 8 | (code_point & 0xFF)];
}

/* Fills *m from a byte for each code point; false without memory. */
bool code_map_pack(code_map *m, const uint8_t *flat, const gufo_allocator *allocator);
void code_map_free(code_map *m, const gufo_allocator *allocator);

/* A map whose bytes have bit i where the property i (exact names, up to eight) has the character.
 * NULL without memory. */
code_map *code_map_of_properties(const char *const *names, size_t count,
                                 const gufo_allocator *allocator);

/* The code point at the start of valid UTF-8, and how many bytes it takes. */
static inline uint32_t utf8_next(const char *text, size_t *size)
{
    const uint8_t *b = (const uint8_t *)text;

    if (b[0] < 0x80) {
        *size = 1;
        return b[0];
    }
    if (b[0] < 0xE0) {
        *size = 2;
        return (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu);
    }
    if (b[0] < 0xF0) {
        *size = 3;
        return (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
    }
    *size = 4;
    return (b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu);
}

/* Where the last character of text[.. end) begins, which has one. */
static inline size_t utf8_before(const char *text, size_t end)
{
    do
        end--;
    while (((uint8_t)text[end] & 0xC0) == 0x80);
    return end;
}

/* Where the first character that is not ASCII begins, from `at` on. */
size_t utf8_skip_ascii(gufo_str text, size_t at);

#endif
