/* IQ4_XS: 4.25 bits per weight.
 *
 *     0    2    4         8                                   136
 *     | d  | h  | l       | 8 sub-blocks: 16 bytes of codes   |      see iq4.h
 *
 *     scale of sub-block g: half byte g of l, above it bits 2g and 2g + 1 of h; less 32
 *
 *     x = (d * scale) * value of the code */
#include "codec/kernels/iq4.h"
#include "codec/kernels/search/k_fit.h"

enum {
    SUB = IQ4_ELEMENTS,
    SUBS = K_WEIGHTS / SUB,
    HIGH = 2,
    LOW = 4,
    CODES = 8,
    BYTES = CODES + SUBS * IQ4_BYTES,
};

/* ---- decoding ------------------------------------------------------------------------------- */

static void decode_block(const uint8_t *block, float *values)
{
    uint32_t high = load_u16(block + HIGH, HOST_IS_BIG_ENDIAN);
    uint32_t low = load_u32(block + LOW, HOST_IS_BIG_ENDIAN);
    float d = load_half(block);

    for (uint32_t g = 0; g < SUBS; g++) {
        int scale = (int)((low >> 4 * g & 15) | (high >> 2 * g & 3) << 4) - 32;
        iq4_decode(block + CODES + g * IQ4_BYTES, d * (float)scale, values + g * SUB);
    }
}

BLOCK_DECODER(IQ4_XS, K_WEIGHTS, BYTES, decode_block)

/* ---- encoding ------------------------------------------------------------------------------- */

static void search_sub_blocks(k_batch *b)
{
    k_groups g;

    if (b->importance != NULL)
        k_measure_energy(b);
    for (size_t first = 0; first < b->count * SUBS; first += LANES) {
        k_groups_load(&g, b, first);
        if (b->importance != NULL)
            k_weigh_importance(&g, b, 2);
        for (size_t i = 0; i < SUB && b->importance == NULL; i++)
            g.w[i] = g.x[i] * g.x[i];
        floats_store(b->scale + first, iq4_search(g.x, g.w));
    }
}

/* The scale of largest magnitude becomes -32: there is no 32. */
static void scale_super_blocks(k_batch *b)
{
    floats s[SUBS];

    groups_load(b->scale, b->count, SUBS, s);
    floats d = fit_extreme(s, SUBS) / floats_of(-32), inverse = inverse_or_zero(d);
    for (size_t g = 0; g < SUBS; g++)
        s[g] = fit_code(inverse * s[g], -32, 31);
    floats_store(b->d, d);
    groups_store(b->scale_code, b->count, SUBS, s);
}

static void store_block(const k_batch *b, size_t at, uint8_t *block)
{
    uint32_t low = 0, high = 0;

    for (uint32_t g = 0; g < SUBS; g++) {
        float scale = b->scale_code[at * SUBS + g];
        uint32_t code = (uint32_t)((int)scale + 32);
        low |= (code & 15) << 4 * g;
        high |= code >> 4 << 2 * g;
        iq4_encode(b->values + at * K_WEIGHTS + g * SUB, b->d[at] * scale,
                   block + CODES + g * IQ4_BYTES);
    }
    store_half(block, b->d[at]);
    store_u16(block + HIGH, (uint16_t)high, HOST_IS_BIG_ENDIAN);
    store_u32(block + LOW, low, HOST_IS_BIG_ENDIAN);
}

/* ---- high effort ---------------------------------------------------------------------------- */

enum { BATCH_SUBS = K_BATCH * SUBS };

/* What is tried for a sub-block, and what comes of it. */
typedef struct trial {
    float d[BATCH_SUBS];                                   /* of the super-block, as it is stored */
    float scale[BATCH_SUBS];                               /* whole numbers */
    float error[BATCH_SUBS], a[BATCH_SUBS], c[BATCH_SUBS]; /* see refine.h */
} trial;

static void load_with_importance(k_groups *g, const k_batch *b, size_t first)
{
    const float *importance = importance_at(b->importance, first * SUB);

    k_groups_load(g, b, first);
    refine_load_importance(importance, g->count, SUB, g->w);
}

static void refine_sub_blocks(k_batch *b)
{
    k_groups g;

    for (size_t first = 0; first < b->count * SUBS; first += LANES) {
        load_with_importance(&g, b, first);
        floats_store(b->scale + first, iq4_refine(g.x, g.w));
    }
}

