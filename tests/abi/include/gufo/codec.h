/* The element types of tensors, and the arithmetic that encodes and decodes them.
 *
 *     gufo_decode(gufo_element_type_by_name("Q4_K"), blocks, rows, columns, values, NULL, &error);
 *
 * A tensor's rows (dimension 0) are sequences of blocks; every block holds `block_elements`
 * elements in `block_bytes` bytes, and blocks never cross rows.  Plain number types have blocks of
 * one.
 *
 * Part 1  types     the type table
 * Part 2  decoding  blocks to numbers
 * Part 3  encoding  numbers to blocks
 *
 * Blocks are little-endian, as in a little-endian file; gufo_swap_blocks swaps those of a
 * big-endian file.  Results are the same bytes for every kernel, processor and compiler, except the
 * sign and the payload of a NaN that decoding gives.  They assume the floating-point environment
 * that every program starts with: rounding to nearest, subnormal numbers not flushed to zero. */
#ifndef GUFO_CODEC_H
#define GUFO_CODEC_H

#include "base.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_element_type gufo_element_type;
typedef struct gufo_encoder_options gufo_encoder_options;

/* The type with this id, or with this name (exact, upper case); NULL if the table has none.
 * Static; any thread. */
GUFO_API const gufo_element_type *gufo_element_type_by_id(uint32_t id);
GUFO_API const gufo_element_type *gufo_element_type_by_name(const char *name);

/* The bytes of a row of `elements` elements.  GUFO_E_TYPE if the layout is not known,
 * GUFO_E_ARGUMENT if they do not fill whole blocks, GUFO_E_RANGE if the size overflows.  Any
 * thread. */
GUFO_API gufo_status gufo_element_row_size(const gufo_element_type *type, uint64_t elements,
                                           uint64_t *bytes, gufo_error *error);

/* Decodes `rows` rows of `columns` elements each: `blocks` holds rows * gufo_element_row_size
 * bytes, `values` has room for rows * columns numbers; they must not overlap, and need no alignment
 * beyond that of their type.  Any bytes decode to something: a scale that is infinite or NaN gives
 * such values.  Integers and F64 are rounded to nearest.  The interleaved types 31, 32 and 36 need
 * a multiple of 4 rows, 33 one of 8.
 * Many rows are decoded on the threads of `run`, which may be NULL; a program that has threads of its
 * own gives {.threads = 1}.  Progress counts bytes of blocks.
 * Any thread.  GUFO_E_TYPE if the type has no decoder, GUFO_E_ARGUMENT if columns do not fill
 * blocks or rows do not fill groups, or for a cpu that is not available; GUFO_E_STOPPED, and where
 * several threads work GUFO_E_MEMORY.
 * Source: ggml, block structures and to_float functions; docs/codec.md draws every block. */
GUFO_API gufo_status gufo_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                                 uint64_t columns, float *values, const gufo_run *run,
                                 gufo_error *error);

/* Everything that encoding into one type needs: the kernel and, for the lattice types, tables that
 * take some milliseconds and up to 2 MB.  Immutable: any number of threads may use one. */
typedef struct gufo_encoder gufo_encoder;

/* Makes an encoder, which the caller owns and frees with gufo_encoder_free.  `options` may be NULL.
 * NULL on failure: GUFO_E_TYPE if the type has no encoder, GUFO_E_ARGUMENT for a cpu that is not
 * available or an effort that does not exist, GUFO_E_MEMORY.  Any thread. */
GUFO_MUST_USE GUFO_API gufo_encoder *gufo_encoder_new(const gufo_element_type *type,
                                                      const gufo_encoder_options *options,
                                                      gufo_error *error);
/* Encodes `rows` rows of `columns` values into rows * gufo_element_row_size bytes at `blocks`.
 * Rows are independent: encoding them in parts gives the same bytes.
 * `importance`: NULL, or `columns` factors >= 0, one per column, of how much an error there matters
 * (the mean square of the activations that the column is multiplied with); used for every row.
 * Values should be finite (gufo_first_nonfinite): docs/codec.md says what infinite and NaN values
 * become.  Integer types take the nearest integer, limited to their range.
 * Many rows are encoded on the threads of `run`, which may be NULL; its `cpu` does not count, the
 * encoder has one.  Progress counts bytes of blocks.
 * Any thread.  GUFO_E_ARGUMENT if columns do not fill blocks, or importance is NULL and the type
 * needs it; GUFO_E_STOPPED, and where several threads work GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_encoder_encode(const gufo_encoder *encoder, const float *values,
                                         uint64_t rows, uint64_t columns, const float *importance,
                                         void *blocks, const gufo_run *run, gufo_error *error);
/* Frees an encoder that no thread uses any more.  NULL is allowed. */
GUFO_API void gufo_encoder_free(gufo_encoder *encoder);

