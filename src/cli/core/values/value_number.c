/* Numbers and bools as text: a file of its own, which the page in web/ has as well. */
#include "cli/core/values/value.h"

#include "gufo/print.h"

size_t value_number_text(char *text, const gufo_value *value)
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

void value_put_number(FILE *out, const gufo_value *value)
{
    char text[GUFO_NUMBER_SIZE];

    fwrite(text, 1, value_number_text(text, value), out);
}
