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

#endif
