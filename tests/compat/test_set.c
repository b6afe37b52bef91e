/* Metadata through the documented C API: setting, replacing, removing, taking over. */
#include "compat.h"

/* ---- every type ----------------------------------------------------------------------------- */

static void set_all(struct gguf_context *ctx)
{
    gguf_set_val_u8(ctx, "u8", 200);
    gguf_set_val_i8(ctx, "i8", -100);
    gguf_set_val_u16(ctx, "u16", 60000);
    gguf_set_val_i16(ctx, "i16", -30000);
    gguf_set_val_u32(ctx, "u32", 4000000000u);
    gguf_set_val_i32(ctx, "i32", -2000000000);
    gguf_set_val_f32(ctx, "f32", 0.1f);
    gguf_set_val_u64(ctx, "u64", UINT64_MAX);
    gguf_set_val_i64(ctx, "i64", INT64_MIN);
    gguf_set_val_f64(ctx, "f64", 0.1);
    gguf_set_val_bool(ctx, "bool", true);
    gguf_set_val_str(ctx, "str", "text");
    gguf_set_arr_data(ctx, "numbers", GGUF_TYPE_INT16, (int16_t[]){1, -2, 3}, 3);
    gguf_set_arr_data(ctx, "bools", GGUF_TYPE_BOOL, (uint8_t[]){0, 1, 1, 0}, 4);
    gguf_set_arr_data(ctx, "nothing", GGUF_TYPE_FLOAT64, NULL, 0);
    gguf_set_arr_str(ctx, "strings", (const char *[]){"", "b", "long enough"}, 3);
    gguf_set_arr_str(ctx, "no strings", NULL, 0);
}

static void check_numbers(const struct gguf_context *ctx)
{
    check_u64(gguf_get_val_u8(ctx, gguf_find_key(ctx, "u8")), 200, "u8");
    check(gguf_get_val_i8(ctx, gguf_find_key(ctx, "i8")) == -100, "i8");
    check_u64(gguf_get_val_u16(ctx, gguf_find_key(ctx, "u16")), 60000, "u16");
    check(gguf_get_val_i16(ctx, gguf_find_key(ctx, "i16")) == -30000, "i16");
    check_u64(gguf_get_val_u32(ctx, gguf_find_key(ctx, "u32")), 4000000000u, "u32");
    check(gguf_get_val_i32(ctx, gguf_find_key(ctx, "i32")) == -2000000000, "i32");
    check(gguf_get_val_f32(ctx, gguf_find_key(ctx, "f32")) == 0.1f, "f32");
    check_u64(gguf_get_val_u64(ctx, gguf_find_key(ctx, "u64")), UINT64_MAX, "u64");
    check(gguf_get_val_i64(ctx, gguf_find_key(ctx, "i64")) == INT64_MIN, "i64");
    check(gguf_get_val_f64(ctx, gguf_find_key(ctx, "f64")) == 0.1, "f64");
    check(gguf_get_val_bool(ctx, gguf_find_key(ctx, "bool")), "bool");
    check(strcmp(gguf_get_val_str(ctx, gguf_find_key(ctx, "str")), "text") == 0, "str");
}

static void check_arrays(const struct gguf_context *ctx)
{
    int64_t numbers = gguf_find_key(ctx, "numbers"), strings = gguf_find_key(ctx, "strings");

    check_u64(gguf_get_kv_type(ctx, numbers), GGUF_TYPE_ARRAY, "numbers");
    check_u64(gguf_get_arr_type(ctx, numbers), GGUF_TYPE_INT16, "numbers");
    check_u64(gguf_get_arr_n(ctx, numbers), 3, "numbers");
    check(memcmp(gguf_get_arr_data(ctx, numbers), (int16_t[]){1, -2, 3}, 6) == 0, "numbers");
    check(memcmp(gguf_get_arr_data(ctx, gguf_find_key(ctx, "bools")), "\0\1\1\0", 4) == 0, "bools");
    check_u64(gguf_get_arr_n(ctx, gguf_find_key(ctx, "nothing")), 0, "nothing");
    check_u64(gguf_get_arr_type(ctx, gguf_find_key(ctx, "nothing")), GGUF_TYPE_FLOAT64, "nothing");
    check_u64(gguf_get_arr_n(ctx, strings), 3, "strings");
    check(strcmp(gguf_get_arr_str(ctx, strings, 0), "") == 0, "strings");
    check(strcmp(gguf_get_arr_str(ctx, strings, 2), "long enough") == 0, "strings");
    check(gguf_get_arr_str(ctx, strings, 3) == NULL, "past the end");
    check_u64(gguf_get_arr_n(ctx, gguf_find_key(ctx, "no strings")), 0, "no strings");
}

