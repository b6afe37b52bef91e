/* Which types the value of a key may have. */
#ifndef CLI_CORE_VALUES_KEY_TYPE_H
#define CLI_CORE_VALUES_KEY_TYPE_H

#include "gufo/document.h"
#include "gufo/schema.h"

/* The type of a value; of an array, or of arrays of arrays, that of the innermost elements. */
typedef struct key_type {
    gufo_value_type type;
    bool is_array;
} key_type;

enum { KEY_MOST_TYPES = 4 };

typedef struct key_types {
    key_type list[KEY_MOST_TYPES];
    size_t count;
} key_types;

/* The architecture of a file that is changed or made; empty if it names none. */
gufo_str key_type_architecture(const gufo_document *document);
/* The row of the registry for a key, in this document or else in any; NULL for an unknown
 * key. */
const gufo_key_info *key_type_info(const gufo_document *document, gufo_str key);
/* The types that the value of a key may have, the best one first; none for an unknown key. */
key_types key_types_of(const gufo_document *document, const char *key);

/* The type that the value of an unknown key gets. */
gufo_value_type key_type_guess(const char *text);
/* Reads "TYPE:" at the beginning of the text; its length, 0 without a type. */
size_t key_type_prefix(const char *text, gufo_value_type *type);
/* The types that "[TYPE:]VALUE" may have, in their order: TYPE, which *text moves past, else those
 * of the key. */
key_types key_types_read(const gufo_document *document, const char *key, const char **text);
/* Of these types, keeps those that are arrays, or the others. */
key_types key_types_of_shape(const key_types *types, bool is_array);

/* Types in words: "uint32 or array[int32]". */
typedef struct key_types_text {
    char text[96];
} key_types_text;

key_types_text key_types_name(const key_types *types);

#endif
