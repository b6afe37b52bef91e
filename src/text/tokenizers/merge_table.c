/* Reading tokenizer.ggml.merges: "Ġt he" at place i merges Ġt and he with rank i.
 *
 * Results and parts that are not tokens become symbols of their own; at the end, each must be a single
 * character or a result.  The list is read in batches, whose texts are looked up together: the look-ups
 * wait for memory, and side by side they wait once. */
#include "text/tokenizers/merge_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"
#include "text/vocabulary/joined_texts.h"
#include "text/vocabulary/vocabulary.h"

/* ---- symbols that are not tokens ------------------------------------------------------------ */

static gufo_str extra_text(const merge_table *t, uint32_t extra)
{
    uint32_t begin = extra == 0 ? 0 : t->extras[extra - 1].end;

    return (gufo_str){(const char *)t->bytes.data + begin, t->extras[extra].end - begin};
}

gufo_str merge_table_text(const merge_table *t, const gufo_vocab *v, uint32_t symbol)
{
    return symbol < v->size ? vocab_text(v, symbol) : extra_text(t, symbol - v->size);
}

/* The slot of a text: the one that has it, or the empty one where it belongs. */
static uint32_t *extra_slot(const merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t at = (uint32_t)hash_text(v->texts.slot_key, text) & t->slot_mask;

    while (t->slots[at] != 0 && !gufo_str_equal(extra_text(t, t->slots[at] - 1), text))
        at = (at + 1) & t->slot_mask;
    return &t->slots[at];
}

/* Room for one more, with half of the slots empty. */
static bool grow_slots(merge_table *t, const gufo_vocab *v)
{
    uint32_t count = t->slots == NULL ? 64 : 2 * (t->slot_mask + 1);

    if (t->slots != NULL && t->extra_count < t->slot_mask / 2)
        return true;
    mem_free(&v->allocator, t->slots);
    t->slots = mem_array(&v->allocator, count, sizeof *t->slots);
    if (t->slots == NULL)
        return false;
    t->slot_mask = count - 1;
    for (uint32_t i = 0; i < t->extra_count; i++)
        *extra_slot(t, v, extra_text(t, i)) = i + 1;
    return true;
}

uint32_t merge_table_find(const merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t id = vocab_find(v, text.data, text.len);
    uint32_t slot = id != GUFO_NO_TOKEN || t->slots == NULL ? 0 : *extra_slot(t, v, text);

    return slot == 0 ? id : v->size + slot - 1;
}

/* The symbol of a text that is not a token.  A new one is `wanted_by` a merge. */
static uint32_t add_extra(merge_table *t, const gufo_vocab *v, gufo_str text, uint32_t wanted_by)
{
    extra_symbol *extras;
    uint32_t *slot;
    void *bytes;

    if (!grow_slots(t, v))
        return NO_SYMBOL;
    slot = extra_slot(t, v, text);
    if (*slot != 0)
        return v->size + *slot - 1;
    if (t->extra_count >= UINT32_MAX / 4 || t->bytes.len > UINT32_MAX - text.len)
        return NO_SYMBOL;
    extras = mem_grow(&v->allocator, t->extras, t->extra_count, &t->extra_room, sizeof *extras);
    if (extras == NULL)
        return NO_SYMBOL;
    t->extras = extras;
    bytes = buffer_extend(&t->bytes, text.len);
    if (bytes == NULL)
        return NO_SYMBOL;
    memcpy(bytes, text.data, text.len);
    extras[t->extra_count++] = (extra_symbol){(uint32_t)t->bytes.len, wanted_by};
    *slot = (uint32_t)t->extra_count;
    return v->size + *slot - 1;
}

uint32_t merge_table_add(merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t id = vocab_find(v, text.data, text.len);

    return id != GUFO_NO_TOKEN ? id : add_extra(t, v, text, NO_RANK);
}

/* ---- walking the list ----------------------------------------------------------------------- */

typedef struct merge_walk {
    merge_table *table;
    const gufo_vocab *vocab;
    gufo_entry entry;
    gufo_array_iter iter;
    uint32_t first, count;            /* of the batch */
    gufo_str parts[2 * JOINED_BATCH]; /* left and right ones, in turn */
    uint32_t symbols[2 * JOINED_BATCH];
    joined_texts joined;
} merge_walk;

static gufo_status fail_merge(const merge_walk *w, uint32_t index, gufo_error *error,
                              const char *what, gufo_str text)
{
    return fail_with(error, GUFO_E_MALFORMED, w->entry.value_offset,
                     "\"tokenizer.ggml.merges\": merge %" PRIu32 " %s %s", index, what,
                     QUOTED(text));
}

/* Cuts at the first space that is not the first byte. */
static bool split_merge(gufo_str text, gufo_str parts[2])
{
    const char *space = text.len < 3 ? NULL : memchr(text.data + 1, ' ', text.len - 2);

    if (space == NULL)
        return false;
    parts[0] = (gufo_str){text.data, (size_t)(space - text.data)};
    parts[1] = str_from(text, parts[0].len + 1);
    return true;
}

/* Reads the next batch; w->count is 0 at the end. */
static gufo_status next_batch(merge_walk *w, gufo_error *error)
{
    gufo_value value;

    w->first += w->count;
    for (w->count = 0; w->count < JOINED_BATCH && gufo_array_next(&w->iter, &value); w->count++) {
        if (!split_merge(value.as.str, w->parts + 2 * (size_t)w->count))
            return fail_merge(w, w->first + w->count, error,
                              "is not two parts with a space between:", value.as.str);
    }
    if (w->iter.changed ||
        (w->count < JOINED_BATCH && w->first + w->count != w->table->pairs.count))
        return fail_with(error, GUFO_E_CHANGED, w->entry.value_offset,
                         "\"tokenizer.ggml.merges\" changed while it was read");
    return GUFO_OK;
}

