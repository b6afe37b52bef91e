/* The bytes of a GGUF file, one field after the other; see builder.h. */
#include "builder.h"

const encoding all_encodings[ENCODING_COUNT] = {{1, false}, {1, true},  {2, false},
                                                {2, true},  {3, false}, {3, true}};

const char *encoding_name(encoding e)
{
    static const char *const names[4][2] = {{"?", "?"},
                                            {"v1 little-endian", "v1 big-endian"},
                                            {"v2 little-endian", "v2 big-endian"},
                                            {"v3 little-endian", "v3 big-endian"}};

    return names[e.version & 3][e.big ? 1 : 0];
}

builder builder_new(encoding e)
{
    builder b;

    memset(&b, 0, sizeof b);
    b.encoding = e;
    return b;
}

void builder_free(builder *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void builder_mark(builder *b)
{
    b->mark = b->len;
}

/* Room for `len` more bytes, which become part of the file. */
static uint8_t *extend(builder *b, size_t len)
{
    uint8_t *at;

    if (b->data == NULL || b->len + len > b->capacity) {
        size_t capacity = b->capacity * 2 + len + 256;
        uint8_t *data = realloc(b->data, capacity);

        if (data == NULL) {
            print_error("no memory for a test file of %zu bytes\n", capacity);
            abort();
        }
        b->data = data;
        b->capacity = capacity;
    }
    at = b->data + b->len;
    b->len += len;
    return at;
}

void builder_raw(builder *b, const void *data, size_t len)
{
    uint8_t *at = extend(b, len);

    if (len > 0)
        memcpy(at, data, len);
}

void builder_fill(builder *b, uint8_t byte, size_t count)
{
    uint8_t *at = extend(b, count);

    if (count > 0)
        memset(at, byte, count);
}

void builder_zeros(builder *b, size_t count)
{
    builder_fill(b, 0, count);
}

void builder_pad(builder *b, size_t alignment)
{
    builder_zeros(b, (alignment - b->len % alignment) % alignment);
}

void builder_number(builder *b, uint64_t v, size_t width)
{
    uint8_t *at = extend(b, width);

    for (size_t i = 0; i < width; i++)
        at[b->encoding.big ? width - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

void builder_u8(builder *b, uint8_t v)
{
    builder_number(b, v, 1);
}

void builder_u16(builder *b, uint16_t v)
{
    builder_number(b, v, 2);
}

void builder_u32(builder *b, uint32_t v)
{
    builder_number(b, v, 4);
}

void builder_u64(builder *b, uint64_t v)
{
    builder_number(b, v, 8);
}

void builder_f32(builder *b, float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    builder_u32(b, bits);
}

void builder_f64(builder *b, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    builder_u64(b, bits);
}

void builder_length(builder *b, uint64_t v)
{
    builder_number(b, v, b->encoding.version == 1 ? 4 : 8);
}

void builder_header(builder *b, uint64_t tensors, uint64_t entries)
{
    builder_raw(b, "GGUF", 4);
    builder_u32(b, (uint32_t)b->encoding.version);
    builder_length(b, tensors);
    builder_length(b, entries);
}

void builder_strn(builder *b, const void *text, size_t len)
{
    builder_length(b, len);
    builder_raw(b, text, len);
}

void builder_str(builder *b, const char *text)
{
    builder_strn(b, text, strlen(text));
}

void builder_key(builder *b, const char *key, uint32_t type)
{
    builder_str(b, key);
    builder_u32(b, type);
}

void builder_kv_u8(builder *b, const char *key, uint8_t v)
{
    builder_key(b, key, GUFO_VALUE_UINT8);
    builder_u8(b, v);
}

void builder_kv_u16(builder *b, const char *key, uint16_t v)
{
    builder_key(b, key, GUFO_VALUE_UINT16);
    builder_u16(b, v);
}

void builder_kv_u32(builder *b, const char *key, uint32_t v)
{
    builder_key(b, key, GUFO_VALUE_UINT32);
    builder_u32(b, v);
}

void builder_kv_i32(builder *b, const char *key, int32_t v)
{
    builder_key(b, key, GUFO_VALUE_INT32);
    builder_u32(b, (uint32_t)v);
}

void builder_kv_u64(builder *b, const char *key, uint64_t v)
{
    builder_key(b, key, GUFO_VALUE_UINT64);
    builder_u64(b, v);
}

void builder_kv_bool(builder *b, const char *key, bool v)
{
    builder_key(b, key, GUFO_VALUE_BOOL);
    builder_u8(b, v ? 1 : 0);
}

void builder_kv_str(builder *b, const char *key, const char *text)
{
    builder_kv_strn(b, key, text, strlen(text));
}

void builder_kv_strn(builder *b, const char *key, const void *text, size_t len)
{
    builder_key(b, key, GUFO_VALUE_STRING);
    builder_strn(b, text, len);
}

void builder_kv_array(builder *b, const char *key, uint32_t element_type, uint64_t count)
{
    builder_key(b, key, GUFO_VALUE_ARRAY);
    builder_array(b, element_type, count);
}

void builder_array(builder *b, uint32_t element_type, uint64_t count)
{
    builder_u32(b, element_type);
    builder_length(b, count);
}

void builder_tensor(builder *b, const char *name, uint32_t type, uint32_t n_dims,
                    const uint64_t *dims, uint64_t offset)
{
    builder_tensorn(b, name, strlen(name), type, n_dims, dims, offset);
}

void builder_tensorn(builder *b, const void *name, size_t len, uint32_t type, uint32_t n_dims,
                     const uint64_t *dims, uint64_t offset)
{
    builder_strn(b, name, len);
    builder_u32(b, n_dims);
    for (uint32_t i = 0; i < n_dims; i++)
        builder_length(b, dims[i]);
    builder_u32(b, type);
    builder_u64(b, offset);
}

uint8_t pattern_byte(unsigned seed, size_t place)
{
    return (uint8_t)(1 + (place * 7 + seed * 31 + (place >> 8)) % 255);
}

void builder_pattern(builder *b, unsigned seed, size_t len)
{
    uint8_t *at = extend(b, len);

    for (size_t i = 0; i < len; i++)
        at[i] = pattern_byte(seed, i);
}

uint8_t *builder_exact_copy(const builder *b, size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);

    if (copy == NULL)
        abort();
    if (len > 0)
        memcpy(copy, b->data, len);
    return copy;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}
