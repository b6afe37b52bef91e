/* JSON of strangers: what is read, what is refused, and where. */
#include "../support/folder.h"
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "gufo/import.h"
#include "import/json_file.h"

static json_t *read_good(const char *text)
{
    gufo_error error;
    json_t *json;

    if (json_read_text(gufo_str_of(text), NULL, 0, NULL, &json, &error) != GUFO_OK)
        fail_msg("%s: %s", text, error.message);
    return json;
}

static void test_values(void **state)
{
    json_t *json = read_good("{\"a\": [1, -2, 2.5, true, null, \"\\u00e9\\u0000x\"], \"b\": {}}");
    json_t *list = json_object_get(json, "a");

    (void)state;
    assert_int_equal(json_integer_value(json_array_get(list, 1)), -2);
    assert_true(json_real_value(json_array_get(list, 2)) == 2.5);
    assert_true(json_is_true(json_array_get(list, 3)));
    assert_int_equal(json_string_length(json_array_get(list, 5)), 4);
    json_decref(json);
    json = read_good(" \"alone\" ");
    assert_string_equal(json_string_value(json), "alone");
    json_decref(json);
}

/* Numbers up to 64 bits stay whole, larger ones become reals; digits in texts stay. */
static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        double real; /* 0: a whole number */
    } rows[] = {
        {"9223372036854775807", 0},
        {"-9223372036854775807", 0},
        {"9223372036854775808", 9223372036854775808.0},
        {"-18446744073709551615", -18446744073709551615.0},
        {"1000000000000000019884624838656", 1e30},
        {"0.12345678901234567890123", 0.12345678901234567890123},
        {"12345678901234567890e5", 12345678901234567890e5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *json = read_good(rows[i].text);

        assert_int_equal(json_is_integer(json), rows[i].real == 0);
        assert_true(json_real_value(json) == rows[i].real);
        json_decref(json);
    }
    json_t *json = read_good("[\"x 99999999999999999999999\", 99999999999999999999, \"\\\" 1\"]");
    assert_string_equal(json_string_value(json_array_get(json, 0)), "x 99999999999999999999999");
    assert_true(json_real_value(json_array_get(json, 1)) == 1e20);
    json_decref(json);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        gufo_status status;
        uint64_t offset;
        const char *part;
    } rows[] = {
        {"{\"a\": NaN}", GUFO_E_MALFORMED, 106, "no \"NaN\""},
        {"[1, Infinity]", GUFO_E_MALFORMED, 104, "no \"Infinity\""},
        {"[-Infinity]", GUFO_E_MALFORMED, 102, "no \"Infinity\""},
        {"{\"a\": 1, \"a\": 2}", GUFO_E_MALFORMED, 112, "occurs twice"},
        {"{\"a\": 1", GUFO_E_TRUNCATED, 107, "ends before"},
        {"", GUFO_E_TRUNCATED, 100, "ends before"},
        {"{} {}", GUFO_E_MALFORMED, 104, "follows"},
        {"[1e400]", GUFO_E_RANGE, 106, "fit"},
        {"{'a': 1}", GUFO_E_MALFORMED, 101, "no \"'\""},
        {"[1 2]", GUFO_E_MALFORMED, 104, "not JSON"},
        {"[\"\xff\"]", GUFO_E_MALFORMED, 102, "UTF-8"},
        {"{\"\\u0000\": 1}", GUFO_E_MALFORMED, 109, "NUL"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gufo_error error = {0};
        json_t *json = NULL;

        assert_int_equal(
            json_read_text(gufo_str_of(rows[i].text), "x.json", 100, NULL, &json, &error),
            rows[i].status);
        assert_null(json);
        assert_string_equal(error.file, "x.json");
        if (strstr(error.message, rows[i].part) == NULL || error.offset != rows[i].offset)
            fail_msg("%s: byte %" PRIu64 ": %s", rows[i].text, error.offset, error.message);
    }
}

