/* Changes that wait until the others are made: elements of arrays (KEY[i]=VALUE), and tokens that
 * are given by their text.
 *
 * An array is written again as a whole, however few of its elements change, and a text is looked
 * for in the whole vocabulary: this happens once for all changes, not for each one.  They are
 * listed by key.  Where another change needs the value of a key earlier, that key does not wait. */
#include "cli/change/edit.h"
#include "cli/core/options/names.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ids of tokens --------------------------------------------------------------------------- */

/* Tokens that are given by their text.  Of several tokens with one text the first counts, as for
 * readers. */
typedef struct lookup {
    const char *path; /* of the file */
    gufo_array tokens;
    gufo_token_search *list; /* of each change */
    size_t count;
} lookup;

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

/* Each text is reported once. */
static void warn_of_several(lookup *l, const gufo_token_search *found, const char *option)
{
    const gufo_str text = found->text;

    report_warning(l->path, "%s: %s tokens have this text; %" PRIu64 " is the first", option,
                   human_grouped(found->times).text, found->id);
    for (size_t i = 0; i < l->count; i++)
        if (gufo_str_equal(l->list[i].text, text))
            l->list[i].times = 1;
}

/* The id becomes the value. */
static int take_id(lookup *l, const gufo_token_search *found, edit_waiting_change *change)
{
    const option_text option = text_option(change);
    char id[24];

    if (found->times == 0)
        return fail_missing(l, change);
    snprintf(id, sizeof id, "%" PRIu64, found->id);
    if (found->times > 1)
        warn_of_several(l, found, option.text);
    change->is_token = false;
    if (gufo_value_read(change->type, id, &change->value))
        return CODE_OK;
    return report_usage("%s: id %s is not a value of type %s", option.text, id,
                        gufo_value_type_name(change->type));
}

static int take_ids(lookup *l, const gufo_document *document, edit_waiting_change **changes)
{
    gufo_error error;
    int code = CODE_OK;

    for (size_t i = 0; i < l->count; i++)
        l->list[i].text = changes[i]->value.as.str;
    if (gufo_document_find_tokens(document, l->list, l->count, &error) != GUFO_OK)
        return report_error(l->path, &error);
    for (size_t i = 0; i < l->count && code == CODE_OK; i++)
        code = take_id(l, &l->list[i], changes[i]);
    return code;
}

/* Replaces texts by ids. */
static int replace_texts(const edit_waiting *w, edit_waiting_change **changes, size_t count)
{
    lookup l = {.path = w->options->path, .count = count};
    gufo_document_entry tokens;
    int code;

    if (!gufo_document_find(w->document, EDIT_TOKENS_KEY, &tokens) ||
        tokens.value.type != GUFO_VALUE_ARRAY || tokens.value.as.array.type != GUFO_VALUE_STRING)
        return report_as(CODE_USAGE, l.path,
                         "--set %s: the file has no vocabulary (%s) to look this up in",
                         changes[0]->operation->text, EDIT_TOKENS_KEY);
    l.tokens = tokens.value.as.array;
    l.list = calloc(count, sizeof *l.list);
    code = l.list != NULL ? take_ids(&l, w->document, changes) : report_memory(NULL);
    free(l.list);
    return code;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void free_key(edit_waiting_key *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->changes[i].kept);
    free(k->changes);
    free(k->name);
}

void edit_waiting_end(edit_waiting *w)
{
    for (size_t i = 0; i < w->count; i++)
        free_key(&w->keys[i]);
    free(w->keys);
    w->keys = NULL;
    w->count = 0;
}

static edit_waiting_key *find_key(const edit_waiting *w, const char *key)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->keys[i].name, key) == 0)
            return &w->keys[i];
    return NULL;
}

static edit_waiting_key *add_key(edit_waiting *w, const char *key)
{
    edit_waiting_key *k = array_add(&w->keys, &w->count, sizeof *k);

    if (k == NULL)
        return NULL;
    k->name = strdup(key);
    if (k->name != NULL)
        return k;
    w->count--;
    (void)report_memory(NULL);
    return NULL;
}

