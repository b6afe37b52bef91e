/* Block layouts of 2023: each read a second time here, number by number, from a table of where its
 * fields are. */
#include "../support/check.h"
#include "../support/codec.h"

#include "base/bytes.h"
#include "codec/half.h"
#include "legacy/blocks.h"

#include <math.h>

/* ---- the layouts, as the facts list them ---------------------------------------------------- */

typedef struct row {
    const char *name;
    uint32_t ids[2]; /* ggml's and rwkv.cpp's; 99: none */
    uint32_t length;
    uint32_t bytes[3]; /* per generation; 0: none */
} row;

static const row rows[] = {
    {"F32", {0, 0}, 1, {4, 4, 4}},        {"F16", {1, 1}, 1, {2, 2, 2}},
    {"Q4_0", {2, 2}, 32, {20, 20, 18}},   {"Q4_1", {3, 3}, 32, {24, 24, 20}},
    {"Q4_1_O", {99, 4}, 32, {24, 0, 0}},  {"Q4_2", {4, 5}, 16, {10, 0, 0}},
    {"Q4_3", {5, 6}, 16, {12, 0, 0}},     {"Q5_0", {6, 7}, 32, {22, 22, 22}},
    {"Q5_1", {7, 8}, 32, {24, 24, 24}},   {"Q8_0", {8, 9}, 32, {36, 36, 34}},
    {"Q2_K", {10, 99}, 256, {0, 0, 84}},  {"Q3_K", {11, 99}, 256, {0, 0, 110}},
    {"Q4_K", {12, 99}, 256, {0, 0, 144}}, {"Q5_K", {13, 99}, 256, {0, 0, 176}},
    {"Q6_K", {14, 99}, 256, {0, 0, 210}},
};

static const row *expected_row(uint32_t id, unsigned numbering, unsigned generation)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].ids[numbering] == id && id < 99 && generation < 3 &&
            rows[i].bytes[generation] != 0)
            return &rows[i];
    return NULL;
}

static const legacy_layout *find(uint32_t id, unsigned numbering, unsigned generation)
{
    return numbering == 0 ? legacy_layout_find(id, generation)
                          : legacy_layout_find_rwkv(id, generation);
}

static void check_layout(uint32_t id, unsigned numbering, unsigned generation)
{
    const row *expected = expected_row(id, numbering, generation);
    const legacy_layout *got = find(id, numbering, generation);
    const char *name = expected == NULL ? "none" : expected->name;

    check((got == NULL) == (expected == NULL), "id %u of numbering %u in generation %u: %s",
          (unsigned)id, numbering, generation, name);
    if (got == NULL)
        return;
    const gufo_element_type *today = gufo_element_type_by_name(name);
    bool exists = today != NULL && (today->flags & GUFO_ELEMENT_REMOVED) == 0;
    check_str(gufo_str_of(got->name), name, "generation %u", generation);
    check_u64(got->block_length, expected->length, "%s in generation %u", name, generation);
    check_u64(got->block_bytes, expected->bytes[generation], "%s in generation %u", name,
              generation);
    check_u64(got->today, exists ? today->id : LEGACY_NO_ID, "%s", name);
    check(got->same_bytes == (got->decode == NULL), "%s", name);
    check((got->repack != NULL) == (exists && !got->same_bytes), "%s", name);
    if (got->same_bytes)
        check_u64(got->block_bytes, today->block_bytes, "%s", name);
    /* What generation 2 has is what GGUF has. */
    check(generation != 2 || got->same_bytes, "%s", name);
}

static void test_every_id_in_every_generation(void **state)
{
    (void)state;
    for (unsigned numbering = 0; numbering < 2; numbering++)
        for (unsigned generation = 0; generation < 5; generation++) {
            for (uint32_t id = 0; id < 300; id++)
                check_layout(id, numbering, generation);
            check_layout(UINT32_MAX, numbering, generation);
            check_layout(UINT32_MAX - 1, numbering, generation);
        }
}

/* ---- numbers, one by one -------------------------------------------------------------------- */

