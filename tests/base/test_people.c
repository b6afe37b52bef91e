/* Numbers with units, and characters as people are shown them. */
#include "../support/check.h"

#include "gufo/print.h"

#include <locale.h>
#include <math.h>

static void test_fixed(void **state)
{
    static const struct {
        double value;
        unsigned decimals;
        const char *text;
    } rows[] = {
        {4.6849, 2, "4.68"},    {0.5, 0, "0"},
        {1.5, 0, "2"},          {-0.25, 2, "-0.25"},
        {0, 3, "0.000"},        {1e20, 2, "1e20"},
        {NAN, 2, "nan"},        {-INFINITY, 2, "-inf"},
        {1, 99, "1.000000000"}, {999999999999999, 1, "999999999999999.0"},
    };
    char text[GUFO_NUMBER_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_u64(gufo_number_fixed(text, rows[i].value, rows[i].decimals), strlen(rows[i].text),
                  "%s", rows[i].text);
        assert_string_equal(text, rows[i].text);
    }
}

/* A locale with another decimal point changes nothing. */
static void test_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    char text[GUFO_NUMBER_SIZE];
    bool found = false;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names) && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    (void)gufo_number_fixed(text, 4.5, 2);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "4.50");
}

static void test_units(void **state)
{
    static const struct {
        uint64_t value;
        const char *count, *size, *memory;
    } rows[] = {
        {0, "0", "0 bytes", "0 bytes"},
        {1, "1", "1 byte", "1 byte"},
        {999, "999", "999 bytes", "999 bytes"},
        {1000, "1.00 K", "1.00 KB", "1000 bytes"},
        {1024, "1.02 K", "1.02 KB", "1.0 KiB"},
        {999600, "1.00 M", "1.00 MB", "976.2 KiB"},
        {8030261312, "8.03 B", "8.03 GB", "7.5 GiB"},
        {UINT64_MAX, "18447 Q", "18.4 EB", "16.0 EiB"},
    };
    char text[GUFO_NUMBER_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(gufo_number_count(text, rows[i].value), rows[i].count);
        assert_string_equal(gufo_number_size(text, rows[i].value), rows[i].size);
        assert_string_equal(gufo_number_memory(text, rows[i].value), rows[i].memory);
    }
}

static void test_show(void **state)
{
    static const struct {
        gufo_str text;
        const char *shown;
        size_t taken;
    } rows[] = {
        {{"ab", 2}, "a", 1},
        {{"\n", 1}, "\\n", 1},
        {{"\0", 1}, "\\u{0}", 1},
        {{"\x1b", 1}, "\\u{1b}", 1},
        {{"\xff", 1}, "\\xff", 1},
        {{"\xe2\x80\xae", 3}, "\\u{202e}", 3},
        {{"\xc3\xa4", 2}, "\xc3\xa4", 2},
        {{"\xe2\x80", 2}, "\\xe2", 1},
        {{"\xf0\x9f\x99\x82", 4}, "\xf0\x9f\x99\x82", 4},
        {{"\xef\xbb\xbf", 3}, "\\u{feff}", 3},
        {{"\xe2\x80\x8b", 3}, "\\u{200b}", 3},
        {{"\xc2\xad", 2}, "\\u{ad}", 2},
        {{"\xf3\xa0\x81\xa1", 4}, "\\u{e0061}", 4}, /* a tag */
        /* Joiners: in Persian, in an emoji, in an English name, at the end. */
        {{"\xe2\x80\x8c\xd9\x85", 5}, "\xe2\x80\x8c", 3},
        {{"\xe2\x80\x8d\xf0\x9f\x91\xa9", 7}, "\xe2\x80\x8d", 3},
        {{"\xe2\x80\x8cq", 4}, "\\u{200c}", 3},
        {{"\xe2\x80\x8d", 3}, "\\u{200d}", 3},
        {{"\xe2\x80\x8d\xff", 4}, "\\u{200d}", 3},
        /* One variation selector, and two. */
        {{"\xef\xb8\x8f", 3}, "\xef\xb8\x8f", 3},
        {{"\xef\xb8\x8f\xef\xb8\x8e", 6}, "\\u{fe0f}", 3},
    };
    char out[GUFO_SHOWN_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t taken = 0, len = gufo_utf8_show(rows[i].text, out, &taken);

        check_str(((gufo_str){out, len}), rows[i].shown, "row %zu", i);
        check_u64(taken, rows[i].taken, "row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed), cmocka_unit_test(test_locale),
                                       cmocka_unit_test(test_units), cmocka_unit_test(test_show)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