/* Depth is bounded before anything is read. */
static void test_depth(void **state)
{
    static char text[131];
    gufo_error error;
    json_t *json;

    (void)state;
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    json = read_good(text);
    json_decref(json);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_int_equal(json_read_text(gufo_str_of(text), NULL, 0, NULL, &json, &error), GUFO_E_LIMIT);
    assert_int_equal(error.offset, 64);
}

/* A list of `count` times `value`; owned. */
static char *list_of(const char *value, size_t count)
{
    const size_t len = strlen(value) + 1;
    char *text = malloc(count * len + 2);

    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 1 + i * len, value, len - 1);
        text[(i + 1) * len] = i + 1 < count ? ',' : ']';
    }
    text[count * len + 1] = '\0';
    return text;
}

/* The memory of values is bounded by the bytes of their file. */
static void test_memory(void **state)
{
    static const struct {
        const char *value;
        size_t count;
        gufo_status status;
    } rows[] = {
        {"{}", 55000, GUFO_OK}, /* so little is always allowed */
        {"{}", 80000, GUFO_E_LIMIT},
        {"[]", 200000, GUFO_E_LIMIT},
        {"{\"a\":1}", 200000, GUFO_E_LIMIT},
        {"1", 400000, GUFO_OK},
        {"\"ab\"", 300000, GUFO_OK},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, "x.json");
    gufo_error error;
    json_t *json;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = list_of(rows[i].value, rows[i].count);

        write_file(path.text, text, strlen(text));
        assert_int_equal(json_file_read(FOLDER_AT(f.path), "x.json", 1 << 24, NULL, &json, &error),
                         rows[i].status);
        json_decref(json);
        free(text);
    }
    folder_remove(&f);
}

/* Files share what may be taken. */
static void test_memory_of_all(void **state)
{
    char *text = list_of("10", 1000);
    import_bounds memory = {.left = 100000};
    folder f = folder_new();
    path_text path = folder_path(&f, "x.json");
    gufo_error error = {0};
    json_t *json;

    (void)state;
    write_file(path.text, text, strlen(text));
    assert_int_equal(json_file_read(FOLDER_AT(f.path), "x.json", 1 << 24, &memory, &json, &error),
                     GUFO_OK);
    json_decref(json);
    assert_true(memory.left > 30000 && memory.left < 50000);
    assert_int_equal(json_file_read(FOLDER_AT(f.path), "x.json", 1 << 24, &memory, &json, &error),
                     GUFO_E_LIMIT);
    assert_int_equal(error.advice, GUFO_ADVICE_MEMORY);
    assert_string_equal(error.file, path.text);
    assert_int_equal(import_bounds_take(&memory, memory.left, &error), GUFO_OK);
    assert_int_equal(import_bounds_take(&memory, 1, &error), GUFO_E_LIMIT);
    assert_int_equal(import_bounds_take(NULL, UINT64_MAX, &error), GUFO_OK);
    free(text);
    folder_remove(&f);
}

static void test_files(void **state)
{
    folder f = folder_new();
    path_text link = folder_path(&f, "link.json");
    gufo_error error;
    json_t *json;

    (void)state;
    assert_int_equal(json_file_read(FOLDER_AT(f.path), "none.json", 100, NULL, &json, &error),
                     GUFO_OK);
    assert_null(json);
    assert_int_equal(symlink("blob", link.text), 0); /* which is missing */
    assert_int_equal(json_file_read(FOLDER_AT(f.path), "link.json", 100, NULL, &json, &error),
                     GUFO_E_IO);
    assert_string_equal(error.file, link.text);
    write_file(folder_path(&f, "blob").text, "{\"a\": 1}", 8);
    assert_int_equal(json_file_read(FOLDER_AT(f.path), "link.json", 100, NULL, &json, &error),
                     GUFO_OK);
    assert_int_equal(json_integer_value(json_object_get(json, "a")), 1);
    json_decref(json);
    assert_int_equal(json_file_read(&source_folder_anywhere, f.path, 100, NULL, &json, &error),
                     GUFO_E_IO);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_memory_of_all),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
