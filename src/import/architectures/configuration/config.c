/* The configuration of a model: its files are read, the fields of the text model laid over the
 * others, and those changed that the rules of the architecture want changed.
 *
 *     raw       config.json as it is
 *     fields    + the text model's fields, + Mistral's under the names of the tables,
 *               + rows "fields" of the architecture               tensors and conditions see these
 *     edited    + rows "config" of the architecture                keys and the tokenizer see these
 *
 * config_class.c finds the class and the architecture, config_ropes.c completes the parameters of
 * rotary positions. */
#include "import/architectures/configuration/config.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/config_files.h"
#include "import/architectures/configuration/config_parts.h"
#include "import/architectures/configuration/expression.h"
#include "import/json_file.h"

#define CONFIG_NAME "config.json"
#define MISTRAL_NAME "params.json"

enum { CONFIG_LIMIT = 16 << 20, TOKENIZER_LIMIT = 64 << 20 };

/* A file that is made of the keys of a model exists nowhere: the file of the model is to blame. */
static gufo_status fail_made(const char *name, gufo_status status, gufo_error *error)
{
    gufo_error reason;

    if (status == GUFO_OK || status == GUFO_E_MEMORY || error == NULL ||
        str_begins(gufo_str_of(error->message), name))
        return status;
    reason = *error;
    return fail_with(error, status, GUFO_NO_OFFSET, "%s that its keys give: %s", name,
                     reason.message);
}

