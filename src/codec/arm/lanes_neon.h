/* Four lanes: AArch64 Advanced SIMD. */
#ifndef CODEC_ARM_LANES_NEON_H
#define CODEC_ARM_LANES_NEON_H

#include <arm_neon.h>

#define LANES 4

typedef float32x4_t floats;
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t unsigned_ints __attribute__((vector_size(16)));
typedef uint32x4_t mask; /* all bits of a lane, or none */

OPERATION(floats, floats_of, (float v), vdupq_n_f32(v))
OPERATION(floats, floats_load, (const float *from), vld1q_f32(from))

static inline void floats_store(float *to, floats v)
{
    vst1q_f32(to, v);
}

OPERATION(ints, ints_of, (int32_t v), (ints)vdupq_n_s32(v))
OPERATION(ints, ints_load, (const int32_t *from), (ints)vld1q_s32(from))

static inline void ints_store(int32_t *to, ints v)
{
    vst1q_s32(to, (int32x4_t)v);
}

static inline ints bytes_load(const uint8_t *from)
{
    uint32_t four;

    memcpy(&four, from, sizeof four);
    return (ints)vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)))));
}

static inline ints bytes_load_signed(const uint8_t *from)
{
    uint32_t four;

    memcpy(&four, from, sizeof four);
    return (ints)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))));
}

static inline void bytes_store(uint8_t *to, ints v)
{
    uint16x4_t words = vmovn_u32((uint32x4_t)v);
    uint8x8_t bytes = vmovn_u16(vcombine_u16(words, words));
    uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);

    memcpy(to, &four, sizeof four);
}

OPERATION(ints, shorts_load, (const uint16_t *from), (ints)vmovl_u16(vld1_u16(from)))
OPERATION(ints, words_load, (const uint8_t *from),
          (ints)vmovl_u16(vreinterpret_u16_u8(vld1_u8(from))))

static inline void words_store(uint8_t *to, ints v)
{
    vst1_u8(to, vreinterpret_u8_u16(vmovn_u32((uint32x4_t)v)));
}

OPERATION(floats, floats_from, (ints v), vcvtq_f32_s32((int32x4_t)v))
OPERATION(ints, ints_from, (floats v), (ints)vcvtq_s32_f32(v))
OPERATION(ints, float_bits, (floats v), (ints)vreinterpretq_s32_f32(v))
OPERATION(floats, bits_float, (ints v), vreinterpretq_f32_s32((int32x4_t)v))
OPERATION(mask, less, (floats a, floats b), vcltq_f32(a, b))
OPERATION(mask, greater, (floats a, floats b), vcgtq_f32(a, b))
OPERATION(mask, greater_equal, (floats a, floats b), vcgeq_f32(a, b))
OPERATION(mask, equal, (floats a, floats b), vceqq_f32(a, b))
OPERATION(mask, ints_equal, (ints a, ints b), vceqq_s32((int32x4_t)a, (int32x4_t)b))
OPERATION(mask, ints_greater, (ints a, ints b), vcgtq_s32((int32x4_t)a, (int32x4_t)b))
OPERATION(mask, both, (mask a, mask b), vandq_u32(a, b))
OPERATION(mask, either, (mask a, mask b), vorrq_u32(a, b))
OPERATION(mask, not, (mask a), vmvnq_u32(a))

static inline uint32_t mask_bits(mask a)
{
    const uint32x4_t bit = {1, 2, 4, 8};

    return vaddvq_u32(vandq_u32(a, bit));
}

OPERATION(bool, any, (mask a), vmaxvq_u32(a) != 0)

static inline mask mask_from_bits(uint32_t bits)
{
    const uint32x4_t bit = {1, 2, 4, 8};

    return vtstq_u32(vdupq_n_u32(bits), bit);
}

OPERATION(floats, select, (mask m, floats a, floats b), vbslq_f32(m, a, b))
OPERATION(ints, ints_select, (mask m, ints a, ints b),
          (ints)vbslq_s32(m, (int32x4_t)a, (int32x4_t)b))
/* The processor's own minimum and maximum give NaN for NaN. */
OPERATION(floats, minimum, (floats a, floats b), select(less(a, b), a, b))
OPERATION(floats, maximum, (floats a, floats b), select(greater(a, b), a, b))
OPERATION(floats, absolute, (floats v), vabsq_f32(v))
OPERATION(floats, square_root, (floats v), vsqrtq_f32(v))
OPERATION(floats, negate_by_bits, (floats v, uint32_t bits),
          select(mask_from_bits(bits), vnegq_f32(v), v))
OPERATION(floats, lookup16, (const float table[16], ints index),
          (floats){table[index[0] & 15], table[index[1] & 15], table[index[2] & 15],
                   table[index[3] & 15]})
OPERATION(floats, lookup4, (const float table[4], ints index),
          (floats){table[index[0] & 3], table[index[1] & 3], table[index[2] & 3],
                   table[index[3] & 3]})
OPERATION(floats, lookup8, (const float table[8], ints index),
          (floats){table[index[0] & 7], table[index[1] & 7], table[index[2] & 7],
                   table[index[3] & 7]})
OPERATION(float, highest, (floats v), vmaxvq_f32(v))
OPERATION(floats, halves_load, (const uint8_t *from),
          vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from))))

static inline void halves_store(uint8_t *to, floats v)
{
    uint16x4_t halves = vreinterpret_u16_f16(vcvt_f16_f32(v));
    uint16x4_t nan = vmovn_u32(not(equal(v, v)));
    uint16x4_t quiet = vorr_u16(vand_u16(halves, vdup_n_u16(0x8000)), vdup_n_u16(0x7e00));

    vst1_u8(to, vreinterpret_u8_u16(vbsl_u16(nan, quiet, halves)));
}

/* Swaps rows and columns of LANES vectors. */
static inline void transpose(floats v[4])
{
    float32x4x2_t low = vtrnq_f32(v[0], v[1]), high = vtrnq_f32(v[2], v[3]);

    v[0] = vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0]));
    v[1] = vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1]));
    v[2] = vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0]));
    v[3] = vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1]));
}

#endif