static void test_types(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();

    (void)state;
    check_u64(gguf_get_n_kv(ctx), 0, "empty");
    check_u64(gguf_get_version(ctx), 3, "empty");
    check_u64(gguf_get_alignment(ctx), 32, "empty");
    check_u64(gguf_get_data_offset(ctx), 0, "empty");
    set_all(ctx);
    check_u64(gguf_get_n_kv(ctx), 17, "all");
    check_numbers(ctx);
    check_arrays(ctx);
    set_all(ctx); /* again, in place of themselves */
    check_u64(gguf_get_n_kv(ctx), 17, "all");
    check_numbers(ctx);
    check_arrays(ctx);
    gguf_free(ctx);
}

static void test_type_names(void **state)
{
    static const char *const names[GGUF_TYPE_COUNT] = {
        "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64", "f64"};

    (void)state;
    for (int i = 0; i < GGUF_TYPE_COUNT; i++)
        check(strcmp(gguf_type_name((enum gguf_type)i), names[i]) == 0, "type %d", i);
    assert_null(gguf_type_name(GGUF_TYPE_COUNT));
    assert_null(gguf_type_name((enum gguf_type) - 1));
}

/* ---- order ---------------------------------------------------------------------------------- */

static void check_order(const struct gguf_context *ctx, const char *expected)
{
    char keys[64] = "";

    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++)
        strncat(keys, gguf_get_key(ctx, i), sizeof keys - strlen(keys) - 1);
    check(strcmp(keys, expected) == 0, "%s, not %s", keys, expected);
    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++)
        check_u64(gguf_find_key(ctx, gguf_get_key(ctx, i)), i, "%s", expected);
}

static struct gguf_context *with_keys(const char *keys, uint32_t value)
{
    struct gguf_context *ctx = gguf_init_empty();

    for (; *keys != '\0'; keys++)
        gguf_set_val_u32(ctx, (char[]){*keys, '\0'}, value);
    return ctx;
}

static void test_order(void **state)
{
    struct gguf_context *ctx = with_keys("abc", 1);

    (void)state;
    gguf_set_val_str(ctx, "a", "moved to the end, with another type");
    check_order(ctx, "bca");
    check_u64(gguf_remove_key(ctx, "c"), 1, "its id");
    check_order(ctx, "ba");
    check(gguf_remove_key(ctx, "c") == -1, "gone");
    gguf_set_val_bool(ctx, "c", false);
    gguf_set_val_bool(ctx, "c", true);
    check_order(ctx, "bac");
    for (int i = 0; i < 3; i++)
        (void)gguf_remove_key(ctx, gguf_get_key(ctx, 0));
    check_order(ctx, "");
    gguf_free(ctx);
}

/* Key and value may be those of the entry that is replaced. */
static void test_own_values(void **state)
{
    struct gguf_context *ctx = with_keys("ab", 1);
    int64_t id;

    (void)state;
    gguf_set_val_str(ctx, "s", "text");
    id = gguf_find_key(ctx, "s");
    gguf_set_val_str(ctx, gguf_get_key(ctx, id), gguf_get_val_str(ctx, id));
    id = gguf_find_key(ctx, "s");
    check(strcmp(gguf_get_val_str(ctx, id), "text") == 0, "its own text");
    gguf_set_arr_data(ctx, gguf_get_key(ctx, 0), GGUF_TYPE_UINT32, gguf_get_val_data(ctx, 0), 1);
    check_order(ctx, "bsa");
    check_u64(gguf_get_val_u32(ctx, 2), 1, "an array of one is a value");
    gguf_free(ctx);
}

