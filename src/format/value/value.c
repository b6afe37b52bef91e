/* Value types and typed access (spec, gguf_metadata_value_type).
 *
 * Access never guesses: an integer is given as any integer type that can hold it, because writers
 * use uint32 and uint64 (and signed types) for the same key, but never as a float, and a float
 * never as an integer. */
#include "format/value/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

static const value_type_info value_types[GUFO_VALUE_TYPE_COUNT] = {
    [GUFO_VALUE_UINT8] = {"uint8", KIND_UNSIGNED, 1},
    [GUFO_VALUE_INT8] = {"int8", KIND_SIGNED, 1},
    [GUFO_VALUE_UINT16] = {"uint16", KIND_UNSIGNED, 2},
    [GUFO_VALUE_INT16] = {"int16", KIND_SIGNED, 2},
    [GUFO_VALUE_UINT32] = {"uint32", KIND_UNSIGNED, 4},
    [GUFO_VALUE_INT32] = {"int32", KIND_SIGNED, 4},
    [GUFO_VALUE_FLOAT32] = {"float32", KIND_FLOAT, 4},
    [GUFO_VALUE_BOOL] = {"bool", KIND_BOOL, 1},
    [GUFO_VALUE_STRING] = {"string", KIND_STRING, 0},
    [GUFO_VALUE_ARRAY] = {"array", KIND_ARRAY, 0},
    [GUFO_VALUE_UINT64] = {"uint64", KIND_UNSIGNED, 8},
    [GUFO_VALUE_INT64] = {"int64", KIND_SIGNED, 8},
    [GUFO_VALUE_FLOAT64] = {"float64", KIND_FLOAT, 8},
};

const value_type_info *value_type_row(uint32_t type)
{
    return type < GUFO_VALUE_TYPE_COUNT ? &value_types[type] : NULL;
}

const char *gufo_value_type_name(gufo_value_type type)
{
    const value_type_info *info = value_type_row((uint32_t)type);

    return info != NULL ? info->name : NULL;
}

size_t gufo_value_type_size(gufo_value_type type)
{
    const value_type_info *info = value_type_row((uint32_t)type);

    return info != NULL ? info->size : 0;
}

bool value_fits(const gufo_value *value)
{
    const value_type_info *info = value_type_row((uint32_t)value->type);
    unsigned bits = 8 * (unsigned)info->size;

    if (bits == 64 || (info->kind != KIND_UNSIGNED && info->kind != KIND_SIGNED))
        return true;
    if (info->kind == KIND_UNSIGNED)
        return value->as.u >> bits == 0;
    return value->as.i >= -((int64_t)1 << (bits - 1)) && value->as.i < (int64_t)1 << (bits - 1);
}

bool encoding_swapped(gufo_encoding encoding)
{
    return bytes_swapped(encoding.byte_order == GUFO_BIG_ENDIAN);
}

uint64_t load_length(const uint8_t *at, gufo_encoding encoding)
{
    bool swap = encoding_swapped(encoding);

    return encoding.version == 1 ? load_u32(at, swap) : load_u64(at, swap);
}

static uint64_t load_unsigned(const uint8_t *at, size_t size, bool swap)
{
    switch (size) {
    case 1:
        return *at;
    case 2:
        return load_u16(at, swap);
    case 4:
        return load_u32(at, swap);
    default:
        return load_u64(at, swap);
    }
}

static int64_t extend_sign(uint64_t bits, size_t size)
{
    unsigned unused = 64 - 8 * (unsigned)size;

    return (int64_t)(bits << unused) >> unused;
}

