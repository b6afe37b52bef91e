/* Numbers for people. */
#include "cli/core/values/human.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

human_text human_grouped(uint64_t value)
{
    human_text h;

    (void)str_group(h.text, value);
    return h;
}

/* Divides by `step` until the number is below it, and gives it the unit of that; the first unit is that
 * of 1.  `half` is half of the last digit that is shown: 999.6 K would round up to 1000 K, and is 1.00 M
 * instead. */
static human_text in_units(uint64_t value, double step, double half, const char *const *units)
{
    double scaled = (double)value;
    human_text h;
    size_t first = value != 1, unit = first;
    int decimals = 1;

    for (; scaled >= step - half && units[unit + 1] != NULL; unit++)
        scaled /= step;
    if (step == 1000) /* three digits that count */
        decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(h.text, sizeof h.text, "%.*f%s", unit == first ? 0 : decimals, scaled, units[unit]);
    return h;
}

human_text human_count(uint64_t value)
{
    static const char *const units[] = {"", "", " K", " M", " B", " T", " Q", NULL};

    return in_units(value, 1000, 0.5, units);
}

human_text human_memory(uint64_t value)
{
    static const char *const units[] = {" byte", " bytes", " KiB", " MiB", " GiB",
                                        " TiB",  " PiB",   " EiB", NULL};

    return in_units(value, 1024, 0.05, units);
}

human_text human_file_size(uint64_t value)
{
    static const char *const units[] = {" byte", " bytes", " KB", " MB", " GB",
                                        " TB",   " PB",    " EB", NULL};

    return in_units(value, 1000, 0.5, units);
}

human_text human_counted(uint64_t count, const char *one, const char *many)
{
    human_text h = human_grouped(count);
    size_t len = strlen(h.text);

    snprintf(h.text + len, sizeof h.text - len, " %s", count == 1 ? one : many);
    return h;
}
