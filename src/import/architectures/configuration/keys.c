/* The keys of an architecture: rows of the table convert_keys, in order.
 *
 * A row's value is an expression over the configuration; its type is that of the key, except that a
 * list where one number is usual becomes one number for each block. */
#include "import/architectures/configuration/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/configuration/key_values.h"
#include "import/architectures/configuration/rules_apply.h"

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
               ? gufo_document_set(w->import->document, entry.key, &entry.value, error)
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
        config,
        rules_apply(&w.scope, config->architecture, phase_names[phase], write_row, &w, error),
        error);
}
