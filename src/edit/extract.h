/* Formats that a tensor can be taken out into. */
#ifndef GUFO_EDIT_EXTRACT_H
#define GUFO_EDIT_EXTRACT_H

#include <inttypes.h>

#include "base/buffer.h"
#include "edit/copy.h"

/* A type of numbers as other formats call it; NULL where they do not have it. */
typedef struct number_type {
    uint32_t id;
    const char *numpy, *safetensors;
} number_type;

/* NULL for types that are no plain numbers. */
const number_type *extract_number_type(uint32_t id);

/* Appends text; false without memory. */
__attribute__((format(printf, 2, 3))) bool buffer_print(buffer *out, const char *format, ...);

/* Append what stands before the data.  The second one puts the pieces into their order first. */
gufo_status extract_numpy_header(gufo_copy *c, buffer *out, gufo_error *error);
gufo_status extract_safetensors_header(gufo_copy *c, buffer *out, gufo_error *error);

#endif
