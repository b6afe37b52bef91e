/* The functions of expressions whose arguments are all evaluated: a table, and one function for
 * each.  Forms that evaluate only some of their arguments are in expression.c. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/rules.h"

gufo_status call_keep(json_t *made, json_t *json, term *out, gufo_error *error)
{
    /* It takes `json` over, also where it fails. */
    if (json_array_append_new(made, json) != 0)
        return fail_memory(error);
    *out = term_of_json(json);
    return GUFO_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static gufo_status check_number(const term *t, gufo_error *error)
{
    return term_is_number(t) ? GUFO_OK : term_wrong(t, "a number", error);
}

static gufo_status check_text(const term *t, gufo_error *error)
{
    return t->kind == TERM_TEXT ? GUFO_OK : term_wrong(t, "a text", error);
}

static gufo_status check_list(const term *t, gufo_error *error)
{
    return t->kind == TERM_LIST ? GUFO_OK : term_wrong(t, "a list", error);
}

/* A real that is whole becomes a whole number. */
static gufo_status whole(const term *argument, double value, term *out, gufo_error *error)
{
    int64_t number;

    if (!term_fits_integer(value, &number))
        return term_too_large(argument, error);
    *out = term_of_integer(number);
    return GUFO_OK;
}

static gufo_status compute_int(expression_call *c, term *out, gufo_error *error)
{
    const term *a = &c->arguments[0];
    gufo_status status = check_number(a, error);

    *out = *a;
    if (status != GUFO_OK || a->kind == TERM_INTEGER)
        return status;
    return whole(a, trunc(a->real), out, error);
}

/* Halves become even numbers. */
static gufo_status compute_round(expression_call *c, term *out, gufo_error *error)
{
    const term *a = &c->arguments[0];
    gufo_status status = check_number(a, error);
    double below, rest;

    *out = *a;
    if (status != GUFO_OK || a->kind == TERM_INTEGER)
        return status;
    below = floor(a->real);
    rest = a->real - below;
    return whole(a, rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0) ? below + 1 : below, out,
                 error);
}

static gufo_status of_real(const expression_call *c, double (*function)(double), term *out,
                           gufo_error *error)
{
    const term *a = &c->arguments[0];
    gufo_status status = check_number(a, error);

    if (status != GUFO_OK)
        return status;
    *out = term_of_real(function(term_as_real(a)));
    return isfinite(out->real) ? GUFO_OK : term_too_large(a, error);
}

static gufo_status compute_sqrt(expression_call *c, term *out, gufo_error *error)
{
    return of_real(c, sqrt, out, error);
}

static gufo_status compute_ln(expression_call *c, term *out, gufo_error *error)
{
    return of_real(c, log, out, error);
}

/* The function of two numbers. */
static gufo_status of_reals(const expression_call *c, double (*function)(double, double), term *out,
                            gufo_error *error)
{
    const term *a = &c->arguments[0], *b = &c->arguments[1];
    gufo_status status = check_number(a, error);

    if (status == GUFO_OK)
        status = check_number(b, error);
    if (status != GUFO_OK)
        return status;
    *out = term_of_real(function(term_as_real(a), term_as_real(b)));
    return isfinite(out->real) ? GUFO_OK : term_too_large(a, error);
}

static gufo_status compute_power(expression_call *c, term *out, gufo_error *error)
{
    return of_reals(c, pow, out, error);
}

/* The multiple of n that is nearest to v, at least n, and at most a tenth smaller than v: how sizes
 * of layers are made of multiples of the width. */
static double divisible(double v, double n)
{
    double multiple = n > 0 ? fmax(n, floor(trunc(v + n / 2) / n) * n) : NAN;

    return multiple < 0.9 * v ? multiple + n : multiple;
}

static gufo_status compute_divisible(expression_call *c, term *out, gufo_error *error)
{
    gufo_status status = of_reals(c, divisible, out, error);

    return status == GUFO_OK ? whole(&c->arguments[0], out->real, out, error) : status;
}

/* Where the normal distribution has that probability.  Its argument is a float, as the frameworks
 * compute; Newton's method then doubles the digits with every step.  JSON, which lists are made of,
 * has no infinite numbers: the largest is written instead. */
