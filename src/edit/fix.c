/* Mending: the one right answer to a finding becomes a change. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "edit/edit.h"

void gufo_edit_lay_anew(gufo_edit *edit)
{
    edit->lay_anew = true;
}

/* The first `count` elements of an array. */
static gufo_status shorten(gufo_value *value, uint64_t count, gufo_error *error)
{
    gufo_array_iter iter;
    gufo_value element;

    if (value->type != GUFO_VALUE_ARRAY || count > value->as.array.count)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "there are no elements to be left out");
    iter = gufo_array_start(&value->as.array);
    while (iter.index < count && gufo_array_next(&iter, &element))
        ;
    if (iter.changed)
        return fail_with(error, GUFO_E_CHANGED, GUFO_NO_OFFSET,
                         "the file was changed by somebody else while it was open");
    value->as.array.count = count;
    value->as.array.size = iter.position;
    return GUFO_OK;
}

static gufo_status shorten_key(gufo_edit *edit, const char *key, const gufo_value *count,
                               gufo_error *error)
{
    gufo_value value;
    gufo_status status;

    if (!gufo_edit_find(edit, key, &value))
        return fail_with(error, GUFO_E_NOT_FOUND, GUFO_NO_OFFSET, "no such key: %.200s", key);
    status = shorten(&value, count->as.u, error);
    return status == GUFO_OK ? gufo_edit_set(edit, key, &value, error) : status;
}

static gufo_status rename_key(gufo_edit *edit, const char *key, const gufo_value *name,
                              gufo_error *error)
{
    char *to = mem_text(&edit->allocator, name->as.str);
    gufo_status status;

    if (to == NULL)
        return fail_memory(error);
    status = gufo_edit_rename(edit, key, to, error);
    mem_free(&edit->allocator, to);
    return status;
}

static gufo_status change_key(gufo_edit *edit, const gufo_fix *fix, const char *key,
                              gufo_error *error)
{
    switch (fix->kind) {
    case GUFO_FIX_SET:
        return gufo_edit_set(edit, key, &fix->value, error);
    case GUFO_FIX_RENAME:
        return rename_key(edit, key, &fix->value, error);
    case GUFO_FIX_SHORTEN:
        return shorten_key(edit, key, &fix->value, error);
    case GUFO_FIX_NONE:
    case GUFO_FIX_REWRITE:
        break;
    }
    return GUFO_OK;
}

gufo_status gufo_edit_fix(gufo_edit *edit, const gufo_fix *fix, gufo_error *error)
{
    gufo_status status;
    char *key;

    if (fix->kind == GUFO_FIX_NONE)
        return GUFO_OK;
    if (fix->kind == GUFO_FIX_REWRITE) {
        gufo_edit_lay_anew(edit);
        return GUFO_OK;
    }
    key = mem_text(&edit->allocator, fix->key);
    if (key == NULL)
        return fail_memory(error);
    status = change_key(edit, fix, key, error);
    mem_free(&edit->allocator, key);
    return status;
}
