/* Values of expressions as values of keys: checked numbers of the types that GGUF has. */
#include "import/architectures/configuration/key_values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- types ----------------------------------------------------------------------------------- */

/* A type, and how a value gets into an array of the C type of its elements. */
typedef struct type_row {
    const char *name;
    gufo_value_type type;
    size_t size;
    int64_t least, most; /* of whole numbers */
} type_row;

static const type_row types[] = {
    {"u32", GUFO_VALUE_UINT32, sizeof(uint32_t), 0, UINT32_MAX},
    {"i32", GUFO_VALUE_INT32, sizeof(int32_t), INT32_MIN, INT32_MAX},
    {"u64", GUFO_VALUE_UINT64, sizeof(uint64_t), 0, INT64_MAX},
    {"i64", GUFO_VALUE_INT64, sizeof(int64_t), INT64_MIN, INT64_MAX},
    {"f32", GUFO_VALUE_FLOAT32, sizeof(float), 0, 0},
    {"bool", GUFO_VALUE_BOOL, sizeof(bool), 0, 0},
    {"str", GUFO_VALUE_STRING, sizeof(gufo_str), 0, 0},
};

/* "u32", or "arr[u32]" of an array; NULL: the tables have no such type. */
static const type_row *find_type(const char *name, bool *is_array)
{
    gufo_str type = gufo_str_of(name);

    *is_array = str_begins(type, "arr[") && str_ends(type, "]");
    if (*is_array)
        type = (gufo_str){type.data + 4, type.len - 5};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gufo_str_equal(type, gufo_str_of(types[i].name)))
            return &types[i];
    return NULL;
}

bool key_type_exists(const char *type)
{
    bool is_array;

    return find_type(type, &is_array) != NULL;
}

gufo_value_type key_type_of(const char *type, gufo_value_type *elements)
{
    bool is_array;
    const type_row *row = find_type(type, &is_array);

    *elements = row != NULL ? row->type : GUFO_VALUE_UINT8;
    return is_array ? GUFO_VALUE_ARRAY : *elements;
}

/* ---- values ---------------------------------------------------------------------------------- */

static gufo_status whole_number(const type_row *type, const term *t, gufo_value *out,
                                gufo_error *error)
{
    int64_t number;
    gufo_status status = term_integer(t, &number, error);

    if (status != GUFO_OK)
        return status;
    if (number < type->least || number > type->most)
        return term_outside(t, number, type->least, type->most, error);
    if (type->least == 0)
        out->as.u = (uint64_t)number;
    else
        out->as.i = number;
    return GUFO_OK;
}

static gufo_status real_number(const term *t, gufo_value *out, gufo_error *error)
{
    if (!term_is_number(t))
        return term_wrong(t, "a number", error);
    out->as.f = term_as_real(t);
    if (fabs(out->as.f) == DBL_MAX) { /* quantile(0) and quantile(1) */
        out->as.f = copysign(INFINITY, out->as.f);
        return GUFO_OK;
    }
    return isfinite((float)out->as.f) ? GUFO_OK : term_too_large(t, error);
}

/* A value for a single key, or for an element. */
static gufo_status convert(const type_row *type, const term *t, gufo_value *out, gufo_error *error)
{
    *out = (gufo_value){.type = type->type};
    switch (type->type) {
    case GUFO_VALUE_FLOAT32:
        return real_number(t, out, error);
    case GUFO_VALUE_BOOL:
        out->as.b = t->truth;
        return t->kind == TERM_BOOL ? GUFO_OK : term_wrong(t, "true or false", error);
    case GUFO_VALUE_STRING:
        out->as.str = t->text;
        return t->kind == TERM_TEXT ? GUFO_OK : term_wrong(t, "a text", error);
    default:
        return whole_number(type, t, out, error);
    }
}

static void store(const gufo_value *value, void *element)
{
    switch (value->type) {
    case GUFO_VALUE_UINT32:
        *(uint32_t *)element = (uint32_t)value->as.u;
        break;
    case GUFO_VALUE_INT32:
        *(int32_t *)element = (int32_t)value->as.i;
        break;
    case GUFO_VALUE_FLOAT32:
        *(float *)element = (float)value->as.f;
        break;
    case GUFO_VALUE_BOOL:
        *(bool *)element = value->as.b;
        break;
    case GUFO_VALUE_STRING:
        *(gufo_str *)element = value->as.str;
        break;
    default: /* 64 bits; the sign makes no difference to the bytes */
        *(uint64_t *)element = value->as.u;
    }
}

static gufo_status set_list(gufo_document *document, const char *key, const type_row *type,
                            const term *list, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_items items = {.type = type->type, .count = json_array_size(list->json)};
    char *elements = mem_array(allocator, items.count, type->size);
    gufo_status status = elements != NULL || items.count == 0 ? GUFO_OK : fail_memory(error);

    for (size_t i = 0; i < items.count && status == GUFO_OK; i++) {
        term element = term_of_json(json_array_get(list->json, i));
        gufo_value value;

        element.source = list->source;
        status = convert(type, &element, &value, error);
        if (status == GUFO_OK)
            store(&value, elements + i * type->size);
    }
    items.items = elements;
    if (status == GUFO_OK && items.count > 0)
        status = gufo_document_set_array(document, key, &items, error);
    mem_free(allocator, elements);
    return status;
}

gufo_status key_value_set(gufo_document *document, gufo_str key, const char *type,
                          const term *value, const gufo_allocator *allocator, gufo_error *error)
{
    bool is_array;
    const type_row *row = find_type(type, &is_array), *signed_row = &types[1];
    gufo_value single;
    gufo_status status;

    if (row == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "a table has the type %s", type);
    if (is_array && value->kind != TERM_LIST)
        return term_wrong(value, "a list", error);
    if (!is_array && value->kind == TERM_LIST && json_array_size(value->json) == 0)
        return term_wrong(value, "a number", error);
    /* Numbers of blocks are stored with a sign. */
    if (value->kind == TERM_LIST)
        return set_list(document, key.data,
                        !is_array && row->type == GUFO_VALUE_UINT32 ? signed_row : row, value,
                        allocator, error);
    status = convert(row, value, &single, error);
    return status == GUFO_OK ? gufo_document_set(document, key, &single, error) : status;
}
