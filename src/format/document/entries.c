/* The metadata entries of a document. */
#include "format/document/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/rules/rules.h"

/* ---- looking -------------------------------------------------------------------------------- */

/* Always true: there is an entry. */
static bool show(const document_entry *e, gufo_document_entry *out)
{
    if (out != NULL)
        *out = (gufo_document_entry){
            .key = e->named.name, .value = document_value_get(&e->value), .origin = e->origin};
    return true;
}

uint64_t gufo_document_entry_count(const gufo_document *document)
{
    return document->entries.count;
}

bool gufo_document_entry_at(const gufo_document *document, uint64_t index, gufo_document_entry *out)
{
    uint64_t slot;

    return named_list_seek(&document->entries, index, &slot) &&
           show(document_entry_in(document, slot), out);
}

bool gufo_document_find_str(const gufo_document *document, gufo_str key, gufo_document_entry *out)
{
    uint64_t slot;

    return named_list_find(&document->entries, key, &slot) &&
           show(document_entry_in(document, slot), out);
}

bool gufo_document_find(const gufo_document *document, const char *key, gufo_document_entry *out)
{
    return gufo_document_find_str(document, gufo_str_of(key), out);
}

bool gufo_document_find_next(const gufo_document *document, gufo_select_fn *select, void *context,
                             uint64_t *index, gufo_document_entry *out)
{
    uint64_t slot, position = *index;
    const document_entry *e;

    if (!named_list_seek(&document->entries, position, &slot))
        return false;
    for (; (e = named_list_next(&document->entries, &slot)) != NULL; position++)
        if (select == NULL || select(context, e->named.name)) {
            *index = position;
            return show(e, out);
        }
    return false;
}

static bool has_prefix(void *context, gufo_str key)
{
    const gufo_str *prefix = context;

    return key.len >= prefix->len &&
           (prefix->len == 0 || memcmp(key.data, prefix->data, prefix->len) == 0);
}

bool gufo_document_find_prefix(const gufo_document *document, const char *prefix, uint64_t *index,
                               gufo_document_entry *out)
{
    gufo_str begin = gufo_str_of(prefix);

    return gufo_document_find_next(document, has_prefix, &begin, index, out);
}

uint32_t gufo_document_alignment(const gufo_document *document)
{
    gufo_document_entry entry;

    /* Whatever was set, copied or renamed has the right type. */
    return gufo_document_find(document, GUFO_ALIGNMENT_KEY, &entry) ? (uint32_t)entry.value.as.u
                                                                    : GUFO_DEFAULT_ALIGNMENT;
}

/* ---- setting -------------------------------------------------------------------------------- */

static bool is_padding_key(gufo_str key)
{
    return gufo_str_equal(key, gufo_str_of(GUFO_PADDING_KEY));
}

bool document_is_padding(const gufo_entry *entry)
{
    return is_padding_key(entry->key) && entry->value.type == GUFO_VALUE_STRING;
}

static gufo_status check_key(gufo_str key, content_rules rules, gufo_error *error)
{
    if (rules == CONTENT_NEW && is_padding_key(key))
        return refuse(error, GUFO_E_ARGUMENT,
                      "key \"" GUFO_PADDING_KEY "\" is made by layouts, where it is needed");
    return content_check_key(key, rules, error);
}

static uint64_t entry_size(gufo_str key, const document_value *value)
{
    return 8 + key.len + value->encoded;
}

/* The bytes of all entries if `added` replace `removed` of them. */
static gufo_status new_total(const gufo_document *document, uint64_t removed, uint64_t added,
                             uint64_t *total, gufo_error *error)
{
    if (checked_add(document->entries_size - removed, added, total) && *total <= INT64_MAX)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE, "the metadata would be larger than any file can be");
}

static gufo_status add_entry(gufo_document *document, gufo_str key, bool owned,
                             const document_value *value, gufo_error *error)
{
    const document_entry e = {.origin = GUFO_NO_ORIGIN, .value = *value};

    if (document->entries.count >= GUFO_MAX_COUNT)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many metadata entries");
    return named_list_add(&document->entries, key, owned, &e, error);
}