/* Where the fields of the layouts are that are no longer made. */
typedef struct fields {
    const char *name;
    unsigned generation;
    int d, m;    /* offsets; m -1: there is none */
    int wide;    /* f32, not f16 */
    int high;    /* offset of the fifth bits; -1: none */
    int nibbles; /* offset; -1: bytes with sign, from `bytes` on */
    int bytes;
    int interleaved;
    int middle;
    int outlier; /* offset of position and number; -1: none */
} fields;

static const fields old_layouts[] = {
    {"Q4_0", 0, 0, -1, 1, -1, 4, -1, 1, 8, -1}, {"Q4_0", 1, 0, -1, 1, -1, 4, -1, 0, 8, -1},
    {"Q4_1", 0, 0, 4, 1, -1, 8, -1, 1, 0, -1},  {"Q4_1", 1, 0, 4, 1, -1, 8, -1, 0, 0, -1},
    {"Q4_2", 0, 0, -1, 0, -1, 2, -1, 1, 8, -1}, {"Q4_3", 0, 0, 2, 0, -1, 4, -1, 1, 0, -1},
    {"Q5_0", 0, 0, -1, 0, 2, 6, -1, 1, 16, -1}, {"Q5_1", 0, 0, 2, 0, 4, 8, -1, 1, 0, -1},
    {"Q8_0", 0, 0, -1, 1, -1, -1, 4, 0, 0, -1}, {"Q8_0", 1, 0, -1, 1, -1, -1, 4, 0, 0, -1},
    {"Q4_1_O", 0, 0, 2, 0, -1, 8, -1, 1, 0, 4},
};

static const legacy_layout *layout_named(const char *name, unsigned generation)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].ids[0] < 99 ? legacy_layout_find(rows[i].ids[0], generation)
                                       : legacy_layout_find_rwkv(rows[i].ids[1], generation);
    return NULL;
}

static float scale_at(const fields *f, const uint8_t *block, int offset)
{
    uint32_t bits = 0;

    for (int i = 0; i < (f->wide ? 4 : 2); i++)
        bits |= (uint32_t)block[offset + i] << 8 * i;
    return f->wide ? float_from_bits(bits) : half_to_float((uint16_t)bits);
}

static int code_at(const fields *f, const uint8_t *block, int length, int j)
{
    if (f->nibbles < 0)
        return (int8_t)block[f->bytes + j];
    int byte = f->interleaved ? j / 2 : j % (length / 2);
    int upper = f->interleaved ? j % 2 : j / (length / 2);
    int code = block[f->nibbles + byte] >> 4 * upper & 15;
    if (f->high >= 0)
        code += (block[f->high + j / 8] >> j % 8 & 1) * 16;
    return code - f->middle;
}

static float number_at(const fields *f, const uint8_t *block, int length, int j)
{
    if (f->outlier >= 0 && block[f->outlier] + 256 * block[f->outlier + 1] == j)
        return scale_at(f, block, f->outlier + 2);
    float number = (float)code_at(f, block, length, j) * scale_at(f, block, f->d);
    return f->m < 0 ? number : number + scale_at(f, block, f->m);
}

static void store_scale_at(const fields *f, uint8_t *block, int offset, float scale)
{
    if (f->wide)
        store_u32(block + offset, float_to_bits(scale), HOST_IS_BIG_ENDIAN);
    else
        store_half(block + offset, scale);
}

enum { BLOCKS = 500, MOST_BYTES = 36, MOST_LENGTH = 32 };

/* Random blocks.  Scales are those of weights, of either sign; or with only 8 bits, which binary16
 * holds. */
