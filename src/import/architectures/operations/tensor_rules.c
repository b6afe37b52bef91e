/* The rows of the table convert_ops, and what is in their columns.  registry/README.md describes
 * them. */
#include "import/architectures/operations/tensor_rules.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/pattern.h"

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

gufo_status rules_open(tensor_rules *rules, const char *architecture, const gufo_allocator *a,
                       gufo_error *error)
{
    gufo_status status;

    *rules = (tensor_rules){.allocator = a};
    status = add_rules(rules, architecture, 0, error);
    return status == GUFO_OK ? add_rules(rules, "@all", 0, error) : status;
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
