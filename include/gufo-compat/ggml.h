/* The part of ggml's interface that programs need beside <gguf.h>: element types, tensors, and the
 * pool they are allocated from.  No computation.
 *
 * Names, types, numbers and the layout of struct ggml_tensor are those of ggml, so that a program
 * written against ggml's header compiles and runs with this one.  Link libgguf.  A program that
 * links ggml itself uses ggml's own headers instead (docs/c-api.md).
 *
 * In the object code every function here and in <gguf.h> has another name than in ggml, by an asm
 * label: gufo_ggml_nbytes for ggml_nbytes.  So libgguf and a real ggml can be in one process, also
 * where a program links one and a library that it uses the other.
 *
 * Wrong use (a type that does not exist, a pool that is full) prints a message and aborts, as in
 * ggml. */
#ifndef GUFO_COMPAT_GGML_H
#define GUFO_COMPAT_GGML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GGML_API
#if defined(__GNUC__)
#define GGML_API __attribute__((visibility("default"))) extern
#else
#define GGML_API extern
#endif
#endif

/* The name in the object code; defined as nothing: that of ggml. */
#ifndef GGML_SYMBOL
#if defined(__GNUC__)
#define GGML_TEXT_OF(x) #x
#define GGML_LABEL(prefix, name) __asm__(GGML_TEXT_OF(prefix) "gufo_" name)
#define GGML_SYMBOL(name) GGML_LABEL(__USER_LABEL_PREFIX__, #name)
#else
#define GGML_SYMBOL(name)
#endif
#endif

#if defined(__GNUC__)
#define GGML_ATTRIBUTE_FORMAT(...) __attribute__((format(printf, __VA_ARGS__)))
#else
#define GGML_ATTRIBUTE_FORMAT(...)
#endif

#if defined(__GNUC__)
#define GGML_NORETURN __attribute__((noreturn))
#elif defined(__cplusplus)
#define GGML_NORETURN [[noreturn]]
#else
#define GGML_NORETURN _Noreturn
#endif

#define GGML_QNT_VERSION 2
#define GGML_QNT_VERSION_FACTOR 1000

#define GGML_MAX_DIMS 4
#define GGML_MAX_SRC 10
#define GGML_MAX_OP_PARAMS 64
#ifndef GGML_MAX_NAME
#define GGML_MAX_NAME 64 /* with the terminator */
#endif

#if UINTPTR_MAX == 0xFFFFFFFF
#define GGML_MEM_ALIGN 4
#else
#define GGML_MEM_ALIGN 16
#endif

