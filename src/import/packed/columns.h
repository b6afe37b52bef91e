/* Weights whose rows, the outputs, are columns of their parts: GPTQ and AWQ.
 *
 *     .qweight  words
 *     .qzeros   [groups, outputs / per]    word [g, k]: zeros of outputs per k ... of group g
 *     .scales   [groups, outputs]
 *     .g_idx    [inputs]                   the group of each input; may be missing */
#ifndef IMPORT_PACKED_COLUMNS_H
#define IMPORT_PACKED_COLUMNS_H

#include "import/packed/integers.h"

enum { COLUMNS_WEIGHT, COLUMNS_ZEROS, COLUMNS_SCALES, COLUMNS_ORDER };

/* Words are read in tiles, whose rows do not follow each other at a power of two: those would share the
 * lines of a processor's cache. */
enum { COLUMNS_TILE = 1 << 16, COLUMNS_PAD = 16 };

/* How zeros are in words. */
typedef struct columns_zeros {
    const uint8_t
        *places;  /* of the zeros of a word: multiples of settings.bits; NULL: 0, 1, 2 ... */
    uint32_t add; /* to what is stored */
} columns_zeros;

/* Checks the parts behind the words, once rows and columns are known. */
gufo_status columns_open(const packed_weight *w, gufo_error *error);

/* integer_layout.scales. */
gufo_status columns_scales(const packed_weight *w, const columns_zeros *z, uint64_t first,
                           uint64_t count, float *scales, uint16_t *zeros, gufo_error *error);

#endif
