/* Templates compared with Python's results: integers of any size and the least of 64 bits, what a macro
 * says of itself, and the filters that lay texts out. */
#include "../support/allocator.h"
#include "../support/check.h"
#include "python_cases.h"

#include "gufo/template.h"

static gufo_str view(const char *data, size_t len)
{
    return (gufo_str){data == NULL ? "" : data, len};
}

/* The output, or the failure. */
static gufo_status render(const char *source, const gufo_template_values *values,
                          const gufo_template_options *options, gufo_text *out, gufo_error *error)
{
    gufo_template *parsed = gufo_template_parse(gufo_str_of(source), NULL, NULL, error);
    gufo_status status = parsed == NULL
                             ? error->code
                             : gufo_template_render(parsed, values, options, out, NULL, error);

    gufo_template_free(parsed);
    return status;
}

static void check_case(const python_case *row)
{
    const gufo_template_options options = {.steps = 1000000}; /* endless ones end sooner */
    gufo_text out = {0};
    gufo_error error = {0};
    gufo_status status = render(row->source, NULL, &options, &out, &error);

    if (row->expected == NULL) {
        check(status == GUFO_E_TYPE || status == GUFO_E_LIMIT || status == GUFO_E_MALFORMED,
              "%s: %s", row->source, gufo_status_name(status));
    } else {
        check(status == GUFO_OK, "%s: %s", row->source, error.message);
        check_str(view(out.data, out.len), row->expected, "%s", row->source);
    }
    gufo_text_free(&out);
}

static void test_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(integer_cases); i++)
        check_case(&integer_cases[i]);
}

static void test_macros(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(macro_cases); i++)
        check_case(&macro_cases[i]);
}

static void test_filters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(filter_cases); i++)
        check_case(&filter_cases[i]);
}

