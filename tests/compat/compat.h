/* What the tests of the documented C API share. */
#ifndef TEST_COMPAT_H
#define TEST_COMPAT_H

#include "../support/builder.h"
#include "../support/folder.h"

#include "gguf.h"

/* The byte order that this API reads and writes. */
static inline encoding native(void)
{
    return (encoding){3, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
}

/* The last message to the log since capture_log; "" if there was none. */
static char last_log[2048];
static unsigned log_lines;

static void keep_log(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    (void)snprintf(last_log, sizeof last_log, "%s", text);
    log_lines++;
}

static inline void capture_log(void)
{
    ggml_log_set(keep_log, NULL);
    last_log[0] = '\0';
    log_lines = 0;
}

/* Reading without tensors. */
static inline struct gguf_init_params only_metadata(void)
{
    return (struct gguf_init_params){true, NULL};
}

static inline struct gguf_context *read_bytes(const builder *b, struct ggml_context **tensors,
                                              bool no_alloc)
{
    return gguf_init_from_buffer(b->data, b->len, (struct gguf_init_params){no_alloc, tensors});
}

/* Header, one key "a" and tensors "x" (5 numbers) and "y" (3 rows of 4), with data. */
static inline builder small_model(void)
{
    builder b = builder_new(native());

    builder_header(&b, 2, 2);
    builder_kv_u32(&b, "a", 7);
    builder_kv_str(&b, "general.name", "small");
    builder_tensor(&b, "x", GUFO_TYPE_F32, 1, (uint64_t[]){5}, 0);
    builder_tensor(&b, "y", GUFO_TYPE_I16, 2, (uint64_t[]){4, 3}, 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 20);
    builder_pad(&b, 32);
    builder_pattern(&b, 2, 24);
    builder_pad(&b, 32);
    return b;
}

#endif
