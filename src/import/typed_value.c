/* Typed values to and from JSON; typed_value.h has the forms. */
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "gufo/value.h"
#include "import/json_file.h"
#include "import/typed_value.h"
#include "base/base64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A float32 is one of many decimal numbers that are read as it. */
double shortest_real(float number)
{
    char text[GUFO_NUMBER_SIZE];
    double shortest = (double)number;

    if (isfinite(number))
        (void)real_read((gufo_str){text, gufo_number_f32(text, number)}, &shortest);
    return shortest;
}

enum { MAX_DEPTH = 16, WRITTEN_DIGITS = 9, LONGEST_TEXT = 40 };

/* Numbers that a double holds, and with it every reader of JSON. */
static const int64_t safe_integer = (int64_t)1 << 53;

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *integer_json(int64_t number)
{
    char digits[GUFO_NUMBER_SIZE];

    if (number <= safe_integer && number >= -safe_integer)
        return json_integer(number);
    (void)gufo_number_i64(digits, number);
    return json_string(digits);
}

static json_t *unsigned_json(uint64_t number)
{
    char digits[GUFO_NUMBER_SIZE];

    if (number <= (uint64_t)safe_integer)
        return json_integer((json_int_t)number);
    (void)gufo_number_u64(digits, number);
    return json_string(digits);
}

/* With at most as many digits as the writer of the file gives; with more as a text. */
static json_t *real_json(double number, bool is_float)
{
    char digits[GUFO_NUMBER_SIZE];
    int exponent;

    if (isnan(number))
        return json_string("nan");
    if (isinf(number))
        return json_string(number > 0 ? "inf" : "-inf");
    if (is_float)
        return json_real(shortest_real((float)number));
    if (number_shortest(number, digits, &exponent) <= WRITTEN_DIGITS)
        return json_real(number);
    (void)gufo_number_f64(digits, number);
    return json_string(digits);
}

static json_t *text_json(gufo_str text)
{
    buffer letters = {.allocator = &default_allocator};
    json_t *json = NULL;

    if (gufo_utf8_valid_prefix(text) == text.len && memchr(text.data, '\0', text.len) == NULL)
        return json_stringn(text.data, text.len);
    if (base64_write((const uint8_t *)text.data, text.len, &letters))
        json = json_pack("{s:s%}", "base64", (const char *)letters.data, letters.len);
    buffer_free(&letters);
    return json;
}

static json_t *typed_json(const gufo_value *value, unsigned depth);

static json_t *element_json(const gufo_value *value, unsigned depth)
{
    switch (value->type) {
    case GUFO_VALUE_BOOL:
        return json_boolean(value->as.b);
    case GUFO_VALUE_STRING:
        return text_json(value->as.str);
    case GUFO_VALUE_ARRAY:
        return typed_json(value, depth + 1);
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return real_json(value->as.f, value->type == GUFO_VALUE_FLOAT32);
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        return integer_json(value->as.i);
    default:
        return unsigned_json(value->as.u);
    }
}

