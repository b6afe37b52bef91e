/* Rows of whole numbers with scales and zeros: as floats, or as the blocks that hold the same numbers.
 *
 *     Q4_0   d (code - 8)     where 8 - zero + code is 0..15 for every code; d: the scale
 *     Q4_1   d code + m       m: -scale zero, an F16 number
 *     Q8_0   d code           where code - zero is -128..127 for every code
 *
 * All want scales that are F16 numbers, and groups of whole blocks of 32.
 *
 * A scale of zero makes numbers zero.  Where their codes say that they are not, the scale was lost:
 * that is refused. */
#include "import/quantized/integers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "import/quantized/nibbles.h"

enum {
    BLOCK = 32,
    BAND_CODES = 1 << 20,  /* that are read at once */
    BAND_SCALES = 1 << 16, /* likewise */
    MOST_GROUPS = 1 << 24  /* of a row */
};

/* Some rows. */
typedef struct band {
    const integer_layout *layout;
    const packed_weight *w;
    uint64_t first, count;
    uint64_t groups, group; /* of a row; columns of one */
    uint8_t *codes;         /* w->columns for each row; NULL where scales are enough */
    float *scales;          /* `groups` for each row */
    uint16_t *zeros;
    uint32_t *order; /* the group of each column; NULL: column / group */
} band;

gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error)
{
    uint64_t group = w->settings.group == 0 ? w->columns : w->settings.group;

    if (w->columns == 0 || w->rows == 0)
        return refuse(error, GUFO_E_MALFORMED, "it has no numbers");
    if (w->columns % group != 0)
        return refuse(error, GUFO_E_MALFORMED,
                      "groups of %" PRIu64 " columns do not divide rows of %" PRIu64, group,
                      w->columns);
    *groups = w->columns / group;
    if (*groups > MOST_GROUPS)
        return refuse(error, GUFO_E_LIMIT, "rows of %" PRIu64 " groups", *groups);
    return GUFO_OK;
}

/* Eight numbers of two bits, a byte each. */
static uint64_t pairs_spread(uint32_t half)
{
    uint64_t x = half;

    x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
    x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
    return (x | x << 6) & UINT64_C(0x0303030303030303);
}

void integers_unpack(uint32_t word, uint32_t bits, uint8_t *codes)
{
    switch (bits) {
    case 2:
        store_u64(codes, pairs_spread(word & 0xffffu), HOST_IS_BIG_ENDIAN);
        store_u64(codes + 8, pairs_spread(word >> 16), HOST_IS_BIG_ENDIAN);
        break;
    case 4:
        store_u64(codes, nibbles_spread(word), HOST_IS_BIG_ENDIAN);
        break;
    case 8:
        store_u32(codes, word, HOST_IS_BIG_ENDIAN);
        break;
    default:
        for (uint32_t k = 0; k < 32 / bits; k++)
            codes[k] = (uint8_t)(word >> bits * k & ((1u << bits) - 1u));
    }
}

/* ---- bands ---------------------------------------------------------------------------------- */

static void band_close(band *b)
{
    mem_free(b->w->allocator, b->codes);
    mem_free(b->w->allocator, b->scales);
    mem_free(b->w->allocator, b->zeros);
    mem_free(b->w->allocator, b->order);
}

static bool has_order(const band *b)
{
    return b->layout->order_part != NO_PART && b->w->parts[b->layout->order_part] != NULL;
}

/* The groups of columns.  Those that were never set are all -1; where column / group says the same,
 * no list is needed. */
static gufo_status read_order(band *b, gufo_error *error)
{
    const packed_weight *w = b->w;
    uint64_t unset = 0, same = 0;
    gufo_status status;

    b->order = mem_array(w->allocator, w->columns, sizeof *b->order);
    if (b->order == NULL)
        return fail_memory(error);
    status = packed_words(w, b->layout->order_part, 0, w->columns, b->order, error);
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i++) {
        unset += b->order[i] == UINT32_MAX;
        same += b->order[i] == i / b->group;
    }
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK && unset < w->columns; i++)
        if (b->order[i] >= b->groups)
            status = packed_fail(w, b->layout->order_part, i, error,
                                 "column %" PRIu64 " has group %" PRIu32 " of %" PRIu64, i,
                                 b->order[i], b->groups);
    if (unset == w->columns || same == w->columns) {
        mem_free(w->allocator, b->order);
        b->order = NULL;
    }
    return status;
}

/* Room for at most `most` rows, and the order of columns; closed also after a failure. */
static gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes,
                             gufo_error *error)
{
    uint64_t scales, codes;
    gufo_status status;

    *b = (band){.layout = w->kind->integers, .w = w};
    status = integers_groups(w, &b->groups, error);
    if (status != GUFO_OK)
        return status;
    b->group = w->columns / b->groups;
    if (!checked_mul(most, b->groups, &scales) || !checked_mul(most, w->columns, &codes))
        return fail_memory(error);
    b->scales = mem_array(w->allocator, scales, sizeof *b->scales);
    b->zeros = mem_array(w->allocator, scales, sizeof *b->zeros);
    if (has_codes)
        b->codes = mem_array(w->allocator, codes, 1);
    if (b->scales == NULL || b->zeros == NULL || (has_codes && b->codes == NULL))
        return fail_memory(error);
    return has_order(b) ? read_order(b, error) : GUFO_OK;
}

