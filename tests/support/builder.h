/* Makes the bytes of a GGUF file, good or broken, without the library: the independent side of
 * every comparison.  What a call appends depends on the version (1: counts, lengths and dims of 32
 * bits) and on the byte order; no call looks at the byte order of this machine.
 *
 *     builder b = builder_new((encoding){3, false});
 *     builder_header(&b, 1, 1);
 *     builder_kv_u32(&b, "general.alignment", 64);
 *     builder_tensor(&b, "a", GUFO_TYPE_F32, 1, (uint64_t[]){4}, 0);
 *     builder_pad(&b, 64);
 *     builder_zeros(&b, 16);
 *     ... b.data, b.len ...
 *     builder_free(&b);
 */
#ifndef TEST_SUPPORT_BUILDER_H
#define TEST_SUPPORT_BUILDER_H

#include "check.h"

/* One way to encode a file. */
typedef struct encoding {
    int version;
    bool big;
} encoding;

/* v1, v2 and v3, little-endian and big-endian. */
#define ENCODING_COUNT 6
extern const encoding all_encodings[ENCODING_COUNT];
/* "v2 big-endian"; static. */
const char *encoding_name(encoding e);

typedef struct builder {
    uint8_t *data;
    size_t len;
    size_t capacity;
    encoding encoding;
    size_t mark; /* where the fault of a broken file lies: set with builder_mark */
} builder;

builder builder_new(encoding e);
void builder_free(builder *b);
/* Remembers the present end as the place of the fault. */
void builder_mark(builder *b);

/* ---- bytes and numbers ---- */
void builder_raw(builder *b, const void *data, size_t len);
void builder_fill(builder *b, uint8_t byte, size_t count);
void builder_zeros(builder *b, size_t count);
/* Zeros up to the next multiple of `alignment`. */
void builder_pad(builder *b, size_t alignment);
void builder_u8(builder *b, uint8_t v);
void builder_u16(builder *b, uint16_t v);
void builder_u32(builder *b, uint32_t v);
void builder_u64(builder *b, uint64_t v);
void builder_f32(builder *b, float v);
void builder_f64(builder *b, double v);
/* A count, a length or a dimension: 32 bits in version 1, else 64. */
void builder_length(builder *b, uint64_t v);
/* The low `width` bytes of `v`, for numbers of any value type. */
void builder_number(builder *b, uint64_t v, size_t width);

/* ---- parts of a file ---- */
void builder_header(builder *b, uint64_t tensors, uint64_t entries);
void builder_str(builder *b, const char *text);
void builder_strn(builder *b, const void *text, size_t len);
/* The key and the type of its value; the value comes next. */
void builder_key(builder *b, const char *key, uint32_t type);
void builder_kv_u8(builder *b, const char *key, uint8_t v);
void builder_kv_u16(builder *b, const char *key, uint16_t v);
void builder_kv_u32(builder *b, const char *key, uint32_t v);
void builder_kv_i32(builder *b, const char *key, int32_t v);
void builder_kv_u64(builder *b, const char *key, uint64_t v);
void builder_kv_bool(builder *b, const char *key, bool v);
void builder_kv_str(builder *b, const char *key, const char *text);
void builder_kv_strn(builder *b, const char *key, const void *text, size_t len);
/* Key, array type, element type and count; the elements come next. */
void builder_kv_array(builder *b, const char *key, uint32_t element_type, uint64_t count);
/* Element type and count of an array inside an array. */
void builder_array(builder *b, uint32_t element_type, uint64_t count);
/* A tensor info. `offset` counts from the data offset. */
void builder_tensor(builder *b, const char *name, uint32_t type, uint32_t n_dims,
                    const uint64_t *dims, uint64_t offset);
void builder_tensorn(builder *b, const void *name, size_t len, uint32_t type, uint32_t n_dims,
                     const uint64_t *dims, uint64_t offset);

/* `len` bytes of tensor data, a function of `seed` and place: never zero, different per tensor. */
void builder_pattern(builder *b, unsigned seed, size_t len);
uint8_t pattern_byte(unsigned seed, size_t place);

/* A copy in a block of exactly its size, so that a sanitizer sees the first byte read past it. */
uint8_t *builder_exact_copy(const builder *b, size_t len);

/* Small deterministic random numbers (xorshift). */
uint64_t random_next(uint64_t *state);

#endif
