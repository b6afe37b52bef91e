/* What is beside the tables of the library: types of values, and advice. */
#include "cli/inspect/catalogue.h"

#include "gufo/format.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void catalogue_put_number(catalogue_row *row, size_t cell, uint64_t number)
{
    snprintf(row->numbers[cell], sizeof row->numbers[cell], "%" PRIu64, number);
    row->cells[cell] = row->numbers[cell];
}

/* ---- advice --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} advice[] = {
#define ADVICE(name, text) {#name, text},
#include "cli/inspect/type_advice.def"
#undef ADVICE
};

const char *catalogue_advice(const char *type)
{
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (strcmp(advice[i].name, type) == 0)
            return advice[i].text;
    return "";
}

/* ---- types of values ------------------------------------------------------------------------ */

static const char *const value_texts[GUFO_VALUE_TYPE_COUNT] = {
    [GUFO_VALUE_UINT8] = "0 to 255",
    [GUFO_VALUE_INT8] = "-128 to 127",
    [GUFO_VALUE_UINT16] = "0 to 65535",
    [GUFO_VALUE_INT16] = "-32768 to 32767",
    [GUFO_VALUE_UINT32] = "0 to 4294967295",
    [GUFO_VALUE_INT32] = "-2147483648 to 2147483647",
    [GUFO_VALUE_FLOAT32] = "IEEE 754, about 7 digits",
    [GUFO_VALUE_BOOL] = "a byte that is 0 or 1",
    [GUFO_VALUE_STRING] = "a length in 64 bits (32 in version 1), and so many bytes of UTF-8",
    [GUFO_VALUE_ARRAY] = "the type of its elements, their number, and the elements",
    [GUFO_VALUE_UINT64] = "0 to 18446744073709551615",
    [GUFO_VALUE_INT64] = "-9223372036854775808 to 9223372036854775807",
    [GUFO_VALUE_FLOAT64] = "IEEE 754, about 16 digits",
};

size_t catalogue_value_type_count(void)
{
    return GUFO_VALUE_TYPE_COUNT;
}

bool catalogue_value_type_row(size_t index, catalogue_row *out)
{
    size_t bytes;

    if (index >= GUFO_VALUE_TYPE_COUNT)
        return false;
    bytes = gufo_value_type_size((gufo_value_type)index);
    *out = (catalogue_row){
        .cells = {gufo_value_type_name((gufo_value_type)index), "", "", value_texts[index]}};
    catalogue_put_number(out, 1, index);
    if (bytes > 0)
        catalogue_put_number(out, 2, bytes);
    if (index == GUFO_VALUE_ARRAY)
        out->example = "gufo edit --set-json=KEY=uint32:[1,2] FILE";
    return true;
}
