/* The JSON writer: RFC 8259 text, one document per line. */
#include "cli/core/values/json.h"

#include "base/base64.h"
#include "gufo/print.h"
#include "base/pull.h"
#include "gufo/print.h"

#include <math.h>

json_writer json_writer_start(FILE *out)
{
    return (json_writer){.out = out};
}

json_writer json_begin_document(const char *path)
{
    json_writer j = json_writer_start(stdout);

    json_begin_object(&j, NULL);
    json_write_text(&j, "path", path);
    return j;
}

void json_writer_line(json_writer *j)
{
    putc('\n', j->out);
    j->comma = false;
}

/* ---- structure ------------------------------------------------------------------------------ */

/* Writes the comma and the key before a value. */
static void start_item(json_writer *j, const char *key)
{
    if (j->comma)
        putc(',', j->out);
    j->comma = true;
    if (key != NULL)
        fprintf(j->out, "\"%s\":", key);
}

static void begin(json_writer *j, const char *key, char bracket)
{
    start_item(j, key);
    putc(bracket, j->out);
    j->comma = false;
}

static void end(json_writer *j, char bracket)
{
    putc(bracket, j->out);
    j->comma = true;
}

void json_begin_object(json_writer *j, const char *key)
{
    begin(j, key, '{');
}

void json_end_object(json_writer *j)
{
    end(j, '}');
}

void json_end_document(json_writer *j)
{
    json_end_object(j);
    json_writer_line(j);
}

void json_begin_array(json_writer *j, const char *key)
{
    begin(j, key, '[');
}

void json_end_array(json_writer *j)
{
    end(j, ']');
}

/* ---- numbers -------------------------------------------------------------------------------- */

void json_write_null(json_writer *j, const char *key)
{
    start_item(j, key);
    fputs("null", j->out);
}

void json_write_known(json_writer *j, const char *key, bool known, uint64_t number)
{
    if (known)
        json_write_u64(j, key, number);
    else
        json_write_null(j, key);
}

void json_write_offset(json_writer *j, uint64_t offset)
{
    json_write_known(j, "offset", offset != GUFO_NO_OFFSET, offset);
}

void json_write_bool(json_writer *j, const char *key, bool value)
{
    start_item(j, key);
    fputs(value ? "true" : "false", j->out);
}

/* As number.h writes it, or as a string. */
static void write_number(json_writer *j, const char *key, const char *text, size_t len, bool quoted)
{
    start_item(j, key);
    if (quoted)
        putc('"', j->out);
    fwrite(text, 1, len, j->out);
    if (quoted)
        putc('"', j->out);
}

#define MOST_EXACT (UINT64_C(1) << 53) /* readers keep numbers as doubles */

void json_write_u64(json_writer *j, const char *key, uint64_t value)
{
    char text[GUFO_NUMBER_SIZE];

    write_number(j, key, text, gufo_number_u64(text, value), value > MOST_EXACT);
}

void json_write_i64(json_writer *j, const char *key, int64_t value)
{
    char text[GUFO_NUMBER_SIZE];

    write_number(j, key, text, gufo_number_i64(text, value),
                 value > (int64_t)MOST_EXACT || value < -(int64_t)MOST_EXACT);
}

void json_write_f32(json_writer *j, const char *key, float value)
{
    char text[GUFO_NUMBER_SIZE];

    write_number(j, key, text, gufo_number_f32(text, value), !isfinite(value));
}

void json_write_f64(json_writer *j, const char *key, double value)
{
    char text[GUFO_NUMBER_SIZE];

    write_number(j, key, text, gufo_number_f64(text, value), !isfinite(value));
}

/* ---- strings -------------------------------------------------------------------------------- */

/* ASCII that needs no escape between quotes: most bytes of most strings. */
static bool is_literal(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

#define REPLACEMENT 0xfffd /* U+FFFD, for bytes that are not text */

static bool needs_escape(uint32_t code_point)
{
    return code_point == '"' || code_point == '\\' || code_point == REPLACEMENT ||
           gufo_utf8_is_control(code_point);
}

static void write_escape(json_writer *j, uint32_t code_point)
{
    char text[JSON_ESCAPE_SIZE];

    fwrite(text, 1, json_escape_put(code_point, text), j->out);
}

/* Writes the characters of valid UTF-8: runs without escapes in one piece, the others escaped. */
static void write_characters(json_writer *j, gufo_str text)
{
    size_t done = 0, start = 0;

    while (done < text.len) {
        uint32_t code_point = (unsigned char)text.data[done];
        size_t len = 1;

        if (!is_literal((unsigned char)text.data[done])) {
            len = gufo_utf8_decode((gufo_str){text.data + done, text.len - done}, &code_point);
            if (len == 0) { /* only if the bytes changed since they were checked */
                len = 1;
                code_point = REPLACEMENT;
            }
            if (needs_escape(code_point)) {
                fwrite(text.data + start, 1, done - start, j->out);
                write_escape(j, code_point);
                start = done + len;
            }
        }
        done += len;
    }
    fwrite(text.data + start, 1, done - start, j->out);
}

/* RFC 4648, section 4. */
static void write_base64(json_writer *j, gufo_str bytes)
{
    for (size_t at = 0; at < bytes.len; at += 3) {
        char letters[4];

        base64_group((const uint8_t *)bytes.data + at, bytes.len - at < 3 ? bytes.len - at : 3,
                     letters);
        fwrite(letters, 1, sizeof letters, j->out);
    }
}

void json_begin_named_object(json_writer *j, gufo_str name)
{
    json_write_str(j, NULL, name);
    fputs(":{", j->out);
    j->comma = false;
}

void json_write_str(json_writer *j, const char *key, gufo_str text)
{
    bool valid = gufo_utf8_valid_prefix(text) == text.len;

    if (!valid)
        json_begin_object(j, key);
    start_item(j, valid ? key : "base64");
    putc('"', j->out);
    (valid ? write_characters : write_base64)(j, text);
    putc('"', j->out);
    if (!valid)
        json_end_object(j);
}

void json_write_text(json_writer *j, const char *key, const char *text)
{
    if (text != NULL)
        json_write_str(j, key, gufo_str_of(text));
    else
        json_write_null(j, key);
}
