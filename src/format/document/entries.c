/* The metadata entries of a document. */
#include "format/document/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/rules/rules.h"

/* ---- looking -------------------------------------------------------------------------------- */

static void show(const document_entry *e, gufo_document_entry *out)
{
    if (out != NULL)
        *out = (gufo_document_entry){
            .key = e->named.name, .value = document_value_get(&e->value), .origin = e->origin};
}

uint64_t gufo_document_entry_count(const gufo_document *document)
{
    return document->entries.count;
}

bool gufo_document_entry_at(const gufo_document *document, uint64_t index, gufo_document_entry *out)
{
    uint64_t slot;

    if (!named_list_seek(&document->entries, index, &slot))
        return false;
    show(document_entry_in(document, slot), out);
    return true;
}

bool gufo_document_find_str(const gufo_document *document, gufo_str key, gufo_document_entry *out)
{
    uint64_t slot;

    if (!named_list_find(&document->entries, key, &slot))
        return false;
    show(document_entry_in(document, slot), out);
    return true;
}

bool gufo_document_find(const gufo_document *document, const char *key, gufo_document_entry *out)
{
    return gufo_document_find_str(document, gufo_str_of(key), out);
}

bool gufo_document_find_next(const gufo_document *document, gufo_select_fn *select, void *context,
                             uint64_t *index, gufo_document_entry *out)
{
    uint64_t slot, position = *index;

    if (!named_list_seek(&document->entries, position, &slot))
        return false;
    for (; slot < document->entries.items.count; slot++) {
        const document_entry *e = document_entry_in(document, slot);

        if (e->named.gone)
            continue;
        if (select == NULL || select(context, e->named.name)) {
            *index = position;
            show(e, out);
            return true;
        }
        position++;
    }
    return false;
}

static bool has_prefix(void *context, gufo_str key)
{
    const gufo_str *prefix = context;

    return key.len >= prefix->len &&
           (prefix->len == 0 || memcmp(key.data, prefix->data, prefix->len) == 0);
}

bool gufo_document_find_prefix(const gufo_document *document, gufo_str prefix, uint64_t *index,
                               gufo_document_entry *out)
{
    return gufo_document_find_next(document, has_prefix, &prefix, index, out);
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
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
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
    return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                     "the metadata would be larger than any file can be");
}

static gufo_status add_entry(gufo_document *document, gufo_str key, bool owned,
                             const document_value *value, gufo_error *error)
{
    document_entry *e;

    if (document->entries.count >= GUFO_MAX_COUNT)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many metadata entries");
    e = named_list_add(&document->entries, key, owned, &document->allocator, error);
    if (e == NULL)
        return GUFO_E_MEMORY;
    e->origin = GUFO_NO_ORIGIN;
    e->value = *value;
    return GUFO_OK;
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

/* Puts a value that was made with `status`, or frees it. */
static gufo_status put_made(gufo_document *document, gufo_str key, const document_value *value,
                            gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        return status;
    status = document_put(document, key, true, value, error);
    if (status != GUFO_OK)
        document_value_free(value, &document->allocator);
    return status;
}

gufo_status document_set_by(gufo_document *document, gufo_str key, const gufo_value *value,
                            content_rules rules, gufo_error *error)
{
    gufo_status status = check_key(key, rules, error);
    document_value made;

    if (status == GUFO_OK)
        status = content_check_value(key, value, rules, error);
    if (status == GUFO_OK)
        status = document_value_set(&made, value, &document->allocator, error);
    return put_made(document, key, &made, status, error);
}

static gufo_status fail_missing(const char *what, gufo_error *error)
{
    return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "the %s is missing", what);
}

gufo_status gufo_document_set(gufo_document *document, gufo_str key, const gufo_value *value,
                              gufo_error *error)
{
    if (value == NULL)
        return fail_missing("value", error);
    return document_set_by(document, key, value, document->rules, error);
}

gufo_status gufo_document_set_array(gufo_document *document, const char *key,
                                    const gufo_items *items, gufo_error *error)
{
    const gufo_value value = {.type = GUFO_VALUE_ARRAY};
    document_value made;
    gufo_status status;
    gufo_str name;

    if (key == NULL || items == NULL)
        return fail_missing(key == NULL ? "key" : "array", error);
    name = gufo_str_of(key);
    status = check_key(name, document->rules, error);
    if (status == GUFO_OK)
        status = content_check_value(name, &value, document->rules, error);
    if (status == GUFO_OK)
        status = document_value_items(&made, items, &document->allocator, error);
    return put_made(document, name, &made, status, error);
}

/* For the typed calls. */
static gufo_status set_typed(gufo_document *document, const char *key, const gufo_value *value,
                             gufo_error *error)
{
    if (key == NULL)
        return fail_missing("key", error);
    return gufo_document_set(document, gufo_str_of(key), value, error);
}