static json_t *array_json(const gufo_array *array, unsigned depth)
{
    gufo_array_iter iter = gufo_array_start(array);
    json_t *list = json_array();
    gufo_value element;

    while (list != NULL && gufo_array_next(&iter, &element))
        if (json_array_append_new(list, element_json(&element, depth)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* `depth`: of arrays around it. */
static json_t *typed_json(const gufo_value *value, unsigned depth)
{
    bool is_array = value->type == GUFO_VALUE_ARRAY;
    gufo_value_type type = is_array ? value->as.array.type : value->type;

    if (depth > MAX_DEPTH)
        return NULL;
    return json_pack("{s:s, s:o}", "type", gufo_value_type_name(type), "value",
                     is_array ? array_json(&value->as.array, depth) : element_json(value, depth));
}

json_t *typed_value_json(const gufo_value *value)
{
    return typed_json(value, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Memory that a value needs until it is set. */
typedef struct typed_reading {
    void **blocks;
    uint64_t count, room;
    typed_value_file *read;
    void *context;
    const char *key;
    gufo_error *error;
} typed_reading;

static gufo_status fail(const typed_reading *r, gufo_status code, const char *what)
{
    return refuse(r->error, code, "%s: %s", QUOTED(gufo_str_of(r->key)), what);
}

/* Keeps a block, which may be NULL for want of memory, until all is done. */
static gufo_status keep(typed_reading *r, void *block)
{
    void **blocks = mem_grow(&default_allocator, r->blocks, r->count, &r->room, sizeof *r->blocks);

    if (blocks != NULL)
        r->blocks = blocks;
    if (blocks == NULL || block == NULL) {
        mem_free(&default_allocator, block);
        return fail_memory(r->error);
    }
    blocks[r->count++] = block;
    return GUFO_OK;
}

static void free_blocks(typed_reading *r)
{
    for (uint64_t i = 0; i < r->count; i++)
        mem_free(&default_allocator, r->blocks[i]);
    mem_free(&default_allocator, r->blocks);
}

/* The range of each whole type. */
static const struct whole_row {
    gufo_value_type type;
    int64_t least;
    uint64_t most;
} wholes[] = {
    {GUFO_VALUE_UINT8, 0, UINT8_MAX},   {GUFO_VALUE_INT8, INT8_MIN, INT8_MAX},
    {GUFO_VALUE_UINT16, 0, UINT16_MAX}, {GUFO_VALUE_INT16, INT16_MIN, INT16_MAX},
    {GUFO_VALUE_UINT32, 0, UINT32_MAX}, {GUFO_VALUE_INT32, INT32_MIN, INT32_MAX},
    {GUFO_VALUE_UINT64, 0, UINT64_MAX}, {GUFO_VALUE_INT64, INT64_MIN, INT64_MAX},
};

static const struct whole_row *find_whole(gufo_value_type type)
{
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (wholes[i].type == type)
            return &wholes[i];
    return NULL;
}

/* The size of a number and whether it is below 0: of digits, or of a whole number of JSON. */
static bool magnitude(const json_t *json, uint64_t *size, bool *negative)
{
    gufo_str digits = json_str(json);
    json_int_t number = json_integer_value(json);

    if (json_is_integer(json)) {
        *negative = number < 0;
        *size = *negative ? ~(uint64_t)number + 1 : (uint64_t)number;
        return true;
    }
    *negative = str_begins(digits, "-");
    digits = str_from(digits, *negative);
    return digits.len > 0 && str_digits(digits, 0) == digits.len && str_number(digits, size);
}

static gufo_status read_whole(const typed_reading *r, const struct whole_row *row,
                              const json_t *json, gufo_value *out)
{
    uint64_t size, least = ~(uint64_t)row->least + 1;
    bool negative;

    if (!magnitude(json, &size, &negative))
        return fail(r, GUFO_E_MALFORMED, "a whole number is needed");
    if (size > (negative ? least : row->most))
        return fail(r, GUFO_E_RANGE, "a number that its type does not hold");
    if (row->least == 0)
        out->as.u = size;
    else
        out->as.i = negative ? (int64_t)(~size + 1) : (int64_t)size;
    return GUFO_OK;
}

/* A real that JSON cannot have, or not with nine digits. */
static bool real_of_text(gufo_str text, double *out)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    char *end;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gufo_str_equal(text, gufo_str_of(names[i].name))) {
            *out = names[i].value;
            return true;
        }
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.data[i]) && strchr("+-.e", text.data[i]) == NULL)
            return false;
    *out = text.len > 0 && text.len < LONGEST_TEXT ? strtod(text.data, &end) : 0;
    return text.len > 0 && text.len < LONGEST_TEXT && end == text.data + text.len;
}

static gufo_status read_real(const typed_reading *r, const json_t *json, gufo_value *out)
{
    if (json_is_number(json))
        out->as.f = json_number_value(json);
    else if (!real_of_text(json_str(json), &out->as.f))
        return fail(r, GUFO_E_MALFORMED, "a number is needed");
    if (out->type == GUFO_VALUE_FLOAT32 && isfinite(out->as.f) && !isfinite((float)out->as.f))
        return fail(r, GUFO_E_RANGE, "a number that float32 does not hold");
    return GUFO_OK;
}

static gufo_status read_text(typed_reading *r, const json_t *json, gufo_str *out)
{
    gufo_str letters = json_str(json_object_get(json, "base64"));
    buffer bytes = {.allocator = &default_allocator};
    bool memory = true;
    gufo_status status = GUFO_OK;

    *out = json_str(json);
    if (json_is_string(json))
        return GUFO_OK;
    if (!json_is_string(json_object_get(json, "base64")) || json_object_size(json) != 1)
        return fail(r, GUFO_E_MALFORMED, "a text is needed");
    if (!base64_read(letters, &bytes, &memory))
        status = fail(r, GUFO_E_MALFORMED, "not base64");
    if (!memory)
        status = fail_memory(r->error);
    *out = (gufo_str){bytes.len > 0 ? (const char *)bytes.data : "", bytes.len};
    if (status == GUFO_OK && bytes.data != NULL)
        return keep(r, bytes.data);
    buffer_free(&bytes);
    return status;
}

/* A value that is not an array. */
static gufo_status read_single(typed_reading *r, const json_t *json, gufo_value *out)
{
    const struct whole_row *whole = find_whole(out->type);

    if (whole != NULL)
        return read_whole(r, whole, json, out);
    if (out->type == GUFO_VALUE_STRING)
        return read_text(r, json, &out->as.str);
    if (out->type != GUFO_VALUE_BOOL)
        return read_real(r, json, out);
    out->as.b = json_is_true(json);
    return json_is_boolean(json) ? GUFO_OK : fail(r, GUFO_E_MALFORMED, "true or false is needed");
}

/* ---- elements -------------------------------------------------------------------------------- */

void typed_value_store(const gufo_value *value, void *element)
{
    const uint64_t bits = value->as.u;

    switch (value->type) {
    case GUFO_VALUE_FLOAT32:
        *(float *)element = (float)value->as.f;
        break;
    case GUFO_VALUE_FLOAT64:
        *(double *)element = value->as.f;
        break;
    case GUFO_VALUE_BOOL:
        *(bool *)element = value->as.b;
        break;
    case GUFO_VALUE_STRING:
        *(gufo_str *)element = value->as.str;
        break;
    case GUFO_VALUE_UINT8:
    case GUFO_VALUE_INT8:
        *(uint8_t *)element = (uint8_t)bits;
        break;
    case GUFO_VALUE_UINT16:
    case GUFO_VALUE_INT16:
        *(uint16_t *)element = (uint16_t)bits;
        break;
    case GUFO_VALUE_UINT32:
    case GUFO_VALUE_INT32:
        *(uint32_t *)element = (uint32_t)bits;
        break;
    default:
        *(uint64_t *)element = bits;
    }
}

static size_t size_of(gufo_value_type type)
{
    if (type == GUFO_VALUE_STRING)
        return sizeof(gufo_str);
    if (type == GUFO_VALUE_ARRAY)
        return sizeof(gufo_items);
    return type == GUFO_VALUE_BOOL ? sizeof(bool) : gufo_value_type_size(type);
}

static gufo_status read_items(typed_reading *r, const json_t *json, unsigned depth,
                              gufo_items *out);

static gufo_status read_element(typed_reading *r, gufo_value_type type, const json_t *json,
                                unsigned depth, void *element)
{
    gufo_value value = {.type = type};
    gufo_status status;

    if (type == GUFO_VALUE_ARRAY)
        return read_items(r, json, depth + 1, element);
    status = read_single(r, json, &value);
    if (status == GUFO_OK)
        typed_value_store(&value, element);
    return status;
}

static gufo_status type_of(const typed_reading *r, const json_t *json, gufo_value_type *out)
{
    const char *name = json_string_value(json_object_get(json, "type"));

    if (name == NULL || json_object_size(json) != 2)
        return fail(r, GUFO_E_MALFORMED, "an object of type and value is needed");
    return gufo_value_type_by_name(name, out)
               ? GUFO_OK
               : refuse(r->error, GUFO_E_MALFORMED, "%s: no type is called %s",
                        QUOTED(gufo_str_of(r->key)), QUOTED(gufo_str_of(name)));
}

/* An object whose value is a list; `depth`: of arrays around it. */
static gufo_status read_items(typed_reading *r, const json_t *json, unsigned depth, gufo_items *out)
{
    const json_t *list = json_object_get(json, "value");
    gufo_value_type type = GUFO_VALUE_UINT8;
    gufo_status status = type_of(r, json, &type);
    size_t size = size_of(type), count = json_array_size(list);
    char *elements;

    if (status != GUFO_OK)
        return status;
    if (depth > MAX_DEPTH)
        return fail(r, GUFO_E_LIMIT, "arrays are nested too deep");
    if (!json_is_array(list))
        return fail(r, GUFO_E_MALFORMED, "an array is needed");
    elements = mem_array(&default_allocator, count, size);
    status = keep(r, elements);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = read_element(r, type, json_array_get(list, i), depth, elements + i * size);
    *out = (gufo_items){type, count, elements};
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

static gufo_status set_file(typed_reading *r, gufo_document *document, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "file"));
    gufo_value_type type = GUFO_VALUE_UINT8;
    gufo_status status = type_of(r, json, &type);
    gufo_str bytes;

    if (status == GUFO_OK && (type != GUFO_VALUE_STRING || name == NULL))
        status = fail(r, GUFO_E_MALFORMED, "only a string is in a file, which has a name");
    if (status == GUFO_OK)
        status = r->read(r->context, name, &bytes, r->error);
    return status == GUFO_OK ? gufo_document_set_str(document, r->key, bytes, r->error) : status;
}

