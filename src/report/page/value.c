/* Values as texts. */
#include "report/page/value.h"

#include "report/page/numbers.h"

enum { TEXT = 300, ELEMENT_TEXT = 40, ELEMENTS = 8, LEVELS = 3 };

static void put_number(page *p, const gufo_value *value)
{
    char text[GUFO_NUMBER_SIZE];
    uint64_t whole;
    int64_t number;

    if (value->type == GUFO_VALUE_BOOL)
        html(p, value->as.b ? "true" : "false");
    else if (value->type == GUFO_VALUE_FLOAT32)
        html(p, "%.*s", (int)gufo_number_f32(text, (float)value->as.f), text);
    else if (value->type == GUFO_VALUE_FLOAT64)
        html(p, "%.*s", (int)gufo_number_f64(text, value->as.f), text);
    else if (gufo_value_u64(value, &whole, NULL) == GUFO_OK)
        html(p, "%s", as_grouped(whole).text);
    else if (gufo_value_i64(value, &number, NULL) == GUFO_OK)
        html(p, "%.*s", (int)gufo_number_i64(text, number), text);
}

static void put_text(page *p, gufo_str text, size_t most)
{
    html(p, "\u201c");
    html_text(p, text, most);
    html(p, "\u201d");
}

static void put_elements(page *p, const gufo_array *array, unsigned level)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;

    for (size_t i = 0; i < ELEMENTS && level < LEVELS && gufo_array_next(&iter, &element); i++) {
        html(p, i > 0 ? ", " : "");
        if (element.type == GUFO_VALUE_STRING) {
            put_text(p, element.as.str, ELEMENT_TEXT);
        } else if (element.type == GUFO_VALUE_ARRAY) {
            html(p, "[");
            put_elements(p, &element.as.array, level + 1);
            html(p, "]");
        } else {
            put_number(p, &element);
        }
    }
    if (array->count > ELEMENTS || (level >= LEVELS && array->count > 0))
        html(p, ", …");
}

void html_value(page *p, const gufo_value *value)
{
    if (value->type == GUFO_VALUE_STRING) {
        put_text(p, value->as.str, TEXT);
        if (value->as.str.len > TEXT)
            html(p, " <small>%s</small>", as_bytes(value->as.str.len).text);
    } else if (value->type == GUFO_VALUE_ARRAY) {
        html(p, "<small>%s:</small> ",
             as_counted(value->as.array.count, "element", "elements").text);
        put_elements(p, &value->as.array, 0);
    } else {
        put_number(p, value);
    }
}

void html_value_type(page *p, const gufo_value *value)
{
    const bool is_array = value->type == GUFO_VALUE_ARRAY;
    const char *name = gufo_value_type_name(is_array ? value->as.array.type : value->type);

    html(p, "%s%s", name != NULL ? name : "unknown", is_array ? "[]" : "");
}