static void make_blocks(const fields *f, const legacy_layout *layout, bool short_scales,
                        uint8_t *blocks)
{
    number_source source = {f->generation + (uint64_t)(unsigned char)f->name[3]};

    for (uint64_t i = 0; i < BLOCKS * layout->block_bytes; i++)
        blocks[i] = (uint8_t)(next_number(&source) >> 24);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        uint8_t *block = blocks + b * layout->block_bytes;
        float d = next_weight(&source), m = next_weight(&source);

        if (short_scales) {
            d = 0.25f * (float)(1 + (int)(next_number(&source) % 255)) / 256;
            m = -d;
        }
        store_scale_at(f, block, f->d, d);
        if (f->m >= 0)
            store_scale_at(f, block, f->m, m);
        if (f->outlier >= 0) {
            store_u16(block + f->outlier, (uint16_t)(b % 40),
                      HOST_IS_BIG_ENDIAN); /* also past the end */
            store_half(block + f->outlier + 2, 7.5f);
        }
    }
}

static void test_numbers_are_those_of_the_fields(void **state)
{
    static uint8_t blocks[BLOCKS * MOST_BYTES];
    static float got[BLOCKS * MOST_LENGTH], expected[BLOCKS * MOST_LENGTH];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(old_layouts); i++) {
        const fields *f = &old_layouts[i];
        const legacy_layout *layout = layout_named(f->name, f->generation);
        int length = (int)layout->block_length;

        make_blocks(f, layout, false, blocks);
        for (int j = 0; j < BLOCKS * length; j++)
            expected[j] =
                number_at(f, blocks + j / length * (int)layout->block_bytes, length, j % length);
        legacy_decode(layout, blocks, BLOCKS, got);
        check_same_floats(got, expected, (uint64_t)BLOCKS * layout->block_length, f->name,
                          f->generation == 0 ? "generation 0" : "generation 1");
    }
}

/* Layouts that are still those of today go through today's decoder. */
static void test_same_bytes_are_decoded_as_today(void **state)
{
    static uint8_t blocks[16 * 256];
    static float got[16 * 256], expected[16 * 256];
    gufo_error error = no_error();
    number_source source = {1};

    (void)state;
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = (uint8_t)(next_number(&source) >> 24);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const legacy_layout *layout = layout_named(rows[i].name, 2);
        const gufo_element_type *type = gufo_element_type_by_name(rows[i].name);

        if (layout == NULL)
            continue;
        legacy_decode(layout, blocks, 16, got);
        check_ok(gufo_decode(type, blocks, 1, 16 * layout->block_length, expected,
                             &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
                 &error, "%s", rows[i].name);
        check_same_floats(got, expected, 16 * layout->block_length, rows[i].name, "as it is");
    }
}

/* ---- a block of each, by hand --------------------------------------------------------------- */

/* Pairs 10 32 54 ...: element j has the code j mod 16.  In halves: low nibbles 0 to 15, high ones
 * too. */
#define PAIRS \
    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe
#define HALVES \
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff
#define F32_HALF 0, 0, 0, 0x3f /* 0.5 */
#define F16_HALF 0, 0x38
#define F32_MINUS_2 0, 0, 0, 0xc0
#define F16_MINUS_2 0, 0xc0
#define BITS 0x01, 0x80, 0x00, 0xff /* elements 0, 15 and 24 to 31 */

typedef struct by_hand {
    const char *name;
    unsigned generation;
    uint8_t old[24], today[24];
    float numbers[3]; /* elements 1, 15 and 31 */
} by_hand;

static const by_hand hands[] = {
    {"Q4_0", 0, {F32_HALF, PAIRS}, {F16_HALF, HALVES}, {-3.5f, 3.5f, 3.5f}},
    {"Q4_0", 1, {F32_HALF, HALVES}, {F16_HALF, HALVES}, {-3.5f, 3.5f, 3.5f}},
    {"Q4_1",
     0,
     {F32_HALF, F32_MINUS_2, PAIRS},
     {F16_HALF, F16_MINUS_2, HALVES},
     {-1.5f, 5.5f, 5.5f}},
    {"Q4_1",
     1,
     {F32_HALF, F32_MINUS_2, HALVES},
     {F16_HALF, F16_MINUS_2, HALVES},
     {-1.5f, 5.5f, 5.5f}},
    {"Q5_0", 0, {F16_HALF, BITS, PAIRS}, {F16_HALF, BITS, HALVES}, {-7.5f, 7.5f, 7.5f}},
    {"Q5_1",
     0,
     {F16_HALF, F16_MINUS_2, BITS, PAIRS},
     {F16_HALF, F16_MINUS_2, BITS, HALVES},
     {-1.5f, 13.5f, 13.5f}},
    {"Q4_1_O", 0, {F16_HALF, F16_MINUS_2, 15, 0, F16_MINUS_2, PAIRS}, {0}, {-1.5f, -2, 5.5f}},
};

