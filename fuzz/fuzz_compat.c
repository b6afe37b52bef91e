/* Fuzz target: the documented C API reads anything, tells everything, changes it, and writes it
 * again.
 *
 * What is not refused must be consistent: it is written, read again, and must be the same.  Changes
 * may make what no file can have: that must not be written. */
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
        must(count == 1, "anything but an array is one value");
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

/* Padding up to a hostile alignment takes too long. */
static bool is_writable(const struct gguf_context *ctx)
{
    return gguf_get_alignment(ctx) <= 1 << 16;
}

/* Whether there is something to write: always, unless `may_refuse`. */
static bool write_again(const struct gguf_context *ctx, bool may_refuse)
{
    size_t size;
    void *meta, *second;
    struct gguf_context *again;

    if (!is_writable(ctx))
        return false;
    size = gguf_get_meta_size(ctx);
    must(size > 0 || may_refuse, "what was read can be written");
    if (size == 0)
        return false;
    meta = malloc(size);
    must(meta != NULL, "the machine has enough memory");
    gguf_get_meta_data(ctx, meta);
    again = gguf_init_from_buffer(meta, size, (struct gguf_init_params){true, NULL});
    must(again != NULL, "what was written can be read");
    must(gguf_get_meta_size(again) == size, "and has the same size");
    second = malloc(size);
    must(second != NULL, "the machine has enough memory");
    gguf_get_meta_data(again, second);
    must(memcmp(meta, second, size) == 0, "and the same bytes");
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++)
        must(gguf_get_tensor_offset(again, i) == gguf_get_tensor_offset(ctx, i), "it says so");
    free(second);
    free(meta);
    gguf_free(again);
    return true;
}

enum { DATA = 1 << 14 };

/* With data: what the writer says it has written can be loaded. */
static void write_data(struct gguf_context *ctx, bool readable)
{
    static const char data[DATA];
    struct ggml_context *pool = NULL;
    struct gguf_context *again = NULL;
    char *bytes = NULL;
    size_t size = 0, sum_of_sizes = 0;
    FILE *file;

    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        size_t one = gguf_get_tensor_size(ctx, i);

        if (one > DATA || (sum_of_sizes += one) > DATA)
            return;
        gguf_set_tensor_data(ctx, gguf_get_tensor_name(ctx, i), data);
    }
    file = open_memstream(&bytes, &size);
    must(file != NULL, "the machine has enough memory");
    must(gguf_write_to_file_ptr(ctx, file, false) == readable, "what can be read is written");
    must(fclose(file) == 0, "the machine has enough memory");
    if (readable) {
        again = gguf_init_from_buffer(bytes, size, (struct gguf_init_params){false, &pool});
        must(again != NULL && gguf_get_n_tensors(again) == gguf_get_n_tensors(ctx), "all is there");
    } else
        must(size == 0, "nothing is written");
    gguf_free(again);
    ggml_free(pool);
    free(bytes);
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

/* ---- changes that the input asks for -------------------------------------------------------- */

typedef struct script {
    const uint8_t *data;
    size_t left;
} script;

static uint64_t take(script *s, size_t size)
{
    uint64_t number = 0;

    for (; size > 0 && s->left > 0; size--, s->left--)
        number = number << 8 | *s->data++;
    return number;
}

/* Up to 15 bytes of it; "k" and more for a key, which is not empty. */
static void take_text(script *s, char text[17], const char *before)
{
    size_t len = strlen(before), more = take(s, 1) & 15;

    memcpy(text, before, len);
    for (; more > 0; more--)
        text[len++] = (char)take(s, 1);
    text[len] = '\0';
}

static void set_one(struct gguf_context *ctx, script *s)
{
    char key[17], value[17];

    take_text(s, key, "k");
    take_text(s, value, "");
    if (take(s, 1) & 1)
        gguf_set_val_str(ctx, key, value);
    else
        gguf_set_arr_data(ctx, key, GGUF_TYPE_UINT8, value, strlen(value));
}

