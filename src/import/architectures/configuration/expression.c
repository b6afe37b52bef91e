/* The expressions of the tables, evaluated while they are read, by recursive descent.  From the
 * loosest to the tightest:
 *
 *     or      and      not      == != < <= > >=      + -      * / // %      -x      x?      a|b
 *
 * What must not be evaluated (the second choice where the first one is there, a branch that is not
 * taken) is read with `skip`.  Formulas about the elements of a list are read once for each of
 * them.  Tables are ours, but configurations are not: depth, steps and elements are bounded. */
#include "import/architectures/configuration/expression.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum { MAX_DEPTH = 48, MAX_STEPS = 1 << 20, ELEMENTS_PER_STEP = 64 };

typedef struct reader {
    const expression_scope *scope;
    const char *start, *at;
    unsigned depth, steps;
    bool skip;
    expression_element element;
    json_t *made;
    gufo_error *error;
} reader;

static gufo_status read_or(reader *r, term *out);

/* ---- words ----------------------------------------------------------------------------------- */

static gufo_status fail_reading(const reader *r, const char *what)
{
    return refuse(r->error, GUFO_E_ARGUMENT, "a table has the expression %s: %s at character %zu",
                  QUOTED(gufo_str_of(r->start)), what, (size_t)(r->at - r->start));
}

static bool is_of_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

