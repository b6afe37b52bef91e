/* The line of the progress bar: it fits any width, and what matters most stays longest. */
#include "support/check.h"

/* A program of its own: the command is not a library, and its files are taken in as they are. */
#include "cli/core/human.c"
#include "cli/core/number.c"
#include "cli/core/progress.c"

size_t terminal_columns(int fd)
{
    (void)fd;
    return 80;
}

bool signals_stopped(void)
{
    return false;
}

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

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
        {119, 3 * GIB, 7 * GIB, 310.0 * (double)MIB,
         " 42 % [############                  ]  3.0 GiB of 7.0 GiB  310.0 MiB/s  0:13 left"},
        {79, 3 * GIB, 7 * GIB, 310.0 * (double)MIB,
         " 42 % [###########                ]  3.0 GiB of 7.0 GiB  310.0 MiB/s  0:13 left"},
        {49, 3 * GIB, 7 * GIB, 310.0 * (double)MIB,
         " 42 % [####      ]  3.0 GiB of 7.0 GiB  0:13 left"},
        {40, 3 * GIB, 7 * GIB, 310.0 * (double)MIB, " 42 % [#########            ]  0:13 left"},
        {20, 3 * GIB, 7 * GIB, 310.0 * (double)MIB, " 42 %  0:13 left"},
        {10, 3 * GIB, 7 * GIB, 310.0 * (double)MIB, " 42 %"},
        {5, 3 * GIB, 7 * GIB, 310.0 * (double)MIB, " 42 %"},
        {4, 3 * GIB, 7 * GIB, 310.0 * (double)MIB, ""},
        {79, 0, 7 * GIB, 0, "  0 % [                              ]  0 bytes of 7.0 GiB"},
        {79, 0, 0, 0, "100 % [##############################]  0 bytes of 0 bytes"},
        {79, GIB, GIB, 1,
         "100 % [#############################]  1.0 GiB of 1.0 GiB  1 bytes/s  0:00 left"},
        {79, 1, 7300 * GIB, 1e6 * (double)MIB,
         "  0 % [                           ]  1 bytes of 7.1 TiB  976.6 GiB/s  0:07 left"},
        {99, 1, GIB, 20000,
         "  0 % [                              ]  1 bytes of 1.0 GiB  19.5 KiB/s  14:54:47 left"},
        {79, 1, GIB, 0.001, "  0 % [                              ]  1 bytes of 1.0 GiB"},
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
    static const uint64_t totals[] = {1, 1023, 1023 * MIB, 1023 * GIB, UINT64_MAX};
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
