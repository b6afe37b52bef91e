/* Metadata values for machines and for people.
 *
 * Walks go through arrays from front to back as stored in the file.  Arrays of arrays may have any
 * depth: no function here calls itself. */
#include "cli/core/values/value.h"

#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"

#include "format/value/value.h"

/* Into `text` (GUFO_NUMBER_SIZE bytes); the length. */
static size_t number_text(char *text, const gufo_value *value)
{
    switch (value->type) {
    case GUFO_VALUE_FLOAT32:
        return gufo_number_f32(text, (float)value->as.f);
    case GUFO_VALUE_FLOAT64:
        return gufo_number_f64(text, value->as.f);
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return gufo_number_i64(text, value->as.i);
    case GUFO_VALUE_BOOL:
        return (size_t)snprintf(text, GUFO_NUMBER_SIZE, "%s", value->as.b ? "true" : "false");
    default:
        return gufo_number_u64(text, value->as.u);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Numbers and strings. */
static void write_scalar(json_writer *j, const char *key, const gufo_value *value)
{
    switch (value->type) {
    case GUFO_VALUE_STRING:
        json_write_str(j, key, value->as.str);
        break;
    case GUFO_VALUE_BOOL:
        json_write_bool(j, key, value->as.b);
        break;
    case GUFO_VALUE_FLOAT32:
        json_write_f32(j, key, (float)value->as.f);
        break;
    case GUFO_VALUE_FLOAT64:
        json_write_f64(j, key, value->as.f);
        break;
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        json_write_i64(j, key, value->as.i);
        break;
    default:
        json_write_u64(j, key, value->as.u);
    }
}

static void write_array_type(json_writer *j, const gufo_array *array)
{
    json_write_text(j, "type", gufo_value_type_name(GUFO_VALUE_ARRAY));
    json_write_text(j, "element_type", gufo_value_type_name(array->type));
    json_write_u64(j, "count", array->count);
}

/* Elements that are numbers or strings. */
static void write_leaf(json_writer *j, const char *key, const gufo_array *array, uint64_t limit)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    json_begin_array(j, key);
    while (iter.index < limit && !ferror(j->out) && gufo_array_next(&iter, &element))
        write_scalar(j, NULL, &element);
    json_end_array(j);
    j->changed = j->changed || iter.changed;
}

/* Elements that are arrays. */
static void write_nested(json_writer *j, const char *key, const gufo_array *array, uint64_t limit)
{
    uint64_t written[GUFO_LARGEST_DEPTH] = {0};
    array_event event = ARRAY_BEGIN;
    unsigned level = 0;
    array_skip walk;
    gufo_array inner;

    json_begin_array(j, key);
    array_walk_start(&walk, array);
    while (event < ARRAY_DONE) {
        event = written[level] < limit && !ferror(j->out) ? array_walk_next(&walk, &inner)
                                                          : array_walk_leave(&walk);
        if (event == ARRAY_LEAF || event == ARRAY_BEGIN) {
            written[level]++;
            json_begin_object(j, NULL);
            write_array_type(j, &inner);
        }
        if (event == ARRAY_LEAF) {
            write_leaf(j, "value", &inner, limit);
            json_end_object(j);
        } else if (event == ARRAY_BEGIN) {
            json_begin_array(j, "value");
            written[++level] = 0;
        } else if (event == ARRAY_END) {
            json_end_array(j);
            json_end_object(j);
            level--;
        }
    }
    for (; level > 0; level--) { /* cut off by a change of the file */
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
    j->changed = j->changed || event != ARRAY_DONE;
}

/* [first, second, ...] */
static void write_elements(json_writer *j, const char *key, const gufo_array *array, uint64_t limit)
{
    (array->type == GUFO_VALUE_ARRAY ? write_nested : write_leaf)(j, key, array, limit);
}

void value_write_members(json_writer *j, const gufo_value *value, uint64_t limit)
{
    if (value->type == GUFO_VALUE_ARRAY) {
        write_array_type(j, &value->as.array);
        write_elements(j, "value", &value->as.array, limit);
    } else {
        json_write_text(j, "type", gufo_value_type_name(value->type));
        write_scalar(j, "value", value);
    }
}

void value_write_json(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    if (value->type != GUFO_VALUE_ARRAY) {
        write_scalar(j, key, value);
        return;
    }
    json_begin_object(j, key);
    value_write_members(j, value, limit);
    json_end_object(j);
}

void value_write_plain(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    if (value->type == GUFO_VALUE_ARRAY)
        write_elements(j, key, &value->as.array, limit);
    else
        write_scalar(j, key, value);
}

void value_write_entry(json_writer *j, const char *key, const gufo_entry *entry, uint64_t limit)
{
    json_begin_object(j, key);
    json_write_str(j, "key", entry->key);
    value_write_members(j, &entry->value, limit);
    json_end_object(j);
}

/* ---- text ----------------------------------------------------------------------------------- */

value_type_text value_type_name(const gufo_value *value)
{
    bool array = value->type == GUFO_VALUE_ARRAY;
    value_type_text t;

    snprintf(t.text, sizeof t.text, "%s%s",
             gufo_value_type_name(array ? value->as.array.type : value->type), array ? "[]" : "");
    return t;
}

void value_put_number(FILE *out, const gufo_value *value)
{
    char text[GUFO_NUMBER_SIZE];

    fwrite(text, 1, number_text(text, value), out);
}

static bool is_blank(gufo_str text)
{
    size_t i = 0;

    while (i < text.len && text.data[i] == ' ')
        i++;
    return i == text.len;
}

/* "text", or "the beginning..." (1,234 bytes), in about `columns` columns, without the length where there is
 * no room for both; many spaces as their number. */
static void put_string(FILE *out, gufo_str text, size_t columns)
{
    static const size_t least = 8, quotes = 2, many_spaces = 32;
    size_t room = columns > least + quotes ? columns - quotes : least;
    char length[64] = "";

    if (text.len >= many_spaces && is_blank(text)) { /* gufo.padding */
        fprintf(out, "(%s spaces)", human_grouped(text.len).text);
        return;
    }
    if (text_fit(text, TEXT_QUOTED, room).len < text.len) {
        size_t taken =
            (size_t)snprintf(length, sizeof length, " (%s bytes)", human_grouped(text.len).text);
        if (room > least + taken)
            room -= taken;
        else
            length[0] = '\0'; /* the text says more than its length */
    }
    putc('"', out);
    text_put_cut(out, text, TEXT_QUOTED, room);
    fprintf(out, "\"%s", length);
}

/* The columns a number or string will fill. */
static size_t element_columns(const gufo_value *value, const value_style *style)
{
    char text[GUFO_NUMBER_SIZE];

    if (value->type != GUFO_VALUE_STRING)
        return number_text(text, value);
    gufo_str shown = text_fit(value->as.str, TEXT_QUOTED, style->string_columns);

    return text_columns(shown, TEXT_QUOTED) + 2;
}

static void put_scalar(FILE *out, const gufo_value *value, const value_style *style)
{
    if (value->type == GUFO_VALUE_STRING) {
        putc('"', out);
        text_put_cut(out, value->as.str, TEXT_QUOTED, style->string_columns);
        putc('"', out);
    } else {
        value_put_number(out, value);
    }
}

static const char separator[] = ", ", more[] = "...";

/* Whether the next element has room, which the first one always has; if so, counts it in *used and
 * writes the separator before it. */
static bool take_room(FILE *out, const value_style *style, uint64_t put, size_t columns,
                      size_t *used)
{
    size_t taken = columns + sizeof separator - 1;

    if (put >= style->limit || ferror(out) ||
        (put > 0 && *used + taken + sizeof more - 1 > style->array_columns))
        return false;
    if (put > 0)
        fputs(separator, out);
    *used += taken;
    return true;
}

static void put_rest(FILE *out, uint64_t put)
{
    fprintf(out, "%s%s", put > 0 ? separator : "", more);
}

/* Writes as many numbers or strings as the limit and the columns allow, at least the first one,
 * then "...". */
static bool put_leaf(FILE *out, const gufo_array *array, const value_style *style, size_t *used)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;
    uint64_t put = 0;

    while (put < style->limit && gufo_array_next(&iter, &element) &&
           take_room(out, style, put, element_columns(&element, style), used)) {
        put_scalar(out, &element, style);
        put++;
    }
    if (put < array->count)
        put_rest(out, put);
    return !iter.changed;
}

/* The same of arrays. */
static bool put_nested(FILE *out, const gufo_array *array, const value_style *style, size_t *used)
{
    enum { GUESSED_COLUMNS = 16 };
    uint64_t put[GUFO_LARGEST_DEPTH] = {0};
    array_event event = ARRAY_BEGIN;
    unsigned level = 0;
    array_skip walk;
    gufo_array inner;
    bool sound = true;

    array_walk_start(&walk, array);
    while (event < ARRAY_DONE) {
        bool has_more = array_walk_has_more(&walk);
        bool cut = has_more && !take_room(out, style, put[level], GUESSED_COLUMNS, used);

        if (cut)
            put_rest(out, put[level]);
        event = cut ? array_walk_leave(&walk) : array_walk_next(&walk, &inner);
        if (event == ARRAY_LEAF || event == ARRAY_BEGIN) {
            put[level]++;
            putc('[', out);
        }
        if (event == ARRAY_LEAF)
            sound = put_leaf(out, &inner, style, used) && sound;
        else if (event == ARRAY_BEGIN)
            put[++level] = 0;
        else if (event == ARRAY_END)
            level--;
        if (event == ARRAY_LEAF || event == ARRAY_END)
            putc(']', out);
    }
    for (; level > 0; level--) /* cut off by a change of the file */
        putc(']', out);
    return sound && event == ARRAY_DONE;
}

bool value_put_line(FILE *out, const gufo_value *value, const value_style *style)
{
    size_t used;

    if (value->type == GUFO_VALUE_STRING) {
        put_string(out, value->as.str, style->columns);
        return true;
    }
    if (value->type != GUFO_VALUE_ARRAY) {
        value_put_number(out, value);
        return true;
    }
    used = (size_t)fprintf(out, "[%s] ", human_grouped(value->as.array.count).text);
    return value->as.array.type == GUFO_VALUE_ARRAY
               ? put_nested(out, &value->as.array, style, &used)
               : put_leaf(out, &value->as.array, style, &used);
}