static gufo_status take_steps(reader *r, uint64_t count)
{
    if (count > MAX_STEPS - r->steps)
        return refuse(r->error, GUFO_E_LIMIT, "the configuration needs too much work");
    r->steps += (unsigned)count;
    return GUFO_OK;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

/* Reads `mark`, if it comes next. */
static bool take(reader *r, const char *mark)
{
    size_t len = strlen(mark);

    skip_blanks(r);
    if (strncmp(r->at, mark, len) != 0 || (is_letter(mark[0]) && is_of_word(r->at[len])))
        return false;
    r->at += len;
    return true;
}

static gufo_status need(reader *r, const char *mark)
{
    return take(r, mark) ? GUFO_OK : fail_reading(r, "something else was expected");
}

static gufo_str since(const reader *r, const char *start)
{
    while (*start == ' ')
        start++;
    return (gufo_str){start, (size_t)(r->at - start)};
}

/* ---- literals and names ---------------------------------------------------------------------- */

/* Keeps what is made until the result is freed, and gives its term. */
static gufo_status keep(reader *r, json_t *json, term *out)
{
    if (r->made == NULL)
        r->made = json_array();
    return call_keep(r->made, json, out, r->error);
}

static gufo_status read_json(reader *r, const char *start, term *out)
{
    json_error_t reason;
    json_t *json = json_loadb(start, (size_t)(r->at - start), JSON_DECODE_ANY, &reason);

    return json != NULL ? keep(r, json, out) : fail_reading(r, "not a number or text");
}

static gufo_status read_text(reader *r, term *out)
{
    const char *start = r->at++;

    while (*r->at != '"' && *r->at != '\0')
        r->at += *r->at == '\\' && r->at[1] != '\0' ? 2 : 1;
    if (*r->at == '\0')
        return fail_reading(r, "the text does not end");
    r->at++;
    return r->skip ? GUFO_OK : read_json(r, start, out);
}

static gufo_status read_number(reader *r, term *out)
{
    const char *start = r->at;

    while (is_of_word(*r->at) || ((*r->at == '-' || *r->at == '+') && to_lower(r->at[-1]) == 'e'))
        r->at++;
    return r->skip ? GUFO_OK : read_json(r, start, out);
}

static gufo_status read_name(reader *r, gufo_str name, term *out)
{
    return r->skip ? GUFO_OK : scope_find(r->scope, &r->element, name, out, r->error);
}

static gufo_status read_list_element(reader *r, json_t *list)
{
    term element;
    gufo_status status = read_or(r, &element);

    if (status != GUFO_OK || r->skip)
        return status;
    if (!term_has_value(&element))
        return term_missing(&element, r->error);
    return json_array_append_new(list, term_to_json(&element)) == 0 ? GUFO_OK
                                                                    : fail_memory(r->error);
}

static gufo_status read_list(reader *r, term *out)
{
    gufo_status status = keep(r, json_array(), out);
    bool ended = take(r, "]");

    while (status == GUFO_OK && !ended) {
        status = read_list_element(r, out->json);
        ended = status == GUFO_OK && !take(r, ",");
        if (ended)
            status = need(r, "]");
    }
    return status;
}

/* ---- forms: functions that do not evaluate all of their arguments ------------------------------- */

static gufo_status read_skipped(reader *r, bool skip, term *out)
{
    bool before = r->skip;
    gufo_status status;

    r->skip = before || skip;
    status = read_or(r, out);
    r->skip = before;
    return status;
}

/* else(a, b, ...): the first that has a value. */
static gufo_status read_else(reader *r, term *out)
{
    gufo_status status;
    bool optional = false;

    do {
        term choice = {.kind = TERM_ABSENT};

        status = read_skipped(r, term_has_value(out), &choice);
        if (!term_has_value(out)) {
            optional |= choice.optional;
            *out = choice;
        }
    } while (status == GUFO_OK && take(r, ","));
    if (!term_has_value(out))
        *out = (term){.kind = TERM_ABSENT, .optional = optional};
    return status;
}

/* pick(condition, yes, no) */
static gufo_status read_pick(reader *r, term *out)
{
    term condition = {.kind = TERM_ABSENT}, other = {.kind = TERM_ABSENT};
    gufo_status status = read_or(r, &condition);
    bool yes = term_is_true(&condition);

    if (status == GUFO_OK)
        status = need(r, ",");
    if (status == GUFO_OK)
        status = read_skipped(r, !yes, yes ? out : &other);
    if (status == GUFO_OK)
        status = need(r, ",");
    return status == GUFO_OK ? read_skipped(r, yes, yes ? &other : out) : status;
}

/* The number of elements of a list, of letters of a text, or a number itself. */
static gufo_status count_elements(const reader *r, const term *list, uint64_t *count)
{
    *count = 0;
    if (r->skip || !term_has_value(list))
        return GUFO_OK;
    if (list->kind == TERM_LIST)
        *count = json_array_size(list->json);
    else if (list->kind == TERM_TEXT)
        *count = list->text.len;
    else
        return term_count(list, EXPRESSION_MAX_ELEMENTS, count, r->error);
    if (*count > EXPRESSION_MAX_ELEMENTS)
        return refuse(r->error, GUFO_E_LIMIT, "a list of more than 65,536 elements");
    return GUFO_OK;
}

static term element_of(const term *list, uint64_t index)
{
    if (list->kind == TERM_LIST)
        return term_of_json(json_array_get(list->json, (size_t)index));
    if (list->kind == TERM_TEXT)
        return (term){.kind = TERM_TEXT, .text = {list->text.data + index, 1}};
    return term_of_integer((int64_t)index);
}

/* The formula for one element; a literal text is short for x == "text". */
static gufo_status read_formula(reader *r, const char *formula, const term *list, uint64_t index,
                                term *out)
{
    expression_element outer = r->element;
    gufo_status status;

    r->at = formula;
    skip_blanks(r);
    r->element = (expression_element){true, (int64_t)index, element_of(list, index)};
    status = read_or(r, out);
    if (status == GUFO_OK && *formula == '"' && out->kind == TERM_TEXT)
        *out = term_of_bool(term_equal(out, &r->element.value));
    r->element = outer;
    return status;
}

typedef enum gathering { GATHER_LIST, GATHER_EVERY, GATHER_ANY } gathering;

static gufo_status gather(reader *r, gathering how, const term *value, json_t *list, term *out)
{
    if (how == GATHER_LIST && !term_has_value(value))
        return term_missing(value, r->error);
    if (how == GATHER_LIST)
        return json_array_append_new(list, term_to_json(value)) == 0 ? GUFO_OK
                                                                     : fail_memory(r->error);
    if (how == GATHER_EVERY)
        out->truth &= term_is_true(value);
    else
        out->truth |= term_is_true(value);
    return GUFO_OK;
}

/* each(list, formula), every(list, formula), any(list, formula) */
static gufo_status read_elements(reader *r, gathering how, term *out)
{
    term list = {.kind = TERM_ABSENT}, value = {.kind = TERM_ABSENT};
    uint64_t count = 0;
    const char *formula;
    gufo_status status = read_or(r, &list);

    if (status == GUFO_OK)
        status = need(r, ",");
    if (status == GUFO_OK)
        status = count_elements(r, &list, &count);
    skip_blanks(r);
    formula = r->at;
    if (status == GUFO_OK && count == 0)
        status = read_skipped(r, true, &value);
    if (status != GUFO_OK || r->skip)
        return status;
    if (!term_has_value(&list)) {
        *out = how == GATHER_LIST ? list : term_of_bool(false);
        return GUFO_OK;
    }
    *out = term_of_bool(how == GATHER_EVERY);
    if (how == GATHER_LIST)
        status = keep(r, json_array(), out);
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        status = read_formula(r, formula, &list, i, &value);
        if (status == GUFO_OK)
            status = gather(r, how, &value, out->json, out);
    }
    return status;
}

