/* Element types as ggml's interface has them, from the one table of types (standalone build). */
#include "compat/context.h"

#include "codec/half.h"

static const char *const names[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = "f32",       [GGML_TYPE_F16] = "f16",         [GGML_TYPE_Q4_0] = "q4_0",
    [GGML_TYPE_Q4_1] = "q4_1",     [GGML_TYPE_Q5_0] = "q5_0",       [GGML_TYPE_Q5_1] = "q5_1",
    [GGML_TYPE_Q8_0] = "q8_0",     [GGML_TYPE_Q8_1] = "q8_1",       [GGML_TYPE_Q2_K] = "q2_K",
    [GGML_TYPE_Q3_K] = "q3_K",     [GGML_TYPE_Q4_K] = "q4_K",       [GGML_TYPE_Q5_K] = "q5_K",
    [GGML_TYPE_Q6_K] = "q6_K",     [GGML_TYPE_Q8_K] = "q8_K",       [GGML_TYPE_IQ2_XXS] = "iq2_xxs",
    [GGML_TYPE_IQ2_XS] = "iq2_xs", [GGML_TYPE_IQ3_XXS] = "iq3_xxs", [GGML_TYPE_IQ1_S] = "iq1_s",
    [GGML_TYPE_IQ4_NL] = "iq4_nl", [GGML_TYPE_IQ3_S] = "iq3_s",     [GGML_TYPE_IQ2_S] = "iq2_s",
    [GGML_TYPE_IQ4_XS] = "iq4_xs", [GGML_TYPE_I8] = "i8",           [GGML_TYPE_I16] = "i16",
    [GGML_TYPE_I32] = "i32",       [GGML_TYPE_I64] = "i64",         [GGML_TYPE_F64] = "f64",
    [GGML_TYPE_IQ1_M] = "iq1_m",   [GGML_TYPE_BF16] = "bf16",       [GGML_TYPE_TQ1_0] = "tq1_0",
    [GGML_TYPE_TQ2_0] = "tq2_0",   [GGML_TYPE_MXFP4] = "mxfp4",     [GGML_TYPE_NVFP4] = "nvfp4",
    [GGML_TYPE_Q1_0] = "q1_0",     [GGML_TYPE_Q2_0] = "q2_0",
};

/* NULL for a type that was removed. */
static const gufo_element_type *row_of(enum ggml_type type)
{
    const gufo_element_type *row;

    if ((unsigned)type >= GGML_TYPE_COUNT)
        GGML_ABORT("type %d does not exist", (int)type);
    row = gufo_element_type_by_id((uint32_t)type);
    return row != NULL && (row->flags & GUFO_ELEMENT_REMOVED) ? NULL : row;
}

size_t ggml_type_size(enum ggml_type type)
{
    const gufo_element_type *row = row_of(type);

    return row != NULL ? row->block_bytes : 0;
}

int64_t ggml_blck_size(enum ggml_type type)
{
    const gufo_element_type *row = row_of(type);

    return row != NULL ? row->block_elements : 0;
}

const char *ggml_type_name(enum ggml_type type)
{
    if ((unsigned)type >= GGML_TYPE_COUNT)
        return "NONE";
    return names[type] != NULL ? names[type] : "removed";
}

size_t ggml_row_size(enum ggml_type type, int64_t ne)
{
    int64_t block = ggml_blck_size(type);

    GGML_ASSERT(block > 0 && ne % block == 0);
    return ggml_type_size(type) * (size_t)(ne / block);
}

bool ggml_is_quantized(enum ggml_type type)
{
    const gufo_element_type *row = row_of(type);

    return row != NULL && (row->flags & GUFO_ELEMENT_QUANTIZED);
}

/* ---- half-precision numbers ----------------------------------------------------------------- */

float ggml_fp16_to_fp32(ggml_fp16_t bits)
{
    return half_to_float(bits);
}

ggml_fp16_t ggml_fp32_to_fp16(float value)
{
    return half_from_float(value);
}

float ggml_bf16_to_fp32(ggml_bf16_t value)
{
    return float_from_bits((uint32_t)value.bits << 16);
}

/* To the nearest, ties to even; a NaN stays one and becomes quiet. */
ggml_bf16_t ggml_fp32_to_bf16(float value)
{
    uint32_t bits = float_to_bits(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (ggml_bf16_t){(uint16_t)(bits >> 16 | 0x40u)};
    return (ggml_bf16_t){(uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}
