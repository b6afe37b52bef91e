/* Looking up a row by its name. */
#include <string.h>

#include "text/template/library/tables.h"

uint32_t table_find(const table *rows, gufo_str name)
{
    uint32_t low = 0, high = rows->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = rows->rows[middle].name;
        size_t len = strlen(other);
        int order = memcmp(name.data, other, name.len < len ? name.len : len);

        if (order == 0 && name.len == len)
            return middle + 1;
        if (order < 0 || (order == 0 && name.len < len))
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
