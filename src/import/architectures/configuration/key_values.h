/* Values of expressions as values of keys. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_KEY_VALUES_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_KEY_VALUES_H

#include "gufo/document.h"
#include "import/architectures/configuration/expression_term.h"

/* Whether a type of the table exists: "u32", "arr[bool]" ... */
bool key_type_exists(const char *type);
/* The GGUF type of one; GUFO_VALUE_ARRAY for an array, whose elements are *elements then. */
gufo_value_type key_type_of(const char *type, gufo_value_type *elements);

/* Sets a key to a value of a type of the table.  Empty lists are not written. */
gufo_status key_value_set(gufo_document *document, gufo_str key, const char *type,
                          const term *value, const gufo_allocator *allocator, gufo_error *error);

#endif
