/* The table of values that the specification lists. */
#include "schema/registry/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *value, *status;
} rows[] = {
#define ROW(key, value, status) {key, value, status},
#include "registry/values.inc"
#undef ROW
};

value_status values_find(const char *key, gufo_str value)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0 && gufo_str_equal(value, gufo_str_of(rows[i].value)))
            return strcmp(rows[i].status, "standard") == 0 ? VALUE_STANDARD : VALUE_IN_USE;
    return VALUE_UNKNOWN;
}

value_status values_find_number(const char *key, uint64_t value)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, value);

    return values_find(key, (gufo_str){text, (size_t)len});
}
