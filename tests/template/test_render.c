/* Chat templates: every construct of the language, limits, places, and shared use. */
#include "../support/allocator.h"
#include "../support/check.h"
#include "../support/pace.h"
#include "template_cases.h"

#include "gufo/template.h"

#include <pthread.h>

typedef struct rendering {
    gufo_status status;
    gufo_error error;
    gufo_template_place place;
    gufo_text out;
    bool parsed;
} rendering;

static gufo_str view(const gufo_text *text)
{
    return (gufo_str){text->data == NULL ? "" : text->data, text->len};
}

static rendering render_with(const char *source, const char *variables,
                             const gufo_template_options *options)
{
    rendering r = {0};
    gufo_template *parsed = gufo_template_parse(gufo_str_of(source), NULL, &r.place, &r.error);
    gufo_template_values *values = gufo_template_values_new(NULL, NULL);

    assert_non_null(values);
    assert_int_equal(gufo_template_values_set_all(values, gufo_str_of(variables), &r.error),
                     GUFO_OK);
    r.parsed = parsed != NULL;
    r.status = parsed == NULL
                   ? r.error.code
                   : gufo_template_render(parsed, values, options, &r.out, &r.place, &r.error);
    gufo_template_values_free(values);
    gufo_template_free(parsed);
    return r;
}

static rendering render(const char *source)
{
    return render_with(source, case_variables,
                       &(gufo_template_options){.now = 1767312000}); /* 2026-01-02 */
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(template_cases); i++) {
        rendering r = render(template_cases[i].source);

        check(r.status == GUFO_OK, "%s: %s", template_cases[i].source, r.error.message);
        check_str(view(&r.out), template_cases[i].expected, "%s", template_cases[i].source);
        gufo_text_free(&r.out);
    }
}

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(template_errors); i++) {
        rendering r = render(template_errors[i].source);

        check(r.status != GUFO_OK, "%s", template_errors[i].source);
        check_u64(r.out.len, 0, "%s: no output", template_errors[i].source);
        check((r.status == GUFO_E_STOPPED) == (template_errors[i].message != NULL), "%s: %s",
              template_errors[i].source, r.error.message);
        if (template_errors[i].message != NULL)
            check_str(gufo_str_of(r.error.message), template_errors[i].message, "message");
        else
            check(strncmp(r.error.message, "line 1, column ", 15) == 0, "%s: %s",
                  template_errors[i].source, r.error.message);
    }
}

/* ---- limits --------------------------------------------------------------------------------- */

#define LONG "{% set a = 'a' * 10**6 %}"
#define FOREVER "{% for i in range(99999) %}"
#define END "{% endfor %}"