static double normal_quantile(double probability)
{
    double y = (double)(2 * (float)probability - 1), x = 0;

    if (y <= -1 || y >= 1)
        return y < 0 ? -DBL_MAX : DBL_MAX;
    for (int i = 0; i < 64; i++) {
        double step = (erf(x) - y) * 0.5 * sqrt(acos(-1)) * exp(x * x);

        x -= fmin(fmax(step, -0.5), 0.5);
        if (fabs(step) < 1e-16)
            break;
    }
    return x * sqrt(2);
}

static gufo_status compute_quantile(expression_call *c, term *out, gufo_error *error)
{
    const term *a = &c->arguments[0];
    gufo_status status = check_number(a, error);

    if (status != GUFO_OK)
        return status;
    if (!(term_as_real(a) >= 0 && term_as_real(a) <= 1))
        return refuse(error, GUFO_E_RANGE, "a probability is not between 0 and 1");
    *out = term_of_real(normal_quantile(term_as_real(a)));
    return GUFO_OK;
}

/* The probability of that and less in the normal distribution: the way back. */
static double normal_probability(double value)
{
    return erfc(-value / sqrt(2)) / 2;
}

static gufo_status compute_probability(expression_call *c, term *out, gufo_error *error)
{
    return of_real(c, normal_probability, out, error);
}

/* Of several numbers, or of a list. */
static gufo_status extreme(const expression_call *c, int sign, term *out, gufo_error *error)
{
    bool of_list = c->count == 1 && c->arguments[0].kind == TERM_LIST;
    const json_t *list = c->arguments[0].json;
    size_t count = of_list ? json_array_size(list) : c->count;

    *out = (term){.kind = TERM_ABSENT};
    for (size_t i = 0; i < count; i++) {
        term a = of_list ? term_of_json(json_array_get(list, i)) : c->arguments[i];
        gufo_status status = check_number(&a, error);
        int order;

        if (status != GUFO_OK)
            return status;
        if (i == 0 || (term_compare(&a, out, &order) && order * sign > 0))
            *out = a;
    }
    return GUFO_OK;
}

static gufo_status compute_min(expression_call *c, term *out, gufo_error *error)
{
    return extreme(c, -1, out, error);
}

static gufo_status compute_max(expression_call *c, term *out, gufo_error *error)
{
    return extreme(c, 1, out, error);
}

/* Two whole numbers from 0 on, and the second not 0, below 2^62. */
static gufo_status two_counts(const expression_call *c, uint64_t *a, uint64_t *b, gufo_error *error)
{
    const uint64_t largest = (uint64_t)1 << 62;
    gufo_status status = term_count(&c->arguments[0], largest, a, error);

    if (status == GUFO_OK)
        status = term_count(&c->arguments[1], largest, b, error);
    if (status == GUFO_OK && *b == 0)
        return refuse(error, GUFO_E_RANGE, "division by 0");
    return status;
}

static gufo_status compute_ceildiv(expression_call *c, term *out, gufo_error *error)
{
    uint64_t a, b;
    gufo_status status = two_counts(c, &a, &b, error);

    if (status == GUFO_OK)
        *out = term_of_integer((int64_t)(a / b + (a % b != 0)));
    return status;
}

static gufo_status compute_roundup(expression_call *c, term *out, gufo_error *error)
{
    uint64_t a, b;
    gufo_status status = two_counts(c, &a, &b, error);

    if (status == GUFO_OK) /* both are at most 2^62 */
        *out = term_of_integer((int64_t)(a % b == 0 ? a : a - a % b + b));
    return status;
}

/* ---- values and their absence ---------------------------------------------------------------- */

static gufo_status compute_has(expression_call *c, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_bool(term_has_value(&c->arguments[0]));
    return GUFO_OK;
}

static gufo_status compute_present(expression_call *c, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_bool(c->arguments[0].kind != TERM_ABSENT);
    return GUFO_OK;
}

static gufo_status compute_nonzero(expression_call *c, term *out, gufo_error *error)
{
    (void)error;
    *out = term_is_true(&c->arguments[0]) ? c->arguments[0] : (term){.kind = TERM_ABSENT};
    return GUFO_OK;
}

