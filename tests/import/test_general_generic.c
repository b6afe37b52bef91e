/* The configuration of a model without rules, as keys. */
#include "../support/allocator.h"
#include "general_case.h"

static const char *const value_rows[][3] = {
    {"{\"a\": 1}", "x.a", "u32 1"},
    {"{\"a\": 4294967295}", "x.a", "u32 4294967295"},
    {"{\"a\": 4294967296}", "x.a", "i64 4294967296"},
    {"{\"a\": -1}", "x.a", "i64 -1"},
    {"{\"a\": 9223372036854775807}", "x.a", "i64 9223372036854775807"},
    {"{\"a\": 0.5}", "x.a", "f32 0.5"},
    {"{\"a\": 1.0}", "x.a", "f32 1"},
    {"{\"a\": 1e300}", "x.a", "f64 1.0000000000000001e+300"},
    {"{\"a\": true, \"b\": false}", "x.b", "false"},
    {"{\"a\": \"t\\u00e9\\n\"}", "x.a", "t\xc3\xa9\n"},
    {"{\"a\": \"\"}", "x.a", ""},
    {"{\"a\": {\"b\": {\"c\": 1}}}", "x.a.b.c", "u32 1"},
    {"{\"a\": {}}", "x.a", NULL},
    {"{\"a\": []}", "x.a", NULL},
    {"{\"a\": [1, 2]}", "x.a", "u32 1|u32 2"},
    {"{\"a\": [1, -2, 5]}", "x.a", "i64 1|i64 -2|i64 5"},
    {"{\"a\": [1, 4294967296]}", "x.a", "i64 1|i64 4294967296"},
    {"{\"a\": [0.5, 1.0]}", "x.a", "f32 0.5|f32 1"},
    {"{\"a\": [0.5, 1e39]}", "x.a", "f64 0.5|f64 9.9999999999999994e+38"},
    {"{\"a\": [\"b\", \"\"]}", "x.a", "b|"},
    {"{\"a\": [true, false]}", "x.a", "true|false"},
    /* What GGUF has no value for. */
    {"{\"a\": null}", "x.json.a", "null"},
    {"{\"a\": null}", "x.a", NULL},
    {"{\"a\": {\"b\": null}}", "x.json.a.b", "null"},
    {"{\"a\": [1, 0.5]}", "x.json.a", "[1,0.5]"},
    {"{\"a\": [1, \"b\", null]}", "x.json.a", "[1,\"b\",null]"},
    {"{\"a\": [null, null]}", "x.json.a", "[null,null]"},
    {"{\"a\": [[1], [2]]}", "x.json.a", "[[1],[2]]"},
    {"{\"a\": [{\"b\": 1}]}", "x.json.a", "[{\"b\":1}]"},
    {"{\"a\": [[]]}", "x.json.a", "[[]]"},
    /* Names that keys cannot have. */
    {"{\"a b/c\": 1}", "x.a_b_c", "u32 1"},
    {"{\"a.b-c_D\": 1}", "x.a.b-c_D", "u32 1"},
    {"{\"\": 1}", "x._", "u32 1"},
    {"{\".a..b.\": 1}", "x._a._b_", "u32 1"},
    {"{\"\\u00e9\": 1}", "x.__", "u32 1"},
    {"{\"a\": {\"\": {\".\": 1}}}", "x.a._._", "u32 1"},
    /* No fields at all. */
    {"{}", "x.a", NULL},
    {"[1]", "x.a", NULL},
};

static void write_generic(general_case *c, const char *json)
{
    gufo_error error = no_error();

    json_decref(c->config.raw);
    c->config.raw = json_of(json);
    c->label = json;
    check_ok(general_write_generic(&c->import, &c->config, "x", &error), &error, "%s", json);
}

static void test_values(void **state)
{
    general_case c;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(value_rows); i++) {
        case_begin(&c, ".");
        write_generic(&c, value_rows[i][0]);
        case_key(&c, value_rows[i][1], value_rows[i][2]);
        case_warning(&c, NULL);
        case_end(&c);
    }
}

