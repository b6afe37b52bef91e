/* Fuzz target: the documented C API reads anything, tells everything, and writes it again.
 *
 * What is not refused must be consistent: it is written, read again, and must be the same. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "gguf.h"

static void ignore(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)user_data;
    must(level == GGML_LOG_LEVEL_ERROR && strchr(text, '\n') == text + strlen(text) - 1,
         "the log is told one line");
}

/* ---- looking -------------------------------------------------------------------------------- */

static uint64_t sum; /* so that every byte is read */

static void look_at_bytes(const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
}

static void look_at_value(const struct gguf_context *ctx, int64_t id)
{
    enum gguf_type type = gguf_get_kv_type(ctx, id);
    size_t count = gguf_get_arr_n(ctx, id);

    if (type == GGUF_TYPE_ARRAY)
        type = gguf_get_arr_type(ctx, id);
    else
        must(count == 1, "what is no array is one value");
    if (type != GGUF_TYPE_STRING) {
        look_at_bytes(gguf_get_arr_data(ctx, id),
                      count * gufo_value_type_size((gufo_value_type)type));
        return;
    }
    for (size_t i = 0; i < count; i++)
        sum += strlen(gguf_get_arr_str(ctx, id, i));
    must(gguf_get_arr_str(ctx, id, count) == NULL, "there is nothing past the end");
}

static void look_at_context(const struct gguf_context *ctx)
{
    uint64_t expected = 0;

    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++) {
        must(gguf_find_key(ctx, gguf_get_key(ctx, i)) == i, "every key is found");
        look_at_value(ctx, i);
    }
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        uint64_t size = gguf_get_tensor_size(ctx, i);

        must(gguf_find_tensor(ctx, gguf_get_tensor_name(ctx, i)) == i, "every tensor is found");
        must(gguf_get_tensor_offset(ctx, i) == expected, "data is back to back");
        must(size <= INT64_MAX, "sizes do not wrap");
        expected += GGML_PAD(size, gguf_get_alignment(ctx));
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Padding up to a hostile alignment takes too long, and removing general.alignment leaves offsets
 * that go by it. */
static bool is_writable(const struct gguf_context *ctx)
{
    size_t alignment = gguf_get_alignment(ctx);

    return alignment <= 1 << 16 && (alignment == GGUF_DEFAULT_ALIGNMENT ||
                                    gguf_find_key(ctx, GGUF_KEY_GENERAL_ALIGNMENT) >= 0);
}

static void write_again(const struct gguf_context *ctx)
{
    size_t size = gguf_get_meta_size(ctx);
    void *meta, *second;
    struct gguf_context *again;

    if (!is_writable(ctx))
        return;
    meta = malloc(size);
    must(meta != NULL && size > 0, "the machine has enough memory");
    gguf_get_meta_data(ctx, meta);
    again = gguf_init_from_buffer(meta, size, (struct gguf_init_params){true, NULL});
    must(again != NULL, "what was written can be read");
    must(gguf_get_meta_size(again) == size, "and has the same size");
    second = malloc(size);
    must(second != NULL, "the machine has enough memory");
    gguf_get_meta_data(again, second);
    must(memcmp(meta, second, size) == 0, "and the same bytes");
    free(second);
    free(meta);
    gguf_free(again);
}

/* Entries are replaced and removed while an index points at them. */
static void change(struct gguf_context *ctx)
{
    struct gguf_context *copy = gguf_init_empty();

    gguf_set_kv(copy, ctx);
    must(gguf_get_n_kv(copy) == gguf_get_n_kv(ctx), "everything is taken over");
    gguf_set_kv(ctx, copy);
    must(gguf_get_n_kv(copy) == gguf_get_n_kv(ctx), "in place of what was there");
    gguf_set_val_str(ctx, "fuzz", "new");
    if (gguf_get_n_kv(ctx) > 1)
        must(gguf_remove_key(ctx, gguf_get_key(ctx, 0)) == 0, "the first goes");
    must(gguf_find_key(ctx, "fuzz") == gguf_get_n_kv(ctx) - 1, "the last stays");
    gguf_free(copy);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void look(const uint8_t *data, size_t size, bool with_tensors, bool no_alloc)
{
    struct ggml_context *pool = NULL;
    struct gguf_init_params params = {no_alloc, with_tensors ? &pool : NULL};
    struct gguf_context *ctx = gguf_init_from_buffer(data, size, params);

    must((pool != NULL) == (ctx != NULL && with_tensors), "tensors come with the context");
    if (ctx == NULL)
        return;
    look_at_context(ctx);
    for (struct ggml_tensor *t = pool != NULL ? ggml_get_first_tensor(pool) : NULL; t != NULL;
         t = ggml_get_next_tensor(pool, t))
        look_at_bytes(t->data, no_alloc ? 0 : ggml_nbytes(t));
    write_again(ctx);
    change(ctx);
    write_again(ctx);
    gguf_free(ctx);
    ggml_free(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    uint8_t *copy = malloc(size ? size : 1);

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    ggml_log_set(ignore, NULL);
    look(copy, size, false, false);
    look(copy, size, true, true);
    look(copy, size, true, false);
    free(copy);
    return 0;
}