static gufo_status compute_number(expression_call *c, term *out, gufo_error *error)
{
    (void)error;
    *out = term_is_number(&c->arguments[0]) ? c->arguments[0] : (term){.kind = TERM_ABSENT};
    return GUFO_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static gufo_status compute_contains(expression_call *c, term *out, gufo_error *error)
{
    const term *text = &c->arguments[0], *part = &c->arguments[1];

    *out = term_of_bool(false);
    if (text->kind == TERM_LIST)
        for (size_t i = 0; i < json_array_size(text->json); i++) {
            term element = term_of_json(json_array_get(text->json, i));

            out->truth |= term_equal(&element, part);
        }
    else if (text->kind == TERM_TEXT && part->kind == TERM_TEXT)
        out->truth = str_search(text->text, part->text) != NULL;
    (void)error;
    return GUFO_OK;
}

static gufo_status matches(const expression_call *c, const char *name, term *out, gufo_error *error)
{
    *out = term_of_bool(false);
    for (size_t i = 0; i < c->count; i++) {
        gufo_status status = check_text(&c->arguments[i], error);

        if (status != GUFO_OK)
            return status;
        out->truth |= pattern_matches(c->arguments[i].text, gufo_str_of(name), NULL);
    }
    return GUFO_OK;
}

static gufo_status compute_class(expression_call *c, term *out, gufo_error *error)
{
    return matches(c, c->scope->config->class_name, out, error);
}

static gufo_status compute_arch(expression_call *c, term *out, gufo_error *error)
{
    return matches(c, c->scope->config->architecture, out, error);
}

static gufo_status compute_called(expression_call *c, term *out, gufo_error *error)
{
    *out = term_of_bool(false);
    for (size_t i = 0; i < c->count && !out->truth; i++) {
        gufo_status status = check_text(&c->arguments[i], error);

        if (status == GUFO_OK)
            status = config_is_called(c->scope->config, c->arguments[i].text, &out->truth, error);
        if (status != GUFO_OK)
            return status;
    }
    return GUFO_OK;
}

static gufo_status compute_file(expression_call *c, term *out, gufo_error *error)
{
    gufo_status status = check_text(&c->arguments[0], error);

    if (status == GUFO_OK)
        *out = term_of_bool(config_has_file(c->scope->config, c->arguments[0].text));
    return status;
}

/* The functions that choose the router of experts, as {arch}.expert_gating_func counts them. */
static const struct gating_row {
    const char *name;
    int64_t number;
} gatings[] = {{"softmax", 1}, {"sigmoid", 2}, {"sqrtsoftplus", 4}};

static gufo_status compute_gating(expression_call *c, term *out, gufo_error *error)
{
    const term *name = &c->arguments[0];
    gufo_status status = check_text(name, error);

    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < sizeof gatings / sizeof *gatings; i++)
        if (gufo_str_equal(name->text, gufo_str_of(gatings[i].name))) {
            *out = term_of_integer(gatings[i].number);
            return GUFO_OK;
        }
    return refuse(error, GUFO_E_MALFORMED,
                  "the router of experts is %s; known are softmax, sigmoid and sqrtsoftplus",
                  QUOTED(name->text));
}

/* ---- lists ----------------------------------------------------------------------------------- */

static gufo_status compute_length(expression_call *c, term *out, gufo_error *error)
{
    const term *a = &c->arguments[0];

    if (a->kind == TERM_TEXT) {
        *out = term_of_integer((int64_t)a->text.len);
        return GUFO_OK;
    }
    if (a->kind == TERM_OBJECT) {
        *out = term_of_integer((int64_t)json_object_size(a->json));
        return GUFO_OK;
    }
    *out = term_of_integer((int64_t)json_array_size(a->json));
    return check_list(a, error);
}

/* Element i of a list, counted from 0, or from its end for a negative i; absent past the end. */
static gufo_status compute_at(expression_call *c, term *out, gufo_error *error)
{
    const term *list = &c->arguments[0];
    int64_t index;
    gufo_status status = check_list(list, error);

    if (status == GUFO_OK)
        status = term_integer(&c->arguments[1], &index, error);
    if (status != GUFO_OK)
        return status;
    if (index < 0)
        index += (int64_t)json_array_size(list->json);
    *out = term_of_json(index >= 0 ? json_array_get(list->json, (size_t)index) : NULL);
    return GUFO_OK;
}

/* How many elements a list begins with that are equal to a value. */
static gufo_status compute_leading(expression_call *c, term *out, gufo_error *error)
{
    const term *list = &c->arguments[0];
    gufo_status status = check_list(list, error);
    size_t count = 0;

    for (size_t i = 0; status == GUFO_OK && i < json_array_size(list->json); i++) {
        term element = term_of_json(json_array_get(list->json, i));

        if (!term_equal(&element, &c->arguments[1]))
            break;
        count++;
    }
    *out = term_of_integer((int64_t)count);
    return status;
}

