/* Rows of whole numbers of few bits, with a scale and a zero for each group of columns:
 *
 *     weight = scale (code - zero)      code and zero from 0 on
 *
 * A kind says how codes, scales and zeros are packed; what they mean is the same for all. */
#ifndef IMPORT_QUANTIZED_INTEGERS_H
#define IMPORT_QUANTIZED_INTEGERS_H

#include "import/quantized/packed.h"

#define NO_PART UINT32_MAX

/* How a kind packs them. */
typedef struct integer_layout {
    /* Rows [first, first + count): w->columns codes for each. */
    gufo_status (*codes)(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *codes,
                         gufo_error *error);
    /* A scale and a zero for each group of each row. */
    gufo_status (*scales)(const packed_weight *w, uint64_t first, uint64_t count, float *scales,
                          uint16_t *zeros, gufo_error *error);
    uint32_t scale_part; /* [rows, groups], or [groups, rows]: */
    bool groups_first;
    uint32_t order_part; /* the group of each column; NO_PART, or a part that may be missing */
} integer_layout;

/* The groups of w->columns columns.  GUFO_E_MALFORMED if they do not divide them. */
gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error);

/* The codes of a word, the lowest bits first: 32 / bits of them. */
void integers_unpack(uint32_t word, uint32_t bits, uint8_t *codes);

/* packed_kind.find_type, floats and blocks of kinds with a layout. */
gufo_status integers_type(const packed_weight *w, const gufo_element_type **type,
                          gufo_error *error);
gufo_status integers_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                            gufo_error *error);
gufo_status integers_blocks(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *out,
                            gufo_error *error);

#endif
