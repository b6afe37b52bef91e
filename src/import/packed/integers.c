/* Rows of whole numbers with scales and zeros: as floats, or as the blocks that hold the same numbers.
 *
 *     Q4_0   d (code - 8)     where 8 - zero + code is 0..15 for every code; d: the scale
 *     Q4_1   d code + m       m: -scale zero, an F16 number
 *     Q8_0   d code           where code - zero is -128..127 for every code
 *
 * All want scales that are F16 numbers, and groups of whole blocks of 32. */
#include "import/packed/cache.h"

#include "base/checked.h"
#include "base/error.h"
#include "codec/half.h"

enum {
    BLOCK = 32,
    BAND_CODES = 1 << 20, /* that are read at once */
    BAND_SCALES = 1 << 16 /* likewise */
};

/* ---- reading -------------------------------------------------------------------------------- */

/* What becomes of rows. */
typedef struct reading {
    const packed_weight *w;
    gufo_status (*use)(const band *b, uint64_t row, uint64_t count, void *out, gufo_error *error);
    uint64_t size; /* bytes that a row becomes */
} reading;

/* The rows that fit where `most` numbers do; each row has `each` of them. */
static uint64_t rows_at_once(uint64_t most, uint64_t each, uint64_t count)
{
    return smaller(larger(most / each, 1), count);
}

/* Through a band of its own. */
static gufo_status read_directly(const reading *r, uint64_t first, uint64_t count, uint8_t *out,
                                 gufo_error *error)
{
    uint64_t most = rows_at_once(BAND_CODES, r->w->columns, count);
    band b;
    gufo_status status = band_open(&b, r->w, most, true, NULL, error);

    for (uint64_t i = 0; i < count && status == GUFO_OK; i += b.count) {
        b.first = first + i;
        b.count = smaller(count - i, most);
        status = band_scales(&b, error);
        if (status == GUFO_OK)
            status = band_codes(&b, 0, r->w->columns, error);
        if (status == GUFO_OK)
            status = r->use(&b, 0, b.count, out + i * r->size, error);
    }
    band_close(&b);
    return status;
}

/* Through bands that other threads read, too, where they help. */
static gufo_status read_rows(const reading *r, uint64_t first, uint64_t count, void *out,
                             gufo_error *error)
{
    uint8_t *to = out;
    gufo_status status = GUFO_OK;
    uint64_t some;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        const band *b = NULL;

        some = count - i;
        if (packed_shares(r->w))
            status = packed_cache_take(r->w->cache, r->w, first + i, &b, error);
        if (b == NULL)
            return status == GUFO_OK ? read_directly(r, first + i, some, to + i * r->size, error)
                                     : status;
        some = smaller(some, b->first + b->count - (first + i));
        status = r->use(b, first + i - b->first, some, to + i * r->size, error);
        packed_cache_give_back(r->w->cache, b);
    }
    return status;
}

/* ---- floats --------------------------------------------------------------------------------- */

/* Columns of one group.  Compilers make vectors of the loop over a fixed count, as nothing else is written
 * to. */
static void scale_run(const uint8_t *restrict codes, uint64_t count, float scale, int zero,
                      float *restrict out)
{
    enum { AT_ONCE = 16 };
    uint64_t i = 0;

    for (; i + AT_ONCE <= count; i += AT_ONCE)
        for (unsigned k = 0; k < AT_ONCE; k++)
            out[i + k] = scale * (float)(codes[i + k] - zero);
    for (; i < count; i++)
        out[i] = scale * (float)(codes[i] - zero);
}

static void scale_row(const band *b, uint64_t row, float *out)
{
    const uint8_t *codes = b->codes + row * b->w->columns;
    const float *scales = b->scales + row * b->groups;
    const uint16_t *zeros = b->zeros + row * b->groups;

    for (uint64_t i = 0; b->order == NULL && i < b->groups; i++)
        scale_run(codes + i * b->group, b->group, scales[i], zeros[i], out + i * b->group);
    for (uint64_t i = 0; b->order != NULL && i < b->w->columns; i++)
        out[i] = scales[b->order[i]] * (float)(codes[i] - zeros[b->order[i]]);
}

static gufo_status use_floats(const band *b, uint64_t row, uint64_t count, void *out,
                              gufo_error *error)
{
    float *floats = out;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        status = band_check_row(b, row + i, error);
        scale_row(b, row + i, floats + i * b->w->columns);
    }
    return status;
}

gufo_status integers_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                            gufo_error *error)
{
    const reading r = {w, use_floats, w->columns * sizeof *out};

    return read_rows(&r, first, count, out, error);
}

/* ---- types ---------------------------------------------------------------------------------- */

typedef struct block_kind {
    uint32_t id;                    /* of the element type */
    uint32_t least_bits, most_bits; /* of numbers */
    /* Whether a block holds a group with any codes. */
    bool (*holds)(float scale, int zero, int top);
    /* `codes` has BLOCK of them. */
    void (*store)(const uint8_t *codes, float scale, int zero, uint8_t *out);
} block_kind;

static bool is_half(float value)
{
    float half = half_to_float(half_from_float(value));

    return half >= value && half <= value;
}

static bool q4_0_holds(float scale, int zero, int top)
{
    return is_half(scale) && zero <= 8 && top - zero <= 7;
}

/* Numbers that are zero come out as 0, not -0: so the scale must not be negative. */
static bool q4_1_holds(float scale, int zero, int top)
{
    (void)top;
    return scale >= 0 && is_half(scale) && is_half(scale * (float)zero);
}

