/* The lint of chat templates: what it finds, where, and what it leaves alone. */
#include "../../support/check.h"

#include "../../support/shared.h"

#include "schema/syntax/lint.h"

#include <dirent.h>
#include <unistd.h>

#define VIEW(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

enum { NONE = -1, MOST = 8 };

typedef struct listener {
    gufo_str text;
    const char *label;
    size_t count, stop_at; /* 0: never */
    int kinds[MOST];       /* the first */
    gufo_str pieces[MOST];
    size_t dangerous;
} listener;

static size_t lines_before(gufo_str text, size_t offset)
{
    size_t lines = 0;

    for (size_t i = 0; i < offset; i++)
        lines += text.data[i] == '\n';
    return lines;
}

static bool listen(void *context, const lint_finding *finding)
{
    listener *l = context;
    size_t end = finding->offset + finding->text.len;

    check(end >= finding->offset && end <= l->text.len, "%s: inside", l->label);
    check(finding->text.data == l->text.data + finding->offset, "%s: the piece", l->label);
    check(finding->column >= 1, "%s: the column", l->label);
    if (l->count < MOST) {
        check_u64(finding->line, 1 + lines_before(l->text, finding->offset), "%s", l->label);
        l->kinds[l->count] = (int)finding->kind;
        l->pieces[l->count] = finding->text;
    }
    check(finding->message[0] != '\0' && strchr(finding->message, '\n') == NULL, "%s: a sentence",
          l->label);
    check_u64(gufo_utf8_valid_prefix(gufo_str_of(finding->message)), strlen(finding->message), "%s",
              l->label);
    l->dangerous += lint_is_dangerous(finding->kind);
    l->count++;
    return l->count != l->stop_at;
}

static listener lint(gufo_str text, const char *label)
{
    listener l = {.text = text, .label = label};

    lint_template(text, listen, &l);
    return l;
}

/* The text in a block of just its size, so that the first byte past it is noticed. */
static void lint_copy(gufo_str text, const char *label)
{
    char *copy = malloc(text.len ? text.len : 1);

    assert_non_null(copy);
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    (void)lint((gufo_str){copy, text.len}, label);
    free(copy);
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct lint_row {
    gufo_str text;
    int kind; /* of the first finding, or NONE */
    const char *piece;
    size_t count;
} lint_row;

static void check_rows(const lint_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *label = rows[i].text.data;
        listener l = lint(rows[i].text, label);

        check_u64(l.count, rows[i].count, "%s", label);
        if (l.count == 0)
            continue;
        check_u64(l.kinds[0], rows[i].kind, "%s", label);
        check_str(l.pieces[0], rows[i].piece, "%s", label);
    }
}

#define BAD(text, kind, piece, count)         \
    {                                         \
        VIEW(text), LINT_##kind, piece, count \
    }
#define GOOD(text)              \
    {                           \
        VIEW(text), NONE, "", 0 \
    }

