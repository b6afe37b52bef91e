/* The functions of expressions whose arguments are all evaluated. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_FUNCTIONS_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_FUNCTIONS_H

#include "import/architectures/configuration/expression_scope.h"

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

#endif
