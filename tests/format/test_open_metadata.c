/* Good metadata: every value type in every encoding, read back exactly. */
#include "../support/good.h"
#include "../support/openers.h"

/* 0.1 as a float32 has it, exactly: some machines keep more digits in the constant 0.1f. */
#define TENTH_AS_FLOAT 0x1.99999ap-4

/* Runs `test` on the good file `name` in every encoding it exists in. */
static void for_encodings(const char *name, int first_version, int last_version,
                          void (*test)(const gufo_model *file, const char *label))
{
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        encoding e = all_encodings[i];
        char label[96];
        builder b;
        gufo_model *file;

        if (e.version < first_version || e.version > last_version)
            continue;
        snprintf(label, sizeof label, "%s, %s", name, encoding_name(e));
        b = good_build_named(name, e);
        file = open_built(&b, label);
        check_u64(gufo_model_facts(file).version, (unsigned)e.version, "%s", label);
        check_u64(gufo_model_facts(file).byte_order, e.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN,
                  "%s", label);
        check_u64(gufo_model_facts(file).size, b.len, "%s", label);
        check(gufo_model_damage(file) == NULL, "%s: damage in a good file", label);
        test(file, label);
        gufo_model_free(file);
        builder_free(&b);
    }
}

static void expect_str(const gufo_model *file, const char *key, const void *text, size_t len,
                       const char *label)
{
    gufo_error error = no_error();
    gufo_str got = {NULL, 0};

    check_ok(gufo_model_get_str(file, key, &got, &error), &error, "%s, %s", label, key);
    check_view(got, ((gufo_str){text, len}), "%s, %s", label, key);
}

static void expect_u64(const gufo_model *file, const char *key, uint64_t expected,
                       const char *label)
{
    gufo_error error = no_error();
    uint64_t got = 0;

    check_ok(gufo_model_get_u64(file, key, &got, &error), &error, "%s, %s", label, key);
    check_u64(got, expected, "%s, %s", label, key);
}

/* ---- files ---- */

static void check_empty(const gufo_model *file, const char *label)
{
    gufo_entry entry;
    gufo_tensor tensor;

    check_u64(gufo_model_entry_count(file), 0, "%s", label);
    check_u64(gufo_model_tensor_count(file), 0, "%s", label);
    check_u64(gufo_model_facts(file).alignment, GUFO_DEFAULT_ALIGNMENT, "%s", label);
    check_u64(gufo_model_facts(file).data_size, 0, "%s", label);
    check_u64(gufo_model_facts(file).data_offset, 32, "%s", label);
    check_u64(gufo_model_facts(file).infos_end, gufo_model_facts(file).version == 1 ? 16 : 24, "%s",
              label);
    check(!gufo_model_entry_at(file, 0, &entry) && !gufo_model_find(file, "a", &entry) &&
              !gufo_model_find(file, "", &entry),
          "%s", label);
    check(!gufo_model_tensor_at(file, 0, &tensor) && !gufo_model_tensor_find(file, "a", &tensor),
          "%s", label);
}

static void test_empty(void **state)
{
    (void)state;
    for_encodings("empty", 1, 3, check_empty);
}

static void check_scalars(const gufo_model *file, const char *label)
{
    static const uint64_t unsigned_values[GUFO_VALUE_TYPE_COUNT] = {
        [GUFO_VALUE_UINT8] = 255,
        [GUFO_VALUE_UINT16] = 65534,
        [GUFO_VALUE_UINT32] = 4294967293,
        [GUFO_VALUE_UINT64] = UINT64_MAX - 3};
    static const int64_t signed_values[GUFO_VALUE_TYPE_COUNT] = {[GUFO_VALUE_INT8] = -128,
                                                                 [GUFO_VALUE_INT16] = -32767,
                                                                 [GUFO_VALUE_INT32] = -2147483646,
                                                                 [GUFO_VALUE_INT64] =
                                                                     INT64_MIN + 3};
    gufo_entry entry;

    check_u64(gufo_model_entry_count(file), 11, "%s", label);
    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++) {
        gufo_value_type type = entry.value.type;

        if (unsigned_values[type] != 0)
            check_u64(entry.value.as.u, unsigned_values[type], "%s, type %d", label, (int)type);
        if (signed_values[type] != 0)
            check(entry.value.as.i == signed_values[type], "%s, type %d", label, (int)type);
        check_u64(entry.end - entry.value_offset, gufo_value_type_size(type), "%s", label);
    }
    check(gufo_model_find(file, "test.float32", &entry) && entry.value.as.f == TENTH_AS_FLOAT, "%s",
          label);
    check(gufo_model_find(file, "test.float64", &entry) && entry.value.as.f == 0x1.999999999999ap-4,
          "%s", label);
    check(gufo_model_find(file, "test.bool", &entry) && entry.value.as.b, "%s", label);
}

