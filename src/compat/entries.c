/* The metadata entries of a context: a list in file order. */
#include "compat/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* ---- one entry ------------------------------------------------------------------------------ */

bool compat_entry_new(entry *e, gufo_str key, enum gguf_type type, bool is_array, size_t count,
                      uint64_t more)
{
    bool strings = type == GGUF_TYPE_STRING;
    size_t width = strings ? sizeof(gufo_str) : gufo_value_type_size((gufo_value_type)type);
    uint64_t size;

    *e = (entry){.type = type, .is_array = is_array, .count = count};
    if (!checked_mul(count, width, &size) || !checked_add(size, more, &size) || size >= SIZE_MAX ||
        key.len == SIZE_MAX)
        return false;
    e->named.name = (gufo_str){mem_text(&default_allocator, key), key.len};
    e->values = malloc(size > 0 ? (size_t)size : 1);
    if (e->named.name.data != NULL && e->values != NULL)
        return true;
    compat_entry_free(e);
    return false;
}

void compat_entry_free(entry *e)
{
    free((char *)e->named.name.data);
    free(e->values);
    *e = (entry){0};
}

void compat_entry_drop(void *unused, void *e)
{
    (void)unused;
    free(((entry *)e)->values);
}

void compat_entry_add_text(entry *e, size_t index, gufo_str text)
{
    gufo_str *strings = e->values;
    char *at = index == 0 ? (char *)(strings + e->count)
                          : (char *)strings[index - 1].data + strings[index - 1].len + 1;

    strings[index] = (gufo_str){at, text.len};
    if (text.len > 0)
        memcpy(at, text.data, text.len);
    at[text.len] = '\0';
}

size_t compat_entry_size(const entry *e)
{
    return e->count * gufo_value_type_size((gufo_value_type)e->type);
}

/* Bytes of an entry's values besides `count` of its type: texts, or all of arrays. */
static uint64_t more_bytes(const entry *e)
{
    const gufo_str *strings = e->values;
    uint64_t text = 0;

    if (e->type == GGUF_TYPE_ARRAY)
        return compat_nested_size(e->values);
    for (size_t i = 0; e->type == GGUF_TYPE_STRING && i < e->count; i++)
        text += (uint64_t)strings[i].len + 1;
    return text;
}

static bool copy_entry(entry *to, const entry *from)
{
    const gufo_str *strings = from->values;

    if (!compat_entry_new(to, from->named.name, from->type, from->is_array, from->count,
                          more_bytes(from)))
        return false;
    if (from->type == GGUF_TYPE_ARRAY)
        compat_nested_copy(to->values, from->values);
    else if (from->type != GGUF_TYPE_STRING)
        memcpy(to->values, from->values, compat_entry_size(from));
    for (size_t i = 0; from->type == GGUF_TYPE_STRING && i < from->count; i++)
        compat_entry_add_text(to, i, strings[i]);
    return true;
}

/* ---- the list ------------------------------------------------------------------------------- */

static bool make_room(struct gguf_context *ctx, uint64_t more)
{
    return more <= GUFO_MAX_COUNT - ctx->entries.count &&
           named_list_reserve(&ctx->entries, more, NULL) == GUFO_OK;
}

/* Takes over an entry, for which there is room. */
static void append(struct gguf_context *ctx, const entry *e)
{
    (void)named_list_add(&ctx->entries, e->named.name, false, e, NULL);
    named_list_slot(&ctx->entries, ctx->entries.items.count - 1)->owns_name = true;
}

bool compat_entries_put(struct gguf_context *ctx, entry *e)
{
    if (!make_room(ctx, 1)) {
        compat_entry_free(e);
        return false;
    }
    (void)named_list_remove_name(&ctx->entries, e->named.name);
    append(ctx, e);
    return true;
}

static bool is_in(void *other, gufo_str key)
{
    uint64_t slot;

    return named_list_find(&((const struct gguf_context *)other)->entries, key, &slot);
}

static entry *copy_all(const struct gguf_context *ctx)
{
    entry *copies = malloc((size_t)(ctx->entries.count + 1) * sizeof *copies);
    uint64_t slot = 0, count = 0;
    const entry *e;

    while (copies != NULL && (e = named_list_next(&ctx->entries, &slot)) != NULL) {
        if (copy_entry(&copies[count], e)) {
            count++;
            continue;
        }
        while (count > 0)
            compat_entry_free(&copies[--count]);
        free(copies);
        return NULL;
    }
    return copies;
}

bool compat_entries_take_all(struct gguf_context *ctx, const struct gguf_context *other)
{
    entry *copies = make_room(ctx, other->entries.count) ? copy_all(other) : NULL;

    if (copies == NULL)
        return false;
    (void)named_list_remove_all(&ctx->entries, is_in, (void *)other);
    for (uint64_t i = 0; i < other->entries.count; i++)
        append(ctx, &copies[i]);
    free(copies);
    return true;
}

const entry *compat_entry_at(const struct gguf_context *ctx, int64_t id)
{
    uint64_t slot;

    if (id < 0 || !named_list_seek(&ctx->entries, (uint64_t)id, &slot))
        GGML_ABORT("key id %lld does not exist; there are %llu keys", (long long)id,
                   (unsigned long long)ctx->entries.count);
    return (const entry *)named_list_slot(&ctx->entries, slot);
}