static void test_blocks_made_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(hands); i++) {
        const by_hand *h = &hands[i];
        const legacy_layout *layout = layout_named(h->name, h->generation);
        gufo_error error = no_error();
        float numbers[MOST_LENGTH];
        uint8_t today[24] = {0};

        legacy_decode(layout, h->old, 1, numbers);
        float three[] = {numbers[1], numbers[15], numbers[31]};
        check_same_floats(three, h->numbers, 3, h->name, "by hand");
        if (layout->repack == NULL)
            continue;
        check_ok(legacy_repack(layout, h->old, 1, today, &error), &error, "%s", h->name);
        check(memcmp(today, h->today, sizeof today) == 0, "%s in generation %u", h->name,
              h->generation);
    }
}

static void test_half_blocks_and_bytes_by_hand(void **state)
{
    static const uint8_t q4_2[] = {F16_HALF, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
    static const uint8_t q4_3[] = {F16_HALF, F16_MINUS_2, 0x10, 0x32, 0x54,
                                   0x76,     0x98,        0xba, 0xdc, 0xfe};
    uint8_t q8_0[36] = {F32_HALF, 0x80, 0x7f, 0xff}, today[34],
            expected[34] = {F16_HALF, 0x80, 0x7f, 0xff};
    gufo_error error = no_error();
    float numbers[32];

    (void)state;
    legacy_decode(layout_named("Q4_2", 0), q4_2, 1, numbers);
    for (int j = 0; j < 16; j++)
        check(numbers[j] == (float)(j - 8) * 0.5f, "Q4_2, element %d", j);
    legacy_decode(layout_named("Q4_3", 0), q4_3, 1, numbers);
    for (int j = 0; j < 16; j++)
        check(numbers[j] == (float)j * 0.5f - 2, "Q4_3, element %d", j);
    legacy_decode(layout_named("Q8_0", 1), q8_0, 1, numbers);
    check(numbers[0] == -64 && numbers[1] == 63.5f && numbers[2] == -0.5f && numbers[3] == 0,
          "Q8_0");
    check_ok(legacy_repack(layout_named("Q8_0", 0), q8_0, 1, today, &error), &error, "Q8_0");
    check(memcmp(today, expected, sizeof today) == 0, "Q8_0");
}

/* ---- blocks of today ------------------------------------------------------------------------ */

static void decode_today(const legacy_layout *layout, const uint8_t *blocks, uint64_t count,
                         float *values)
{
    gufo_error error = no_error();

    check_ok(gufo_decode(gufo_element_type_by_id(layout->today), blocks, 1,
                         count * layout->block_length, values,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "%s", layout->name);
}

static void test_scales_that_fit_keep_every_number(void **state)
{
    static uint8_t blocks[BLOCKS * MOST_BYTES], today[BLOCKS * MOST_BYTES];
    static float got[BLOCKS * MOST_LENGTH], expected[BLOCKS * MOST_LENGTH];
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(old_layouts); i++) {
        const legacy_layout *layout = layout_named(old_layouts[i].name, old_layouts[i].generation);
        legacy_loss loss = {0};

        if (layout->repack == NULL)
            continue;
        make_blocks(&old_layouts[i], layout, true, blocks);
        legacy_decode(layout, blocks, BLOCKS, expected);
        check_ok(legacy_repack(layout, blocks, BLOCKS, today, &error), &error, "%s", layout->name);
        decode_today(layout, today, BLOCKS, got);
        check_same_floats(got, expected, (uint64_t)BLOCKS * layout->block_length, layout->name,
                          "repacked");
        legacy_measure(layout, blocks, BLOCKS, &loss, NULL);
        check(!loss.inexact && !loss.overflows && loss.max_abs_err == 0, "%s", layout->name);
        check_u64(loss.blocks, BLOCKS, "%s", layout->name);
    }
}

/* The largest change, number by number. */
static void check_loss(const fields *f, const float *old, const float *new, legacy_loss got,
                       const char *as)
{
    const legacy_layout *layout = layout_named(f->name, f->generation);
    double worst = 0;

    for (uint64_t j = 0; j < BLOCKS * layout->block_length; j++)
        worst = fmax(worst, fabs((double)new[j] - (double)old[j]));
    check(!got.overflows && got.inexact == (worst != 0), "%s as %s", f->name, as);
    check(fabs(got.max_abs_err - worst) <= 1e-6 * worst, "%s as %s: %g, expected %g", f->name, as,
          got.max_abs_err, worst);
    check_u64(got.blocks, BLOCKS, "%s as %s", f->name, as);
    check_u64(got.odd_scales, 0, "%s as %s", f->name, as);
}

static void measure_layout(const fields *f)
{
    static uint8_t blocks[BLOCKS * MOST_BYTES], today[BLOCKS * MOST_BYTES];
    static float old[BLOCKS * MOST_LENGTH], new[BLOCKS * MOST_LENGTH];
    static float halves[BLOCKS * MOST_LENGTH];
    const legacy_layout *layout = layout_named(f->name, f->generation);
    legacy_loss same = {0}, f16 = {0}, parts[2] = {{0}, {0}};
    uint64_t count = BLOCKS * layout->block_length, first = 129;
    gufo_error error = no_error();

    make_blocks(f, layout, false, blocks);
    legacy_decode(layout, blocks, BLOCKS, old);
    legacy_measure(layout, blocks, BLOCKS, &same, &f16);
    for (uint64_t j = 0; j < count; j++)
        halves[j] = half_to_float(half_from_float(old[j]));
    check_loss(f, old, halves, f16, "F16");
    if (layout->repack != NULL) {
        check_ok(legacy_repack(layout, blocks, BLOCKS, today, &error), &error, "%s", f->name);
        decode_today(layout, today, BLOCKS, new);
        check_loss(f, old, new, same, "the same name");
        check(same.inexact == (f->wide != 0), "%s: f32 scales are rounded", f->name);
    }
    legacy_measure(layout, blocks, first, NULL, &parts[0]);
    legacy_measure(layout, blocks + first * layout->block_bytes, BLOCKS - first, NULL, &parts[1]);
    legacy_loss_add(&parts[0], &parts[1]);
    check_loss(f, old, halves, parts[0], "F16 in two parts");
}

static void test_measured_losses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(old_layouts); i++)
        measure_layout(&old_layouts[i]);
}

