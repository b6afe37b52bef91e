/* The metadata entries of a context: a list in file order, with an index from key to place.
 *
 * Removing an entry moves all behind it, which an index of places does not survive.  It is dropped
 * then, entries are looked for one by one, and a new one is made only after some more were added:
 * who replaces n entries one after the other, each at the front of the list by then, pays for a few
 * indices and not for n. */
#include "compat/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { INDICES_PER_ROUND = 16 };

static gufo_str key_of(const void *owner, uint64_t index)
{
    const struct gguf_context *ctx = owner;

    return (gufo_str){ctx->entries[index].key, ctx->entries[index].key_len};
}

/* ---- one entry ------------------------------------------------------------------------------ */

bool compat_entry_new(entry *e, gufo_str key, enum gguf_type type, bool is_array, size_t count,
                      uint64_t text)
{
    bool strings = type == GGUF_TYPE_STRING;
    size_t width = strings ? sizeof(gufo_str) : gufo_value_type_size((gufo_value_type)type);
    uint64_t size;

    *e = (entry){.key_len = key.len, .type = type, .is_array = is_array, .count = count};
    if (!checked_mul(count, width, &size) || (strings && !checked_add(size, text, &size)) ||
        size >= SIZE_MAX || key.len == SIZE_MAX)
        return false;
    e->key = malloc(key.len + 1);
    e->values = malloc(size > 0 ? (size_t)size : 1);
    if (e->key == NULL || e->values == NULL) {
        compat_entry_free(e);
        return false;
    }
    memcpy(e->key, key.data, key.len);
    e->key[key.len] = '\0';
    return true;
}

void compat_entry_free(entry *e)
{
    free(e->key);
    free(e->values);
    *e = (entry){0};
}

char *compat_entry_text(const entry *e)
{
    return (char *)((gufo_str *)e->values + e->count);
}

char *compat_entry_add_text(entry *e, size_t index, char *at, gufo_str text)
{
    ((gufo_str *)e->values)[index] = (gufo_str){at, text.len};
    if (text.len > 0)
        memcpy(at, text.data, text.len);
    at[text.len] = '\0';
    return at + text.len + 1;
}

size_t compat_entry_size(const entry *e)
{
    return e->count * gufo_value_type_size((gufo_value_type)e->type);
}

/* The text of an entry of strings is behind them. */
static bool copy_entry(entry *to, const entry *from)
{
    gufo_str *strings = from->values;
    uint64_t text = 0;
    char *at;

    for (size_t i = 0; from->type == GGUF_TYPE_STRING && i < from->count; i++)
        text += strings[i].len + 1;
    if (!compat_entry_new(to, (gufo_str){from->key, from->key_len}, from->type, from->is_array,
                          from->count, text))
        return false;
    if (from->type != GGUF_TYPE_STRING) {
        memcpy(to->values, from->values, compat_entry_size(from));
        return true;
    }
    at = compat_entry_text(to);
    for (size_t i = 0; i < from->count; i++)
        at = compat_entry_add_text(to, i, at, strings[i]);
    return true;
}

/* ---- the index ------------------------------------------------------------------------------ */

static void drop_index(struct gguf_context *ctx)
{
    name_index_free(&ctx->keys, &default_allocator);
    ctx->keys = (name_index){.name_of = key_of, .owner = ctx};
    ctx->added_unindexed = 0;
}

static bool has_index(const struct gguf_context *ctx)
{
    return ctx->keys.slots != NULL;
}

