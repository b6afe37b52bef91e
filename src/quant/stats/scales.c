/* Scales of blocks: those that are not numbers, and how the others are distributed.
 *
 * They are looked for where they are in the block, not in what it decodes to: an exponent byte of
 * 255 decodes to finite numbers, and a scale that is infinite makes 256 values useless, but is one
 * fault. */
#include "quant/stats/stats.h"

#include <math.h>

#include "base/bytes.h"
#include "codec/half.h"

/* ---- formats -------------------------------------------------------------------------------- */

/* How scales are written. */
typedef struct scale_format {
    uint8_t width;                 /* bytes */
    double least_normal, greatest; /* magnitudes */
    bool (*is_bad)(const uint8_t *at);
    double (*read)(const uint8_t *at); /* of one that is not bad */
} scale_format;

static bool half_is_bad(const uint8_t *at)
{
    return (load_u16(at, HOST_IS_BIG_ENDIAN) & 0x7c00u) == 0x7c00u;
}

static double half_read(const uint8_t *at)
{
    return (double)half_to_float(load_u16(at, HOST_IS_BIG_ENDIAN));
}

static bool float_is_bad(const uint8_t *at)
{
    return (load_u32(at, HOST_IS_BIG_ENDIAN) & 0x7f800000u) == 0x7f800000u;
}

static double float_read(const uint8_t *at)
{
    return (double)float_from_bits(load_u32(at, HOST_IS_BIG_ENDIAN));
}

/* E8M0, where 255 means NaN. */
static bool exponent_is_bad(const uint8_t *at)
{
    return *at == 255;
}

static double exponent_read(const uint8_t *at)
{
    return ldexp(1, *at - 127);
}

/* A binary16 number in the top four bits of four words, the lowest bits first:
 *
 *     word      0         1         2         3
 *     bits    3 2 1 0   7 6 5 4   B A 9 8   F E D C      exponent: E D C B A */
static bool split_half_is_bad(const uint8_t *at)
{
    return (load_u16(at + 4, HOST_IS_BIG_ENDIAN) & 0xc000u) == 0xc000u &&
           (load_u16(at + 6, HOST_IS_BIG_ENDIAN) & 0x7000u) == 0x7000u;
}

static double split_half_read(const uint8_t *at)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 4; i++)
        bits |= (unsigned)(load_u16(at + 2 * i, HOST_IS_BIG_ENDIAN) >> 12) << (4 * i);
    return (double)half_to_float((uint16_t)bits);
}

static const scale_format half_format = {2, 0x1p-14, 65504, half_is_bad, half_read};
static const scale_format split_half_format = {8, 0x1p-14, 65504, split_half_is_bad,
                                               split_half_read};
static const scale_format float_format = {4, 0x1p-126, 0x1.fffffep127, float_is_bad, float_read};
static const scale_format exponent_format = {1, 0x1p-127, 0x1p127, exponent_is_bad, exponent_read};

/* ---- where scales are ----------------------------------------------------------------------- */

/* `count` scales of one format from `offset` on, in a group of blocks.  Of a block's two, the second is
 * its minimum. */
typedef struct scales_rule {
    uint32_t type;
    uint8_t offset, count;
    const scale_format *format;
} scales_rule;

/* Q8_1 has a sum behind its scale, which does not matter to values.  Every code of NVFP4's scales
 * is a number. */
static const scales_rule rules[] = {
    {GUFO_TYPE_Q4_0, 0, 1, &half_format},     {GUFO_TYPE_Q4_1, 0, 2, &half_format},
    {GUFO_TYPE_Q5_0, 0, 1, &half_format},     {GUFO_TYPE_Q5_1, 0, 2, &half_format},
    {GUFO_TYPE_Q8_0, 0, 1, &half_format},     {GUFO_TYPE_Q8_1, 0, 1, &half_format},
    {GUFO_TYPE_Q2_K, 80, 2, &half_format},    {GUFO_TYPE_Q3_K, 108, 1, &half_format},
    {GUFO_TYPE_Q4_K, 0, 2, &half_format},     {GUFO_TYPE_Q5_K, 0, 2, &half_format},
    {GUFO_TYPE_Q6_K, 208, 1, &half_format},   {GUFO_TYPE_Q8_K, 0, 1, &float_format},
    {GUFO_TYPE_IQ1_S, 0, 1, &half_format},    {GUFO_TYPE_IQ1_M, 48, 1, &split_half_format},
    {GUFO_TYPE_IQ2_XXS, 0, 1, &half_format},  {GUFO_TYPE_IQ2_XS, 0, 1, &half_format},
    {GUFO_TYPE_IQ2_S, 0, 1, &half_format},    {GUFO_TYPE_IQ3_XXS, 0, 1, &half_format},
    {GUFO_TYPE_IQ3_S, 0, 1, &half_format},    {GUFO_TYPE_IQ4_NL, 0, 1, &half_format},
    {GUFO_TYPE_IQ4_XS, 0, 1, &half_format},   {GUFO_TYPE_TQ1_0, 52, 1, &half_format},
    {GUFO_TYPE_TQ2_0, 64, 1, &half_format},   {GUFO_TYPE_Q1_0, 0, 1, &half_format},
    {GUFO_TYPE_Q2_0, 0, 1, &half_format},     {GUFO_TYPE_MXFP4, 0, 1, &exponent_format},
    {GUFO_TYPE_Q4_0_4_4, 0, 4, &half_format}, {GUFO_TYPE_Q4_0_4_8, 0, 4, &half_format},
    {GUFO_TYPE_Q4_0_8_8, 0, 8, &half_format}, {GUFO_TYPE_IQ4_NL_4_4, 0, 4, &half_format},
};

