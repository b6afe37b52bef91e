/* Expressions of tokenizer.json: what they match, as Oniguruma does, and what is refused. */
#include "support/pace.h"
#include "../support/allocator.h"
#include "../support/check.h"

#include "base/memory.h"
#include "text/expressions/expression.h"

/* Writes the matches, each in brackets, with the text between them. */
static void write_matches(const expression *e, expression_scratch *s, gufo_str text, char *out)
{
    gufo_error error = {0};
    expression_match m = {0};
    size_t at = 0;

    check(expression_begin(e, s, text, &error) == GUFO_OK, "%s", error.message);
    for (;;) {
        check(expression_next(e, s, &m, &error) == GUFO_OK, "%s", error.message);
        if (!m.found)
            break;
        out += sprintf(out, "%.*s[%.*s]", (int)(m.begin - at), text.data + at,
                       (int)(m.end - m.begin), text.data + m.begin);
        at = m.end;
    }
    (void)sprintf(out, "%.*s", (int)(text.len - at), text.data + at);
}

static void check_matches(const char *pattern, bool literal, const char *text, const char *expected)
{
    gufo_error error = {0};
    expression *e = expression_new(gufo_str_of(pattern), literal, &default_allocator, &error);
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);
    char found[1024];

    check(e != NULL && s != NULL, "%s: %s", pattern, error.message);
    write_matches(e, s, gufo_str_of(text), found);
    check(strcmp(found, expected) == 0, "%s on %s: %s, not %s", pattern, text, found, expected);
    expression_scratch_free(s);
    expression_free(e);
}

