/* JSON of strangers: what is read, what is refused, and where. */
#include "../support/folder.h"

#include <inttypes.h>
#include <unistd.h>

#include "import/json_file.h"

static json_t *read_good(const char *text)
{
    gufo_error error;
    json_t *json;

    if (json_read_text(gufo_str_of(text), NULL, 0, &json, &error) != GUFO_OK)
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

        assert_int_equal(json_read_text(gufo_str_of(rows[i].text), "x.json", 100, &json, &error),
                         rows[i].status);
        assert_null(json);
        assert_string_equal(error.file, "x.json");
        if (strstr(error.message, rows[i].part) == NULL || error.offset != rows[i].offset)
            fail_msg("%s: byte %" PRIu64 ": %s", rows[i].text, error.offset, error.message);
    }
}

/* Depth and number of values are bounded before anything is read. */
static void test_bombs(void **state)
{
    enum { VALUES = 5000 };
    static char text[2 * VALUES + 2];
    folder f = folder_new();
    path_text path = folder_path(&f, "config.json");
    gufo_error error;
    json_t *json;

    (void)state;
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    json = read_good(text);
    json_decref(json);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_int_equal(json_read_text(gufo_str_of(text), NULL, 0, &json, &error), GUFO_E_LIMIT);
    assert_int_equal(error.offset, 64);

    text[0] = '[';
    for (size_t i = 0; i < VALUES; i++)
        memcpy(text + 1 + 2 * i, i + 1 < VALUES ? "0," : "0]", 2);
    write_file(path.text, text, 2 * VALUES + 1);
    assert_int_equal(json_file_read(f.path, "config.json", 16 * VALUES, &json, &error), GUFO_OK);
    assert_int_equal(json_array_size(json), VALUES);
    json_decref(json);
    assert_int_equal(json_file_read(f.path, "config.json", 16 * VALUES - 16, &json, &error),
                     GUFO_E_LIMIT);
    assert_string_equal(error.file, path.text);
    assert_int_equal(json_file_read(NULL, path.text, 2 * VALUES, &json, &error), GUFO_E_LIMIT);
    folder_remove(&f);
}

static void test_files(void **state)
{
    folder f = folder_new();
    path_text link = folder_path(&f, "link.json");
    gufo_error error;
    json_t *json;

    (void)state;
    assert_int_equal(json_file_read(f.path, "none.json", 100, &json, &error), GUFO_OK);
    assert_null(json);
    assert_int_equal(symlink("blob", link.text), 0); /* which is missing */
    assert_int_equal(json_file_read(f.path, "link.json", 100, &json, &error), GUFO_E_IO);
    assert_string_equal(error.file, link.text);
    write_file(folder_path(&f, "blob").text, "{\"a\": 1}", 8);
    assert_int_equal(json_file_read(f.path, "link.json", 100, &json, &error), GUFO_OK);
    assert_int_equal(json_integer_value(json_object_get(json, "a")), 1);
    json_decref(json);
    assert_int_equal(json_file_read(NULL, f.path, 100, &json, &error), GUFO_E_IO);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
