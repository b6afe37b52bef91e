/* Values from text and from JSON, the types that the value of a key may have, and changes of
 * elements of arrays.
 *
 *     gufo_key_types types = gufo_key_types_of(document, "llama.context_length");
 *     gufo_document_set_read(document, "llama.context_length", "4096", &types, &error); */
#ifndef GUFO_VALUE_H
#define GUFO_VALUE_H

#include "document.h"
#include "schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Text ==================================================================================== */

/* Reads text as a number, bool ("true", "false") or string of this type; false if it is not one, or
 * `type` is GUFO_VALUE_ARRAY.  Integers are digits with or without "-"; floats have a point in
 * every locale, and may also be "nan", "inf" and "-inf"; a float32 is rounded to one.  Strings are views
 * of the text.  Any thread. */
GUFO_API bool gufo_value_read(gufo_value_type type, const char *text, gufo_value *out);
/* Reads text as a number of the first of these types that is an integer type and holds it. */
GUFO_API bool gufo_value_read_integer(const gufo_value_type *types, size_t count, const char *text,
                                      gufo_value *out);
/* The value type with that name, or with the format's own (GGUF_TYPE_UINT8, in any case); false if none
 * has it. */
GUFO_API bool gufo_value_type_by_name(const char *name, gufo_value_type *out);
GUFO_API bool gufo_value_type_by_name_str(gufo_str name, gufo_value_type *out);
/* Whether the text is a decimal number, with or without fraction and exponent. */
GUFO_API bool gufo_value_is_decimal(const char *text);
/* The type that text has where nothing else says so: bool; of integers the first of uint32, int32,
 * uint64 and int64 that holds it; float32; else string. */
GUFO_API gufo_value_type gufo_value_guess(const char *text);

/* ==== JSON ==================================================================================== */

/* A text in the place of a number: the text of a token where its id is meant. */
typedef struct gufo_value_text {
    uint64_t index;       /* of the element, which is zero */
    gufo_value_type type; /* of the number */
    gufo_str text;        /* a copy, which the list frees */
    uint64_t reserved[2];
} gufo_value_text;

/* A list of them.  {0} is an empty one; freed with gufo_value_texts_free. */
typedef struct gufo_value_texts {
    gufo_value_text *list;
    uint64_t count, room;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[2];
} gufo_value_texts;

GUFO_API void gufo_value_texts_free(gufo_value_texts *texts);

/* Reads a JSON value of `type`, or an array of such values, or arrays of arrays: what the command
 * writes with --json, that is integers above 2^53, "nan", "inf" and "-inf" as strings, and texts also as
 * {"text": "..."}, or, for any bytes, {"base64": "..."}, whose other members do not count.  Integers are
 * never read through a double.  What *out refers to is
 * in `bytes`, which is emptied first and belongs to the caller.  `texts`: takes texts among the numbers of
 * an array; NULL: a text there is malformed.  Any thread.  GUFO_E_MALFORMED, with the byte of the text, for text
 * that is not JSON or does not fit the type; GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_value_read_json(gufo_value_type type, const char *text, gufo_value *out,
                                          gufo_text *bytes, gufo_value_texts *texts,
                                          gufo_error *error);

/* The same in the other direction: appends a value to `out`.  Reading the text as the type of the value,
 * or of the innermost elements of an array, gives the same value; of an array of arrays JSON keeps neither
 * the types of inner arrays that differ nor those of empty ones, and more than 16 levels are not read.  Any thread.  GUFO_E_CHANGED where the
 * bytes of an array changed meanwhile, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_value_write_json(const gufo_value *value, gufo_text *out,
                                           gufo_error *error);

/* What is written of arrays. */
typedef enum gufo_value_json_form {
    GUFO_VALUE_JSON_BARE = 0,  /* [1,2]; an array of arrays is [[1,2],[3]] */
    GUFO_VALUE_JSON_PLAIN = 1, /* [1,2]; arrays in it as the next form has them */
    /* {"type":"array","element_type":"int8","count":2,"value":[1,2]} */
    GUFO_VALUE_JSON_TYPED = 2,
    /* The members of an object, for any value: "type":"int8","value":1 */
    GUFO_VALUE_JSON_MEMBERS = 3,
} gufo_value_json_form;

/* Takes the next bytes of a text; false: no more are wanted. */
typedef bool gufo_put_fn(void *context, const char *bytes, size_t count);