/* Seen in Oniguruma. */
static const struct {
    const char *pattern, *text, *expected;
} cases[] = {
    {"", "ab", "[]a[]b[]"},
    {"x*", "axb", "[]a[x]b[]"},
    {"(?=a)|a", "ba", "b[]a"},
    {"\\p{N}{1,3}", "1234567", "[123][456][7]"},
    {"\\p{N}{1,3}+", "1234567", "[1234567]"},
    {"a{2}?", "aaa", "[aa]a[]"},
    {"a{1,2}?", "aaa", "[a][a][a]"},
    {"xa{,2}", "xaaa", "[xaa]a"},
    {"a{,}", "a{,}", "[a{,}]"},
    {"a{x", "a{x", "[a{x]"},
    {"a++b", "aab", "[aab]"},
    {"a?+a", "a", "a"},
    {"^", "a\nb\n", "[]a\n[]b\n"},
    {"a$", "a\na", "[a]\n[a]"},
    {"\\Aa", "aa\na", "[a]a\na"},
    {"a\\z", "a\na", "a\n[a]"},
    {"a\\Z", "a\na\n", "a\n[a]\n"},
    {".", "a\n", "[a]\n"},
    {"(?m:.)", "a\n", "[a][\n]"},
    {"(?m:.)", "\xc3\xa9", "[\xc3\xa9]"},
    {"a(?i)b|c", "aB aC C c", "[aB] [aC] C c"},
    {"(?i:'s|'t)", "'S'T's'\xc5\xbf", "['S]['T]['s]['\xc5\xbf]"},
    {"(?i:\xc3\x9f)", "ss SS \xe1\xba\x9e s", "[ss] [SS] [\xe1\xba\x9e] s"},
    {"(?i:ff)", "ff FF \xef\xac\x80 f", "[ff] [FF] [\xef\xac\x80] f"},
    {"(?i:ffi)", "\xef\xac\x83 \xef\xac\x80i f\xef\xac\x81",
     "[\xef\xac\x83] [\xef\xac\x80i] [f\xef\xac\x81]"},
    {"(?i:s+)", "sS\xc5\xbf", "[sS\xc5\xbf]"},
    {"(?i:[a-c])", "aBd", "[a][B]d"},
    {"(?i:[^a-c])", "aBd", "aB[d]"},
    {"(?i)k(?-i)k", "Kk kK \xe2\x84\xaak", "[Kk] kK [\xe2\x84\xaak]"},
    {"\\h+\\H", "0fG", "[0fG]"},
    {"\\v", "\x0b\x0c", "[\x0b]\x0c"},
    {"\\w", "a_\xc2\xb2\xcc\x80-", "[a][_][\xc2\xb2][\xcc\x80]-"},
    {"[\\w]", "a\xc2\xb2", "[a]\xc2\xb2"},
    {"(?i:[^\\p{Lu}])", "a\xc3\x9f", "a\xc3\x9f"},
    {"\\s", " \xe1\xa0\x8e\xc2\xa0", "[ ]\xe1\xa0\x8e[\xc2\xa0]"},
    {"[[:punct:]]",
     "$\xe2\x82\xac"
     "a",
     "[$][\xe2\x82\xac]a"},
    {"[[:^punct:]]", "$a", "$[a]"},
    {"[a-z&&[^aeiou]]", "abe", "a[b]e"},
    {"[a[bc]-]", "abc-d", "[a][b][c][-]d"},
    {"[]a]", "]a", "[]][a]"},
    {"[^]]", "]a", "][a]"},
    {"[\\]\\\\\\-]", "]\\-", "[]][\\][-]"},
    {"\\pL", "pL L", "[pL] L"},
    {"\\p{Letter}", "a1", "[a]1"},
    {"\\p{^L}\\P{L}", "1 a", "[1 ]a"},
    {"\\p{Han}+",
     "a\xe4\xb8\x80\xe4\xb8\x81"
     "b",
     "a[\xe4\xb8\x80\xe4\xb8\x81]b"},
    {"\\p{Lower}+",
     "\xc3\xa9"
     "aB",
     "[\xc3\xa9"
     "a]B"},
    {"\\u00e9", "\xc3\xa9", "[\xc3\xa9]"},
    {"\\x{e9}\\x41",
     "\xc3\xa9"
     "A",
     "[\xc3\xa9"
     "A]"},
    {"\\Qa\\E", "QaE", "[QaE]"},
    {"\\bb", "ab b\xc3\xa9", "ab [b]\xc3\xa9"},
    {"\\X",
     "e\xcc\x81"
     "a\r\n",
     "[e\xcc\x81][a][\r\n]"},
    {"\\R", "\r\n\n\xe2\x80\xa8", "[\r\n][\n][\xe2\x80\xa8]"},
    {"(?x) a # b\n c", "ac", "[ac]"},
    {"(?#no)a(?<n>b)(?:c)(?>d)", "abcd", "[abcd]"},
    {"(?<=\\s)a(?=b)(?!bc)", " ab abc", " [a]b abc"},
    {"\\s+(?!\\S)|\\s+", "a  b ", "a[ ][ ]b[ ]"},
    {" ?\\p{L}+", "\xd0\xb0\xd0\xb1 \xd0\xb2 c", "[\xd0\xb0\xd0\xb1][ \xd0\xb2][ c]"},
};

static void matches_are_those_of_oniguruma(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_matches(cases[i].pattern, false, cases[i].text, cases[i].expected);
}

static void texts_are_found(void **state)
{
    (void)state;
    check_matches("a.", true, "a.aa.", "[a.]a[a.]");
    check_matches("aa", true, "aaa", "[aa]a");
    check_matches("", true, "\xc3\xa9", "[]\xc3\xa9[]");
    check_matches("\xc3\xa9", true, "\xc3\xa9\xc3\xa8", "[\xc3\xa9]\xc3\xa8");
}