static void test_scalars(void **state)
{
    (void)state;
    for_encodings("scalars", 1, 3, check_scalars);
}

static void check_strings(const gufo_model *file, const char *label)
{
    expect_str(file, "general.architecture", "llama", 5, label);
    expect_str(file, "s.empty", "", 0, label);
    expect_str(file, "s.nul", "a\0b\0c", 5, label);
    expect_str(file, "s.nul_first", "\0abc", 4, label);
    expect_str(file, "s.utf8", "gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x89", 11, label);
    expect_str(file, "s.bytes", "\xff\xfe\x80", 3, label);
}

static void test_strings(void **state)
{
    (void)state;
    for_encodings("strings", 1, 3, check_strings);
}

static void check_counted_nul(const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_array list;
    gufo_array_iter iter;
    gufo_value value;
    gufo_tensor tensor;
    gufo_str texts[2];

    expect_str(file, "general.architecture", "llama", 5, label);
    expect_str(file, "s.empty", "", 0, label);
    expect_str(file, "s.two", "x\0", 2, label); /* one NUL is lost, not all */
    check_ok(gufo_model_get_array(file, "s.list", GUFO_VALUE_STRING, &list, &error), &error, "%s",
             label);
    iter = gufo_array_start(&list);
    check(gufo_array_next(&iter, &value), "%s", label);
    check_str(value.as.str, "one", "%s", label);
    check(gufo_array_next(&iter, &value), "%s", label);
    check_str(value.as.str, "", "%s", label);
    check(gufo_array_next(&iter, &value), "%s", label);
    check_str(value.as.str, "no nul", "%s", label);
    check_ok(gufo_array_strings(&list, 1, 2, texts, &error), &error, "%s", label);
    check_str(texts[0], "", "%s", label);
    check_str(texts[1], "no nul", "%s", label);
    check_ok(gufo_array_at(&list, 0, &value, &error), &error, "%s", label);
    check_str(value.as.str, "one", "%s", label);
    check(gufo_model_tensor_find(file, "token_embd.weight", &tensor), "%s", label);
    check_str(tensor.name, "token_embd.weight", "%s", label);
}

static void test_counted_nul(void **state)
{
    (void)state;
    for_encodings("counted nul", 1, 1, check_counted_nul);
}

/* Only version 1 counted the NUL: later files keep it. */
static void test_nul_is_kept(void **state)
{
    (void)state;
    for (size_t i = 2; i < ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i]);
        const char *label = encoding_name(all_encodings[i]);
        gufo_model *file;

        builder_header(&b, 0, 1);
        builder_kv_strn(&b, "s", "llama", 6);
        file = open_built(&b, label);
        expect_str(file, "s", "llama", 6, label);
        gufo_model_free(file);
        builder_free(&b);
    }
}