int edit_wait(edit_waiting *w, const char *key, const edit_waiting_change *change)
{
    edit_waiting_change *added;
    edit_waiting_key *k = find_key(w, key);

    if (k == NULL)
        k = add_key(w, key);
    added = k != NULL ? array_add(&k->changes, &k->count, sizeof *added) : NULL;
    if (added == NULL)
        return CODE_FAILED;
    *added = *change;
    return CODE_OK;
}

void edit_waiting_drop(edit_waiting *w, const char *key)
{
    edit_waiting_key *k = find_key(w, key);

    if (k == NULL)
        return;
    free_key(k);
    memmove(k, k + 1, (size_t)(w->keys + w->count - (k + 1)) * sizeof *k);
    w->count--;
}

/* ---- making the changes of a key ------------------------------------------------------------- */

static gufo_status set_elements(edit_waiting *w, const edit_waiting_key *k, gufo_error *error)
{
    gufo_element_change *changes = calloc(k->count + 1, sizeof *changes);
    gufo_status status;

    if (changes == NULL)
        return error_set(error, GUFO_E_MEMORY, 0, "out of memory");
    for (size_t i = 0; i < k->count; i++)
        changes[i] =
            (gufo_element_change){.index = k->changes[i].index, .value = k->changes[i].value};
    status = gufo_document_set_elements(w->document, k->name, changes, k->count, error);
    free(changes);
    return status;
}

static int make_changes(edit_waiting *w, const edit_waiting_key *k)
{
    gufo_error error = {0};
    gufo_status status;

    /* The key existed when the changes came, and a change that removes it drops them. */
    if (!gufo_document_find(w->document, k->name, NULL))
        return CODE_OK;
    status = k->changes->index != EDIT_NO_INDEX
                 ? set_elements(w, k, &error)
                 : gufo_document_set(w->document, k->name, &k->changes[k->count - 1].value, &error);
    return status == GUFO_OK ? CODE_OK : report_refusal(w->options->path, &error);
}

/* ---- the end of waiting ---------------------------------------------------------------------- */

static int make_and_drop(edit_waiting *w, const char *key)
{
    const edit_waiting_key *k = find_key(w, key);
    int code = k != NULL ? make_changes(w, k) : CODE_OK;

    edit_waiting_drop(w, key);
    return code;
}

/* Looks for all texts at once, in the vocabulary as the edit leaves it. */
static int find_tokens(edit_waiting *w)
{
    int code = make_and_drop(w, EDIT_TOKENS_KEY);
    edit_waiting_change **changes = NULL, **added;
    size_t count = 0;

    for (size_t key = 0; key < w->count && code == CODE_OK; key++) {
        const edit_waiting_key *k = &w->keys[key];

        for (size_t i = 0; i < k->count && code == CODE_OK; i++) {
            if (!k->changes[i].is_token)
                continue;
            added = array_add(&changes, &count, sizeof(edit_waiting_change *));
            if (added != NULL)
                *added = &k->changes[i];
            code = added != NULL ? CODE_OK : CODE_FAILED;
        }
    }
    if (code == CODE_OK && count > 0)
        code = replace_texts(w, changes, count);
    free(changes);
    return code;
}

int edit_waiting_make(edit_waiting *w, const char *key)
{
    const edit_waiting_key *k = find_key(w, key);
    bool has_token = false;
    int code = CODE_OK;

    for (size_t i = 0; k != NULL && i < k->count; i++)
        has_token = has_token || k->changes[i].is_token;
    if (has_token)
        code = find_tokens(w);
    return code == CODE_OK ? make_and_drop(w, key) : code;
}

int edit_waiting_make_all(edit_waiting *w)
{
    int code = find_tokens(w);

    for (size_t i = 0; i < w->count && code == CODE_OK; i++)
        code = make_changes(w, &w->keys[i]);
    edit_waiting_end(w);
    return code;
}