static const struct {
    const char *pattern;
    gufo_status status;
    const char *reason;
} refused[] = {
    {"(a)\\1", GUFO_E_TYPE, "group"},
    {"\\p{Script=Greek}", GUFO_E_TYPE, "Script=Greek"},
    {"\\p{L&}", GUFO_E_TYPE, "L&"},
    {"\\p{L", GUFO_E_MALFORMED, "}"},
    {"(?~a)", GUFO_E_TYPE, "group"},
    {"(?s:a)", GUFO_E_TYPE, "group"},
    {"(?P<n>a)", GUFO_E_TYPE, "group"},
    {"\\Ga", GUFO_E_TYPE, "\\G"},
    {"\\Ka", GUFO_E_TYPE, "\\K"},
    {"(?<=a+)", GUFO_E_TYPE, "PCRE2"},
    {"(a", GUFO_E_MALFORMED, "group"},
    {"a)", GUFO_E_MALFORMED, "group"},
    {"[a", GUFO_E_MALFORMED, "class"},
    {"[]", GUFO_E_MALFORMED, "class"},
    {"*", GUFO_E_MALFORMED, "repeats nothing"},
    {"a\\", GUFO_E_MALFORMED, "backslash"},
    {"a{3,1}", GUFO_E_TYPE, "interval"},
    {"[z-a]", GUFO_E_MALFORMED, "range"},
    {"\\xff", GUFO_E_TYPE, "\\x"},
    {"\xff", GUFO_E_MALFORMED, "UTF-8"},
    {"a{99999}{99999}", GUFO_E_TYPE, "PCRE2"},
};

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        gufo_error error = {0};
        expression *e =
            expression_new(gufo_str_of(refused[i].pattern), false, &default_allocator, &error);

        check(e == NULL, "%s is not refused", refused[i].pattern);
        check(error.code == refused[i].status && strstr(error.message, refused[i].reason) != NULL,
              "%s: %d, %s", refused[i].pattern, (int)error.code, error.message);
    }
}

static void deep_nesting_is_refused(void **state)
{
    static const char *const opening[] = {"(", "["};
    char pattern[4001];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(opening); i++) {
        gufo_error error = {0};

        memset(pattern, *opening[i], sizeof pattern - 1);
        pattern[sizeof pattern - 1] = '\0';
        assert_null(expression_new(gufo_str_of(pattern), false, &default_allocator, &error));
        check(error.code == GUFO_E_TYPE, "%s", error.message);
    }
}

static void long_expressions_are_refused(void **state)
{
    gufo_error error = {0};
    char *pattern = calloc(1, 40001);

    (void)state;
    assert_non_null(pattern);
    memset(pattern, 'a', 40000);
    assert_null(expression_new(gufo_str_of(pattern), false, &default_allocator, &error));
    assert_int_equal(error.code, GUFO_E_LIMIT);
    free(pattern);
}

static void backtracking_is_limited(void **state)
{
    gufo_error error = {0};
    expression *e = expression_new(gufo_str_of("(a+)+$"), false, &default_allocator, &error);
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);
    expression_match m = {0};

    (void)state;
    assert_true(e != NULL && s != NULL);
    assert_int_equal(
        expression_begin(e, s, gufo_str_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), &error), GUFO_OK);
    assert_int_equal(expression_next(e, s, &m, &error), GUFO_E_LIMIT);
    expression_scratch_free(s);
    expression_free(e);
}

/* ---- long texts ----------------------------------------------------------------------------- */

/* A text of parts, each as often as it says. */
typedef struct part {
    const char *text;
    size_t times;
} part;

static gufo_str make_text(const part *parts)
{
    size_t len = 0, at = 0;
    char *text;

    for (const part *p = parts; p->text != NULL; p++)
        len += p->times * strlen(p->text);
    text = malloc(len + 1);
    assert_non_null(text);
    for (const part *p = parts; p->text != NULL; p++)
        for (size_t i = 0; i < p->times; i++, at += strlen(p->text))
            memcpy(text + at, p->text, strlen(p->text));
    return (gufo_str){text, len};
}

