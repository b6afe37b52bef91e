/* Reading tokenizer.ggml.merges: "Ġt he" at place i merges Ġt and he with rank i.
 *
 * The list is walked twice: first every result becomes a symbol, then both parts must be symbols, or
 * single characters.  Both walks take a batch at a time and look up its texts together: the look-ups
 * wait for memory, and side by side they wait once. */
#include "text/tokenizers/merge_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/vocabulary/characters.h"
#include "text/vocabulary/vocabulary.h"

enum { BATCH = 32 };

/* ---- symbols that are not tokens ------------------------------------------------------------ */

static gufo_str extra_text(const merge_table *t, uint32_t extra)
{
    uint32_t begin = extra == 0 ? 0 : t->ends[extra - 1];

    return (gufo_str){(const char *)t->bytes.data + begin, t->ends[extra] - begin};
}

gufo_str merge_table_text(const merge_table *t, const gufo_vocab *v, uint32_t symbol)
{
    return symbol < v->size ? vocab_text(v, symbol) : extra_text(t, symbol - v->size);
}

/* The slot of a text: the one that has it, or the empty one where it belongs. */
static uint32_t *extra_slot(const merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t at = (uint32_t)hash_text(v->slot_key, text) & t->slot_mask;

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

/* The text is not a token. */
static uint32_t add_extra(merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t *slot, *ends;
    void *bytes;

    if (!grow_slots(t, v))
        return NO_SYMBOL;
    slot = extra_slot(t, v, text);
    if (*slot != 0)
        return v->size + *slot - 1;
    if (t->extra_count >= UINT32_MAX / 4 || t->bytes.len > UINT32_MAX - text.len)
        return NO_SYMBOL;
    ends = mem_grow(&v->allocator, t->ends, t->extra_count, &t->end_room, sizeof *ends);
    if (ends == NULL)
        return NO_SYMBOL;
    t->ends = ends;
    bytes = buffer_extend(&t->bytes, text.len);
    if (bytes == NULL)
        return NO_SYMBOL;
    memcpy(bytes, text.data, text.len);
    ends[t->extra_count++] = (uint32_t)t->bytes.len;
    *slot = (uint32_t)t->extra_count;
    return v->size + *slot - 1;
}

uint32_t merge_table_add(merge_table *t, const gufo_vocab *v, gufo_str text)
{
    uint32_t id = vocab_find(v, text.data, text.len);

    return id != GUFO_NO_TOKEN ? id : add_extra(t, v, text);
}

/* ---- walking the list ----------------------------------------------------------------------- */

typedef struct merge_walk {
    merge_table *table;
    const gufo_vocab *vocab;
    gufo_entry entry;
    gufo_array_iter iter;
    uint32_t first, count;     /* of the batch */
    gufo_str parts[2 * BATCH]; /* left and right ones, in turn */
    uint32_t symbols[2 * BATCH];
    buffer joined;
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
    for (w->count = 0; w->count < BATCH && gufo_array_next(&w->iter, &value); w->count++) {
        if (!split_merge(value.as.str, w->parts + 2 * (size_t)w->count))
            return fail_merge(w, w->first + w->count, error,
                              "is not two parts with a space between:", value.as.str);
    }
    if (w->iter.changed || (w->count < BATCH && w->first + w->count != w->table->count))
        return fail_with(error, GUFO_E_CHANGED, w->entry.value_offset,
                         "\"tokenizer.ggml.merges\" changed while it was read");
    return GUFO_OK;
}

static void start_walk(merge_walk *w, const gufo_array *list)
{
    w->iter = gufo_array_start(list);
    w->first = w->count = 0;
}

/* ---- results -------------------------------------------------------------------------------- */

static bool is_joined(gufo_str text, const gufo_str parts[2])
{
    return text.len == parts[0].len + parts[1].len &&
           memcmp(text.data, parts[0].data, parts[0].len) == 0 &&
           memcmp(text.data + parts[0].len, parts[1].data, parts[1].len) == 0;
}

/* Tokens mostly come in the order of the merges that make them: `guess` is the next one. */
static gufo_status find_result(merge_walk *w, uint32_t i, uint32_t guess, gufo_error *error)
{
    const gufo_str *parts = w->parts + 2 * (size_t)i;
    const gufo_vocab *v = w->vocab;
    uint32_t *result = &w->table->results[w->first + i];
    char *text;

    *result = guess;
    if (guess < v->size && is_joined(vocab_text(v, guess), parts))
        return GUFO_OK;
    w->joined.len = 0;
    text = buffer_extend(&w->joined, (uint64_t)parts[0].len + parts[1].len);
    if (text == NULL)
        return fail_memory(error);
    memcpy(text, parts[0].data, parts[0].len);
    memcpy(text + parts[0].len, parts[1].data, parts[1].len);
    *result = merge_table_add(w->table, v, (gufo_str){text, w->joined.len});
    return *result == NO_SYMBOL ? fail_memory(error) : GUFO_OK;
}

static gufo_status find_results(merge_walk *w, gufo_error *error)
{
    uint32_t guess = 0;
    gufo_status status;

    do {
        status = next_batch(w, error);
        for (uint32_t i = 0; status == GUFO_OK && i < w->count; i++) {
            status = find_result(w, i, guess, error);
            guess = w->table->results[w->first + i] + 1;
        }
    } while (status == GUFO_OK && w->count > 0);
    return status;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Whether pieces of text can hold this as one character. */
static bool is_character(const gufo_vocab *v, gufo_str text)
{
    size_t size;
    uint32_t code_point = lenient_decode(text.data, text.len, &size);

    return size == text.len && (!v->byte_alphabet || code_point < 0x144);
}

static gufo_status find_part(merge_walk *w, size_t i, gufo_error *error)
{
    gufo_str text = w->parts[i];
    merge_table *t = w->table;
    const gufo_vocab *v = w->vocab;

    if (w->symbols[i] != GUFO_NO_TOKEN)
        return GUFO_OK;
    if (is_character(v, text))
        w->symbols[i] = add_extra(t, v, text);
    else if (t->slots == NULL || *extra_slot(t, v, text) == 0)
        return fail_merge(w, w->first + (uint32_t)i / 2, error,
                          "has a part that is neither a token nor the result of a merge:", text);
    else
        w->symbols[i] = v->size + *extra_slot(t, v, text) - 1;
    return w->symbols[i] == NO_SYMBOL ? fail_memory(error) : GUFO_OK;
}

/* Of equal pairs the first one counts. */
static void put_pair(merge_table *t, merge_pair pair)
{
    uint64_t hash = merge_hash(t, pair.left, pair.right);
    uint32_t place = merge_place(t, hash);

    t->filter[(uint32_t)hash >> 5 & t->filter_mask] |= (uint32_t)1 << (hash & 31);
    while (t->pairs[place].rank != NO_RANK) {
        if (t->pairs[place].left == pair.left && t->pairs[place].right == pair.right)
            return;
        if (++place == t->places)
            place = 0;
    }
    t->pairs[place] = pair;
}

static gufo_status put_batch(merge_walk *w, gufo_error *error)
{
    merge_table *t = w->table;
    const uint32_t *symbols = w->symbols;
    gufo_status status = GUFO_OK;

    vocab_find_batch(w->vocab, w->parts, 2 * (size_t)w->count, w->symbols);
    for (size_t i = 0; status == GUFO_OK && i < 2 * (size_t)w->count; i++)
        status = find_part(w, i, error);
    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < w->count; i++)
        __builtin_prefetch(
            &t->pairs[merge_place(t, merge_hash(t, symbols[2 * i], symbols[2 * i + 1]))]);
    for (uint32_t i = 0; i < w->count; i++)
        put_pair(t, (merge_pair){symbols[2 * i], symbols[2 * i + 1], w->first + i});
    return GUFO_OK;
}

/* A third of the places stays empty.  The filter has eight bits or more for a pair. */
static gufo_status make_pairs(merge_table *t, const gufo_vocab *v, gufo_error *error)
{
    uint32_t words = 64;

    while (words < t->count / 4)
        words *= 2;
    t->filter_mask = words - 1;
    t->filter = mem_array(&v->allocator, words, sizeof *t->filter);
    t->key = hash_key_new();
    t->places = t->count + t->count / 2 + 1;
    t->pairs = mem_alloc(&v->allocator, (size_t)t->places * sizeof *t->pairs);
    if (t->pairs == NULL || t->filter == NULL)
        return fail_memory(error);
    memset(t->pairs, 0xFF, (size_t)t->places * sizeof *t->pairs);
    return GUFO_OK;
}

static gufo_status find_pairs(merge_walk *w, gufo_error *error)
{
    gufo_status status;

    do {
        status = next_batch(w, error);
        if (status == GUFO_OK)
            status = put_batch(w, error);
    } while (status == GUFO_OK && w->count > 0);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------ */

static gufo_status read_list(merge_walk *w, gufo_error *error)
{
    merge_table *t = w->table;
    gufo_array list;
    gufo_status status = gufo_value_array(&w->entry.value, GUFO_VALUE_STRING, &list, error);

    if (status != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, w->entry.value_offset,
                         "\"tokenizer.ggml.merges\" must be an array of strings");
    if (list.count > UINT32_MAX / 4 / sizeof *t->pairs)
        return fail_with(error, GUFO_E_LIMIT, w->entry.value_offset, "%" PRIu64 " merges: too many",
                         list.count);
    t->count = (uint32_t)list.count;
    t->results = mem_array(&w->vocab->allocator, list.count, sizeof *t->results);
    if (t->results == NULL)
        return fail_memory(error);
    start_walk(w, &list);
    status = find_results(w, error);
    start_walk(w, &list);
    if (status == GUFO_OK)
        status = make_pairs(t, w->vocab, error);
    if (status == GUFO_OK)
        status = find_pairs(w, error);
    return status;
}

gufo_status merge_table_open(merge_table *t, const gufo_vocab *v, const gufo_model *model,
                             bool required, gufo_error *error)
{
    merge_walk w = {.table = t, .vocab = v, .joined.allocator = &v->allocator};
    gufo_status status;

    t->bytes.allocator = &v->allocator;
    if (vocab_entry(model, "merges", &w.entry))
        status = read_list(&w, error);
    else if (required)
        return refuse(error, GUFO_E_MALFORMED,
                      "byte-pair encoding needs \"tokenizer.ggml.merges\", which is missing");
    else
        status = make_pairs(t, v, error);
    buffer_free(&w.joined);
    return status;
}

void merge_table_close(merge_table *t, const gufo_vocab *v)
{
    mem_free(&v->allocator, t->pairs);
    mem_free(&v->allocator, t->filter);
    mem_free(&v->allocator, t->results);
    mem_free(&v->allocator, t->ends);
    mem_free(&v->allocator, t->slots);
    buffer_free(&t->bytes);
}
