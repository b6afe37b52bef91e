/* Memory of one rendering, or of one parsed template: taken piece by piece, given back at once. */
#ifndef TEMPLATE_HEAP_H
#define TEMPLATE_HEAP_H

#include "gufo/base.h"

typedef struct heap {
    gufo_allocator allocator;
    struct heap_chunk *chunks;
    char *free;
    size_t left;         /* bytes from `free` on */
    uint64_t used;       /* bytes taken from the allocator */
    uint64_t limit;      /* `used` at most */
    uint64_t text_limit; /* bytes of one text at most */
    gufo_error *error;   /* where failures go; may be NULL */
    gufo_status status;  /* of the first failure */
} heap;

void heap_init(heap *memory, const gufo_allocator *allocator, uint64_t limit, gufo_error *error);
void heap_free(heap *memory);

/* Gives back what was taken since `mark`, a copy of *memory of that moment. */
void heap_return(heap *memory, const heap *mark);

/* Bytes that are not cleared; NULL on failure, which *error and `status` have. */
void *heap_take(heap *memory, uint64_t size);
/* The same for `count` elements of `size` bytes. */
void *heap_array(heap *memory, uint64_t count, size_t size);

#define HEAP_NEW(memory, type) ((type *)heap_take((memory), sizeof(type)))

#endif
