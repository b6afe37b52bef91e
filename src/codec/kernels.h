/* Kernels: decoding and encoding of one element type with the instructions of one processor level.
 *
 * Every file of kernels/ is compiled once per level, with GUFO_KERNELS naming it (nothing means
 * portable); KERNEL(name) gives its functions their own names then.  kernels/table.c collects them,
 * cpu.c chooses. */
#ifndef CODEC_KERNELS_H
#define CODEC_KERNELS_H

#include "gufo/codec.h"

#ifndef GUFO_KERNELS
#define GUFO_KERNELS portable
#endif

#define KERNEL(name) KERNEL_NAME(name, GUFO_KERNELS)
#define KERNEL_NAME(name, level) KERNEL_PASTE(name, level)
#define KERNEL_PASTE(name, level) name##_##level

struct lattice; /* lattice.h */

/* What an encoder has to do: one row, or several if columns have no importance (rows do not matter
 * to the encoder then). */
typedef struct encode_row {
    const float *values;
    uint64_t columns;              /* whole blocks */
    const float *importance;       /* one per column, or NULL */
    const struct lattice *lattice; /* of the type; NULL if it has none */
    gufo_effort effort;
} encode_row;

typedef void encode_kernel(const encode_row *row, uint8_t *blocks);

/* Decodes `elements` elements, whole blocks. */
typedef void decode_kernel(const uint8_t *blocks, uint64_t elements, float *values);

typedef struct coder {
    decode_kernel *decode;
    encode_kernel *encode;
} coder;

/* Both kernels of a type, each a single call: with `blocks`, and `elements` and `values`
 * or `row`. */
#define CODER(name, decode_call, encode_call)                                           \
    void KERNEL(decode_##name)(const uint8_t *blocks, uint64_t elements, float *values) \
    {                                                                                   \
        decode_call;                                                                    \
    }                                                                                   \
    void KERNEL(encode_##name)(const encode_row *row, uint8_t *blocks)                  \
    {                                                                                   \
        encode_call;                                                                    \
    }

/* Those that code one block after the other, by a function for one of them. */
#define BLOCK_DECODER(name, block_elements, block_bytes, decode_block)                  \
    void KERNEL(decode_##name)(const uint8_t *blocks, uint64_t elements, float *values) \
    {                                                                                   \
        for (uint64_t i = 0; i < elements; i += block_elements, blocks += block_bytes)  \
            decode_block(blocks, values + i);                                           \
    }
#define BLOCK_ENCODER(name, block_elements, block_bytes, encode_block)                     \
    void KERNEL(encode_##name)(const encode_row *row, uint8_t *blocks)                     \
    {                                                                                      \
        for (uint64_t i = 0; i < row->columns; i += block_elements, blocks += block_bytes) \
            encode_block(row->values + i, blocks);                                         \
    }

/* By element type id.  Rows of types that are not coded directly are empty. */
extern const coder kernels_portable[], kernels_avx2[], kernels_avx512[], kernels_neon[];

#define DECLARE_NONE(name)
#define DECLARE_DECODED(name)
#define DECLARE_CODED(name)              \
    decode_kernel KERNEL(decode_##name); \
    encode_kernel KERNEL(encode_##name);
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) DECLARE_##coding(name)
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE

/* ---- the processor levels of this build, and their kernels -------------------------------------- */

/* The kernels of a level, by element type id; NULL if the level is not available. */
const coder *cpu_kernels(gufo_cpu cpu);

/* Fails because a level is not available. */
gufo_status fail_cpu(gufo_cpu cpu, gufo_error *error);

/* Rows of numbers as doubles, on which operations are done: from floats, back to floats, and the
 * operations that need vectors to be fast.  All levels give the same bits. */
/* A low-rank product, which is what an adapter adds to a matrix:
 *
 *     values[row][column] += number * (sum over k of left[row][k] * right[k][column])
 *
 * Products of floats are exact as doubles.  They are added in the order of k. */
typedef struct low_rank_product {
    double *values; /* rows, one after the other */
    uint64_t rows, columns;
    const float *left;  /* `rank` numbers for each row */
    const float *right; /* `rank` rows */
    uint64_t rank;
    double number;
} low_rank_product;

typedef struct double_kernels {
    void (*widen)(const float *from, uint64_t count, double *to);
    void (*narrow)(const double *from, uint64_t count, float *to);
    /* Each becomes a float whose last bit says whether something was cut off.  It is never halfway
     * between two numbers that have two bits less: whatever rounds it next, rounds as if it saw all
     * of it. */
    void (*round_odd)(double *values, uint64_t count);
    void (*add_product)(const low_rank_product *p);
    /* The same from floats to floats, in place of p->values: rounded once, to odd or to the
     * nearest.  No double leaves the registers. */
    void (*merge_product)(const low_rank_product *p, float *values, bool to_odd);
} double_kernels;

extern const double_kernels doubles_portable, doubles_avx2, doubles_avx512, doubles_neon;

/* Those of a level; of plain C if it is not available. */
const double_kernels *cpu_doubles(gufo_cpu cpu);

#endif
