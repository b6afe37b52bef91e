/* Sizes as people write them. */
#include "support/check.h"

/* A program of its own: the command is not a library, and its file is taken in as it is. */
#include "cli/core/values/number.c"

static void check_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t size;
    } cases[] = {{"0", 0},
                 {"12", 12},
                 {"12B", 12},
                 {"2K", 2000},
                 {"2KB", 2000},
                 {"2kb", 2000},
                 {"2Ki", 2048},
                 {"2KiB", 2048},
                 {"512K", 512000},
                 {"500M", 500000000},
                 {"2G", 2000000000},
                 {"2GB", 2000000000},
                 {"1.5GiB", 1610612736},
                 {"0.000001T", 1000000},
                 {"1.0009K", 1000},
                 {"16777215Ti", 16777215ull << 40},
                 {"18446744073709551615", UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t size = 7;

        assert_true(size_read(cases[i].text, &size));
        assert_true(size == cases[i].size);
    }
}

static void check_memory(void **state)
{
    uint64_t size;

    (void)state;
    assert_true(size_read_memory("24G", &size) && size == UINT64_C(24) << 30);
    assert_true(size_read_memory("1.5gb", &size) && size == UINT64_C(3) << 29);
    assert_true(size_read_memory("2Ki", &size) && size == 2048);
    assert_true(size_read_memory("8", &size) && size == 8);
    assert_false(size_read_memory("8X", &size));
    assert_string_equal(size_likely_unit("8"), "G");
    assert_string_equal(size_likely_unit("24576"), "M");
    assert_null(size_likely_unit("0"));
    assert_null(size_likely_unit("8G"));
    assert_null(size_likely_unit("1048576"));
}

static void check_refused(void **state)
{
    static const char *const texts[] = {"",          "K",   "G2",         "2X",
                                        "2KK",       "2iB", "2Kib ",      " 2",
                                        "-1",        "+1",  "1.5",        "1.",
                                        "1.K",       ".5K", "1,5K",       "1.5B",
                                        "1e3K",      "2 G", "16777216Ti", "18446744073709551616",
                                        "1.0000001K"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t size;

        assert_false(size_read(texts[i], &size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_read), cmocka_unit_test(check_memory),
                                       cmocka_unit_test(check_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
