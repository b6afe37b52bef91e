/* Changing the metadata of a context.
 *
 * A new entry is complete before the old one with its key goes: key and value may point into it. */
#include "compat/context.h"

#include <string.h>

static bool is_alignment(const char *key)
{
    return strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) == 0;
}

/* The alignment must be one that offsets can keep. */
static void check_key(const char *key, enum gguf_type type, bool is_array, const void *values)
{
    uint32_t alignment;

    if (key == NULL || key[0] == '\0')
        GGML_ABORT("a key must not be empty");
    if (!is_alignment(key))
        return;
    if (type != GGUF_TYPE_UINT32 || is_array)
        GGML_ABORT("%s must be of type u32", key);
    memcpy(&alignment, values, sizeof alignment);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        GGML_ABORT("%s must be a power of two, not %u", key, (unsigned)alignment);
}

/* Puts a complete entry at the end, in place of one with the same key. */
static void put(struct gguf_context *ctx, entry *e)
{
    if (!compat_entries_put(ctx, e))
        ctx->incomplete = true;
    else if (is_alignment(e->named.name.data))
        compat_lay_out(ctx);
}

static void set_plain(struct gguf_context *ctx, const char *key, enum gguf_type type, bool is_array,
                      const void *values, size_t count)
{
    entry e;

    check_key(key, type, is_array, values);
    if (!compat_entry_new(&e, gufo_str_of(key), type, is_array, count, 0)) {
        ctx->incomplete = true;
        return;
    }
    if (count > 0)
        memcpy(e.values, values, compat_entry_size(&e));
    if (type == GGUF_TYPE_BOOL)
        compat_make_bools(e.values, count);
    put(ctx, &e);
}

#define DEFINE_SETTER(name, c_type, value_type)                                     \
    void gguf_set_val_##name(struct gguf_context *ctx, const char *key, c_type val) \
    {                                                                               \
        set_plain(ctx, key, value_type, false, &val, 1);                            \
    }

COMPAT_NUMBERS(DEFINE_SETTER)

void gguf_set_val_bool(struct gguf_context *ctx, const char *key, bool val)
{
    set_plain(ctx, key, GGUF_TYPE_BOOL, false, &(uint8_t){val}, 1);
}

void gguf_set_arr_data(struct gguf_context *ctx, const char *key, enum gguf_type type,
                       const void *data, size_t n)
{
    if (gufo_value_type_size((gufo_value_type)type) == 0)
        GGML_ABORT("key \"%s\" cannot be set to an array of type %d", key, (int)type);
    set_plain(ctx, key, type, true, data, n);
}

static void set_strings(struct gguf_context *ctx, const char *key, bool is_array,
                        const char *const *strings, size_t count)
{
    uint64_t text = 0;
    entry e;

    check_key(key, GGUF_TYPE_STRING, is_array, NULL);
    for (size_t i = 0; i < count; i++) {
        if (strings[i] == NULL)
            GGML_ABORT("string %zu for key \"%s\" is NULL", i, key);
        text += strlen(strings[i]) + 1;
    }
    if (!compat_entry_new(&e, gufo_str_of(key), GGUF_TYPE_STRING, is_array, count, text)) {
        ctx->incomplete = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        compat_entry_add_text(&e, i, gufo_str_of(strings[i]));
    put(ctx, &e);
}

void gguf_set_val_str(struct gguf_context *ctx, const char *key, const char *val)
{
    set_strings(ctx, key, false, &val, 1);
}

void gguf_set_arr_str(struct gguf_context *ctx, const char *key, const char **data, size_t n)
{
    set_strings(ctx, key, true, data, n);
}

int64_t gguf_remove_key(struct gguf_context *ctx, const char *key)
{
    int64_t id = gguf_find_key(ctx, key);
    bool relays = is_alignment(key); /* the key may be that of the entry */

    if (id >= 0)
        (void)named_list_remove_name(&ctx->entries, gufo_str_of(key));
    if (relays)
        compat_lay_out(ctx);
    return id;
}

void gguf_set_kv(struct gguf_context *ctx, const struct gguf_context *src)
{
    if (ctx == src)
        return;
    if (!compat_entries_take_all(ctx, src) || src->incomplete)
        ctx->incomplete = true;
    compat_lay_out(ctx);
}