/* Shape and type as they come: no file can have most of them. */
static void add_tensor(struct gguf_context *ctx, script *s)
{
    struct ggml_tensor t = {.type = (enum ggml_type)(take(s, 1) % GGML_TYPE_COUNT)};
    unsigned wide = (unsigned)take(s, 1);

    take_text(s, t.name, "");
    if (ggml_blck_size(t.type) == 0 || gguf_find_tensor(ctx, t.name) >= 0)
        return;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        t.ne[i] = (int64_t)take(s, wide >> i & 1 ? 8 : 1);
    t.ne[0] = wide & 16 ? t.ne[0] : (int64_t)((uint64_t)t.ne[0] * (uint64_t)ggml_blck_size(t.type));
    t.nb[0] = ggml_type_size(t.type);
    t.nb[1] = t.nb[0] * (size_t)(t.ne[0] / ggml_blck_size(t.type));
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        t.nb[i] = t.nb[i - 1] * (size_t)t.ne[i - 1];
    t.nb[wide >> 6] += wide & 32;
    if (ggml_is_contiguous(&t)) /* else writing data aborts, as it should */
        gguf_add_tensor(ctx, &t);
}

static void change_type(struct gguf_context *ctx, script *s)
{
    enum ggml_type type = (enum ggml_type)(take(s, 1) % GGML_TYPE_COUNT);
    int64_t count = gguf_get_n_tensors(ctx), block = ggml_blck_size(type), id;

    if (count == 0 || block == 0)
        return;
    id = (int64_t)(take(s, 1) % (uint64_t)count);
    if (gguf_get_tensor_ne(ctx, id)[0] % block == 0)
        gguf_set_tensor_type(ctx, gguf_get_tensor_name(ctx, id), type);
}

static void take_alignment(struct gguf_context *ctx, script *s)
{
    struct gguf_context *other = gguf_init_empty();

    gguf_set_val_u32(other, GGUF_KEY_GENERAL_ALIGNMENT, 1u << take(s, 1) % 14);
    gguf_set_kv(ctx, other);
    gguf_free(other);
}

static void run_script(struct gguf_context *ctx, script s)
{
    while (s.left > 0)
        switch (take(&s, 1) & 7) {
        case 0:
            gguf_set_val_u32(ctx, GGUF_KEY_GENERAL_ALIGNMENT, 1u << take(&s, 1) % 14);
            break;
        case 1:
            (void)gguf_remove_key(ctx, GGUF_KEY_GENERAL_ALIGNMENT);
            break;
        case 2:
            take_alignment(ctx, &s);
            break;
        case 3:
            change_type(ctx, &s);
            break;
        case 4:
        case 5:
            add_tensor(ctx, &s);
            break;
        default:
            set_one(ctx, &s);
            break;
        }
}

/* What is not a file is a script for an empty context; the last bytes of a file are one for what
 * was read from it. */
static void look_at_script(struct gguf_context *ctx, const uint8_t *data, size_t size)
{
    run_script(ctx, (script){data, size});
    if (is_writable(ctx))
        write_data(ctx, write_again(ctx, true));
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
    (void)write_again(ctx, false);
    change(ctx);
    (void)write_again(ctx, false);
    if (!with_tensors) /* they are the caller's: once is enough */
        look_at_script(ctx, data + size - (size < 64 ? size : 64), size < 64 ? size : 64);
    gguf_free(ctx);
    ggml_free(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    uint8_t *copy = malloc(size ? size : 1);
    struct gguf_context *ctx;

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    ggml_log_set(ignore, NULL);
    look(copy, size, false, false);
    look(copy, size, true, true);
    look(copy, size, true, false);
    if (size > 0 && copy[0] != GGUF_MAGIC[0]) { /* not a file */
        ctx = gguf_init_empty();
        look_at_script(ctx, copy, size);
        gguf_free(ctx);
    }
    free(copy);
    return 0;
}