/* ==== Part 1: types ========================================================================== */

/* One constant per id that ever had a name: GUFO_TYPE_F32, GUFO_TYPE_Q4_K ... */
typedef enum gufo_element_type_id {
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) GUFO_TYPE_##name = id,
#include "element_types.def"
#undef GUFO_ELEMENT_TYPE
} gufo_element_type_id;

typedef enum gufo_element_flags {
    GUFO_ELEMENT_QUANTIZED = 1, /* elements share scales; general.quantization_version applies */
    GUFO_ELEMENT_REMOVED = 2,   /* no longer part of the format; old files may hold it */
    GUFO_ELEMENT_WEIGHS = 4,    /* the encoder uses importance */
    GUFO_ELEMENT_NEEDS_IMPORTANCE = 8, /* the encoder requires importance */
    GUFO_ELEMENT_DECODES = 16,         /* gufo_decode reads it */
    GUFO_ELEMENT_ENCODES = 32,         /* gufo_encoder_new makes it */
} gufo_element_flags;

typedef struct gufo_element_type {
    uint32_t id;             /* as stored in the tensor info */
    const char *name;        /* "F32", "Q4_K" ... */
    uint32_t block_elements; /* 0: the layout is no longer known (ids 4, 5, 37, 38) */
    uint32_t block_bytes;    /* 0: likewise */
    uint32_t flags;          /* of gufo_element_flags */
} gufo_element_type;

/* The number of rows of the type table, and row `index` of it in the order of ids (NULL past the
 * end): ids run from 0, the index is the id.  Static; any thread. */
GUFO_API size_t gufo_element_type_count(void);
GUFO_API const gufo_element_type *gufo_element_type_at(size_t index);

/* ==== Part 2: decoding ======================================================================= */

/* As gufo_decode, rounded to nearest into binary16 or bfloat16 numbers in the byte order of this
 * machine. */
GUFO_API gufo_status gufo_decode_f16(const gufo_element_type *type, const void *blocks,
                                     uint64_t rows, uint64_t columns, uint16_t *values,
                                     const gufo_run *run, gufo_error *error);
GUFO_API gufo_status gufo_decode_bf16(const gufo_element_type *type, const void *blocks,
                                      uint64_t rows, uint64_t columns, uint16_t *values,
                                      const gufo_run *run, gufo_error *error);

/* Repacks rows of a removed interleaved type (31-33: to Q4_0; 36: to IQ4_NL) without loss;
 * *repacked (may be NULL) is the type they then have.  `blocks` and `out` have the same size and
 * must not overlap. Any thread.  Errors as gufo_decode; GUFO_E_TYPE for any other type. */
GUFO_API gufo_status gufo_repack(const gufo_element_type *type, const void *blocks, uint64_t rows,
                                 uint64_t columns, void *out, const gufo_element_type **repacked,
                                 gufo_error *error);

/* Swaps the byte order of every number inside `count` blocks, in place.  Any thread.  GUFO_E_TYPE
 * if the layout is not known, GUFO_E_ARGUMENT if interleaved blocks are not whole groups (of 4 or
 * 8). */
GUFO_API gufo_status gufo_swap_blocks(const gufo_element_type *type, void *blocks, uint64_t count,
                                      gufo_error *error);

/* The index of the first value that is infinite or NaN; `count` if none exists.  Any thread. */
GUFO_API uint64_t gufo_first_nonfinite(const float *values, uint64_t count);

/* ==== Part 3: encoding ======================================================================= */

typedef enum gufo_effort {
    GUFO_EFFORT_REFERENCE = 0, /* the search that the format's reference makes, to the bit */
    GUFO_EFFORT_HIGH = 1, /* a longer search: never a higher error, same as REFERENCE where there is
                       * nothing to search (docs/codec.md lists the types) */
} gufo_effort;

typedef struct gufo_encoder_options {
    gufo_cpu cpu;
    gufo_effort effort;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_encoder_options;

#ifdef __cplusplus
}
#endif

#endif
