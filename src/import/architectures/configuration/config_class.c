/* The class and the architecture of a model.
 *
 * The class is what config.json names first; a model of several parts has one for its text, too,
 * which counts then.  The table hf_classes gives the architecture, which may depend on other
 * fields. */
#include "import/architectures/configuration/config_parts.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/classes.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/rules.h"
#include "import/json_file.h"

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
    else if (list != NULL && !json_is_null(list) && !c->is_generic)
        return refuse(error, GUFO_E_MALFORMED, "architectures is not a list");
    if (first != NULL && !json_is_string(first) && !c->is_generic)
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

static gufo_status find_class(model_config *c, gufo_error *error)
{
    gufo_str name, of_text, ending = {"", 0};
    gufo_status status = named_class(c, c->raw, &name, error);

    if (status == GUFO_OK)
        status = named_class(c, config_text_part(c), &of_text, error);
    if (status != GUFO_OK)
        return status;
    if (c->is_mistral)
        name = gufo_str_of("params.json");
    else if (of_text.len > 0 && !is_whole(name, of_text))
        name = of_text;
    if (name.len == 0) {
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

static gufo_status fail_architecture(const model_config *c, const class_row *row, gufo_error *error)
{
    bool projects = strcmp(row->kind, "projector") == 0;
    gufo_status status =
        projects
            ? refuse(error, GUFO_E_TYPE,
                     "no rules for the class %s, which has no text model (architecture \"%s\")",
                     QUOTED(gufo_str_of(c->class_name)), row->architecture)
            : refuse(error, GUFO_E_TYPE, "no rules for the architecture \"%s\" of the class %s",
                     row->architecture, QUOTED(gufo_str_of(c->class_name)));

    return import_advise(status, GUFO_ADVICE_GENERIC, error);
}

/* The first row of the class whose condition holds; NULL: none. */
static gufo_status choose_row(const model_config *c, const class_row **out, gufo_error *error)
{
    const expression_scope scope = {.config = c, .fields = c->fields};
    size_t count;
    const class_row *rows = class_rows(c->class_name, &count);
    gufo_status status = GUFO_OK;
    bool holds = false;

    *out = NULL;
    for (size_t i = 0; i < count && !holds && status == GUFO_OK; i++) {
        status = expression_holds(&scope, rows[i].condition, &holds, error);
        if (holds)
            *out = &rows[i];
    }
    return status;
}

static gufo_status architecture_of_class(const model_config *c, const char **out, gufo_error *error)
{
    const class_row *row;
    gufo_status status = choose_row(c, &row, error);

    if (status != GUFO_OK)
        return status;
    if (row == NULL && c->is_generic)
        return import_advise(
            refuse(error, GUFO_E_ARGUMENT, "an architecture without rules needs a name"),
            GUFO_ADVICE_GENERIC, error);
    if (row == NULL)
        return fail_class(c, error);
    if (!c->is_generic && !rules_know(row->architecture))
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
    if (!c->is_generic && !rules_know(arch))
        return import_advise(
            refuse(error, GUFO_E_TYPE, "no rules for the architecture \"%s\"", arch),
            GUFO_ADVICE_GENERIC, error);
    return GUFO_OK;
}

gufo_status config_find_class(model_config *config, const char *arch, gufo_error *error)
{
    gufo_status status = find_class(config, error);

    if (status == GUFO_OK)
        status = arch != NULL ? check_given(config, arch, error)
                              : architecture_of_class(config, &arch, error);
    if (status != GUFO_OK)
        return status;
    config->architecture = mem_text(config->allocator, gufo_str_of(arch));
    return config->architecture != NULL ? GUFO_OK : fail_memory(error);
}