/* ---- scales at the limits ------------------------------------------------------------------- */

typedef struct limit {
    float scale;
    uint16_t half; /* what it becomes; 0x7c00 or more: it does not fit */
    bool odd;
} limit;

static const limit limits[] = {
    {0.0f, 0, false},
    {-0.0f, 0x8000, false},
    {1.0f, 0x3c00, false},
    {0x1.002p0f, 0x3c00, false}, /* between 1 and the next one: to even */
    {0x1.006p0f, 0x3c02, false},
    {0x1.002002p0f, 0x3c01, false},
    {-0x1p-14f, 0x8400, false},
    {0x1p-24f, 0x0001, false}, /* the smallest */
    {0x1p-25f, 0, false},      /* 2.98e-8: to even, to 0 */
    {0x1.8p-25f, 0x0001, false},
    {0x1p-27f, 0, true}, /* below 1e-8 */
    {1e3f, 0x63d0, false},
    {1001, 0x63d2, true},
    {65504.0f, 0x7bff, true},
    {65519.996f, 0x7bff, true},
    {65520.0f, 0x7c00, true},
    {-65520.0f, 0x7c00, true},
    {1e30f, 0x7c00, true},
    {INFINITY, 0x7c00, true},
    {NAN, 0x7c00, true},
};

/* Scale number `which` of block 2 of 3. */
static void check_limit(const fields *f, int offset, const limit *l)
{
    const legacy_layout *layout = layout_named(f->name, f->generation);
    uint8_t old[3 * MOST_BYTES], today[3 * MOST_BYTES] = {0};
    gufo_error error = no_error();
    legacy_loss loss = {0};
    bool fits = (l->half & 0x7fff) < 0x7c00;
    float one = 1;

    memset(old, 0x51, sizeof old);
    for (uint32_t b = 0; b < 3; b++) {
        store_scale_at(f, old + b * layout->block_bytes, f->d, one);
        if (f->m >= 0)
            store_scale_at(f, old + b * layout->block_bytes, f->m, one);
    }
    store_scale_at(f, old + layout->block_bytes, offset, l->scale);
    legacy_measure(layout, old, 3, &loss, NULL);
    check_status(legacy_repack(layout, old, 3, today, &error), fits ? GUFO_OK : GUFO_E_RANGE,
                 &error, "%s with the scale %g", f->name, (double)l->scale);
    check(loss.overflows == !fits, "%s with the scale %g", f->name, (double)l->scale);
    check_u64(loss.odd_scales, l->odd, "%s with the scale %g", f->name, (double)l->scale);
    if (!fits) {
        char text[64];
        check_error_shape(&error, GUFO_E_RANGE, f->name);
        (void)snprintf(text, sizeof text, "block 1 has the scale %g,", (double)l->scale);
        check(strstr(error.message, text) != NULL, "%s", error.message);
        return;
    }
    const gufo_element_type *type = gufo_element_type_by_id(layout->today);
    check_u64(load_u16(today + type->block_bytes + offset / 2, HOST_IS_BIG_ENDIAN), l->half,
              "%s with the scale %g", f->name, (double)l->scale);
}

