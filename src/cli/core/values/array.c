/* Growing lists. */
#include "cli/core/values/array.h"

#include "cli/core/terminal/report.h"

#include <stdlib.h>
#include <string.h>

void *array_add(void *list, size_t *count, size_t size)
{
    char *items, *larger;

    memcpy(&items, list, sizeof items); /* pointers to objects look alike (POSIX) */
    larger = realloc(items, (*count + 1) * size);
    if (larger == NULL) {
        report_memory(NULL);
        return NULL;
    }
    memcpy(list, &larger, sizeof larger);
    return memset(larger + (*count)++ * size, 0, size);
}
