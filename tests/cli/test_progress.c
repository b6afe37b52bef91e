/* The line of the progress bar: it fits any width, and what matters most stays longest. */
#include "support/check.h"

/* A program of its own: the command is not a library, and its files are taken in as they are. */
#include "cli/core/values/number.c"
#include "cli/core/files/progress.c"

size_t terminal_columns(int fd)
{
    (void)fd;
    return 80;
}

bool terminal_is_dumb(void)
{
    return false;
}

bool signals_stopped(void)
{
    return false;
}

#define MB UINT64_C(1000000)
#define GB UINT64_C(1000000000)

static const char *line_of(size_t columns, uint64_t done, uint64_t total, double rate)
{
    static char line[PROGRESS_LINE];
    size_t len = progress_line(line, sizeof line, columns, done, total, rate);

    check_u64(len, strlen(line), "%zu columns", columns);
    check(len <= columns, "%zu columns: %s", columns, line);
    return line;
}

static void test_known_lines(void **state)
{
    static const struct {
        size_t columns;
        uint64_t done, total;
        double rate;
        const char *line;
    } rows[] = {
        {119, 3 * GB, 7 * GB, 310.0 * (double)MB,
         " 42 % [############                  ]  3.00 GB of 7.00 GB  310 MB/s  0:12 left"},
        {79, 3 * GB, 7 * GB, 310.0 * (double)MB,
         " 42 % [############                  ]  3.00 GB of 7.00 GB  310 MB/s  0:12 left"},
        {49, 3 * GB, 7 * GB, 310.0 * (double)MB,
         " 42 % [####      ]  3.00 GB of 7.00 GB  0:12 left"},
        {40, 3 * GB, 7 * GB, 310.0 * (double)MB, " 42 % [####       ]  310 MB/s  0:12 left"},
        {38, 3 * GB, 7 * GB, 310.0 * (double)MB, " 42 % [########           ]  0:12 left"},
        {20, 3 * GB, 7 * GB, 310.0 * (double)MB, " 42 %  0:12 left"},
        {10, 3 * GB, 7 * GB, 310.0 * (double)MB, " 42 %"},
        {5, 3 * GB, 7 * GB, 310.0 * (double)MB, " 42 %"},
        {4, 3 * GB, 7 * GB, 310.0 * (double)MB, ""},
        {79, 0, 7 * GB, 0, "  0 % [                              ]  0 bytes of 7.00 GB"},
        {79, 0, 0, 0, "100 % [##############################]  0 bytes of 0 bytes"},
        {79, GB, GB, 1,
         "100 % [##############################]  1.00 GB of 1.00 GB  1 byte/s  0:00 left"},
        {79, 1, 7300 * GB, 1e6 * (double)MB,
         "  0 % [                              ]  1 byte of 7.30 TB  1.00 TB/s  0:07 left"},
        {99, 1, GB, 20000,
         "  0 % [                              ]  1 byte of 1.00 GB  20.0 KB/s  13:53:19 left"},
        {79, 1, GB, 0.001, "  0 % [                              ]  1 byte of 1.00 GB"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *line = line_of(rows[i].columns, rows[i].done, rows[i].total, rows[i].rate);

        check(strcmp(line, rows[i].line) == 0, "row %zu:\n%s\n%s", i, line, rows[i].line);
    }
}

/* Wider terminals show no less. */
static void test_every_width(void **state)
{
    static const uint64_t totals[] = {1, 1023, 1023 * MB, 1023 * GB, UINT64_MAX};
    static const double rates[] = {0, 1e-9, 1, 1023, 1.07e9, 1e18};

    (void)state;
    for (size_t t = 0; t < COUNT_OF(totals); t++)
        for (size_t r = 0; r < COUNT_OF(rates); r++)
            for (uint64_t third = 0; third < 4; third++) {
                size_t before = 0;

                for (size_t columns = 0; columns < 250; columns++) {
                    size_t len =
                        strlen(line_of(columns, totals[t] / 3 * third, totals[t], rates[r]));

                    check(len + 12 >= before && (columns < 5 || len >= 5), "%zu columns", columns);
                    before = len;
                }
                check(before > 40, "the whole line");
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_lines),
        cmocka_unit_test(test_every_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
