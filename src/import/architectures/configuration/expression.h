/* The expressions of the tables in registry/ (its README.md describes the language): values made of
 * the fields of a configuration. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_EXPRESSION_H

#include "import/architectures/configuration/expression_scope.h"

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

#endif
