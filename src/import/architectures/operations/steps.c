/* The steps of a rule: their arguments are expressions over the configuration, with placeholders for what
 * is known of the tensor. */
#include "import/architectures/operations/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "import/architectures/configuration/pattern.h"

enum { ARGUMENT_SIZE = 256 };

/* ---- placeholders --------------------------------------------------------------------------- */

gufo_str steps_suffix(const char *name)
{
    gufo_str text = gufo_str_of(name);
    static const char *const suffixes[] = {".weight", ".bias"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(text, suffixes[i]))
            return gufo_str_of(suffixes[i]);
    return (gufo_str){"", 0};
}

static gufo_status fail_long(gufo_str text, gufo_error *error)
{
    return refuse(error, GUFO_E_LIMIT, "what becomes of %s is too long", QUOTED(text));
}

/* The value of a placeholder, as text. */
static gufo_status write_placeholder(const planner *p, const item *it, gufo_str name, char *out,
                                     size_t size, gufo_error *error)
{
    char expression[ARGUMENT_SIZE];
    uint64_t number = UINT64_MAX;
    gufo_status status = GUFO_OK;

    if (gufo_str_equal(name, gufo_str_of("suffix"))) {
        (void)snprintf(out, size, "%s", steps_suffix(it->name).data);
        return GUFO_OK;
    }
    if (gufo_str_equal(name, gufo_str_of("name"))) {
        if (strlen(it->name) >= size)
            return fail_long(gufo_str_of(it->name), error);
        (void)snprintf(out, size, "%s", it->name);
        return GUFO_OK;
    }
    if (gufo_str_equal(name, gufo_str_of("b"))) {
        number = it->block;
    } else if (gufo_str_equal(name, gufo_str_of("e"))) {
        number = it->entry;
    } else if (gufo_str_equal(name, gufo_str_of("tokens"))) {
        number = p->tokens;
    } else {
        if (name.len >= sizeof expression)
            return fail_long(name, error);
        (void)snprintf(expression, sizeof expression, "%.*s", (int)name.len, name.data);
        status = config_number(p->config, expression, &number, error);
    }
    if (status == GUFO_OK && number == UINT64_MAX)
        return refuse(error, GUFO_E_ARGUMENT, "its name has no number %s", QUOTED(name));
    (void)snprintf(out, size, "%" PRIu64, number);
    return status;
}

gufo_status steps_expand(const planner *p, const item *it, gufo_str text, char *out, size_t size,
                         gufo_error *error)
{
    const gufo_str whole = text;
    size_t at = 0;
    gufo_status status = GUFO_OK;

    while (text.len > 0 && status == GUFO_OK) {
        const char *end = *text.data == '{' ? memchr(text.data, '}', text.len) : NULL;
        size_t len = end != NULL ? (size_t)(end - text.data) : 0;

        if (size - at < 24)
            return fail_long(whole, error);
        if (end == NULL) {
            out[at++] = *text.data;
            text = str_from(text, 1);
            continue;
        }
        status = write_placeholder(p, it, (gufo_str){text.data + 1, len - 1}, out + at, size - at,
                                   error);
        if (status == GUFO_OK)
            at += strlen(out + at);
        text = str_from(text, len + 1);
    }
    out[at] = '\0';
    return status;
}

/* ---- arguments ------------------------------------------------------------------------------ */

gufo_status steps_number(const planner *p, const item *it, gufo_str text, uint64_t *out,
                         gufo_error *error)
{
    char expression[ARGUMENT_SIZE];
    gufo_status status = steps_expand(p, it, text, expression, sizeof expression, error);

    if (status != GUFO_OK)
        return status;
    if (strcmp(expression, "-1") == 0) {
        *out = SIZE_OF_REST;
        return GUFO_OK;
    }
    if (str_number(gufo_str_of(expression), out))
        return GUFO_OK;
    return config_number(p->config, expression, out, error);
}

/* An argument as text; what it becomes is in `expanded`. */
static gufo_status fill_text(const operation_call *call, gufo_str text,
                             char expanded[ARGUMENT_SIZE], gufo_str *out, gufo_error *error)
{
    gufo_status status;

    *out = text;
    if (memchr(text.data, '{', text.len) == NULL)
        return GUFO_OK;
    status = steps_expand(call->planner, call->item, text, expanded, ARGUMENT_SIZE, error);
    *out = gufo_str_of(expanded);
    return status;
}

