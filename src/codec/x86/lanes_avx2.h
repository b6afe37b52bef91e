/* Eight lanes: AVX2 and F16C. */
#ifndef CODEC_X86_LANES_AVX2_H
#define CODEC_X86_LANES_AVX2_H

#include <immintrin.h>

#define LANES 8

typedef __m256 floats;
typedef int32_t ints __attribute__((vector_size(32)));
typedef uint32_t unsigned_ints __attribute__((vector_size(32)));
typedef __m256 mask; /* all bits of a lane, or none */

OPERATION(floats, floats_of, (float v), _mm256_set1_ps(v))
OPERATION(floats, floats_load, (const float *from), _mm256_loadu_ps(from))

static inline void floats_store(float *to, floats v)
{
    _mm256_storeu_ps(to, v);
}

OPERATION(ints, ints_of, (int32_t v), (ints)_mm256_set1_epi32(v))
OPERATION(ints, ints_load, (const int32_t *from),
          (ints)_mm256_loadu_si256((const __m256i *)(const void *)from))

static inline void ints_store(int32_t *to, ints v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, (__m256i)v);
}

OPERATION(ints, bytes_load, (const uint8_t *from),
          (ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from)))
OPERATION(ints, bytes_load_signed, (const uint8_t *from),
          (ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from)))

static inline void bytes_store(uint8_t *to, ints v)
{
    const __m256i low_bytes =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i quads = _mm256_shuffle_epi8((__m256i)v, low_bytes);
    __m128i both_quads =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));

    _mm_storel_epi64((__m128i *)(void *)to, both_quads);
}

OPERATION(ints, shorts_load, (const uint16_t *from),
          (ints)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from)))
OPERATION(ints, words_load, (const uint8_t *from),
          (ints)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from)))

static inline void words_store(uint8_t *to, ints v)
{
    __m256i low = _mm256_and_si256((__m256i)v, _mm256_set1_epi32(0xffff));
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));

    _mm_storeu_si128((__m128i *)(void *)to, words);
}

OPERATION(floats, floats_from, (ints v), _mm256_cvtepi32_ps((__m256i)v))
OPERATION(ints, ints_from, (floats v), (ints)_mm256_cvttps_epi32(v))
OPERATION(ints, float_bits, (floats v), (ints)_mm256_castps_si256(v))
OPERATION(floats, bits_float, (ints v), _mm256_castsi256_ps((__m256i)v))
OPERATION(mask, less, (floats a, floats b), _mm256_cmp_ps(a, b, _CMP_LT_OQ))
OPERATION(mask, greater, (floats a, floats b), _mm256_cmp_ps(a, b, _CMP_GT_OQ))
OPERATION(mask, greater_equal, (floats a, floats b), _mm256_cmp_ps(a, b, _CMP_GE_OQ))
OPERATION(mask, equal, (floats a, floats b), _mm256_cmp_ps(a, b, _CMP_EQ_OQ))
OPERATION(mask, ints_equal, (ints a, ints b),
          _mm256_castsi256_ps(_mm256_cmpeq_epi32((__m256i)a, (__m256i)b)))
OPERATION(mask, ints_greater, (ints a, ints b),
          _mm256_castsi256_ps(_mm256_cmpgt_epi32((__m256i)a, (__m256i)b)))
OPERATION(mask, both, (mask a, mask b), _mm256_and_ps(a, b))
OPERATION(mask, either, (mask a, mask b), _mm256_or_ps(a, b))
OPERATION(mask, not, (mask a), _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))))
OPERATION(uint32_t, mask_bits, (mask a), (uint32_t)_mm256_movemask_ps(a))
OPERATION(bool, any, (mask a), mask_bits(a) != 0)

static inline mask mask_from_bits(uint32_t bits)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i chosen = _mm256_and_si256(_mm256_set1_epi32((int)bits), bit);

    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(chosen, bit));
}

OPERATION(floats, select, (mask m, floats a, floats b), _mm256_blendv_ps(b, a, m))
OPERATION(ints, ints_select, (mask m, ints a, ints b),
          (ints)_mm256_castps_si256(_mm256_blendv_ps(bits_float(b), bits_float(a), m)))
OPERATION(floats, minimum, (floats a, floats b), _mm256_min_ps(a, b))
OPERATION(floats, maximum, (floats a, floats b), _mm256_max_ps(a, b))
OPERATION(floats, absolute, (floats v), _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v))
OPERATION(floats, square_root, (floats v), _mm256_sqrt_ps(v))
OPERATION(floats, negate_by_bits, (floats v, uint32_t bits),
          _mm256_xor_ps(v, _mm256_and_ps(mask_from_bits(bits), _mm256_set1_ps(-0.0f))))

static inline floats lookup16(const float table[16], ints index)
{
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), (__m256i)index);

    /* the sign bit of a lane chooses: bit 3 of the index */
    return _mm256_blendv_ps(low, high, bits_float((ints)((unsigned_ints)index << 28)));
}

static inline floats lookup4(const float table[4], ints index)
{
    __m256 both_halves = _mm256_broadcast_ps((const __m128 *)(const void *)table);

    return _mm256_permutevar_ps(both_halves, (__m256i)index);
}

OPERATION(floats, lookup8, (const float table[8], ints index),
          _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index))

static inline float highest(floats v)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

OPERATION(floats, halves_load, (const uint8_t *from),
          _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from)))

/* Four times LANES bytes in words.  A quarter, LANES of them, becomes numbers from 0 to 255 by one
 * shuffle, which stays within 128 bits: so these hold four bytes of each quarter. */
typedef uint64_t quarters __attribute__((vector_size(32)));

static inline quarters quarters_load(const uint8_t *from)
{
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)from);

    return (quarters)_mm256_permutevar8x32_epi32(bytes, order);
}

/* 32 bytes as often as there is room; words of a second copy are shifted right by `step`. */
static inline quarters quarters_repeated(const uint8_t *from, uint64_t step)
{
    (void)step;
    return quarters_load(from);
}

/* Bytes k * LANES and so on, in order. */
static inline ints quarter(quarters v, int k)
{
    const __m128i first = _mm_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1);
    __m128i spread = _mm_add_epi8(first, _mm_set1_epi32(4 * k));

    return (ints)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(spread));
}

static inline void halves_store(uint8_t *to, floats v)
{
    __m128i halves = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128(nan), _mm256_extracti128_si256(nan, 1));
    __m128i sign = _mm_and_si128(halves, _mm_set1_epi16((short)0x8000));
    __m128i quiet = _mm_or_si128(sign, _mm_set1_epi16(0x7e00));

    _mm_storeu_si128((__m128i *)(void *)to, _mm_blendv_epi8(halves, quiet, narrow));
}

/* Swaps rows and columns of LANES vectors: pairs of rows, pairs of pairs, then halves. */
static inline void transpose(floats v[8])
{
    __m256 a[8], b[8];

    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int half = 0; half < 2; half++) {
            __m256d low = _mm256_castps_pd(a[i + half]), high = _mm256_castps_pd(a[i + half + 2]);
            b[i + 2 * half] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, high));
            b[i + 2 * half + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, high));
        }
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x20);
        v[4 + i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x31);
    }
}

#endif
