/* Values as JSON; json.c reads it.
 *
 * Walks go through arrays from front to back as stored in the file.  Arrays of arrays may have any
 * depth: no function here calls itself. */
#include "gufo/value.h"

#include <math.h>
#include <string.h>

#include "base/base64.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/pull.h"
#include "format/value/value.h"
#include "gufo/print.h"

typedef struct writer {
    gufo_put_fn *put;
    void *context;
    gufo_value_json_form form;
    uint64_t limit;
    bool stopped, changed;
} writer;

static void put(writer *w, const char *bytes, size_t count)
{
    w->stopped = w->stopped || !w->put(w->context, bytes, count);
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* ---- numbers -------------------------------------------------------------------------------- */

#define MOST_EXACT (UINT64_C(1) << 53) /* readers keep numbers as doubles */

static void put_number(writer *w, const char *text, size_t len, bool quoted)
{
    if (quoted)
        put_text(w, "\"");
    put(w, text, len);
    if (quoted)
        put_text(w, "\"");
}

static void put_unsigned(writer *w, uint64_t value)
{
    char text[GUFO_NUMBER_SIZE];

    put_number(w, text, gufo_number_u64(text, value), value > MOST_EXACT);
}

static void put_signed(writer *w, int64_t value)
{
    char text[GUFO_NUMBER_SIZE];

    put_number(w, text, gufo_number_i64(text, value),
               value > (int64_t)MOST_EXACT || value < -(int64_t)MOST_EXACT);
}

static void put_float(writer *w, const gufo_value *value)
{
    char text[GUFO_NUMBER_SIZE];
    size_t len = value->type == GUFO_VALUE_FLOAT32 ? gufo_number_f32(text, (float)value->as.f)
                                                   : gufo_number_f64(text, value->as.f);

    put_number(w, text, len, !isfinite(value->as.f));
}

/* ---- strings -------------------------------------------------------------------------------- */

/* ASCII that needs no escape between quotes: most bytes of most strings. */
static bool is_literal(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

enum { REPLACEMENT = 0xfffd }; /* U+FFFD, for bytes that are not text */

static bool needs_escape(uint32_t code_point)
{
    return code_point == '"' || code_point == '\\' || code_point == REPLACEMENT ||
           gufo_utf8_is_control(code_point);
}

/* Writes the characters of valid UTF-8: runs without escapes in one piece, the others escaped. */
static void put_characters(writer *w, gufo_str text)
{
    char escape[JSON_ESCAPE_SIZE];
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
                put(w, text.data + start, done - start);
                put(w, escape, json_escape_put(code_point, escape));
                start = done + len;
            }
        }
        done += len;
    }
    if (done > start)
        put(w, text.data + start, done - start);
}

/* RFC 4648, section 4. */
static void put_base64(writer *w, gufo_str bytes)
{
    for (size_t at = 0; at < bytes.len && !w->stopped; at += 3) {
        char letters[4];

        base64_group((const uint8_t *)bytes.data + at, bytes.len - at < 3 ? bytes.len - at : 3,
                     letters);
        put(w, letters, sizeof letters);
    }
}

static void put_string(writer *w, gufo_str text)
{
    bool valid = gufo_utf8_valid_prefix(text) == text.len;

    put_text(w, valid ? "\"" : "{\"base64\":\"");
    (valid ? put_characters : put_base64)(w, text);
    put_text(w, valid ? "\"" : "\"}");
}

