/* gguf-metadata.json: what a conversion of the other files does not give.
 *
 * General keys are all in it, because a conversion guesses those that are missing.  For the rest the
 * files are converted: a key that comes out otherwise, or not at all, is kept with its value, one that
 * the model does not have as null.  A second conversion, with the file, shows whether the keys come in
 * the order of the model; if not, the order is kept as well. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/rules/rules.h"
#include "gufo/schema.h"
#include "import/conversion/conversion.h"
#include "import/export/parts.h"
#include "import/general/general.h"
#include "import/typed_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Files are checked by converting them, in memory. */

static bool same_number(const gufo_value *a, const gufo_value *b)
{
    if (a->type == GUFO_VALUE_FLOAT32 || a->type == GUFO_VALUE_FLOAT64)
        return isnan(a->as.f) ? isnan(b->as.f)
                              : a->as.f == b->as.f && signbit(a->as.f) == signbit(b->as.f);
    return a->type == GUFO_VALUE_BOOL ? a->as.b == b->as.b : a->as.u == b->as.u;
}

static bool same_single(const gufo_value *a, const gufo_value *b)
{
    return a->type == b->type &&
           (a->type == GUFO_VALUE_STRING ? gufo_str_equal(a->as.str, b->as.str)
                                         : same_number(a, b));
}

/* Elements that are arrays themselves, which no reader uses, are taken for different. */
bool same_key_value(const gufo_value *a, const gufo_value *b)
{
    gufo_array_iter of_a, of_b;
    gufo_value x, y;

    if (a->type != GUFO_VALUE_ARRAY || b->type != GUFO_VALUE_ARRAY)
        return a->type != GUFO_VALUE_ARRAY && b->type != GUFO_VALUE_ARRAY && same_single(a, b);
    if (a->as.array.type != b->as.array.type || a->as.array.count != b->as.array.count ||
        a->as.array.type == GUFO_VALUE_ARRAY)
        return false;
    of_a = gufo_array_start(&a->as.array);
    of_b = gufo_array_start(&b->as.array);
    while (gufo_array_next(&of_a, &x))
        if (!gufo_array_next(&of_b, &y) || !same_single(&x, &y))
            return false;
    return !of_a.changed;
}

/* The entries that a conversion of the files gives, with `metadata` as gguf-metadata.json; as
 * conversion_try. */
static gufo_status try_files(const export_files *files, const json_t *metadata, json_t *failed,
                             gufo_document **out, gufo_error *error)
{
    memory_file list[EXPORT_FILES + 1];
    memory_files folder = {list, files->count};
    char *text = json_dumps(metadata, JSON_COMPACT | JSON_REAL_PRECISION(9));
    gufo_status status;

    if (text == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < files->count; i++) {
        const export_file *file = &files->list[i];

        list[i] = (memory_file){file->name, {file->bytes != NULL ? file->bytes : "", file->size}};
    }
    list[folder.count++] = (memory_file){STORED_NAME, gufo_str_of(text)};
    status = conversion_try(&folder, failed, &default_allocator, out, error);
    free(text);
    return status;
}

static bool same_key(const gufo_model *model, const gufo_document *document, const char *key)
{
    gufo_document_entry got;
    gufo_entry wanted;
    bool there = gufo_model_key_entry(model, key, &wanted);

    if (!gufo_document_find(document, key, &got))
        return !there;
    return there && same_key_value(&wanted.value, &got.value);
}

/* The pre-tokenizer is kept by its name. */
static json_t *with_pre(const gufo_model *model)
{
    json_t *root = json_pack("{s:i, s:{}}", "version", STORED_VERSION, "keys");
    gufo_entry entry;

    if (gufo_model_key_entry(model, PRE_KEY, &entry))
        (void)json_object_set_new(json_object_get(root, "keys"), PRE_KEY,
                                  typed_value_json(&entry.value));
    return root;
}

gufo_status same_vocabulary(const gufo_model *model, const export_files *files, bool *same,
                            gufo_error *error)
{
    static const char *const keys[] = {"tokenizer.ggml.model", "tokenizer.ggml.tokens",
                                       "tokenizer.ggml.scores", "tokenizer.ggml.token_type",
                                       "tokenizer.ggml.merges"};
    json_t *failed = json_object(), *metadata = with_pre(model);
    gufo_document *document = NULL;
    gufo_status status = GUFO_E_MEMORY;

    if (failed != NULL && metadata != NULL)
        status = try_files(files, metadata, failed, &document, NULL);
    *same = status == GUFO_OK;
    for (size_t i = 0; *same && i < sizeof keys / sizeof *keys; i++)
        *same = same_key(model, document, keys[i]);
    gufo_document_free(document);
    json_decref(metadata);
    json_decref(failed);
    return status == GUFO_E_MEMORY ? fail_memory(error) : GUFO_OK;
}

