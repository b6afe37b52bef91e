/* A streaming JSON writer.
 *
 *     json_writer j = json_writer_start(stdout);
 *     json_begin_object(&j, NULL);
 *     json_write_u64(&j, "size", 42);
 *     json_end_document(&j);             {"size":42} and a newline
 *
 * Every function takes the key of what it writes: plain ASCII without quotes in an object, NULL in
 * an array and at the top.
 *
 * The writer remembers only whether a comma is due, so that a value may have any length.  It writes
 * floats as number.h does, and as a string what a reader's double cannot hold: integers beyond
 * 2^53, "nan", "inf" and "-inf".  Errors of the stream stay in the stream (ferror). */
#ifndef CLI_CORE_VALUES_JSON_H
#define CLI_CORE_VALUES_JSON_H

#include "gufo/value.h"

#include <stdio.h>

typedef struct json_writer {
    FILE *out;
    bool comma;   /* due before the next key or value */
    bool changed; /* a file changed while its content was written */
} json_writer;

json_writer json_writer_start(FILE *out);
/* Writes {"path":PATH,... to standard output; json_end_document ends it. */
json_writer json_begin_document(const char *path);
/* Ends the line, and with it a document. */
void json_writer_line(json_writer *j);

void json_begin_object(json_writer *j, const char *key);
/* The same with any valid UTF-8 as the name of the member. */
void json_begin_named_object(json_writer *j, gufo_str name);
void json_end_object(json_writer *j);
/* Ends an object that is a whole document, and the line. */
void json_end_document(json_writer *j);
void json_begin_array(json_writer *j, const char *key);
void json_end_array(json_writer *j);

/* A value as gufo_value_put_json writes it; of GUFO_VALUE_JSON_MEMBERS `key` is NULL. */
void json_write_value(json_writer *j, const char *key, const gufo_value *value,
                      gufo_value_json_form form, uint64_t limit);
void json_write_null(json_writer *j, const char *key);
/* The number, or null where it is not known. */
void json_write_known(json_writer *j, const char *key, bool known, uint64_t number);
/* "offset": the number, or null for GUFO_NO_OFFSET. */
void json_write_offset(json_writer *j, uint64_t offset);
void json_write_bool(json_writer *j, const char *key, bool value);
void json_write_u64(json_writer *j, const char *key, uint64_t value);
void json_write_i64(json_writer *j, const char *key, int64_t value);
void json_write_f32(json_writer *j, const char *key, float value);
void json_write_f64(json_writer *j, const char *key, double value);
/* Text that is valid UTF-8 as a string; control characters of C0 and C1, DEL, bidirectional
 * controls and line separators are escaped.  Anything else as {"base64": "..."}. */
void json_write_str(json_writer *j, const char *key, gufo_str text);
/* NULL is null. */
void json_write_text(json_writer *j, const char *key, const char *text);

#endif