/* Each of these would take all memory or all time. */
static void test_limits(void **state)
{
    static const char *const hostile[] = {
        "{{ 'a' * 10**9 }}",
        "{{ ('a' * 10**7) * 10 }}",
        "{{ [1] * 10**9 }}",
        "{{ range(10**12) }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}"
        "{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}"
        "{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}"
        "{% endfor %}",
        "{% set ns = namespace(s=[]) %}{% for i in range(9999) %}{% set ns.s = [ns.s, ns.s] %}"
        "{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s=[]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}"
        "{% endfor %}{{ ns.s|tojson }}",
        "{% set ns = namespace(s=[], t=[]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}"
        "{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.s == ns.t }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{{ f(n + 1) ~ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% for i in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
        "{{ 'a'.center(10**9) }}",
        "{{ 'a'|center(10**9) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%.1000000000f' % 1.5 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:01000000000,}'.format(1) }}",
        "{{ '{:.100000}'.format(1.5) }}",
        "{{ ('a' * 10**6)|replace('a', 'b' * 1000) }}",
        "{{ ('b' * 1000).join('a' * 10**6) }}",
        "{{ ('a' * 10**5)|list|join('b' * 10000) }}",
        "{{ ('a\n' * 10**6)|indent(1000) }}",
        "{{ ('\t' * 10**6).expandtabs(10**6) }}",
        "{{ {'a': [[[1]]]}|tojson(indent=10**9) }}",
        "{{ [1]|batch(10**9, 'x')|list }}",
        "{{ [1]|slice(10**9)|list }}",
        "{{ 'x'.zfill(10**9) }}",
        "{{ 'x'.ljust(10**9, 'y') }}",
        "{% set a = 'x' * 10**6 %}{% for i in range(10**5) %}{{ a }}{% endfor %}",
        "{% set a = 'x' * 10**6 %}{% for i in range(10**5) %}{% if a.find('y') > 0 %}{% endif %}"
        "{% for j in range(10**5) %}{% if 'y' in a %}{% endif %}{% endfor %}{% endfor %}",
        /* Keys: tuples that share parts, long texts, and names in many scopes. */
        "{% set ns = namespace(t=(1,)) %}{% for i in range(45) %}{% set ns.t = (ns.t, ns.t) %}"
        "{% endfor %}{{ {ns.t: 1} }}",
        "{% set ns = namespace(t=(1,)) %}{% for i in range(45) %}{% set ns.t = (ns.t, ns.t) %}"
        "{% endfor %}{{ ns.t in {} }}",
        LONG "{% set d = {1: 1} %}" FOREVER "{% if a in d %}{% endif %}" END,
        LONG "{% set d = {1: 1} %}" FOREVER "{% if d[a] %}{% endif %}" END,
        LONG "{% set d = {1: 1} %}" FOREVER "{% if d.get(a) %}{% endif %}" END,
        LONG FOREVER "{% if namespace({a: 1}) %}{% endif %}" END,
        /* Texts that are looked at and give nothing. */
        LONG FOREVER "{% if a.isidentifier() %}{% endif %}" END,
        "{% set a = ' ' * 10**6 %}" FOREVER "{% if a.strip() %}{% endif %}" END,
        "{% set a = '0' * 10**6 %}" FOREVER "{% if a|int %}{% endif %}" END,
        "{% set a = ' ' * 10**6 %}" FOREVER "{% if a|float %}{% endif %}" END,
        "{% set a = ' ' + 'a' * 10**6 %}" FOREVER "{{ a|truncate(900000) }}" END,
        LONG FOREVER "{% if a.removeprefix(a) %}{% endif %}" END,
        LONG FOREVER "{% if a is sameas 'b' %}{% endif %}" END,
        "{% set a = 'a' * 10**6 %}" FOREVER "{% if a.rfind('a' * 254 ~ 'b') %}{% endif %}" END,
        "{% set p = '0.' * 10**6 ~ '0' %}{{ (['a'] * 10**5)|map(attribute=p)|list }}",
        "{% set s = ['ab:'] * 10**5 %}{{ ('x ' * 10**4)|urlize(extra_schemes=s) }}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        gufo_template_options options = {.steps = 60000, .output = 4 << 20, .memory = 32 << 20};
        rendering r = render_with(hostile[i], "{}", &options);

        check(r.status == GUFO_E_LIMIT, "%s: %s: %s", hostile[i], gufo_status_name(r.status),
              r.error.message);
        gufo_text_free(&r.out);
    }
}

/* Time does not grow faster than what is worked on. */
static void test_keys_and_scans(void **state)
{
    static const struct {
        const char *source, *out;
    } cases[] = {
        /* Keys whose lowest bits are equal, and objects, which have no text. */
        {"{{ range(0, 99999 * 2**32, 2**32)|unique|list|length }}", "99999"},
        {"{{ ('a' * 99999)|list|map(attribute='upper')|unique|list|length }}", "99999"},
        {"{{ ('<!-- > ' * 99999)|striptags|length }}", "0"},
        {"{{ ('' * 10**18)|length }}", "0"},
        {"{{ ('-' * 10**6)|wordwrap(1)|length }}", "1999999"},
        {"{{ range(5, 9 * 10**18, 9 * 10**18)[1:]|length }}", "0"},
        {"{{ range(3, 4, 2) == range(3, 5, 7) }}", "True"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        rendering r = render(cases[i].source);
        gufo_str out = {r.out.data, r.out.len};

        check(r.status == GUFO_OK, "%s: %s", cases[i].source, r.error.message);
        check_str(out, cases[i].out, "%s", cases[i].source);
        gufo_text_free(&r.out);
    }
}

/* `count` times `open`, then `middle`, then `count` times `close`. */
static char *nest(const char *open, const char *middle, const char *close, size_t count)
{
    size_t size = (strlen(open) + strlen(close)) * count + strlen(middle) + 1;
    char *text = malloc(size), *at = text;

    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", middle);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", close);
    return text;
}