static gufo_status fill_real(const operation_call *call, gufo_str text, double *out,
                             gufo_error *error)
{
    char expression[ARGUMENT_SIZE];
    gufo_status status =
        steps_expand(call->planner, call->item, text, expression, sizeof expression, error);

    return status == GUFO_OK ? config_real(call->planner->config, expression, out, error) : status;
}

/* Texts of a call are in `texts`. */
static gufo_status fill_call(operation_call *call, const rule_step *step,
                             char texts[STEP_ARGUMENTS][ARGUMENT_SIZE], gufo_error *error)
{
    gufo_status status = GUFO_OK;

    call->n_arguments = step->n_arguments;
    for (uint32_t i = 0; i < step->n_arguments && status == GUFO_OK; i++) {
        gufo_str text = step->arguments[i];

        switch (operation_wants(step->operation, i)) {
        case 'n':
            status = steps_number(call->planner, call->item, text, &call->numbers[i], error);
            break;
        case 'r':
            status = fill_real(call, text, &call->reals[i], error);
            break;
        default:
            status = fill_text(call, text, texts[i], &call->texts[i], error);
        }
    }
    return status;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_status take_step(planner *p, item *it, const rule_step *step, gufo_error *error)
{
    char texts[STEP_ARGUMENTS][ARGUMENT_SIZE];
    operation_call call = {.planner = p, .item = it};
    gufo_status status = fill_call(&call, step, texts, error);

    if (status != GUFO_OK || step->operation->scope < OPERATION_ON_VIEWS)
        return status == GUFO_OK ? step->operation->apply(&call, error) : status;
    for (call.view = 0; call.view < it->n_views && status == GUFO_OK; call.view++)
        if (step->view == 0 || step->view == call.view + 1)
            status = step->operation->apply(&call, error);
    return status;
}

gufo_status steps_take(planner *p, item *it, const tensor_rule *rule, uint32_t first,
                       uint32_t *next, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (*next = first; *next < rule->n_steps && status == GUFO_OK; ++*next) {
        const rule_step *step = &rule->steps[*next];

        if (step->operation->scope == OPERATION_STACKS || it->fate != ITEM_PLANNED)
            break;
        status = take_step(p, it, step, error);
    }
    return status;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool any_tensor(const checkpoint *c, gufo_str pattern)
{
    for (uint64_t i = 0; i < c->tensor_count; i++)
        if (pattern_matches(pattern, c->tensors[i].name, NULL))
            return true;
    return false;
}

/* "tensor(PATTERN)" and "not tensor(PATTERN)" at the start of a condition: *rest is what follows
 * behind "and". */
static bool tensors_hold(const checkpoint *c, gufo_str condition, gufo_str *rest)
{
    bool negated = str_begins(condition, "not tensor(");
    size_t start = strlen(negated ? "not tensor(" : "tensor(");
    const char *end;
    gufo_str pattern;

    *rest = condition;
    if (!negated && !str_begins(condition, "tensor("))
        return true;
    pattern = str_from(condition, start);
    end = memchr(pattern.data, ')', pattern.len);
    if (end == NULL)
        return false;
    pattern.len = (size_t)(end - pattern.data);
    *rest = str_from(condition, start + pattern.len + 1);
    if (str_begins(*rest, " and "))
        *rest = str_from(*rest, 5);
    return any_tensor(c, pattern) != negated;
}

static gufo_status decide(const planner *p, const tensor_rule *rule, const item *it, bool *out,
                          gufo_error *error)
{
    char condition[ARGUMENT_SIZE];
    gufo_str rest;
    gufo_status status;

    *out = tensors_hold(p->checkpoint, rule->condition, &rest);
    if (!*out || rest.len == 0)
        return GUFO_OK;
    status = steps_expand(p, it, rest, condition, sizeof condition, error);
    return status == GUFO_OK ? config_holds(p->config, condition, out, error) : status;
}

gufo_status steps_hold(const planner *p, tensor_rule *rule, const item *it, bool *out,
                       gufo_error *error)
{
    gufo_status status;

    *out = true;
    if (rule->condition.len == 0)
        return GUFO_OK;
    if (rule->answer != RULE_UNKNOWN) {
        *out = rule->answer == RULE_HOLDS;
        return GUFO_OK;
    }
    status = decide(p, rule, it, out, error);
    if (status == GUFO_OK && memchr(rule->condition.data, '{', rule->condition.len) == NULL)
        rule->answer = *out ? RULE_HOLDS : RULE_DOES_NOT;
    return status;
}
