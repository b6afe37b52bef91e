/* K types: encoding of a row, whatever the type. */
#ifndef CODEC_KERNELS_K_ENCODE_H
#define CODEC_KERNELS_K_ENCODE_H

#include "codec/kernels/k_refine.h"
#include "codec/kernels/refine.h"

typedef struct k_type {
    size_t n, bytes;                                            /* of a sub-block, of a block */
    void (*fit)(k_batch *b);                                    /* steps 1 and 2 */
    void (*store)(const k_batch *b, size_t at, uint8_t *block); /* steps 3 and 4 */
    decode_kernel *decode;
    k_range range;
} k_type;

/* High effort: the second search's blocks where their error is lower. */
static inline void k_encode_better(k_batch *b, const k_type *type, uint8_t *blocks)
{
    uint8_t other[K_WEIGHTS];

    k_refine(b, &type->range);
    for (size_t at = 0; at < b->count; at++) {
        size_t first = at * K_WEIGHTS;
        type->store(b, at, other);
        refine_keep_better(b->values + first, importance_at(b->importance, first), K_WEIGHTS,
                           type->decode, type->bytes, other, blocks + at * type->bytes);
    }
}

static inline void k_encode(const encode_row *row, const k_type *type, uint8_t *blocks)
{
    k_batch b;

    for (uint64_t column = 0; column < row->columns; column += K_BATCH * K_WEIGHTS) {
        k_batch_init(&b, row, column, type->n);
        type->fit(&b);
        for (size_t at = 0; at < b.count; at++)
            type->store(&b, at, blocks + at * type->bytes);
        if (row->effort == GUFO_EFFORT_HIGH)
            k_encode_better(&b, type, blocks);
        blocks += b.count * type->bytes;
    }
}

#endif