static void put_scalar(writer *w, const gufo_value *value)
{
    switch (value->type) {
    case GUFO_VALUE_STRING:
        put_string(w, value->as.str);
        break;
    case GUFO_VALUE_BOOL:
        put_text(w, value->as.b ? "true" : "false");
        break;
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        put_float(w, value);
        break;
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        put_signed(w, value->as.i);
        break;
    default:
        put_unsigned(w, value->as.u);
    }
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* "type":"array","element_type":"int8","count":2,"value": */
static void put_type(writer *w, const gufo_value *value)
{
    put_text(w, "\"type\":\"");
    put_text(w, gufo_value_type_name(value->type));
    if (value->type == GUFO_VALUE_ARRAY) {
        put_text(w, "\",\"element_type\":\"");
        put_text(w, gufo_value_type_name(value->as.array.type));
        put_text(w, "\",\"count\":");
        put_unsigned(w, value->as.array.count);
        put_text(w, ",\"value\":");
    } else {
        put_text(w, "\",\"value\":");
    }
}

/* Elements that are numbers or strings. */
static void put_leaf(writer *w, const gufo_array *array)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    put_text(w, "[");
    while (iter.index < w->limit && !w->stopped && gufo_array_next(&iter, &element)) {
        if (iter.index > 1)
            put_text(w, ",");
        put_scalar(w, &element);
    }
    put_text(w, "]");
    w->changed = w->changed || iter.changed;
}

static void open_inner(writer *w, const gufo_array *inner, bool is_first)
{
    const gufo_value value = {.type = GUFO_VALUE_ARRAY, .as.array = *inner};

    if (!is_first)
        put_text(w, ",");
    if (w->form == GUFO_VALUE_JSON_BARE)
        return;
    put_text(w, "{");
    put_type(w, &value);
}

static void close_inner(writer *w)
{
    if (w->form != GUFO_VALUE_JSON_BARE)
        put_text(w, "}");
}

/* Elements that are arrays. */
static void put_nested(writer *w, const gufo_array *array)
{
    uint64_t written[GUFO_LARGEST_DEPTH] = {0};
    array_event event = ARRAY_BEGIN;
    unsigned level = 0;
    array_skip walk;
    gufo_array inner;

    put_text(w, "[");
    array_walk_start(&walk, array);
    while (event < ARRAY_DONE) {
        event = written[level] < w->limit && !w->stopped ? array_walk_next(&walk, &inner)
                                                         : array_walk_leave(&walk);
        if (event == ARRAY_LEAF || event == ARRAY_BEGIN)
            open_inner(w, &inner, written[level]++ == 0);
        if (event == ARRAY_LEAF) {
            put_leaf(w, &inner);
            close_inner(w);
        } else if (event == ARRAY_BEGIN) {
            put_text(w, "[");
            written[++level] = 0;
        } else if (event == ARRAY_END) {
            put_text(w, "]");
            close_inner(w);
            level--;
        }
    }
    for (; level > 0; level--) { /* cut off by a change of the file */
        put_text(w, "]");
        close_inner(w);
    }
    put_text(w, "]");
    w->changed = w->changed || event != ARRAY_DONE;
}

gufo_status gufo_value_put_json(const gufo_value *value, gufo_value_json_form form, uint64_t limit,
                                gufo_put_fn *take, void *context, gufo_error *error)
{
    writer w = {.put = take, .context = context, .form = form, .limit = limit};
    bool is_array = value->type == GUFO_VALUE_ARRAY;
    bool has_type = form == GUFO_VALUE_JSON_MEMBERS || (form == GUFO_VALUE_JSON_TYPED && is_array);
    const gufo_array *array = &value->as.array;

    if (has_type && form == GUFO_VALUE_JSON_TYPED)
        put_text(&w, "{");
    if (has_type)
        put_type(&w, value);
    if (is_array)
        (array->type == GUFO_VALUE_ARRAY ? put_nested : put_leaf)(&w, array);
    else
        put_scalar(&w, value);
    if (has_type && form == GUFO_VALUE_JSON_TYPED)
        put_text(&w, "}");
    if (w.stopped)
        return refuse(error, GUFO_E_STOPPED, "stopped");
    return w.changed ? array_fail_changed(error) : GUFO_OK;
}

static bool add_to_text(void *context, const char *bytes, size_t count)
{
    return text_add(context, bytes, count);
}

gufo_status gufo_value_write_json(const gufo_value *value, gufo_text *out, gufo_error *error)
{
    gufo_status status =
        gufo_value_put_json(value, GUFO_VALUE_JSON_BARE, UINT64_MAX, add_to_text, out, error);

    return status == GUFO_E_STOPPED ? fail_memory(error) : status;
}
