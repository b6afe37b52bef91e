/* What is found in chat templates: dangerous names, faults, and what is left alone. */
#include "../support/check.h"
#include "../support/shared.h"

#include "gufo/template.h"

#include <dirent.h>

typedef struct lint_row {
    gufo_str text;
    size_t dangers, faults;
} lint_row;

#define VIEW(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }
#define DANGER(text, count)  \
    {                        \
        VIEW(text), count, 0 \
    }
#define FAULT(text, count)   \
    {                        \
        VIEW(text), 0, count \
    }
#define GOOD(text)       \
    {                    \
        VIEW(text), 0, 0 \
    }

typedef struct listener {
    gufo_str text;
    const char *label;
    size_t dangers, faults, stop_at;
    gufo_template_finding first;
    char message[300];
} listener;

static bool listen(void *context, const gufo_template_finding *finding)
{
    listener *l = context;
    uint64_t line = 1, column = 1;

    check(finding->offset <= l->text.len, "%s: inside: %s", l->label, finding->message);
    for (size_t i = 0; i < finding->offset; i++) {
        bool ends = l->text.data[i] == '\n';

        line += ends;
        column = ends ? 1 : column + (((uint8_t)l->text.data[i] & 0xC0) != 0x80);
    }
    check_u64(finding->line, line, "%s: line", l->label);
    check_u64(finding->column, column, "%s: column", l->label);
    check(finding->message[0] != '\0' && strchr(finding->message, '\n') == NULL, "%s: a sentence",
          l->label);
    if (l->dangers + l->faults == 0) {
        l->first = *finding;
        (void)snprintf(l->message, sizeof l->message, "%s", finding->message);
    }
    *(finding->dangerous ? &l->dangers : &l->faults) += 1;
    return l->dangers + l->faults != l->stop_at;
}

static listener lint(gufo_str text, const char *label, size_t stop_at)
{
    listener l = {.text = text, .label = label, .stop_at = stop_at};
    gufo_error error;

    check_u64(gufo_template_lint(text, NULL, listen, &l, &error), GUFO_OK, "%s", label);
    return l;
}

static void check_rows(const lint_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        listener l = lint(rows[i].text, rows[i].text.data, 0);

        check_u64(l.dangers, rows[i].dangers, "%s: dangers", rows[i].text.data);
        check_u64(l.faults, rows[i].faults, "%s: faults", rows[i].text.data);
    }
}

