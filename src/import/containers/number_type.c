/* The element types of the frameworks, as a table.
 *
 * Source: the specification of safetensors; the storage classes and dtypes of PyTorch. */
#include "import/containers/number_type.h"

static const number_type numbers[] = {
    {"F64", "float64", "Double", 64, NUMBER_FLOAT, GUFO_TYPE_F64},
    {"F32", "float32", "Float", 32, NUMBER_FLOAT, GUFO_TYPE_F32},
    {"F16", "float16", "Half", 16, NUMBER_FLOAT, GUFO_TYPE_F16},
    {"BF16", "bfloat16", "BFloat16", 16, NUMBER_FLOAT, GUFO_TYPE_BF16},
    {"I64", "int64", "Long", 64, NUMBER_SIGNED, GUFO_TYPE_I64},
    {"I32", "int32", "Int", 32, NUMBER_SIGNED, GUFO_TYPE_I32},
    {"I16", "int16", "Short", 16, NUMBER_SIGNED, GUFO_TYPE_I16},
    {"I8", "int8", "Char", 8, NUMBER_SIGNED, GUFO_TYPE_I8},
    {"U64", "uint64", NULL, 64, NUMBER_UNSIGNED, -1},
    {"U32", "uint32", NULL, 32, NUMBER_UNSIGNED, -1},
    {"U16", "uint16", NULL, 16, NUMBER_UNSIGNED, -1},
    {"U8", "uint8", "Byte", 8, NUMBER_UNSIGNED, -1},
    {"BOOL", "bool", "Bool", 8, NUMBER_BOOL, -1},
    {"F8_E4M3", "float8_e4m3fn", NULL, 8, NUMBER_FLOAT, -1},
    {"F8_E5M2", "float8_e5m2", NULL, 8, NUMBER_FLOAT, -1},
    {"F8_E8M0", "float8_e8m0fnu", NULL, 8, NUMBER_FLOAT, -1},
    {"C64", "complex64", "ComplexFloat", 64, NUMBER_OTHER, -1},
    {"F4", NULL, NULL, 4, NUMBER_OTHER, -1},
    {"F6_E2M3", NULL, NULL, 6, NUMBER_OTHER, -1},
    {"F6_E3M2", NULL, NULL, 6, NUMBER_OTHER, -1},
};

enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

const number_type *number_at(size_t index)
{
    return index < NUMBER_COUNT ? &numbers[index] : NULL;
}

static bool is_called(gufo_str name, const char *known)
{
    return known != NULL && gufo_str_equal(name, gufo_str_of(known));
}

const number_type *number_by_name(gufo_str name)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(name, numbers[i].name))
        i++;
    return number_at(i);
}

const number_type *number_by_dtype(gufo_str dtype)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(dtype, numbers[i].dtype))
        i++;
    return number_at(i);
}

const number_type *number_by_storage(gufo_str storage)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(storage, numbers[i].storage))
        i++;
    return number_at(i);
}
