/* The configuration of a model: its files are read, the fields of the text model laid over the
 * others, and those changed that the rules of the architecture want changed.
 *
 *     raw       config.json as it is
 *     fields    + the text model's fields, + Mistral's under the names of the tables,
 *               + rows "fields" of the architecture               tensors and conditions see these
 *     edited    + rows "config" of the architecture                keys and the tokenizer see these */
#include "import/architectures/configuration/config.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/import.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/rules.h"
#include "import/json_file.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

/* The text model's part of a configuration that has several: its fields are laid over the others. */

/* Where models have it; of several the last one counts. */
static const struct part_row {
    const char *name, *inner; /* inner: a field of that one; NULL: itself */
} parts[] = {
    {"text_config", NULL},     {"llm_config", NULL},
    {"lm_config", NULL},       {"thinker_config", "text_config"},
    {"language_config", NULL}, {"lfm", NULL},
};

/* The text model's part of config.json; NULL: it has none. */
static json_t *config_text_part(const model_config *config)
{
    json_t *found = NULL;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_t *part = json_object_get(config->raw, parts[i].name);

        if (parts[i].inner != NULL)
            part = json_object_get(part, parts[i].inner);
        if (json_is_object(part))
            found = part;
    }
    return found;
}

/* Sets `fields`: those of the root, and those of the text model over them. */
static gufo_status config_join_text(model_config *config, gufo_error *error)
{
    json_t *text = config_text_part(config);

    /* Rules about towers change what is inside of objects. */
    config->fields =
        config->kind == CONFIG_OF_TOWER ? json_deep_copy(config->raw) : json_copy(config->raw);
    if (config->fields == NULL || (text != NULL && json_object_update(config->fields, text) != 0))
        return fail_memory(error);
    return GUFO_OK;
}

/* Fields that the rules of an architecture change before others see them: rows "fields" and
 * "config". */

/* The object that a field is in, as "vision_config" of "vision_config.depth", and its *name there; NULL:
 * none. */
static json_t *place_of(json_t *fields, const char *path, const char **name)
{
    const char *dot;

    while ((dot = strchr(path, '.')) != NULL) {
        fields = json_object_getn(fields, path, (size_t)(dot - path));
        path = dot + 1;
    }
    *name = path;
    return json_is_object(fields) ? fields : NULL;
}

/* A row without a value removes its field; one whose value is absent leaves it as it is, and so does one
 * about an object that the configuration does not have. */
static gufo_status edit_field(void *context, const rule *row, gufo_error *error)
{
    expression_scope *scope = context;
    expression_result result = {.made = NULL};
    const char *name;
    json_t *place = place_of(scope->fields, row->key, &name);
    gufo_status status;

    if (place == NULL)
        return GUFO_OK;
    if (row->value[0] == '\0') {
        (void)json_object_del(place, name);
        return GUFO_OK;
    }
    scope->read = json_object();
    status = scope->read != NULL ? expression_evaluate(scope, row->value, &result, error)
                                 : fail_memory(error);
    if (status == GUFO_OK && result.value.kind == TERM_ABSENT && !result.value.optional)
        status = term_missing(&result.value, error);
    if (status == GUFO_OK && result.value.kind != TERM_ABSENT &&
        (json_object_set_new(place, name, term_to_json(&result.value)) != 0 ||
         json_object_set(scope->config->origins, row->key, scope->read) != 0))
        status = fail_memory(error);
    json_decref(scope->read);
    scope->read = NULL;
    expression_result_free(&result);
    return status;
}

/* Changes `target` (`fields` or `edited`) as the rows of a group say. */
static gufo_status config_edit(const model_config *config, const char *group, const char *phase,
                               json_t *target, gufo_error *error)
{
    expression_scope scope = {.config = config, .fields = target};

    return rules_apply(&scope, group, phase, edit_field, &scope, error);
}

/* Parameters of rotary positions: one object, whichever way a configuration spells them.
 *
 * New ones have "rope_parameters" with all of them, or one object for each kind of attention; older
 * ones have "rope_scaling" and the rest beside it. */

enum { MAX_NAMES = 5 };

/* A parameter, and the fields of the configuration that may have it, the first one that does. */
static const struct rope_row {
    const char *parameter;
    const char *fields[MAX_NAMES + 1];
} completions[] = {
    {"rope_theta",
     {"global_rope_theta", "rope_global_theta", "rope_theta_global", "rope_theta",
      "rotary_emb_base"}},
    {"partial_rotary_factor", {"partial_rotary_factor", "rope_pct", "rope_percent"}},
    {"original_max_position_embeddings", {"original_max_position_embeddings"}},
};

