/* Values of the expressions in the tables: their kinds, arithmetic, the sentences about those that are not
 * what is needed; names of tensors, which they compare; and the names in them: fields of the configuration,
 * and those that are not fields: blocks, ftype, pooling ...  A path "a.b" is a field of an object. */
#include "base/error.h"
#include "base/text.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression.h"
#include "import/json_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- kinds ---------------------------------------------------------------------------------- */

term term_of_json(json_t *json)
{
    if (json == NULL)
        return (term){.kind = TERM_ABSENT};
    switch (json_typeof(json)) {
    case JSON_TRUE:
    case JSON_FALSE:
        return term_of_bool(json_is_true(json));
    case JSON_INTEGER:
        return term_of_integer(json_integer_value(json));
    case JSON_REAL:
        return term_of_real(json_real_value(json));
    case JSON_STRING:
        return (term){.kind = TERM_TEXT, .text = json_str(json), .json = json};
    case JSON_ARRAY:
        return (term){.kind = TERM_LIST, .json = json};
    case JSON_OBJECT:
        return (term){.kind = TERM_OBJECT, .json = json};
    case JSON_NULL:
        break;
    }
    return (term){.kind = TERM_NULL};
}

json_t *term_to_json(const term *t)
{
    switch (t->kind) {
    case TERM_NULL:
        return json_null();
    case TERM_BOOL:
        return json_boolean(t->truth);
    case TERM_INTEGER:
        return json_integer(t->integer);
    case TERM_REAL:
        return json_real(t->real);
    case TERM_TEXT:
        return json_stringn(t->text.data, t->text.len);
    case TERM_LIST:
    case TERM_OBJECT:
        return json_incref(t->json);
    case TERM_ABSENT:
        break;
    }
    return NULL;
}

double term_as_real(const term *t)
{
    return t->kind == TERM_INTEGER ? (double)t->integer : t->real;
}

bool term_is_true(const term *t)
{
    switch (t->kind) {
    case TERM_BOOL:
        return t->truth;
    case TERM_INTEGER:
        return t->integer != 0;
    case TERM_REAL:
        return t->real != 0;
    case TERM_TEXT:
        return t->text.len > 0;
    case TERM_LIST:
        return json_array_size(t->json) > 0;
    case TERM_OBJECT:
        return json_object_size(t->json) > 0;
    case TERM_ABSENT:
    case TERM_NULL:
        break;
    }
    return false;
}

bool term_compare(const term *a, const term *b, int *order)
{
    if (a->kind == TERM_INTEGER && b->kind == TERM_INTEGER) {
        *order = (a->integer > b->integer) - (a->integer < b->integer);
        return true;
    }
    if (!term_is_number(a) || !term_is_number(b))
        return false;
    *order = (term_as_real(a) > term_as_real(b)) - (term_as_real(a) < term_as_real(b));
    return true;
}

bool term_equal(const term *a, const term *b)
{
    int order;

    if (term_compare(a, b, &order))
        return order == 0;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TERM_NULL:
        return true;
    case TERM_BOOL:
        return a->truth == b->truth;
    case TERM_TEXT:
        return gufo_str_equal(a->text, b->text);
    case TERM_LIST:
    case TERM_OBJECT:
        return json_equal(a->json, b->json) == 1;
    case TERM_INTEGER:
    case TERM_REAL:
    case TERM_ABSENT:
        break;
    }
    return false;
}

/* ---- sentences ------------------------------------------------------------------------------ */

/* "an integer" ... in the order of term_kind */
static const char *const kind_names[] = {
    "absent", "null",   "true or false", "a whole number", "not a whole number",
    "a text", "a list", "an object"};

/* Of words, numbers included. */
static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

/* Where the next word from *at on begins, and its end; texts and signs are skipped.  False: none. */
static bool next_word(gufo_str spelling, size_t *at, size_t *end)
{
    while (*at < spelling.len) {
        *end = *at + str_span(spelling, *at, is_of_name);
        if (*end > *at)
            return true;
        if (spelling.data[*at] == '"')
            for ((*at)++; *at < spelling.len && spelling.data[*at] != '"'; (*at)++)
                *at += spelling.data[*at] == '\\';
        (*at)++;
    }
    return false;
}

