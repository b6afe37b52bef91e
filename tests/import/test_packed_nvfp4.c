/* NVFP4 as modelopt and compressed-tensors store it: numbers, blocks, factors, what is refused. */
#include "packed_case.h"

#include <math.h>

enum { CODES, SCALES, FACTOR, INPUT, ROWS = 37, COLUMNS = 192, GROUPS = COLUMNS / 16 };

static uint8_t codes[ROWS * COLUMNS / 2], scales[ROWS * GROUPS];
static float numbers[ROWS * COLUMNS]; /* without a factor */

/* Every scale that is a number. */
static int make_numbers(void **state)
{
    static const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < sizeof scales; i++)
        scales[i] = (uint8_t)(i % 0x7f);
    scales[2] = 0x80; /* -0 */
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        unsigned code = codes[i / 2] >> 4 * (i % 2) & 15u, scale = scales[i / 16] & 0x7fu;
        int exponent = (int)(scale >> 3);
        double times = exponent == 0 ? ldexp(scale & 7, -9) : ldexp(8 + (scale & 7), exponent - 10);
        float value = (float)(magnitudes[code & 7] * times);

        numbers[i] = (code & 8) != 0 && magnitudes[code & 7] > 0 ? -value : value;
    }
    return 0;
}

/* Parts with rows of `columns` of the columns. */
static void pack(packed_case *c, const packed_kind *kind, uint32_t columns, const char *scales_type)
{
    static uint8_t some_codes[sizeof codes], some_scales[sizeof scales];

    for (size_t row = 0; row < ROWS; row++) {
        memcpy(some_codes + row * columns / 2, codes + row * COLUMNS / 2, columns / 2);
        memcpy(some_scales + row * columns / 16, scales + row * GROUPS, columns / 16);
    }
    packed_new(c, kind);
    packed_part(c, CODES, "U8", 2, (uint64_t[]){ROWS, columns / 2}, some_codes);
    packed_part(c, SCALES, scales_type, 2, (uint64_t[]){ROWS, columns / 16}, some_scales);
}

static void add_factor(packed_case *c, uint32_t part, float value)
{
    uint32_t bits;
    uint8_t bytes[4];

    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    packed_part(c, part, "F32", part == INPUT ? 1 : 0, (uint64_t[]){1}, bytes);
}

static void check_factors(packed_case *c, float weight, float input)
{
    float factors[2];

    check_ok(c->weight.kind->factors(&c->weight, factors, &c->error), &c->error, "factors");
    check_same_floats(factors, (float[]){weight, input}, 2, "factors", "");
}

static void test_blocks(void **state)
{
    packed_case c;

    (void)state;
    pack(&c, &packed_nvfp4, COLUMNS, "F8_E4M3");
    add_factor(&c, FACTOR, 1);
    check_packed(&c, "NVFP4", numbers, "without a factor");
    check_factors(&c, 1, 1);
    packed_done(&c);
}

/* Floats have the factor, blocks do not. */
static void test_factors(void **state)
{
    static const struct {
        const packed_kind *kind;
        bool reciprocal;
        float weight, input, factor, input_factor;
    } rows[] = {
        {&packed_nvfp4, false, 0.0123f, 0.5f, 0.0123f, 0.5f},
        {&packed_nvfp4_global, true, 3.0f, 640.0f, 1.0f / 3.0f, 1.0f / 640.0f},
    };
    static float expected[ROWS * COLUMNS], floats[ROWS * COLUMNS];
    static uint8_t blocks[ROWS * COLUMNS / 64 * 36];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;
        const packed_weight *w = &c.weight;

        pack(&c, rows[i].kind, COLUMNS, "U8");
        add_factor(&c, FACTOR, rows[i].weight);
        add_factor(&c, INPUT, rows[i].input);
        c.weight.settings.reciprocal = rows[i].reciprocal;
        check_ok(packed_open(&c), &c.error, "opens");
        check_factors(&c, rows[i].factor, rows[i].input_factor);
        for (size_t k = 0; k < ROWS * COLUMNS; k++)
            expected[k] = numbers[k] * rows[i].factor;
        check_packed_rows(&c, 0, ROWS, expected, "floats");
        check_ok(packed_find_type(&c), &c.error, "type");
        check_ok(w->kind->blocks(w, 0, ROWS, blocks, &c.error), &c.error, "blocks");
        check_ok(gufo_decode(w->type, blocks, ROWS, COLUMNS, floats, NULL, &c.error), &c.error,
                 "blocks");
        check_same_floats(floats, numbers, ROWS * COLUMNS, "blocks", "");
        packed_done(&c);
    }
}