/* Where a list has a value, from element n on; absent: nowhere. */
static gufo_status compute_index(expression_call *c, term *out, gufo_error *error)
{
    const term *list = &c->arguments[0];
    gufo_status status = check_list(list, error);
    uint64_t start = 0;

    if (status == GUFO_OK && c->count > 2)
        status = term_count(&c->arguments[2], EXPRESSION_MAX_ELEMENTS, &start, error);
    *out = (term){.kind = TERM_ABSENT};
    for (size_t i = (size_t)start; status == GUFO_OK && i < json_array_size(list->json); i++) {
        term element = term_of_json(json_array_get(list->json, i));

        if (term_equal(&element, &c->arguments[1])) {
            *out = term_of_integer((int64_t)i);
            break;
        }
    }
    return status;
}

/* The texts and whole numbers of a list, one after the other. */
static gufo_status compute_join(expression_call *c, term *out, gufo_error *error)
{
    const gufo_allocator *allocator = c->scope->config->allocator;
    const term *list = &c->arguments[0];
    gufo_status status = check_list(list, error);
    buffer joined = {.allocator = allocator};

    for (size_t i = 0; status == GUFO_OK && i < json_array_size(list->json); i++) {
        term part = term_of_json(json_array_get(list->json, i));
        char digits[24];
        void *room;

        if (part.kind == TERM_INTEGER) {
            (void)snprintf(digits, sizeof digits, "%" PRId64, part.integer);
            part = (term){.kind = TERM_TEXT, .text = gufo_str_of(digits)};
        }
        status = check_text(&part, error);
        room = status == GUFO_OK ? buffer_extend(&joined, part.text.len) : NULL;
        if (status == GUFO_OK && room == NULL)
            status = fail_memory(error);
        else if (status == GUFO_OK)
            memcpy(room, part.text.data, part.text.len);
    }
    if (status == GUFO_OK)
        status = call_keep(c->made,
                           json_stringn(joined.data != NULL ? (char *)joined.data : "", joined.len),
                           out, error);
    buffer_free(&joined);
    return status;
}

/* The list, filled with 0 or cut to n elements. */
static gufo_status compute_pad0(expression_call *c, term *out, gufo_error *error)
{
    const term *list = &c->arguments[0];
    uint64_t count;
    json_t *padded;
    gufo_status status = check_list(list, error);

    if (status == GUFO_OK)
        status = term_count(&c->arguments[1], EXPRESSION_MAX_ELEMENTS, &count, error);
    if (status != GUFO_OK)
        return status;
    status = call_keep(c->made, padded = json_array(), out, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        json_t *element = json_array_get(list->json, i);

        element = element != NULL ? json_incref(element) : json_integer(0);
        if (json_array_append_new(padded, element) != 0)
            status = fail_memory(error);
    }
    return status;
}

/* letters("LLLG", "L", n): for each of n blocks whether the text, repeated, has that letter. */
static gufo_status compute_letters(expression_call *c, term *out, gufo_error *error)
{
    const term *text = &c->arguments[0], *letter = &c->arguments[1];
    uint64_t count;
    json_t *list;
    gufo_status status = term_count(&c->arguments[2], EXPRESSION_MAX_ELEMENTS, &count, error);

    *out = (term){.kind = TERM_ABSENT};
    if (status != GUFO_OK || text->kind != TERM_TEXT || text->text.len == 0)
        return status;
    status = check_text(letter, error);
    if (status == GUFO_OK)
        status = call_keep(c->made, list = json_array(), out, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        bool same =
            letter->text.len == 1 && text->text.data[i % text->text.len] == letter->text.data[0];

        if (json_array_append_new(list, json_boolean(same)) != 0)
            status = fail_memory(error);
    }
    return status;
}

typedef struct label {
    const char *key;
    json_t *text;
} label;

static int compare_labels(const void *a, const void *b)
{
    return strcmp(((const label *)a)->key, ((const label *)b)->key);
}

/* The values of id2label in the order of its keys as texts; absent where they are those that the
 * frameworks make for two classes without names. */