/* Whether a word is a field, and comes for the first time. */
static bool is_new_field(gufo_str spelling, size_t start, size_t end)
{
    gufo_str word = {spelling.data + start, end - start};
    size_t at = 0, other_end;

    if (is_digit(word.data[0]) || (end < spelling.len && spelling.data[end] == '('))
        return false;
    while (next_word(spelling, &at, &other_end) && at < start) {
        if (gufo_str_equal((gufo_str){spelling.data + at, other_end - at}, word))
            return false;
        at = other_end;
    }
    return true;
}

/* Writes the fields that an expression names into `out`, with commas between; their number. */
static size_t list_fields(gufo_str spelling, char *out, size_t size)
{
    size_t count = 0, len = 0, end;

    out[0] = '\0';
    for (size_t at = 0; next_word(spelling, &at, &end); at = end)
        if (len < size && is_new_field(spelling, at, end)) {
            len += (size_t)snprintf(out + len, size - len, "%s%.*s", count > 0 ? ", " : "",
                                    (int)(end - at), spelling.data + at);
            count++;
        }
    return count;
}

/* Whether an expression computes with its fields, so that some of them alone give nothing. */
static bool is_computed(gufo_str spelling)
{
    for (size_t i = 0; i < spelling.len; i++)
        if (strchr("+*/%", spelling.data[i]) != NULL)
            return true;
    return false;
}

gufo_status term_missing(const term *t, gufo_error *error)
{
    char fields[256];
    size_t count = list_fields(t->source, fields, sizeof fields);

    if (t->kind == TERM_NULL)
        return refuse(error, GUFO_E_MALFORMED, "%s is null", fields);
    if (count > 1)
        return refuse(error, GUFO_E_MALFORMED, "%s of %s",
                      is_computed(t->source) ? "not enough" : "none", fields);
    return refuse(error, GUFO_E_MALFORMED, "no %s", fields);
}

gufo_status term_wrong(const term *t, const char *wanted, gufo_error *error)
{
    char fields[256];

    if (!term_has_value(t))
        return term_missing(t, error);
    if (list_fields(t->source, fields, sizeof fields) == 0)
        return refuse(error, GUFO_E_MALFORMED, "%s where %s is needed", kind_names[t->kind],
                      wanted);
    return refuse(error, GUFO_E_MALFORMED, "%s is %s, and %s is needed", fields,
                  kind_names[t->kind], wanted);
}

gufo_status term_too_large(const term *t, gufo_error *error)
{
    char fields[256];

    if (list_fields(t->source, fields, sizeof fields) == 0)
        return refuse(error, GUFO_E_RANGE, "a number is too large");
    return refuse(error, GUFO_E_RANGE, "the number that %s gives is too large", fields);
}

gufo_status term_outside(const term *t, int64_t number, int64_t least, int64_t most,
                         gufo_error *error)
{
    char fields[256];

    if (list_fields(t->source, fields, sizeof fields) == 0)
        (void)snprintf(fields, sizeof fields, "a number of the tables");
    return refuse(error, GUFO_E_RANGE,
                  "%s gives %" PRId64 "; %" PRId64 " to %" PRId64 " is possible", fields, number,
                  least, most);
}

/* ---- numbers -------------------------------------------------------------------------------- */

bool term_fits_integer(double value, int64_t *out)
{
    const double limit = 9223372036854775808.0; /* 2^63 */
    bool fits = value >= -limit && value < limit;

    *out = fits ? (int64_t)value : 0;
    return fits;
}

gufo_status term_integer(const term *t, int64_t *out, gufo_error *error)
{
    if (t->kind == TERM_INTEGER) {
        *out = t->integer;
        return GUFO_OK;
    }
    if (t->kind != TERM_REAL || t->real != floor(t->real))
        return term_wrong(t, "a whole number", error);
    return term_fits_integer(t->real, out) ? GUFO_OK : term_too_large(t, error);
}

