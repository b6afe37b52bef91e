/* Changes that wait until the others are made: elements of arrays (KEY[i]=VALUE), and tokens that
 * are given by their text.
 *
 * An array is written again as a whole, however few of its elements change, and a text is looked
 * for in the whole vocabulary: this happens once for all changes, not for each one.  They are
 * listed by key.  Where another change needs the value of a key earlier, that key does not wait. */
#include "cli/change/edit.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "cli/core/values/array.h"

#include <stdlib.h>

typedef struct waiting_key {
    named named;
    edit_waiting_change *changes;
    size_t count;
} waiting_key;

static void free_changes(void *owner, void *record)
{
    waiting_key *k = record;

    (void)owner;
    for (size_t i = 0; i < k->count; i++)
        free(k->changes[i].kept);
    free(k->changes);
}

void edit_waiting_start(edit_waiting *w, const edit_options *options, gufo_document *document)
{
    *w = (edit_waiting){.options = options, .document = document};
    named_list_init(&w->keys, sizeof(waiting_key), "key", &default_allocator);
    w->keys.drop = free_changes;
}

static waiting_key *find_key(const edit_waiting *w, gufo_str key)
{
    uint64_t slot;

    if (!named_list_find(&w->keys, key, &slot))
        return NULL;
    return (waiting_key *)(void *)named_list_slot(&w->keys, slot);
}

int edit_wait(edit_waiting *w, const char *key, const edit_waiting_change *change)
{
    const waiting_key none = {.count = 0};
    gufo_str name = gufo_str_of(key);
    edit_waiting_change *added;
    gufo_error error = {0};
    waiting_key *k = find_key(w, name);

    if (k == NULL && named_list_add(&w->keys, name, true, &none, &error) != GUFO_OK)
        return report_memory(NULL);
    k = find_key(w, name);
    added = array_add(&k->changes, &k->count, sizeof *added);
    if (added == NULL)
        return CODE_FAILED;
    *added = *change;
    added->number = k->count;
    return CODE_OK;
}

void edit_waiting_drop(edit_waiting *w, const char *key)
{
    (void)named_list_remove_name(&w->keys, gufo_str_of(key));
}

/* ---- making the changes of a key ------------------------------------------------------------ */

static bool comes_before(const void *a, const void *b)
{
    const edit_waiting_change *x = a, *y = b;

    return x->index != y->index ? x->index < y->index : x->number < y->number;
}

static bool encode_element(encoder *e, const gufo_value *value)
{
    uint8_t bytes[8];

    if (value->type == GUFO_VALUE_STRING)
        return encode_string(e, value->as.str);
    number_bytes(value, bytes);
    return encode_bytes(e, bytes, gufo_value_type_size(value->type));
}

/* Encodes all elements with their changes; of several changes of one element the last counts. */
static bool encode_changed(encoder *e, const gufo_array *array, const waiting_key *k)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;
    size_t next = 0;

    sort_items(k->changes, k->count, sizeof *k->changes, comes_before);
    for (uint64_t i = 0; gufo_array_next(&iter, &value); i++) {
        for (; next < k->count && k->changes[next].index == i; next++)
            value = k->changes[next].value;
        if (!encode_element(e, &value))
            return false;
    }
    return !iter.changed;
}

static int make_changes(edit_waiting *w, const waiting_key *k)
{
    encoder e = {.out.allocator = &default_allocator, .big = HOST_IS_BIG_ENDIAN};
    gufo_value value = k->changes[k->count - 1].value;
    gufo_document_entry entry;
    gufo_error error = {0};
    int code = CODE_OK;

    /* The key existed when the changes came, and a change that removes it drops them. */
    if (!gufo_document_find_str(w->document, k->named.name, &entry))
        return CODE_OK;
    if (k->changes->index != EDIT_NO_INDEX) {
        if (!encode_changed(&e, &entry.value.as.array, k))
            code = report_memory(w->options->path);
        value = entry.value;
        value.as.array.data = e.out.data;
        value.as.array.size = e.out.len;
        value.as.array.encoding = (gufo_encoding){3, HOST_IS_BIG_ENDIAN};
    }
    if (code == CODE_OK && gufo_document_set(w->document, k->named.name, &value, &error) != GUFO_OK)
        code = report_refusal(w->options->path, &error);
    buffer_free(&e.out);
    return code;
}

/* ---- the end of waiting --------------------------------------------------------------------- */

static int make_and_drop(edit_waiting *w, gufo_str key)
{
    const waiting_key *k = find_key(w, key);
    int code = k != NULL ? make_changes(w, k) : CODE_OK;

    (void)named_list_remove_name(&w->keys, key);
    return code;
}

/* Looks for all texts at once, in the vocabulary as the edit leaves it. */
static int find_tokens(edit_waiting *w)
{
    int code = make_and_drop(w, gufo_str_of(EDIT_TOKENS_KEY));
    edit_waiting_change **changes = NULL, **added;
    const waiting_key *k;
    size_t count = 0;
    uint64_t slot = 0;

    while (code == CODE_OK && (k = named_list_next(&w->keys, &slot)) != NULL)
        for (size_t i = 0; i < k->count && code == CODE_OK; i++) {
            if (!k->changes[i].is_token)
                continue;
            added = array_add(&changes, &count, sizeof(edit_waiting_change *));
            if (added != NULL)
                *added = &k->changes[i];
            code = added != NULL ? CODE_OK : CODE_FAILED;
        }
    if (code == CODE_OK && count > 0)
        code = edit_find_tokens(w, changes, count);
    free(changes);
    return code;
}

int edit_waiting_make(edit_waiting *w, const char *key)
{
    const waiting_key *k = find_key(w, gufo_str_of(key));
    bool has_token = false;
    int code = CODE_OK;

    for (size_t i = 0; k != NULL && i < k->count; i++)
        has_token = has_token || k->changes[i].is_token;
    if (has_token)
        code = find_tokens(w);
    return code == CODE_OK ? make_and_drop(w, gufo_str_of(key)) : code;
}

int edit_waiting_make_all(edit_waiting *w)
{
    int code = find_tokens(w);
    uint64_t slot = 0;
    const waiting_key *k;

    while (code == CODE_OK && (k = named_list_next(&w->keys, &slot)) != NULL)
        code = make_changes(w, k);
    (void)named_list_remove_all(&w->keys, NULL, NULL);
    return code;
}
