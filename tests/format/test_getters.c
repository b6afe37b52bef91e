/* Typed access: every value type asked for as every other. */
#include "../support/openers.h"

/* One value of each kind that matters, and what the getters make of it. */
typedef struct getter_row {
    gufo_value_type type;
    uint64_t bits; /* as stored */
    gufo_status as_u64;
    uint64_t u;
    gufo_status as_i64;
    int64_t i;
} getter_row;

static const getter_row rows[] = {
    {GUFO_VALUE_UINT8, 200, GUFO_OK, 200, GUFO_OK, 200},
    {GUFO_VALUE_INT8, 0x7f, GUFO_OK, 127, GUFO_OK, 127},
    {GUFO_VALUE_INT8, 0x80, GUFO_E_RANGE, 0, GUFO_OK, -128},
    {GUFO_VALUE_UINT16, 65535, GUFO_OK, 65535, GUFO_OK, 65535},
    {GUFO_VALUE_INT16, 0xffff, GUFO_E_RANGE, 0, GUFO_OK, -1},
    {GUFO_VALUE_INT16, 0x7fff, GUFO_OK, 32767, GUFO_OK, 32767},
    {GUFO_VALUE_UINT32, 0xffffffff, GUFO_OK, 4294967295, GUFO_OK, 4294967295},
    {GUFO_VALUE_INT32, 0x80000000, GUFO_E_RANGE, 0, GUFO_OK, INT32_MIN},
    {GUFO_VALUE_INT32, 5, GUFO_OK, 5, GUFO_OK, 5},
    {GUFO_VALUE_UINT64, UINT64_MAX, GUFO_OK, UINT64_MAX, GUFO_E_RANGE, 0},
    {GUFO_VALUE_UINT64, INT64_MAX, GUFO_OK, INT64_MAX, GUFO_OK, INT64_MAX},
    {GUFO_VALUE_UINT64, UINT64_C(1) << 63, GUFO_OK, UINT64_C(1) << 63, GUFO_E_RANGE, 0},
    {GUFO_VALUE_INT64, UINT64_MAX, GUFO_E_RANGE, 0, GUFO_OK, -1},
    {GUFO_VALUE_INT64, INT64_MAX, GUFO_OK, INT64_MAX, GUFO_OK, INT64_MAX},
    {GUFO_VALUE_FLOAT32, 0x40000000, GUFO_E_TYPE, 0, GUFO_E_TYPE, 0},
    {GUFO_VALUE_FLOAT64, 0, GUFO_E_TYPE, 0, GUFO_E_TYPE, 0},
    {GUFO_VALUE_BOOL, 1, GUFO_E_TYPE, 0, GUFO_E_TYPE, 0},
};

static gufo_model *open_rows(builder *b, encoding e)
{
    char key[16];

    *b = builder_new(e);
    builder_header(b, 0, COUNT_OF(rows) + 2);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        snprintf(key, sizeof key, "k%zu", i);
        builder_key(b, key, rows[i].type);
        builder_number(b, rows[i].bits, gufo_value_type_size(rows[i].type));
    }
    builder_kv_str(b, "text", "12");
    builder_kv_array(b, "list", GUFO_VALUE_UINT8, 1);
    builder_u8(b, 1);
    return open_built(b, encoding_name(e));
}

static void check_row(const gufo_model *file, const getter_row *row, size_t index)
{
    gufo_error error = no_error();
    char key[16];
    uint64_t u = 77;
    int64_t i = 77;
    double f = 77;
    bool b = false, is_float = row->type == GUFO_VALUE_FLOAT32 || row->type == GUFO_VALUE_FLOAT64;
    bool is_bool = row->type == GUFO_VALUE_BOOL;
    gufo_str text = {"left alone", 10};

    snprintf(key, sizeof key, "k%zu", index);
    check_status(gufo_model_get_u64(file, key, &u, &error), row->as_u64, &error, "row %zu", index);
    check_u64(u, row->as_u64 == GUFO_OK ? row->u : 77, "row %zu", index);
    check_status(gufo_model_get_i64(file, key, &i, &error), row->as_i64, &error, "row %zu", index);
    check(i == (row->as_i64 == GUFO_OK ? row->i : 77), "row %zu", index);
    check_status(gufo_model_get_f64(file, key, &f, &error), is_float ? GUFO_OK : GUFO_E_TYPE,
                 &error, "row %zu", index);
    check(is_float || f == 77, "row %zu", index);
    check_status(gufo_model_get_bool(file, key, &b, &error), is_bool ? GUFO_OK : GUFO_E_TYPE,
                 &error, "row %zu", index);
    check_status(gufo_model_get_str(file, key, &text, &error), GUFO_E_TYPE, &error, "row %zu",
                 index);
    check_error_shape(&error, GUFO_E_TYPE, key);
    check_str(text, "left alone", "row %zu", index);
}