/* One name in every spelling. */
static void test_dunder(void **state)
{
    static const lint_row rows[] = {
        DANGER("{{ x.__class__ }}", 1),
        DANGER("{{ x . __class__ }}", 1),
        DANGER("{{ x.0.__class__ }}", 1),
        DANGER("{% if x.__class__ %}{% endif %}", 1),
        DANGER("{{ x['__class__'] }}", 1),
        DANGER("{{ x[\"__class__\"] }}", 1),
        DANGER("{{ x['__cla' 'ss__'] }}", 1),
        DANGER("{{ x['__cla' ~ 'ss__'] }}", 1),
        DANGER("{{ x['__cla' + 'ss__'] }}", 1),
        DANGER("{{ x[('__cla') ~ ('ss__')] }}", 1),
        DANGER("{{ x['_' * 2 ~ 'class__'] }}", 1),
        DANGER("{{ x['\\x5f\\x5fclass\\x5f\\x5f'] }}", 1),
        DANGER("{{ x['\\u005f_class__'] }}", 1),
        DANGER("{{ x['\\U0000005f_class__'] }}", 1),
        DANGER("{{ x['\\137_class\\137_'] }}", 1),
        FAULT("{{ x['\\N{LOW LINE}_class__'] }}", 1),
        DANGER("{{ x['__cl\\\nass__'] }}", 1),
        DANGER("{{ x['__\\143lass__'] }}", 1),
        DANGER("{{ x|attr('__class__') }}", 1),
        DANGER("{{ x|map(attribute='__class__') }}", 1),
        DANGER("{{ x|map(attribute='a.__class__') }}", 1),
        DANGER("{{ x|map('attr', '__class__') }}", 1),
        DANGER("{{ x|groupby('__class__') }}", 1),
        DANGER("{% set a = '__class__' %}{{ x[a] }}", 1),
        DANGER("{{ x[['__cla', 'ss__']|join] }}", 1),
        DANGER("{{ x[['_' * 2, 'class__']|join] }}", 1),
        DANGER("{{ x[('__cla', 'ss__')|join] }}", 1),
        DANGER("{{ '{0.__class__}'.format(x) }}", 1),
        DANGER("{{ '{0[__class__]}'.format(x) }}", 1),
        DANGER("{{ '{a.\\x5f_class__!r}'|format(x) }}", 1),
        DANGER("{{ x[('a' ~ '__class__')[1:]] }}", 2),
        DANGER("{{ __import__('x') }}", 1),
        DANGER("{{ __builtins__ }}", 1),
        DANGER("{{ ''.__class__.__mro__[1].__subclasses__() }}", 3),
        DANGER("{{- x.__class__ -}}", 1),
        DANGER("{%- set a = x.__class__ -%}", 1),
        DANGER("{{ {'a': {'b': x.__class__}} }}", 1),
        DANGER("{{ \"}}\" }}{{ '%}' }}{{ x.__class__ }}", 1),
        /* blanks that are more than a byte, in the code and around raw */
        DANGER("{{ x.\xc2\xa0__class__ }}", 1),
        DANGER("{{ x.__class__\xe3\x80\x80}}", 1),
        DANGER("{{ x\x1c.\xe2\x80\xa8__class__\xc2\x85.y }}", 1),
        DANGER("{% raw %}{% endraw\xc2\xa0%}{{ x.__class__ }}{% raw %}{% endraw %}", 1),
        DANGER("{% raw\x1f%}{%\xe2\x80\x83"
               "endraw %}{{ x.__class__ }}{% raw %}{% endraw %}",
               1),
        DANGER("{{ x[dict(__cla=a, ss__=a)|join] }}", 1),
        DANGER("{{ x[dict(__cla=1,ss__=1)|join] }}", 1),
        FAULT("{{ x[dict(__cla=a, b, ss__=a)|join] }}", 1),
        GOOD("{{ dict(__cla=a, ss__=b) }}"),
        GOOD("{{ x.\xc3\xa9_class__ }}"),
        GOOD("x.__class__ {# x.__class__ #} {% raw %}{{ x.__class__ }}{% endraw %}"),
        GOOD("{{ 'is called __init__ here' }}"),
        GOOD("{{ x.split('__') ~ '____' }}{{ '_____' }}{{ '_' * 9 }}"),
        GOOD("{{ '_' * 99999999999999999999 }}{{ '_' * 0x9 }}"),
        GOOD("{{ 'a__b__c' }}{{ x._a }}{{ x.__a }}{{ x.a__ }}"),
        GOOD("{{ x['\\\\x5f\\\\x5fclass__'] }}"),
        GOOD("{{ '__cla', 'ss__' }}{{ f('__cla', 'ss__')|length }}"),
        GOOD("{{ '__cla' ~ x ~ 'ss__' }}"),
        GOOD("{{ 'a {0} b {1.name} {{c}}'.format(x, y) }}"),
        GOOD("{{ '{ see __class__ }' }}"),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

/* Names that lead out, and harmless ones. */
static void test_names(void **state)
{
    static const lint_row rows[] = {
        DANGER("{{ x.mro() }}", 1),
        DANGER("{{ x['mro'] }}", 1),
        DANGER("{{ x.gi_frame.f_globals }}", 2),
        DANGER("{{ x|attr('func_globals') }}", 1),
        DANGER("{{ self._TemplateReference__context }}", 1),
        DANGER("{{ self['_TemplateReference__context'] }}", 1),
        DANGER("{{ self._x }}", 1),
        DANGER("{{ cycler.a }}", 1),
        DANGER("{{ joiner['a'] }}", 1),
        DANGER("{{ lipsum|attr('a') }}", 1),
        DANGER("{{ namespace.__init__ }}", 2),
        DANGER("{{ os.popen('id').read() }}", 2),
        DANGER("{{ x.popen('id') }}", 1),
        DANGER("{{ x['popen']('id') }}", 1),
        DANGER("{{ x.system('id') }}", 1),
        DANGER("{{ subprocess }}", 1),
        DANGER("{{ open('/etc/passwd').read() }}", 1),
        DANGER("{{ eval('1') }}{{ exec ( '1' ) }}", 2),
        DANGER("{{ getattr(x, 'a') }}", 1),
        DANGER("{{ urlopen('a') }}{{ requests.get('a') }}{{ socket.socket() }}", 4),
        DANGER("{{ config }}{{ request.args }}", 2),
        DANGER("{% macro m(a=os) %}{% endmacro %}", 1),
        DANGER("{% for a in os %}{% endfor %}", 1),
        DANGER("{{ x|attr(y) }}", 1),
        DANGER("{{ x|attr('a' ~ y) }}", 1),
        GOOD("{{ x|attr('a'|lower) }}"),
        DANGER("{{ x|attr('a' if y else 'b') }}", 1),
        DANGER("{{ x|groupby(y) }}", 1),
        DANGER("{{ x|groupby('a' ~ y) }}", 1),
        DANGER("{{ x|map(attribute=y) }}", 1),
        DANGER("{{ x|sort(false, attribute=y) }}", 1),
        DANGER("{{ x|map('attr', y) }}", 1),
        DANGER("{% macro m() %}{% endmacro %}{{ m._environment.from_string(x) }}", 2),
        DANGER("{{ x|attr('_func') }}", 1),
        DANGER("{{ loop._iterator }}{{ caller._func }}", 2),
        DANGER("{% print x.mro() %}", 1),
        DANGER("{% import 'a' as b %}", 1),
        DANGER("{%- from 'a' import b %}", 1),
        DANGER("{%+ include 'a' %}", 1),
        DANGER("{% extends 'a' %}", 1),
        GOOD("{{ x|attr('role') }}{{ x|attr('a' 'b') }}"),
        GOOD(
            "{{ x|groupby('role') }}{{ x|map(attribute='a', default=y) }}{{ x|map('attr', 'a') }}"),
        GOOD("{{ x|sort(attribute=0) }}{{ f(attribute=y) }}{{ x|map(y) }}{{ f('attr', y) }}"),
        GOOD("{% macro m(a, attribute=b) %}{{ attribute }}{% endmacro %}"),
        GOOD("{{ self.title() }}{{ x.self._a }}"),
        GOOD("{{ cycler('a', 'b').next() }}{{ joiner(', ') }}{{ lipsum() }}"),
        GOOD("{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{{ range(3) }}{{ dict(a=1) }}"),
        GOOD("{{ raise_exception('open the os') }}{{ strftime_now('%d') }}{{ x|tojson }}"),
        GOOD("{{ loop.index0 }}{{ 'os' in x }}{{ x in ['mro', 'popen'] }}"),
        GOOD("os.popen eval( {{ 'os.popen eval(' }} {# {{ os }} #}"),
        GOOD("{% set config = x %}{{ config.a }}"),
        GOOD("{% for os, sys in x %}{{ os }}{{ sys }}{% endfor %}"),
        GOOD("{% macro open(config, request=none) %}{{ config ~ request }}{% endmacro %}"
             "{{ open(1) }}"),
        GOOD("{% with os = 1, sys = 2 %}{{ os ~ sys }}{% endwith %}"),
        GOOD("{% set config %}a{% endset %}{{ config }}"),
        GOOD("{{ f(config=1, os=2) }}{{ x.config }}{{ x.os }}"),
        GOOD("{{ x['system'] }}{{ x.system }}{{ system }}{{ x['open'] }}{{ x|map('eval') }}"),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

/* Tags without their ends, and ends without their tags. */
static void test_blocks(void **state)
{
    static const lint_row rows[] = {
        FAULT("{% if x %}", 1),
        FAULT("{% for x in y %}{% if x %}{% endfor %}", 1),
        FAULT("{% endif %}", 1),
        FAULT("{% else %}", 1),
        FAULT("{% for x in y %}{% elif x %}{% endfor %}", 1),
        FAULT("{% if x %}{% else %}{% elif y %}{% endif %}", 1),
        FAULT("{% if x %}{% else %}{% else %}{% endif %}", 1),
        FAULT("{% macro m() %}", 1),
        FAULT("{% call m() %}", 1),
        FAULT("{% filter upper %}", 1),
        FAULT("{% set x %}", 1),
        FAULT("{% set x = 1 %}{% endset %}", 1),
        FAULT("{% generation %}{% if x %}{% endgeneration %}", 1),
        FAULT("{% endraw %}", 1),
        FAULT("{% if x %}{% for a in b %}{% macro m() %}", 1),
        FAULT("{% foo %}", 1),
        FAULT("{% %}", 1),
        FAULT("{% 'a' %}", 1),
        GOOD("{% print 'a', x %}"),
        GOOD("{% if a %}{% elif b %}{% elif c %}{% else %}{% endif %}"),
        GOOD("{% for a in b if c %}{% else %}{% endfor %}"),
        GOOD(
            "{% for a in b %}{% if a %}{% continue %}{% else %}{% break %}{% endif %}{% endfor %}"),
        GOOD("{% macro m(a, b=1) %}{% endmacro %}{% call(c) m(1) %}{% endcall %}"),
        GOOD("{% filter upper %}{% endfilter %}{% generation %}{% endgeneration %}"),
        GOOD("{% set a %}{% endset %}{% set a | upper %}{% endset %}{% set a, b = 1, 2 %}"),
        GOOD("{% set a = b == c %}{% block a %}{% endblock a %}"),
        FAULT("{% do f() %}", 1),
        FAULT("{{ x is os }}", 1),
        GOOD("{%- if a -%}{%+ endif +%}"),
        GOOD("{% raw %}{% if %}{{{% endraw %}{%- raw -%}{%- endraw -%}"),
        GOOD("a } b }} c %} d #} e { f {a} % {"),
        GOOD(""),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

/* What is opened and not closed. */
static void test_unclosed(void **state)
{
    static const lint_row rows[] = {
        FAULT("a {{ b", 1),
        FAULT("a {% if b", 1),
        FAULT("a {{ b {% if c %}{% endif %}", 1),
        FAULT("a {# b", 1),
        FAULT("a {#}", 1),
        FAULT("{% raw %}{{ a", 1),
        FAULT("{{ 'a }}", 1),
        FAULT("{{ \"a\\\" }}", 1),
        FAULT("{{ 'a }}{{ \\'b }}", 1),
        FAULT("{{", 1),
        FAULT("{%", 1),
        FAULT("{{ a( }} b", 1),
        FAULT("{{ a[( }} b", 1),
        FAULT("{{ a) }}", 1),
        FAULT("{{ a(] }}", 1),
        FAULT("{% if (a %}{% endif %}", 1),
        FAULT("{% set a = {'b': 1 %}", 1),
        FAULT("{{ {'a': 1 }} b {{ c }}", 1),
        FAULT("{% if a }}{% endif %}", 1),
        GOOD("{{ {'a': {'b': {}}} }}{{ [(1, [2])] }}{{ {'a': {}}}}"),
        GOOD("{{ '{{' }}{{ \"{%\" }}{{ '}}' }}{{ '(' }}{{ 'a\\'b' }}{{ \"'\" }}"),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void test_place(void **state)
{
    listener l = lint(gufo_str_of("a\n\xc3\xa9 {{ x.__class__ }}"), "place", 0);

    (void)state;
    check_u64(l.first.line, 2, "line");
    check_u64(l.first.column, 8, "column");
    check_u64(l.first.offset, 10, "byte");
    l = lint(gufo_str_of("a\n{% if x %}\n{{ x ! }}"), "fault", 0);
    check_u64(l.first.line, 3, "line");
    check_u64(l.first.column, 6, "column");
    check(strncmp(l.message, "unexpected character", 20) == 0, "%s", l.message);
}

static void test_stop(void **state)
{
    gufo_str text = gufo_str_of("{{ a.__b__ }}{{ a.__b__ }}{{ a.__b__ }}");

    (void)state;
    check_u64(lint(text, "all", 0).dangers, 3, "all");
    check_u64(lint(text, "some", 2).dangers, 2, "the judge stops when its caller says so");
}

/* A fault is found at its byte where lines end with \r\n, too. */
static void test_crlf(void **state)
{
    gufo_str text = gufo_str_of("a\r\n\r\n{{ x.mro }}");

    (void)state;
    check_u64(lint(text, "danger", 0).first.offset, 10, "danger");
    text = gufo_str_of("a\r\n\r\n{{ x ? }}");
    check_u64(lint(text, "fault", 0).first.offset, 10, "fault");
}

/* Nothing dangerous is found in the templates of models that are in use, and hardly a fault. */
static void test_real(void **state)
{
    path_text where = need_shared("data/text/templates");
    struct dirent *entry;
    size_t count = 0, faults = 0;
    DIR *listing;

    (void)state;
    listing = opendir(where.text);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        path_text path = path_join(where.text, entry->d_name);
        const char *end = strrchr(entry->d_name, '.');
        listener l;
        size_t len;
        char *text;

        if (end == NULL || strcmp(end, ".jinja") != 0)
            continue;
        text = (char *)read_file(path.text, &len);
        assert_non_null(text);
        l = lint((gufo_str){text, len}, entry->d_name, 0);
        check_u64(l.dangers, 0, "%s: %s", entry->d_name, l.message);
        if (l.faults != 0) /* a filter that only some programs have */
            check(strstr(l.message, "from_json") != NULL, "%s: %s", entry->d_name, l.message);
        faults += l.faults;
        free(text);
        count++;
    }
    closedir(listing);
    check(count >= 60 && faults <= 4, "%zu templates, %zu faults", count, faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dunder), cmocka_unit_test(test_names),
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_unclosed),
        cmocka_unit_test(test_place),  cmocka_unit_test(test_stop),
        cmocka_unit_test(test_crlf),   cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
