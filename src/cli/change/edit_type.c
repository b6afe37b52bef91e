/* Finds the types that a value without TYPE may have.  The first is that of the value in the file,
 * unless the registry knows that readers do not take it; then follow those that the registry gives
 * to the key, in the order in which writers prefer them ("uint32|array[int32]"). */
#include "cli/change/edit.h"

#include "base/text.h"
#include "schema/registry/key.h"

/* ---- the registry --------------------------------------------------------------------------- */

gufo_str edit_architecture(const gufo_document *document)
{
    gufo_document_entry entry;
    bool found = gufo_document_find(document, "general.architecture", &entry) &&
                 entry.value.type == GUFO_VALUE_STRING;

    return found ? entry.value.as.str : (gufo_str){"", 0};
}

const gufo_key_info *edit_key_info(const gufo_document *document, gufo_str key)
{
    const gufo_key_info *info = gufo_key_find(key, edit_architecture(document));

    /* A key of another architecture has the same type there. */
    return info != NULL ? info : gufo_key_find(key, (gufo_str){"", 0});
}

/* Reads the next type of a list, and moves *at past it. */
static bool next_type(const char **at, edit_type *out)
{
    gufo_str type = str_piece(at, '|');

    for (out->is_array = false; key_strip_array(&type);)
        out->is_array = true;
    return key_type_named(type, &out->type);
}

/* ---- the value that is there ---------------------------------------------------------------- */

/* The type of a value; false for an empty array of arrays, which has none. */
static bool type_of(gufo_value value, edit_type *out)
{
    *out = (edit_type){value.type, value.type == GUFO_VALUE_ARRAY};
    while (value.type == GUFO_VALUE_ARRAY) {
        gufo_array_iter iter = gufo_array_start(&value.as.array);

        out->type = value.as.array.type;
        if (out->type != GUFO_VALUE_ARRAY)
            return true;
        if (!gufo_array_next(&iter, &value))
            return false;
    }
    return true;
}

edit_types edit_types_of(const edit_change *c)
{
    const gufo_key_info *info = edit_key_info(c->document, gufo_str_of(c->key));
    const char *at = info != NULL ? info->type : "";
    edit_types types = {.count = 0};
    edit_type *next = types.list;
    gufo_document_entry old;
    bool kept = gufo_document_find(c->document, c->key, &old) &&
                (info == NULL || gufo_key_accepts(info, &old.value)) && type_of(old.value, next);

    for (next += kept; *at != '\0' && next < types.list + EDIT_MOST_TYPES;)
        if (next_type(&at, next) && !(kept && next->is_array == types.list[0].is_array))
            next++;
    types.count = (size_t)(next - types.list);
    return types;
}