static double float_of(uint64_t bits, size_t size)
{
    uint32_t narrow = (uint32_t)bits;
    float single;
    double wide;

    if (size == sizeof single) {
        memcpy(&single, &narrow, sizeof single);
        return (double)single;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

gufo_value load_number(const uint8_t *at, gufo_value_type type, gufo_encoding encoding)
{
    const value_type_info *info = &value_types[type];
    uint64_t bits = load_unsigned(at, info->size, encoding_swapped(encoding));
    gufo_value value = {.type = type};

    switch (info->kind) {
    case KIND_SIGNED:
        value.as.i = extend_sign(bits, info->size);
        break;
    case KIND_FLOAT:
        value.as.f = float_of(bits, info->size);
        break;
    case KIND_BOOL:
        value.as.b = bits != 0;
        break;
    default:
        value.as.u = bits;
    }
    return value;
}

gufo_str string_text(const uint8_t *at, uint64_t len, gufo_encoding encoding)
{
    gufo_str text = {(const char *)at, (size_t)len};

    if (encoding.version == 1 && text.len > 0 && text.data[text.len - 1] == '\0')
        text.len--;
    return text;
}

/* ---- conversions ---------------------------------------------------------------------------- */

/* For a sentence. */
static const char *name_of(gufo_value_type type)
{
    const value_type_info *info = value_type_row((uint32_t)type);

    return info != NULL ? info->name : "unknown";
}

static gufo_status wrong_type(const gufo_value *value, const char *wanted, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "value has type %s, not %s", name_of(value->type), wanted);
}

static bool is_kind(const gufo_value *value, value_kind kind)
{
    const value_type_info *info = value_type_row((uint32_t)value->type);

    return info != NULL && info->kind == kind;
}

gufo_status gufo_value_u64(const gufo_value *value, uint64_t *out, gufo_error *error)
{
    if (is_kind(value, KIND_UNSIGNED))
        *out = value->as.u;
    else if (!is_kind(value, KIND_SIGNED))
        return wrong_type(value, "an integer", error);
    else if (value->as.i < 0)
        return refuse(error, GUFO_E_RANGE, "value %" PRId64 " is negative where a count is needed",
                      value->as.i);
    else
        *out = (uint64_t)value->as.i;
    return GUFO_OK;
}

gufo_status gufo_value_i64(const gufo_value *value, int64_t *out, gufo_error *error)
{
    if (is_kind(value, KIND_SIGNED))
        *out = value->as.i;
    else if (!is_kind(value, KIND_UNSIGNED))
        return wrong_type(value, "an integer", error);
    else if (value->as.u > INT64_MAX)
        return refuse(error, GUFO_E_RANGE, "value %" PRIu64 " does not fit into 63 bits",
                      value->as.u);
    else
        *out = (int64_t)value->as.u;
    return GUFO_OK;
}

#define DEFINE_PLAIN_GETTER(name, c_type, wanted, kind, member)                            \
    gufo_status gufo_value_##name(const gufo_value *value, c_type *out, gufo_error *error) \
    {                                                                                      \
        if (!is_kind(value, kind))                                                         \
            return wrong_type(value, wanted, error);                                       \
        *out = value->as.member;                                                           \
        return GUFO_OK;                                                                    \
    }

DEFINE_PLAIN_GETTER(f64, double, "a float", KIND_FLOAT, f)
DEFINE_PLAIN_GETTER(bool, bool, "bool", KIND_BOOL, b)
DEFINE_PLAIN_GETTER(str, gufo_str, "string", KIND_STRING, str)

gufo_status gufo_value_array(const gufo_value *value, gufo_value_type elements, gufo_array *out,
                             gufo_error *error)
{
    if (!is_kind(value, KIND_ARRAY))
        return wrong_type(value, "array", error);
    if (value->as.array.type != elements)
        return refuse(error, GUFO_E_TYPE, "value is an array of %s, not of %s",
                      name_of(value->as.array.type), name_of(elements));
    *out = value->as.array;
    return GUFO_OK;
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* What is too large for float32 would become an infinity. */
static bool overflows(const gufo_value *value)
{
    return value->type == GUFO_VALUE_FLOAT32 && isfinite(value->as.f) && isinf((float)value->as.f);
}

/* A float without a fraction as an integer. */
static bool float_to_integer(double number, gufo_value *out)
{
    if (!(number >= -9223372036854775808.0 && number < 18446744073709551616.0) ||
        trunc(number) != number) /* not NaN either */
        return false;
    if (number < 0)
        *out = (gufo_value){GUFO_VALUE_INT64, .as.i = (int64_t)number};
    else
        *out = (gufo_value){GUFO_VALUE_UINT64, .as.u = (uint64_t)number};
    return true;
}

/* An integer as a float whose mantissa has so many bits, if it is the same number. */
static bool integer_to_float(const gufo_value *from, unsigned bits, gufo_value *out)
{
    bool negative = is_kind(from, KIND_SIGNED) && from->as.i < 0;
    uint64_t size = negative ? 0 - (uint64_t)from->as.i : from->as.u, digits = size;

    while (digits != 0 && digits % 2 == 0)
        digits /= 2;
    *out = (gufo_value){GUFO_VALUE_FLOAT64, .as.f = negative ? -(double)size : (double)size};
    return digits >> bits == 0;
}

/* The same number or bool in the kind of `info`; false if it has none. */
static bool change_kind(gufo_value *value, const value_type_info *info)
{
    bool is_integer = is_kind(value, KIND_UNSIGNED) || is_kind(value, KIND_SIGNED);
    uint64_t number;

    if (info->kind == KIND_BOOL && gufo_value_u64(value, &number, NULL) == GUFO_OK && number <= 1)
        *value = (gufo_value){GUFO_VALUE_BOOL, .as.b = number == 1};
    else if (info->kind == KIND_FLOAT && is_integer)
        return integer_to_float(value, info->size == 4 ? 24 : 53, value);
    else if (info->kind <= KIND_SIGNED && is_kind(value, KIND_FLOAT))
        return float_to_integer(value->as.f, value);
    return true;
}

gufo_status value_convert(const gufo_value *from, gufo_value_type type, gufo_value *out,
                          gufo_error *error)
{
    const value_type_info *info = value_type_row((uint32_t)type);
    gufo_value to = {.type = type}, changed = *from;
    gufo_status status;
    bool same;

    if (info == NULL || info->kind > KIND_BOOL)
        return refuse(error, GUFO_E_ARGUMENT, "values can become numbers only");
    same = change_kind(&changed, info);
    if (info->kind == KIND_UNSIGNED)
        status = gufo_value_u64(&changed, &to.as.u, error);
    else if (info->kind == KIND_SIGNED)
        status = gufo_value_i64(&changed, &to.as.i, error);
    else if (info->kind == KIND_FLOAT)
        status = gufo_value_f64(&changed, &to.as.f, error);
    else
        status = gufo_value_bool(&changed, &to.as.b, error);
    if (!same || (status == GUFO_OK && (!value_fits(&to) || overflows(&to))))
        return refuse(error, GUFO_E_RANGE, "a number does not fit into %s", info->name);
    if (status == GUFO_OK)
        *out = to;
    return status;
}
