/* Metadata values as text and as JSON. */
#ifndef CLI_CORE_VALUES_VALUE_H
#define CLI_CORE_VALUES_VALUE_H

#include "cli/core/values/json.h"
#include "gufo/format.h"

#define VALUE_ALL UINT64_MAX /* no limit on the elements that are written */

/* Values as JSON (docs/json.md), with at most `limit` elements of every array.  If the file changes
 * meanwhile, the writer is marked as changed; the JSON is well-formed all the same.
 *
 * {"key","type","value"}, of an array {"key","type":"array","element_type","count","value":[...]};
 * `count` is always the full one. */
void value_write_entry(json_writer *j, const char *key, const gufo_entry *entry, uint64_t limit);
/* The same without "key", of an object that is open. */
void value_write_members(json_writer *j, const gufo_value *value, uint64_t limit);
/* A value inside an array: a plain JSON value, or {"type":"array",...}. */
void value_write_json(json_writer *j, const char *key, const gufo_value *value, uint64_t limit);
/* The same; an array is just its elements. */
void value_write_plain(json_writer *j, const char *key, const gufo_value *value, uint64_t limit);

/* The type of a value: "uint32", or "string[]" for an array. */
typedef struct value_type_text {
    char text[16];
} value_type_text;
value_type_text value_type_name(const gufo_value *value);

/* A number or bool as text, without a newline.  Not for strings and arrays. */
void value_put_number(FILE *out, const gufo_value *value);
/* The same into `text` (GUFO_NUMBER_SIZE bytes); returns the length. */
size_t value_number_text(char *text, const gufo_value *value);

/* How a value is written in one line for people. */
typedef struct value_style {
    uint64_t limit;        /* elements of an array */
    size_t columns;        /* of a string, with its length if it is cut */
    size_t array_columns;  /* of all elements together; the first is always there */
    size_t string_columns; /* of a string inside an array */
} value_style;

/* Numbers as they are, strings quoted, arrays as "[count] first, second, ...".  False if the
 * file was changed meanwhile. */
bool value_put_line(FILE *out, const gufo_value *value, const value_style *style);

#endif