/* ---- results -------------------------------------------------------------------------------- */

static uint32_t add_result(merge_walk *w, gufo_str text)
{
    uint32_t symbol = add_extra(w->table, w->vocab, text, NO_RANK);

    if (symbol != NO_SYMBOL)
        w->table->extras[symbol - w->vocab->size].wanted_by = NO_RANK;
    return symbol;
}

static gufo_status find_results(merge_walk *w, gufo_error *error)
{
    uint32_t *results = w->table->pairs.results + w->first;

    if (!joined_find(&w->joined, w->parts, w->count, results))
        return fail_memory(error);
    for (uint32_t i = 0; i < w->count; i++) {
        gufo_str text;

        if (results[i] != GUFO_NO_TOKEN)
            continue;
        text = joined_text(&w->joined, w->parts + 2 * (size_t)i);
        results[i] = text.data != NULL ? add_result(w, text) : NO_SYMBOL;
        if (results[i] == NO_SYMBOL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Whether pieces of text can hold this as one character. */
static bool is_character(const gufo_vocab *v, gufo_str text)
{
    size_t size;
    uint32_t code_point = lenient_decode(text.data, text.len, &size);

    return size == text.len && (!v->byte_alphabet || code_point < BYTE_ALPHABET_END);
}

static gufo_status find_parts(merge_walk *w, gufo_error *error)
{
    text_table_find_batch(&w->vocab->texts, w->parts, 2 * (size_t)w->count, w->symbols);
    for (uint32_t i = 0; i < 2 * w->count; i++) {
        bool is_made = w->symbols[i] != GUFO_NO_TOKEN || is_character(w->vocab, w->parts[i]);

        if (w->symbols[i] == GUFO_NO_TOKEN)
            w->symbols[i] =
                add_extra(w->table, w->vocab, w->parts[i], is_made ? NO_RANK : w->first + i / 2);
        if (w->symbols[i] == NO_SYMBOL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

static gufo_status check_parts(const merge_walk *w, gufo_error *error)
{
    const merge_table *t = w->table;

    for (uint32_t i = 0; i < t->extra_count; i++)
        if (t->extras[i].wanted_by != NO_RANK)
            return fail_merge(
                w, t->extras[i].wanted_by, error,
                "has a part that is neither a token nor the result of a merge:", extra_text(t, i));
    return GUFO_OK;
}

/* Of equal pairs the first one counts. */
static void put_pairs(merge_walk *w)
{
    merge_pairs *t = &w->table->pairs;
    const uint32_t *symbols = w->symbols;

    for (size_t i = 0; i < w->count; i++)
        merge_prefetch(t, (merge_pair){symbols[2 * i], symbols[2 * i + 1], 0});
    for (uint32_t i = 0; i < w->count; i++)
        (void)merge_pairs_put(t, (merge_pair){symbols[2 * i], symbols[2 * i + 1], w->first + i});
}

static gufo_status read_batches(merge_walk *w, gufo_error *error)
{
    gufo_status status;

    do {
        status = next_batch(w, error);
        if (status == GUFO_OK)
            status = find_results(w, error);
        if (status == GUFO_OK)
            status = find_parts(w, error);
        if (status == GUFO_OK)
            put_pairs(w);
    } while (status == GUFO_OK && w->count > 0);
    return status == GUFO_OK ? check_parts(w, error) : status;
}

/* ---- the table ------------------------------------------------------------------------------ */

static gufo_status read_list(merge_walk *w, gufo_error *error)
{
    merge_pairs *t = &w->table->pairs;
    gufo_array list;
    gufo_status status = gufo_value_array(&w->entry.value, GUFO_VALUE_STRING, &list, error);

    if (status != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, w->entry.value_offset,
                         "\"tokenizer.ggml.merges\" must be an array of strings");
    if (list.count > UINT32_MAX / 4 / sizeof *t->pairs)
        return fail_with(error, GUFO_E_LIMIT, w->entry.value_offset,
                         "\"tokenizer.ggml.merges\" has %s merges, which are too many",
                         GROUPED(list.count));
    w->iter = gufo_array_start(&list);
    status = merge_pairs_open(t, (uint32_t)list.count, &w->vocab->allocator, error);
    return status == GUFO_OK ? read_batches(w, error) : status;
}

gufo_status merge_table_open(merge_table *t, const gufo_vocab *v, const gufo_model *model,
                             bool *found, gufo_error *error)
{
    merge_walk w = {
        .table = t, .vocab = v, .joined = {.texts = &v->texts, .joined.allocator = &v->allocator}};
    gufo_status status;

    t->bytes.allocator = &v->allocator;
    *found = vocab_entry(model, "merges", &w.entry);
    status = *found ? read_list(&w, error) : merge_pairs_open(&t->pairs, 0, &v->allocator, error);
    gufo_text_free(&w.joined.joined);
    return status;
}

void merge_table_close(merge_table *t, const gufo_vocab *v)
{
    merge_pairs_close(&t->pairs, &v->allocator);
    mem_free(&v->allocator, t->extras);
    mem_free(&v->allocator, t->slots);
    buffer_free(&t->bytes);
}