gufo_status term_count(const term *t, uint64_t largest, uint64_t *out, gufo_error *error)
{
    int64_t integer = 0;
    gufo_status status = term_integer(t, &integer, error);

    if (status != GUFO_OK)
        return status;
    if (integer < 0 || (uint64_t)integer > largest)
        return term_outside(t, integer, 0, largest < INT64_MAX ? (int64_t)largest : INT64_MAX,
                            error);
    *out = (uint64_t)integer;
    return GUFO_OK;
}

/* The quotient and the rest of a division that rounds down; b is not 0. */
static int64_t divide_down(int64_t a, int64_t b, int64_t *rest)
{
    int64_t quotient = a / b;

    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        *rest += b;
        quotient--;
    }
    return quotient;
}

static bool compute_integer(char operation, int64_t a, int64_t b, int64_t *out)
{
    int64_t rest;

    switch (operation) {
    case '+':
        return !__builtin_add_overflow(a, b, out);
    case '-':
        return !__builtin_sub_overflow(a, b, out);
    case '*':
        return !__builtin_mul_overflow(a, b, out);
    default:
        if (a == INT64_MIN && b == -1)
            return false;
        *out = divide_down(a, b, &rest);
        if (operation == '%')
            *out = rest;
        return true;
    }
}

static double compute_real(char operation, double a, double b)
{
    switch (operation) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case '%':
        return a - b * floor(a / b);
    default:
        return floor(a / b);
    }
}

gufo_status term_compute(char operation, const term *a, const term *b, gufo_str spelling, term *out,
                         gufo_error *error)
{
    const term *missing = !term_has_value(a) ? a : !term_has_value(b) ? b : NULL;

    if (missing != NULL) {
        *out = *missing;
        return GUFO_OK;
    }
    if (!term_is_number(a) || !term_is_number(b))
        return term_wrong(term_is_number(a) ? b : a, "a number", error);
    if (strchr("/F%", operation) != NULL && term_as_real(b) == 0)
        return refuse(error, GUFO_E_RANGE, "division by 0: %.*s", (int)spelling.len, spelling.data);
    *out = (term){.kind = TERM_REAL, .source = spelling};
    if (operation != '/' && a->kind == TERM_INTEGER && b->kind == TERM_INTEGER) {
        out->kind = TERM_INTEGER;
        if (!compute_integer(operation, a->integer, b->integer, &out->integer))
            return term_too_large(out, error);
        return GUFO_OK;
    }
    out->real = compute_real(operation, term_as_real(a), term_as_real(b));
    return isfinite(out->real) ? GUFO_OK : term_too_large(out, error);
}

/* ---- names with a pattern -------------------------------------------------------------------- */

/* fnmatch cannot say what {b} and {e} are, knows [ and ?, which names may have, and
 * depends on the locale.  A star takes the shortest run first, and after a mismatch the last one takes a
 * character more, so that the time is at most the product of both lengths. */

/* A placeholder at the start of a pattern: "{b}" or "{e}". */
static uint64_t *number_of(gufo_str pattern, pattern_numbers *numbers)
{
    if (str_begins(pattern, "{b}"))
        return &numbers->block;
    return str_begins(pattern, "{e}") ? &numbers->entry : NULL;
}

/* Takes one thing that is not "*" from pattern and name. */
static bool take_one(gufo_str *pattern, gufo_str *name, pattern_numbers *numbers)
{
    uint64_t *number = number_of(*pattern, numbers);
    gufo_str digits;

    if (number == NULL) {
        if (name->len == 0 || *name->data != *pattern->data)
            return false;
        *pattern = str_from(*pattern, 1);
        *name = str_from(*name, 1);
        return true;
    }
    digits = (gufo_str){name->data, str_digits(*name, 0)};
    if (digits.len == 0 || !str_number(digits, number))
        return false;
    *pattern = str_from(*pattern, 3);
    *name = str_from(*name, digits.len);
    return true;
}

