/* NVFP4: floats of four bits, 16 with a float of eight bits as their scale, and a factor for all.
 *
 *     .weight         [rows, columns / 2]     byte j of a group: element 2j low, 2j + 1 high
 *     .weight_scale   [rows, columns / 16]    F8_E4M3, not negative
 *     .weight_scale_2                         the factor
 *     .input_scale                            a factor of what the weight is multiplied with
 *
 *     NVFP4    4 scales, 4 groups of 8 bytes  byte j: element j low, 8 + j high
 *
 * Codes and scales mean the same in both; the factors are not in blocks.  compressed-tensors has other
 * names, and stores 1 / factor.  A scale of zero is one that was too small for its type, and the
 * reference reads it as it is: the numbers are zero. */
#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/coding.h"
#include "import/packed/cache.h"
#include "import/packed/packed.h"

enum {
    CODES,
    SCALES,
    FACTOR,
    INPUT_FACTOR,
    GROUP = 16,
    GROUP_BYTES = 8, /* of its codes */
    GROUPS = 4,      /* of a block */
    BLOCK_BYTES = GROUPS * (1 + GROUP_BYTES),
    CHUNK_BYTES = 1 << 16, /* of a part that are read at once, or a row */
    SCALE_NAN = 0x7f,
    SIGN = 0x80,
    MOST_NUMBER = 6 * 448 /* with its scale */
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status nvfp4_open(packed_weight *w, gufo_error *error)
{
    const uint64_t *codes = w->parts[CODES]->shape;
    uint64_t scales[2] = {codes[0], codes[1] / GROUP_BYTES}, one = 1;
    gufo_status status = packed_expect(w, CODES, PACKED_BYTES, 2, codes, error);

    if (status != GUFO_OK)
        return status;
    if (w->parts[CODES]->elements == 0)
        return packed_fail(w, CODES, 0, error, "it has no numbers");
    w->slices = 1;
    w->rows = codes[0];
    w->columns = codes[1] * 2; /* each is some bits of the file */
    if (w->columns % GROUP != 0)
        return packed_fail(w, CODES, 0, error, "groups of %d columns do not divide rows of %s",
                           GROUP, GROUPED(w->columns));
    status = packed_expect(w, SCALES, PACKED_E4M3, 2, scales, error);
    for (uint32_t i = FACTOR; i <= INPUT_FACTOR && status == GUFO_OK; i++)
        if (w->parts[i] != NULL)
            status =
                packed_expect(w, i, PACKED_FLOATS, w->parts[i]->n_dims == 0 ? 0 : 1, &one, error);
    return status;
}

static gufo_status read_factor(const packed_weight *w, uint32_t part, float *out, gufo_error *error)
{
    gufo_status status;

    *out = 1;
    if (w->parts[part] == NULL)
        return GUFO_OK;
    status = packed_floats(w, part, 0, 1, out, error);
    if (status == GUFO_OK && w->settings.reciprocal)
        *out = 1 / *out;
    if (status == GUFO_OK && !(*out > 0 && *out <= FLT_MAX / MOST_NUMBER))
        status =
            packed_fail(w, part, 0, error, "%s is not a positive number%s", w->kind->parts[part],
                        *out > 0 && isfinite(*out) ? " that is small enough" : "");
    return status;
}

static gufo_status nvfp4_factors(const packed_weight *w, float out[2], gufo_error *error)
{
    gufo_status status = read_factor(w, FACTOR, &out[0], error);

    return status == GUFO_OK ? read_factor(w, INPUT_FACTOR, &out[1], error) : status;
}

static gufo_status nvfp4_type(const packed_weight *w, const gufo_element_type **type,
                              gufo_error *error)
{
    (void)error;
    *type = w->columns % (GROUPS * GROUP) == 0 ? gufo_element_type_by_id(GUFO_TYPE_NVFP4) : NULL;
    return GUFO_OK;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Some rows of the parts. */
typedef struct piece_of_rows {
    uint8_t *codes, *scales;
    uint64_t most; /* rows that fit */
} piece_of_rows;

static gufo_status rows_open(piece_of_rows *p, const packed_weight *w, uint64_t count,
                             gufo_error *error)
{
    const uint64_t groups = w->columns / GROUP;
    uint64_t each = groups * (1 + GROUP_BYTES), size;

    p->most = smaller(larger(CHUNK_BYTES / each, 1), count);
    p->codes = checked_mul(p->most, each, &size) ? mem_array(w->allocator, size, 1) : NULL;
    if (p->codes == NULL)
        return fail_memory(error);
    p->scales = p->codes + p->most * groups * GROUP_BYTES;
    return GUFO_OK;
}

static gufo_status check_scales(const packed_weight *w, const uint8_t *scales, uint64_t first,
                                uint64_t count, gufo_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        if ((scales[i] & ~(unsigned)SIGN) == SCALE_NAN)
            return packed_fail(w, SCALES, first + i, error, "a scale is NaN");
        if (scales[i] > SIGN)
            return packed_fail(w, SCALES, first + i, error, "a scale is negative");
    }
    return GUFO_OK;
}

static gufo_status rows_load(const piece_of_rows *p, const packed_weight *w, uint64_t first,
                             uint64_t count, gufo_error *error)
{
    const uint64_t groups = w->columns / GROUP, from = first * groups, all = count * groups;
    gufo_status status =
        packed_read(w, CODES, from * GROUP_BYTES, all * GROUP_BYTES, p->codes, error);

    if (status == GUFO_OK)
        status = packed_read(w, SCALES, from, all, p->scales, error);
    return status == GUFO_OK ? check_scales(w, p->scales, from, all, error) : status;
}

/* The blocks of a row; groups that are missing in the last one are zero. */
static void make_row(const uint8_t *codes, const uint8_t *scales, uint64_t groups, uint8_t *out)
{
    for (uint64_t i = 0; i < divide_up(groups, GROUPS) * GROUPS; i++) {
        uint8_t *block = out + i / GROUPS * BLOCK_BYTES;
        uint64_t low = 0, high = 0;

        if (i < groups) {
            low = nibbles_spread(load_u32(codes + i * GROUP_BYTES, HOST_IS_BIG_ENDIAN));
            high = nibbles_spread(load_u32(codes + i * GROUP_BYTES + 4, HOST_IS_BIG_ENDIAN));
        }
        block[i % GROUPS] = i < groups ? scales[i] & (uint8_t)~SIGN : 0;
        store_u64(block + GROUPS + i % GROUPS * GROUP_BYTES, low | high << 4, HOST_IS_BIG_ENDIAN);
    }
}

static gufo_status nvfp4_blocks(const packed_weight *w, uint64_t first, uint64_t count,
                                uint8_t *out, gufo_error *error)
{
    const uint64_t groups = w->columns / GROUP, size = divide_up(groups, GROUPS) * BLOCK_BYTES;
    piece_of_rows p;
    gufo_status status = rows_open(&p, w, count, error);
    uint64_t some;

    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        some = smaller(count - i, p.most);
        status = rows_load(&p, w, first + i, some, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            make_row(p.codes + k * groups * GROUP_BYTES, p.scales + k * groups, groups,
                     out + (i + k) * size);
    }
    mem_free(w->allocator, p.codes);
    return status;
}

/* ---- floats --------------------------------------------------------------------------------- */

/* Where the blocks of a row and their numbers are: the last block may have more than the row. */
typedef struct decoding {
    const gufo_element_type *type;
    uint8_t *blocks;
    float *values;
    uint64_t columns; /* of whole blocks */
    float factor;
} decoding;

static gufo_status decoding_open(decoding *d, const packed_weight *w, gufo_error *error)
{
    const uint64_t blocks = divide_up(w->columns, GROUPS * GROUP);
    float factors[2] = {1, 1};
    gufo_status status = nvfp4_factors(w, factors, error);

    *d = (decoding){.type = gufo_element_type_by_id(GUFO_TYPE_NVFP4),
                    .blocks = mem_array(w->allocator, blocks, BLOCK_BYTES),
                    .values = mem_array(w->allocator, blocks, GROUPS * GROUP * sizeof(float)),
                    .columns = blocks * GROUPS * GROUP,
                    .factor = factors[0]};
    if (status == GUFO_OK && (d->blocks == NULL || d->values == NULL))
        status = fail_memory(error);
    return status;
}

static gufo_status decode_row(const decoding *d, const packed_weight *w, const uint8_t *codes,
                              const uint8_t *scales, float *out, gufo_error *error)
{
    gufo_status status;

    make_row(codes, scales, w->columns / GROUP, d->blocks);
    status = coding_decode(d->type, d->blocks, 1, d->columns, d->values, GUFO_CPU_BEST, error);
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i++)
        out[i] = d->values[i] * d->factor;
    return status;
}

