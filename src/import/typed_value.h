/* Values of keys as JSON that loses nothing: gguf-metadata.json.
 *
 *     {"type": "uint32", "value": 7}
 *     {"type": "float32", "value": [0.5, "nan"]}       an array: its elements have the type
 *     {"type": "string", "value": {"base64": "/w=="}}  a text that is not UTF-8
 *     {"type": "string", "file": "tokenizer.json"}     the bytes of a file of the folder
 *     {"type": "array", "value": [{"type": "int8", "value": [1]}]}
 *
 * Types are called as `gufo edit` calls them, numbers are written as its JSON has them: digits as a text
 * where a double does not hold them. */
#ifndef IMPORT_TYPED_VALUE_H
#define IMPORT_TYPED_VALUE_H

#include "gufo/document.h"

#include <jansson.h>

/* A value as such an object; NULL without memory, or where arrays are nested too deep. */
json_t *typed_value_json(const gufo_value *value);

/* The bytes of a file of the folder, which stay until the value is set. */
typedef gufo_status typed_value_file(void *context, const char *name, gufo_str *bytes,
                                     gufo_error *error);

/* Sets a key to the value of such an object.  GUFO_E_MALFORMED for another form, GUFO_E_RANGE for a number
 * that its type does not hold, GUFO_E_LIMIT, GUFO_E_MEMORY, failures of gufo_document_set and of `read`. */
gufo_status typed_value_set(gufo_document *document, const char *key, const json_t *json,
                            typed_value_file *read, void *context, gufo_error *error);

/* Stores a value that is not an array as an element of gufo_items of its type. */
void typed_value_store(const gufo_value *value, void *element);

/* The number with the fewest digits, nine at most, that is the same float32: 0.1, not
 * 0.10000000149011612. */
double shortest_real(float number);

#endif
