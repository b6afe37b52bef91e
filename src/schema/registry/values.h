/* Values that the specification lists for a key, and those that programs have added. */
#ifndef GUFO_SCHEMA_VALUES_H
#define GUFO_SCHEMA_VALUES_H

#include "gufo/base.h"

typedef enum value_status {
    VALUE_UNKNOWN,
    VALUE_IN_USE,   /* programs know it, the specification does not */
    VALUE_STANDARD, /* the specification lists it */
} value_status;

/* Of a key as in registry/keys.tsv, or "ggml_type".  registry/values.tsv */
value_status values_find(const char *key, gufo_str value);
value_status values_find_number(const char *key, uint64_t value);

#endif
