/* Settings of old files by the SHA-256 of all their parts in order:
 *
 *     {"3f2a...": {"name": "LLaMA 7B",
 *                  "settings": {"llama.attention.layer_norm_rms_epsilon": 1e-6,
 *                               "general.license": "other",
 *                               "KEY": {"type": "uint32", "value": 3}}}, ...}
 *
 * The text may be a stranger's.  docs/legacy.md has the format. */
#include "base/error.h"
#include "base/text.h"
#include "gufo/import.h"
#include "gufo/value.h"
#include "text/formats/json_tree.h"

#include <stdlib.h>
#include <string.h>

/* The types that a value may have: the one that is given with it, of text that of text unless the
 * registry knows better. */
static gufo_key_types types_of(const gufo_document *document, const char *key, const json_t *value,
                               const char *type, const char *text)
{
    gufo_key_types types = {.count = 1};
    bool is_array = json_is_array(value);

    if (type != NULL) {
        types.list[0].is_array = is_array;
        types.count = gufo_value_type_by_name(type, &types.list[0].type);
        return types;
    }
    types = gufo_key_types_of(document, key);
    if (types.count == 0) {
        const json_t *first = is_array ? json_array_get(value, 0) : value;

        types.list[0].type = json_is_string(first) ? GUFO_VALUE_STRING : gufo_value_guess(text);
        types.list[0].is_array = is_array;
        types.count = !is_array || json_is_string(first);
    }
    return types;
}

/* The value as text of the same form as on a command line; to be freed. */
static char *text_of(const json_t *value)
{
    return json_is_string(value) ? strdup(json_string_value(value))
                                 : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

/* What the model is, and that it is whole: the old file says so. */
static bool may_be_set(const char *key)
{
    return strcmp(key, "general.architecture") != 0 && !str_begins(gufo_str_of(key), "split.");
}

static gufo_status set_value(gufo_document *document, const char *key, json_t *value,
                             gufo_error *error)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    json_t *inner = type != NULL ? json_object_get(value, "value") : value;
    gufo_status status;
    gufo_key_types types;
    char *text;

    if (inner == NULL || json_is_null(inner) || json_is_object(inner))
        return refuse(error, GUFO_E_TYPE, "expected a value, or {\"type\": ..., \"value\": ...}");
    text = text_of(inner);
    if (text == NULL)
        return fail_memory(error);
    types = types_of(document, key, inner, type, text);
    if (!may_be_set(key))
        status = refuse(error, GUFO_E_ARGUMENT, "the file itself says this");
    else if (types.count == 0)
        status =
            refuse(error, GUFO_E_TYPE, "its type is not known: {\"type\": ..., \"value\": ...}");
    else
        status = gufo_document_set_read(document, key, text, &types, error);
    free(text);
    return status;
}

static gufo_status add_settings(const json_t *root, const char *hash, gufo_document *document,
                                bool *found, gufo_error *error)
{
    json_t *row = json_object_get(root, hash), *settings = json_object_get(row, "settings"), *value;
    gufo_status status = GUFO_OK;
    gufo_error why;
    const char *key;

    *found = row != NULL;
    if (!json_is_object(root))
        return refuse(error, GUFO_E_MALFORMED, "not a JSON object of settings by hash");
    if (row != NULL && !json_is_object(settings))
        return refuse(error, GUFO_E_MALFORMED, "%s: \"settings\" is not an object", hash);
    json_object_foreach(settings, key, value)
    {
        if (status == GUFO_OK && !gufo_document_find(document, key, NULL))
            status = set_value(document, key, value, &why);
        if (status != GUFO_OK)
            return refuse(error, status, "settings of this file: '%s': %s", key, why.message);
    }
    return status;
}

gufo_status gufo_legacy_settings(gufo_str json, const char *hash, gufo_document *document,
                                 bool *found, gufo_error *error)
{
    gufo_status status = json_tree_check(json, JSON_TREE_MEMORY, NULL, error);
    json_error_t why;
    json_t *root;
    bool is_found;

    if (hash == NULL || document == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the hash or the document is missing");
    if (status != GUFO_OK)
        return status;
    root = json_loadb(json.data, json.len, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL)
        return refuse(error, GUFO_E_MALFORMED, "line %d: %s", why.line, why.text);
    status = add_settings(root, hash, document, found != NULL ? found : &is_found, error);
    json_decref(root);
    return status;
}