static gufo_status read_each(reader *r, term *out)
{
    return read_elements(r, GATHER_LIST, out);
}

static gufo_status read_every(reader *r, term *out)
{
    return read_elements(r, GATHER_EVERY, out);
}

static gufo_status read_any(reader *r, term *out)
{
    return read_elements(r, GATHER_ANY, out);
}

static const struct form_row {
    const char *name;
    gufo_status (*read)(reader *r, term *out);
} forms[] = {
    {"else", read_else},   {"pick", read_pick}, {"each", read_each},
    {"every", read_every}, {"any", read_any},
};

/* ---- functions ------------------------------------------------------------------------------- */

/* Functions walk through their lists: a formula that does so for each of many elements takes time. */
static gufo_status take_lists(reader *r, const expression_call *c)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < c->count && status == GUFO_OK; i++)
        if (c->arguments[i].kind == TERM_LIST)
            status = take_steps(r, json_array_size(c->arguments[i].json) / ELEMENTS_PER_STEP);
    return status;
}

static gufo_status call(reader *r, const expression_function *function, expression_call *c,
                        term *out)
{
    gufo_status status = take_lists(r, c);

    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < c->count && !function->takes_absent; i++)
        if (!term_has_value(&c->arguments[i])) {
            *out = c->arguments[i];
            return GUFO_OK;
        }
    if (r->made == NULL)
        r->made = json_array();
    if (r->made == NULL)
        return fail_memory(r->error);
    c->made = r->made;
    return function->compute(c, out, r->error);
}

static gufo_status read_function(reader *r, gufo_str name, term *out)
{
    const expression_function *function = expression_function_find(name);
    expression_call c = {.scope = r->scope};
    gufo_status status = GUFO_OK;

    if (function == NULL)
        return fail_reading(r, "no such function");
    do {
        if (c.count == EXPRESSION_MAX_ARGUMENTS)
            return fail_reading(r, "too many arguments");
        status = read_or(r, &c.arguments[c.count++]);
    } while (status == GUFO_OK && take(r, ","));
    if (status == GUFO_OK && (c.count < function->least || c.count > function->most))
        return fail_reading(r, "another number of arguments is needed");
    return status == GUFO_OK && !r->skip ? call(r, function, &c, out) : status;
}

