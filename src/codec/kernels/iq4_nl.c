/* IQ4_NL: 4.5 bits per weight.
 *
 *     0    2               18
 *     | d  | codes         |      see iq4.h
 *
 *     x = d * value of the code */
#include "codec/kernels/iq4.h"

enum { ELEMENTS = IQ4_ELEMENTS, CODES = 2, BYTES = CODES + IQ4_BYTES };

void KERNEL(decode_IQ4_NL)(const uint8_t *blocks, uint64_t elements, float *values)
{
    for (uint64_t i = 0; i < elements; i += ELEMENTS, blocks += BYTES)
        iq4_decode(blocks + CODES, load_half(blocks), values + i);
}

static void store_block(float scale, const float *x, uint8_t *block)
{
    store_half(block, scale);
    iq4_encode(x, scale, block + CODES);
}

/* The weights of the errors: x^2, or importance * sqrt(2 * the mean of the block's x^2 + x^2). */
static void weigh(const floats *x, const float *importance, size_t count, floats *w)
{
    floats sum = floats_of(0), q[ELEMENTS];

    for (size_t i = 0; i < ELEMENTS; i++) {
        w[i] = x[i] * x[i];
        sum = sum + w[i];
    }
    if (importance == NULL)
        return;
    floats energy = floats_of(2) * sum / floats_of(ELEMENTS);
    groups_load(importance, count, ELEMENTS, q);
    for (size_t i = 0; i < ELEMENTS; i++)
        w[i] = q[i] * square_root(energy + w[i]);
}

static void refine(const floats *x, const float *values, const float *importance, size_t count,
                   uint8_t *blocks)
{
    floats q[ELEMENTS];
    float scale[LANES];

    refine_load_importance(importance, count, ELEMENTS, q);
    floats_store(scale, iq4_refine(x, q));
    for (size_t at = 0; at < count * ELEMENTS; at += ELEMENTS, blocks += BYTES) {
        uint8_t other[BYTES];
        store_block(scale[at / ELEMENTS], values + at, other);
        refine_keep_better(values + at, importance_at(importance, at), ELEMENTS,
                           KERNEL(decode_IQ4_NL), BYTES, other, blocks);
    }
}

/* `count` blocks, one per lane. */
static void encode(const float *values, const float *importance, size_t count, gufo_effort effort,
                   uint8_t *blocks)
{
    floats x[ELEMENTS], w[ELEMENTS];
    float scale[LANES];

    groups_load(values, count, ELEMENTS, x);
    weigh(x, importance, count, w);
    floats_store(scale, iq4_search(x, w));
    for (size_t j = 0; j < count; j++)
        store_block(scale[j], values + j * ELEMENTS, blocks + j * BYTES);
    if (effort == GUFO_EFFORT_HIGH)
        refine(x, values, importance, count, blocks);
}

void KERNEL(encode_IQ4_NL)(const encode_row *row, uint8_t *blocks)
{
    for (uint64_t i = 0; i < row->columns; i += LANES * ELEMENTS, blocks += LANES * BYTES)
        encode(row->values + i, importance_at(row->importance, i),
               lanes_filled((row->columns - i) / ELEMENTS), row->effort, blocks);
}