/* One name in every spelling. */
static void test_dunder(void **state)
{
    static const lint_row rows[] = {
        BAD("{{ x.__class__ }}", DUNDER, "__class__", 1),
        BAD("{{ x . __class__ }}", DUNDER, "__class__", 1),
        BAD("{{ x.0.__class__ }}", DUNDER, "__class__", 1),
        BAD("{% if x.__class__ %}{% endif %}", DUNDER, "__class__", 1),
        BAD("{{ x['__class__'] }}", DUNDER, "'__class__'", 1),
        BAD("{{ x[\"__class__\"] }}", DUNDER, "\"__class__\"", 1),
        BAD("{{ x['__cla' 'ss__'] }}", DUNDER, "'__cla' 'ss__'", 1),
        BAD("{{ x['__cla' ~ 'ss__'] }}", DUNDER, "'__cla' ~ 'ss__'", 1),
        BAD("{{ x['__cla' + 'ss__'] }}", DUNDER, "'__cla' + 'ss__'", 1),
        BAD("{{ x[('__cla') ~ ('ss__')] }}", DUNDER, "'__cla') ~ ('ss__'", 1),
        BAD("{{ x['_' * 2 ~ 'class__'] }}", DUNDER, "'_' * 2 ~ 'class__'", 1),
        BAD("{{ x['\\x5f\\x5fclass\\x5f\\x5f'] }}", DUNDER, "'\\x5f\\x5fclass\\x5f\\x5f'", 1),
        BAD("{{ x['\\u005f_class__'] }}", DUNDER, "'\\u005f_class__'", 1),
        BAD("{{ x['\\U0000005f_class__'] }}", DUNDER, "'\\U0000005f_class__'", 1),
        BAD("{{ x['\\137_class\\137_'] }}", DUNDER, "'\\137_class\\137_'", 1),
        BAD("{{ x['\\N{LOW LINE}_class__'] }}", DUNDER, "'\\N{LOW LINE}_class__'", 1),
        BAD("{{ x['__cl\\\nass__'] }}", DUNDER, "'__cl\\\nass__'", 1),
        BAD("{{ x['__\\143lass__'] }}", DUNDER, "'__\\143lass__'", 1),
        BAD("{{ x|attr('__class__') }}", DUNDER, "'__class__'", 1),
        BAD("{{ x|map(attribute='__class__') }}", DUNDER, "'__class__'", 1),
        BAD("{{ x|map(attribute='a.__class__') }}", DUNDER, "'a.__class__'", 1),
        BAD("{{ x|map('attr', '__class__') }}", DUNDER, "'__class__'", 1),
        BAD("{{ x|groupby('__class__') }}", DUNDER, "'__class__'", 1),
        BAD("{% set a = '__class__' %}{{ x[a] }}", DUNDER, "'__class__'", 1),
        BAD("{{ x[['__cla', 'ss__']|join] }}", DUNDER, "['__cla', 'ss__']", 1),
        BAD("{{ x[['_' * 2, 'class__']|join] }}", DUNDER, "['_' * 2, 'class__']", 1),
        BAD("{{ x[('__cla', 'ss__')|join] }}", DUNDER, "('__cla', 'ss__')", 1),
        BAD("{{ '{0.__class__}'.format(x) }}", DUNDER, "'{0.__class__}'", 1),
        BAD("{{ '{0[__class__]}'.format(x) }}", DUNDER, "'{0[__class__]}'", 1),
        BAD("{{ '{a.\\x5f_class__!r}'|format(x) }}", DUNDER, "'{a.\\x5f_class__!r}'", 1),
        BAD("{{ x[('a' ~ '__class__')[1:]] }}", DUNDER, "'a' ~ '__class__'", 1),
        BAD("{{ __import__('x') }}", DUNDER, "__import__", 1),
        BAD("{{ __builtins__ }}", DUNDER, "__builtins__", 1),
        BAD("{{ ''.__class__.__mro__[1].__subclasses__() }}", DUNDER, "__class__", 3),
        BAD("{{- x.__class__ -}}", DUNDER, "__class__", 1),
        BAD("{%- set a = x.__class__ -%}", DUNDER, "__class__", 1),
        BAD("{{ {'a': {'b': x.__class__}} }}", DUNDER, "__class__", 1),
        BAD("{{ \"}}\" }}{{ '%}' }}{{ x.__class__ }}", DUNDER, "__class__", 1),
        /* blanks that are more than a byte, in the code and around raw */
        BAD("{{ x.\xc2\xa0__class__ }}", DUNDER, "__class__", 1),
        BAD("{{ x.__class__\xe3\x80\x80}}", DUNDER, "__class__", 1),
        BAD("{{ x\x1c.\xe2\x80\xa8__class__\xc2\x85.y }}", DUNDER, "__class__", 1),
        BAD("{% raw %}{% endraw\xc2\xa0%}{{ x.__class__ }}{% raw %}{% endraw %}", DUNDER,
            "__class__", 1),
        BAD("{% raw\x1f%}{%\xe2\x80\x83"
            "endraw %}{{ x.__class__ }}{% raw %}{% endraw %}",
            DUNDER, "__class__", 1),
        BAD("{{ x[dict(__cla=a, ss__=a)|join] }}", DUNDER, "(__cla=a, ss__=a)", 1),
        BAD("{{ x[dict(__cla=1,ss__=1)|join] }}", DUNDER, "(__cla=1,ss__=1)", 1),
        GOOD("{{ x[dict(__cla=a, b, ss__=a)|join] }}{{ dict(__cla=a, ss__=b) }}"),
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

static void test_names(void **state)
{
    static const lint_row rows[] = {
        BAD("{{ x.mro() }}", INTERNAL, "mro", 1),
        BAD("{{ x['mro'] }}", INTERNAL, "'mro'", 1),
        BAD("{{ x.gi_frame.f_globals }}", INTERNAL, "gi_frame", 2),
        BAD("{{ x|attr('func_globals') }}", INTERNAL, "'func_globals'", 1),
        BAD("{{ self._TemplateReference__context }}", INTERNAL, "_TemplateReference__context", 1),
        BAD("{{ self['_TemplateReference__context'] }}", INTERNAL, "'_TemplateReference__context'",
            1),
        BAD("{{ self._x }}", INTERNAL, "_x", 1),
        BAD("{{ cycler.a }}", BUILTIN, "cycler", 1),
        BAD("{{ joiner['a'] }}", BUILTIN, "joiner", 1),
        BAD("{{ lipsum|attr('a') }}", BUILTIN, "lipsum", 1),
        BAD("{{ namespace.__init__ }}", BUILTIN, "namespace", 2),
        BAD("{{ os.popen('id').read() }}", ACCESS, "os", 2),
        BAD("{{ x.popen('id') }}", ACCESS, "popen", 1),
        BAD("{{ x['popen']('id') }}", ACCESS, "'popen'", 1),
        BAD("{{ x.system('id') }}", ACCESS, "system", 1),
        BAD("{{ subprocess }}", ACCESS, "subprocess", 1),
        BAD("{{ open('/etc/passwd').read() }}", ACCESS, "open", 1),
        BAD("{{ eval('1') }}{{ exec ( '1' ) }}", ACCESS, "eval", 2),
        BAD("{{ getattr(x, 'a') }}", ACCESS, "getattr", 1),
        BAD("{{ urlopen('a') }}{{ requests.get('a') }}{{ socket.socket() }}", ACCESS, "urlopen", 4),
        BAD("{{ config }}{{ request.args }}", ACCESS, "config", 2),
        BAD("{% set config = config %}", ACCESS, "config", 1),
        BAD("{% macro m(a=os) %}{% endmacro %}", ACCESS, "os", 1),
        BAD("{% for a in os %}{% endfor %}", ACCESS, "os", 1),
        BAD("{{ x|attr(y) }}", DYNAMIC, "attr", 1),
        BAD("{{ x|attr('a' ~ y) }}", DYNAMIC, "'a'", 1),
        BAD("{{ x|attr('a'|lower) }}", DYNAMIC, "'a'", 1),
        BAD("{{ x|attr('a' if y else 'b') }}", DYNAMIC, "'a'", 1),
        BAD("{{ x|groupby(y) }}", DYNAMIC, "groupby", 1),
        BAD("{{ x|groupby('a' ~ y) }}", DYNAMIC, "'a'", 1),
        BAD("{{ x|map(attribute=y) }}", DYNAMIC, "attribute", 1),
        BAD("{{ x|sort(false, attribute=y) }}", DYNAMIC, "attribute", 1),
        BAD("{{ x|map('attr', y) }}", DYNAMIC, "'attr'", 1),
        BAD("{% macro m() %}{% endmacro %}{{ m._environment.from_string(x) }}", INTERNAL,
            "_environment", 2),
        BAD("{{ x|attr('_func') }}", INTERNAL, "'_func'", 1),
        BAD("{{ loop._iterator }}{{ caller._func }}", INTERNAL, "_iterator", 2),
        BAD("{% print x.mro() %}", INTERNAL, "mro", 1),
        BAD("{% import 'a' as b %}", IMPORT, "import", 1),
        BAD("{%- from 'a' import b %}", IMPORT, "from", 1),
        BAD("{%+ include 'a' %}", IMPORT, "include", 1),
        BAD("{% extends 'a' %}", IMPORT, "extends", 1),
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
        GOOD("{{ f(config=1, os=2) }}{{ x.config }}{{ x.os }}{{ x is config }}{{ x is not os }}"),
        GOOD("{{ x['system'] }}{{ x.system }}{{ system }}{{ x['open'] }}{{ x|map('eval') }}"),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void test_blocks(void **state)
{
    static const lint_row rows[] = {
        BAD("{% if x %}", BLOCK, "if", 1),
        BAD("{% for x in y %}{% if x %}{% endfor %}", BLOCK, "endfor", 1),
        BAD("{% endif %}", BLOCK, "endif", 1),
        BAD("{% else %}", BLOCK, "else", 1),
        BAD("{% for x in y %}{% elif x %}{% endfor %}", BLOCK, "elif", 1),
        BAD("{% if x %}{% else %}{% elif y %}{% endif %}", BLOCK, "elif", 1),
        BAD("{% if x %}{% else %}{% else %}{% endif %}", BLOCK, "else", 1),
        BAD("{% macro m() %}", BLOCK, "macro", 1),
        BAD("{% call m() %}", BLOCK, "call", 1),
        BAD("{% filter upper %}", BLOCK, "filter", 1),
        BAD("{% set x %}", BLOCK, "set", 1),
        BAD("{% set x = 1 %}{% endset %}", BLOCK, "endset", 1),
        BAD("{% generation %}{% if x %}{% endgeneration %}", BLOCK, "endgeneration", 1),
        BAD("{% endraw %}", BLOCK, "endraw", 1),
        BAD("{% if x %}{% for a in b %}{% macro m() %}", BLOCK, "if", 3),
        BAD("{% foo %}", STATEMENT, "foo", 1),
        BAD("{% %}", STATEMENT, "%}", 1),
        BAD("{% 'a' %}", STATEMENT, "'a'", 1),
        GOOD("{% print 'a', x %}"),
        GOOD("{% if a %}{% elif b %}{% elif c %}{% else %}{% endif %}"),
        GOOD("{% for a in b if c %}{% else %}{% endfor %}"),
        GOOD(
            "{% for a in b %}{% if a %}{% continue %}{% else %}{% break %}{% endif %}{% endfor %}"),
        GOOD("{% macro m(a, b=1) %}{% endmacro %}{% call(c) m(1) %}{% endcall %}"),
        GOOD("{% filter upper %}{% endfilter %}{% generation %}{% endgeneration %}"),
        GOOD("{% set a %}{% endset %}{% set a | upper %}{% endset %}{% set a, b = 1, 2 %}"),
        GOOD("{% set a = b == c %}{% do f() %}{% block a %}{% endblock a %}"),
        GOOD("{%- if a -%}{%+ endif +%}"),
        GOOD("{% raw %}{% if %}{{{% endraw %}{%- raw -%}{%- endraw -%}"),
        GOOD("a } b }} c %} d #} e { f {a} % {"),
        GOOD(""),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void test_unclosed(void **state)
{
    static const lint_row rows[] = {
        BAD("a {{ b", UNCLOSED, "{{", 1),
        BAD("a {% if b", UNCLOSED, "{%", 2),
        BAD("a {{ b {% if c %}{% endif %}", UNCLOSED, "{{", 1),
        BAD("a {# b", UNCLOSED, "{#", 1),
        BAD("a {#}", UNCLOSED, "{#", 1),
        BAD("{% raw %}{{ a", UNCLOSED, "{%", 1),
        BAD("{{ 'a }}", UNCLOSED, "'", 1),
        BAD("{{ \"a\\\" }}", UNCLOSED, "\"", 1),
        BAD("{{ 'a }}{{ \\'b }}", UNCLOSED, "'", 1),
        BAD("{{", UNCLOSED, "{{", 1),
        BAD("{%", UNCLOSED, "{%", 2),
        BAD("{{ a( }} b", BRACKET, "(", 1),
        BAD("{{ a[( }} b", BRACKET, "(", 1),
        BAD("{{ a) }}", BRACKET, ")", 1),
        BAD("{{ a(] }}", BRACKET, "]", 1),
        BAD("{% if (a %}{% endif %}", BRACKET, "(", 1),
        BAD("{% set a = {'b': 1 %}", BRACKET, "{", 1),
        BAD("{{ {'a': 1 }} b {{ c }}", BRACKET, "}", 1),
        BAD("{% if a }}{% endif %}", BRACKET, "}", 1),
        GOOD("{{ {'a': {'b': {}}} }}{{ [(1, [2])] }}{{ {'a': {}}}}"),
        GOOD("{{ '{{' }}{{ \"{%\" }}{{ '}}' }}{{ '(' }}{{ 'a\\'b' }}{{ \"'\" }}"),
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

/* Lines, and columns in characters. */
static bool keep_first(void *context, const lint_finding *finding)
{
    *(lint_finding *)context = *finding;
    return false;
}

static void test_place(void **state)
{
    gufo_str text = VIEW("a\n\xc3\xa9\xe2\x82\xac {{ 'b\nc' ~\n  \xc3\xa9.x.__class__ }}{{ os }}");
    lint_finding finding = {0};

    (void)state;
    lint_template(text, keep_first, &finding);
    check_u64(finding.line, 4, "lines");
    check_u64(finding.column, 7, "columns");
    check_u64(finding.offset, 26, "bytes");
}

/* The listener can stop. */
static void test_stop(void **state)
{
    gufo_str text = VIEW("{{ os }}{{ os.popen() }}{% foo %}{% if x %}{% if y %}{{ 'a");
    size_t all = lint(text, "all").count;

    (void)state;
    check(all > 6, "%zu", all);
    for (size_t stop = 1; stop <= all; stop++) {
        listener l = {.text = text, .label = "stop", .stop_at = stop};

        lint_template(text, listen, &l);
        check_u64(l.count, stop, "%zu", stop);
    }
}

/* ---- depth and length ----------------------------------------------------------------------- */

/* `times` times `piece`, then as often `end`. */
static gufo_str repeated(const char *piece, const char *end, size_t times)
{
    size_t a = strlen(piece), b = strlen(end);
    char *text = malloc(times * (a + b) + 1);

    assert_non_null(text);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * a, piece, a);
        memcpy(text + times * a + i * b, end, b);
    }
    return (gufo_str){text, times * (a + b)};
}

static void test_nesting(void **state)
{
    static const struct {
        const char *piece, *end;
        size_t times, count;
    } rows[] = {
        {"{% if x %}", "{% endif %}", LINT_BLOCKS, 0},
        {"{% if x %}", "{% endif %}", LINT_BLOCKS + 1, 1},
        {"{% if x %}", "{% else %}{% endif %}", 20000, 1},
        {"{% if x %}", "", 20000, 1 + LINT_BLOCKS},
        {"{{ [{([{(", ")}])}]}}", 1, 0},
        {"{{ ((((((((((", "))))))))))}}", 1, 0},
    };
    gufo_str brackets = repeated("(", ")", 20000);
    char *code = malloc(brackets.len + 4);
    listener l;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_str text = repeated(rows[i].piece, rows[i].end, rows[i].times);

        l = lint(text, rows[i].piece);
        check_u64(l.count, rows[i].count, "row %zu", i);
        check(l.count != 1 || l.kinds[0] == LINT_NESTING, "row %zu", i);
        free((char *)text.data);
    }
    assert_non_null(code);
    memcpy(code, "{{", 2);
    memcpy(code + 2, brackets.data, brackets.len);
    memcpy(code + 2 + brackets.len, "}}", 2);
    l = lint((gufo_str){code, brackets.len + 4}, "brackets");
    check_u64(l.count, 1, "brackets");
    check_u64(l.kinds[0], LINT_NESTING, "brackets");
    free(code);
    free((char *)brackets.data);
}

/* What a quadratic reader would not end in the time that a test has. */
static void test_length(void **state)
{
    static const char *const pieces[] = {
        "{{ ",         "{% raw %}", "{% raw ",    "{#",      "{{ '\\' ", "'\\' ",   "{{ \"",
        "{{ x['a' ~ ", "{",         "{% if x %}", "{{ a.b ", "{{ (",     "{{ '{' ", "{% set os, "};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        gufo_str text = repeated(pieces[i], "", 40000);

        (void)lint(text, pieces[i]);
        free((char *)text.data);
    }
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static void test_cut(void **state)
{
    static const char *const texts[] = {
        "{%- if x['__cla' ~ 'ss__'] -%}{# c #}{% raw %}{{ }}{% endraw %}{% else %}{%- endif +%}",
        "{{ ['\\x5f' * 2, '\\137', '\\u005f', '\\N{LOW LINE}']|join }}{{ '{a.__b__[c]}' }}",
        "{% macro m(a, os=1) %}{{ x|attr('a') }}{% endmacro %}{% set a, b = {'c': [1, (2)]} %}",
        "{{ self._x.popen('\xc3\xa9') }}{{ cycler|attr('a' 'b') ~ 1.5e3 // 2 ** 3 }}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++)
            lint_copy((gufo_str){texts[i], len}, texts[i]);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1;
    return *seed >> 33;
}

static void test_random(void **state)
{
    static const char *const pieces[] = {
        "{{",   "}}",    "{%",  "%}",    "{#",    "#}",   "-",     "'",         "\"",     "\\",
        "(",    ")",     "[",   "]",     "{",     "}",    "~",     "+",         "*",      "2",
        "|",    "attr",  "=",   ",",     ".",     " ",    "\n",    "__class__", "__",     "os",
        "self", "raw",   "if",  "endif", "else",  "for",  "in",    "set",       "endset", "x",
        "join", "macro", "\\x", "\\u",   "\\137", "open", "\\N{L", "endraw",    "\xc3",   "\xa9",
    };
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < 8000; i++) {
        char text[256];
        size_t len = 0, count = (size_t)(next_random(&seed) % 40);

        for (size_t k = 0; k < count; k++) {
            const char *piece = pieces[next_random(&seed) % COUNT_OF(pieces)];

            if (next_random(&seed) % 16 == 0) {
                text[len++] = (char)next_random(&seed);
            } else if (len + strlen(piece) < sizeof text) {
                memcpy(text + len, piece, strlen(piece));
                len += strlen(piece);
            }
            if (len == sizeof text)
                break;
        }
        lint_copy((gufo_str){text, len}, "random");
    }
}

/* ---- real templates ------------------------------------------------------------------------- */

/* Nothing is found in the templates of models that are in use. */
static void test_real(void **state)
{
    path_text where = need_shared("data/text/templates");
    struct dirent *entry;
    size_t count = 0;
    DIR *listing;

    (void)state;
    listing = opendir(where.text);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        path_text path = path_join(where.text, entry->d_name);
        const char *end = strrchr(entry->d_name, '.');
        size_t len;
        char *text;

        if (end == NULL || strcmp(end, ".jinja") != 0)
            continue;
        text = (char *)read_file(path.text, &len);
        assert_non_null(text);
        check_u64(lint((gufo_str){text, len}, entry->d_name).count, 0, "%s", entry->d_name);
        free(text);
        count++;
    }
    closedir(listing);
    check(count >= 60, "%zu templates", count);
}

/* The value of a key in a line of JSON that is written without blanks to choose from, decoded in
 * place; escapes above ASCII do not occur. */
static gufo_str json_string(char *line, const char *key)
{
    char *from = strstr(line, key), *to;
    gufo_str value;

    check(from != NULL, "%s", key);
    from += strlen(key);
    value.data = to = from;
    for (; *from != '"'; from++) {
        static const char escapes[] = "nrtbf\"\\/", characters[] = "\n\r\t\b\f\"\\/";
        const char *escape = from[0] == '\\' ? strchr(escapes, from[1]) : NULL;

        if (escape != NULL && from[1] != '\0') {
            *to++ = characters[escape - escapes];
            from++;
        } else if (from[0] == '\\') {
            *to++ = (char)strtol((char[]){from[2], from[3], from[4], from[5], '\0'}, NULL, 16);
            from += 5;
        } else {
            *to++ = *from;
        }
    }
    value.len = (size_t)(to - value.data);
    return value;
}

static void check_language_case(char *line)
{
    /* The others that Python refuses fail only when they run. */
    static const struct {
        const char *name;
        size_t count;
        bool dangerous;
    } expected[] = {
        {"error-15", 1, false}, {"error-17", 1, false}, {"error-21", 1, false},
        {"error-31", 3, true},  {"error-41", 1, false}, {"error-45", 1, false},
        {"error-47", 1, false},
    };
    char name[64];
    gufo_str text = json_string(line, "\"template\": \""), called;
    size_t count = 0;
    listener l;

    called = json_string(line, "\"name\": \"");
    (void)snprintf(name, sizeof name, "%.*s", (int)called.len, called.data);
    l = lint(text, name);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (strcmp(name, expected[i].name) == 0) {
            count = expected[i].count;
            check_u64(l.dangerous, expected[i].dangerous ? count : 0, "%s", name);
        }
    check_u64(l.count, count, "%s", name);
}

/* Every corner of the language, and what is wrong on purpose. */
static void test_language(void **state)
{
    path_text path = need_shared("data/text/jinja-language.jsonl");
    char *text, *rest, *line;
    size_t len, count = 0;

    (void)state;
    text = (char *)read_file(path.text, &len);
    assert_non_null(text);
    check(len > 0 && text[len - 1] == '\n', "the last line ends");
    text[len - 1] = '\0';
    for (rest = text; (line = strsep(&rest, "\n")) != NULL; count++)
        check_language_case(line);
    check(count > 200, "%zu cases", count);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dunder),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_unclosed),
        cmocka_unit_test(test_place),   cmocka_unit_test(test_stop),
        cmocka_unit_test(test_nesting), cmocka_unit_test(test_length),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_real),    cmocka_unit_test(test_language),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
