/* Metadata values for machines and for people.
 *
 * Arrays are walked from front to back as stored in the file.  Their nesting was bounded when the
 * file was opened; it is bounded again here, because the file may change meanwhile. */
#include "cli/core/value.h"

#include "cli/core/human.h"
#include "cli/core/number.h"
#include "cli/core/text.h"

#include <string.h>

/* Into `text` (NUMBER_SIZE bytes); the length. */
static size_t number_text(char *text, const gufo_value *value)
{
    switch (value->type) {
    case GUFO_VALUE_FLOAT32:
        return number_f32(text, (float)value->as.f);
    case GUFO_VALUE_FLOAT64:
        return number_f64(text, value->as.f);
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return number_i64(text, value->as.i);
    case GUFO_VALUE_BOOL:
        return (size_t)snprintf(text, NUMBER_SIZE, "%s", value->as.b ? "true" : "false");
    default:
        return number_u64(text, value->as.u);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static bool write_value(json_writer *j, const char *key, const gufo_value *value, uint64_t limit,
                        unsigned depth);

static bool write_members(json_writer *j, const gufo_value *value, uint64_t limit, unsigned depth);

static bool write_value(json_writer *j, const char *key, const gufo_value *value, uint64_t limit,
                        unsigned depth)
{
    bool sound = true;

    switch (value->type) {
    case GUFO_VALUE_ARRAY:
        json_begin_object(j, key);
        sound = write_members(j, value, limit, depth);
        json_end_object(j);
        break;
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
    return sound;
}

/* [first, second, ...] */
static bool write_elements(json_writer *j, const char *key, const gufo_array *array, uint64_t limit,
                           unsigned depth)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;
    bool sound = depth <= GUFO_MAX_DEPTH;

    json_begin_array(j, key);
    while (sound && iter.index < limit && !ferror(j->out) && gufo_array_next(&iter, &element))
        sound = write_value(j, NULL, &element, limit, depth + 1);
    json_end_array(j);
    return sound && !iter.changed;
}

/* "type", and what else belongs to a value, of an object that is open. */
static bool write_members(json_writer *j, const gufo_value *value, uint64_t limit, unsigned depth)
{
    json_write_text(j, "type", gufo_value_type_name(value->type));
    if (value->type != GUFO_VALUE_ARRAY)
        return write_value(j, "value", value, limit, depth);
    json_write_text(j, "element_type", gufo_value_type_name(value->as.array.type));
    json_write_u64(j, "count", value->as.array.count);
    return write_elements(j, "value", &value->as.array, limit, depth);
}

bool value_write_json(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    return write_value(j, key, value, limit, 1);
}

bool value_write_plain(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    return value->type == GUFO_VALUE_ARRAY ? write_elements(j, key, &value->as.array, limit, 1)
                                           : write_value(j, key, value, limit, 1);
}

bool value_write_members(json_writer *j, const gufo_value *value, uint64_t limit)
{
    return write_members(j, value, limit, 1);
}

bool value_write_entry(json_writer *j, const char *key, const gufo_entry *entry, uint64_t limit)
{
    bool sound;

    json_begin_object(j, key);
    json_write_str(j, "key", entry->key);
    sound = value_write_members(j, &entry->value, limit);
    json_end_object(j);
    return sound;
}

/* ---- text ----------------------------------------------------------------------------------- */

void value_put_number(FILE *out, const gufo_value *value)
{
    char text[NUMBER_SIZE];

    fwrite(text, 1, number_text(text, value), out);
}

/* "text", or "the beginning..." (1,234 bytes), in about `columns` columns. */
static void put_string(FILE *out, gufo_str text, size_t columns)
{
    static const size_t least = 16, quotes = 2;
    size_t room = columns > least + quotes ? columns - quotes : least;
    char length[64] = "";

    if (text_fit(text, TEXT_QUOTED, room).len < text.len) {
        size_t taken =
            (size_t)snprintf(length, sizeof length, " (%s bytes)", human_grouped(text.len).text);
        room = room > least + taken ? room - taken : least;
    }
    putc('"', out);
    text_put_cut(out, text, TEXT_QUOTED, room);
    fprintf(out, "\"%s", length);
}

/* The columns an element will fill; a guess for nested arrays. */
static size_t element_columns(const gufo_value *value, const value_style *style)
{
    char text[NUMBER_SIZE];

    if (value->type == GUFO_VALUE_ARRAY)
        return 16;
    if (value->type != GUFO_VALUE_STRING)
        return number_text(text, value);
    gufo_str shown = text_fit(value->as.str, TEXT_QUOTED, style->string_columns);

    return text_columns(shown, TEXT_QUOTED) + 2;
}

static bool put_elements(FILE *out, const gufo_array *array, const value_style *style,
                         unsigned depth, size_t *used);

static bool put_element(FILE *out, const gufo_value *value, const value_style *style,
                        unsigned depth, size_t *used)
{
    bool sound = true;

    if (value->type == GUFO_VALUE_STRING) {
        putc('"', out);
        text_put_cut(out, value->as.str, TEXT_QUOTED, style->string_columns);
        putc('"', out);
    } else if (value->type == GUFO_VALUE_ARRAY) {
        putc('[', out);
        sound = put_elements(out, &value->as.array, style, depth + 1, used);
        putc(']', out);
    } else {
        value_put_number(out, value);
    }
    return sound;
}

/* As many elements as the limit and the columns allow, at least one if there is one, then "...". */
static bool put_elements(FILE *out, const gufo_array *array, const value_style *style,
                         unsigned depth, size_t *used)
{
    static const char separator[] = ", ", more[] = "...";
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;
    uint64_t put = 0;
    bool sound = depth <= GUFO_MAX_DEPTH;

    while (sound && put < style->limit && !ferror(out) && gufo_array_next(&iter, &element)) {
        size_t taken = element_columns(&element, style) + sizeof separator - 1;

        if (put > 0 && *used + taken + sizeof more - 1 > style->array_columns)
            break;
        if (put > 0)
            fputs(separator, out);
        *used += taken;
        put++;
        sound = put_element(out, &element, style, depth, used);
    }
    if (put < array->count)
        fprintf(out, "%s%s", put > 0 ? separator : "", more);
    return sound && !iter.changed;
}

bool value_put_line(FILE *out, const gufo_value *value, const value_style *style)
{
    size_t used;

    if (value->type == GUFO_VALUE_STRING) {
        put_string(out, value->as.str, style->columns);
        return true;
    }
    if (value->type != GUFO_VALUE_ARRAY)
        return put_element(out, value, style, 0, &used);
    used = (size_t)fprintf(out, "[%s] ", human_grouped(value->as.array.count).text);
    return put_elements(out, &value->as.array, style, 1, &used);
}
