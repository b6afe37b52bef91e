/* Whole numbers with scales and zeros in tests: random ones, and the weights they are. */
#ifndef TEST_IMPORT_PACKED_INTEGERS_H
#define TEST_IMPORT_PACKED_INTEGERS_H

#include "packed_case.h"

enum { INTEGER_ROWS = 96, INTEGER_COLUMNS = 576, INTEGER_NUMBERS = INTEGER_ROWS * INTEGER_COLUMNS };

/* What a test asks for. */
typedef struct integer_shape {
    uint32_t rows, columns, bits;
    uint32_t group;
    int zero;          /* of all groups; -1: any */
    const char *dtype; /* of the scales */
    bool plus_one;     /* GPTQ: zeros are stored one less */
    enum { NO_ORDER, SAME_ORDER, BLOCK_ORDER, ANY_ORDER } order;
} integer_shape;

typedef struct integers {
    integer_shape shape;
    uint32_t groups, per;
    uint8_t codes[INTEGER_NUMBERS];
    uint16_t scale_bits[INTEGER_NUMBERS]; /* see float_of */
    float scales[INTEGER_NUMBERS];        /* of each group of each row */
    int zeros[INTEGER_NUMBERS];
    uint32_t order[INTEGER_COLUMNS];
    float expected[INTEGER_NUMBERS];
} integers;

/* The number with these bits, or with those and 1 as its lower half. */
static inline float float_of(const char *dtype, uint16_t bits)
{
    float value;

    if (strcmp(dtype, "F16") == 0)
        check(gufo_decode(gufo_element_type_by_id(GUFO_TYPE_F16),
                          (uint8_t[]){(uint8_t)bits, (uint8_t)(bits >> 8)}, 1, 1, &value, NULL,
                          NULL) == GUFO_OK,
              "F16");
    else
        memcpy(&value, &(uint32_t){(uint32_t)bits << 16 | (strcmp(dtype, "F32") == 0)},
               sizeof value);
    return value;
}

/* The group of a column. */
static inline uint32_t order_of(const integer_shape *s, uint32_t column, uint32_t groups)
{
    if (s->order == BLOCK_ORDER)
        return (column / 32 * 5 + 3) % groups;
    return s->order == ANY_ORDER ? (column * 7 + 1) % groups : column / s->group;
}

/* Random codes, scales and zeros of a shape, and the plain product of what they say. */
static inline void make_integers(integers *n, const integer_shape *s)
{
    uint64_t random = s->rows * 1000 + s->columns + s->bits;
    const unsigned top = (1u << s->bits) - 1;

    *n = (integers){.shape = *s, .groups = s->columns / s->group, .per = 32 / s->bits};
    for (uint32_t i = 0; i < s->columns; i++)
        n->order[i] = order_of(s, i, n->groups);
    for (uint32_t i = 0; i < s->rows * n->groups; i++) {
        n->scale_bits[i] = (uint16_t)(random_next(&random) % 0x400 +
                                      (strcmp(s->dtype, "F16") == 0 ? 0x1c00 : 0x3b00));
        n->scales[i] = float_of(s->dtype, n->scale_bits[i]);
        n->zeros[i] =
            s->zero >= 0 ? s->zero : (int)(random_next(&random) & top) + (s->plus_one ? 1 : 0);
    }
    for (uint32_t i = 0; i < s->rows * s->columns; i++) {
        uint32_t group = i / s->columns * n->groups + n->order[i % s->columns];

        n->codes[i] = (uint8_t)(random_next(&random) & top);
        n->expected[i] = n->scales[group] * (float)(n->codes[i] - n->zeros[group]);
    }
}

/* Adds a number of some bits to words of a file, at place `k` of word `word`. */
static inline void put_number(uint8_t *words, size_t word, uint32_t k, uint32_t bits,
                              unsigned number)
{
    for (uint32_t bit = 0; bit < bits; bit++)
        if ((number >> bit & 1u) != 0)
            words[4 * word + (k * bits + bit) / 8] |= (uint8_t)(1u << (k * bits + bit) % 8);
}

/* A number of 16 bits, or one of 32 whose lower half is 1. */
static inline void put_scale(uint8_t *bytes, size_t index, const char *dtype, uint16_t bits)
{
    size_t at = strcmp(dtype, "F32") == 0 ? 4 * index + 2 : 2 * index;

    if (strcmp(dtype, "F32") == 0)
        bytes[at - 2] = 1;
    bytes[at] = (uint8_t)bits;
    bytes[at + 1] = (uint8_t)(bits >> 8);
}

static inline void put_word(uint8_t *words, size_t word, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        words[4 * word + i] = (uint8_t)(value >> 8 * i);
}

#endif