gufo_status config_failed(const model_config *config, gufo_status status, gufo_error *error)
{
    const char *name = config->is_mistral ? MISTRAL_NAME : CONFIG_NAME;

    if (config->is_made)
        return fail_made(name, status, error);
    if (status != GUFO_OK)
        source_folder_blame(&config->folder, name, error);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static gufo_status need_object(const model_config *c, const json_t *json, const char *name,
                               gufo_error *error)
{
    if (json == NULL || json_is_object(json))
        return GUFO_OK;
    return config_failed(c, refuse(error, GUFO_E_MALFORMED, "%s is not an object of JSON", name),
                         error);
}

static gufo_status read_object(const model_config *c, const char *name, uint64_t limit,
                               json_t **json, gufo_error *error)
{
    gufo_status status = config_read_json(c, name, limit, json, error);

    return status == GUFO_OK ? need_object(c, *json, name, error) : status;
}

static gufo_status read_raw(model_config *c, gufo_error *error)
{
    gufo_status status = read_object(c, CONFIG_NAME, CONFIG_LIMIT, &c->raw, error);

    if (status == GUFO_OK && c->raw == NULL) {
        status = read_object(c, MISTRAL_NAME, CONFIG_LIMIT, &c->raw, error);
        c->is_mistral = c->raw != NULL;
    }
    if (status != GUFO_OK || c->raw != NULL)
        return status;
    if (!c->is_generic)
        return config_failed(c, refuse(error, GUFO_E_NOT_FOUND, "no such file"), error);
    c->raw = json_object();
    return c->raw != NULL ? GUFO_OK : fail_memory(error);
}

/* What it says is taken where it can be read; a model goes without it. */
static gufo_status read_generation(model_config *c, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status =
        read_object(c, "generation_config.json", CONFIG_LIMIT, &c->generation, &reason);

    if (status == GUFO_OK || status == GUFO_E_MEMORY)
        return status == GUFO_OK ? GUFO_OK : fail_memory(error);
    json_decref(c->generation);
    c->generation = NULL;
    c->unread = mem_text(c->allocator, gufo_str_of(reason.message));
    return c->unread != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status read_files(model_config *c, gufo_error *error)
{
    gufo_status status = read_raw(c, error);

    if (status == GUFO_OK)
        status = read_object(c, "tokenizer_config.json", TOKENIZER_LIMIT, &c->tokenizer, error);
    return status == GUFO_OK ? read_generation(c, error) : status;
}

/* ---- life ------------------------------------------------------------------------------------ */

static gufo_status prepare(model_config *c, const char *arch, gufo_error *error)
{
    gufo_status status;

    c->origins = json_object();
    status = c->origins != NULL ? config_join_text(c, error) : fail_memory(error);
    if (status == GUFO_OK && c->is_mistral)
        status = config_edit(c, "@params.json", "fields", c->fields, error);
    if (status == GUFO_OK)
        status = config_complete_ropes(c, error);
    if (status == GUFO_OK)
        status = config_find_class(c, arch, error);
    if (status == GUFO_OK && !c->is_generic)
        status = config_edit(c, c->architecture, "fields", c->fields, error);
    /* These rows may have changed them. */
    if (status == GUFO_OK)
        status = config_complete_ropes(c, error);
    if (status != GUFO_OK)
        return status;
    c->edited = json_copy(c->fields);
    if (c->edited == NULL)
        return fail_memory(error);
    return c->is_generic ? GUFO_OK : config_edit(c, c->architecture, "config", c->edited, error);
}

gufo_status config_open(model_config *config, const source_folder *folder, const char *arch,
                        bool generic, import_bounds *bounds, const gufo_allocator *allocator,
                        gufo_error *error)
{
    gufo_status status;

    *config = (model_config){.allocator = mem_allocator(allocator),
                             .folder = *folder,
                             .bounds = bounds,
                             .is_generic = generic};
    status = read_files(config, error);
    if (status == GUFO_OK)
        status = config_failed(config, prepare(config, arch, error), error);
    if (status != GUFO_OK)
        config_close(config);
    return status;
}

gufo_status config_open_made(model_config *config, json_t *raw, const char *arch,
                             const gufo_allocator *allocator, gufo_error *error)
{
    static const memory_files nothing = {NULL, 0};
    gufo_status status;

    *config = (model_config){.allocator = mem_allocator(allocator),
                             .folder = source_folder_memory(&nothing),
                             .is_made = true,
                             .raw = json_incref(raw)};
    status = prepare(config, arch, error);
    if (status != GUFO_OK)
        config_close(config);
    return status;
}

void config_close(model_config *config)
{
    json_decref(config->raw);
    json_decref(config->fields);
    json_decref(config->edited);
    json_decref(config->origins);
    json_decref(config->ropes);
    json_decref(config->tokenizer);
    json_decref(config->generation);
    if (config->allocator != NULL) {
        mem_free(config->allocator, config->class_name);
        mem_free(config->allocator, config->architecture);
        mem_free(config->allocator, config->unread);
    }
    *config = (model_config){.allocator = NULL};
}

/* ---- expressions ----------------------------------------------------------------------------- */

gufo_status config_number(const model_config *config, const char *expression, uint64_t *out,
                          gufo_error *error)
{
    expression_scope scope = {.config = config, .fields = config->fields};
    expression_result result = {.made = NULL};
    gufo_status status = expression_evaluate(&scope, expression, &result, error);

    if (status == GUFO_OK)
        status = term_count(&result.value, INT64_MAX, out, error);
    expression_result_free(&result);
    return config_failed(config, status, error);
}

gufo_status config_real(const model_config *config, const char *expression, double *out,
                        gufo_error *error)
{
    expression_scope scope = {.config = config, .fields = config->fields};
    expression_result result = {.made = NULL};
    gufo_status status = expression_evaluate(&scope, expression, &result, error);

    if (status == GUFO_OK && !term_is_number(&result.value))
        status = term_wrong(&result.value, "a number", error);
    if (status == GUFO_OK)
        *out = term_as_real(&result.value);
    expression_result_free(&result);
    return config_failed(config, status, error);
}

gufo_status config_holds(const model_config *config, const char *condition, bool *out,
                         gufo_error *error)
{
    expression_scope scope = {.config = config, .fields = config->fields};

    return config_failed(config, expression_holds(&scope, condition, out, error), error);
}
