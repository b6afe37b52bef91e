/* Growing lists of records; records.h has the idea. */
#include "format/file/records.h"

#include <string.h>

void *records_add(records *list, const gufo_allocator *allocator)
{
    uint64_t place = list->count + RECORDS_FIRST;
    unsigned chunk = 63 - (unsigned)__builtin_clzll(place) - RECORDS_FIRST_BITS;
    void *record;

    if (list->chunks[chunk] == NULL) {
        list->chunks[chunk] = mem_alloc(allocator, ((size_t)RECORDS_FIRST << chunk) * list->size);
        if (list->chunks[chunk] == NULL)
            return NULL;
    }
    record = records_at(list, list->count++);
    memset(record, 0, list->size);
    return record;
}

void records_free(records *list, const gufo_allocator *allocator)
{
    for (size_t i = 0; i < RECORDS_CHUNKS; i++)
        mem_free(allocator, list->chunks[i]);
    *list = (records){.size = list->size};
}
