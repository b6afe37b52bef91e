/* K types: the codes of a super-block, and how they are packed. */
#ifndef CODEC_KERNELS_K_BITS_H
#define CODEC_KERNELS_K_BITS_H

#include "codec/lanes.h"

enum { K_WEIGHTS = 256 }; /* of a super-block */

/* The codes of a super-block, a byte each; eight at a time where they are packed. */
typedef union k_codes {
    uint8_t byte[K_WEIGHTS];
    uint64_t word[K_WEIGHTS / 8];
} k_codes;

/* ---- packing --------------------------------------------------------------------------------- */

/* Bytes of a word never meet, so that its byte order does not matter. */
#define K_EACH_BYTE 0x0101010101010101u

/* Fields of `bits` (4, 2, 1) bits.  Codes that are 8 * apart from each other share a byte, from
 * bit 0 up:
 *
 *     bits, apart   byte          codes
 *     4, 4          32 h + r       64 h + r + {0, 32}                 r < 32
 *     4, 8          64 h + r      128 h + r + {0, 64}                 r < 64
 *     2, 4          32 h + r      128 h + r + {0, 32, 64, 96}         r < 32
 *     1, 4          r             r + {0, 32, 64, 96, ... 224}        r < 32
 *
 * k_pack stores the bits of every code from bit `first` on.  k_unpack adds them to the codes, or
 * begins the codes with bit 0. */
static inline void k_pack(const k_codes *codes, int bits, size_t apart, int first, uint8_t *out)
{
    uint64_t field = K_EACH_BYTE * ((1u << bits) - 1), packed[16];
    size_t shares = 8u / (unsigned)bits, words = 32 / shares;

    for (size_t r = 0; r < words; r++) {
        const uint64_t *in = codes->word + r / apart * apart * shares + r % apart;
        packed[r] = 0;
        for (size_t k = 0; k < shares; k++)
            packed[r] |= (in[k * apart] >> first & field) << (int)k * bits;
    }
    memcpy(out, packed, words * sizeof *packed);
}

static inline void k_unpack(const uint8_t *in, int bits, size_t apart, int first, k_codes *codes)
{
    uint64_t field = K_EACH_BYTE * ((1u << bits) - 1), packed[16];
    size_t shares = 8u / (unsigned)bits, words = 32 / shares;

    memcpy(packed, in, words * sizeof *packed);
    for (size_t h = 0; h < words; h += apart) {
        for (size_t k = 0; k < shares; k++) {
            uint64_t *out = codes->word + h * shares + k * apart;
            for (size_t r = 0; r < apart; r++) {
                uint64_t unpacked = packed[h + r] >> (int)k * bits & field;
                out[r] = (first == 0 ? 0 : out[r]) | unpacked << first;
            }
        }
    }
}

/* ---- values --------------------------------------------------------------------------------- */

static inline void k_decode_affine(const uint8_t *restrict codes, size_t n, float scale, float min,
                                   float *restrict values)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats code = floats_from(bytes_load(codes + i));
        floats_store(values + i, floats_of(scale) * code - floats_of(min));
    }
}

/* Codes are counted from -q. */
static inline void k_decode_sym(const uint8_t *restrict codes, size_t n, float scale, int q,
                                float *restrict values)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats code = floats_from(bytes_load(codes + i) - ints_of(q));
        floats_store(values + i, floats_of(scale) * code);
    }
}

#endif
