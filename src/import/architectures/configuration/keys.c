/* The keys of an architecture: rows of the table convert_keys, in order.
 *
 * A row's value is an expression over the configuration; its type is that of the key, except that a
 * list where one number is usual becomes one number for each block. */
#include "import/architectures/configuration/keys.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/configuration/rules.h"
#include "import/typed_value.h"

/* Values of expressions as values of keys: checked numbers of the types that GGUF has. */

/* ---- types ----------------------------------------------------------------------------------- */

/* A type, and how a value gets into an array of the C type of its elements. */
typedef struct type_row {
    const char *name;
    gufo_value_type type;
    size_t size;
    int64_t least, most; /* of whole numbers */
} type_row;

static const type_row types[] = {
    {"u32", GUFO_VALUE_UINT32, sizeof(uint32_t), 0, UINT32_MAX},
    {"i32", GUFO_VALUE_INT32, sizeof(int32_t), INT32_MIN, INT32_MAX},
    {"u64", GUFO_VALUE_UINT64, sizeof(uint64_t), 0, INT64_MAX},
    {"i64", GUFO_VALUE_INT64, sizeof(int64_t), INT64_MIN, INT64_MAX},
    {"f32", GUFO_VALUE_FLOAT32, sizeof(float), 0, 0},
    {"bool", GUFO_VALUE_BOOL, sizeof(bool), 0, 0},
    {"str", GUFO_VALUE_STRING, sizeof(gufo_str), 0, 0},
};

/* "u32", or "arr[u32]" of an array; NULL: the tables have no such type. */
static const type_row *find_type(const char *name, bool *is_array)
{
    gufo_str type = gufo_str_of(name);

    *is_array = str_begins(type, "arr[") && str_ends(type, "]");
    if (*is_array)
        type = (gufo_str){type.data + 4, type.len - 5};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gufo_str_equal(type, gufo_str_of(types[i].name)))
            return &types[i];
    return NULL;
}

bool key_type_of(const char *type, gufo_value_type *out, gufo_value_type *elements)
{
    bool is_array;
    const type_row *row = find_type(type, &is_array);

    if (row == NULL)
        return false;
    *elements = row->type;
    *out = is_array ? GUFO_VALUE_ARRAY : row->type;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static gufo_status whole_number(const type_row *type, const term *t, gufo_value *out,
                                gufo_error *error)
{
    int64_t number;
    gufo_status status = term_integer(t, &number, error);

    if (status != GUFO_OK)
        return status;
    if (number < type->least || number > type->most)
        return term_outside(t, number, type->least, type->most, error);
    if (type->least == 0)
        out->as.u = (uint64_t)number;
    else
        out->as.i = number;
    return GUFO_OK;
}

static gufo_status real_number(const term *t, gufo_value *out, gufo_error *error)
{
    if (!term_is_number(t))
        return term_wrong(t, "a number", error);
    out->as.f = term_as_real(t);
    if (fabs(out->as.f) == DBL_MAX) { /* quantile(0) and quantile(1) */
        out->as.f = copysign(INFINITY, out->as.f);
        return GUFO_OK;
    }
    return isfinite((float)out->as.f) ? GUFO_OK : term_too_large(t, error);
}

/* A value for a single key, or for an element. */
static gufo_status convert(const type_row *type, const term *t, gufo_value *out, gufo_error *error)
{
    *out = (gufo_value){.type = type->type};
    switch (type->type) {
    case GUFO_VALUE_FLOAT32:
        return real_number(t, out, error);
    case GUFO_VALUE_BOOL:
        out->as.b = t->truth;
        return t->kind == TERM_BOOL ? GUFO_OK : term_wrong(t, "true or false", error);
    case GUFO_VALUE_STRING:
        out->as.str = t->text;
        return t->kind == TERM_TEXT ? GUFO_OK : term_wrong(t, "a text", error);
    default:
        return whole_number(type, t, out, error);
    }
}

static gufo_status set_list(gufo_document *document, const char *key, const type_row *type,
                            const term *list, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_items items = {.type = type->type, .count = json_array_size(list->json)};
    char *elements = mem_array(allocator, items.count, type->size);
    gufo_status status = elements != NULL || items.count == 0 ? GUFO_OK : fail_memory(error);

    for (size_t i = 0; i < items.count && status == GUFO_OK; i++) {
        term element = term_of_json(json_array_get(list->json, i));
        gufo_value value;

        element.source = list->source;
        status = convert(type, &element, &value, error);
        if (status == GUFO_OK)
            typed_value_store(&value, elements + i * type->size);
    }
    items.items = elements;
    if (status == GUFO_OK && items.count > 0)
        status = gufo_document_set_array(document, key, &items, error);
    mem_free(allocator, elements);
    return status;
}

/* Sets a key to a value of a type of the table.  Empty lists are not written. */
static gufo_status key_value_set(gufo_document *document, gufo_str key, const char *type,
                                 const term *value, const gufo_allocator *allocator,
                                 gufo_error *error)
{
    bool is_array;
    const type_row *row = find_type(type, &is_array), *signed_row = &types[1];
    gufo_value single;
    gufo_status status;

    if (row == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "a table has the type %s", type);
    if (is_array && value->kind != TERM_LIST)
        return term_wrong(value, "a list", error);
    if (!is_array && value->kind == TERM_LIST && json_array_size(value->json) == 0)
        return term_wrong(value, "a number", error);
    /* Numbers of blocks are stored with a sign. */
    if (value->kind == TERM_LIST)
        return set_list(document, key.data,
                        !is_array && row->type == GUFO_VALUE_UINT32 ? signed_row : row, value,
                        allocator, error);
    status = convert(row, value, &single, error);
    return status == GUFO_OK ? gufo_document_set_entry(document, key, &single, error) : status;
}

typedef struct writing {
    gufo_import *import;
    const keys_request *request;
    expression_scope scope;
} writing;

static const char *const phase_names[] = {
    [KEYS_TENSORS] = "tensors", [KEYS_PARAMETERS] = "params", [KEYS_VOCABULARY] = "vocab"};

/* Keys that begin so have the same name in files of all architectures. */
static const char *const common[] = {"general.", "tokenizer.", "diffusion.", "xielu."};

static bool is_common(gufo_str key)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (str_begins(key, common[i]))
            return true;
    return false;
}

