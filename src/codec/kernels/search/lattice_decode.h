/* Decoding of the types with grids: the magnitudes and signs of a whole super-block are collected
 * first, by group; then lanes run along its weights. */
#ifndef CODEC_KERNELS_LATTICE_DECODE_H
#define CODEC_KERNELS_LATTICE_DECODE_H

#include "codec/lattice.h"
#include "codec/lanes.h"

enum { SUPER_SUBS = 8, SUB_WEIGHTS = 32 };

typedef struct signed_magnitudes {
    uint8_t magnitudes[SUPER_SUBS * SUB_WEIGHTS];
    uint32_t signs[SUPER_SUBS]; /* bit i: weight i of 32 is negative */
} signed_magnitudes;

/* The rows of a grid are numbers; their bytes are the elements, the lowest first. */
static inline void put_row8(uint8_t *to, uint64_t row)
{
    store_u64(to, row, HOST_IS_BIG_ENDIAN);
}

static inline void put_row4(uint8_t *to, uint32_t row)
{
    store_u32(to, row, HOST_IS_BIG_ENDIAN);
}

/* Every byte has seven signs; the eighth makes their number even. */
static inline uint32_t even_signs(uint32_t sevens)
{
    uint32_t parity = sevens ^ sevens >> 4;

    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return sevens | (parity & 0x01010101u) << 7;
}

/* The same of four numbers of seven bits side by side. */
static inline uint32_t even_signs_of_28(uint32_t bits)
{
    return even_signs((bits & 0x7fu) | (bits << 1 & 0x7f00u) | (bits << 2 & 0x7f0000u) |
                      (bits << 3 & 0x7f000000u));
}

/* `count` weights (a multiple of 16) from weight `first` of a super-block on. */
static inline void decode_signed(const signed_magnitudes *from, size_t first, size_t count,
                                 float scale, float *values)
{
    for (size_t i = first; i < first + count; i += LANES) {
        floats v = floats_of(scale) * floats_from(bytes_load(from->magnitudes + i));
        uint32_t signs = from->signs[i / SUB_WEIGHTS] >> i % SUB_WEIGHTS;
        floats_store(values + i, negate_by_bits(v, signs));
    }
}

#endif