/* Adds the last entry to the index.  If there is none, makes one of everything when it is time. */
static void index_last(struct gguf_context *ctx)
{
    uint64_t last = ctx->entry_count - 1, first;

    if (!has_index(ctx) && ++ctx->added_unindexed * INDICES_PER_ROUND < ctx->entry_count)
        return;
    if (ctx->keys.name_of == NULL)
        drop_index(ctx);
    if (name_index_grow(&ctx->keys, last, &default_allocator, NULL) == GUFO_OK)
        (void)name_index_add(&ctx->keys, last, &first);
    else
        drop_index(ctx);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Room for `more` entries at the end. */
static bool make_room(struct gguf_context *ctx, size_t more)
{
    size_t room = ctx->entry_room;
    entry *bigger;

    if (more <= ctx->entry_room - ctx->entry_count)
        return true;
    if (more > GUFO_MAX_COUNT - ctx->entry_count)
        return false;
    while (room < ctx->entry_count + more)
        room = room == 0 ? 16 : room * 2;
    bigger = room > SIZE_MAX / sizeof *bigger ? NULL : realloc(ctx->entries, room * sizeof *bigger);
    if (bigger == NULL)
        return false;
    ctx->entries = bigger;
    ctx->entry_room = room;
    return true;
}

static void append(struct gguf_context *ctx, const entry *e)
{
    ctx->entries[ctx->entry_count++] = *e;
    index_last(ctx);
}

bool compat_entries_add(struct gguf_context *ctx, const entry *e)
{
    if (!make_room(ctx, 1))
        return false;
    append(ctx, e);
    return true;
}

int64_t compat_entries_find(const struct gguf_context *ctx, const char *key)
{
    gufo_str name = gufo_str_of(key);
    uint64_t found;

    if (has_index(ctx))
        return name_index_find(&ctx->keys, name, &found) ? (int64_t)found : -1;
    for (size_t i = 0; i < ctx->entry_count; i++)
        if (gufo_str_equal(key_of(ctx, i), name))
            return (int64_t)i;
    return -1;
}

void compat_entries_remove(struct gguf_context *ctx, size_t index)
{
    entry *at = ctx->entries + index;

    compat_entry_free(at);
    ctx->entry_count--;
    memmove(at, at + 1, (ctx->entry_count - index) * sizeof *at);
    if (has_index(ctx))
        drop_index(ctx);
}

/* Drops the entries of `ctx` whose keys are in `keys`. */
static void remove_indexed(struct gguf_context *ctx, const name_index *keys)
{
    size_t kept = 0;
    uint64_t found;

    for (size_t i = 0; i < ctx->entry_count; i++) {
        if (name_index_find(keys, key_of(ctx, i), &found))
            compat_entry_free(&ctx->entries[i]);
        else
            ctx->entries[kept++] = ctx->entries[i];
    }
    ctx->entry_count = kept;
    drop_index(ctx);
}

static entry *copy_all(const struct gguf_context *ctx)
{
    entry *copies = malloc((ctx->entry_count + 1) * sizeof *copies);

    for (size_t i = 0; copies != NULL && i < ctx->entry_count; i++) {
        if (copy_entry(&copies[i], &ctx->entries[i]))
            continue;
        while (i-- > 0)
            compat_entry_free(&copies[i]);
        free(copies);
        return NULL;
    }
    return copies;
}

bool compat_entries_take_all(struct gguf_context *ctx, const struct gguf_context *other)
{
    name_index keys = {.name_of = key_of, .owner = other};
    size_t count = other->entry_count;
    entry *copies = NULL;
    uint64_t first;
    bool done = name_index_new(&keys, count, key_of, other, &default_allocator, NULL) == GUFO_OK &&
                make_room(ctx, count) && (copies = copy_all(other)) != NULL;

    if (done) {
        for (size_t i = 0; i < count; i++)
            (void)name_index_add(&keys, i, &first);
        remove_indexed(ctx, &keys);
        for (size_t i = 0; i < count; i++)
            append(ctx, &copies[i]);
    }
    name_index_free(&keys, &default_allocator);
    free(copies);
    return done;
}

void compat_entries_free(struct gguf_context *ctx)
{
    for (size_t i = 0; i < ctx->entry_count; i++)
        compat_entry_free(&ctx->entries[i]);
    free(ctx->entries);
    name_index_free(&ctx->keys, &default_allocator);
}

const entry *compat_entry_at(const struct gguf_context *ctx, int64_t id)
{
    if (id < 0 || (uint64_t)id >= ctx->entry_count)
        GGML_ABORT("key id %lld does not exist; there are %zu keys", (long long)id,
                   ctx->entry_count);
    return &ctx->entries[id];
}
