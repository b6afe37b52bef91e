/* Ids of tokens that are given by their text, as it is in the vocabulary.  All texts are looked for
 * in one walk.  Of several tokens with one text the first counts, as for readers. */
#include "cli/change/edit.h"

#include "base/distance.h"
#include "base/memory.h"
#include "cli/core/report.h"
#include "cli/core/value_read.h"
#include "format/file/name_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct wanted {
    gufo_str text;
    uint64_t id, times; /* of the first one, and how many there are */
} wanted;

static gufo_str text_of(const void *owner, uint64_t index)
{
    return ((const wanted *)owner)[index].text;
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* Each text once.  False without memory. */
static bool list_texts(edit_waiting_change **changes, size_t count, wanted *list, name_index *index)
{
    uint64_t texts = 0, first;
    gufo_error error;

    if (name_index_new(index, count, text_of, list, &default_allocator, &error) != GUFO_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        list[texts].text = changes[i]->value.as.str;
        if (name_index_add(index, texts, &first))
            texts++;
    }
    return true;
}

static void walk(const gufo_array *tokens, wanted *list, const name_index *index)
{
    gufo_array_iter iter = gufo_array_start(tokens);
    uint64_t number;
    gufo_value token;

    for (uint64_t id = 0; gufo_array_next(&iter, &token); id++) {
        if (!name_index_find(index, token.as.str, &number))
            continue;
        if (list[number].times++ == 0)
            list[number].id = id;
    }
}

/* ---- what is found -------------------------------------------------------------------------- */

/* The token that is nearest to a text, where it is near enough to be what was meant: every byte
 * counts, and a third of them may be wrong. */
static bool find_near(const gufo_array *tokens, gufo_str text, gufo_str *near, uint64_t *near_id)
{
    gufo_array_iter iter = gufo_array_start(tokens);
    size_t limit = text.len / 3 + 1, steps;
    bool found = false;
    gufo_value token;

    for (uint64_t id = 0; gufo_array_next(&iter, &token); id++) {
        if ((steps = text_distance(text, token.as.str, limit)) >= limit)
            continue;
        limit = steps;
        *near = token.as.str;
        *near_id = id;
        found = true;
    }
    return found;
}

static int fail_missing(const edit_waiting *w, const edit_waiting_change *change,
                        const gufo_array *tokens)
{
    const char *path = w->options->path, *text = change->operation->text;
    gufo_str near;
    uint64_t id;

    if (find_near(tokens, change->value.as.str, &near, &id))
        report_message(path,
                       "--set %s: the vocabulary has no such token; did you mean '%.*s' (%ju)?",
                       text, (int)near.len, near.data, (uintmax_t)id);
    else
        report_message(path, "--set %s: the vocabulary has no such token", text);
    return CODE_USAGE;
}

/* The id becomes the value. */
static int take_id(const edit_waiting *w, edit_waiting_change *change, wanted *found)
{
    const char *text = change->operation->text;
    char id[24];

    snprintf(id, sizeof id, "%" PRIu64, found->id);
    if (found->times > 1)
        report_warning(w->options->path,
                       "--set %s: %" PRIu64 " tokens have this text; %s is the first", text,
                       found->times, id);
    found->times = 1; /* reported once */
    change->is_token = false;
    if (value_read(change->type, id, &change->value))
        return CODE_OK;
    return report_usage("edit", "--set %s: id %s is not a value of type %s", text, id,
                        gufo_value_type_name(change->type));
}

static int take_ids(const edit_waiting *w, edit_waiting_change **changes, size_t count,
                    wanted *list, const name_index *index, const gufo_array *tokens)
{
    int code = CODE_OK;
    uint64_t number;

    for (size_t i = 0; i < count && code == CODE_OK; i++) {
        wanted *found =
            name_index_find(index, changes[i]->value.as.str, &number) ? &list[number] : NULL;

        code = found != NULL && found->times > 0 ? take_id(w, changes[i], found)
                                                 : fail_missing(w, changes[i], tokens);
    }
    return code;
}

int edit_find_tokens(const edit_waiting *w, edit_waiting_change **changes, size_t count)
{
    name_index index = {0};
    wanted *list = calloc(count, sizeof *list);
    gufo_document_entry tokens;
    int code;

    if (!gufo_document_find(w->document, EDIT_TOKENS_KEY, &tokens) ||
        tokens.value.type != GUFO_VALUE_ARRAY || tokens.value.as.array.type != GUFO_VALUE_STRING) {
        report_message(w->options->path,
                       "--set %s: the file has no vocabulary (%s) to look this up in",
                       changes[0]->operation->text, EDIT_TOKENS_KEY);
        code = CODE_USAGE;
    } else if (list == NULL || !list_texts(changes, count, list, &index))
        code = report_memory(NULL);
    else {
        walk(&tokens.value.as.array, list, &index);
        code = take_ids(w, changes, count, list, &index, &tokens.value.as.array);
    }
    name_index_free(&index, &default_allocator);
    free(list);
    return code;
}