static gufo_status read_call(reader *r, gufo_str name, term *out)
{
    gufo_status status = GUFO_OK;
    bool found = false;

    for (size_t i = 0; i < sizeof forms / sizeof *forms && !found; i++) {
        found = gufo_str_equal(name, gufo_str_of(forms[i].name));
        if (found)
            status = forms[i].read(r, out);
    }
    if (!found)
        status = read_function(r, name, out);
    return status == GUFO_OK ? need(r, ")") : status;
}

static gufo_status read_word(reader *r, term *out)
{
    gufo_str word = {r->at, 0};

    while (is_of_word(r->at[word.len]))
        word.len++;
    r->at += word.len;
    return take(r, "(") ? read_call(r, word, out) : read_name(r, word, out);
}

/* ---- operators ------------------------------------------------------------------------------- */

static gufo_status read_primary(reader *r, term *out)
{
    const char *start = r->at;
    gufo_status status;

    *out = (term){.kind = TERM_ABSENT};
    skip_blanks(r);
    status = take_steps(r, 1);
    if (status != GUFO_OK)
        return status;
    if (take(r, "(")) {
        status = read_or(r, out);
        if (status == GUFO_OK)
            status = need(r, ")");
    } else if (*r->at == '"') {
        status = read_text(r, out);
    } else if (take(r, "[")) {
        status = read_list(r, out);
    } else if (is_digit(*r->at)) {
        status = read_number(r, out);
    } else if (is_letter(*r->at) || *r->at == '_') {
        status = read_word(r, out);
    } else {
        status = fail_reading(r, "a value was expected");
    }
    if (out->source.data == NULL)
        out->source = since(r, start);
    return status;
}

/* a|b|c: the first that is present, null included; a ? behind them says that none need be. */
static gufo_status read_alternatives(reader *r, term *out)
{
    const char *start = r->at;
    gufo_status status = read_primary(r, out);
    bool several = false;

    while (status == GUFO_OK && take(r, "|")) {
        bool before = r->skip, present = out->kind != TERM_ABSENT;
        term next;

        r->skip = before || present;
        status = read_primary(r, &next);
        r->skip = before;
        several = true;
        if (!present)
            *out = next;
    }
    if (several && out->kind == TERM_ABSENT)
        out->source = since(r, start);
    if (status == GUFO_OK && take(r, "?") && !term_has_value(out))
        *out = (term){.kind = TERM_ABSENT, .optional = true, .source = out->source};
    return status;
}

static gufo_status read_unary(reader *r, term *out)
{
    const term zero = {.kind = TERM_INTEGER};
    const char *start = r->at;
    term positive;
    gufo_status status;

    if (!take(r, "-"))
        return read_alternatives(r, out);
    status = read_alternatives(r, &positive);
    if (status == GUFO_OK && r->skip)
        *out = positive;
    return status == GUFO_OK && !r->skip
               ? term_compute('-', &zero, &positive, since(r, start), out, r->error)
               : status;
}

/* One level of operators that are taken from left to right. */
typedef struct operator_row {
    const char *mark;
    char operation;
} operator_row;

static gufo_status read_level(reader *r, const operator_row *operators,
                              gufo_status (*tighter)(reader *, term *), term *out)
{
    const char *start = r->at;
    gufo_status status = tighter(r, out);

    while (status == GUFO_OK) {
        const operator_row *found = operators;
        term left = *out, right;

        while (found->mark != NULL && !take(r, found->mark))
            found++;
        if (found->mark == NULL)
            break;
        status = tighter(r, &right);
        if (status == GUFO_OK && !r->skip)
            status = term_compute(found->operation, &left, &right, since(r, start), out, r->error);
    }
    return status;
}

static gufo_status read_product(reader *r, term *out)
{
    static const operator_row operators[] = {
        {"*", '*'}, {"//", 'F'}, {"/", '/'}, {"%", '%'}, {NULL, 0}};

    return read_level(r, operators, read_unary, out);
}

static gufo_status read_sum(reader *r, term *out)
{
    static const operator_row operators[] = {{"+", '+'}, {"-", '-'}, {NULL, 0}};

    return read_level(r, operators, read_product, out);
}

