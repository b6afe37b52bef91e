/* Values of the expressions in the tables: what a field of config.json has, or what is made of it.
 *
 * Whole numbers stay whole, in 64 bits; everything else is computed in double. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_TERM_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_TERM_H

#include <jansson.h>

#include "gufo/base.h"

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

/* One of the operators + - * / % and F, which is the floor of a division (//), with two numbers.  `source`:
 * the part of the expression. */
gufo_status term_compute(char operation, const term *a, const term *b, gufo_str source, term *out,
                         gufo_error *error);
/* Below 0, 0 or above 0 as `a` and `b` compare; false if they cannot be compared. */
bool term_compare(const term *a, const term *b, int *order);

#endif
