/* Metadata values from text and from JSON, and the types that they may have. */
#ifndef CLI_CORE_VALUES_VALUE_READ_H
#define CLI_CORE_VALUES_VALUE_READ_H

#include "format/value/value.h"
#include "gufo/document.h"
#include "gufo/format.h"
#include "gufo/schema.h"

/* Reads text, digits with or without "-", as a number of the first of these types that is an
 * integer type and holds it.  False if none does. */
bool value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                        gufo_value *out);

/* Reads text as a number, bool or string of this type; false if it is not one.  Strings are views
 * of the text. */
bool value_read(gufo_value_type type, const char *text, gufo_value *out);

/* Whether the text is a decimal number, with or without fraction and exponent. */
bool value_is_decimal(const char *text);

/* ---- from JSON ------------------------------------------------------------------------------- */

#define VALUE_JSON_MESSAGE 160

/* A text among the numbers of an array, which has a zero in its place. */
typedef struct value_json_text {
    uint64_t index;
    gufo_value_type type; /* of the numbers */
    gufo_str text;
    char *kept; /* what `text` points to */
} value_json_text;

typedef struct value_json_texts {
    value_json_text *list;
    size_t count;
} value_json_texts;

/* A value of `type` in JSON, or an array of such values, or arrays of arrays; what it points to is
 * in `to`, whose buffer is to be freed in any case.  False, with the reason in `message`, for text
 * that is not JSON or does not fit the type.  `texts`: where an array of numbers may have some, to
 * be freed in any case; else NULL. */
bool value_json_read(gufo_value_type type, const char *text, gufo_value *out, encoder *to,
                     value_json_texts *texts, char message[VALUE_JSON_MESSAGE]);
void value_json_texts_free(value_json_texts *texts);

/* ---- the types of a key ---------------------------------------------------------------------- */

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
