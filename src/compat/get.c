/* Looking into a context: facts and metadata. */
#include "compat/context.h"

#include "gufo-compat/gufo_gguf.h"

static const char *const type_names[GGUF_TYPE_COUNT] = {
    [GGUF_TYPE_UINT8] = "u8",    [GGUF_TYPE_INT8] = "i8",    [GGUF_TYPE_UINT16] = "u16",
    [GGUF_TYPE_INT16] = "i16",   [GGUF_TYPE_UINT32] = "u32", [GGUF_TYPE_INT32] = "i32",
    [GGUF_TYPE_FLOAT32] = "f32", [GGUF_TYPE_BOOL] = "bool",  [GGUF_TYPE_STRING] = "str",
    [GGUF_TYPE_ARRAY] = "arr",   [GGUF_TYPE_UINT64] = "u64", [GGUF_TYPE_INT64] = "i64",
    [GGUF_TYPE_FLOAT64] = "f64",
};

const char *gguf_type_name(enum gguf_type type)
{
    return (unsigned)type < GGUF_TYPE_COUNT ? type_names[type] : NULL;
}

uint32_t gguf_get_version(const struct gguf_context *ctx)
{
    return ctx->version;
}

size_t gguf_get_alignment(const struct gguf_context *ctx)
{
    return ctx->alignment;
}

size_t gguf_get_data_offset(const struct gguf_context *ctx)
{
    return ctx->data_offset;
}

/* ---- keys ----------------------------------------------------------------------------------- */

int64_t gguf_get_n_kv(const struct gguf_context *ctx)
{
    return (int64_t)ctx->entries.count;
}

int64_t gguf_find_key(const struct gguf_context *ctx, const char *key)
{
    uint64_t slot;

    return named_list_find(&ctx->entries, gufo_str_of(key), &slot)
               ? (int64_t)named_list_position(&ctx->entries, slot)
               : -1;
}

const char *gguf_get_key(const struct gguf_context *ctx, int64_t key_id)
{
    return compat_entry_at(ctx, key_id)->named.name.data;
}

enum gguf_type gguf_get_kv_type(const struct gguf_context *ctx, int64_t key_id)
{
    const entry *e = compat_entry_at(ctx, key_id);

    return e->is_array ? GGUF_TYPE_ARRAY : e->type;
}

/* ---- values --------------------------------------------------------------------------------- */

/* The only value of the entry, which must have this type.  An array of one element will do. */
static const void *value_of_type(const struct gguf_context *ctx, int64_t id, enum gguf_type type)
{
    const entry *e = compat_entry_at(ctx, id);

    if (e->count != 1)
        GGML_ABORT("key \"%s\" holds an array of %zu elements, not one value", e->named.name.data,
                   e->count);
    if (e->type != type)
        GGML_ABORT("key \"%s\" holds type %s, not %s", e->named.name.data, type_names[e->type],
                   type_names[type]);
    return e->values;
}

#define DEFINE_GETTER(name, c_type, value_type)                                \
    c_type gguf_get_val_##name(const struct gguf_context *ctx, int64_t key_id) \
    {                                                                          \
        return *(const c_type *)value_of_type(ctx, key_id, value_type);        \
    }

COMPAT_NUMBERS(DEFINE_GETTER)

bool gguf_get_val_bool(const struct gguf_context *ctx, int64_t key_id)
{
    return *(const uint8_t *)value_of_type(ctx, key_id, GGUF_TYPE_BOOL) != 0;
}

const char *gguf_get_val_str(const struct gguf_context *ctx, int64_t key_id)
{
    const gufo_str *text = value_of_type(ctx, key_id, GGUF_TYPE_STRING);

    return text->data;
}

/* The values of an entry that holds neither strings nor arrays. */
static const void *plain_values(const entry *e)
{
    if (e->type == GGUF_TYPE_STRING)
        GGML_ABORT("key \"%s\" holds strings, which are not plain data", e->named.name.data);
    if (e->type == GGUF_TYPE_ARRAY)
        GGML_ABORT("key \"%s\" holds arrays, which are not plain data", e->named.name.data);
    return e->values;
}

const void *gguf_get_val_data(const struct gguf_context *ctx, int64_t key_id)
{
    const entry *e = compat_entry_at(ctx, key_id);

    if (e->count != 1)
        GGML_ABORT("key \"%s\" holds an array of %zu elements, not one value", e->named.name.data,
                   e->count);
    return plain_values(e);
}

/* ---- arrays --------------------------------------------------------------------------------- */

enum gguf_type gguf_get_arr_type(const struct gguf_context *ctx, int64_t key_id)
{
    const entry *e = compat_entry_at(ctx, key_id);

    if (!e->is_array)
        GGML_ABORT("key \"%s\" holds type %s, not an array", e->named.name.data,
                   type_names[e->type]);
    return e->type;
}

size_t gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id)
{
    return compat_entry_at(ctx, key_id)->count;
}

const void *gguf_get_arr_data(const struct gguf_context *ctx, int64_t key_id)
{
    return plain_values(compat_entry_at(ctx, key_id));
}

const struct gufo_gguf_array *gufo_gguf_get_arrays(const struct gguf_context *ctx, int64_t key_id)
{
    const entry *e = compat_entry_at(ctx, key_id);

    if (e->type != GGUF_TYPE_ARRAY)
        GGML_ABORT("key \"%s\" holds type %s, not arrays", e->named.name.data,
                   gguf_type_name(e->type));
    return compat_nested_arrays(e->values);
}

const char *gguf_get_arr_str(const struct gguf_context *ctx, int64_t key_id, size_t i)
{
    const entry *e = compat_entry_at(ctx, key_id);
    const gufo_str *strings = e->values;

    if (e->type != GGUF_TYPE_STRING)
        GGML_ABORT("key \"%s\" holds type %s, not strings", e->named.name.data,
                   type_names[e->type]);
    return i < e->count ? strings[i].data : NULL;
}