bool pattern_matches(gufo_str pattern, gufo_str name, pattern_numbers *numbers)
{
    gufo_str star = {0}, from = {0};
    pattern_numbers found = {UINT64_MAX, UINT64_MAX};

    while (name.len > 0 || pattern.len > 0) {
        if (pattern.len > 0 && *pattern.data == '*') {
            pattern = str_from(pattern, 1);
            if (pattern.len == 0)
                break;
            star = pattern;
            from = name;
            continue;
        }
        if (pattern.len > 0 && take_one(&pattern, &name, &found))
            continue;
        if (star.data == NULL || from.len == 0)
            return false;
        from = str_from(from, 1);
        pattern = star;
        name = from;
    }
    if (numbers != NULL)
        *numbers = found;
    return true;
}

/* ---- objects --------------------------------------------------------------------------------- */

static json_t *fields_of(const expression_scope *s)
{
    return s->fields;
}

static json_t *raw_of(const expression_scope *s)
{
    return s->config->raw;
}

static json_t *tokenizer_of(const expression_scope *s)
{
    return s->config->tokenizer;
}

static json_t *generation_of(const expression_scope *s)
{
    return s->config->generation;
}

static json_t *ropes_of(const expression_scope *s)
{
    return s->config->ropes;
}

static json_t *rope_of(const expression_scope *s)
{
    json_t *full = json_object_get(s->config->ropes, "full_attention");

    return full != NULL ? full : s->config->ropes;
}

static json_t *rope_of_windows(const expression_scope *s)
{
    return json_object_get(s->config->ropes, "sliding_attention");
}

static json_t *vision_of(const expression_scope *s)
{
    return json_object_get(s->fields, "vision_config");
}

static json_t *audio_of(const expression_scope *s)
{
    json_t *whisper = json_object_get(s->fields, "whisper_config");

    return whisper != NULL ? whisper : json_object_get(s->fields, "audio_config");
}

static json_t *processor_of(const expression_scope *s)
{
    return s->config->processor;
}

/* What a path may begin with. */
static const struct object_row {
    const char *name;
    json_t *(*get)(const expression_scope *scope);
} objects[] = {
    {"raw", raw_of},       {"tokcfg", tokenizer_of}, {"generation", generation_of},
    {"ropes", ropes_of},   {"rope", rope_of},        {"swa", rope_of_windows},
    {"vision", vision_of}, {"audio", audio_of},      {"processor", processor_of},
};

static gufo_str next_part(gufo_str *path)
{
    const char *dot = memchr(path->data, '.', path->len);
    gufo_str part = {path->data, dot != NULL ? (size_t)(dot - path->data) : path->len};

    *path = str_from(*path, dot != NULL ? part.len + 1 : part.len);
    return part;
}

/* ---- fields that are read -------------------------------------------------------------------- */

/* The field that became a parameter of rotary positions; NULL: it is in an object of them. */
static const char *rope_field(const expression_scope *s, const json_t *value)
{
    const char *name;
    json_t *field;

    json_object_foreach(s->config->fields, name, field)
    {
        if (field == value && !json_is_boolean(field) && !json_is_null(field))
            return name;
    }
    return NULL;
}

/* Notes a field as the file has it; `path` is a name of the tables. */
static gufo_status note_field(const expression_scope *s, const char *path, json_t *value,
                              gufo_error *error)
{
    json_t *origins = json_object_get(s->config->origins, path);
    bool noted = origins != NULL ? json_object_update(s->read, origins) == 0
                                 : json_object_set(s->read, path, value) == 0;

    return noted ? GUFO_OK : fail_memory(error);
}

static gufo_status note_rope(const expression_scope *s, gufo_str path, json_t *value,
                             gufo_error *error)
{
    const char *name = rope_field(s, value);
    bool is_new = json_object_get(s->config->fields, "rope_parameters") != NULL;
    char text[160];

    if (name != NULL)
        return note_field(s, name, value, error);
    (void)snprintf(text, sizeof text, "%s.%.*s", is_new ? "rope_parameters" : "rope_scaling",
                   (int)path.len, path.data);
    return note_field(s, text, value, error);
}

