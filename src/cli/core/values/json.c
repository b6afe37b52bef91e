/* The JSON writer: RFC 8259 text, one document per line. */
#include "cli/core/values/json.h"

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

/* ---- values --------------------------------------------------------------------------------- */

static bool put(void *context, const char *bytes, size_t count)
{
    FILE *out = context;

    return fwrite(bytes, 1, count, out) == count;
}

void json_write_value(json_writer *j, const char *key, const gufo_value *value,
                      gufo_value_json_form form, uint64_t limit)
{
    start_item(j, key);
    j->changed =
        gufo_value_put_json(value, form, limit, put, j->out, NULL) == GUFO_E_CHANGED || j->changed;
}

static void write_scalar(json_writer *j, const char *key, gufo_value value)
{
    json_write_value(j, key, &value, GUFO_VALUE_JSON_BARE, 0);
}

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
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = value});
}

void json_write_u64(json_writer *j, const char *key, uint64_t value)
{
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_UINT64, .as.u = value});
}

void json_write_i64(json_writer *j, const char *key, int64_t value)
{
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_INT64, .as.i = value});
}

void json_write_f32(json_writer *j, const char *key, float value)
{
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_FLOAT32, .as.f = (double)value});
}

void json_write_f64(json_writer *j, const char *key, double value)
{
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_FLOAT64, .as.f = value});
}

void json_write_str(json_writer *j, const char *key, gufo_str text)
{
    write_scalar(j, key, (gufo_value){.type = GUFO_VALUE_STRING, .as.str = text});
}

void json_begin_named_object(json_writer *j, gufo_str name)
{
    json_write_str(j, NULL, name);
    fputs(":{", j->out);
    j->comma = false;
}

void json_write_text(json_writer *j, const char *key, const char *text)
{
    if (text != NULL)
        json_write_str(j, key, gufo_str_of(text));
    else
        json_write_null(j, key);
}
