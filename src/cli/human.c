/* Numbers for people. */
#include "cli/human.h"

#include "cli/number.h"

#include <stdio.h>

human_text human_grouped(uint64_t value)
{
    char digits[NUMBER_SIZE];
    size_t len = number_u64(digits, value);
    human_text h;
    char *to = h.text;

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return h;
}

/* Divides by `step` until the number is below it, and counts how often.  `half` is half of the last
 * digit that is shown: 999.6 K would round up to 1000 K, and is 1.00 M instead. */
static double scale(uint64_t value, double step, double half, size_t last, size_t *unit)
{
    double scaled = (double)value;

    for (*unit = 0; scaled >= step - half && *unit < last; (*unit)++)
        scaled /= step;
    return scaled;
}

/* Three digits that count. */
human_text human_count(uint64_t value)
{
    static const char *const units[] = {"", " K", " M", " B", " T", " Q"};
    human_text h;
    size_t unit;
    double scaled = scale(value, 1000, 0.5, sizeof units / sizeof *units - 1, &unit);
    int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;

    snprintf(h.text, sizeof h.text, "%.*f%s", unit == 0 ? 0 : decimals, scaled, units[unit]);
    return h;
}

human_text human_bytes(uint64_t value)
{
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    human_text h;
    size_t unit;
    double scaled = scale(value, 1024, 0.05, sizeof units / sizeof *units - 1, &unit);

    snprintf(h.text, sizeof h.text, "%.*f%s", unit == 0 ? 0 : 1, scaled, units[unit]);
    return h;
}