/* What Python computes for hours, or not at all, has an answer or a limit here. */
static void test_extremes(void **state)
{
    static const python_case cases[] = {
        {"{{ 5|round(-9223372036854775808) }} {{ (10**50)|round(-(10**30)) }}", "0 0"},
        {"{{ 2 ** (10**30) }}", NULL},
        {"{{ 2 ** (10**9) }}", NULL},
        {"{% set n = namespace(x=3) %}{% for i in range(40) %}{% set n.x = n.x * n.x %}"
         "{% endfor %}",
         NULL},
        {"{% set n = 7 ** 5000 %}{% for i in range(99999) %}{{ n }}{% endfor %}", NULL},
        {"{% set n = '7' * 4300 %}{% for i in range(99999) %}{% if n|int %}{% endif %}"
         "{% endfor %}",
         NULL},
        {"{{ ('9' * 5000)|int(3) }}", "3"},
        {"{{ ('f' * 4301)|int(3, 16) }}", "3"},
        {"{{ '%x' % (2 ** 20000) }}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_case(&cases[i]);
}

/* A seed picks the same items on every machine; another one picks others. */
static void test_random(void **state)
{
    static const struct {
        uint64_t seed;
        const char *picked;
    } rows[] = {{0, "fajehadajabgdbhhfcce"},
                {0, "fajehadajabgdbhhfcce"},
                {1, "fjafbifdaahaecgjfbec"},
                {UINT64_MAX, "gjbcgffgacjhfgfgdcbb"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_template_options options = {.seed = rows[i].seed};
        gufo_text out = {0};
        gufo_error error = {0};

        check_u64(render("{% for i in range(20) %}{{ 'abcdefghij'|random }}{% endfor %}", NULL,
                         &options, &out, &error),
                  GUFO_OK, "%s", error.message);
        check_str(view(out.data, out.len), rows[i].picked, "seed %" PRIu64, rows[i].seed);
        gufo_text_free(&out);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void test_json(void **state)
{
    static const struct {
        const char *json, *printed; /* NULL: not JSON */
        const char *message;
    } rows[] = {
        {" [1, -0, 2.5e1, true, false, null, \"\"]\n", "[1, 0, 25.0, True, False, None, '']", NULL},
        {"-170141183460469231731687303715884105729", "-170141183460469231731687303715884105729",
         NULL},
        {"{\"b\": 1, \"a\": {}, \"b\": [[]]}", "{'b': [[]], 'a': {}}", NULL},
        {"\"\\u0041\\n\\/\\ud83d\\ude00\\u00e9\\u0000\"", "A\n/\360\237\230\200\303\251", NULL},
        {"1e400", "inf", NULL},
        {"", NULL, "line 1, column 1: not JSON: it ends too early"},
        {"[1, 2", NULL, "line 1, column 6: not JSON: it ends too early"},
        {"[1\n 2]", NULL, "line 2, column 2: not JSON: a comma or ] is expected"},
        {"{\"a\" 1}", NULL, "line 1, column 6: not JSON: a colon is expected"},
        {"{a: 1}", NULL, "line 1, column 2: not JSON: the name of a member is expected"},
        {"{\"a\": 1,}", NULL, "line 1, column 9: not JSON: the name of a member is expected"},
        {"[1,]", NULL, "line 1, column 4: not JSON: a value is expected"},
        {"{\"a\": 1]", NULL, "line 1, column 8: not JSON: a comma or } is expected"},
        {"01", NULL, "line 1, column 2: not JSON: more text follows its end"},
        {"1.", NULL, "line 1, column 3: not JSON: it ends too early"},
        {"[1.]", NULL, "line 1, column 4: not JSON: a digit is expected"},
        {"[1e+]", NULL, "line 1, column 5: not JSON: a digit is expected"},
        {"NaN", NULL, "line 1, column 1: not JSON: a value is expected"},
        {"\"a\nb\"", NULL, "line 1, column 3: not JSON: a control character in a string"},
        {"\"\\x\"", NULL,
         "line 1, column 2: not JSON: an escape that is not known, or half a character"},
        {"\"\\ud83d\"", NULL,
         "line 1, column 2: not JSON: an escape that is not known, or half a character"},
        {"\"\\ud83d\\u0041\"", NULL,
         "line 1, column 2: not JSON: an escape that is not known, or half a character"},
        {"\"abc", NULL, "line 1, column 5: not JSON: it ends too early"},
        {"\"a\xff\"", NULL, "line 1, column 3: not JSON: it is not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_template_values *values = gufo_template_values_new(NULL, NULL);
        gufo_text out = {0};
        gufo_error error = {0};
        gufo_status status =
            gufo_template_values_set(values, "x", gufo_str_of(rows[i].json), &error);

        check((status == GUFO_OK) == (rows[i].printed != NULL), "%s: %s", rows[i].json,
              error.message);
        check(gufo_template_values_has(values, "x") == (status == GUFO_OK), "%s", rows[i].json);
        if (rows[i].printed != NULL) {
            check_u64(render("{{ x }}", values, NULL, &out, &error), GUFO_OK, "%s", error.message);
            check_str(view(out.data, strnlen(out.data, out.len)), rows[i].printed, "%s",
                      rows[i].json);
        } else {
            check_u64(status, GUFO_E_MALFORMED, "%s", rows[i].json);
            check_str(gufo_str_of(error.message), rows[i].message, "%s", rows[i].json);
        }
        gufo_text_free(&out);
        gufo_template_values_free(values);
    }
}

/* `count` times the same bytes; freed by the caller. */
static char *repeated(const char *open, const char *part, size_t count, const char *close)
{
    size_t len = strlen(part), at = strlen(open);
    char *made = malloc(at + len * count + strlen(close) + 1);

    assert_non_null(made);
    memcpy(made, open, at);
    for (size_t i = 0; i < count; i++)
        memcpy(made + at + i * len, part, len);
    (void)strcpy(made + at + len * count, close);
    return made;
}

/* Values have the limit of their set, the caller's allocator, and count for each rendering. */
static void test_values_memory(void **state)
{
    static const struct {
        const char *open, *part, *close;
        size_t count;
        gufo_status status;
    } rows[] = {
        {"[1", ",1", "]", 10000, GUFO_OK},        {"[1", ",1", "]", 100000, GUFO_E_LIMIT},
        {"[{}", ",{}", "]", 30000, GUFO_E_LIMIT}, {"[[]", ",\"\"", "]", 30000, GUFO_E_LIMIT},
        {"", "[", "", 1001, GUFO_E_LIMIT},        {"", "9", "", 4300, GUFO_OK},
        {"", "9", "", 4301, GUFO_E_LIMIT},        {"1.", "0", "", 500, GUFO_E_LIMIT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        counter counted;
        char *json = repeated(rows[i].open, rows[i].part, rows[i].count, rows[i].close);
        gufo_text out = {0};
        gufo_template_options options = {.memory = 1 << 10};
        gufo_error error = {0};
        gufo_template_values *values;
        gufo_allocator allocator;
        gufo_status status;

        counter_init(&counted);
        allocator = counter_allocator(&counted);
        values = gufo_template_values_new(
            &(gufo_template_values_options){.allocator = &allocator, .memory = 1 << 20}, &error);
        assert_non_null(values);
        status = gufo_template_values_set(values, "x", gufo_str_of(json), &error);
        check_u64(status, rows[i].status, "row %zu: %s", i, error.message);
        /* A list that grows is there twice for a moment. */
        check(counted.peak <= 2 << 20, "row %zu: %zu bytes", i, counted.peak);
        if (status != GUFO_OK) /* nothing is kept of it */
            check_u64(gufo_template_values_set(values, "x", gufo_str_of("[1]"), &error), GUFO_OK,
                      "row %zu: %s", i, error.message);
        else
            check_u64(render("{{ x[0] }}", values, &options, &out, &error), GUFO_E_LIMIT, "row %zu",
                      i);
        gufo_text_free(&out);
        free(json);
        gufo_template_values_free(values);
        check_u64(counted.in_use, 0, "row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),      cmocka_unit_test(test_macros),
        cmocka_unit_test(test_filters),       cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_json),
        cmocka_unit_test(test_values_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
