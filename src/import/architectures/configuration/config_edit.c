/* Fields that the rules of an architecture change before others see them: rows "fields" and
 * "config". */
#include "import/architectures/configuration/config_parts.h"

#include "base/error.h"
#include "import/architectures/configuration/rules_apply.h"

/* A row without a value removes its field; one whose value is absent leaves it as it is. */
static gufo_status edit_field(void *context, const rule *row, gufo_error *error)
{
    expression_scope *scope = context;
    expression_result result = {.made = NULL};
    gufo_status status;

    if (row->value[0] == '\0') {
        (void)json_object_del(scope->fields, row->key);
        return GUFO_OK;
    }
    scope->read = json_object();
    status = scope->read != NULL ? expression_evaluate(scope, row->value, &result, error)
                                 : fail_memory(error);
    if (status == GUFO_OK && result.value.kind == TERM_ABSENT && !result.value.optional)
        status = term_missing(&result.value, error);
    if (status == GUFO_OK && result.value.kind != TERM_ABSENT &&
        (json_object_set_new(scope->fields, row->key, term_to_json(&result.value)) != 0 ||
         json_object_set(scope->config->origins, row->key, scope->read) != 0))
        status = fail_memory(error);
    json_decref(scope->read);
    scope->read = NULL;
    expression_result_free(&result);
    return status;
}

gufo_status config_edit(const model_config *config, const char *group, const char *phase,
                        json_t *target, gufo_error *error)
{
    expression_scope scope = {.config = config, .fields = target};

    return rules_apply(&scope, group, phase, edit_field, &scope, error);
}
