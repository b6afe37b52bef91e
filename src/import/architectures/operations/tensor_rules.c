/* The rows of the table convert_ops, and what is in their columns.  registry/README.md describes
 * them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/operations/operation.h"

/* The steps of a rule: their arguments are expressions over the configuration, with placeholders for what
 * is known of the tensor. */

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

    *out = tensors_hold(p->plan->checkpoint, rule->condition, &rest);
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

enum { MOST_NESTED = 8 }; /* rows of architectures that are inside one another */

static const rule_row rows_of_table[] = {
#define ROW(architectures, phase, names, condition, steps, targets, note) \
    {architectures, phase, names, condition, steps, targets, note},
#include "registry/convert_ops.inc"
#undef ROW
};

enum { ROW_COUNT = sizeof rows_of_table / sizeof *rows_of_table };

static const struct {
    const char *name;
    rule_phase phase;
} phases[] = {
    {"names", RULE_NAMES}, {"source", RULE_SOURCE},       {"mapped", RULE_MAPPED},
    {"type", RULE_TYPE},   {"generated", RULE_GENERATED}, {"as", RULE_AS},
};

const rule_row *rules_row_at(size_t index)
{
    return index < ROW_COUNT ? &rows_of_table[index] : NULL;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static gufo_str trim(gufo_str text)
{
    while (text.len > 0 && *text.data == ' ')
        text = str_from(text, 1);
    while (text.len > 0 && text.data[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* The next piece of a list, up to `separator` outside of parentheses; *rest is what follows it. */
static gufo_str next_piece(gufo_str *rest, char separator)
{
    gufo_str part = *rest;
    size_t depth = 0, at = 0;

    for (; at < rest->len; at++) {
        char c = rest->data[at];

        if (c == separator && depth == 0)
            break;
        depth += c == '(';
        depth -= c == ')' && depth > 0;
    }
    part.len = at;
    *rest = str_from(*rest, at < rest->len ? at + 1 : at);
    return trim(part);
}

/* Divides a list into pieces; false for more than there is room for. */
static bool divide(gufo_str text, char separator, gufo_str *out, uint32_t room, uint32_t *count)
{
    for (*count = 0; text.len > 0; (*count)++) {
        if (*count == room)
            return false;
        out[*count] = next_piece(&text, separator);
    }
    return true;
}

static bool is_in_list(const char *list, const char *word)
{
    gufo_str rest = gufo_str_of(list);

    while (rest.len > 0)
        if (gufo_str_equal(next_piece(&rest, ','), gufo_str_of(word)))
            return true;
    return false;
}

bool rules_row_is_of(const rule_row *row, const char *architecture)
{
    return is_in_list(row->architectures, architecture);
}

/* ---- columns -------------------------------------------------------------------------------- */

/* "permute@1: heads" */
static bool read_step(gufo_str text, rule_step *step)
{
    gufo_str name = next_piece(&text, ':'), word = next_piece(&name, '@');

    *step = (rule_step){.operation = operation_find(word)};
    if (step->operation == NULL)
        return false;
    if (name.len > 1 || (name.len == 1 && !is_digit(*name.data)))
        return false;
    if (name.len == 1)
        step->view = (uint32_t)(*name.data - '0');
    return divide(trim(text), ',', step->arguments, STEP_ARGUMENTS, &step->n_arguments) &&
           operation_takes(step->operation, step->n_arguments);
}

static bool read_steps(const char *text, tensor_rule *rule)
{
    gufo_str steps[RULE_STEPS];

    if (!divide(gufo_str_of(text), ';', steps, RULE_STEPS, &rule->n_steps))
        return false;
    for (uint32_t i = 0; i < rule->n_steps; i++) {
        if (!read_step(steps[i], &rule->steps[i]))
            return false;
        /* A tensor of several has no name of its own. */
        if (rule->steps[i].operation->scope == OPERATION_STACKS && *rule->row->targets == '\0')
            return false;
    }
    return true;
}

static bool read_phase(const char *text, rule_phase *phase)
{
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strcmp(phases[i].name, text) == 0) {
            *phase = phases[i].phase;
            return true;
        }
    return false;
}

static bool read_row(const rule_row *row, tensor_rule *rule)
{
    *rule = (tensor_rule){.row = row, .condition = gufo_str_of(row->condition)};
    if (!read_phase(row->phase, &rule->phase))
        return false;
    if (rule->phase == RULE_AS)
        return *row->steps != '\0';
    return divide(gufo_str_of(row->names), ',', rule->names, RULE_NAMES_MOST, &rule->n_names) &&
           read_steps(row->steps, rule) &&
           divide(gufo_str_of(row->targets), ',', rule->targets, RULE_TARGETS, &rule->n_targets);
}

/* ---- the rules of an architecture ----------------------------------------------------------- */

static gufo_status add_rules(tensor_rules *rules, const char *architecture, unsigned depth,
                             gufo_error *error);

static gufo_status add_row(tensor_rules *rules, const rule_row *row, unsigned depth,
                           gufo_error *error)
{
    tensor_rule *list =
        mem_grow(rules->allocator, rules->list, rules->count, &rules->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    rules->list = list;
    if (!read_row(row, &list[rules->count]))
        return refuse(error, GUFO_E_ARGUMENT, "convert_ops.tsv: a row of %s makes no sense: %s",
                      row->architectures, row->steps);
    if (list[rules->count].phase == RULE_AS)
        return add_rules(rules, row->steps, depth + 1, error);
    rules->count++;
    return GUFO_OK;
}

static gufo_status add_rules(tensor_rules *rules, const char *architecture, unsigned depth,
                             gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (depth > MOST_NESTED)
        return refuse(error, GUFO_E_ARGUMENT,
                      "convert_ops.tsv: the rows of %s are inside themselves", architecture);
    for (size_t i = 0; i < ROW_COUNT && status == GUFO_OK; i++)
        if (rules_row_is_of(&rows_of_table[i], architecture))
            status = add_row(rules, &rows_of_table[i], depth, error);
    return status;
}

gufo_status rules_open(tensor_rules *rules, const char *group, const gufo_allocator *a,
                       gufo_error *error)
{
    const char *common = group[0] == '@' ? "@tower" : "@all";
    gufo_status status;

    *rules = (tensor_rules){.allocator = a};
    status = add_rules(rules, group, 0, error);
    return status == GUFO_OK ? add_rules(rules, common, 0, error) : status;
}

void rules_close(tensor_rules *rules)
{
    if (rules->allocator != NULL)
        mem_free(rules->allocator, rules->list);
    *rules = (tensor_rules){0};
}

/* ---- names ---------------------------------------------------------------------------------- */

bool rules_match(const tensor_rule *rule, gufo_str name, rule_match *match)
{
    pattern_numbers numbers;
    bool found = false;

    for (uint32_t i = 0; i < rule->n_names; i++) {
        gufo_str pattern = rule->names[i];

        if (pattern.len > 0 && *pattern.data == '!') {
            if (pattern_matches(str_from(pattern, 1), name, NULL))
                return false;
        } else if (!found && pattern_matches(pattern, name, &numbers)) {
            *match = (rule_match){numbers.block, numbers.entry, i};
            found = true;
        }
    }
    return found;
}