/* Writes a value in pieces, of which it keeps none in memory, with at most `limit` elements of each array.  Of
 * strings control characters, bidirectional controls and line separators are escaped.  Any thread.
 * GUFO_E_STOPPED if `put` returned false; GUFO_E_CHANGED as above: the JSON is complete all the same. */
GUFO_API gufo_status gufo_value_put_json(const gufo_value *value, gufo_value_json_form form,
                                         uint64_t limit, gufo_put_fn *put, void *context,
                                         gufo_error *error);

/* ==== Types of keys =========================================================================== */

/* The type of a value; of an array, or of arrays of arrays, that of the innermost elements. */
typedef struct gufo_key_type {
    gufo_value_type type;
    bool is_array;
} gufo_key_type;

enum { GUFO_KEY_MOST_TYPES = 4, GUFO_KEY_TYPES_SIZE = 96 };

typedef struct gufo_key_types {
    gufo_key_type list[GUFO_KEY_MOST_TYPES];
    size_t count;
    uint64_t reserved[2];
} gufo_key_types;

/* general.architecture of a document; empty if it has none.  A view of the document. */
GUFO_API gufo_str gufo_document_architecture(const gufo_document *document);
/* The row of the registry for a key, in this document or else in any; NULL for an unknown key. */
GUFO_API const gufo_key_info *gufo_document_key_info(const gufo_document *document,
                                                     const char *key);
GUFO_API const gufo_key_info *gufo_document_key_info_str(const gufo_document *document,
                                                         gufo_str key);

/* The types that the value of a key may have, the best one first: that of the value in the document,
 * unless readers refuse it, then those of the registry.  None for an unknown key. */
GUFO_API gufo_key_types gufo_key_types_of(const gufo_document *document, const char *key);
/* The types that "[TYPE:]VALUE" may have: TYPE, which *text moves past, else those of the key. */
GUFO_API gufo_key_types gufo_key_types_read(const gufo_document *document, const char *key,
                                            const char **text);
/* Reads "TYPE:" at the beginning of a text, also by the format's own name; its length, 0 without. */
GUFO_API size_t gufo_key_type_prefix(const char *text, gufo_value_type *type);
/* Of these types, those that are arrays, or the others. */
GUFO_API gufo_key_types gufo_key_types_of_shape(const gufo_key_types *types, bool is_array);
/* Writes "uint32 or array[int32]" into `out` and returns it. */
GUFO_API const char *gufo_key_types_name(const gufo_key_types *types,
                                         char out[GUFO_KEY_TYPES_SIZE]);

/* Whether a key, or the name of a tensor, means itself where texts such as KEY=VALUE, KEY[INDEX]=VALUE and patterns of
 * the shell are read, as the options of gufo edit are: it has none of = * ? [ \ and no NUL.  A "]" alone is a
 * letter like any other.  *at, which may be NULL, is the first byte that has another meaning.  Any thread. */
GUFO_API bool gufo_key_is_plain(gufo_str key, size_t *at);

/* Sets a key to the value that a text is, of the first of these types that it fits; an array is JSON.
 * GUFO_E_TYPE if it fits none of them; GUFO_E_MALFORMED for an array that is wrong, and failures of
 * gufo_document_set. */
GUFO_API gufo_status gufo_document_set_read(gufo_document *document, const char *key,
                                            const char *text, const gufo_key_types *types,
                                            gufo_error *error);

/* ==== Elements ================================================================================ */

/* The value that element `index` of an array gets. */
typedef struct gufo_element_change {
    uint64_t index;
    gufo_value value;     /* of the type of the elements */
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_element_change;

/* Changes elements of an array, whose elements are not arrays; of several changes of one element the last
 * counts.  The array is written once, however many elements change.  GUFO_E_NOT_FOUND without the key;
 * GUFO_E_TYPE for what is not such an array, or a value of another type; GUFO_E_RANGE past the end;
 * GUFO_E_CHANGED, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_document_set_elements(gufo_document *document, const char *key,
                                                const gufo_element_change *changes, size_t count,
                                                gufo_error *error);

/* A token that is looked for by its text. */
typedef struct gufo_token_search {
    gufo_str text;
    uint64_t id, times;   /* filled in: of the first token with this text, and how many have it */
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_token_search;

/* Looks for tokens in tokenizer.ggml.tokens of a document, all of them in one walk.  GUFO_E_NOT_FOUND if it
 * has no such array of strings; GUFO_E_CHANGED, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_document_find_tokens(const gufo_document *document,
                                               gufo_token_search *tokens, size_t count,
                                               gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