static gufo_status compute_labels(expression_call *c, term *out, gufo_error *error)
{
    const term *map = &c->arguments[0];
    label *labels;
    json_t *list, *value;
    const char *key;
    size_t count = json_object_size(map->json), i = 0;
    bool dummies = false;
    gufo_status status;

    if (map->kind != TERM_OBJECT)
        return term_wrong(map, "an object", error);
    labels = mem_array(c->scope->config->allocator, count, sizeof *labels);
    if (labels == NULL)
        return fail_memory(error);
    json_object_foreach(map->json, key, value)
    {
        labels[i++] = (label){key, value};
        dummies |= json_is_string(value) && strcmp(json_string_value(value), "LABEL_0") == 0;
    }
    qsort(labels, count, sizeof *labels, compare_labels);
    status = call_keep(c->made, list = json_array(), out, error);
    for (i = 0; i < count && status == GUFO_OK; i++)
        if (json_array_append(list, labels[i].text) != 0)
            status = fail_memory(error);
    if (dummies && count == 2)
        *out = (term){.kind = TERM_ABSENT};
    mem_free(c->scope->config->allocator, labels);
    return status;
}

/* ---- keys that are written already ----------------------------------------------------------- */

/* The value of a key in the file, if it is a number, a text or true or false; true for others. */
static term term_of_entry(const gufo_value *value)
{
    int64_t integer;
    double real;
    bool truth;
    gufo_str text;

    if (gufo_value_i64(value, &integer, NULL) == GUFO_OK)
        return term_of_integer(integer);
    if (gufo_value_f64(value, &real, NULL) == GUFO_OK)
        return term_of_real(real);
    if (gufo_value_str(value, &text, NULL) == GUFO_OK)
        return (term){.kind = TERM_TEXT, .text = text};
    return term_of_bool(gufo_value_bool(value, &truth, NULL) != GUFO_OK || truth);
}

/* A key by its whole name, or one of the architecture. */
static bool find_written(const expression_scope *scope, gufo_str key, gufo_document_entry *out)
{
    char name[GUFO_KEY_NAME_SIZE];

    if (gufo_document_find_str(scope->document, key, out))
        return true;
    (void)snprintf(name, sizeof name, "%s.%.*s", scope->config->architecture, (int)key.len,
                   key.data);
    return gufo_document_find(scope->document, name, out);
}

static gufo_status compute_written(expression_call *c, term *out, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_status status = check_text(&c->arguments[0], error);

    *out = (term){.kind = TERM_ABSENT};
    if (status == GUFO_OK && c->scope->document != NULL &&
        find_written(c->scope, c->arguments[0].text, &entry))
        *out = term_of_entry(&entry.value);
    return status;
}

/* Whether the document has a tensor with a name of that pattern: the first one. */
static bool has_tensor(const gufo_document *document, gufo_str pattern, gufo_document_tensor *out)
{
    if (memchr(pattern.data, '*', pattern.len) == NULL)
        return gufo_document_tensor_find_str(document, pattern, NULL, out);
    for (uint64_t i = 0; gufo_document_tensor_at(document, i, out); i++)
        if (pattern_matches(pattern, out->name, NULL))
            return true;
    return false;
}

static gufo_status compute_made(expression_call *c, term *out, gufo_error *error)
{
    gufo_document_tensor tensor;
    gufo_status status = check_text(&c->arguments[0], error);

    *out = term_of_bool(status == GUFO_OK && c->scope->document != NULL &&
                        has_tensor(c->scope->document, c->arguments[0].text, &tensor));
    return status;
}

/* A dimension of the first tensor of a pattern, absent without one. */
static gufo_status compute_dimension(expression_call *c, term *out, gufo_error *error)
{
    gufo_document_tensor tensor;
    int64_t index;
    gufo_status status = check_text(&c->arguments[0], error);

    *out = (term){.kind = TERM_ABSENT};
    if (status == GUFO_OK)
        status = term_integer(&c->arguments[1], &index, error);
    if (status == GUFO_OK && index >= 0 && index < GUFO_MAX_DIMS && c->scope->document != NULL &&
        has_tensor(c->scope->document, c->arguments[0].text, &tensor) &&
        tensor.dims[index] <= INT64_MAX)
        *out = term_of_integer((int64_t)tensor.dims[index]);
    return status;
}

/* How many tensors have names of a pattern. */
static gufo_status compute_count(expression_call *c, term *out, gufo_error *error)
{
    gufo_document_tensor tensor;
    int64_t count = 0;
    gufo_status status = check_text(&c->arguments[0], error);

    for (uint64_t i = 0; status == GUFO_OK && c->scope->document != NULL &&
                         gufo_document_tensor_at(c->scope->document, i, &tensor);
         i++)
        count += pattern_matches(c->arguments[0].text, tensor.name, NULL);
    *out = term_of_integer(count);
    return status;
}