static const char *const window_bases[] = {"local_rope_theta",     "rope_local_theta",
                                           "rope_theta_local",     "swa_rope_theta",
                                           "rope_local_base_freq", NULL};

/* The first field that is present; NULL also where that is null. */
static json_t *first_field(const json_t *fields, const char *const *names)
{
    json_t *found = NULL;

    for (size_t i = 0; names[i] != NULL && found == NULL; i++)
        found = json_object_get(fields, names[i]);
    return json_is_null(found) ? NULL : found;
}

/* Sets a parameter that is missing to a value, if there is one. */
static bool complete(json_t *ropes, const char *name, json_t *value)
{
    return value == NULL || json_object_get(ropes, name) != NULL ||
           json_object_set(ropes, name, value) == 0;
}

static bool complete_window(json_t *ropes, json_t *base)
{
    json_t *window;

    if (base == NULL)
        return true;
    window = json_pack("{s:O}", "rope_theta", base);
    return window != NULL && json_object_set_new(ropes, "sliding_attention", window) == 0;
}

static bool complete_all(json_t *ropes, const json_t *fields)
{
    json_t *type = json_object_get(ropes, "type");
    bool done;

    if (json_object_get(ropes, "full_attention") != NULL ||
        json_object_get(ropes, "sliding_attention") != NULL)
        return true;
    done = complete_window(ropes, first_field(fields, window_bases)) &&
           complete(ropes, "rope_type", json_is_null(type) ? NULL : type);
    for (size_t i = 0; i < sizeof completions / sizeof *completions && done; i++)
        done =
            complete(ropes, completions[i].parameter, first_field(fields, completions[i].fields));
    return done;
}

/* Sets `ropes`, from `fields`. */
static gufo_status config_complete_ropes(model_config *config, gufo_error *error)
{
    const char *name = "rope_parameters";
    json_t *given = json_object_get(config->fields, name);

    if (given == NULL)
        given = json_object_get(config->fields, name = "rope_scaling");
    if (given != NULL && !json_is_null(given) && !json_is_object(given) &&
        config->kind != CONFIG_GENERIC)
        return refuse(error, GUFO_E_MALFORMED, "%s is not an object", name);
    json_decref(config->ropes);
    config->ropes = json_is_object(given) ? json_deep_copy(given) : json_object();
    if (config->ropes == NULL || !complete_all(config->ropes, config->fields))
        return fail_memory(error);
    return GUFO_OK;
}

/* Tables of few columns: classes, sorted by name, and the pre-tokenizers that are usual for architectures. */

static const class_row classes[] = {
#define ROW(name, architecture, kind, condition, rules, note) \
    {name, architecture, kind, condition, rules},
#include "registry/hf_classes.inc"
#undef ROW
};

const class_row *class_at(size_t index)
{
    return row_at(ROWS(classes), index);
}

bool gufo_import_class_at(size_t index, gufo_import_class *out)
{
    const class_row *row = class_at(index);

    if (row != NULL)
        *out = (gufo_import_class){.name = row->name, .architecture = row->architecture};
    return row != NULL;
}

const class_row *class_rows(const char *name, size_t *count)
{
    return row_find_all(ROWS(classes), name, count);
}

static gufo_str name_at(const void *table, size_t index)
{
    return gufo_str_of(((const class_row *)table)[index].name);
}

const char *usual_pre(const char *architecture)
{
    static const struct {
        const char *architecture, *names;
    } rows[] = {
#define ROW(architecture, names) {architecture, names},
#include "registry/usual_pre.inc"
#undef ROW
    };

    for (size_t i = 0; i < ROW_COUNT(rows); i++)
        if (architecture != NULL && strcmp(rows[i].architecture, architecture) == 0)
            return rows[i].names;
    return "";
}

/* The class whose name is nearest to an unknown one; NULL: none is near. */
static const char *class_nearest(gufo_str name)
{
    size_t index;

    return gufo_text_nearest(name, name_at, classes, ROW_COUNT(classes), &index)
               ? classes[index].name
               : NULL;
}

/* The class and the architecture of a model.
 *
 * The class is what config.json names first; a model of several parts has one for its text, too,
 * which counts then.  The table hf_classes gives the architecture, which may depend on other
 * fields. */

/* ---- the class ------------------------------------------------------------------------------- */

/* The first name in "architectures"; an empty one if that is missing or empty, and without rules also
 * where it is something else. */