#define DEFINE_SETTER(name, c_type, value_type, member)                                            \
    gufo_status gufo_document_set_##name(gufo_document *document, const char *key, c_type v,       \
                                         gufo_error *error)                                        \
    {                                                                                              \
        return set_typed(document, key, &(gufo_value){.type = value_type, .as.member = v}, error); \
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
        return fail_missing("text", error);
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
    uint64_t count = 0, models = document->models.count;
    gufo_status status;
    gufo_entry entry;

    if (copied != NULL)
        *copied = 0;
    if (model == NULL)
        return fail_missing("model", error);
    status = document_note_model(document, model, error);
    for (uint64_t i = 0; status == GUFO_OK && i < gufo_metadata_count(model); i++) {
        status = model_entry_at(model, i, &entry, error);
        if (status != GUFO_OK || document_is_padding(&entry) ||
            (select != NULL && !select(context, entry.key)))
            continue;
        status = copy_entry(document, model, &entry, error);
        count += status == GUFO_OK;
    }
    if (count == 0) /* the caller may close the model */
        document_forget_models(document, models);
    if (copied != NULL)
        *copied = count;
    return model_fail(model, status, error);
}

gufo_status document_load_entries(gufo_document *document, gufo_error *error)
{
    const gufo_model *model = document->source;
    gufo_status status = named_list_reserve(&document->entries, gufo_metadata_count(model),
                                            &document->allocator, error);
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_metadata_count(model); i++) {
        status = model_entry_at(model, i, &entry, error);
        if (status != GUFO_OK || document_is_padding(&entry))
            continue;
        if (gufo_document_find_str(document, entry.key, NULL))
            return rule_failure(error, RULE_KEY_DUPLICATE, "key %s occurs twice",
                                quote_name(quoted, entry.key));
        status = copy_entry(document, model, &entry, error);
        if (status == GUFO_OK)
            document_entry_in(document, document->entries.count - 1)->origin = i;
    }
    return status;
}

/* ---- removing and renaming ------------------------------------------------------------------ */

/* Of an entry that is not in the list any more. */
static void free_entry(gufo_document *document, const document_entry *e)
{
    document->entries_size -= entry_size(e->named.name, &e->value);
    named_free_name(&e->named, &document->allocator);
    document_value_free(&e->value, &document->allocator);
}

bool gufo_document_remove_key(gufo_document *document, gufo_str key)
{
    document_entry removed;
    uint64_t slot;

    if (!named_list_find(&document->entries, key, &slot))
        return false;
    removed = *document_entry_in(document, slot);
    named_list_remove(&document->entries, slot);
    free_entry(document, &removed);
    document_touch(document);
    return true;
}

void gufo_document_remove(gufo_document *document, gufo_select_fn *select, void *context,
                          uint64_t *removed)
{
    named_list *entries = &document->entries;
    uint64_t count = named_list_mark(entries, select, context);

    for (uint64_t i = 0; count > 0 && i < entries->items.count; i++)
        if (document_entry_in(document, i)->named.gone)
            free_entry(document, document_entry_in(document, i));
    named_list_sweep(entries);
    if (count > 0)
        document_touch(document);
    if (removed != NULL)
        *removed = count;
}

void gufo_document_remove_prefix(gufo_document *document, gufo_str prefix, uint64_t *removed)
{
    gufo_document_remove(document, has_prefix, &prefix, removed);
}

/* Whether `from` may become `to`, another name. */
static gufo_status check_rename(const gufo_document *document, gufo_str from, gufo_str to,
                                uint64_t *slot, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_value value;

    if (!named_list_find(&document->entries, from, slot))
        return fail_with(error, GUFO_E_NOT_FOUND, GUFO_NO_OFFSET, "there is no key %s",
                         quote_name(quoted, from));
    if (gufo_str_equal(from, to))
        return GUFO_OK;
    if (gufo_document_find_str(document, to, NULL))
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "key %s exists already",
                         quote_name(quoted, to));
    if (!gufo_str_equal(to, gufo_str_of(GUFO_ALIGNMENT_KEY)))
        return GUFO_OK;
    value = document_value_get(&document_entry_in(document, *slot)->value);
    return content_check_value(to, &value, document->rules, error);
}

gufo_status gufo_document_rename(gufo_document *document, gufo_str from, gufo_str to,
                                 gufo_error *error)
{
    gufo_status status = check_key(to, document->rules, error);
    uint64_t slot, total;

    if (status == GUFO_OK)
        status = check_rename(document, from, to, &slot, error);
    if (status != GUFO_OK || gufo_str_equal(from, to))
        return status;
    status = new_total(document, from.len, to.len, &total, error);
    if (status == GUFO_OK)
        status = named_list_rename(&document->entries, slot, to, &document->allocator, error);
    if (status != GUFO_OK)
        return status;
    document->entries_size = total;
    document_touch(document);
    return GUFO_OK;
}
