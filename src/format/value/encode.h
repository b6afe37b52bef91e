/* Encoding of header, metadata and tensor infos: the inverse of walk.c. */
#ifndef GUFO_FORMAT_ENCODE_H
#define GUFO_FORMAT_ENCODE_H

#include "base/buffer.h"
#include "gufo/format.h"

/* Each appends to `out`, GGUF version 2 or 3 in byte order `big`; false without memory. */
typedef struct encoder {
    buffer out;
    bool big;
    unsigned max_depth; /* of arrays that are copied; 0: GUFO_MAX_DEPTH */
} encoder;

bool encode_bytes(encoder *e, const void *data, uint64_t size);
bool encode_u32(encoder *e, uint32_t v);
bool encode_u64(encoder *e, uint64_t v);
bool encode_string(encoder *e, gufo_str text);
bool encode_strings(encoder *e, const gufo_str *texts, uint64_t count);
/* What a file begins with, and a tensor info; `offset` is from the start of the data. */
bool encode_header(encoder *e, uint32_t version, uint64_t tensors, uint64_t entries);
bool encode_info(encoder *e, gufo_str name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                 uint64_t offset);
/* The bytes of a number or bool in the order of this machine, as many as its type has. */
void number_bytes(const gufo_value *value, uint8_t out[8]);
/* `count` numbers of `width` bytes, which are in the other order if `swapped`. */
bool encode_numbers(encoder *e, const void *data, uint64_t count, size_t width, bool swapped);
/* An array as a file or as memory stores it, with its type and count.  `depth` of items is 1 for
 * the outermost: they are never deeper than GUFO_MAX_DEPTH.  These can also fail because the file
 * was changed, because a bool is neither 0 nor 1, or because arrays are nested too deep. */
gufo_status encode_array(encoder *e, const gufo_array *array, gufo_error *error);
gufo_status encode_items(encoder *e, const gufo_items *items, unsigned depth, gufo_error *error);

#endif
