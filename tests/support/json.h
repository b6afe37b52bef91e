/* A small reader of JSON, for expected results: values in a tree.
 *
 *     json_document expected = json_load(path);
 *     const json_value *name = json_at(expected.root, "name");
 *     ... name->text ...
 *     json_unload(&expected);
 */
#ifndef TEST_SUPPORT_JSON_H
#define TEST_SUPPORT_JSON_H

#include "check.h"

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} json_kind;

typedef struct json_value {
    json_kind kind;
    gufo_str name;             /* in an object; no data: not a member of one */
    gufo_str text;             /* of a string: its bytes; of a number: as it is written */
    struct json_value *inside; /* the first of an array or object */
    struct json_value *next;   /* in it; NULL: the last */
} json_value;

typedef struct json_document {
    json_value *root;
    json_value *values;
    char *bytes;
} json_document;

/* Fails the test unless the file is there and is JSON. */
json_document json_load(const char *path);
/* The same for a file with a value in each line: they are an array. */
json_document json_load_lines(const char *path);
void json_unload(json_document *document);

/* The member with that name; NULL if there is none, or `value` is NULL or not an object. */
const json_value *json_find(const json_value *value, const char *name);
/* The same, but fails the test without it. */
const json_value *json_at(const json_value *value, const char *name);
/* Fails the test if it is not a number. */
double json_number(const json_value *value);
/* The values of an array or object. */
uint64_t json_count(const json_value *value);
bool json_is(const json_value *value, const char *text);

#endif