#define GGML_UNUSED(x) (void)(x)
/* The next multiple of `n`, a power of two. */
#define GGML_PAD(x, n) (((x) + (n)-1) & ~((n)-1))
#define GGML_ABORT(...) ggml_abort(__FILE__, __LINE__, __VA_ARGS__)
#define GGML_ASSERT(x) \
    if (!(x))          \
    GGML_ABORT("GGML_ASSERT(%s) failed", #x)

/* Prints place and message to stderr and aborts. */
GGML_NORETURN GGML_ATTRIBUTE_FORMAT(3, 4) GGML_API
    void ggml_abort(const char *file, int line, const char *fmt, ...) GGML_SYMBOL(ggml_abort);

/* ---- element types -------------------------------------------------------------------------- */

/* The ids in files.  4, 5, 31 to 33 and 36 to 38 belonged to types that were removed. */
enum ggml_type {
    GGML_TYPE_F32 = 0,
    GGML_TYPE_F16 = 1,
    GGML_TYPE_Q4_0 = 2,
    GGML_TYPE_Q4_1 = 3,
    GGML_TYPE_Q5_0 = 6,
    GGML_TYPE_Q5_1 = 7,
    GGML_TYPE_Q8_0 = 8,
    GGML_TYPE_Q8_1 = 9,
    GGML_TYPE_Q2_K = 10,
    GGML_TYPE_Q3_K = 11,
    GGML_TYPE_Q4_K = 12,
    GGML_TYPE_Q5_K = 13,
    GGML_TYPE_Q6_K = 14,
    GGML_TYPE_Q8_K = 15,
    GGML_TYPE_IQ2_XXS = 16,
    GGML_TYPE_IQ2_XS = 17,
    GGML_TYPE_IQ3_XXS = 18,
    GGML_TYPE_IQ1_S = 19,
    GGML_TYPE_IQ4_NL = 20,
    GGML_TYPE_IQ3_S = 21,
    GGML_TYPE_IQ2_S = 22,
    GGML_TYPE_IQ4_XS = 23,
    GGML_TYPE_I8 = 24,
    GGML_TYPE_I16 = 25,
    GGML_TYPE_I32 = 26,
    GGML_TYPE_I64 = 27,
    GGML_TYPE_F64 = 28,
    GGML_TYPE_IQ1_M = 29,
    GGML_TYPE_BF16 = 30,
    GGML_TYPE_TQ1_0 = 34,
    GGML_TYPE_TQ2_0 = 35,
    GGML_TYPE_MXFP4 = 39,
    GGML_TYPE_NVFP4 = 40,
    GGML_TYPE_Q1_0 = 41,
    GGML_TYPE_Q2_0 = 42,
    GGML_TYPE_COUNT = 43,
};

/* Bytes and elements of a block; both are 0 for a removed type.  Abort for other numbers. */
GGML_API size_t ggml_type_size(enum ggml_type type) GGML_SYMBOL(ggml_type_size);
GGML_API int64_t ggml_blck_size(enum ggml_type type) GGML_SYMBOL(ggml_blck_size);
/* "f32", "q4_K" ...; "NONE" for a number that is not a type. */
GGML_API const char *ggml_type_name(enum ggml_type type) GGML_SYMBOL(ggml_type_name);
/* Bytes of `ne` elements that fill whole blocks. */
GGML_API size_t ggml_row_size(enum ggml_type type, int64_t ne) GGML_SYMBOL(ggml_row_size);
GGML_API bool ggml_is_quantized(enum ggml_type type) GGML_SYMBOL(ggml_is_quantized);

/* Half-precision numbers as bits: binary16, and the upper half of a float32. */
typedef uint16_t ggml_fp16_t;
typedef struct {
    uint16_t bits;
} ggml_bf16_t;

GGML_API float ggml_fp16_to_fp32(ggml_fp16_t) GGML_SYMBOL(ggml_fp16_to_fp32);
GGML_API ggml_fp16_t ggml_fp32_to_fp16(float) GGML_SYMBOL(ggml_fp32_to_fp16);
GGML_API float ggml_bf16_to_fp32(ggml_bf16_t) GGML_SYMBOL(ggml_bf16_to_fp32);
GGML_API ggml_bf16_t ggml_fp32_to_bf16(float) GGML_SYMBOL(ggml_fp32_to_bf16);

/* ---- tensors -------------------------------------------------------------------------------- */

struct ggml_context;
struct ggml_backend_buffer;

/* Tensors of this library are never results of operations. */
enum ggml_op {
    GGML_OP_NONE = 0,
};

/* ne[0] elements are a row.  nb[i] is the distance in bytes between neighbours along dimension i;
 * nb[0] is that of blocks. */
struct ggml_tensor {
    enum ggml_type type;
    struct ggml_backend_buffer *buffer; /* NULL here: data is in memory */
    int64_t ne[GGML_MAX_DIMS];
    size_t nb[GGML_MAX_DIMS];
    enum ggml_op op;
    int32_t op_params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    int32_t flags;
    struct ggml_tensor *src[GGML_MAX_SRC];
    struct ggml_tensor *view_src;
    size_t view_offs;
    void *data;
    char name[GGML_MAX_NAME];
    void *extra;
    char padding[8];
};

static const size_t GGML_TENSOR_SIZE = sizeof(struct ggml_tensor);

GGML_API int64_t ggml_nelements(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_nelements);
GGML_API int64_t ggml_nrows(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_nrows);
/* Bytes from the first element to the end of the last; 0 if none exists. */
GGML_API size_t ggml_nbytes(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_nbytes);
GGML_API size_t ggml_nbytes_pad(const struct ggml_tensor *tensor)
    GGML_SYMBOL(ggml_nbytes_pad); /* to GGML_MEM_ALIGN */
GGML_API size_t ggml_element_size(const struct ggml_tensor *tensor)
    GGML_SYMBOL(ggml_element_size); /* of a block */
/* 1 to 4: trailing dimensions of 1 do not count. */
GGML_API int ggml_n_dims(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_n_dims);
GGML_API bool ggml_is_contiguous(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_is_contiguous);
GGML_API bool ggml_is_empty(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_is_empty);
GGML_API bool ggml_is_scalar(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_is_scalar);
GGML_API bool ggml_is_vector(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_is_vector);
GGML_API bool ggml_is_matrix(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_is_matrix);
GGML_API bool ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
    GGML_SYMBOL(ggml_are_same_shape);

GGML_API const char *ggml_get_name(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_get_name);
/* Names are cut to GGML_MAX_NAME - 1 bytes.  Return the tensor. */
GGML_API struct ggml_tensor *ggml_set_name(struct ggml_tensor *tensor, const char *name)
    GGML_SYMBOL(ggml_set_name);
GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API struct ggml_tensor *ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...)
    GGML_SYMBOL(ggml_format_name);
GGML_API void *ggml_get_data(const struct ggml_tensor *tensor) GGML_SYMBOL(ggml_get_data);
GGML_API float *ggml_get_data_f32(const struct ggml_tensor *tensor)
    GGML_SYMBOL(ggml_get_data_f32); /* aborts for other types */