static void check_number_arrays(const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_array array;
    uint32_t u32[3];
    int64_t i64[3];
    float f32[3];
    double f64[2];
    uint8_t bools[3];
    int8_t i8[3];

    check_ok(gufo_model_get_array(file, "list.uint32", GUFO_VALUE_UINT32, &array, &error), &error,
             "%s", label);
    check_u64(array.count, 3, "%s", label);
    check_u64(array.size, 12, "%s", label);
    check_ok(gufo_array_read(&array, 0, 3, u32, &error), &error, "%s", label);
    check(u32[0] == 0 && u32[1] == 1 && u32[2] == 0xfffffffd, "%s: uint32", label);
    check_ok(gufo_model_get_array(file, "list.int64", GUFO_VALUE_INT64, &array, &error), &error,
             "%s", label);
    check_ok(gufo_array_read(&array, 0, 3, i64, &error), &error, "%s", label);
    check(i64[0] == 0 && i64[1] == 1 && i64[2] == INT64_MIN + 3, "%s: int64", label);
    check_ok(gufo_model_get_array(file, "list.float32", GUFO_VALUE_FLOAT32, &array, &error), &error,
             "%s", label);
    check_ok(gufo_array_read(&array, 2, 1, f32, &error), &error, "%s", label);
    check((double)f32[0] == TENTH_AS_FLOAT, "%s: float32", label);
    check_ok(gufo_model_get_array(file, "list.float64", GUFO_VALUE_FLOAT64, &array, &error), &error,
             "%s", label);
    check_ok(gufo_array_read(&array, 1, 2, f64, &error), &error, "%s", label);
    check(f64[1] == 0x1.999999999999ap-4, "%s: float64", label);
    check_ok(gufo_model_get_array(file, "list.bool", GUFO_VALUE_BOOL, &array, &error), &error, "%s",
             label);
    check_ok(gufo_array_read(&array, 0, 3, bools, &error), &error, "%s", label);
    check(bools[0] == 0 && bools[1] == 1 && bools[2] == 1, "%s: bool", label);
    check_ok(gufo_model_get_array(file, "list.int8", GUFO_VALUE_INT8, &array, &error), &error, "%s",
             label);
    check_ok(gufo_array_read(&array, 0, 3, i8, &error), &error, "%s", label);
    check(i8[0] == 0 && i8[1] == 1 && i8[2] == -128, "%s: int8", label);
}

static void test_number_arrays(void **state)
{
    (void)state;
    for_encodings("number arrays", 1, 3, check_number_arrays);
}

static void check_array_ranges(const gufo_model *file, const char *label)
{
    static const struct {
        uint64_t first, count;
        bool inside;
    } rows[] = {
        {0, 0, true},           {3, 0, true},           {0, 3, true},
        {2, 1, true},           {0, 4, false},          {3, 1, false},
        {4, 0, false},          {1, UINT64_MAX, false}, {UINT64_MAX, 1, false},
        {UINT64_MAX, 2, false}, {UINT64_MAX, 0, false}, {0, UINT64_C(1) << 62, false},
    };
    gufo_error error = no_error();
    gufo_array array;
    gufo_value value;
    uint32_t out[3];

    check_ok(gufo_model_get_array(file, "list.uint32", GUFO_VALUE_UINT32, &array, &error), &error,
             "%s", label);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_status(gufo_array_read(&array, rows[i].first, rows[i].count, out, &error),
                     rows[i].inside ? GUFO_OK : GUFO_E_RANGE, &error, "%s, row %zu", label, i);
    check_status(gufo_array_at(&array, 3, &value, &error), GUFO_E_RANGE, &error, "%s", label);
    check_status(gufo_array_at(&array, UINT64_MAX, &value, NULL), GUFO_E_RANGE, NULL, "%s", label);
}

static void test_array_ranges(void **state)
{
    (void)state;
    for_encodings("number arrays", 1, 3, check_array_ranges);
}

static void check_empty_arrays(const gufo_model *file, const char *label)
{
    gufo_entry entry;
    uint64_t i = 0;

    for (; gufo_model_entry_at(file, i, &entry); i++) {
        gufo_array_iter iter = gufo_array_start(&entry.value.as.array);
        gufo_error error = no_error();
        gufo_value value;

        check_u64(entry.value.type, GUFO_VALUE_ARRAY, "%s", label);
        check_u64(entry.value.as.array.type, i, "%s", label);
        check_u64(entry.value.as.array.count, 0, "%s", label);
        check_u64(entry.value.as.array.size, 0, "%s", label);
        check_u64(entry.value_offset, entry.end, "%s", label);
        check(!gufo_array_next(&iter, &value) && !iter.changed, "%s", label);
        check_status(gufo_array_at(&entry.value.as.array, 0, &value, &error), GUFO_E_RANGE, &error,
                     "%s", label);
    }
    check_u64(i, GUFO_VALUE_TYPE_COUNT, "%s", label);
}

static void test_empty_arrays(void **state)
{
    (void)state;
    for_encodings("empty arrays", 1, 3, check_empty_arrays);
}