/* PCRE2 sees a part of a long text at a time: what is found does not depend on where it ends. */
static const struct {
    const char *pattern;
    part text[5];
    const char *expected; /* begin-end of each match */
} long_cases[] = {
    {"\\s+$", {{" ", 100000}}, "0-100000 "},
    {"\\s+$", {{" ", 100000}, {"x", 1}}, ""},
    {"^\\s+|\\s+$", {{" ", 40000}, {"x", 1}, {" ", 60000}}, "0-40000 40001-100001 "},
    {"^\\s+|\\s+$", {{"x", 1}, {" \xc2\xa0", 40000}, {"y", 1}}, ""},
    {"(\\s{2,}?(?=\\n))|\\s*\\d", {{" ", 50000}, {"\n", 1}, {"x", 1}}, "0-50000 "},
    {"\\p{L}+", {{"a", 5000}, {" ", 1}, {"\xc3\xa9", 5000}}, "0-5000 5001-15001 "},
    {"$", {{"a", 5000}}, "5000-5000 "},
    {"(?<=aa)\\z|\\Z", {{"a", 5000}, {"\n", 1}}, "5000-5000 5001-5001 "},
    {"a{1023}(?!a)", {{"a", 1024}, {"b", 1}, {"a", 1023}}, "1-1024 1025-2048 "},
    {"\\ba+\\b", {{"a", 1024}}, "0-1024 "},
    {"\\d{1,3}(?=(?:\\d{3})*\\b)",
     {{"x", 1022}, {" ", 1}, {"1", 4}, {" ", 2000}},
     "1023-1024 1024-1027 "},
    {"(a|ab)*c", {{"ab", 3000}, {"c", 1}}, "0-6001 "},
    {"(?<!a)a+$", {{"a", 3000}, {"b", 1}, {"a", 3000}}, "3001-6001 "},
};

static void long_texts_are_matched(void **state)
{
    gufo_error error = {0};
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);

    (void)state;
    assert_non_null(s);
    for (size_t i = 0; i < COUNT_OF(long_cases); i++) {
        expression *e =
            expression_new(gufo_str_of(long_cases[i].pattern), false, &default_allocator, &error);
        gufo_str text = make_text(long_cases[i].text);
        expression_match m = {.found = true};
        char found[256] = "", *out = found;

        expression_allow(s, 2000000); /* not enough for the square of 10,000 */
        check(e != NULL && expression_begin(e, s, text, &error) == GUFO_OK, "%s", error.message);
        while (m.found && out < found + 200) {
            check(expression_next(e, s, &m, &error) == GUFO_OK, "%s", error.message);
            if (m.found)
                out += sprintf(out, "%zu-%zu ", m.begin, m.end);
        }
        check(strcmp(found, long_cases[i].expected) == 0, "%s: %s, not %s", long_cases[i].pattern,
              found, long_cases[i].expected);
        free((char *)text.data);
        expression_free(e);
    }
    expression_scratch_free(s);
}

static void steps_are_limited(void **state)
{
    static const part parts[4] = {{"b\xc3\xa9", 100}, {"a", 20000}};
    gufo_error error = {0};
    expression *e = expression_new(gufo_str_of("[^b]?a+b"), false, &default_allocator, &error);
    expression_scratch *s = expression_scratch_new(&default_allocator, &error);
    gufo_str text = make_text(parts);
    expression_match m = {0};

    (void)state;
    assert_true(e != NULL && s != NULL);
    expression_allow(s, 100000);
    assert_int_equal(expression_begin(e, s, text, &error), GUFO_OK);
    assert_int_equal(expression_next(e, s, &m, &error), GUFO_E_LIMIT);
    assert_string_equal(error.message, "the regular expression \"[^b]?a+b\" needs too many steps "
                                       "for a text of 20,300 bytes, at byte 300");
    free((char *)text.data);
    expression_scratch_free(s);
    expression_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_are_those_of_oniguruma), cmocka_unit_test(texts_are_found),
        cmocka_unit_test(what_is_not_known_is_refused),   cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(long_expressions_are_refused),   cmocka_unit_test(backtracking_is_limited),
        cmocka_unit_test(long_texts_are_matched),         cmocka_unit_test(steps_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