/* Neither the parser nor the interpreter uses up the stack. */
static void test_depth(void **state)
{
    static const struct {
        const char *open, *middle, *close;
    } rows[] = {
        {"(", "1", ")"},
        {"[", "", "]"},
        {"{'a':", "1", "}"},
        {"not ", "1", ""},
        {"-", "1", ""},
        {"1 if 1 else ", "1", ""},
        {"", "x", "|upper"},
        {"", "x", ".a"},
        {"", "x", "[0]"},
        {"", "1", "+1"},
        {"", "1", " is defined"},
        {"f(", "1", ")"},
        {"{% if 1 %}", "x", "{% endif %}"},
        {"{% for i in [1] %}", "x", "{% endfor %}"},
        {"{% macro m() %}", "x", "{% endmacro %}"},
        {"{% if 0 %}{% el", "if 1 %}", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *inner = nest(rows[i].open, rows[i].middle, rows[i].close, 50000);
        char *whole = rows[i].open[0] == '{' && rows[i].open[1] == '%'
                          ? nest("", inner, "", 0)
                          : nest("{{ ", inner, " }}", 1);
        rendering r = render(whole);

        check(r.status != GUFO_OK, "%s", rows[i].close);
        gufo_text_free(&r.out);
        free(whole);
        free(inner);
    }
}

/* Deep, but not too deep. */
static void test_fair_depth(void **state)
{
    static const struct {
        const char *source, *expected;
    } rows[] = {
        {"{% macro f(n) %}{% if n > 0 %}{% for i in [1] %}{% if true %}{{ f(n - 1) }}{% endif %}"
         "{% endfor %}{% else %}x{% endif %}{% endmacro %}{{ f(100) }}",
         "x"},
        {"{{ ((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))) }}", "1"},
    };
    char *sum = nest("{{ 0", "", "+1", 100), *long_sum;
    rendering r;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        r = render(rows[i].source);
        check(r.status == GUFO_OK, "%s: %s", rows[i].source, r.error.message);
        check_str(view(&r.out), rows[i].expected, "%s", rows[i].source);
        gufo_text_free(&r.out);
    }
    free(sum);
    sum = nest("", "0", "+1", 300);
    long_sum = nest("{{ ", sum, " }}", 1);
    r = render(long_sum);
    check(r.status == GUFO_OK, "%s", r.error.message);
    check_str(view(&r.out), "300", "a long sum");
    gufo_text_free(&r.out);
    free(long_sum);
    free(sum);
}

/* Building a text or a list piece by piece takes memory in proportion to the result. */
static void test_linear(void **state)
{
    static const char *const sources[] = {
        "{% set ns = namespace(s='') %}{% for i in range(90000) %}"
        "{% set ns.s = ns.s + 'abcdefgh' %}{% endfor %}{{ ns.s|length }}",
        "{% set ns = namespace(s='') %}{% for i in range(90000) %}"
        "{% set ns.s = ns.s ~ 'abcdefgh' %}{% endfor %}{{ ns.s|length }}",
        "{% set ns = namespace(s=[]) %}{% for i in range(90000) %}"
        "{% set ns.s = ns.s + ['abcdefgh'] %}{% endfor %}{{ ns.s|join|length }}",
        "{% set s = '\303\251bcdefgh' * 90000 %}{% set ns = namespace(n=0) %}"
        "{% for i in range(90000) %}{% if s[i * 8] == '\303\251' %}{% set ns.n = ns.n + 8 %}"
        "{% endif %}{% endfor %}{{ ns.n }}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        gufo_template_options options = {.memory = 64 << 20};
        rendering r = render_with(sources[i], "{}", &options);

        check(r.status == GUFO_OK, "%s: %s", sources[i], r.error.message);
        check_str(view(&r.out), "720000", "%s", sources[i]);
        gufo_text_free(&r.out);
    }
}

