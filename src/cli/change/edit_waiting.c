/* Changes that wait until the others are made: elements of arrays (KEY[i]=VALUE), and tokens that
 * are given by their text.
 *
 * An array is written again as a whole, however few of its elements change, and a text is looked
 * for in the whole vocabulary: this happens once for all changes, not for each one.  They are
 * listed by key.  Where another change needs the value of a key earlier, that key does not wait. */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "cli/change/edit.h"
#include "cli/core/options/names.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/core/values/value_read.h"
#include "format/file/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ids of tokens --------------------------------------------------------------------------- */

/* Finds the ids of tokens that are given by their text in the vocabulary, all of them in one walk.
 * Of several tokens with one text the first counts, as for readers. */

typedef struct wanted {
    gufo_str text;
    uint64_t id, times; /* of the first one, and how many there are */
} wanted;

typedef struct lookup {
    const char *path; /* of the file */
    gufo_array tokens;
    wanted *list; /* each text once */
    name_index index;
} lookup;

static gufo_str text_of(const void *owner, uint64_t index)
{
    return ((const wanted *)owner)[index].text;
}

/* False without memory. */
static bool list_texts(lookup *l, edit_waiting_change **changes, size_t count)
{
    uint64_t texts = 0, first;
    gufo_error error;

    l->list = calloc(count, sizeof *l->list);
    if (l->list == NULL ||
        name_index_new(&l->index, count, text_of, l->list, &default_allocator, &error) != GUFO_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        l->list[texts].text = changes[i]->value.as.str;
        texts += name_index_add(&l->index, texts, &first);
    }
    return true;
}

static void walk(lookup *l)
{
    gufo_array_iter iter = gufo_array_start(&l->tokens);
    uint64_t number;
    gufo_value token;

    for (uint64_t id = 0; gufo_array_next(&iter, &token); id++)
        if (name_index_find(&l->index, token.as.str, &number) && l->list[number].times++ == 0)
            l->list[number].id = id;
}

/* ---- ids of tokens: results ------------------------------------------------------------------ */

/* The option, as if it gave this text alone: "--set tokenizer.ggml.eos_token_ids=<s>". */
typedef struct option_text {
    char text[256];
} option_text;

static option_text text_option(const edit_waiting_change *change)
{
    const edit_operation *operation = change->operation;
    gufo_str text = change->value.as.str;
    option_text out;

    snprintf(out.text, sizeof out.text, "%s %.*s=%.*s",
             operation->kind == EDIT_SET_JSON ? "--set-json" : "--set",
             (int)strcspn(operation->text, "="), operation->text, (int)text.len, text.data);
    return out;
}

/* With the token that is nearest to the text, where it is near enough to be what was meant: every
 * byte counts, and a third of them may be wrong. */
static int fail_missing(const lookup *l, const edit_waiting_change *change)
{
    const option_text option = text_option(change);
    suggestion near = suggest_start(change->value.as.str);
    gufo_array_iter iter = gufo_array_start(&l->tokens);
    uint64_t near_id = 0;
    gufo_value token;

    near.best = near.word.len / 3 + 1;
    for (uint64_t id = 0; gufo_array_next(&iter, &token); id++)
        if (suggest_offer(&near, token.as.str))
            near_id = id;
    if (near.name.data == NULL)
        return report_as(CODE_USAGE, l->path, "%s: the vocabulary has no such token", option.text);
    return report_as(CODE_USAGE, l->path,
                     "%s: the vocabulary has no such token; did you mean '%.*s' (%ju)?",
                     option.text, (int)near.name.len, near.name.data, (uintmax_t)near_id);
}

/* The id becomes the value. */
static int take_id(lookup *l, edit_waiting_change *change)
{
    const option_text option = text_option(change);
    uint64_t number = 0;
    wanted *found =
        name_index_find(&l->index, change->value.as.str, &number) ? &l->list[number] : NULL;
    char id[24];

    if (found == NULL || found->times == 0)
        return fail_missing(l, change);
    snprintf(id, sizeof id, "%" PRIu64, found->id);
    if (found->times > 1)
        report_warning(l->path, "%s: %s tokens have this text; %s is the first", option.text,
                       human_grouped(found->times).text, id);
    found->times = 1; /* reported once */
    change->is_token = false;
    if (value_read(change->type, id, &change->value))
        return CODE_OK;
    return report_usage("%s: id %s is not a value of type %s", option.text, id,
                        gufo_value_type_name(change->type));
}

/* Replaces texts by ids. */
static int replace_texts(const edit_waiting *w, edit_waiting_change **changes, size_t count)
{
    lookup l = {.path = w->options->path};
    gufo_document_entry tokens;
    int code = CODE_OK;

    if (!gufo_document_find(w->document, EDIT_TOKENS_KEY, &tokens) ||
        tokens.value.type != GUFO_VALUE_ARRAY || tokens.value.as.array.type != GUFO_VALUE_STRING)
        return report_as(CODE_USAGE, l.path,
                         "--set %s: the file has no vocabulary (%s) to look this up in",
                         changes[0]->operation->text, EDIT_TOKENS_KEY);
    l.tokens = tokens.value.as.array;
    if (list_texts(&l, changes, count))
        walk(&l);
    else
        code = report_memory(NULL);
    for (size_t i = 0; i < count && code == CODE_OK; i++)
        code = take_id(&l, changes[i]);
    name_index_free(&l.index, &default_allocator);
    free(l.list);
    return code;
}

/* ---- waiting --------------------------------------------------------------------------------- */

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

/* ---- making the changes of a key ------------------------------------------------------------- */

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
    if (code == CODE_OK &&
        gufo_document_set_entry(w->document, k->named.name, &value, &error) != GUFO_OK)
        code = report_refusal(w->options->path, &error);
    buffer_free(&e.out);
    return code;
}

/* ---- the end of waiting ---------------------------------------------------------------------- */

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
        code = replace_texts(w, changes, count);
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
