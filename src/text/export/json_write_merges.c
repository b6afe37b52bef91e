/* The merges of a tokenizer.json.
 *
 * A byte-level vocabulary has them as keys.  One of pieces has scores: a merge for every way to cut
 * a token into two tokens, those of tokens with high scores first. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "text/export/json_writing.h"
#include "text/characters/characters.h"
#include "text/vocabulary/vocabulary.h"

gufo_status json_copy_merges(json_export *e, json_t *merges)
{
    gufo_array_iter walk;
    gufo_value value;
    gufo_array array;
    gufo_entry entry;

    if (merges == NULL)
        return fail_memory(e->error);
    if (!vocab_entry(e->source, "merges", &entry))
        return GUFO_OK;
    if (gufo_value_array(&entry.value, GUFO_VALUE_STRING, &array, e->error) != GUFO_OK)
        return GUFO_E_TYPE;
    for (walk = gufo_array_start(&array); gufo_array_next(&walk, &value);) {
        gufo_str text = value.as.str;

        if (gufo_utf8_valid_prefix(text) != text.len || memchr(text.data, '\0', text.len) != NULL)
            return refuse(e->error, GUFO_E_MALFORMED,
                          "merge %" PRIu64 ", %s, has bytes that JSON cannot have", walk.index - 1,
                          QUOTED(text));
        if (json_array_append_new(merges, json_stringn(text.data, text.len)) != 0)
            return fail_memory(e->error);
    }
    return walk.changed ? refuse(e->error, GUFO_E_CHANGED, "the file was changed in the meantime")
                        : GUFO_OK;
}

/* ---- from scores ---------------------------------------------------------------------------- */

static bool scores_higher(const void *owner, uint32_t a, uint32_t b)
{
    const gufo_vocab *v = owner;
    float left = vocab_score(v, a), right = vocab_score(v, b);

    return left != right ? left > right : a < b;
}

typedef struct cut {
    uint32_t left, right;
} cut;

static bool is_before(const void *a, const void *b)
{
    const cut *left = a, *right = b;

    return left->left != right->left ? left->left < right->left : left->right < right->right;
}

/* Longer tokens, and cuts beyond these, are not made by merges: no vocabulary in use has them, and
 * looking for them could take the square of a file's size. */
enum { LONGEST_TOKEN = 1024, MOST_CUTS = 256 };

static size_t cuts_of(const gufo_vocab *v, uint32_t id, uint32_t count, cut cuts[MOST_CUTS])
{
    gufo_str text = vocab_text(v, id);
    size_t found = 0, at = 0;

    while (found < MOST_CUTS && text.len <= LONGEST_TOKEN) {
        cut c;

        at += length_by_first_byte(text.data + at, text.len - at);
        if (at >= text.len)
            break;
        c.left = vocab_find(v, text.data, at);
        c.right = vocab_find(v, text.data + at, text.len - at);
        if (c.left < count && c.right < count)
            cuts[found++] = c;
    }
    sort_items(cuts, found, sizeof *cuts, is_before);
    return found;
}

static gufo_status add_merge(json_export *e, json_t *merges, cut c)
{
    gufo_str left = vocab_text(e->vocab, c.left), right = vocab_text(e->vocab, c.right);
    json_t *pair;
    char *text;

    /* A space would end the first part. */
    if (memchr(left.data, ' ', left.len) != NULL || memchr(right.data, ' ', right.len) != NULL) {
        pair = json_pack("[s%, s%]", left.data, left.len, right.data, right.len);
    } else {
        text = mem_alloc(&e->vocab->allocator, left.len + right.len + 1);
        if (text == NULL)
            return fail_memory(e->error);
        memcpy(text, left.data, left.len);
        text[left.len] = ' ';
        memcpy(text + left.len + 1, right.data, right.len);
        pair = json_stringn(text, left.len + right.len + 1);
        mem_free(&e->vocab->allocator, text);
    }
    return json_array_append_new(merges, pair) == 0 ? GUFO_OK : fail_memory(e->error);
}

gufo_status json_derive_merges(json_export *e, json_t *merges)
{
    const gufo_vocab *v = e->vocab;
    uint32_t *order = mem_array(&v->allocator, e->count, sizeof *order);
    gufo_status status = order != NULL && merges != NULL ? GUFO_OK : fail_memory(e->error);
    cut cuts[MOST_CUTS];

    for (uint32_t id = 0; status == GUFO_OK && id < e->count; id++)
        order[id] = id;
    if (status == GUFO_OK)
        sort_indices(order, e->count, scores_higher, v);
    for (uint32_t i = 0; status == GUFO_OK && i < e->count; i++) {
        size_t count = vocab_type(v, order[i]) == 1 ? cuts_of(v, order[i], e->count, cuts) : 0;

        for (size_t k = 0; status == GUFO_OK && k < count; k++)
            status = add_merge(e, merges, cuts[k]);
    }
    mem_free(&v->allocator, order);
    return status;
}