static void check_string_arrays(const gufo_model *file, const char *label)
{
    static const gufo_str texts[] = {
        {"<unk>", 5}, {"", 0}, {"a\0b", 3}, {"\xe2\x96", 2}, {"the end", 7}};
    gufo_error error = no_error();
    gufo_array array;
    gufo_array_iter iter;
    gufo_value value;
    uint8_t out[64];

    check_ok(gufo_model_get_array(file, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &array, &error),
             &error, "%s", label);
    check_u64(array.count, COUNT_OF(texts), "%s", label);
    iter = gufo_array_start(&array);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        check(gufo_array_next(&iter, &value), "%s", label);
        check_view(value.as.str, texts[i], "%s, walked %zu", label, i);
        check_ok(gufo_array_at(&array, i, &value, &error), &error, "%s", label);
        check_view(value.as.str, texts[i], "%s, at %zu", label, i);
    }
    check(!gufo_array_next(&iter, &value) && !iter.changed, "%s", label);
    check_status(gufo_array_at(&array, COUNT_OF(texts), &value, &error), GUFO_E_RANGE, &error, "%s",
                 label);
    check_status(gufo_array_read(&array, 0, 1, out, &error), GUFO_E_TYPE, &error, "%s", label);
    expect_u64(file, "after", 7, label);
}

static void test_string_arrays(void **state)
{
    (void)state;
    for_encodings("string arrays", 1, 3, check_string_arrays);
}

static void check_deep(const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_array array;
    gufo_value value;
    uint32_t numbers[2];

    check_ok(gufo_model_get_array(file, "nested.deep", GUFO_VALUE_ARRAY, &array, &error), &error,
             "%s", label);
    for (int depth = 2; depth <= GUFO_MAX_DEPTH; depth++) {
        check_u64(array.count, 1, "%s, depth %d", label, depth);
        check_ok(gufo_array_at(&array, 0, &value, &error), &error, "%s, depth %d", label, depth);
        check_u64(value.type, GUFO_VALUE_ARRAY, "%s, depth %d", label, depth);
        array = value.as.array;
    }
    check_ok(gufo_array_read(&array, 0, 2, numbers, &error), &error, "%s", label);
    check(numbers[0] == 16 && numbers[1] == 17, "%s: innermost", label);
}

static void check_nested_arrays(const gufo_model *file, const char *label)
{
    static const struct {
        gufo_value_type type;
        uint64_t count, size_v1, size;
    } inner[] = {{GUFO_VALUE_UINT16, 2, 4, 4},
                 {GUFO_VALUE_STRING, 2, 11, 19},
                 {GUFO_VALUE_FLOAT64, 0, 0, 0},
                 {GUFO_VALUE_ARRAY, 1, 9, 13}};
    gufo_error error = no_error();
    gufo_array array;
    gufo_array_iter iter;
    gufo_value value;

    check_ok(gufo_model_get_array(file, "nested.mixed", GUFO_VALUE_ARRAY, &array, &error), &error,
             "%s", label);
    iter = gufo_array_start(&array);
    for (size_t i = 0; i < COUNT_OF(inner); i++) {
        check(gufo_array_next(&iter, &value), "%s, inner %zu", label, i);
        check_u64(value.as.array.type, inner[i].type, "%s, inner %zu", label, i);
        check_u64(value.as.array.count, inner[i].count, "%s, inner %zu", label, i);
        check_u64(value.as.array.size,
                  gufo_model_facts(file).version == 1 ? inner[i].size_v1 : inner[i].size,
                  "%s, inner %zu", label, i);
    }
    check(!gufo_array_next(&iter, &value) && !iter.changed, "%s", label);
    check_ok(gufo_array_at(&array, 1, &value, &error), &error, "%s", label);
    array = value.as.array;
    check_ok(gufo_array_at(&array, 1, &value, &error), &error, "%s", label);
    check_str(value.as.str, "yz", "%s", label);
    check_deep(file, label);
    expect_u64(file, "after", 1, label);
}

static void test_nested_arrays(void **state)
{
    (void)state;
    for_encodings("nested arrays", 1, 3, check_nested_arrays);
}