/* ---- taking over ---------------------------------------------------------------------------- */

static void test_set_kv(void **state)
{
    struct gguf_context *to = with_keys("abcd", 1), *from = with_keys("xcya", 2);
    struct gguf_context *empty = gguf_init_empty();

    (void)state;
    gguf_set_kv(to, from);
    check_order(to, "bdxcya");
    check_u64(gguf_get_val_u32(to, gguf_find_key(to, "b")), 1, "kept");
    check_u64(gguf_get_val_u32(to, gguf_find_key(to, "c")), 2, "replaced");
    check_order(from, "xcya");
    gguf_set_kv(to, empty);
    check_order(to, "bdxcya");
    gguf_set_kv(to, to);
    check_order(to, "bdxcya");
    gguf_set_kv(empty, to);
    check_order(empty, "bdxcya");
    set_all(from);
    gguf_set_kv(empty, from);
    gguf_free(from); /* values were copied */
    check_numbers(empty);
    check_arrays(empty);
    gguf_free(to);
    gguf_free(empty);
}

/* Thousands of keys, in time that grows with their number. */
static void test_many(void **state)
{
    enum { MANY = 5000 };
    struct gguf_context *ctx = gguf_init_empty(), *copy = gguf_init_empty();
    char key[16];

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(key, sizeof key, "key.%u", (unsigned)i);
        gguf_set_val_u32(ctx, key, i);
    }
    for (int round = 0; round < 3; round++) {
        gguf_set_kv(copy, ctx);
        check_u64(gguf_get_n_kv(copy), MANY, "round %d", round);
    }
    for (uint32_t i = 0; i < MANY; i += 2) {
        (void)snprintf(key, sizeof key, "key.%u", (unsigned)i);
        gguf_set_val_u32(copy, key, i + 1);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(key, sizeof key, "key.%u", (unsigned)i);
        check_u64(gguf_get_val_u32(copy, gguf_find_key(copy, key)), i | 1, "%s", key);
    }
    check(strcmp(gguf_get_key(copy, MANY / 2), "key.0") == 0, "replaced keys are at the end");
    gguf_free(ctx);
    gguf_free(copy);
}

static void check_layout(const struct gguf_context *ctx, size_t alignment, size_t second)
{
    check_u64(gguf_get_alignment(ctx), alignment, "alignment");
    check_u64(gguf_get_tensor_offset(ctx, 0), 0, "alignment %zu", alignment);
    check_u64(gguf_get_tensor_offset(ctx, 1), second, "alignment %zu", alignment);
}

/* As documented: offsets follow the entry, however it comes and goes. */
static void test_alignment(void **state)
{
    struct gguf_context *ctx = gguf_init_empty(), *other = gguf_init_empty();
    struct ggml_context *pool = ggml_init((struct ggml_init_params){8192, NULL, false});

    (void)state;
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_1d(pool, GGML_TYPE_I8, 33), "a"));
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_1d(pool, GGML_TYPE_I8, 1), "b"));
    check_layout(ctx, 32, 64);
    gguf_set_val_u32(ctx, "general.alignment", 128);
    check_u64(gguf_get_val_u32(ctx, 0), 128, "the entry");
    check_layout(ctx, 128, 128);
    gguf_set_val_u32(ctx, "general.alignment", 1);
    check_layout(ctx, 1, 33);
    gguf_set_kv(ctx, other);
    check_layout(ctx, 1, 33);
    gguf_set_val_u32(other, "general.alignment", 256);
    gguf_set_kv(ctx, other);
    check_layout(ctx, 256, 256);
    gguf_set_tensor_type(ctx, "a", GGML_TYPE_F32);
    check_layout(ctx, 256, 256);
    check_u64(gguf_remove_key(ctx, gguf_get_key(ctx, 0)), 0, "by its own name");
    check_layout(ctx, 32, 160);
    gguf_free(ctx);
    gguf_free(other);
    ggml_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),     cmocka_unit_test(test_type_names),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_own_values),
        cmocka_unit_test(test_set_kv),    cmocka_unit_test(test_many),
        cmocka_unit_test(test_alignment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