gufo_status document_put(gufo_document *document, gufo_str key, bool owned,
                         const document_value *value, gufo_error *error)
{
    document_entry *old = NULL;
    uint64_t slot, total;
    gufo_status status;

    if (named_list_find(&document->entries, key, &slot))
        old = document_entry_in(document, slot);
    status = new_total(document, old != NULL ? entry_size(key, &old->value) : 0,
                       entry_size(key, value), &total, error);
    if (status == GUFO_OK && old == NULL)
        status = add_entry(document, key, owned, value, error);
    if (status != GUFO_OK)
        return status;
    if (old != NULL) {
        document_value_free(&old->value, &document->allocator);
        old->value = *value;
    }
    document->entries_size = total;
    document_touch(document);
    return GUFO_OK;
}

/* Sets a key to `items`, or without them to `value`, which has their type else. */
static gufo_status set_checked(gufo_document *document, gufo_str key, const gufo_value *value,
                               const gufo_items *items, content_rules rules, gufo_error *error)
{
    gufo_status status = check_key(key, rules, error);
    document_value made;

    if (status == GUFO_OK)
        status = content_check_value(key, value, rules, error);
    if (status == GUFO_OK)
        status = items != NULL ? document_value_items(&made, items, &document->allocator, error)
                               : document_value_set(&made, value, &document->allocator, error);
    if (status != GUFO_OK)
        return status;
    status = document_put(document, key, true, &made, error);
    if (status != GUFO_OK)
        document_value_free(&made, &document->allocator);
    return status;
}

gufo_status document_set_by(gufo_document *document, gufo_str key, const gufo_value *value,
                            content_rules rules, gufo_error *error)
{
    return set_checked(document, key, value, NULL, rules, error);
}