static void test_order_and_equal_keys(void **state)
{
    gufo_document_entry entry;
    general_case c;

    (void)state;
    case_begin(&c, ".");
    write_generic(&c, "{\"z\": 1, \"a b\": 2, \"c\": {\"d\": 3}, \"a_b\": 4, \"a/b\": 5}");
    case_key(&c, "x.a_b", "u32 5");
    case_warning(&c, "the key x.a_b");
    check_u64(gufo_document_entry_count(c.import.document), 3, "keys");
    check(gufo_document_entry_at(c.import.document, 0, &entry), "first");
    check_str(entry.key, "x.z", "first");
    case_end(&c);
    /* Without config.json. */
    case_begin(&c, ".");
    json_decref(c.config.raw);
    c.config.raw = NULL;
    gufo_error error = no_error();
    check_ok(general_write_generic(&c.import, &c.config, "x", &error), &error, "no config");
    check_u64(gufo_document_entry_count(c.import.document), 0, "keys");
    case_end(&c);
}

/* ---- too much ------------------------------------------------------------------------------- */

static void check_limit(json_t *raw, const char *part)
{
    gufo_error error = no_error();
    general_case c;

    case_begin(&c, ".");
    json_decref(c.config.raw);
    c.config.raw = raw;
    check_status(general_write_generic(&c.import, &c.config, "x", &error), GUFO_E_LIMIT, &error,
                 "%s", part);
    check(strstr(error.message, part) != NULL, "%s", error.message);
    case_end(&c);
}

static json_t *nested(size_t levels, const char *name)
{
    json_t *value = json_integer(1);

    for (size_t i = 0; i < levels; i++) {
        json_t *outer = json_object();

        check(outer != NULL && json_object_set_new(outer, name, value) == 0, "%zu", i);
        value = outer;
    }
    return value;
}

static void test_limits(void **state)
{
    gufo_error error = no_error();
    char name[600];
    general_case c;

    (void)state;
    case_begin(&c, ".");
    json_decref(c.config.raw);
    c.config.raw = nested(64, "a");
    check_ok(general_write_generic(&c.import, &c.config, "x", &error), &error, "64 levels");
    case_end(&c);
    check_limit(nested(65, "a"), "64 nested objects");
    memset(name, 'n', sizeof name);
    name[510] = '\0';
    case_begin(&c, ".");
    json_decref(c.config.raw);
    c.config.raw = nested(1, name); /* "x." and 510 bytes */
    check_ok(general_write_generic(&c.import, &c.config, "x", &error), &error, "512 bytes");
    case_end(&c);
    name[510] = 'n';
    name[511] = '\0';
    check_limit(nested(1, name), "513 bytes");
    json_t *list = json_array();
    check(json_array_append_new(list, json_integer(1)) == 0, "list");
    json_t *object = json_object();
    check(json_object_set_new(object, name, list) == 0, "object");
    check_limit(object, "513 bytes");
}

static void test_without_memory(void **state)
{
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    for (size_t fail_at = 1; status != GUFO_OK; fail_at++) {
        gufo_error error = no_error();
        general_case c;
        counter memory;

        check(fail_at < 200, "never enough");
        case_begin(&c, ".");
        json_decref(c.config.raw);
        c.config.raw = json_of("{\"a\": [1, 2], \"b\": {\"c\": [null], \"d\": \"e\"}, \"b.d\": 1}");
        counter_init(&memory);
        memory.fail_at = fail_at;
        c.import.allocator = counter_allocator(&memory);
        status = general_write_generic(&c.import, &c.config, "x", &error);
        if (status != GUFO_OK)
            check_error_shape(&error, GUFO_E_MEMORY, "general_write_generic");
        for (uint64_t i = 0; i < c.import.warning_count; i++)
            mem_free(&c.import.allocator, c.import.warnings[i]);
        mem_free(&c.import.allocator, c.import.warnings);
        c.import.warnings = NULL;
        c.import.warning_count = 0;
        check_u64(memory.in_use, 0, "request %zu", fail_at);
        case_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_order_and_equal_keys),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
