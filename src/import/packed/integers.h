/* Rows of whole numbers of few bits, with a scale and a zero for each group of columns:
 *
 *     weight = scale (code - zero)      code and zero from 0 on
 *
 * A kind says how codes, scales and zeros are packed; what they mean is the same for all. */
#ifndef IMPORT_PACKED_INTEGERS_H
#define IMPORT_PACKED_INTEGERS_H

#include "base/bytes.h"
#include "import/packed/packed.h"

#include <stdint.h>

#define NO_PART UINT32_MAX

enum { INTEGER_COLUMNS_STEP = 512 };

/* Rows [first, first + count) and columns [column, column + columns) of a weight.  Columns begin at a
 * multiple of INTEGER_COLUMNS_STEP, so that words are whole. */
typedef struct integer_box {
    uint64_t first, count, column, columns;
} integer_box;

/* How a kind packs them. */
typedef struct integer_layout {
    /* The codes of a box, into rows of w->columns codes: those of the first row are at `codes`. */
    gufo_status (*codes)(const packed_weight *w, const integer_box *box, uint8_t *codes,
                         gufo_error *error);
    /* A scale and a zero for each group of rows [first, first + count). */
    gufo_status (*scales)(const packed_weight *w, uint64_t first, uint64_t count, float *scales,
                          uint16_t *zeros, gufo_error *error);
    uint32_t scale_part; /* [rows, groups], or [groups, rows]: */
    bool groups_first;   /* and rows are columns of the other parts, too: the more rows are read at
                          * once, the longer are the runs of bytes */
    uint32_t order_part; /* the group of each column; NO_PART, or a part that may be missing */
} integer_layout;

/* The groups of w->columns columns.  GUFO_E_MALFORMED if they do not divide them. */
gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error);

/* Numbers of four bits, eight of them at once.
 *
 *     word      h g f e d c b a     four bits each, a the lowest
 *     spread    0h 0g 0f 0e 0d 0c 0b 0a     a byte each, a the lowest */
static inline uint64_t nibbles_spread(uint32_t word)
{
    uint64_t x = word;

    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* Eight numbers of two bits, a byte each, the lowest bits first. */
static inline uint64_t pairs_spread(uint32_t half)
{
    uint64_t x = half;

    x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
    x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
    return (x | x << 6) & UINT64_C(0x0303030303030303);
}

/* The codes of a word, the lowest bits first: 32 / bits of them. */
static inline void integers_unpack(uint32_t word, uint32_t bits, uint8_t *codes)
{
    switch (bits) {
    case 2:
        store_u64(codes, pairs_spread(word & 0xffffu), HOST_IS_BIG_ENDIAN);
        store_u64(codes + 8, pairs_spread(word >> 16), HOST_IS_BIG_ENDIAN);
        break;
    case 4:
        store_u64(codes, nibbles_spread(word), HOST_IS_BIG_ENDIAN);
        break;
    case 8:
        store_u32(codes, word, HOST_IS_BIG_ENDIAN);
        break;
    default:
        for (uint32_t k = 0; k < 32 / bits; k++)
            codes[k] = (uint8_t)(word >> bits * k & ((1u << bits) - 1u));
    }
}

/* packed_kind.find_type, floats and blocks of kinds with a layout. */
gufo_status integers_type(const packed_weight *w, const gufo_element_type **type,
                          gufo_error *error);
gufo_status integers_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                            gufo_error *error);
gufo_status integers_blocks(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *out,
                            gufo_error *error);

#endif
