/* Metadata values for machines and for people.
 *
 * Walks go through arrays from front to back as stored in the file. */
#include "cli/core/values/value.h"

#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"

#include "gufo/print.h"

/* ---- JSON ----------------------------------------------------------------------------------- */

void value_write_members(json_writer *j, const gufo_value *value, uint64_t limit)
{
    json_write_value(j, NULL, value, GUFO_VALUE_JSON_MEMBERS, limit);
}

void value_write_json(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    json_write_value(j, key, value, GUFO_VALUE_JSON_TYPED, limit);
}

void value_write_plain(json_writer *j, const char *key, const gufo_value *value, uint64_t limit)
{
    json_write_value(j, key, value, GUFO_VALUE_JSON_PLAIN, limit);
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
        return value_number_text(text, value);
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

enum { MOST_LEVELS = 16, GUESSED_COLUMNS = 16 }; /* of arrays of arrays; of an array */

/* Writes as many elements as the limit and the columns allow, at least the first one, then "...". */
static bool put_elements(FILE *out, const gufo_array *array, const value_style *style, size_t *used,
                         unsigned level)
{
    gufo_array_iter iter = gufo_array_start(array);
    bool sound = true, is_nested = array->type == GUFO_VALUE_ARRAY;
    gufo_value element;
    uint64_t put = 0;

    while (put < style->limit && level < MOST_LEVELS && gufo_array_next(&iter, &element) &&
           take_room(out, style, put,
                     is_nested ? GUESSED_COLUMNS : element_columns(&element, style), used)) {
        if (is_nested) {
            putc('[', out);
            sound = put_elements(out, &element.as.array, style, used, level + 1) && sound;
            putc(']', out);
        } else {
            put_scalar(out, &element, style);
        }
        put++;
    }
    if (put < array->count)
        put_rest(out, put);
    return sound && !iter.changed;
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
    return put_elements(out, &value->as.array, style, &used, 0);
}