static gufo_status named_class(const model_config *c, const json_t *object, gufo_str *out,
                               gufo_error *error)
{
    const json_t *list = json_object_get(object, "architectures"), *first = NULL;

    *out = (gufo_str){"", 0};
    if (json_is_array(list))
        first = json_array_get(list, 0);
    else if (list != NULL && !json_is_null(list) && c->kind != CONFIG_GENERIC)
        return refuse(error, GUFO_E_MALFORMED, "architectures is not a list");
    if (first != NULL && !json_is_string(first) && c->kind != CONFIG_GENERIC)
        return refuse(error, GUFO_E_MALFORMED, "architectures is not a list of names");
    *out = json_str(first);
    return GUFO_OK;
}

/* Whether the class of the whole model counts although its text part has one, too: where the table
 * says so, or knows only that one. */
static bool is_whole(gufo_str name, gufo_str of_text)
{
    size_t count, text_count;
    const class_row *rows = class_rows(name.data, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "whole") == 0)
            return true;
    return rows != NULL && class_rows(of_text.data, &text_count) == NULL;
}

/* Models of Mamba that were not made for Hugging Face name a layer instead of a class. */
static gufo_str layer_of(const json_t *raw)
{
    const json_t *settings = json_object_get(raw, "ssm_cfg");
    gufo_str layer = json_str(json_object_get(settings, "layer"));

    return layer.len > 0 ? layer : gufo_str_of(json_is_object(settings) ? "Mamba" : "");
}

/* The part of the configuration that may have a class of its own. */
static const json_t *part_of_class(const model_config *c)
{
    return c->kind == CONFIG_OF_TOWER ? json_object_get(c->raw, "vision_config")
                                      : config_text_part(c);
}

static gufo_status find_class(model_config *c, gufo_error *error)
{
    gufo_str name, of_part, ending = {"", 0};
    gufo_status status = named_class(c, c->raw, &name, error);

    if (status == GUFO_OK)
        status = named_class(c, part_of_class(c), &of_part, error);
    if (status != GUFO_OK)
        return status;
    if (c->is_mistral)
        name = gufo_str_of("params.json");
    else if (of_part.len > 0 && (c->kind == CONFIG_OF_TOWER || !is_whole(name, of_part)))
        name = of_part;
    if (name.len == 0 && c->kind != CONFIG_OF_TOWER) {
        name = layer_of(c->raw);
        ending = gufo_str_of(name.len > 0 ? "ForCausalLM" : "");
    }
    c->class_name = mem_join(c->allocator, name, ending);
    return c->class_name != NULL ? GUFO_OK : fail_memory(error);
}

/* ---- the architecture ------------------------------------------------------------------------ */

static gufo_status fail_class(const model_config *c, gufo_error *error)
{
    gufo_str name = gufo_str_of(c->class_name);
    const char *near = class_nearest(name);
    gufo_status status;

    if (name.len == 0) {
        status = refuse(error, GUFO_E_TYPE, "the configuration names no class (architectures)");
        return import_advise(status, GUFO_ADVICE_ARCH, error);
    }
    status = near == NULL
                 ? refuse(error, GUFO_E_TYPE, "no rules for the class %s", QUOTED(name))
                 : refuse(error, GUFO_E_TYPE, "no rules for the class %s (did you mean \"%s\"?)",
                          QUOTED(name), near);
    return import_advise(status, GUFO_ADVICE_GENERIC, error);
}

static bool is_tower(const class_row *row)
{
    return strcmp(row->kind, "projector") == 0;
}

/* The group of rules of a class; NULL: it has none yet. */
static const char *rules_of_class(const class_row *row)
{
    const char *rules = row->rules[0] != '\0' ? row->rules : row->architecture;
    size_t count;

    return rules_included(rules, &count) != NULL ? rules : NULL;
}

static gufo_status fail_architecture(const model_config *c, const class_row *row, gufo_error *error)
{
    gufo_str name = gufo_str_of(c->class_name);
    gufo_status status;

    if (is_tower(row) && c->kind != CONFIG_OF_TOWER) {
        status = refuse(error, GUFO_E_TYPE,
                        "no rules for the class %s, which has no text model (architecture \"%s\")",
                        QUOTED(name), row->architecture);
        return import_advise(
            status, rules_of_class(row) != NULL ? GUFO_ADVICE_TOWER : GUFO_ADVICE_GENERIC, error);
    }
    if (is_tower(row))
        return refuse(error, GUFO_E_TYPE,
                      "no rules for the part of the class %s that sees or hears", QUOTED(name));
    status = refuse(error, GUFO_E_TYPE, "no rules for the architecture \"%s\" of the class %s",
                    row->architecture, QUOTED(name));
    return import_advise(status, GUFO_ADVICE_GENERIC, error);
}