/* ---- places --------------------------------------------------------------------------------- */

static void test_places(void **state)
{
    static const struct {
        const char *source;
        uint64_t line, column;
    } rows[] = {
        {"a\n\n{{ x.y.z }}", 3, 6},
        {"\303\251 {{ 1 + 'a' }}", 1, 8},
        {"a\r\n{{ 'x' | nofilter }}", 2, 10},
        {"{% if x %}\n  {{ y ! }}", 2, 8},
        {"x\n  {% if x %}\n", 2, 6},
        {"{% macro f() %}\n{{ 1 / 0 }}{% endmacro %}\n{{ f() }}", 2, 6},
        {"{% for i in 5 %}{% endfor %}", 1, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rendering r = render_with(rows[i].source, "{}", NULL);

        check(r.status != GUFO_OK, "%s", rows[i].source);
        check(r.place.line == rows[i].line && r.place.column == rows[i].column,
              "%s: line %" PRIu64 ", column %" PRIu64 ": %s", rows[i].source, r.place.line,
              r.place.column, r.error.message);
    }
}

/* ---- the interface -------------------------------------------------------------------------- */

static void test_values(void **state)
{
    gufo_template_values *values = gufo_template_values_new(NULL, NULL);
    gufo_error error;

    (void)state;
    assert_non_null(values);
    check_u64(gufo_template_values_set(values, "x", gufo_str_of("[1, 2"), &error), GUFO_E_MALFORMED,
              "JSON that ends early");
    check(!gufo_template_values_has(values, "x"), "nothing is set");
    check_u64(gufo_template_values_set_all(values, gufo_str_of("[]"), &error), GUFO_E_MALFORMED,
              "not an object");
    check_u64(gufo_template_values_set_all(values, gufo_str_of("{\"x\": \"a\\u0000b\"}"), &error),
              GUFO_OK, "NUL");
    check(gufo_template_values_has(values, "x"), "x is set");
    check_u64(gufo_template_values_set_text(values, "y", gufo_str_of("a\xff"), &error),
              GUFO_E_MALFORMED, "a text that is not UTF-8");
    check_u64(error.offset, 1, "its byte");
    check(!gufo_template_values_has(values, "y"), "y is not set");
    check_u64(gufo_template_values_set_text(values, "y", gufo_str_of("\"{\xc3\xa9"), &error),
              GUFO_OK, "a text that is not JSON");
    check(gufo_template_values_has(values, "y"), "y is set");
    gufo_template_values_free(values);
    gufo_template_values_free(NULL);
    gufo_template_free(NULL);
}

static void test_source(void **state)
{
    gufo_error error;

    (void)state;
    assert_null(gufo_template_parse(gufo_str_of("a\xff"), NULL, NULL, &error));
    check_u64(error.code, GUFO_E_MALFORMED, "not UTF-8");
    check_u64(error.offset, 1, "its byte");
}

/* Output is appended; on failure it stays as it was. */
static void test_append(void **state)
{
    gufo_template *good = gufo_template_parse(gufo_str_of("b{{ x }}"), NULL, NULL, NULL);
    gufo_template *bad = gufo_template_parse(gufo_str_of("c{{ x.y }}"), NULL, NULL, NULL);
    gufo_template_options reserved = {.reserved = {0, 0, 0, 1}};
    gufo_text out = {0};

    (void)state;
    assert_true(good != NULL && bad != NULL);
    for (int i = 0; i < 3; i++) {
        check_u64(gufo_template_render(good, NULL, NULL, &out, NULL, NULL), GUFO_OK, "good");
        check_u64(gufo_template_render(bad, NULL, NULL, &out, NULL, NULL), GUFO_E_TYPE, "bad");
    }
    check_str(view(&out), "bbb", "output");
    check_u64(gufo_template_render(good, NULL, &reserved, &out, NULL, NULL), GUFO_E_ARGUMENT,
              "reserved");
    gufo_text_free(&out);
    gufo_template_free(good);
    gufo_template_free(bad);
}

typedef struct sharing {
    const gufo_template *parsed;
    const gufo_template_values *values;
    bool good;
} sharing;

static void *render_often(void *context)
{
    sharing *s = context;

    s->good = true;
    for (int i = 0; i < 50; i++) {
        gufo_text out = {0};

        s->good = s->good &&
                  gufo_template_render(s->parsed, s->values, NULL, &out, NULL, NULL) == GUFO_OK &&
                  out.len == 1810;
        gufo_text_free(&out);
    }
    return NULL;
}

/* Any number of threads may render one template with the same variables. */
static void test_threads(void **state)
{
    gufo_template *parsed = gufo_template_parse(
        gufo_str_of("{% for i in range(200) %}{{ s[1] ~ (d|tojson)[0] ~ s|upper }}{% endfor %}"
                    "{{ s[0] }}{{ s ~ '!' }}"),
        NULL, NULL, NULL);
    gufo_template_values *values = gufo_template_values_new(NULL, NULL);
    pthread_t threads[4];
    sharing shares[4];
    gufo_error error;

    (void)state;
    assert_true(parsed != NULL && values != NULL);
    assert_int_equal(
        gufo_template_values_set_all(
            values, gufo_str_of("{\"s\": \"\303\251bcd\303\251\", \"d\": {\"a\": 1}}"), &error),
        GUFO_OK);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        shares[i] = (sharing){parsed, values, false};
        assert_int_equal(pthread_create(&threads[i], NULL, render_often, &shares[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        check(shares[i].good, "thread %zu", i);
    }
    gufo_template_values_free(values);
    gufo_template_free(parsed);
}

/* ---- failure everywhere --------------------------------------------------------------------- */

/* A place where rendering can fail: `limit` grows until it does not. */
static void check_failures(const gufo_template *parsed, const gufo_template_values *values,
                           const char *source, gufo_template_options *options, uint64_t *limit,
                           uint64_t by)
{
    for (*limit = by;; *limit += by) {
        gufo_text out = {0};
        gufo_error error;
        gufo_status status = gufo_template_render(parsed, values, options, &out, NULL, &error);
        size_t len = out.len;

        gufo_text_free(&out);
        if (status == GUFO_OK)
            return;
        check(status == GUFO_E_LIMIT && len == 0, "%s: %s", source, error.message);
    }
}

/* Whatever runs out, and wherever: the rendering fails cleanly. */
static void test_every_limit(void **state)
{
    gufo_template_options options = {.now = 1767312000};
    const uint64_t bytes = all_some_or_few(32, 900, 2000), steps = all_some_or_few(1, 11, 20);
    const uint64_t output = all_some_or_few(1, 3, 20);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(template_cases); i++) {
        const char *source = template_cases[i].source;
        gufo_error error;
        gufo_template *parsed = gufo_template_parse(gufo_str_of(source), NULL, NULL, &error);
        gufo_template_values *values = gufo_template_values_new(NULL, &error);

        assert_true(parsed != NULL && values != NULL);
        assert_int_equal(gufo_template_values_set_all(values, gufo_str_of(case_variables), &error),
                         GUFO_OK);
        check_failures(parsed, values, source, &options, &options.memory, bytes);
        options.memory = 0;
        check_failures(parsed, values, source, &options, &options.steps, steps);
        options.steps = 0;
        check_failures(parsed, values, source, &options, &options.output, output);
        options.output = 0;
        gufo_template_values_free(values);
        gufo_template_free(parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),       cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_keys_and_scans),
        cmocka_unit_test(test_depth),       cmocka_unit_test(test_fair_depth),
        cmocka_unit_test(test_linear),      cmocka_unit_test(test_places),
        cmocka_unit_test(test_values),      cmocka_unit_test(test_source),
        cmocka_unit_test(test_append),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_every_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
