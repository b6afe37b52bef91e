/* The expressions of the tables in registry/ (its README.md describes the language): values made of
 * the fields of a configuration. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_H

#include "gufo/base.h"
#include "gufo/document.h"
#include "import/architectures/configuration/config.h"
#include "import/containers/checkpoint.h"

#include <jansson.h>

/* ---- expression_values.c: what a field of config.json has, or what is made of it ------------------
 *
 * Whole numbers stay whole, in 64 bits; everything else is computed in double. */

typedef enum term_kind {
    TERM_ABSENT, /* no such field */
    TERM_NULL,
    TERM_BOOL,
    TERM_INTEGER,
    TERM_REAL,
    TERM_TEXT,
    TERM_LIST,
    TERM_OBJECT
} term_kind;

typedef struct term {
    term_kind kind;
    bool optional; /* may be absent */
    bool truth;
    int64_t integer;
    double real;
    gufo_str text;
    json_t *json;    /* of a list or an object; lent */
    gufo_str source; /* the part of the expression that it comes from, for failures */
} term;

/* The value of a field; NULL: absent.  It lives as long as the field. */
term term_of_json(json_t *json);
/* A new reference; NULL without memory, and for what is absent. */
json_t *term_to_json(const term *t);

static inline term term_of_bool(bool truth)
{
    return (term){.kind = TERM_BOOL, .truth = truth};
}

static inline term term_of_integer(int64_t integer)
{
    return (term){.kind = TERM_INTEGER, .integer = integer};
}

static inline term term_of_real(double real)
{
    return (term){.kind = TERM_REAL, .real = real};
}

static inline bool term_is_number(const term *t)
{
    return t->kind == TERM_INTEGER || t->kind == TERM_REAL;
}

/* Whether there is a value at all. */
static inline bool term_has_value(const term *t)
{
    return t->kind != TERM_ABSENT && t->kind != TERM_NULL;
}

/* Whether a condition that is this value holds: numbers that are not 0, texts and lists that are
 * not empty. */
bool term_is_true(const term *t);
double term_as_real(const term *t); /* of a number */
bool term_equal(const term *a, const term *b);

/* The failures of a value that is absent or null ("none of a, b, c", "not enough of a, b"), and of another kind than
 * `wanted` ("hidden_size is a text, and a number is needed"). */
gufo_status term_missing(const term *t, gufo_error *error);
gufo_status term_wrong(const term *t, const char *wanted, gufo_error *error);
gufo_status term_too_large(const term *t, gufo_error *error);
gufo_status term_outside(const term *t, int64_t number, int64_t least, int64_t most,
                         gufo_error *error);

/* Whether 64 bits hold the whole part of a number, which is *out. */
bool term_fits_integer(double value, int64_t *out);

/* A whole number, also one that is written as a real (1e6); from 0 to `largest`.  GUFO_E_MALFORMED
 * for another kind, GUFO_E_RANGE for other numbers. */
gufo_status term_integer(const term *t, int64_t *out, gufo_error *error);
gufo_status term_count(const term *t, uint64_t largest, uint64_t *out, gufo_error *error);

/* One of the operators + - * / % and F, which is the floor of a division (//), with two numbers.  `spelling`:
 * the part of the expression. */
gufo_status term_compute(char operation, const term *a, const term *b, gufo_str spelling, term *out,
                         gufo_error *error);
/* Below 0, 0 or above 0 as `a` and `b` compare; false if they cannot be compared. */
bool term_compare(const term *a, const term *b, int *order);

/* ---- expression_values.c: what the names in an expression mean ---------------------------------- */

typedef struct expression_scope {
    const model_config *config;
    json_t *fields;                /* those of `config`, or those that the keys see */
    const gufo_document *document; /* with the keys that were written so far; NULL: none */
    const checkpoint *checkpoint;  /* NULL: not wanted */
    uint32_t file_type;
    /* Gets the fields of the configuration that have a value and are asked for, by their names in the
     * file; NULL: not wanted. */
    json_t *read;
} expression_scope;

/* The element of a list that a formula is about. */
typedef struct expression_element {
    bool is_there;
    int64_t index;
    term value;
} expression_element;

/* The value of a name, or of a path ("rope.factor"). */
gufo_status scope_find(const expression_scope *scope, const expression_element *element,
                       gufo_str name, term *out, gufo_error *error);

/* ---- expression_functions.c: functions whose arguments are all evaluated ------------------------- */

/* No function takes more arguments; lists are as long as this, too. */
enum { EXPRESSION_MAX_ARGUMENTS = 16, EXPRESSION_MAX_ELEMENTS = 1 << 16 };

typedef struct expression_call {
    const expression_scope *scope;
    term arguments[EXPRESSION_MAX_ARGUMENTS];
    size_t count;
    json_t *made; /* an array that keeps what is made: call_keep */
} expression_call;

typedef struct expression_function {
    const char *name;
    size_t least, most; /* arguments */
    bool takes_absent;  /* else the first argument that is absent or null is the value */
    gufo_status (*compute)(expression_call *call, term *out, gufo_error *error);
} expression_function;

/* NULL: no such function. */
const expression_function *expression_function_find(gufo_str name);

/* Takes over `json`, which may be NULL (then memory is out), and gives its term. */
gufo_status call_keep(json_t *made, json_t *json, term *out, gufo_error *error);

/* ---- expression.c: the whole --------------------------------------------------------------------- */

/* A value and what it refers to beyond the configuration. */
typedef struct expression_result {
    term value;
    json_t *made; /* lists and texts; may be NULL */
} expression_result;

/* The value of an expression.  One that is absent or null does not fail: its term says whether it
 * may be.  GUFO_E_MALFORMED for a kind that does not fit, GUFO_E_RANGE, GUFO_E_LIMIT, GUFO_E_IO of
 * the files that some names read, GUFO_E_ARGUMENT for what is not an expression, GUFO_E_MEMORY.  The
 * result lives as long as the configuration, and is freed with expression_result_free, also after a
 * failure. */
gufo_status expression_evaluate(const expression_scope *scope, const char *text,
                                expression_result *out, gufo_error *error);
void expression_result_free(expression_result *result);

/* Whether a text is an expression: GUFO_E_ARGUMENT if not. */
gufo_status expression_check(const char *text, gufo_error *error);

/* Whether a condition holds; an empty one does. */
gufo_status expression_holds(const expression_scope *scope, const char *text, bool *out,
                             gufo_error *error);

/* ---- names in the tables: * is any run of characters, {b} and {e} are numbers --------------------- */

/* What the placeholders are in a name. */
typedef struct pattern_numbers {
    uint64_t block, entry; /* {b} and {e}; UINT64_MAX: the pattern has none */
} pattern_numbers;

/* Whether a name has a pattern; *numbers (may be NULL) is only set if it does. */
bool pattern_matches(gufo_str pattern, gufo_str name, pattern_numbers *numbers);

#endif