/* What is absent is neither equal to anything nor more or less. */
static bool compares(const char *mark, const term *a, const term *b)
{
    int order;

    if (mark[1] == '=' && (mark[0] == '=' || mark[0] == '!'))
        return term_equal(a, b) == (mark[0] == '=');
    if (!term_compare(a, b, &order))
        return false;
    return (mark[0] == '<' && order < 0) || (mark[0] == '>' && order > 0) ||
           (mark[1] == '=' && order == 0);
}

static gufo_status read_comparison(reader *r, term *out)
{
    static const char *const marks[] = {"==", "!=", "<=", ">=", "<", ">"};
    gufo_status status = read_sum(r, out);

    for (size_t i = 0; i < sizeof marks / sizeof *marks && status == GUFO_OK; i++)
        if (take(r, marks[i])) {
            term right = {.kind = TERM_ABSENT};

            status = read_sum(r, &right);
            *out = term_of_bool(compares(marks[i], out, &right));
            break;
        }
    return status;
}

static gufo_status read_not(reader *r, term *out)
{
    bool negated = false, is_negation = false;
    gufo_status status;

    while (take(r, "not")) {
        negated = !negated;
        is_negation = true;
    }
    status = read_comparison(r, out);
    if (is_negation && status == GUFO_OK)
        *out = term_of_bool(term_is_true(out) != negated);
    return status;
}

static gufo_status read_and(reader *r, term *out)
{
    gufo_status status = read_not(r, out);

    while (status == GUFO_OK && take(r, "and")) {
        bool left = term_is_true(out), before = r->skip;
        term right = {.kind = TERM_ABSENT};

        r->skip = before || !left;
        status = read_not(r, &right);
        r->skip = before;
        *out = term_of_bool(left && term_is_true(&right));
    }
    return status;
}

static gufo_status read_or(reader *r, term *out)
{
    const char *start = r->at;
    gufo_status status;

    if (++r->depth > MAX_DEPTH)
        return fail_reading(r, "too deep");
    *out = (term){.kind = TERM_ABSENT};
    status = read_and(r, out);
    while (status == GUFO_OK && take(r, "or")) {
        bool left = term_is_true(out), before = r->skip;
        term right = {.kind = TERM_ABSENT};

        r->skip = before || left;
        status = read_and(r, &right);
        r->skip = before;
        *out = term_of_bool(left || term_is_true(&right));
    }
    r->depth--;
    if (out->source.data == NULL)
        out->source = since(r, start);
    return status;
}

/* ---- outside --------------------------------------------------------------------------------- */

static gufo_status read_whole(reader *r, expression_result *out)
{
    gufo_status status = read_or(r, &out->value);

    skip_blanks(r);
    if (status == GUFO_OK && *r->at != '\0')
        status = fail_reading(r, "nothing was expected");
    out->made = r->made;
    return status;
}

gufo_status expression_evaluate(const expression_scope *scope, const char *text,
                                expression_result *out, gufo_error *error)
{
    reader r = {.scope = scope, .start = text, .at = text, .error = error};

    return read_whole(&r, out);
}

gufo_status expression_check(const char *text, gufo_error *error)
{
    reader r = {.start = text, .at = text, .skip = true, .error = error};
    expression_result result = {.made = NULL};
    gufo_status status = read_whole(&r, &result);

    expression_result_free(&result);
    return status;
}

void expression_result_free(expression_result *result)
{
    json_decref(result->made);
    result->made = NULL;
}

gufo_status expression_holds(const expression_scope *scope, const char *text, bool *out,
                             gufo_error *error)
{
    expression_result result;
    gufo_status status;

    *out = true;
    if (text[0] == '\0')
        return GUFO_OK;
    status = expression_evaluate(scope, text, &result, error);
    *out = status == GUFO_OK && term_is_true(&result.value);
    expression_result_free(&result);
    return status;
}
