/* The rows of the table convert_keys: what becomes of the configuration of an architecture. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_RULES_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_RULES_H

#include "gufo/base.h"
#include "import/architectures/configuration/expression.h"

typedef struct rule {
    const char *group; /* an architecture, or "@name" of rows that others include */
    const char *phase; /* "fields", "config", "tensors", "params", "vocab" */
    const char *key;   /* of the file, or of the configuration; "@name": see keys.c */
    const char *type;  /* "u32", "arr[bool]" ... */
    const char *value; /* an expression */
    const char *condition, *note;
} rule;

/* All rows. */
const rule *rules_at(size_t index);

/* The group that `key` of an inclusion means: "@llama" the rows of llama, "@base" those of @base;
 * NULL: the key is not an inclusion of rows. */
const rule *rules_included(const char *key, size_t *count);

/* Whether the keys of an architecture are known. */
bool rules_know(const char *architecture);

/* Inclusions inside one another. */
enum { RULES_MAX_DEPTH = 8 };

/* Walking the rows of a group: inclusions, conditions, and rows that refuse. */

/* What is done with a row whose condition holds; it takes no rows "@GROUP" and "@refuse". */
typedef gufo_status rule_action(void *context, const rule *row, gufo_error *error);

/* Does the rows of one phase of a group, in order. */
gufo_status rules_apply(const expression_scope *scope, const char *group, const char *phase,
                        rule_action *action, void *context, gufo_error *error);

#endif