static void check_odd_keys(const gufo_model *file, const char *label)
{
    char key[GUFO_MAX_KEY + 1];

    expect_u64(file, "Upper.Case", 1, label);
    expect_u64(file, "with-hyphen", 2, label);
    expect_u64(file, "with space and ~!@#$%^&*()", 3, label);
    expect_u64(file, "..", 4, label);
    expect_u64(file, "a", 5, label);
    expect_u64(file, "general.alignment2", 6, label);
    memset(key, 'k', GUFO_MAX_KEY);
    key[GUFO_MAX_KEY] = '\0';
    expect_u64(file, key, 7, label);
    check_u64(gufo_model_facts(file).alignment, 32, "%s", label);
}

static void test_odd_keys(void **state)
{
    (void)state;
    for_encodings("odd keys", 1, 3, check_odd_keys);
}

/* Offsets of entries, counted by hand for version 3. */
static void test_offsets(void **state)
{
    static const struct {
        const char *key;
        uint64_t offset, value_offset, end;
    } rows[] = {
        {"u", 24, 24 + 13, 24 + 13 + 4},    /* length 8, "u", type 4, uint32 */
        {"str", 41, 41 + 23, 41 + 23 + 2},  /* length 8, "str", type 4, length 8, "hi" */
        {"list", 66, 66 + 28, 66 + 28 + 6}, /* length 8, "list", type 4, type 4, count 8, 3 x 2 */
        {"none", 100, 100 + 28, 100 + 28},  {"words", 128, 128 + 29, 128 + 29 + 19},
    };
    builder b = builder_new((encoding){3, false});
    gufo_model *file;
    gufo_entry entry;

    (void)state;
    builder_header(&b, 0, COUNT_OF(rows));
    builder_kv_u32(&b, "u", 5);
    builder_kv_str(&b, "str", "hi");
    builder_kv_array(&b, "list", GUFO_VALUE_INT16, 3);
    builder_zeros(&b, 6);
    builder_kv_array(&b, "none", GUFO_VALUE_STRING, 0);
    builder_kv_array(&b, "words", GUFO_VALUE_STRING, 2);
    builder_str(&b, "a");
    builder_str(&b, "bc");
    file = open_built(&b, "offsets");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(gufo_model_entry_at(file, i, &entry), "%s", rows[i].key);
        check_str(entry.key, rows[i].key, "%s", rows[i].key);
        check_u64(entry.offset, rows[i].offset, "%s", rows[i].key);
        check_u64(entry.value_offset, rows[i].value_offset, "%s", rows[i].key);
        check_u64(entry.end, rows[i].end, "%s", rows[i].key);
    }
    check_u64(gufo_model_facts(file).infos_end, 176, "no tensors");
    check_u64(gufo_model_facts(file).data_offset, 192, "no tensors, no padding in the file");
    check_u64(gufo_model_facts(file).data_size, 0, "no tensors");
    gufo_model_free(file);
    builder_free(&b);
}

static void test_type_names(void **state)
{
    static const struct {
        const char *name;
        size_t size;
    } types[GUFO_VALUE_TYPE_COUNT] = {{"uint8", 1},  {"int8", 1},  {"uint16", 2},  {"int16", 2},
                                      {"uint32", 4}, {"int32", 4}, {"float32", 4}, {"bool", 1},
                                      {"string", 0}, {"array", 0}, {"uint64", 8},  {"int64", 8},
                                      {"float64", 8}};

    (void)state;
    for (int i = 0; i < GUFO_VALUE_TYPE_COUNT; i++) {
        assert_string_equal(gufo_value_type_name((gufo_value_type)i), types[i].name);
        check_u64(gufo_value_type_size((gufo_value_type)i), types[i].size, "%s", types[i].name);
    }
    assert_null(gufo_value_type_name((gufo_value_type)13));
    assert_null(gufo_value_type_name((gufo_value_type)0x7fffffff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_strings),       cmocka_unit_test(test_counted_nul),
        cmocka_unit_test(test_nul_is_kept),   cmocka_unit_test(test_number_arrays),
        cmocka_unit_test(test_array_ranges),  cmocka_unit_test(test_empty_arrays),
        cmocka_unit_test(test_string_arrays), cmocka_unit_test(test_nested_arrays),
        cmocka_unit_test(test_odd_keys),      cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_type_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
