/* The one place for arithmetic on numbers from files, and loads and stores of either byte order. */
#include "../support/check.h"

#include "base/bytes.h"
#include "base/checked.h"

static void test_sums_and_products(void **state)
{
    static const struct {
        uint64_t a, b;
        bool sum_fits, product_fits;
    } rows[] = {
        {0, 0, true, true},
        {UINT64_MAX, 0, true, true},
        {UINT64_MAX, 1, false, true},
        {UINT64_MAX - 1, 1, true, true},
        {UINT64_C(1) << 63, UINT64_C(1) << 63, false, false},
        {UINT64_C(1) << 32, UINT64_C(1) << 32, true, false},
        {UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, true, true},
        {UINT64_MAX, 2, false, false},
        {UINT64_MAX, UINT64_MAX, false, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t out = 0;

        check(checked_add(rows[i].a, rows[i].b, &out) == rows[i].sum_fits, "row %zu", i);
        if (rows[i].sum_fits)
            check_u64(out, rows[i].a + rows[i].b, "row %zu", i);
        check(checked_mul(rows[i].a, rows[i].b, &out) == rows[i].product_fits, "row %zu", i);
        if (rows[i].product_fits)
            check_u64(out, rows[i].a * rows[i].b, "row %zu", i);
    }
}

static void test_common_multiple(void **state)
{
    static const struct {
        uint64_t a, b;
        bool fits;
        uint64_t out;
    } rows[] = {
        {1, 1, true, 1},           {32, 4096, true, 4096},
        {24, 4096, true, 12288},   {4096, 24, true, 12288},
        {7, 5, true, 35},          {UINT64_MAX, UINT64_MAX, true, UINT64_MAX},
        {UINT64_MAX, 2, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t out = 0;

        check(checked_common_multiple(rows[i].a, rows[i].b, &out) == rows[i].fits, "row %zu", i);
        if (rows[i].fits)
            check_u64(out, rows[i].out, "row %zu", i);
    }
}

static void test_align(void **state)
{
    static const struct {
        uint64_t value, alignment;
        bool fits;
        uint64_t out;
    } rows[] = {
        {0, 32, true, 0},
        {1, 32, true, 32},
        {32, 32, true, 32},
        {33, 32, true, 64},
        {25, 24, true, 48},
        {7, 1, true, 7},
        {UINT64_MAX, 1, true, UINT64_MAX},
        {UINT64_MAX, 2, false, 0},
        {UINT64_MAX - 3, 32, false, 0}, /* the padding that wraps to 0 in the field */
        {UINT64_MAX - 31, 32, true, UINT64_MAX - 31},
        {UINT64_MAX - 30, 32, false, 0},
        {UINT64_MAX / 24 * 24 + 1, 24, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t out = 0;

        check(checked_align(rows[i].value, rows[i].alignment, &out) == rows[i].fits, "row %zu", i);
        if (rows[i].fits)
            check_u64(out, rows[i].out, "row %zu", i);
    }
}

static void test_range(void **state)
{
    static const struct {
        uint64_t offset, size, end;
        bool inside;
    } rows[] = {
        {0, 0, 0, true},
        {0, 1, 0, false},
        {1, 0, 0, false},
        {5, 5, 10, true},
        {5, 6, 10, false},
        {10, 0, 10, true},
        {11, 0, 10, false},
        {UINT64_MAX, 2, 10, false},
        {2, UINT64_MAX, 10, false},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, false},
        {0, UINT64_MAX, UINT64_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check(range_inside(rows[i].offset, rows[i].size, rows[i].end) == rows[i].inside, "row %zu",
              i);
}

/* Both orders, at an odd address, by their bytes and not by this machine's order. */
static void test_numbers(void **state)
{
    static const uint8_t bytes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t out[9] = {0};

    (void)state;
    check_u64(load_u16(bytes + 1, bytes_swapped(true)), 0x0102, "big-endian");
    check_u64(load_u16(bytes + 1, bytes_swapped(false)), 0x0201, "little-endian");
    check_u64(load_u32(bytes + 1, bytes_swapped(true)), 0x01020304, "big-endian");
    check_u64(load_u32(bytes + 1, bytes_swapped(false)), 0x04030201, "little-endian");
    check_u64(load_u64(bytes + 1, bytes_swapped(true)), UINT64_C(0x0102030405060708), "big-endian");
    check_u64(load_u64(bytes + 1, bytes_swapped(false)), UINT64_C(0x0807060504030201),
              "little-endian");
    store_u64(out + 1, UINT64_C(0x0102030405060708), bytes_swapped(true));
    assert_memory_equal(out, bytes, sizeof out);
    store_u32(out + 1, 0x04030201, bytes_swapped(false));
    assert_memory_equal(out, bytes, sizeof out);
    store_u16(out + 1, 0x0102, bytes_swapped(true));
    assert_memory_equal(out, bytes, sizeof out);
}

static void test_copies(void **state)
{
    static const uint8_t bytes[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

    (void)state;
    for (size_t width = 1; width <= 8; width *= 2) {
        uint8_t same[16], swapped[16];

        copy_numbers(same, bytes + 1, 16 / width, width, false);
        assert_memory_equal(same, bytes + 1, 16);
        copy_numbers(swapped, bytes + 1, 16 / width, width, true);
        for (size_t i = 0; i < 16; i++)
            check_u64(swapped[i], bytes[1 + i / width * width + width - 1 - i % width],
                      "width %zu, byte %zu", width, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_products),
        cmocka_unit_test(test_common_multiple),
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_copies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
