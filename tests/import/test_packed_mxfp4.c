/* MXFP4 as gpt-oss stores it: numbers, blocks, what is refused. */
#include "packed_case.h"

#include <math.h>

enum { CODES, SCALES, EXPERTS = 3, ROWS = 5, GROUPS = 3, COLUMNS = 32 * GROUPS };
enum { SCALE_COUNT = EXPERTS * ROWS * GROUPS, NUMBERS = EXPERTS * ROWS * COLUMNS };

static uint8_t codes[SCALE_COUNT * 16], scales[SCALE_COUNT];
static float expected[NUMBERS];

/* Every scale that is not NaN, every code. */
static int make_numbers(void **state)
{
    static const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < SCALE_COUNT; i++)
        scales[i] = (uint8_t)(random_next(&random) % 251);
    scales[0] = 0;
    scales[1] = 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        unsigned code = codes[i / 2] >> 4 * (i % 2) & 15u;
        float value = (float)ldexp(magnitudes[code & 7], scales[i / 32] - 127);

        expected[i] = (code & 8) != 0 && value != 0 ? -value : value;
    }
    return 0;
}

static void test_experts(void **state)
{
    packed_case c;

    (void)state;
    packed_new(&c, &packed_mxfp4);
    packed_part(&c, CODES, "U8", 4, (uint64_t[]){EXPERTS, ROWS, GROUPS, 16}, codes);
    packed_part(&c, SCALES, "U8", 3, (uint64_t[]){EXPERTS, ROWS, GROUPS}, scales);
    check_packed(&c, "MXFP4", expected, "experts");
    check_u64(c.weight.slices, EXPERTS, "slices");
    check_u64(c.weight.rows, ROWS, "rows");
    check_u64(c.weight.columns, COLUMNS, "columns");
    packed_done(&c);
}

static void test_matrix(void **state)
{
    packed_case c;

    (void)state;
    packed_new(&c, &packed_mxfp4);
    packed_part(&c, CODES, "U8", 2, (uint64_t[]){EXPERTS * ROWS, GROUPS * 16}, codes);
    packed_part(&c, SCALES, "F8_E8M0", 2, (uint64_t[]){EXPERTS * ROWS, GROUPS}, scales);
    check_packed(&c, "MXFP4", expected, "a matrix");
    check_u64(c.weight.slices, 1, "slices");
    check_u64(c.weight.rows, EXPERTS * ROWS, "rows");
    packed_done(&c);
}

/* More blocks than are read at once. */
static void test_long(void **state)
{
    enum { LONG_GROUPS = 5000 };
    static uint8_t long_codes[2 * LONG_GROUPS * 16], long_scales[2 * LONG_GROUPS];
    static float numbers[2 * LONG_GROUPS * 32];
    packed_case c;

    (void)state;
    for (size_t i = 0; i < 2 * LONG_GROUPS; i++) {
        memcpy(long_codes + i * 16, codes + i % SCALE_COUNT * 16, 16);
        long_scales[i] = scales[i % SCALE_COUNT];
        memcpy(numbers + i * 32, expected + i % SCALE_COUNT * 32, 32 * sizeof *numbers);
    }
    packed_new(&c, &packed_mxfp4);
    packed_part(&c, CODES, "U8", 3, (uint64_t[]){2, LONG_GROUPS, 16}, long_codes);
    packed_part(&c, SCALES, "U8", 2, (uint64_t[]){2, LONG_GROUPS}, long_scales);
    check_packed(&c, "MXFP4", numbers, "long rows");
    packed_done(&c);
}

static void test_nan(void **state)
{
    static uint8_t wrong[SCALE_COUNT];
    packed_case c;

    (void)state;
    memcpy(wrong, scales, sizeof wrong);
    wrong[7] = 255;
    packed_new(&c, &packed_mxfp4);
    packed_part(&c, CODES, "U8", 4, (uint64_t[]){EXPERTS, ROWS, GROUPS, 16}, codes);
    packed_part(&c, SCALES, "U8", 3, (uint64_t[]){EXPERTS, ROWS, GROUPS}, wrong);
    check_ok(packed_open(&c), &c.error, "opens");
    check_not_read(&c, SCALES, 7, "NaN");
    packed_done(&c);
}

static void test_shapes(void **state)
{
    static const struct {
        const char *codes_type, *scales_type;
        uint32_t codes_dims, scales_dims;
        uint64_t codes[4], scales[4];
        gufo_status code;
        const char *text;
    } rows[] = {
        {"U8", "U8", 3, 2, {2, 3, 15}, {2, 3}, GUFO_E_MALFORMED, "[2, 3, 15], but [2, 3, 16]"},
        {"U8", "U8", 3, 2, {2, 4, 16}, {2, 3}, GUFO_E_MALFORMED, "[2, 4, 16], but [2, 3, 16]"},
        {"U8", "U8", 2, 2, {2, 16}, {2, 3}, GUFO_E_MALFORMED, "[2, 16], but [2, 48]"},
        {"U8", "U8", 4, 2, {1, 2, 3, 16}, {2, 3}, GUFO_E_MALFORMED, "but [2, 3, 16]"},
        {"U8", "U8", 4, 4, {1, 2, 3, 16}, {1, 1, 2, 3}, GUFO_E_MALFORMED, "_scales"},
        {"U8", "U8", 1, 1, {16}, {1}, GUFO_E_MALFORMED, "_scales"},
        {"U8", "U8", 0, 0, {0}, {0}, GUFO_E_MALFORMED, "_scales"},
        {"U8", "U8", 3, 2, {0, 3, 16}, {0, 3}, GUFO_E_MALFORMED, "no numbers"},
        {"U8", "U8", 3, 2, {3, 0, 16}, {3, 0}, GUFO_E_MALFORMED, "no numbers"},
        {"F16", "U8", 3, 2, {2, 3, 16}, {2, 3}, GUFO_E_TYPE, "_blocks has type F16"},
        {"U8", "F32", 3, 2, {2, 3, 16}, {2, 3}, GUFO_E_TYPE, "_scales has type F32"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        packed_new(&c, &packed_mxfp4);
        packed_part(&c, CODES, rows[i].codes_type, rows[i].codes_dims, rows[i].codes, NULL);
        packed_part(&c, SCALES, rows[i].scales_type, rows[i].scales_dims, rows[i].scales, NULL);
        check_not_opened(&c, rows[i].code, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts), cmocka_unit_test(test_matrix), cmocka_unit_test(test_long),
        cmocka_unit_test(test_nan),     cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, make_numbers, NULL);
}