/* Rows that do not fill blocks are floats. */
static void test_short_rows(void **state)
{
    static float expected[ROWS * COLUMNS];

    (void)state;
    for (uint32_t columns = 16; columns < COLUMNS; columns += 16) {
        packed_case c;

        for (size_t row = 0; row < ROWS; row++)
            memcpy(expected + row * columns, numbers + row * COLUMNS, columns * sizeof *numbers);
        pack(&c, &packed_nvfp4, columns, "F8_E4M3");
        add_factor(&c, FACTOR, 1);
        check_packed(&c, columns % 64 == 0 ? "NVFP4" : NULL, expected, "short rows");
        packed_done(&c);
    }
}

static void test_bad_scales(void **state)
{
    static const struct {
        uint8_t byte;
        const char *text;
    } rows[] = {{0x7f, "NaN"}, {0xff, "NaN"}, {0x81, "negative"}, {0xfe, "negative"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &packed_nvfp4, COLUMNS, "F8_E4M3");
        add_factor(&c, FACTOR, 1);
        c.bytes.data[c.tensors[SCALES].offset + 100] = rows[i].byte;
        check_ok(packed_open(&c), &c.error, "opens");
        check_not_read(&c, SCALES, 100, rows[i].text);
        packed_done(&c);
    }
}

static void test_bad_factors(void **state)
{
    static const float values[] = {0, -1, INFINITY, NAN, -INFINITY};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        for (int reciprocal = 0; reciprocal < 2; reciprocal++) {
            packed_case c;

            pack(&c, reciprocal ? &packed_nvfp4_global : &packed_nvfp4, COLUMNS, "F8_E4M3");
            add_factor(&c, FACTOR, values[i]);
            c.weight.settings.reciprocal = reciprocal != 0;
            check_ok(packed_open(&c), &c.error, "opens");
            check_not_read(&c, FACTOR, 0, "scale");
            packed_done(&c);
        }
}

static void test_shapes(void **state)
{
    static const struct {
        uint32_t part, n_dims;
        const char *dtype;
        uint64_t shape[3];
        gufo_status code;
        const char *text;
    } rows[] = {
        {CODES, 2, "F16", {ROWS, 96}, GUFO_E_TYPE, ".weight has type F16"},
        {CODES, 3, "U8", {1, ROWS, 96}, GUFO_E_MALFORMED, ".weight has shape [1, 37, 96]"},
        {CODES, 2, "U8", {ROWS, 0}, GUFO_E_MALFORMED, "no numbers"},
        {CODES, 2, "U8", {ROWS, 100}, GUFO_E_MALFORMED, "groups of 16 columns do not divide rows"},
        {CODES, 2, "U8", {ROWS, 88}, GUFO_E_MALFORMED, "[37, 12], but [37, 11]"},
        {SCALES, 2, "F8_E5M2", {ROWS, 12}, GUFO_E_TYPE, ".weight_scale has type F8_E5M2"},
        {SCALES, 1, "F8_E4M3", {12}, GUFO_E_MALFORMED, ".weight_scale has shape [12]"},
        {FACTOR, 1, "F32", {2}, GUFO_E_MALFORMED, ".weight_scale_2 has shape [2], but [1]"},
        {FACTOR, 1, "I32", {1}, GUFO_E_TYPE, ".weight_scale_2 has type I32"},
        {INPUT, 2, "F32", {1, 1}, GUFO_E_MALFORMED, ".input_scale has shape [1, 1]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &packed_nvfp4, COLUMNS, "F8_E4M3");
        add_factor(&c, FACTOR, 1);
        packed_part(&c, rows[i].part, rows[i].dtype, rows[i].n_dims, rows[i].shape, NULL);
        check_not_opened(&c, rows[i].code, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_factors),
        cmocka_unit_test(test_short_rows),  cmocka_unit_test(test_bad_scales),
        cmocka_unit_test(test_bad_factors), cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, make_numbers, NULL);
}
