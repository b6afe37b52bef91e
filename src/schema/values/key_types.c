/* The types of keys.
 *
 * Finds the types that a value without TYPE may have.  The first is that of the value in the file,
 * unless the registry knows that readers do not take it; then follow those that the registry gives
 * to the key, in the order in which writers prefer them ("uint32|array[int32]"). */
#include "base/text.h"
#include "gufo/value.h"
#include "schema/registry/key.h"

#include <stdio.h>
#include <string.h>

/* ---- keys in texts -------------------------------------------------------------------- */

bool gufo_key_is_plain(gufo_str key, size_t *at)
{
    static const char special[] = "=*?[\\"; /* and the NUL at its end */

    for (size_t i = 0; i < key.len; i++) {
        if (memchr(special, key.data[i], sizeof special) == NULL)
            continue;
        if (at != NULL)
            *at = i;
        return false;
    }
    return true;
}

/* ---- the registry --------------------------------------------------------------------- */

gufo_str gufo_document_architecture(const gufo_document *document)
{
    gufo_document_entry entry;
    bool found = gufo_document_find(document, "general.architecture", &entry) &&
                 entry.value.type == GUFO_VALUE_STRING;

    return found ? entry.value.as.str : (gufo_str){"", 0};
}

const gufo_key_info *gufo_document_key_info_str(const gufo_document *document, gufo_str key)
{
    const gufo_key_info *info = gufo_key_find_str(key, gufo_document_architecture(document));

    /* A key of another architecture has the same type there. */
    return info != NULL ? info : gufo_key_find_str(key, (gufo_str){"", 0});
}

const gufo_key_info *gufo_document_key_info(const gufo_document *document, const char *key)
{
    return gufo_document_key_info_str(document, gufo_str_of(key));
}

/* Reads the next type of a list, and moves *at past it. */
static bool next_type(const char **at, gufo_key_type *out)
{
    gufo_str type = str_piece(at, '|');

    for (out->is_array = false; key_strip_array(&type);)
        out->is_array = true;
    return gufo_value_type_by_name_str(type, &out->type);
}

/* ---- the value that is there ---------------------------------------------------------- */

/* The type of a value; false for an empty array of arrays, which has none. */
static bool type_of(gufo_value value, gufo_key_type *out)
{
    *out = (gufo_key_type){value.type, value.type == GUFO_VALUE_ARRAY};
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

gufo_key_types gufo_key_types_of(const gufo_document *document, const char *key)
{
    const gufo_key_info *info = gufo_document_key_info(document, key);
    const char *at = info != NULL ? info->type : "";
    gufo_key_types types = {.count = 0};
    gufo_key_type *next = types.list;
    gufo_document_entry old;
    bool kept = gufo_document_find(document, key, &old) &&
                (info == NULL || gufo_key_accepts(info, &old.value)) && type_of(old.value, next);

    for (next += kept; *at != '\0' && next < types.list + GUFO_KEY_MOST_TYPES;)
        if (next_type(&at, next) && !(kept && next->is_array == types.list[0].is_array))
            next++;
    types.count = (size_t)(next - types.list);
    return types;
}

/* ---- text ----------------------------------------------------------------------------- */

size_t gufo_key_type_prefix(const char *text, gufo_value_type *type)
{
    size_t len = strcspn(text, ":");

    return text[len] == ':' && gufo_value_type_by_name_str((gufo_str){text, len}, type) ? len + 1
                                                                                        : 0;
}

gufo_key_types gufo_key_types_read(const gufo_document *document, const char *key,
                                   const char **text)
{
    gufo_key_types given = {.count = 1};
    size_t prefix = gufo_key_type_prefix(*text, &given.list[0].type);

    *text += prefix;
    return prefix > 0 ? given : gufo_key_types_of(document, key);
}

gufo_key_types gufo_key_types_of_shape(const gufo_key_types *types, bool is_array)
{
    gufo_key_types kept = {.count = 0};

    for (size_t i = 0; i < types->count; i++)
        if (types->list[i].is_array == is_array)
            kept.list[kept.count++] = types->list[i];
    return kept;
}

const char *gufo_key_types_name(const gufo_key_types *types, char out[GUFO_KEY_TYPES_SIZE])
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < types->count && len < GUFO_KEY_TYPES_SIZE; i++)
        len += (size_t)snprintf(out + len, GUFO_KEY_TYPES_SIZE - len,
                                types->list[i].is_array ? "%sarray[%s]" : "%s%s",
                                i > 0 ? " or " : "", gufo_value_type_name(types->list[i].type));
    return out;
}
