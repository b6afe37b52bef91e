/* Filters, tests, methods and globals: rows of tables. */
#ifndef TEMPLATE_TABLES_H
#define TEMPLATE_TABLES_H

#include "text/template/values/value.h"

struct machine;

/* Arguments of a call: positions, then keywords. */
typedef struct arguments {
    const value *items;
    uint32_t count, keywords;   /* all; those at the end that have names */
    const string *const *names; /* of the keywords */
} arguments;

/* A function in C.  given[0] is the value that a filter, a test or a method is for; then come the
 * parameters, ABSENT where they are not given.  FAILED on failure. */
typedef value native_call(struct machine *m, const value *given, const arguments *all);

enum native_flags {
    NATIVE_ANY = 1,       /* takes any arguments: they are in `all` alone */
    NATIVE_POSITIONS = 4, /* its parameters have no names */
    NATIVE_REFUSED = 2,   /* changes its value: the sandbox hides it */
};

typedef struct native {
    const char *name;
    native_call *call;
    const char *parameters; /* names, divided by blanks; at most NATIVE_PARAMETERS */
    uint8_t required;       /* of the parameters */
    uint8_t flags;
} native;

enum { NATIVE_PARAMETERS = 7 };

typedef struct table {
    const char *what;   /* "filter" ... */
    const native *rows; /* in the order of their names */
    uint32_t count;
} table;

extern const table filter_table, test_table, global_table;

/* The methods of a type; NULL: it has none. */
const table *method_table(value_kind kind);

/* Row + 1, or 0. */
uint32_t table_find(const table *rows, gufo_str name);

#endif
