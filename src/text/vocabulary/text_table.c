/* Texts by text: an open table with a keyed hash.
 *
 * A slot has a part of the hash beside the number, so that a look-up compares one text, nearly always.
 * The hashes of a batch are computed before its slots are used: by then these are in the cache. */
#include "text/vocabulary/text_table.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum { BATCH = 32 };

bool text_table_reserve(text_table *t, uint32_t count, uint64_t bytes,
                        const gufo_allocator *allocator)
{
    t->starts = mem_array(allocator, (uint64_t)count + 1, sizeof *t->starts);
    t->bytes = bytes < UINT32_MAX ? mem_alloc(allocator, (size_t)bytes + 1) : NULL;
    return t->starts != NULL && t->bytes != NULL;
}

void text_table_add(text_table *t, gufo_str text)
{
    uint32_t at = t->starts[t->count];

    if (text.len > 0)
        memcpy(t->bytes + at, text.data, text.len);
    t->starts[++t->count] = at + (uint32_t)text.len;
    t->longest = text.len > t->longest ? (uint32_t)text.len : t->longest;
}

void text_table_trim(text_table *t, const gufo_allocator *allocator)
{
    char *bytes = mem_resize(allocator, t->bytes, (size_t)t->starts[t->count] + 1);

    t->bytes = bytes != NULL ? bytes : t->bytes;
}

void text_table_free(text_table *t, const gufo_allocator *allocator)
{
    mem_free(allocator, t->slots);
    mem_free(allocator, t->starts);
    mem_free(allocator, t->bytes);
    *t = (text_table){0};
}

static gufo_status make_slots(text_table *t, const gufo_allocator *allocator, gufo_error *error)
{
    uint32_t count = 64;

    while (count / 2 < t->count)
        count *= 2;
    t->slots = mem_array(allocator, count, sizeof *t->slots);
    if (t->slots == NULL)
        return fail_memory(error);
    t->slot_mask = count - 1;
    t->slot_key = hash_key_new();
    return GUFO_OK;
}

/* The slot of a text: the one that has it, or the empty one where it belongs. */
static text_slot *slot_of(const text_table *t, uint64_t hash, gufo_str text)
{
    uint32_t tag = (uint32_t)(hash >> 32), at = (uint32_t)hash & t->slot_mask;

    for (;; at = (at + 1) & t->slot_mask) {
        text_slot *slot = &t->slots[at];

        if (slot->number == 0 ||
            (slot->tag == tag && gufo_str_equal(text_at(t, slot->number - 1), text)))
            return slot;
    }
}

gufo_status text_table_index(text_table *t, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status = make_slots(t, allocator, error);
    uint64_t hashes[BATCH];

    if (status != GUFO_OK)
        return status;
    for (uint32_t first = 0; first < t->count; first += BATCH) {
        uint32_t count = t->count - first < BATCH ? t->count - first : BATCH;

        for (uint32_t i = 0; i < count; i++) {
            hashes[i] = hash_text(t->slot_key, text_at(t, first + i));
            __builtin_prefetch(&t->slots[(uint32_t)hashes[i] & t->slot_mask]);
        }
        for (uint32_t i = 0; i < count; i++) {
            text_slot *slot = slot_of(t, hashes[i], text_at(t, first + i));

            t->repeats = t->repeats || slot->number != 0;
            *slot = (text_slot){(uint32_t)(hashes[i] >> 32), first + i + 1};
        }
    }
    return GUFO_OK;
}

bool text_table_copy(text_table *to, const text_table *from, const gufo_allocator *allocator)
{
    *to = *from;
    to->bytes = mem_copy(allocator, from->bytes, (size_t)from->starts[from->count] + 1);
    to->starts = mem_copy(allocator, from->starts, ((size_t)from->count + 1) * sizeof *to->starts);
    to->slots = mem_copy(allocator, from->slots, ((size_t)from->slot_mask + 1) * sizeof *to->slots);
    return to->bytes != NULL && to->starts != NULL && to->slots != NULL;
}

uint32_t text_table_find(const text_table *t, gufo_str text)
{
    if (text.len > t->longest)
        return UINT32_MAX;
    return slot_of(t, hash_text(t->slot_key, text), text)->number - 1;
}

/* Each step waits for memory; those of a batch wait side by side. */
static void find_batch(const text_table *t, const gufo_str *texts, size_t count, uint32_t *out)
{
    uint64_t hashes[BATCH];

    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_text(t->slot_key, texts[i]);
        __builtin_prefetch(&t->slots[(uint32_t)hashes[i] & t->slot_mask]);
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = t->slots[(uint32_t)hashes[i] & t->slot_mask].number;
        __builtin_prefetch(&t->starts[out[i] == 0 ? 0 : out[i] - 1]);
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&t->bytes[t->starts[out[i] == 0 ? 0 : out[i] - 1]]);
    for (size_t i = 0; i < count; i++)
        out[i] = slot_of(t, hashes[i], texts[i])->number - 1;
}

void text_table_find_batch(const text_table *t, const gufo_str *texts, size_t count, uint32_t *out)
{
    for (size_t first = 0; first < count; first += BATCH)
        find_batch(t, texts + first, count - first < BATCH ? count - first : BATCH, out + first);
}

uint32_t text_table_find_byte(const text_table *t, uint8_t byte)
{
    char text[] = {'<', '0', 'x', 0, 0, '>'};

    (void)hex_put(text + 3, byte, true);
    return text_table_find(t, (gufo_str){text, sizeof text});
}