static gufo_status set_single(typed_reading *r, gufo_document *document, const json_t *json)
{
    gufo_value value = {.type = GUFO_VALUE_UINT8};
    gufo_status status = type_of(r, json, &value.type);

    if (status == GUFO_OK && value.type == GUFO_VALUE_ARRAY)
        status = fail(r, GUFO_E_MALFORMED, "an array is needed");
    if (status == GUFO_OK)
        status = read_single(r, json_object_get(json, "value"), &value);
    return status == GUFO_OK ? gufo_document_set(document, r->key, &value, r->error) : status;
}

static gufo_status set_array(typed_reading *r, gufo_document *document, const json_t *json)
{
    gufo_items items;
    gufo_status status = read_items(r, json, 0, &items);

    return status == GUFO_OK ? gufo_document_set_array(document, r->key, &items, r->error) : status;
}

gufo_status typed_value_set(gufo_document *document, const char *key, const json_t *json,
                            typed_value_file *read, void *context, gufo_error *error)
{
    typed_reading r = {.read = read, .context = context, .key = key, .error = error};
    gufo_status status;

    if (json_object_get(json, "file") != NULL)
        status = set_file(&r, document, json);
    else if (json_is_array(json_object_get(json, "value")))
        status = set_array(&r, document, json);
    else
        status = set_single(&r, document, json);
    free_blocks(&r);
    return status;
}
