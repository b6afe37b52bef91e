/* Lists that grow while a command line or a model is read. */
#ifndef CLI_CORE_VALUES_ARRAY_H
#define CLI_CORE_VALUES_ARRAY_H

#include <stddef.h>

/* Adds an element of `size` zeros to a list of `*count` elements; `list` is the address of the
 * pointer to the first one.  The caller frees the list with free.  Returns the new element; NULL
 * after a report. */
void *array_add(void *list, size_t *count, size_t size);

#endif