#define TOKENS_KEY "tokenizer.ggml.tokens"
#define VERSION_KEY "general.quantization_version"

enum { LONG_TEXT = 256 };

typedef struct keeping {
    const gufo_model *model;
    export_files *files;
    gufo_str architecture;
    json_t *root, *keys, *failed;
    gufo_error *error;
} keeping;

/* ---- values ---------------------------------------------------------------------------------- */

/* Keys of the file itself, which say nothing about the model. */
static bool is_of_file(gufo_str key)
{
    static const char *const keys[] = {"general.architecture", GUFO_SPLIT_NO_KEY,
                                       GUFO_SPLIT_COUNT_KEY,   GUFO_SPLIT_TENSORS_KEY,
                                       GUFO_SPLIT_ID_KEY,      GUFO_PADDING_KEY};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gufo_str_equal(key, gufo_str_of(keys[i])))
            return true;
    return false;
}

/* The element type is that of the next conversion. */
static bool is_file_type(gufo_str key)
{
    return gufo_str_equal(key, gufo_str_of("general.file_type"));
}

/* The file that has these bytes already; NULL: none. */
static const char *file_of(const keeping *k, const gufo_value *value)
{
    if (value->type != GUFO_VALUE_STRING || value->as.str.len < LONG_TEXT)
        return NULL;
    for (uint32_t i = 0; i < k->files->count; i++) {
        const export_file *file = &k->files->list[i];

        if (gufo_str_equal(value->as.str, (gufo_str){file->bytes, file->size}))
            return file->name;
    }
    return NULL;
}

/* What a conversion cannot write: keys that new files must not have, texts that are not UTF-8. */
static bool can_keep(const gufo_entry *entry)
{
    gufo_str key = entry->key, text = {"", 0};

    if (entry->value.type == GUFO_VALUE_STRING)
        text = entry->value.as.str;
    return names_check(key, key_rules, NULL) == GUFO_OK &&
           names_check(key, key_extra_rules, NULL) == GUFO_OK &&
           gufo_utf8_valid_prefix(text) == text.len;
}

static gufo_status keep_value(const keeping *k, const gufo_entry *entry)
{
    const char *file = file_of(k, &entry->value);
    json_t *json = NULL;

    if (can_keep(entry))
        json = file != NULL ? json_pack("{s:s, s:s}", "type", "string", "file", file)
                            : typed_value_json(&entry->value);
    if (json == NULL && (!can_keep(entry) || entry->value.type == GUFO_VALUE_ARRAY))
        return export_warn(k->files, k->error, "the key %s cannot be kept: it is lost",
                           QUOTED(entry->key));
    return json_object_setn_new(k->keys, entry->key.data, entry->key.len, json) == 0
               ? GUFO_OK
               : fail_memory(k->error);
}

static gufo_status keep_absence(const keeping *k, gufo_str key)
{
    return json_object_setn_new(k->keys, key.data, key.len, json_null()) == 0
               ? GUFO_OK
               : fail_memory(k->error);
}

static bool is_kept(const keeping *k, gufo_str key)
{
    return json_object_getn(k->keys, key.data, key.len) != NULL;
}

/* ---- general keys ---------------------------------------------------------------------------- */

static gufo_status keep_general(const keeping *k)
{
    static const char *const groups[] = {"general.base_models", "general.datasets"};
    gufo_status status = GUFO_OK;
    gufo_entry entry;
    const char *key;

    for (uint64_t i = 0; status == GUFO_OK && gufo_model_entry_at(k->model, i, &entry); i++)
        if (str_begins(entry.key, "general.") && !is_of_file(entry.key) &&
            !is_file_type(entry.key) && !gufo_str_equal(entry.key, gufo_str_of(VERSION_KEY)))
            status = keep_value(k, &entry);
    for (size_t i = 0; status == GUFO_OK && (key = general_key_at(i)) != NULL; i++)
        if (!is_kept(k, gufo_str_of(key)) && !gufo_model_key_entry(k->model, key, NULL))
            status = keep_absence(k, gufo_str_of(key));
    for (size_t i = 0; i < sizeof groups / sizeof *groups && status == GUFO_OK; i++)
        status = keep_absence(k, gufo_str_of(groups[i]));
    return status;
}

