/* The rows of the table convert_keys: what becomes of the configuration of an architecture. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_RULES_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_RULES_H

#include "gufo/base.h"

typedef struct rule {
    const char *group; /* an architecture, or "@name" of rows that others include */
    const char *phase; /* "fields", "config", "tensors", "params", "vocab" */
    const char *key;   /* of the file, or of the configuration; "@name": see keys.c */
    const char *type;  /* "u32", "arr[bool]" ... */
    const char *value; /* an expression */
    const char *condition, *note;
} rule;

/* The rows of a group, in order: the first of *count; NULL for a group that does not exist. */
const rule *rules_of(const char *group, size_t *count);

/* All rows. */
const rule *rules_at(size_t index);

/* The group that `key` of an inclusion means: "@llama" the rows of llama, "@base" those of @base;
 * NULL: the key is not an inclusion of rows. */
const rule *rules_included(const char *key, size_t *count);

/* Whether the keys of an architecture are known. */
bool rules_know(const char *architecture);

/* Inclusions inside one another. */
enum { RULES_MAX_DEPTH = 8 };

#endif
