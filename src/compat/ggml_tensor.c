/* Shape, name and data of tensors, as ggml's interface has them (standalone build). */
#include "compat/context.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "codec/half.h"

/* Element types as ggml's interface has them, from the one table of types (standalone build). */

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

int64_t ggml_nelements(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] * ggml_nrows(tensor);
}

int64_t ggml_nrows(const struct ggml_tensor *tensor)
{
    return tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

/* To the last byte of the last row, for any strides. */
size_t ggml_nbytes(const struct ggml_tensor *tensor)
{
    size_t block = (size_t)ggml_blck_size(tensor->type);
    size_t bytes;

    if (block == 0 || ggml_is_empty(tensor))
        return 0;
    bytes = block == 1 ? ggml_type_size(tensor->type) + (size_t)(tensor->ne[0] - 1) * tensor->nb[0]
                       : (size_t)tensor->ne[0] / block * tensor->nb[0];
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        bytes += (size_t)(tensor->ne[i] - 1) * tensor->nb[i];
    return bytes;
}

size_t ggml_nbytes_pad(const struct ggml_tensor *tensor)
{
    return GGML_PAD(ggml_nbytes(tensor), (size_t)GGML_MEM_ALIGN);
}

size_t ggml_element_size(const struct ggml_tensor *tensor)
{
    return ggml_type_size(tensor->type);
}

int ggml_n_dims(const struct ggml_tensor *tensor)
{
    int n = GGML_MAX_DIMS;

    while (n > 1 && tensor->ne[n - 1] <= 1)
        n--;
    return n;
}

/* Dimensions of 1 are never stepped along, so their stride does not matter. */
bool ggml_is_contiguous(const struct ggml_tensor *tensor)
{
    int64_t block = ggml_blck_size(tensor->type);
    size_t stride = ggml_type_size(tensor->type);

    if (block == 0 || (tensor->ne[0] != block && tensor->nb[0] != stride))
        return false;
    stride *= (size_t)(tensor->ne[0] / block);
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] != 1 && tensor->nb[i] != stride)
            return false;
        stride *= (size_t)tensor->ne[i];
    }
    return true;
}

bool ggml_is_empty(const struct ggml_tensor *tensor)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (tensor->ne[i] <= 0)
            return true;
    return false;
}

static bool is_one_from(const struct ggml_tensor *tensor, int dimension)
{
    for (int i = dimension; i < GGML_MAX_DIMS; i++)
        if (tensor->ne[i] != 1)
            return false;
    return true;
}

bool ggml_is_scalar(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 0);
}

bool ggml_is_vector(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 1);
}

bool ggml_is_matrix(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 2);
}

bool ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    return memcmp(t0->ne, t1->ne, sizeof t0->ne) == 0;
}

/* ---- names and data ------------------------------------------------------------------------- */

const char *ggml_get_name(const struct ggml_tensor *tensor)
{
    return tensor->name;
}

struct ggml_tensor *ggml_set_name(struct ggml_tensor *tensor, const char *name)
{
    size_t len = strnlen(name, sizeof tensor->name - 1);

    memmove(tensor->name, name, len); /* it may be this one's own */
    tensor->name[len] = '\0';
    return tensor;
}

struct ggml_tensor *ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(tensor->name, sizeof tensor->name, fmt, args);
    va_end(args);
    return tensor;
}

void *ggml_get_data(const struct ggml_tensor *tensor)
{
    return tensor->data;
}

float *ggml_get_data_f32(const struct ggml_tensor *tensor)
{
    GGML_ASSERT(tensor->type == GGML_TYPE_F32);
    return tensor->data;
}

const void *compat_tensor_bytes(const struct ggml_tensor *tensor, size_t offset, size_t size,
                                void *scratch)
{
    (void)size;
    (void)scratch;
    return (const char *)tensor->data + offset;
}

/* ---- messages and aborting, as ggml's interface has them (standalone build) --------------------- */

static void print(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    (void)fputs(text, stderr);
    (void)fflush(stderr);
}

/* The interface has one log for the whole process. */
static ggml_log_callback told = print;
static void *told_data;

void ggml_log_set(ggml_log_callback log_callback, void *user_data)
{
    told = log_callback != NULL ? log_callback : print;
    told_data = user_data;
}

void ggml_log_get(ggml_log_callback *log_callback, void **user_data)
{
    *log_callback = told;
    *user_data = told_data;
}

void compat_log(const char *line)
{
    told(GGML_LOG_LEVEL_ERROR, line, told_data);
}

void ggml_abort(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    (void)fflush(stdout);
    (void)fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    abort();
}
