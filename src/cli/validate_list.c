/* What gufo validate --fix has to do: a list of fixes, and each in words. */
#include "cli/validate.h"

#include "base/memory.h"
#include "cli/text.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the list ------------------------------------------------------------------------------- */

static bool same_work(const gufo_fix *a, const gufo_fix *b)
{
    return a->kind == b->kind && (a->kind == GUFO_FIX_REWRITE || gufo_str_equal(a->key, b->key));
}

static bool copy_text(gufo_str *text)
{
    text->data = mem_text(&default_allocator, *text);
    return text->data != NULL;
}

static void free_text(const gufo_str *text)
{
    mem_free(&default_allocator, (char *)text->data); /* copy_text made it */
}

/* A copy that outlives the finding. */
static bool copy_fix(gufo_fix *fix)
{
    if (!copy_text(&fix->key))
        return false;
    if (fix->value.type != GUFO_VALUE_STRING || copy_text(&fix->value.as.str))
        return true;
    free_text(&fix->key);
    return false;
}

void fix_list_add(fix_list *list, const gufo_fix *fix)
{
    gufo_fix copy = *fix, *larger;

    if (fix->kind == GUFO_FIX_NONE)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (same_work(&list->fixes[i], fix))
            return;
    larger = realloc(list->fixes, (list->count + 1) * sizeof *larger);
    if (larger != NULL)
        list->fixes = larger;
    if (larger == NULL || !copy_fix(&copy))
        list->failed = true;
    else
        list->fixes[list->count++] = copy;
}

static void free_fix(gufo_fix *fix)
{
    free_text(&fix->key);
    if (fix->value.type == GUFO_VALUE_STRING)
        free_text(&fix->value.as.str);
}

/* Whether another key is to get the same name.  A fix that was struck out is NONE, and still
 * counts. */
static bool has_rival(const fix_list *list, size_t index)
{
    const gufo_fix *fix = &list->fixes[index];

    for (size_t i = 0; i < list->count && fix->kind == GUFO_FIX_RENAME; i++)
        if (i != index && list->fixes[i].value.type == GUFO_VALUE_STRING &&
            (list->fixes[i].kind == GUFO_FIX_RENAME || list->fixes[i].kind == GUFO_FIX_NONE) &&
            gufo_str_equal(list->fixes[i].value.as.str, fix->value.as.str))
            return true;
    return false;
}

void fix_list_settle(fix_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (has_rival(list, i))
            list->fixes[i].kind = GUFO_FIX_NONE;
    for (size_t i = 0; i < list->count; i++)
        if (list->fixes[i].kind != GUFO_FIX_NONE)
            list->fixes[kept++] = list->fixes[i];
        else
            free_fix(&list->fixes[i]);
    list->count = kept;
}

void fix_list_free(fix_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_fix(&list->fixes[i]);
    free(list->fixes);
    *list = (fix_list){0};
}

/* ---- reports -------------------------------------------------------------------------------- */

static const struct {
    const char *action; /* in JSON */
    const char *before, *between;
} wordings[] = {
    [GUFO_FIX_REWRITE] = {"rewrite", "laid out again, with zeros as padding", NULL},
    [GUFO_FIX_SET] = {"set", "set ", " to "},
    [GUFO_FIX_RENAME] = {"rename", "renamed ", " to "},
    [GUFO_FIX_SHORTEN] = {"shorten", "shortened ", " to the number of elements of the others: "},
};

static void put_value(const gufo_value *value)
{
    if (value->type == GUFO_VALUE_STRING)
        text_put(stdout, value->as.str, TEXT_PLAIN);
    else
        printf("%" PRIu64, value->as.u);
}

void fix_print(const gufo_fix *fix)
{
    fputs(wordings[fix->kind].before, stdout);
    if (wordings[fix->kind].between != NULL) {
        text_put(stdout, fix->key, TEXT_PLAIN);
        fputs(wordings[fix->kind].between, stdout);
        put_value(&fix->value);
    }
    putc('\n', stdout);
}

void fix_write(json_writer *j, const gufo_fix *fix)
{
    json_begin_object(j, NULL);
    json_write_text(j, "action", wordings[fix->kind].action);
    if (wordings[fix->kind].between != NULL) {
        json_write_str(j, "key", fix->key);
        if (fix->value.type == GUFO_VALUE_STRING)
            json_write_str(j, "value", fix->value.as.str);
        else
            json_write_u64(j, "value", fix->value.as.u);
    }
    json_end_object(j);
}