/* The same of the checkpoint, whatever becomes of its tensors. */
static gufo_status compute_stored(expression_call *c, term *out, gufo_error *error)
{
    const checkpoint *from = c->scope->checkpoint;
    int64_t count = 0;
    gufo_status status = check_text(&c->arguments[0], error);

    for (uint64_t i = 0; status == GUFO_OK && from != NULL && i < from->tensor_count; i++)
        count += pattern_matches(c->arguments[0].text, from->tensors[i].name, NULL);
    *out = term_of_integer(count);
    return status;
}

/* The id of a token of the vocabulary that was read, absent without one. */
static gufo_status compute_token(expression_call *c, term *out, gufo_error *error)
{
    gufo_document_entry entry;
    gufo_array array;
    gufo_array_iter iter;
    gufo_value token;
    gufo_status status = check_text(&c->arguments[0], error);

    *out = (term){.kind = TERM_ABSENT};
    if (status != GUFO_OK || c->scope->document == NULL ||
        !gufo_document_find(c->scope->document, "tokenizer.ggml.tokens", &entry) ||
        gufo_value_array(&entry.value, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK)
        return status;
    iter = gufo_array_start(&array);
    for (int64_t id = 0; gufo_array_next(&iter, &token); id++)
        if (gufo_str_equal(token.as.str, c->arguments[0].text)) {
            *out = term_of_integer(id);
            break;
        }
    return GUFO_OK;
}

/* The id of a token that the tokenizer's files name, of a model whose vocabulary is not read. */
static gufo_status compute_added(expression_call *c, term *out, gufo_error *error)
{
    bool found = false;
    int64_t id = 0;
    gufo_status status = check_text(&c->arguments[0], error);

    if (status == GUFO_OK)
        status = config_added_token(c->scope->config, c->arguments[0].text, &found, &id, error);
    *out = found ? term_of_integer(id) : (term){.kind = TERM_ABSENT};
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const expression_function functions[] = {
    {"int", 1, 1, false, compute_int},
    {"round", 1, 1, false, compute_round},
    {"sqrt", 1, 1, false, compute_sqrt},
    {"ln", 1, 1, false, compute_ln},
    {"min", 1, EXPRESSION_MAX_ARGUMENTS, false, compute_min},
    {"max", 1, EXPRESSION_MAX_ARGUMENTS, false, compute_max},
    {"ceildiv", 2, 2, false, compute_ceildiv},
    {"roundup", 2, 2, false, compute_roundup},
    {"power", 2, 2, false, compute_power},
    {"divisible", 2, 2, false, compute_divisible},
    {"quantile", 1, 1, false, compute_quantile},
    {"probability", 1, 1, false, compute_probability},
    {"has", 1, 1, true, compute_has},
    {"present", 1, 1, true, compute_present},
    {"nonzero", 1, 1, true, compute_nonzero},
    {"number", 1, 1, true, compute_number},
    {"contains", 2, 2, true, compute_contains},
    {"class", 1, EXPRESSION_MAX_ARGUMENTS, false, compute_class},
    {"arch", 1, EXPRESSION_MAX_ARGUMENTS, false, compute_arch},
    {"called", 1, EXPRESSION_MAX_ARGUMENTS, false, compute_called},
    {"file", 1, 1, false, compute_file},
    {"gating", 1, 1, false, compute_gating},
    {"length", 1, 1, false, compute_length},
    {"at", 2, 2, false, compute_at},
    {"leading", 2, 2, false, compute_leading},
    {"index", 2, 3, false, compute_index},
    {"join", 1, 1, false, compute_join},
    {"pad0", 2, 2, false, compute_pad0},
    {"letters", 3, 3, false, compute_letters},
    {"labels", 1, 1, false, compute_labels},
    {"written", 1, 1, false, compute_written},
    {"made", 1, 1, false, compute_made},
    {"dimension", 2, 2, false, compute_dimension},
    {"count", 1, 1, false, compute_count},
    {"stored", 1, 1, false, compute_stored},
    {"token", 1, 1, false, compute_token},
    {"added", 1, 1, false, compute_added},
};

const expression_function *expression_function_find(gufo_str name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (gufo_str_equal(name, gufo_str_of(functions[i].name)))
            return &functions[i];
    return NULL;
}