static void test_numbers(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b;
        gufo_model *file = open_rows(&b, all_encodings[e]);

        for (size_t i = 0; i < COUNT_OF(rows); i++)
            check_row(file, &rows[i], i);
        gufo_model_free(file);
        builder_free(&b);
    }
}

static void test_strings_and_arrays(void **state)
{
    builder b;
    gufo_model *file = open_rows(&b, (encoding){3, false});
    gufo_error error = no_error();
    gufo_array array;
    gufo_str text;
    uint64_t u;
    int64_t i;
    double f;
    bool v;

    (void)state;
    check_ok(gufo_model_get_str(file, "text", &text, &error), &error, "text");
    check_str(text, "12", "text");
    check_status(gufo_model_get_u64(file, "text", &u, &error), GUFO_E_TYPE, &error,
                 "text as number");
    check_status(gufo_model_get_i64(file, "text", &i, &error), GUFO_E_TYPE, &error,
                 "text as number");
    check_status(gufo_model_get_f64(file, "text", &f, &error), GUFO_E_TYPE, &error,
                 "text as number");
    check_status(gufo_model_get_bool(file, "text", &v, &error), GUFO_E_TYPE, &error,
                 "text as bool");
    check_status(gufo_model_get_array(file, "text", GUFO_VALUE_STRING, &array, &error), GUFO_E_TYPE,
                 &error, "text as array");
    check_ok(gufo_model_get_array(file, "list", GUFO_VALUE_UINT8, &array, &error), &error, "list");
    check_status(gufo_model_get_array(file, "list", GUFO_VALUE_INT8, &array, &error), GUFO_E_TYPE,
                 &error, "list of another type");
    check_status(gufo_model_get_array(file, "k0", GUFO_VALUE_UINT8, &array, &error), GUFO_E_TYPE,
                 &error, "number as array");
    check_status(gufo_model_get_u64(file, "list", &u, &error), GUFO_E_TYPE, &error,
                 "list as number");
    check_status(gufo_model_get_str(file, "list", &text, &error), GUFO_E_TYPE, &error,
                 "list as text");
    gufo_model_free(file);
    builder_free(&b);
}

static void test_absent(void **state)
{
    builder b;
    gufo_model *file = open_rows(&b, (encoding){3, false});
    gufo_error error = no_error();
    gufo_array array;
    gufo_str text;
    uint64_t u = 3;
    int64_t i;
    double f;
    bool v;

    (void)state;
    check_status(gufo_model_get_u64(file, "k", &u, &error), GUFO_E_NOT_FOUND, &error, "u64");
    check_error_shape(&error, GUFO_E_NOT_FOUND, "absent");
    check_u64(u, 3, "left alone");
    check_status(gufo_model_get_i64(file, "", &i, NULL), GUFO_E_NOT_FOUND, NULL, "i64");
    check_status(gufo_model_get_f64(file, "K0", &f, NULL), GUFO_E_NOT_FOUND, NULL, "f64");
    check_status(gufo_model_get_bool(file, "k00", &v, NULL), GUFO_E_NOT_FOUND, NULL, "bool");
    check_status(gufo_model_get_str(file, "tex", &text, NULL), GUFO_E_NOT_FOUND, NULL, "str");
    check_status(gufo_model_get_array(file, "lists", GUFO_VALUE_UINT8, &array, NULL),
                 GUFO_E_NOT_FOUND, NULL, "array");
    gufo_model_free(file);
    builder_free(&b);
}

/* Floats keep every bit that a double can hold. */
static void test_floats(void **state)
{
    static const struct {
        gufo_value_type type;
        uint64_t bits;
        double expected;
    } floats[] = {
        {GUFO_VALUE_FLOAT32, 0x3f800000, 1.0},
        {GUFO_VALUE_FLOAT32, 0x00000001, 0x1p-149},
        {GUFO_VALUE_FLOAT32, 0x7f7fffff, 0x1.fffffep127},
        {GUFO_VALUE_FLOAT32, 0x80000000, -0.0},
        {GUFO_VALUE_FLOAT64, UINT64_C(0x7fefffffffffffff), 0x1.fffffffffffffp1023},
        {GUFO_VALUE_FLOAT64, UINT64_C(1), 0x0.0000000000001p-1022},
    };

    (void)state;
    for (size_t n = 0; n < COUNT_OF(floats) * 2; n++) {
        size_t i = n / 2;
        builder b = builder_new((encoding){3, n % 2 == 1});
        gufo_error error = no_error();
        gufo_model *file;
        double got = 0;

        builder_header(&b, 0, 1);
        builder_key(&b, "f", floats[i].type);
        builder_number(&b, floats[i].bits, gufo_value_type_size(floats[i].type));
        file = open_built(&b, "float");
        check_ok(gufo_model_get_f64(file, "f", &got, &error), &error, "row %zu", i);
        check(memcmp(&got, &floats[i].expected, sizeof got) == 0, "row %zu", i);
        gufo_model_free(file);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings_and_arrays),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_floats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