static void test_scales_round_to_even_or_do_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(old_layouts); i++)
        for (size_t k = 0; k < COUNT_OF(limits) && old_layouts[i].wide; k++) {
            check_limit(&old_layouts[i], old_layouts[i].d, &limits[k]);
            if (old_layouts[i].m >= 0)
                check_limit(&old_layouts[i], old_layouts[i].m, &limits[k]);
        }
}

/* F16 holds 65504 and no more, whichever layout the number comes from. */
static void test_numbers_that_are_too_large_for_f16(void **state)
{
    const legacy_layout *layout = layout_named("Q4_2", 0);
    uint8_t block[10] = {0, 0x70}; /* d = 8192 */
    legacy_loss f16 = {0};

    (void)state;
    memset(block + 2, 0x88, 8);
    legacy_measure(layout, block, 1, NULL, &f16);
    check(!f16.overflows && !f16.inexact, "zeros");
    block[9] = 0xf8; /* 7 * 8192 */
    legacy_measure(layout, block, 1, NULL, &f16);
    check(!f16.overflows && !f16.inexact, "57344");
    block[9] = 0x08; /* -8 * 8192 */
    legacy_measure(layout, block, 1, NULL, &f16);
    check(f16.overflows && f16.inexact, "-65536");
    f16 = (legacy_loss){0};
    block[1] = 0x7c;
    legacy_measure(layout, block, 1, NULL, &f16);
    check(f16.overflows, "an infinite scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_id_in_every_generation),
        cmocka_unit_test(test_numbers_are_those_of_the_fields),
        cmocka_unit_test(test_same_bytes_are_decoded_as_today),
        cmocka_unit_test(test_blocks_made_by_hand),
        cmocka_unit_test(test_half_blocks_and_bytes_by_hand),
        cmocka_unit_test(test_scales_that_fit_keep_every_number),
        cmocka_unit_test(test_measured_losses),
        cmocka_unit_test(test_scales_round_to_even_or_do_not_fit),
        cmocka_unit_test(test_numbers_that_are_too_large_for_f16),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