static gufo_status nvfp4_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                                gufo_error *error)
{
    const uint64_t groups = w->columns / GROUP;
    piece_of_rows p = {0};
    decoding d;
    gufo_status status = decoding_open(&d, w, error);
    uint64_t some;

    if (status == GUFO_OK)
        status = rows_open(&p, w, count, error);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i += some) {
        some = smaller(count - i, p.most);
        status = rows_load(&p, w, first + i, some, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            status = decode_row(&d, w, p.codes + k * groups * GROUP_BYTES, p.scales + k * groups,
                                out + (i + k) * w->columns, error);
    }
    mem_free(w->allocator, p.codes);
    mem_free(w->allocator, d.blocks);
    mem_free(w->allocator, d.values);
    return status;
}

#define NVFP4_KIND(...)                                                             \
    {                                                                               \
        .name = "NVFP4", .parts = {__VA_ARGS__}, .required = 3, .open = nvfp4_open, \
        .find_type = nvfp4_type, .floats = nvfp4_floats, .blocks = nvfp4_blocks,    \
        .factors = nvfp4_factors                                                    \
    }

const packed_kind packed_nvfp4 =
    NVFP4_KIND(".weight", ".weight_scale", ".weight_scale_2", ".input_scale");
const packed_kind packed_nvfp4_global =
    NVFP4_KIND(".weight_packed", ".weight_scale", ".weight_global_scale", ".input_global_scale");