/* Those of other files, and of elements of a list, are not the configuration's. */
static gufo_status note_path(const expression_scope *s, gufo_str path, json_t *value,
                             gufo_error *error)
{
    gufo_str rest = path, first = next_part(&rest);
    char text[160];

    if (s->read == NULL || value == NULL || path.len >= sizeof text)
        return GUFO_OK;
    if (rest.len > 0 && str_is_word(first, "x tokcfg generation processor"))
        return GUFO_OK;
    if (rest.len > 0 && str_is_word(first, "rope ropes swa"))
        return note_rope(s, rest, value, error);
    if (rest.len > 0 && str_is_word(first, "raw"))
        path = rest;
    (void)snprintf(text, sizeof text, "%.*s", (int)path.len, path.data);
    return note_field(s, text, value, error);
}

/* ---- single names ---------------------------------------------------------------------------- */

/* Failures name the field that was found, or all. */
static gufo_status find_blocks(const expression_scope *s, term *out, gufo_error *error)
{
    static const char *const fields[] = {"n_layers", "num_hidden_layers", "n_layer", "num_layers"};
    json_t *found = NULL;
    size_t i;

    for (i = 0; i < sizeof fields / sizeof *fields && found == NULL; i++)
        found = json_object_get(s->fields, fields[i]);
    *out = term_of_json(found);
    out->source = gufo_str_of(found != NULL ? fields[i - 1]
                                            : "n_layers|num_hidden_layers|n_layer|num_layers");
    return found != NULL ? note_path(s, out->source, found, error) : GUFO_OK;
}

static gufo_status find_file_type(const expression_scope *s, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_integer(s->file_type);
    return GUFO_OK;
}

static gufo_status find_mistral(const expression_scope *s, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_bool(s->config->is_mistral);
    return GUFO_OK;
}

static gufo_status find_pooling(const expression_scope *s, term *out, gufo_error *error)
{
    uint32_t pooling = 0;
    bool found = false;
    gufo_status status = config_pooling(s->config, &found, &pooling, error);

    *out = found ? term_of_integer(pooling) : (term){.kind = TERM_ABSENT};
    return status;
}

/* Words of the language. */
static const struct word_row {
    const char *name;
    term value;
} words[] = {
    {"true", {.kind = TERM_BOOL, .truth = true}},
    {"false", {.kind = TERM_BOOL, .truth = false}},
    {"null", {.kind = TERM_NULL}},
};

static const struct name_row {
    const char *name;
    gufo_status (*find)(const expression_scope *scope, term *out, gufo_error *error);
} names[] = {
    {"blocks", find_blocks},
    {"ftype", find_file_type},
    {"is_mistral", find_mistral},
    {"pooling", find_pooling},
};

/* ---- paths ----------------------------------------------------------------------------------- */

static json_t *first_object(const expression_scope *s, const expression_element *e, gufo_str *path)
{
    gufo_str rest = *path, first = next_part(&rest);

    if (rest.len > 0 && e->is_there && gufo_str_equal(first, gufo_str_of("x"))) {
        *path = rest;
        return e->value.json;
    }
    for (size_t i = 0; rest.len > 0 && i < sizeof objects / sizeof *objects; i++)
        if (gufo_str_equal(first, gufo_str_of(objects[i].name))) {
            *path = rest;
            return objects[i].get(s);
        }
    return fields_of(s);
}

static gufo_status find_path(const expression_scope *s, const expression_element *e, gufo_str path,
                             term *out, gufo_error *error)
{
    const gufo_str whole = path;
    json_t *json = first_object(s, e, &path);

    while (path.len > 0 && json != NULL) {
        gufo_str part = next_part(&path);

        json = json_object_getn(json, part.data, part.len);
    }
    *out = term_of_json(json);
    return note_path(s, whole, json, error);
}

gufo_status scope_find(const expression_scope *scope, const expression_element *element,
                       gufo_str name, term *out, gufo_error *error)
{
    if (element->is_there && gufo_str_equal(name, gufo_str_of("i"))) {
        *out = term_of_integer(element->index);
        return GUFO_OK;
    }
    if (element->is_there && gufo_str_equal(name, gufo_str_of("x"))) {
        *out = element->value;
        return GUFO_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (gufo_str_equal(name, gufo_str_of(words[i].name))) {
            *out = words[i].value;
            return GUFO_OK;
        }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gufo_str_equal(name, gufo_str_of(names[i].name)))
            return names[i].find(scope, out, error);
    return find_path(scope, element, name, out, error);
}
