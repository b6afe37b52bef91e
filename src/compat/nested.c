/* Arrays inside arrays: the values of an entry whose elements are arrays, in one block of memory.
 *
 *     head | array array array ... | numbers, texts, ...
 *            '- the entry's own -'
 *
 * The arrays inside one array follow each other, so that a program sees them as a plain array; all
 * of them come first, so that a copy of the block is corrected from front to back. */
#include "compat/context.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/value/value.h"
#include "gufo-compat/gufo_gguf.h"

typedef struct gufo_gguf_array inner_array;

typedef struct head {
    size_t size;  /* of the block */
    size_t count; /* of all arrays */
} head;

enum { LEAF_ALIGNMENT = 8 }; /* of the largest number */

static inner_array *arrays_of(head *block)
{
    return (inner_array *)(void *)(block + 1);
}

/* Where the elements of arrays of numbers and strings begin. */
static bool start_of_leaves(uint64_t arrays, uint64_t *start)
{
    return checked_mul(arrays, sizeof(inner_array), start) &&
           checked_add(*start, sizeof(head), start) && checked_align(*start, LEAF_ALIGNMENT, start);
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Bytes of the elements of an array of numbers or strings. */
static uint64_t leaf_size(const gufo_array *leaf)
{
    gufo_array_iter iter = gufo_array_start(leaf);
    uint64_t size = leaf->size;
    gufo_value element;

    if (leaf->type == GUFO_VALUE_STRING) {
        size = leaf->count * sizeof(const char *);
        while (gufo_array_next(&iter, &element))
            size += (uint64_t)element.as.str.len + 1;
    }
    return (size + LEAF_ALIGNMENT - 1) / LEAF_ALIGNMENT * LEAF_ALIGNMENT;
}

static bool goes_on(array_event event)
{
    return event == ARRAY_BEGIN || event == ARRAY_LEAF || event == ARRAY_END;
}

gufo_status compat_nested_measure(const gufo_array *from, compat_extent *out, gufo_error *error)
{
    uint64_t leaves = 0;
    array_event event;
    gufo_array inner;
    array_skip walk;
    bool fits = true;

    *out = (compat_extent){.arrays = from->count};
    array_walk_start(&walk, from);
    do {
        event = array_walk_next(&walk, &inner);
        if (event == ARRAY_BEGIN)
            fits = checked_add(out->arrays, inner.count, &out->arrays);
        else if (event == ARRAY_LEAF)
            fits = checked_add(leaves, leaf_size(&inner), &leaves);
    } while (fits && goes_on(event));
    if (fits && event != ARRAY_DONE)
        return array_fail_changed(error);
    return fits && start_of_leaves(out->arrays, &out->bytes) &&
                   checked_add(out->bytes, leaves, &out->bytes) && out->bytes < SIZE_MAX
               ? GUFO_OK
               : fail_memory(error);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A block that is being filled.  The bytes it is filled from may have changed since they were
 * measured, so every place is compared with the end of the block. */
typedef struct filling {
    head *block;
    uint64_t limit;                  /* arrays that the block has room for */
    uint64_t used;                   /* bytes */
    size_t next[GUFO_LARGEST_DEPTH]; /* in every open array: the array that is filled next */
    unsigned depth;
} filling;

/* Room for `size` bytes; NULL if there is none. */
static void *take(filling *f, uint64_t size)
{
    char *at = (char *)f->block + f->used;

    if (size > f->block->size - f->used)
        return NULL;
    f->used += size;
    return at;
}

static bool fill_strings(const gufo_array *leaf, char *to, uint64_t size)
{
    const char **strings = (const char **)(void *)to;
    uint64_t at = leaf->count * sizeof *strings, index = 0;
    gufo_array_iter iter = gufo_array_start(leaf);
    gufo_value element;

    for (; gufo_array_next(&iter, &element); index++) {
        gufo_str text = element.as.str;

        if (at >= size || text.len >= size - at)
            return false;
        if (text.len > 0)
            memcpy(to + at, text.data, text.len);
        to[at + text.len] = '\0';
        strings[index] = to + at;
        at += (uint64_t)text.len + 1;
    }
    return index == leaf->count;
}

static bool fill_leaf(filling *f, const gufo_array *leaf, inner_array *to)
{
    uint64_t size = leaf_size(leaf);
    char *at = take(f, size);

    *to = (inner_array){(enum gguf_type)leaf->type, (size_t)leaf->count, at};
    if (at == NULL)
        return false;
    if (leaf->type == GUFO_VALUE_STRING)
        return fill_strings(leaf, at, size);
    if (gufo_array_read(leaf, 0, leaf->count, at, NULL) != GUFO_OK)
        return false;
    if (leaf->type == GUFO_VALUE_BOOL)
        compat_make_bools(at, to->n);
    return true;
}

/* Opens an array of arrays, which get the next places. */
static bool fill_arrays(filling *f, uint64_t count, inner_array *to)
{
    if (count > f->limit - f->block->count)
        return false;
    *to = (inner_array){GGUF_TYPE_ARRAY, (size_t)count, arrays_of(f->block) + f->block->count};
    f->next[f->depth++] = f->block->count;
    f->block->count += (size_t)count;
    return true;
}

static bool fill(filling *f, array_event event, const gufo_array *inner)
{
    if (event == ARRAY_BEGIN)
        return fill_arrays(f, inner->count, arrays_of(f->block) + f->next[f->depth - 1]++);
    if (event == ARRAY_LEAF)
        return fill_leaf(f, inner, arrays_of(f->block) + f->next[f->depth - 1]++);
    f->depth--;
    return true;
}

gufo_status compat_nested_read(const gufo_array *from, compat_extent extent, void *values,
                               gufo_error *error)
{
    filling f = {.block = values, .limit = extent.arrays, .depth = 1};
    array_event event;
    gufo_array inner;
    array_skip walk;

    *f.block = (head){(size_t)extent.bytes, (size_t)from->count};
    (void)start_of_leaves(extent.arrays, &f.used); /* is inside the block */
    array_walk_start(&walk, from);
    do
        event = array_walk_next(&walk, &inner);
    while (goes_on(event) && fill(&f, event, &inner));
    return event == ARRAY_DONE ? GUFO_OK : array_fail_changed(error);
}

/* ---- copying -------------------------------------------------------------------------------- */

size_t compat_nested_size(const void *values)
{
    return ((const head *)values)->size;
}

/* The place in the copy that corresponds to one in the original. */
static void *moved(head *copy, const head *from, const void *at)
{
    return (char *)copy + ((const char *)at - (const char *)from);
}

void compat_nested_copy(void *to, const void *values)
{
    const head *from = values;
    head *copy = to;

    memcpy(copy, from, from->size);
    for (size_t i = 0; i < copy->count; i++) {
        inner_array *array = &arrays_of(copy)[i];
        const char **strings = moved(copy, from, array->data);

        array->data = strings;
        for (size_t j = 0; array->type == GGUF_TYPE_STRING && j < array->n; j++)
            strings[j] = moved(copy, from, strings[j]);
    }
}

const struct gufo_gguf_array *compat_nested_arrays(const void *values)
{
    return (const inner_array *)(const void *)((const head *)values + 1);
}