/* A class whose text model may have rules. */
static gufo_status fail_tower(const model_config *c, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "the class %s is not known for a part that sees or hears",
                  QUOTED(gufo_str_of(c->class_name)));
}

/* The first row of the class whose condition holds, of a tower if one is wanted; NULL: none. */
static gufo_status choose_row(const model_config *c, const class_row **out, gufo_error *error)
{
    const expression_scope scope = {.config = c, .fields = c->fields};
    size_t count;
    const class_row *rows = class_rows(c->class_name, &count);
    gufo_status status = GUFO_OK;
    bool holds = false;

    *out = NULL;
    for (size_t i = 0; i < count && !holds && status == GUFO_OK; i++) {
        if (c->kind == CONFIG_OF_TOWER && !is_tower(&rows[i]))
            continue;
        status = expression_holds(&scope, rows[i].condition, &holds, error);
        if (holds)
            *out = &rows[i];
    }
    return status;
}

static gufo_status architecture_of_class(model_config *c, const char **out, gufo_error *error)
{
    const class_row *row;
    gufo_status status = choose_row(c, &row, error);

    if (status != GUFO_OK)
        return status;
    if (row == NULL && c->kind == CONFIG_GENERIC)
        return import_advise(
            refuse(error, GUFO_E_ARGUMENT, "an architecture without rules needs a name"),
            GUFO_ADVICE_GENERIC, error);
    if (row == NULL)
        return c->kind == CONFIG_OF_TOWER ? fail_tower(c, error) : fail_class(c, error);
    c->rules = rules_of_class(row);
    if (c->kind != CONFIG_GENERIC &&
        (c->rules == NULL || is_tower(row) != (c->kind == CONFIG_OF_TOWER)))
        return fail_architecture(c, row, error);
    *out = row->architecture;
    return GUFO_OK;
}

static gufo_status check_given(const model_config *c, const char *arch, gufo_error *error)
{
    if (!str_is_plain(gufo_str_of(arch), "_-"))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the architecture %s cannot begin a key: letters, digits, _ and - can",
                      QUOTED(gufo_str_of(arch)));
    if (c->kind != CONFIG_GENERIC && !rules_know(arch))
        return import_advise(
            refuse(error, GUFO_E_TYPE, "no rules for the architecture \"%s\"", arch),
            GUFO_ADVICE_GENERIC, error);
    return GUFO_OK;
}

/* Sets `class_name` and `architecture`.  `arch`: what the caller says; may be NULL. */
static gufo_status config_find_class(model_config *config, const char *arch, gufo_error *error)
{
    gufo_status status = find_class(config, error);

    if (status == GUFO_OK)
        status = arch != NULL ? check_given(config, arch, error)
                              : architecture_of_class(config, &arch, error);
    if (status != GUFO_OK)
        return status;
    config->architecture = mem_text(config->allocator, gufo_str_of(arch));
    if (config->kind != CONFIG_OF_TOWER)
        config->rules = config->architecture;
    return config->architecture != NULL ? GUFO_OK : fail_memory(error);
}

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
        source_folder_fail_in(&config->folder, name, error);
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
    if (c->kind != CONFIG_GENERIC)
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
    if (status == GUFO_OK && c->kind == CONFIG_OF_TOWER)
        return config_read_processor(c, error);
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
    if (status == GUFO_OK && c->kind != CONFIG_GENERIC)
        status = config_edit(c, c->rules, "fields", c->fields, error);
    /* These rows may have changed them. */
    if (status == GUFO_OK)
        status = config_complete_ropes(c, error);
    if (status != GUFO_OK)
        return status;
    c->edited = json_copy(c->fields);
    if (c->edited == NULL)
        return fail_memory(error);
    return c->kind == CONFIG_GENERIC ? GUFO_OK
                                     : config_edit(c, c->rules, "config", c->edited, error);
}

gufo_status config_open(model_config *config, const source_folder *folder, const char *arch,
                        config_kind kind, import_bounds *bounds, const gufo_allocator *allocator,
                        gufo_error *error)
{
    gufo_status status;

    *config = (model_config){
        .allocator = mem_allocator(allocator), .folder = *folder, .bounds = bounds, .kind = kind};
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
    json_decref(config->processor);
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