/* The key of a row in the file; an empty text if it is too long. */
static gufo_str full_key(const model_config *config, const char *key, char out[GUFO_KEY_NAME_SIZE])
{
    bool own = !is_common(gufo_str_of(key));
    int len = snprintf(out, GUFO_KEY_NAME_SIZE, "%s%s%s", own ? config->architecture : "",
                       own ? "." : "", key);

    return (gufo_str){out, len > 0 && len < GUFO_KEY_NAME_SIZE ? (size_t)len : 0};
}

/* Says which key a failure is about, unless the sentence is about the table itself. */
static gufo_status about_key(gufo_status status, const char *key, gufo_error *error)
{
    char message[sizeof error->message];

    if (status != GUFO_OK && status != GUFO_E_ARGUMENT && status != GUFO_E_MEMORY &&
        error != NULL && error->file[0] == '\0') {
        memcpy(message, error->message, sizeof message);
        return refuse(error, status, "%s, for %s", message, key);
    }
    return status;
}

static gufo_status write_value(const writing *w, const rule *row, const term *value,
                               gufo_error *error)
{
    char name[GUFO_KEY_NAME_SIZE];
    gufo_str key = full_key(w->request->config, row->key, name);

    if (value->kind == TERM_ABSENT && value->optional)
        return GUFO_OK;
    if (!term_has_value(value))
        return about_key(term_missing(value, error), name, error);
    return about_key(key_value_set(w->import->document, key, row->type, value,
                                   w->request->config->allocator, error),
                     name, error);
}

/* Whether a file decides about the key of a row.  Its value, if it has one, takes the place of the
 * row's. */
static gufo_status write_decided(const writing *w, const rule *row, bool *decided,
                                 gufo_error *error)
{
    char name[GUFO_KEY_NAME_SIZE];
    gufo_document_entry entry;

    (void)full_key(w->request->config, row->key, name);
    *decided = json_object_get(w->request->decided, name) != NULL;
    return *decided && gufo_document_find(w->request->values, name, &entry)
               ? gufo_document_set_entry(w->import->document, entry.key, &entry.value, error)
               : GUFO_OK;
}

/* Notes which fields gave a key that is written, or those that could have, as null. */
static gufo_status note_origins(const writing *w, const rule *row, const term *value,
                                gufo_error *error)
{
    json_t *origins = w->request->origins;
    bool is_there = term_has_value(value), noted = true;
    char name[GUFO_KEY_NAME_SIZE];

    (void)full_key(w->request->config, row->key, name);
    if (origins == NULL || (!is_there && json_object_get(origins, name) != NULL))
        return GUFO_OK;
    if (!is_there && value->source.len > 0)
        noted = json_object_setn_new(w->scope.read, value->source.data, value->source.len,
                                     json_null()) == 0;
    return noted && json_object_set(origins, name, w->scope.read) == 0 ? GUFO_OK
                                                                       : fail_memory(error);
}

static gufo_status evaluate_row(writing *w, const rule *row, gufo_error *error)
{
    expression_result result = {.made = NULL};
    gufo_status status;

    if (strcmp(row->key, "@vocab") == 0)
        return w->request->read_vocabulary == NULL
                   ? GUFO_OK
                   : w->request->read_vocabulary(w->request->context, row->value, error);
    w->scope.read = json_object();
    status = w->scope.read != NULL ? expression_evaluate(&w->scope, row->value, &result, error)
                                   : fail_memory(error);
    if (status == GUFO_OK)
        status = write_value(w, row, &result.value, error);
    else
        status = about_key(status, row->key, error);
    if (status == GUFO_OK)
        status = note_origins(w, row, &result.value, error);
    json_decref(w->scope.read);
    w->scope.read = NULL;
    expression_result_free(&result);
    return status;
}

static gufo_status note_failure(const writing *w, const rule *row, gufo_error *error)
{
    char name[GUFO_KEY_NAME_SIZE];
    const char *key = row->key;

    if (key[0] != '@')
        key = full_key(w->request->config, key, name).data;
    return json_object_set_new(w->request->failed, key, json_true()) == 0 ? GUFO_OK
                                                                          : fail_memory(error);
}

static gufo_status write_row(void *context, const rule *row, gufo_error *error)
{
    writing *w = context;
    bool decided = false;
    gufo_status status = GUFO_OK;

    if (w->request->decided != NULL)
        status = write_decided(w, row, &decided, error);
    if (status != GUFO_OK || decided)
        return status;
    status = evaluate_row(w, row, error);
    return status == GUFO_OK || status == GUFO_E_MEMORY || w->request->failed == NULL
               ? status
               : note_failure(w, row, error);
}

gufo_status keys_write(gufo_import *import, const keys_request *request, keys_phase phase,
                       gufo_error *error)
{
    const model_config *config = request->config;
    writing w = {.import = import,
                 .request = request,
                 .scope = {.config = config,
                           .fields = config->edited,
                           .document = import->document,
                           .file_type = request->file_type}};

    return config_failed(
        config, rules_apply(&w.scope, config->rules, phase_names[phase], write_row, &w, error),
        error);
}
