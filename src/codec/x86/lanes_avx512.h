/* Sixteen lanes: AVX-512 F, BW, DQ, VL. */
#ifndef CODEC_X86_LANES_AVX512_H
#define CODEC_X86_LANES_AVX512_H

#include <immintrin.h>

#define LANES 16

typedef __m512 floats;
typedef int32_t ints __attribute__((vector_size(64)));
typedef uint32_t unsigned_ints __attribute__((vector_size(64)));
typedef __mmask16 mask;

OPERATION(floats, floats_of, (float v), _mm512_set1_ps(v))
OPERATION(floats, floats_load, (const float *from), _mm512_loadu_ps(from))

static inline void floats_store(float *to, floats v)
{
    _mm512_storeu_ps(to, v);
}

OPERATION(ints, ints_of, (int32_t v), (ints)_mm512_set1_epi32(v))
OPERATION(ints, ints_load, (const int32_t *from), (ints)_mm512_loadu_si512(from))

static inline void ints_store(int32_t *to, ints v)
{
    _mm512_storeu_si512(to, (__m512i)v);
}

OPERATION(ints, bytes_load, (const uint8_t *from),
          (ints)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from)))
OPERATION(ints, bytes_load_signed, (const uint8_t *from),
          (ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from)))

static inline void bytes_store(uint8_t *to, ints v)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8((__m512i)v));
}

OPERATION(ints, shorts_load, (const uint16_t *from),
          (ints)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)from)))
OPERATION(ints, words_load, (const uint8_t *from),
          (ints)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)from)))

static inline void words_store(uint8_t *to, ints v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16((__m512i)v));
}

OPERATION(floats, floats_from, (ints v), _mm512_cvtepi32_ps((__m512i)v))
OPERATION(ints, ints_from, (floats v), (ints)_mm512_cvttps_epi32(v))
OPERATION(ints, float_bits, (floats v), (ints)_mm512_castps_si512(v))
OPERATION(floats, bits_float, (ints v), _mm512_castsi512_ps((__m512i)v))
OPERATION(mask, less, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ))
OPERATION(mask, greater, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ))
OPERATION(mask, greater_equal, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ))
OPERATION(mask, equal, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ))
OPERATION(mask, ints_equal, (ints a, ints b), _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b))
OPERATION(mask, ints_greater, (ints a, ints b), _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b))
OPERATION(mask, both, (mask a, mask b), (mask)((a) & (b)))
OPERATION(mask, either, (mask a, mask b), (mask)(a | b))
OPERATION(mask, not, (mask a), (mask)~a)
OPERATION(bool, any, (mask a), a != 0)
OPERATION(uint32_t, mask_bits, (mask a), a)
OPERATION(mask, mask_from_bits, (uint32_t bits), (mask)bits)
OPERATION(floats, select, (mask m, floats a, floats b), _mm512_mask_blend_ps(m, b, a))
OPERATION(ints, ints_select, (mask m, ints a, ints b),
          (ints)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a))
OPERATION(floats, minimum, (floats a, floats b), _mm512_min_ps(a, b))
OPERATION(floats, maximum, (floats a, floats b), _mm512_max_ps(a, b))
OPERATION(floats, absolute, (floats v), _mm512_abs_ps(v))
OPERATION(floats, square_root, (floats v), _mm512_sqrt_ps(v))
OPERATION(floats, negate_by_bits, (floats v, uint32_t bits),
          _mm512_mask_xor_ps(v, (__mmask16)bits, v, _mm512_set1_ps(-0.0f)))
OPERATION(floats, lookup16, (const float table[16], ints index),
          _mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(table)))
OPERATION(floats, lookup4, (const float table[4], ints index),
          _mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(table)), (__m512i)index))
OPERATION(floats, lookup8, (const float table[8], ints index),
          _mm512_permutexvar_ps((__m512i)index, _mm512_broadcast_f32x8(_mm256_loadu_ps(table))))
OPERATION(float, highest, (floats v), _mm512_reduce_max_ps(v))
OPERATION(floats, halves_load, (const uint8_t *from),
          _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from)))

/* See lanes_avx2.h.  A quarter has four bytes in each 128 bits of a register. */
typedef uint64_t quarters __attribute__((vector_size(64)));

static inline quarters quarters_load(const uint8_t *from)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    return (quarters)_mm512_permutexvar_epi32(order, _mm512_loadu_si512(from));
}

static inline quarters quarters_repeated(const uint8_t *from, uint64_t step)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 0, 4, 1, 5, 1, 5, 2, 6, 2, 6, 3, 7, 3, 7);
    __m256i once = _mm256_loadu_si256((const __m256i *)(const void *)from);
    __m512i twice = _mm512_permutexvar_epi32(order, _mm512_castsi256_si512(once));

    return (quarters)twice >> (quarters){0, step, 0, step, 0, step, 0, step};
}

static inline ints quarter(quarters v, int k)
{
    const __m128i first = _mm_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1);
    __m128i spread = _mm_add_epi8(first, _mm_set1_epi32(4 * k));

    return (ints)_mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(spread));
}

static inline void halves_store(uint8_t *to, floats v)
{
    __m256i halves = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    __m256i sign = _mm256_and_si256(halves, _mm256_set1_epi16((short)0x8000));
    __m256i quiet = _mm256_or_si256(sign, _mm256_set1_epi16(0x7e00));

    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_mask_blend_epi16(nan, halves, quiet));
}

/* Swaps rows and columns of LANES vectors, by quarters: pairs of rows, pairs of pairs, then 128-bit
 * pieces. */
static inline void transpose(floats v[16])
{
    __m512 a[16], b[16];

    for (int i = 0; i < 16; i += 2) {
        a[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        a[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        for (int half = 0; half < 2; half++) {
            __m512d low = _mm512_castps_pd(a[i + half]), high = _mm512_castps_pd(a[i + half + 2]);
            b[i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
            b[i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
        }
    }
    for (int i = 0; i < 4; i++) { /* b[i], b[4 + i] ... hold columns i, 4 + i, 8 + i, 12 + i */
        __m512 even_low = _mm512_shuffle_f32x4(b[i], b[4 + i], 0x88);
        __m512 odd_low = _mm512_shuffle_f32x4(b[i], b[4 + i], 0xdd);
        __m512 even_high = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0x88);
        __m512 odd_high = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0xdd);
        v[i] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
        v[8 + i] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
        v[4 + i] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
        v[12 + i] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
    }
}

#endif
