/* Tokens by text: an open table with a keyed hash.
 *
 * A slot has a part of the hash beside the id, so that a look-up compares one text, nearly always.
 * The hashes of a batch are computed before its slots are used: by then these are in the cache. */
#include "text/vocabulary/vocabulary.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { BATCH = 32 };

static gufo_status make_slots(gufo_vocab *v, gufo_error *error)
{
    uint32_t count = 64;

    while (count / 2 < v->size)
        count *= 2;
    v->slots = mem_array(&v->allocator, count, sizeof *v->slots);
    if (v->slots == NULL)
        return fail_memory(error);
    v->slot_mask = count - 1;
    v->slot_key = hash_key_new();
    return GUFO_OK;
}

/* The slot of a text: the one that has it, or the empty one where it belongs. */
static text_slot *slot_of(const gufo_vocab *v, uint64_t hash, gufo_str text)
{
    uint32_t tag = (uint32_t)(hash >> 32), at = (uint32_t)hash & v->slot_mask;

    for (;; at = (at + 1) & v->slot_mask) {
        text_slot *slot = &v->slots[at];

        if (slot->number == 0 ||
            (slot->tag == tag && gufo_str_equal(vocab_text(v, slot->number - 1), text)))
            return slot;
    }
}

gufo_status vocab_index_texts(gufo_vocab *v, gufo_error *error)
{
    gufo_status status = make_slots(v, error);
    uint64_t hashes[BATCH];

    if (status != GUFO_OK)
        return status;
    for (uint32_t first = 0; first < v->size; first += BATCH) {
        uint32_t count = v->size - first < BATCH ? v->size - first : BATCH;

        for (uint32_t i = 0; i < count; i++) {
            hashes[i] = hash_text(v->slot_key, vocab_text(v, first + i));
            __builtin_prefetch(&v->slots[(uint32_t)hashes[i] & v->slot_mask]);
        }
        for (uint32_t i = 0; i < count; i++) {
            text_slot *slot = slot_of(v, hashes[i], vocab_text(v, first + i));

            v->texts_repeat = v->texts_repeat || slot->number != 0;
            *slot = (text_slot){(uint32_t)(hashes[i] >> 32), first + i + 1};
        }
    }
    return GUFO_OK;
}

uint32_t vocab_find(const gufo_vocab *v, const char *text, size_t len)
{
    gufo_str wanted = {text, len};

    if (len > v->longest)
        return GUFO_NO_TOKEN;
    return slot_of(v, hash_text(v->slot_key, wanted), wanted)->number - 1;
}

/* Each step waits for memory; those of a batch wait side by side. */
static void find_batch(const gufo_vocab *v, const gufo_str *texts, size_t count, uint32_t *out)
{
    uint64_t hashes[BATCH];

    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_text(v->slot_key, texts[i]);
        __builtin_prefetch(&v->slots[(uint32_t)hashes[i] & v->slot_mask]);
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = v->slots[(uint32_t)hashes[i] & v->slot_mask].number;
        __builtin_prefetch(&v->starts[out[i] == 0 ? 0 : out[i] - 1]);
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&v->bytes[v->starts[out[i] == 0 ? 0 : out[i] - 1]]);
    for (size_t i = 0; i < count; i++)
        out[i] = slot_of(v, hashes[i], texts[i])->number - 1;
}

void vocab_find_batch(const gufo_vocab *v, const gufo_str *texts, size_t count, uint32_t *out)
{
    for (size_t first = 0; first < count; first += BATCH)
        find_batch(v, texts + first, count - first < BATCH ? count - first : BATCH, out + first);
}

uint32_t vocab_find_byte(const gufo_vocab *v, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    char text[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};

    return vocab_find(v, text, sizeof text);
}