gufo_status gufo_document_set_entry(gufo_document *document, gufo_str key, const gufo_value *value,
                                    gufo_error *error)
{
    if (value == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the value is missing");
    return document_set_by(document, key, value, document->rules, error);
}

gufo_status gufo_document_set(gufo_document *document, const char *key, const gufo_value *value,
                              gufo_error *error)
{
    if (key == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the key is missing");
    return gufo_document_set_entry(document, gufo_str_of(key), value, error);
}

gufo_status gufo_document_set_array(gufo_document *document, const char *key,
                                    const gufo_items *items, gufo_error *error)
{
    const gufo_value array = {.type = GUFO_VALUE_ARRAY};

    if (key == NULL || items == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the %s is missing", key == NULL ? "key" : "array");
    return set_checked(document, gufo_str_of(key), &array, items, document->rules, error);
}

#define DEFINE_SETTER(name, c_type, value_type, member)                                      \
    gufo_status gufo_document_set_##name(gufo_document *document, const char *key, c_type v, \
                                         gufo_error *error)                                  \
    {                                                                                        \
        const gufo_value value = {.type = value_type, .as.member = v};                       \
                                                                                             \
        return gufo_document_set(document, key, &value, error);                              \
    }

DEFINE_SETTER(u8, uint8_t, GUFO_VALUE_UINT8, u)
DEFINE_SETTER(i8, int8_t, GUFO_VALUE_INT8, i)
DEFINE_SETTER(u16, uint16_t, GUFO_VALUE_UINT16, u)
DEFINE_SETTER(i16, int16_t, GUFO_VALUE_INT16, i)
DEFINE_SETTER(u32, uint32_t, GUFO_VALUE_UINT32, u)
DEFINE_SETTER(i32, int32_t, GUFO_VALUE_INT32, i)
DEFINE_SETTER(f32, float, GUFO_VALUE_FLOAT32, f)
DEFINE_SETTER(u64, uint64_t, GUFO_VALUE_UINT64, u)
DEFINE_SETTER(i64, int64_t, GUFO_VALUE_INT64, i)
DEFINE_SETTER(f64, double, GUFO_VALUE_FLOAT64, f)
DEFINE_SETTER(bool, bool, GUFO_VALUE_BOOL, b)
DEFINE_SETTER(str, gufo_str, GUFO_VALUE_STRING, str)

gufo_status gufo_document_set_text(gufo_document *document, const char *key, const char *text,
                                   gufo_error *error)
{
    if (text == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the text is missing");
    return gufo_document_set_str(document, key, gufo_str_of(text), error);
}

/* ---- copying -------------------------------------------------------------------------------- */

static gufo_status copy_entry(gufo_document *document, const gufo_model *model,
                              const gufo_entry *entry, gufo_error *error)
{
    content_rules rules = document_copy_rules(document);
    gufo_status status = content_check_key(entry->key, rules, error);
    document_value value;

    if (status == GUFO_OK)
        status = content_check_value(entry->key, &entry->value, rules, error);
    if (status == GUFO_OK)
        status = document_value_view(&value, model, entry, error);
    return status == GUFO_OK ? document_put(document, entry->key, false, &value, error) : status;
}

gufo_status gufo_document_copy_entries(gufo_document *document, const gufo_model *model,
                                       gufo_select_fn *select, void *context, uint64_t *copied,
                                       gufo_error *error)
{
    uint64_t ignored, models = document->models.count;
    gufo_status status;
    gufo_entry entry;

    copied = copied != NULL ? copied : &ignored;
    *copied = 0;
    if (model == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    status = document_note_model(document, model, error);
    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_entry_count(model); i++) {
        status = model_entry_at(model, i, &entry, error);
        if (status != GUFO_OK || document_is_padding(&entry) ||
            (select != NULL && !select(context, entry.key)))
            continue;
        status = copy_entry(document, model, &entry, error);
        *copied += status == GUFO_OK;
    }
    if (*copied == 0) /* the caller may close the model */
        document_forget_models(document, models);
    return model_fail(model, status, error);
}

gufo_status document_load_entries(gufo_document *document, gufo_error *error)
{
    const gufo_model *model = document->source;
    gufo_status status =
        named_list_reserve(&document->entries, gufo_model_entry_count(model), error);
    gufo_entry entry;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_entry_count(model); i++) {
        status = model_entry_at(model, i, &entry, error);
        if (status != GUFO_OK || document_is_padding(&entry))
            continue;
        if (gufo_document_find_str(document, entry.key, NULL))
            return rule_failure(error, RULE_KEY_DUPLICATE, "key %s occurs twice",
                                QUOTED(entry.key));
        status = copy_entry(document, model, &entry, error);
        if (status == GUFO_OK)
            document_entry_in(document, document->entries.count - 1)->origin = i;
    }
    return status;
}

/* ---- removing and renaming ------------------------------------------------------------------ */

void document_drop_entry(void *document, void *entry)
{
    const document_entry *e = entry;
    gufo_document *d = document;

    d->entries_size -= entry_size(e->named.name, &e->value);
    document_value_free(&e->value, &d->allocator);
    document_touch(d);
}

bool gufo_document_remove_key_str(gufo_document *document, gufo_str key)
{
    return named_list_remove_name(&document->entries, key);
}

bool gufo_document_remove_key(gufo_document *document, const char *key)
{
    return gufo_document_remove_key_str(document, gufo_str_of(key));
}

void gufo_document_remove(gufo_document *document, gufo_select_fn *select, void *context,
                          uint64_t *removed)
{
    uint64_t count = named_list_remove_all(&document->entries, select, context);

    if (removed != NULL)
        *removed = count;
}

void gufo_document_remove_prefix(gufo_document *document, const char *prefix, uint64_t *removed)
{
    gufo_str begin = gufo_str_of(prefix);

    gufo_document_remove(document, has_prefix, &begin, removed);
}

/* A value that becomes the alignment. */
static gufo_status check_alignment(const gufo_document *document, uint64_t slot, gufo_str to,
                                   gufo_error *error)
{
    gufo_value value = document_value_get(&document_entry_in(document, slot)->value);

    if (!gufo_str_equal(to, gufo_str_of(GUFO_ALIGNMENT_KEY)))
        return GUFO_OK;
    return content_check_value(to, &value, document->rules, error);
}

gufo_status gufo_document_rename(gufo_document *document, const char *from, const char *to,
                                 gufo_error *error)
{
    return gufo_document_rename_str(document, gufo_str_of(from), gufo_str_of(to), error);
}

gufo_status gufo_document_rename_str(gufo_document *document, gufo_str from, gufo_str to,
                                     gufo_error *error)
{
    gufo_status status = check_key(to, document->rules, error);
    uint64_t slot, total;

    if (status == GUFO_OK)
        status = named_list_check_rename(&document->entries, from, to, &slot, error);
    if (status != GUFO_OK || gufo_str_equal(from, to))
        return status;
    status = check_alignment(document, slot, to, error);
    if (status == GUFO_OK)
        status = new_total(document, from.len, to.len, &total, error);
    if (status == GUFO_OK)
        status = named_list_rename(&document->entries, slot, to, error);
    if (status != GUFO_OK)
        return status;
    document->entries_size = total;
    document_touch(document);
    return GUFO_OK;
}
