/* Looks at everything an open file shows. */
#ifndef TEST_SUPPORT_WALK_H
#define TEST_SUPPORT_WALK_H

#include "builder.h"

/* Touches every byte of every view, walks every array, looks up every name, and checks what must
 * hold for any open file, good or damaged: counts, order of offsets, views inside the file, array
 * functions that agree with each other.  `start` is where the `size` bytes of the file are in
 * memory, or NULL if views may be elsewhere. */
void walk_file(const gufo_model *file, const void *start, size_t size, const char *label);

/* The same for arrays whose bytes may change at any moment: stays in bounds, and ends. */
void walk_unsteady(const gufo_model *file);

typedef enum dump_parts {
    DUMP_LAYOUT = 1,       /* version, byte order, alignment, every offset */
    DUMP_DATA = 2,         /* a digest of each tensor's data, by gufo_tensor_read_raw */
    DUMP_UNKNOWN_SIZE = 4, /* sizes of tensors whose type's layout is unknown */
} dump_parts;

/* Everything as text; two files with the same dump are the same.  To be freed. */
char *dump_file(const gufo_model *file, unsigned parts);

/* Fails with the first differing line unless the dumps are equal. */
void check_same_dump(const char *got, const char *expected, const char *label);

#endif