/* The element of the part of scales. */
static uint64_t scale_index(const band *b, uint64_t row, uint64_t group)
{
    return b->layout->groups_first ? group * b->w->rows + b->first + row
                                   : (b->first + row) * b->groups + group;
}

static gufo_status check_finite(const band *b, gufo_error *error)
{
    for (uint64_t i = 0; i < b->count * b->groups; i++)
        if (!(fabsf(b->scales[i]) <= FLT_MAX))
            return packed_fail(b->w, b->layout->scale_part,
                               scale_index(b, i / b->groups, i % b->groups), error, "a scale is %s",
                               isnan(b->scales[i]) ? "NaN" : "infinite");
    return GUFO_OK;
}

static uint64_t group_of(const band *b, uint64_t column)
{
    return b->order != NULL ? b->order[column] : column / b->group;
}

/* Where a scale is zero, the numbers have to be. */
static gufo_status check_zeros(const band *b, uint64_t row, gufo_error *error)
{
    const float *scales = b->scales + row * b->groups;
    const uint8_t *codes = b->codes + row * b->w->columns;
    bool found = false;

    for (uint64_t i = 0; i < b->groups; i++)
        found = found || !(fabsf(scales[i]) > 0);
    for (uint64_t i = 0; found && i < b->w->columns; i++) {
        uint64_t group = group_of(b, i);

        if (!(fabsf(scales[group]) > 0) && codes[i] != b->zeros[row * b->groups + group])
            return packed_fail(b->w, b->layout->scale_part, scale_index(b, row, group), error,
                               "the scale of numbers that are not zero is zero");
    }
    return GUFO_OK;
}

static gufo_status band_scales(band *b, uint64_t first, uint64_t count, gufo_error *error)
{
    gufo_status status = b->layout->scales(b->w, first, count, b->scales, b->zeros, error);

    b->first = first;
    b->count = count;
    return status == GUFO_OK ? check_finite(b, error) : status;
}

static gufo_status band_read(band *b, uint64_t first, uint64_t count, gufo_error *error)
{
    gufo_status status = band_scales(b, first, count, error);

    if (status == GUFO_OK)
        status = b->layout->codes(b->w, first, count, b->codes, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        status = check_zeros(b, i, error);
    return status;
}

/* ---- floats --------------------------------------------------------------------------------- */

/* Columns of one group.  The loop over a fixed count is what compilers make good code of. */
static void scale_run(const uint8_t *codes, uint64_t count, float scale, int zero, float *out)
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

/* Rows of which so many numbers fit into a band. */
static uint64_t rows_at_once(uint64_t most, uint64_t each, uint64_t count)
{
    return smaller(larger(most / each, 1), count);
}

gufo_status integers_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                            gufo_error *error)
{
    uint64_t most = rows_at_once(BAND_CODES, w->columns, count), some;
    band b;
    gufo_status status = band_open(&b, w, most, true, error);

    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        some = smaller(count - i, most);
        status = band_read(&b, first + i, some, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            scale_row(&b, k, out + (i + k) * w->columns);
    }
    band_close(&b);
    return status;
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

/* Leaves the kinds of blocks that hold the groups of a band. */
static void keep_kinds(const band *b, bool possible[BLOCK_KINDS])
{
    const int top = (1 << b->w->settings.bits) - 1;

    for (size_t k = 0; k < BLOCK_KINDS; k++)
        for (uint64_t i = 0; possible[k] && i < b->count * b->groups; i++)
            possible[k] = block_kinds[k].holds(b->scales[i], b->zeros[i], top);
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

static gufo_status find_kinds(band *b, uint64_t most, bool possible[BLOCK_KINDS], gufo_error *error)
{
    const uint32_t bits = b->w->settings.bits;
    gufo_status status = GUFO_OK;

    for (size_t k = 0; k < BLOCK_KINDS; k++)
        possible[k] =
            has_blocks(b) && bits >= block_kinds[k].least_bits && bits <= block_kinds[k].most_bits;
    for (uint64_t i = 0; i < b->w->rows && status == GUFO_OK; i += most) {
        status = band_scales(b, i, smaller(b->w->rows - i, most), error);
        if (status == GUFO_OK)
            keep_kinds(b, possible);
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
    status = band_open(&b, w, most, false, error);
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

static void store_row(const band *b, const block_kind *kind, uint64_t row, uint8_t *out)
{
    const uint8_t *codes = b->codes + row * b->w->columns;

    for (uint64_t i = 0; i < b->w->columns; i += BLOCK) {
        uint64_t group = row * b->groups + group_of(b, i);

        kind->store(codes + i, b->scales[group], b->zeros[group], out);
        out += b->w->type->block_bytes;
    }
}

gufo_status integers_blocks(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *out,
                            gufo_error *error)
{
    const block_kind *kind = block_kind_of(w);
    uint64_t most = rows_at_once(BAND_CODES, w->columns, count), some;
    gufo_status status;
    band b;

    if (kind == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "its numbers are not those of any blocks");
    status = band_open(&b, w, most, true, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        some = smaller(count - i, most);
        status = band_read(&b, first + i, some, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            store_row(&b, kind, k, out + (i + k) * (w->columns / BLOCK * w->type->block_bytes));
    }
    band_close(&b);
    return status;
}
