/* Values as a file stores them: their types, and decoding them. */
#ifndef GUFO_FORMAT_VALUE_H
#define GUFO_FORMAT_VALUE_H

#include "gufo/format.h"

typedef enum value_kind {
    KIND_UNSIGNED,
    KIND_SIGNED,
    KIND_FLOAT,
    KIND_BOOL,
    KIND_STRING,
    KIND_ARRAY,
} value_kind;

typedef struct value_type_info {
    const char *name;
    value_kind kind;
    uint8_t size; /* bytes of a value; 0: not fixed */
} value_type_info;

/* The row for a value type as stored in a file; NULL if there is no such type. */
const value_type_info *value_type_row(uint32_t type);

/* Whether numbers in this encoding have to be swapped on this machine. */
bool encoding_swapped(gufo_encoding encoding);

/* Bytes of a count or length in this encoding: 4 in version 1, else 8. */
static inline size_t encoding_length_size(gufo_encoding encoding)
{
    return encoding.version == 1 ? 4 : 8;
}

/* Whether an integer, which has 64 bits in memory, fits into the bytes of its type. */
bool value_fits(const gufo_value *value);

/* The number in another type: a float as another float is rounded to nearest; all others must be
 * the same number there, also a float without a fraction as an integer, and 0 and 1 as a bool.  `out` may be
 * `from`, and is left alone by failures. */
gufo_status value_convert(const gufo_value *from, gufo_value_type type, gufo_value *out,
                          gufo_error *error);

uint64_t load_length(const uint8_t *at, gufo_encoding encoding);

/* The number or bool of type `type` at `at`. */
gufo_value load_number(const uint8_t *at, gufo_value_type type, gufo_encoding encoding);

/* The text of a string.  Writers of version 1 counted the terminating NUL until August 2023; one is
 * taken off there. */
gufo_str string_text(const uint8_t *at, uint64_t len, gufo_encoding encoding);

#endif
