/* Finds the ids of tokens that are given by their text in the vocabulary, all of them in one walk.
 * Of several tokens with one text the first counts, as for readers. */
#include "cli/change/edit.h"

#include "base/memory.h"
#include "cli/core/values/number.h"
#include "cli/core/options/names.h"
#include "cli/core/values/value_read.h"
#include "format/file/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- results -------------------------------------------------------------------------------- */

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

int edit_find_tokens(const edit_waiting *w, edit_waiting_change **changes, size_t count)
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