/* Its name is certain; what cuts a text in the same way has many. */
static gufo_status keep_pre(const keeping *k)
{
    gufo_entry entry;

    return gufo_str_equal(model_text(k->model, "tokenizer.ggml.model"), gufo_str_of("gpt2")) &&
                   gufo_model_key_entry(k->model, PRE_KEY, &entry)
               ? keep_value(k, &entry)
               : GUFO_OK;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static gufo_status keep_tokenizer(const keeping *k)
{
    gufo_status status = GUFO_OK;
    gufo_entry entry;

    if (!gufo_model_key_entry(k->model, TOKENS_KEY, NULL))
        return keep_absence(k, gufo_str_of(TOKENS_KEY));
    for (uint64_t i = 0; status == GUFO_OK && gufo_model_entry_at(k->model, i, &entry); i++)
        if (str_begins(entry.key, "tokenizer."))
            status = keep_value(k, &entry);
    return status;
}

/* Whether two keys are names of the same one. */
static bool are_names_of_one(const keeping *k, gufo_str a, gufo_str b)
{
    const gufo_key_info *row = gufo_key_find_str(a, k->architecture);

    return row != NULL && row != gufo_key_find_str(b, k->architecture) &&
           gufo_key_today_str(a, k->architecture) == gufo_key_today_str(b, k->architecture);
}

/* What the conversion gives for a key of the model, under this name or another one. */
static bool find_meaning(const keeping *k, const gufo_document *got, gufo_str key,
                         gufo_document_entry *out)
{
    if (gufo_document_find_str(got, key, out))
        return true;
    for (uint64_t i = 0; gufo_document_entry_at(got, i, out); i++)
        if (are_names_of_one(k, key, out->key))
            return true;
    return false;
}

/* Whether the model has a key that the conversion gives, with this value, under another name. */
static bool is_said_otherwise(const keeping *k, const gufo_document_entry *got)
{
    const gufo_key_info *today = gufo_key_today_str(got->key, k->architecture);
    gufo_entry entry;

    return today != NULL && gufo_model_key_entry(k->model, today->key, &entry) &&
           same_key_value(&entry.value, &got->value);
}

/* Keeps the key of the model unless the conversion gives it. */
static gufo_status keep_difference(const keeping *k, const gufo_document *got,
                                   const gufo_entry *entry)
{
    gufo_document_entry found;

    if (is_of_file(entry->key) || is_file_type(entry->key) || is_kept(k, entry->key))
        return GUFO_OK;
    return got != NULL && find_meaning(k, got, entry->key, &found) &&
                   same_key_value(&entry->value, &found.value)
               ? GUFO_OK
               : keep_value(k, entry);
}

/* Where tokens differ, all of the tokenizer is kept: files are not read then. */
static bool has_tokens(const keeping *k, const gufo_document *got)
{
    gufo_document_entry found;
    gufo_entry wanted;

    return gufo_model_key_entry(k->model, TOKENS_KEY, &wanted) && got != NULL &&
           gufo_document_find(got, TOKENS_KEY, &found) &&
           same_key_value(&wanted.value, &found.value);
}

static gufo_status keep_differences(const keeping *k, const gufo_document *got)
{
    gufo_status status = has_tokens(k, got) ? GUFO_OK : keep_tokenizer(k);
    gufo_document_entry other;
    gufo_entry entry;
    const char *key;
    json_t *value;

    for (uint64_t i = 0; status == GUFO_OK && gufo_model_entry_at(k->model, i, &entry); i++)
        status = keep_difference(k, got, &entry);
    for (uint64_t i = 0; got != NULL && status == GUFO_OK && gufo_document_entry_at(got, i, &other);
         i++)
        if (!gufo_model_find_str(k->model, other.key, NULL) && !is_said_otherwise(k, &other))
            status = keep_absence(k, other.key);
    json_object_foreach(k->failed, key, value)
    {
        if (status == GUFO_OK && key[0] != '@' && !is_kept(k, gufo_str_of(key)))
            status = keep_absence(k, gufo_str_of(key));
    }
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Whether the keys of both come in the same order. */
static bool same_order(const keeping *k, const gufo_document *got)
{
    gufo_document_entry found, other;
    gufo_entry entry;
    uint64_t at = 0;

    for (uint64_t i = 0; gufo_model_entry_at(k->model, i, &entry); i++) {
        if (!find_meaning(k, got, entry.key, &found))
            continue;
        if (!gufo_document_entry_at(got, at++, &other) || !gufo_str_equal(found.key, other.key))
            return false;
    }
    return true;
}

/* The keys of the model, by the names that the conversion gives. */
static gufo_status keep_order(const keeping *k, const gufo_document *got)
{
    json_t *order = json_array();
    gufo_document_entry found;
    gufo_entry entry;
    int failed = order == NULL;

    for (uint64_t i = 0; failed == 0 && gufo_model_entry_at(k->model, i, &entry); i++)
        if (!is_of_file(entry.key) && find_meaning(k, got, entry.key, &found))
            failed = json_array_append_new(order, json_stringn(found.key.data, found.key.len));
    if (failed != 0) {
        json_decref(order);
        return fail_memory(k->error);
    }
    /* In front of all. */
    failed = json_array_insert_new(order, 0, json_string("general.architecture"));
    return json_object_set_new(k->root, "order", order) == 0 && failed == 0 ? GUFO_OK
                                                                            : fail_memory(k->error);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Converts the files; what cannot be converted is a warning, and *got NULL then. */
static gufo_status convert(const keeping *k, json_t *failed, gufo_document **got)
{
    gufo_error reason;
    gufo_status status = try_files(k->files, k->root, failed, got, &reason);

    if (status == GUFO_OK)
        return GUFO_OK;
    return status == GUFO_E_MEMORY
               ? fail_memory(k->error)
               : export_warn(k->files, k->error, "the files cannot be converted again: %s",
                             reason.message);
}

static gufo_status check(const keeping *k)
{
    gufo_document *got = NULL;
    gufo_status status = convert(k, NULL, &got);

    if (status == GUFO_OK && got != NULL && !same_order(k, got))
        status = keep_order(k, got);
    gufo_document_free(got);
    return status;
}

static gufo_status keep_all(const keeping *k)
{
    gufo_document *got = NULL;
    gufo_status status = keep_general(k);

    if (status == GUFO_OK)
        status = keep_pre(k);
    if (status == GUFO_OK)
        status = convert(k, k->failed, &got);
    if (status == GUFO_OK)
        status = keep_differences(k, got);
    gufo_document_free(got);
    return status == GUFO_OK ? check(k) : status;
}

/* Conversions of tensors of F32 alone give F16 unless they know better: by both, what most tensors are and
 * what the model says. */
static gufo_status keep_type(const keeping *k, uint32_t type)
{
    uint64_t said = 0; /* F32, also where it does not say it */

    (void)gufo_model_get_u64(k->model, "general.file_type", &said, NULL);
    return type != GUFO_TYPE_F32 || said != 0 ||
                   json_object_set_new(k->root, "type", json_string("F32")) == 0
               ? GUFO_OK
               : fail_memory(k->error);
}

/* Files of tensors have an order of their own. */
static gufo_status keep_tensors(const keeping *k)
{
    json_t *names = json_array();
    gufo_tensor t;
    int failed = names == NULL;

    for (uint64_t i = 0; failed == 0 && gufo_model_tensor_at(k->model, i, &t); i++)
        if (gufo_utf8_valid_prefix(t.name) == t.name.len &&
            memchr(t.name.data, '\0', t.name.len) == NULL)
            failed = json_array_append_new(names, json_stringn(t.name.data, t.name.len));
    if (failed == 0 && json_array_size(names) > 0)
        failed = json_object_set(k->root, "tensors", names);
    json_decref(names);
    return failed == 0 ? GUFO_OK : fail_memory(k->error);
}

gufo_status export_metadata(const gufo_model *model, uint32_t type, export_files *files,
                            gufo_error *error)
{
    keeping k = {.model = model,
                 .files = files,
                 .architecture = model_text(model, "general.architecture"),
                 .root = json_pack("{s:i, s:{}}", "version", STORED_VERSION, "keys"),
                 .failed = json_object(),
                 .error = error};
    gufo_status status = k.root != NULL && k.failed != NULL ? GUFO_OK : fail_memory(error);

    k.keys = json_object_get(k.root, "keys");
    if (status == GUFO_OK)
        status = keep_all(&k);
    if (status == GUFO_OK)
        status = keep_type(&k, type);
    if (status == GUFO_OK)
        status = keep_tensors(&k);
    if (status == GUFO_OK)
        status = export_add_json(files, STORED_NAME, k.root, error);
    json_decref(k.root);
    json_decref(k.failed);
    return status;
}
