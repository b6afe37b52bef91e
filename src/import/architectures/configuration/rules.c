/* The table of keys, sorted by group. */
#include "import/architectures/configuration/rules.h"

#include <string.h>

#include "base/error.h"
#include "schema/registry/pattern.h"

static const rule rules[] = {
#define ROW(group, phase, key, type, value, condition, note) \
    {group, phase, key, type, value, condition, note},
#include "registry/convert_keys.inc"
#undef ROW
};

const rule *rules_at(size_t index)
{
    return row_at(ROWS(rules), index);
}

/* The rows of a group, in order: the first of *count; NULL for a group that does not exist. */
static const rule *rules_of(const char *group, size_t *count)
{
    return row_find_all(ROWS(rules), group, count);
}

const rule *rules_included(const char *key, size_t *count)
{
    const rule *found = rules_of(key, count);

    return found != NULL || key[0] != '@' ? found : rules_of(key + 1, count);
}

bool rules_know(const char *architecture)
{
    size_t count;

    return architecture[0] != '@' && rules_of(architecture, &count) != NULL;
}

/* Walking the rows of a group.  Inclusions are followed as deep as the table has them; a test checks
 * that none includes itself. */

typedef struct walk {
    const expression_scope *scope;
    const char *phase;
    rule_action *action;
    void *context;
    gufo_error *error;
} walk;

static gufo_status apply_group(const walk *w, const char *group, unsigned depth);

/* Stops with the sentence that is the value. */
static gufo_status refuse_with(const walk *w, const rule *row)
{
    expression_result result = {.made = NULL};
    gufo_status status = expression_evaluate(w->scope, row->value, &result, w->error);

    if (status == GUFO_OK)
        status = refuse(w->error, GUFO_E_TYPE, "%.*s", (int)result.value.text.len,
                        result.value.text.data);
    expression_result_free(&result);
    return status;
}

static gufo_status apply_row(const walk *w, const rule *row, unsigned depth)
{
    size_t count;
    bool holds;
    gufo_status status = expression_holds(w->scope, row->condition, &holds, w->error);

    if (status != GUFO_OK || !holds)
        return status;
    if (strcmp(row->key, "@refuse") == 0)
        return refuse_with(w, row);
    if (rules_included(row->key, &count) != NULL && row->key[0] == '@')
        return apply_group(w, row->key, depth + 1);
    return w->action(w->context, row, w->error);
}

static gufo_status apply_group(const walk *w, const char *group, unsigned depth)
{
    size_t count;
    const rule *rows = rules_included(group, &count);
    gufo_status status = GUFO_OK;

    if (depth > RULES_MAX_DEPTH)
        return refuse(w->error, GUFO_E_ARGUMENT, "rules include one another");
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        if (strcmp(rows[i].phase, w->phase) == 0)
            status = apply_row(w, &rows[i], depth);
    return status;
}

gufo_status rules_apply(const expression_scope *scope, const char *group, const char *phase,
                        rule_action *action, void *context, gufo_error *error)
{
    const walk w = {scope, phase, action, context, error};

    return apply_group(&w, group, 0);
}