/* ---- contexts ------------------------------------------------------------------------------- */

/* A pool of fixed size from which tensors (and, unless `no_alloc` is set, their data) come.  Not
 * for several threads at once. */
struct ggml_init_params {
    size_t mem_size;  /* bytes */
    void *mem_buffer; /* NULL: allocated, and freed by ggml_free */
    bool no_alloc;
};

/* NULL if memory runs out. */
GGML_API struct ggml_context *ggml_init(struct ggml_init_params params) GGML_SYMBOL(ggml_init);
GGML_API void ggml_reset(struct ggml_context *ctx)
    GGML_SYMBOL(ggml_reset); /* forgets all tensors; NULL is allowed */
GGML_API void ggml_free(struct ggml_context *ctx) GGML_SYMBOL(ggml_free); /* NULL is allowed */

GGML_API size_t ggml_used_mem(const struct ggml_context *ctx) GGML_SYMBOL(ggml_used_mem);
GGML_API bool ggml_get_no_alloc(struct ggml_context *ctx) GGML_SYMBOL(ggml_get_no_alloc);
GGML_API void ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc)
    GGML_SYMBOL(ggml_set_no_alloc);
GGML_API void *ggml_get_mem_buffer(const struct ggml_context *ctx) GGML_SYMBOL(ggml_get_mem_buffer);
GGML_API size_t ggml_get_mem_size(const struct ggml_context *ctx) GGML_SYMBOL(ggml_get_mem_size);
GGML_API size_t ggml_get_max_tensor_size(const struct ggml_context *ctx)
    GGML_SYMBOL(ggml_get_max_tensor_size);
/* What a tensor takes from the pool beside its data. */
GGML_API size_t ggml_tensor_overhead(void) GGML_SYMBOL(ggml_tensor_overhead);

/* A tensor with zeroed fields, contiguous; data, where allocated, is not initialised.  Aborts when
 * the pool is full. */
GGML_API struct ggml_tensor *ggml_new_tensor(struct ggml_context *ctx, enum ggml_type type,
                                             int n_dims, const int64_t *ne)
    GGML_SYMBOL(ggml_new_tensor);
GGML_API struct ggml_tensor *ggml_new_tensor_1d(struct ggml_context *ctx, enum ggml_type type,
                                                int64_t ne0) GGML_SYMBOL(ggml_new_tensor_1d);
GGML_API struct ggml_tensor *ggml_new_tensor_2d(struct ggml_context *ctx, enum ggml_type type,
                                                int64_t ne0, int64_t ne1)
    GGML_SYMBOL(ggml_new_tensor_2d);
GGML_API struct ggml_tensor *ggml_new_tensor_3d(struct ggml_context *ctx, enum ggml_type type,
                                                int64_t ne0, int64_t ne1, int64_t ne2)
    GGML_SYMBOL(ggml_new_tensor_3d);
GGML_API struct ggml_tensor *ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type,
                                                int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
    GGML_SYMBOL(ggml_new_tensor_4d);
/* Type and shape of `src`, without its data and name. */
GGML_API struct ggml_tensor *ggml_dup_tensor(struct ggml_context *ctx,
                                             const struct ggml_tensor *src)
    GGML_SYMBOL(ggml_dup_tensor);

/* Tensors in the order they were made; NULL at the end, or if none has that name. */
GGML_API struct ggml_tensor *ggml_get_first_tensor(const struct ggml_context *ctx)
    GGML_SYMBOL(ggml_get_first_tensor);
GGML_API struct ggml_tensor *ggml_get_next_tensor(const struct ggml_context *ctx,
                                                  struct ggml_tensor *tensor)
    GGML_SYMBOL(ggml_get_next_tensor);
GGML_API struct ggml_tensor *ggml_get_tensor(struct ggml_context *ctx, const char *name)
    GGML_SYMBOL(ggml_get_tensor);

/* ---- messages ------------------------------------------------------------------------------- */

enum ggml_log_level {
    GGML_LOG_LEVEL_NONE = 0,
    GGML_LOG_LEVEL_DEBUG = 1,
    GGML_LOG_LEVEL_INFO = 2,
    GGML_LOG_LEVEL_WARN = 3,
    GGML_LOG_LEVEL_ERROR = 4,
    GGML_LOG_LEVEL_CONT = 5,
};

typedef void (*ggml_log_callback)(enum ggml_log_level level, const char *text, void *user_data);

/* The receiver of messages about why a file could not be read or written; NULL: stderr.  For the
 * whole process: to be set before threads are started. */
GGML_API void ggml_log_set(ggml_log_callback log_callback, void *user_data)
    GGML_SYMBOL(ggml_log_set);
GGML_API void ggml_log_get(ggml_log_callback *log_callback, void **user_data)
    GGML_SYMBOL(ggml_log_get);

#ifdef __cplusplus
}
#endif

#endif