static void set_d(trial *t, size_t at, float d)
{
    uint8_t half[2];
    float stored = store_half(half, d);

    for (size_t g = at * SUBS; g < (at + 1) * SUBS; g++)
        t->d[g] = stored;
}

/* The d with which the scale of largest magnitude becomes `place`. */
static void place_d(const k_batch *b, trial *t, float place)
{
    for (size_t at = 0; at < b->count; at++) {
        float extreme = 0;
        for (size_t g = at * SUBS; g < (at + 1) * SUBS; g++)
            extreme = fabsf(b->scale[g]) > fabsf(extreme) ? b->scale[g] : extreme;
        set_d(t, at, extreme / place);
    }
}

/* The d that suits the scales and codes found. */
static void solve_d(const k_batch *b, trial *t)
{
    for (size_t at = 0; at < b->count; at++) {
        float a = 0, c = 0;
        for (size_t g = at * SUBS; g < (at + 1) * SUBS; g++) {
            a += t->scale[g] * t->a[g];
            c += t->scale[g] * t->scale[g] * t->c[g];
        }
        set_d(t, at, c > 0 ? a / c : 0);
    }
}

/* With d given: the nearest whole number for the scale of every sub-block, and both neighbours. */
static void try_scales(const k_batch *b, trial *t)
{
    k_groups g;

    for (size_t first = 0; first < b->count * SUBS; first += LANES) {
        load_with_importance(&g, b, first);
        floats d = floats_load(t->d + first);
        floats nearest = floats_load(b->scale + first) * inverse_or_zero(d);
        floats middle = fit_code(nearest, -31, 30), scale = middle;
        refine_choice best = refine_none();
        for (int k = -1; k <= 1; k++) {
            floats tried = middle + floats_of((float)k), error = best.error;
            refine_try(g.x, g.w, SUB, iq4_nearest, d * tried, &best);
            scale = select(less(best.error, error), tried, scale);
        }
        floats_store(t->scale + first, scale);
        floats_store(t->error + first, best.error);
        floats_store(t->a + first, best.sums.a);
        floats_store(t->c + first, best.sums.c);
    }
}

/* Keeps what was tried where it is the best so far. */
static void keep_best(k_batch *b, const trial *t, float least[K_BATCH])
{
    for (size_t at = 0; at < b->count; at++) {
        const size_t first = at * SUBS;
        float error = 0;
        for (size_t g = first; g < first + SUBS; g++)
            error += t->error[g];
        if (!(error < least[at]))
            continue;
        least[at] = error;
        b->d[at] = t->d[first];
        memcpy(b->scale_code + first, t->scale + first, SUBS * sizeof(float));
    }
}

/* Replaces what the batch was fitted with.  Either end of the scales may take the largest. */
static void refine_super_blocks(k_batch *b)
{
    static const float places[] = {-32, 31};
    float least[K_BATCH];
    trial t = {0};

    for (size_t at = 0; at < K_BATCH; at++)
        least[at] = FLT_MAX;
    refine_sub_blocks(b);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        place_d(b, &t, places[i]);
        try_scales(b, &t);
        keep_best(b, &t, least);
        solve_d(b, &t);
        try_scales(b, &t);
        keep_best(b, &t, least);
    }
}

static void refine(k_batch *b, uint8_t *blocks)
{
    refine_super_blocks(b);
    for (size_t j = 0; j < b->count; j++, blocks += BYTES) {
        size_t at = j * K_WEIGHTS;
        uint8_t other[BYTES];
        store_block(b, j, other);
        refine_keep_better(b->values + at, importance_at(b->importance, at), K_WEIGHTS,
                           KERNEL(decode_IQ4_XS), BYTES, other, blocks);
    }
}

void KERNEL(encode_IQ4_XS)(const encode_row *row, uint8_t *blocks)
{
    k_batch b;

    for (uint64_t column = 0; column < row->columns; column += K_BATCH * K_WEIGHTS) {
        k_batch_init(&b, row, column, SUB);
        search_sub_blocks(&b);
        scale_super_blocks(&b);
        for (size_t j = 0; j < b.count; j++)
            store_block(&b, j, blocks + j * BYTES);
        if (row->effort == GUFO_EFFORT_HIGH)
            refine(&b, blocks);
        blocks += b.count * BYTES;
    }
}
