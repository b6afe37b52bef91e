/* Small good files of every kind, by name, for the tests of opening, of prefixes and of the
 * writer. */
#ifndef TEST_SUPPORT_GOOD_H
#define TEST_SUPPORT_GOOD_H

#include "builder.h"

typedef enum good_flags {
    GOOD_V1 = 1,    /* exists in version 1 */
    GOOD_V2_V3 = 2, /* exists in versions 2 and 3 */
    GOOD_CANONICAL =
        4, /* data in order, no gaps, zero padding everywhere: a writer gives it back */
} good_flags;

#define GOOD_ALL (GOOD_V1 | GOOD_V2_V3)

typedef struct good_file {
    const char *name;
    void (*build)(builder *b, uint32_t number);
    uint32_t number; /* handed to `build`, e.g. an alignment */
    unsigned flags;
} good_file;

extern const good_file good_files[];
extern const size_t good_file_count;

/* Whether the file exists in this encoding. */
bool good_exists(const good_file *file, encoding e);
/* The file's bytes; to be freed with builder_free. */
builder good_build(const good_file *file, encoding e);
builder good_build_named(const char *name, encoding e);

/* Calls `visit` for every good file in every encoding it exists in, with a label for messages. */
void good_for_each(void (*visit)(const good_file *file, const builder *bytes, const char *label,
                                 void *context),
                   void *context);

/* Facts of the files that tests look for. */
#define GOOD_MANY 200 /* keys, and tensors, of "many" */
/* The 64-byte name of "names". */
#define GOOD_LONG_NAME "blk.0.this_name_has_exactly_sixty_four_bytes_and_not_one_byte__x"
/* The bits of "scalars": the value of each number type, in the order of gufo_value_type. */
extern const uint64_t good_scalar_bits[GUFO_VALUE_TYPE_COUNT];

#endif