static bool q8_0_holds(float scale, int zero, int top)
{
    return is_half(scale) && zero <= 128 && top - zero <= 127;
}

static void store_codes(const uint8_t *codes, int add, uint8_t *out)
{
    for (unsigned i = 0; i < BLOCK / 2; i++)
        out[i] = (uint8_t)((codes[i] + add) | (codes[BLOCK / 2 + i] + add) << 4);
}

static void store_q4_0(const uint8_t *codes, float scale, int zero, uint8_t *out)
{
    (void)store_half(out, scale);
    store_codes(codes, 8 - zero, out + 2);
}

static void store_q4_1(const uint8_t *codes, float scale, int zero, uint8_t *out)
{
    (void)store_half(out, scale);
    (void)store_half(out + 2, -(scale * (float)zero));
    store_codes(codes, 0, out + 4);
}

static void store_q8_0(const uint8_t *codes, float scale, int zero, uint8_t *out)
{
    (void)store_half(out, scale);
    for (unsigned i = 0; i < BLOCK; i++)
        out[2 + i] = (uint8_t)(codes[i] - zero);
}

/* In the order in which they are tried. */
static const block_kind block_kinds[] = {
    {GUFO_TYPE_Q4_0, 1, 4, q4_0_holds, store_q4_0},
    {GUFO_TYPE_Q4_1, 1, 4, q4_1_holds, store_q4_1},
    {GUFO_TYPE_Q8_0, 5, 8, q8_0_holds, store_q8_0},
};

enum { BLOCK_KINDS = sizeof block_kinds / sizeof *block_kinds };

/* Leaves the kinds of blocks that hold the groups of a band; false: none is left. */
static bool keep_kinds(const band *b, bool possible[BLOCK_KINDS])
{
    const int top = (1 << b->w->settings.bits) - 1;
    bool any = false;

    for (size_t k = 0; k < BLOCK_KINDS; k++) {
        for (uint64_t i = 0; possible[k] && i < b->count * b->groups; i++)
            possible[k] = block_kinds[k].holds(b->scales[i], b->zeros[i], top);
        any = any || possible[k];
    }
    return any;
}

/* Whether blocks have columns of one group each. */
static bool has_blocks(const band *b)
{
    const uint32_t *order = b->order;

    if (b->w->columns % BLOCK != 0 || (order == NULL && b->group % BLOCK != 0))
        return false;
    for (uint64_t i = 0; order != NULL && i < b->w->columns; i++)
        if (order[i] != order[i / BLOCK * BLOCK])
            return false;
    return true;
}

/* Scales are read until they leave no kind of block. */
static gufo_status find_kinds(band *b, uint64_t most, bool possible[BLOCK_KINDS], gufo_error *error)
{
    const uint32_t bits = b->w->settings.bits;
    bool any = has_blocks(b);
    gufo_status status = GUFO_OK;

    for (size_t k = 0; k < BLOCK_KINDS; k++)
        possible[k] = any && bits >= block_kinds[k].least_bits && bits <= block_kinds[k].most_bits;
    for (uint64_t i = 0; i < b->w->rows && any && status == GUFO_OK; i += most) {
        b->first = i;
        b->count = smaller(b->w->rows - i, most);
        status = band_scales(b, error);
        any = status == GUFO_OK && keep_kinds(b, possible);
    }
    return status;
}

gufo_status integers_type(const packed_weight *w, const gufo_element_type **type, gufo_error *error)
{
    bool possible[BLOCK_KINDS] = {false};
    uint64_t groups = 1, most;
    band b;
    gufo_status status = integers_groups(w, &groups, error);

    *type = NULL;
    if (status != GUFO_OK)
        return status;
    most = rows_at_once(BAND_SCALES, groups, w->rows);
    status = band_open(&b, w, most, false, NULL, error);
    if (status == GUFO_OK)
        status = find_kinds(&b, most, possible, error);
    for (size_t k = BLOCK_KINDS; k-- > 0;)
        if (possible[k])
            *type = gufo_element_type_by_id(block_kinds[k].id);
    band_close(&b);
    return status;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static const block_kind *block_kind_of(const packed_weight *w)
{
    for (size_t k = 0; w->type != NULL && k < BLOCK_KINDS; k++)
        if (block_kinds[k].id == w->type->id)
            return &block_kinds[k];
    return NULL;
}

static uint64_t row_size(const packed_weight *w)
{
    return w->columns / BLOCK * w->type->block_bytes;
}

static void store_row(const band *b, const block_kind *kind, uint64_t row, uint8_t *out)
{
    const uint8_t *codes = b->codes + row * b->w->columns;

    for (uint64_t i = 0; i < b->w->columns; i += BLOCK) {
        uint64_t group = row * b->groups + band_group(b, i);

        kind->store(codes + i, b->scales[group], b->zeros[group], out);
        out += b->w->type->block_bytes;
    }
}

static gufo_status use_blocks(const band *b, uint64_t row, uint64_t count, void *out,
                              gufo_error *error)
{
    const block_kind *kind = block_kind_of(b->w);
    uint8_t *blocks = out;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        status = band_check_row(b, row + i, error);
        store_row(b, kind, row + i, blocks + i * row_size(b->w));
    }
    return status;
}

gufo_status integers_blocks(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *out,
                            gufo_error *error)
{
    if (block_kind_of(w) == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "its numbers are not those of any blocks");

    const reading r = {w, use_blocks, row_size(w)};

    return read_rows(&r, first, count, out, error);
}