/* NULL for a type that has no scales that can be wrong. */
static const scales_rule *rule_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

bool stats_scales_are_counted(uint32_t type)
{
    return rule_of(type) != NULL;
}

/* ---- bad scales ----------------------------------------------------------------------------- */

/* A bad scale, number `scale` of group `group` of the piece.  Interleaved blocks have one each, of
 * their own row. */
static gufo_stats_find find_at(const stats_piece *piece, const scales_rule *s, uint64_t group,
                               uint32_t scale)
{
    const stats_layout *layout = piece->layout;
    uint64_t row = layout->rows > 1 ? scale : 0;
    uint64_t at = (row * piece->groups + group) * layout->type->block_elements;

    return (gufo_stats_find){.count = 1,
                             .first = stats_index(piece, at),
                             .offset = stats_offset(piece, at) + s->offset +
                                       (uint64_t)scale * s->format->width};
}

static void count_in_group(const stats_piece *piece, const scales_rule *s, uint64_t group,
                           gufo_stats_find *find)
{
    const stats_layout *layout = piece->layout;
    const uint8_t *at = piece->blocks + group * layout->group_bytes + s->offset;

    for (uint32_t i = 0; i < s->count; i++, at += s->format->width) {
        if (!s->format->is_bad(at))
            continue;
        gufo_stats_find one = find_at(piece, s, group, i);

        stats_find_add(find, &one);
        if (layout->rows == 1)
            return; /* one block, however many of its scales are bad */
    }
}

void stats_scales_count(const stats_piece *piece, gufo_stats_find *find)
{
    const scales_rule *s = rule_of(piece->layout->type->id);

    for (uint64_t group = 0; s != NULL && group < piece->groups; group++)
        count_in_group(piece, s, group, find);
}

/* ---- distribution --------------------------------------------------------------------------- */

static size_t exponent_bin(double magnitude)
{
    int bin = ilogb(magnitude) - GUFO_SCALE_LEAST_EXPONENT;

    if (bin < 0)
        return 0;
    return bin < GUFO_SCALE_EXPONENTS ? (size_t)bin : GUFO_SCALE_EXPONENTS - 1;
}

static void count_scale(const scale_format *format, const uint8_t *at, gufo_scale_counts *counts)
{
    double value, magnitude;

    counts->count++;
    if (format->is_bad(at)) {
        counts->nonfinite++;
        return;
    }
    value = format->read(at);
    magnitude = fabs(value);
    counts->zeros += magnitude == 0;
    counts->negative += value < 0;
    counts->subnormal += magnitude > 0 && magnitude < format->least_normal;
    counts->saturated += magnitude == format->greatest;
    if (magnitude > 0)
        counts->exponents[exponent_bin(magnitude)]++;
}

static void distribute_piece(const void *context, const stats_piece *piece, void *result)
{
    const stats_layout *layout = piece->layout;
    const scales_rule *s = rule_of(layout->type->id);
    gufo_scales *scales = result;

    (void)context;
    for (uint64_t group = 0; group < piece->groups; group++) {
        const uint8_t *at = piece->blocks + group * layout->group_bytes + s->offset;

        for (uint32_t i = 0; i < s->count; i++, at += s->format->width)
            count_scale(s->format, at,
                        i > 0 && layout->rows == 1 ? &scales->minimums : &scales->scales);
    }
}

void stats_scales_add(gufo_scale_counts *sum, const gufo_scale_counts *more)
{
    sum->count += more->count;
    sum->zeros += more->zeros;
    sum->negative += more->negative;
    sum->subnormal += more->subnormal;
    sum->saturated += more->saturated;
    sum->nonfinite += more->nonfinite;
    for (size_t i = 0; i < GUFO_SCALE_EXPONENTS; i++)
        sum->exponents[i] += more->exponents[i];
}

static void take_scales(void *context, const void *result)
{
    gufo_scales *sum = context;
    const gufo_scales *more = result;

    stats_scales_add(&sum->scales, &more->scales);
    stats_scales_add(&sum->minimums, &more->minimums);
}

gufo_status gufo_tensor_scan_scales(const gufo_model *model, const gufo_tensor *tensor,
                                    const gufo_run *run, gufo_scales *out, gufo_error *error)
{
    stats_layout layout;
    stats_pass pass = {.model = model,
                       .tensor = tensor,
                       .layout = &layout,
                       .run = run_of(run),
                       .swapped = gufo_model_facts(model).byte_order == GUFO_BIG_ENDIAN,
                       .undecoded = true,
                       .result_size = sizeof *out,
                       .context = out,
                       .visit = distribute_piece,
                       .take = take_scales};
    gufo_status status = run_check(pass.run, error);

    *out = (gufo_scales){0};
    if (status == GUFO_OK)
        status = stats_lay_out(tensor, &layout, error);
    if (status != GUFO_OK || rule_of(tensor->type) == NULL)
        return status;
    pass.bytes_in_all = layout.groups * layout.group_bytes;
    return stats_run_pass(&pass, error);
}
