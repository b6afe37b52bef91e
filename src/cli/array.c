/* Growing lists. */
#include "cli/array.h"

#include "cli/report.h"

#include <stdlib.h>
#include <string.h>

void *array_add(void *list, size_t *count, size_t size)
{
    char *items;

    memcpy(&items, list, sizeof items); /* pointers to objects look alike (POSIX) */
    items = realloc(items, (*count + 1) * size);
    if (items == NULL) {
        report_memory(NULL);
        return NULL;
    }
    memcpy(list, &items, sizeof items);
    return memset(items + (*count)++ * size, 0, size);
}
