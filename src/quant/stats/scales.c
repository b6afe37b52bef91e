/* Scales that are not numbers: infinite, NaN, or a code that no writer uses.
 *
 * They are looked for where they are in the block, not in what it decodes to: an exponent byte of
 * 255 decodes to finite numbers, and a scale that is infinite makes 256 values useless, but is one
 * fault. */
#include "quant/stats/stats.h"

#include "base/bytes.h"

typedef bool scale_test(const uint8_t *at);

/* `count` scales of `width` bytes from `offset` on, in a group of blocks. */
typedef struct scales_rule {
    uint32_t type;
    uint8_t offset, count, width;
    scale_test *is_bad;
} scales_rule;

static bool half_is_bad(const uint8_t *at)
{
    return (load_u16(at, HOST_IS_BIG_ENDIAN) & 0x7c00u) == 0x7c00u;
}

static bool float_is_bad(const uint8_t *at)
{
    return (load_u32(at, HOST_IS_BIG_ENDIAN) & 0x7f800000u) == 0x7f800000u;
}

/* E8M0, where 255 means NaN. */
static bool exponent_is_bad(const uint8_t *at)
{
    return *at == 255;
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

/* Q8_1 has a sum behind its scale, which does not matter to values.  Every code of NVFP4's scales
 * is a number. */
static const scales_rule rules[] = {
    {GUFO_TYPE_Q4_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q4_1, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q5_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q5_1, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q8_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_Q8_1, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_Q2_K, 80, 2, 2, half_is_bad},    {GUFO_TYPE_Q3_K, 108, 1, 2, half_is_bad},
    {GUFO_TYPE_Q4_K, 0, 2, 2, half_is_bad},     {GUFO_TYPE_Q5_K, 0, 2, 2, half_is_bad},
    {GUFO_TYPE_Q6_K, 208, 1, 2, half_is_bad},   {GUFO_TYPE_Q8_K, 0, 1, 4, float_is_bad},
    {GUFO_TYPE_IQ1_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ1_M, 48, 1, 8, split_half_is_bad},
    {GUFO_TYPE_IQ2_XXS, 0, 1, 2, half_is_bad},  {GUFO_TYPE_IQ2_XS, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ2_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ3_XXS, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ3_S, 0, 1, 2, half_is_bad},    {GUFO_TYPE_IQ4_NL, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_IQ4_XS, 0, 1, 2, half_is_bad},   {GUFO_TYPE_TQ1_0, 52, 1, 2, half_is_bad},
    {GUFO_TYPE_TQ2_0, 64, 1, 2, half_is_bad},   {GUFO_TYPE_Q1_0, 0, 1, 2, half_is_bad},
    {GUFO_TYPE_Q2_0, 0, 1, 2, half_is_bad},     {GUFO_TYPE_MXFP4, 0, 1, 1, exponent_is_bad},
    {GUFO_TYPE_Q4_0_4_4, 0, 4, 2, half_is_bad}, {GUFO_TYPE_Q4_0_4_8, 0, 4, 2, half_is_bad},
    {GUFO_TYPE_Q4_0_8_8, 0, 8, 2, half_is_bad}, {GUFO_TYPE_IQ4_NL_4_4, 0, 4, 2, half_is_bad},
};

/* NULL for a type that has no scales that can be wrong. */
static const scales_rule *rule_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

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
                             .offset =
                                 stats_offset(piece, at) + s->offset + (uint64_t)scale * s->width};
}

static void count_in_group(const stats_piece *piece, const scales_rule *s, uint64_t group,
                           gufo_stats_find *find)
{
    const stats_layout *layout = piece->layout;
    const uint8_t *at = piece->blocks + group * layout->group_bytes + s->offset;

    for (uint32_t i = 0; i < s->count; i++, at += s->width) {
        if (!s->is_bad(at))
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
