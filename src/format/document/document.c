/* The life of a document, and how the file encodes numbers and lengths. */
#include "format/document/document.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/value/value.h"

/* ---- life ----------------------------------------------------------------------------------- */

static content_rules rules_for(uint32_t flags)
{
    if (flags & GUFO_DOCUMENT_AS_GGML)
        return CONTENT_AS_GGML;
    return flags & GUFO_DOCUMENT_AS_READ ? CONTENT_AS_READ : CONTENT_NEW;
}

gufo_document *gufo_document_new(const gufo_document_options *options, gufo_error *error)
{
    static const gufo_document_options standard = {0};
    const uint32_t known = GUFO_DOCUMENT_AS_READ | GUFO_DOCUMENT_AS_GGML;
    const gufo_allocator *allocator;
    gufo_document *document;

    options = options != NULL ? options : &standard;
    if (flags_check(options->flags, known, "gufo_document_options", error) != GUFO_OK ||
        reserved_check(options->reserved, "gufo_document_options", error) != GUFO_OK)
        return NULL;
    allocator = mem_allocator(options->allocator);
    document = mem_zero(allocator, sizeof *document);
    if (document == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    document->allocator = *allocator;
    document->rules = rules_for(options->flags);
    document->encoding = (gufo_encoding){3, GUFO_LITTLE_ENDIAN};
    document->models.size = sizeof(const gufo_model *);
    document->shapes.list.size = GUFO_MAX_DIMS * sizeof(uint64_t);
    named_list_init(&document->entries, sizeof(document_entry), "key", &document->allocator);
    named_list_init(&document->tensors, sizeof(document_tensor), "tensor", &document->allocator);
    document->entries.owner = document->tensors.owner = document;
    document->entries.drop = document_drop_entry;
    document->tensors.drop = document_drop_tensor;
    return document;
}

gufo_document *gufo_document_from(const gufo_model *model, const gufo_document_options *options,
                                  gufo_error *error)
{
    gufo_document *document = NULL;
    gufo_status status;

    if (model == NULL)
        (void)refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    else
        document = gufo_document_new(options, error);
    if (document == NULL)
        return NULL;
    document->source = model;
    document->encoding.byte_order = (uint8_t)gufo_model_facts(model).byte_order;
    if (gufo_model_facts(model).version == 2)
        document->encoding.version = 2;
    status = document_note_model(document, model, error);
    if (status == GUFO_OK)
        status = document_load_entries(document, error);
    if (status == GUFO_OK)
        status = gufo_document_copy_tensors(document, model, NULL, NULL, NULL, error);
    if (status == GUFO_OK)
        return document;
    (void)model_fail(model, status, error);
    gufo_document_free(document);
    return NULL;
}

void gufo_document_free(gufo_document *document)
{
    gufo_allocator allocator;

    if (document == NULL)
        return;
    allocator = document->allocator;
    document_touch(document);
    named_list_free(&document->entries);
    named_list_free(&document->tensors);
    shapes_free(&document->shapes, &allocator);
    records_free(&document->models, &allocator);
    mem_free(&allocator, document);
}

/* ---- encoding ------------------------------------------------------------------------------- */

gufo_status gufo_document_set_encoding(gufo_document *document, uint32_t version,
                                       gufo_byte_order order, gufo_error *error)
{
    gufo_status status;

    if (version != 2 && version != 3)
        return refuse(error, GUFO_E_ARGUMENT,
                      "version %" PRIu32 " cannot be written; choose 2 or 3", version);
    if (order != GUFO_LITTLE_ENDIAN && order != GUFO_BIG_ENDIAN)
        return refuse(error, GUFO_E_ARGUMENT, "byte order %d does not exist", (int)order);
    if (version == 2 && order == GUFO_BIG_ENDIAN && document->rules == CONTENT_NEW)
        return refuse(error, GUFO_E_ARGUMENT, "version 2 has no big-endian files; choose 3");
    status = document_check_order(document, order, error);
    if (status != GUFO_OK)
        return status;
    document_touch(document);
    document->encoding = (gufo_encoding){(uint8_t)version, (uint8_t)order};
    return GUFO_OK;
}

uint32_t gufo_document_version(const gufo_document *document)
{
    return document->encoding.version;
}

gufo_byte_order gufo_document_byte_order(const gufo_document *document)
{
    return (gufo_byte_order)document->encoding.byte_order;
}

/* How a document differs from the model that it was made from.
 *
 * Nothing moves entries or tensors, so those that were in the model are still in its order, and new
 * ones come after them: one walk over both lists meets every pair.
 *
 *     model       a   b   c   d
 *     document    a       c'  e   new        b was removed, c got another value, d another name */

/* The callback that receives the changes. */
typedef struct reporting {
    const gufo_document *document;
    gufo_change_fn *visit;
    void *context;
    gufo_error *error;
} reporting;

static void report(const reporting *t, gufo_change_kind kind, gufo_str old_name, gufo_str new_name,
                   const gufo_value *old_value, const gufo_value *new_value)
{
    t->visit(t->context, &(gufo_change){.kind = kind,
                                        .old_name = old_name,
                                        .new_name = new_name,
                                        .old_value = old_value,
                                        .new_value = new_value});
}

/* ---- entries -------------------------------------------------------------------------------- */

/* An entry that was one of the model. */
static gufo_status report_kept(const reporting *t, const gufo_entry *old, const document_entry *e)
{
    gufo_str key = e->named.name;
    gufo_value value = document_value_get(&e->value);
    document_value was;
    gufo_status status;
    bool same;

    if (!gufo_str_equal(old->key, key))
        report(t, GUFO_CHANGE_RENAMED, old->key, key, NULL, NULL);
    status = document_value_view(&was, t->document->source, old, t->error);
    if (status == GUFO_OK)
        status = document_value_same(&was, &e->value, &t->document->allocator, &same, t->error);
    if (status == GUFO_OK && !same)
        report(t, GUFO_CHANGE_CHANGED, key, key, &old->value, &value);
    return status;
}

static gufo_status report_entries(const reporting *t)
{
    const named_list *entries = &t->document->entries;
    const gufo_model *model = t->document->source;
    uint64_t count = model != NULL ? gufo_model_entry_count(model) : 0, slot = 0;
    const document_entry *e = named_list_next(entries, &slot);
    gufo_status status = GUFO_OK;
    gufo_entry old;

    for (uint64_t i = 0; status == GUFO_OK && i < count; i++) {
        status = model_entry_at(model, i, &old, t->error);
        if (status != GUFO_OK)
            return status;
        if (e != NULL && e->origin == i) {
            status = report_kept(t, &old, e);
            e = named_list_next(entries, &slot);
        } else if (!document_is_padding(&old))
            report(t, GUFO_CHANGE_REMOVED, old.key, old.key, &old.value, NULL);
    }
    for (; status == GUFO_OK && e != NULL; e = named_list_next(entries, &slot)) {
        gufo_value value = document_value_get(&e->value);

        report(t, GUFO_CHANGE_ADDED, e->named.name, e->named.name, NULL, &value);
    }
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void report_kept_tensor(const reporting *t, const gufo_tensor *old,
                               const document_tensor *now)
{
    gufo_str name = now->named.name;

    if (!gufo_str_equal(old->name, name))
        report(t, GUFO_CHANGE_TENSOR_RENAMED, old->name, name, NULL, NULL);
    if (old->type != now->type)
        report(t, GUFO_CHANGE_TENSOR_RETYPED, name, name, NULL, NULL);
}

static gufo_status report_tensors(const reporting *t)
{
    const named_list *tensors = &t->document->tensors;
    const gufo_model *model = t->document->source;
    uint64_t count = model != NULL ? gufo_model_tensor_count(model) : 0, slot = 0;
    const document_tensor *now = named_list_next(tensors, &slot);
    gufo_tensor old;

    for (uint64_t i = 0; i < count; i++) {
        gufo_status status = model_tensor_at(model, i, &old, t->error);

        if (status != GUFO_OK)
            return status;
        if (now != NULL && document_tensor_from(t->document, now) == model && now->origin == i) {
            report_kept_tensor(t, &old, now);
            now = named_list_next(tensors, &slot);
        } else
            report(t, GUFO_CHANGE_TENSOR_DROPPED, old.name, old.name, NULL, NULL);
    }
    for (; now != NULL; now = named_list_next(tensors, &slot))
        report(t, GUFO_CHANGE_TENSOR_ADDED, now->named.name, now->named.name, NULL, NULL);
    return GUFO_OK;
}

gufo_status gufo_document_changes(const gufo_document *document, gufo_change_fn *visit,
                                  void *context, gufo_error *error)
{
    const reporting t = {document, visit, context, error};
    gufo_status status = report_entries(&t);

    return status == GUFO_OK ? report_tensors(&t) : status;
}

/* ---- entries that tie the shards of a set together ---------------------------------------------- */

static const char *const shard_keys[] = {GUFO_SPLIT_NO_KEY, GUFO_SPLIT_COUNT_KEY,
                                         GUFO_SPLIT_TENSORS_KEY, GUFO_SPLIT_ID_KEY};

enum { SHARD_KEYS = sizeof shard_keys / sizeof *shard_keys };

static gufo_status check_shard(uint64_t index, uint64_t count, uint64_t tensors, gufo_error *error)
{
    if (count > GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_LIMIT, "more than %s shards would be needed",
                      GROUPED(GUFO_MAX_SHARDS));
    if (index >= count)
        return refuse(error, GUFO_E_ARGUMENT, "the model has no shard %" PRIu64 " of %" PRIu64,
                      index, count);
    if (tensors > INT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "split.tensors.count cannot hold so many tensors");
    return GUFO_OK;
}

gufo_status gufo_document_set_shard(gufo_document *document, uint64_t index, uint64_t count,
                                    uint64_t tensors, uint64_t id, gufo_error *error)
{
    const gufo_value values[SHARD_KEYS] = {{.type = GUFO_VALUE_UINT16, .as.u = index},
                                           {.type = GUFO_VALUE_UINT16, .as.u = count},
                                           {.type = GUFO_VALUE_INT32, .as.i = (int64_t)tensors},
                                           {.type = GUFO_VALUE_UINT64, .as.u = id}};
    gufo_status status = check_shard(index, count, tensors, error);
    document_value value;

    /* With room for all, no other call fails: numbers and these keys need no memory. */
    if (status == GUFO_OK)
        status = named_list_reserve(&document->entries, SHARD_KEYS, error);
    for (size_t i = 0; i < SHARD_KEYS && status == GUFO_OK; i++) {
        if (values[i].type == GUFO_VALUE_UINT64 && id == 0) {
            (void)gufo_document_remove_key(document, shard_keys[i]);
            continue;
        }
        status = document_value_set(&value, &values[i], &document->allocator, error);
        if (status == GUFO_OK)
            status = document_put(document, gufo_str_of(shard_keys[i]), false, &value, error);
    }
    return status;
}

void gufo_document_remove_shard_keys(gufo_document *document)
{
    for (size_t i = 0; i < SHARD_KEYS; i++)
        (void)gufo_document_remove_key(document, shard_keys[i]);
}

bool gufo_key_is_of_model(void *unused, gufo_str key)
{
    (void)unused;
    for (size_t i = 0; i < SHARD_KEYS; i++)
        if (gufo_str_equal(key, gufo_str_of(shard_keys[i])))
            return false;
    return true;
}

/* ---- applies the fix of a finding to the entries ------------------------------------------------ */

/* How many bytes the first `count` elements of an array have. */
static gufo_status measure_first(const gufo_array *array, uint64_t count, uint64_t *size,
                                 gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    while (iter.index < count && gufo_array_next(&iter, &element))
        ;
    *size = iter.position;
    if (iter.changed)
        return refuse(error, GUFO_E_CHANGED, "the file was changed while it was open");
    return GUFO_OK;
}

/* The array keeps its first elements. */
static gufo_status shorten(gufo_document *document, gufo_str key, uint64_t count, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status;

    if (!gufo_document_find_str(document, key, &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
    if (entry.value.type != GUFO_VALUE_ARRAY || count > entry.value.as.array.count)
        return refuse(error, GUFO_E_ARGUMENT, "the array has no elements to remove");
    status = measure_first(&entry.value.as.array, count, &entry.value.as.array.size, error);
    entry.value.as.array.count = count;
    return status == GUFO_OK ? gufo_document_set_entry(document, key, &entry.value, error) : status;
}

static gufo_status convert_all(buffer *out, const gufo_array *array, gufo_value_type type,
                               gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_status status = GUFO_OK;
    uint8_t bytes[8], *place;
    gufo_value element;

    while (status == GUFO_OK && gufo_array_next(&iter, &element)) {
        status = value_convert(&element, type, &element, error);
        if (status != GUFO_OK)
            break;
        place = buffer_extend(out, gufo_value_type_size(type));
        if (place == NULL)
            return fail_memory(error);
        number_bytes(&element, bytes);
        memcpy(place, bytes, gufo_value_type_size(type));
    }
    return status == GUFO_OK && iter.changed ? array_fail_changed(error) : status;
}

/* The elements of the array get another type. */
static gufo_status retype(gufo_document *document, gufo_str key, gufo_value_type type,
                          gufo_error *error)
{
    buffer out = {.allocator = &document->allocator};
    gufo_document_entry entry;
    gufo_array *array = &entry.value.as.array;
    gufo_status status;

    if (!gufo_document_find_str(document, key, &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
    if (entry.value.type != GUFO_VALUE_ARRAY)
        return refuse(error, GUFO_E_ARGUMENT, "key %s is not an array", QUOTED(key));
    status = convert_all(&out, array, type, error);
    if (status == GUFO_OK) {
        const gufo_encoding host = {3, HOST_IS_BIG_ENDIAN ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN};

        *array = (gufo_array){type, array->count, out.data, out.len, host};
        status = gufo_document_set_entry(document, key, &entry.value, error);
    }
    buffer_free(&out);
    return status;
}

static gufo_status remove_key(gufo_document *document, gufo_str key, gufo_error *error)
{
    if (gufo_document_remove_key_str(document, key))
        return GUFO_OK;
    return refuse(error, GUFO_E_NOT_FOUND, "no such key: %s", QUOTED(key));
}

gufo_status gufo_document_fix(gufo_document *document, const gufo_fix *fix, gufo_error *error)
{
    gufo_status status;
    uint64_t count;
    gufo_str to;

    if (fix == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the fix is missing");
    switch (fix->kind) {
    case GUFO_FIX_SET:
        return gufo_document_set_entry(document, fix->key, &fix->value, error);
    case GUFO_FIX_RENAME:
        status = gufo_value_str(&fix->value, &to, error);
        return status == GUFO_OK ? gufo_document_rename_str(document, fix->key, to, error) : status;
    case GUFO_FIX_SHORTEN:
        status = gufo_value_u64(&fix->value, &count, error);
        return status == GUFO_OK ? shorten(document, fix->key, count, error) : status;
    case GUFO_FIX_RETYPE:
        return retype(document, fix->key, fix->value.type, error);
    case GUFO_FIX_REMOVE:
        return remove_key(document, fix->key, error);
    case GUFO_FIX_RENAME_TENSOR:
        status = gufo_value_str(&fix->value, &to, error);
        return status == GUFO_OK ? gufo_document_rename_tensor_str(document, fix->key, to, error)
                                 : status;
    case GUFO_FIX_SUPPLY:
        return refuse(error, GUFO_E_ARGUMENT, "the value of key %s is not known", QUOTED(fix->key));
    case GUFO_FIX_NONE:
    case GUFO_FIX_REWRITE:
        break;
    }
    return GUFO_OK;
}
