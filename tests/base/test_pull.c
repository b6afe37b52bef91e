/* JSON read from front to back: numbers, words, strings of any character, values that are skipped. */
#include "../support/check.h"
#include "../support/pace.h"

#include <locale.h>
#include <math.h>

#include "base/number.h"
#include "base/pull.h"

#define VIEW(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

typedef struct opened {
    pull p;
    char text[2048], decoded[2048];
    gufo_error error;
} opened;

static pull *open_text(opened *o, gufo_str text)
{
    assert_true(text.len <= sizeof o->text);
    memcpy(o->text, text.data, text.len);
    o->error = no_error();
    o->p = (pull){.text = o->text, .len = text.len, .decoded = o->text, .error = &o->error};
    return &o->p;
}

static void test_string(void **state)
{
    static const struct {
        gufo_str text, meaning;
    } rows[] = {
        {VIEW("\"\""), VIEW("")},
        {VIEW(" \t\r\n\"a b\""), VIEW("a b")},
        {VIEW("\"a\\u0000b\""), VIEW("a\0b")},
        {VIEW("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), VIEW("\"\\/\b\f\n\r\t")},
        {VIEW("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00x\""),
         VIEW("A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x")},
        {VIEW("\"\xc3\xa9\x7f\\n\xf0\x9f\x98\x80\""), VIEW("\xc3\xa9\x7f\n\xf0\x9f\x98\x80")},
    };
    opened o;
    gufo_str got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(pull_skip(open_text(&o, rows[i].text), &got), "row %zu is skipped", i);
        check(pull_end(&o.p), "row %zu is skipped to its end", i);
        check(pull_string(open_text(&o, rows[i].text), &got), "row %zu: %s", i, o.error.message);
        check(gufo_str_equal(got, rows[i].meaning), "row %zu", i);
        check(pull_end(&o.p), "row %zu ends", i);
    }
}

/* Where strings are decoded beside the text, that stays as it is. */
static void test_decoded_beside(void **state)
{
    static const gufo_str text = VIEW("[\"a\\tb\", \"plain\", \"\\u00e9\", \"s\\n\"]");
    opened o;
    gufo_str first, plain, last, skipped;

    (void)state;
    (void)open_text(&o, text);
    o.p.decoded = o.decoded;
    check(pull_mark(&o.p, '[') && pull_string(&o.p, &first) && pull_mark(&o.p, ',') &&
              pull_string(&o.p, &plain) && pull_mark(&o.p, ',') && pull_string(&o.p, &last) &&
              pull_mark(&o.p, ',') && pull_skip(&o.p, &skipped) && pull_mark(&o.p, ']'),
          "%s", o.error.message);
    check_str(first, "a\tb", "decoded");
    check_str(plain, "plain", "a view of the text");
    check_str(last, "\xc3\xa9", "decoded behind it");
    check(first.data == o.decoded && last.data == o.decoded + 3 && plain.data == o.text + 10,
          "places");
    check_u64(o.p.decoded_len, 5, "a string that is skipped takes no room");
    check(memcmp(o.text, text.data, text.len) == 0, "the text is as it was");
}

static void test_bad_string(void **state)
{
    static const struct {
        gufo_str text;
        uint64_t at;
        gufo_status status;
    } rows[] = {
        {VIEW("x"), 0, GUFO_E_MALFORMED},
        {VIEW(""), 0, GUFO_E_TRUNCATED},
        {VIEW("\"a"), 2, GUFO_E_TRUNCATED},
        {VIEW("\"a\\"), 3, GUFO_E_TRUNCATED},
        {VIEW("\"a\x01\""), 2, GUFO_E_MALFORMED},
        {VIEW("\"a\0\""), 2, GUFO_E_MALFORMED},
        {VIEW("\"\\x\""), 1, GUFO_E_MALFORMED},
        {VIEW("\"\\u12g4\""), 1, GUFO_E_MALFORMED},
        {VIEW("\"\\ud800\""), 1, GUFO_E_MALFORMED},
        {VIEW("\"\\udc00\""), 1, GUFO_E_MALFORMED},
        {VIEW("\"\\ud800\\u0041\""), 1, GUFO_E_MALFORMED},
        {VIEW("\"a\xc3\""), 2, GUFO_E_MALFORMED},
        {VIEW("\"a\xed\xa0\x80\""), 2, GUFO_E_MALFORMED},
    };
    opened o;
    gufo_str got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(!pull_string(open_text(&o, rows[i].text), &got), "row %zu", i);
        check(o.error.code == rows[i].status, "row %zu: %d", i, (int)o.error.code);
        check_u64(o.error.offset, rows[i].at, "row %zu", i);
        check(!pull_skip(open_text(&o, rows[i].text), NULL), "row %zu is skipped", i);
        check_u64(o.error.offset, rows[i].at, "row %zu is skipped", i);
    }
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        double number;
    } rows[] = {
        {"0", 0},
        {"-0", -0.0},
        {"-1.5e+2", -150},
        {"12E-1", 1.2},
        {"0.1", 0.1},
        {"-11.834823608398438", -11.834823608398438},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000001", 9007199254740994.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1e-400", 0},
        {"0.000000000000000000000000000000000000000000000000000000000000000000001e69", 1},
        {"0e999999999999999999999999", 0},
        {"1e-999999999999999999999999", 0},
        {"8.41e21", 8.41e21},
        {"9.5e-23", 9.5e-23},
    };
    opened o;
    double got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(pull_real(open_text(&o, gufo_str_of(rows[i].text)), &got), "%s: %s", rows[i].text,
              o.error.message);
        check(got == rows[i].number && signbit(got) == signbit(rows[i].number), "%s is %.17g",
              rows[i].text, got);
        check(pull_end(&o.p), "%s ends", rows[i].text);
    }
}

/* Few digits, many digits, all exponents: what strtod gives where the point is a point. */
static void test_random_numbers(void **state)
{
    uint64_t seed = 1;
    char text[64];
    double got;

    (void)state;
    for (unsigned i = 0; i < all_some_or_few(20000, 2000, 200); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        (void)snprintf(text, sizeof text, "%.*ge%d", (int)(seed >> 60) + 2,
                       (double)(seed >> 11) / 9007199254740992.0,
                       (int)(seed >> 33) % (i % 2 == 0 ? 25 : 320));
        if (strchr(text, 'e') != strrchr(text, 'e'))
            continue;
        check(real_read(gufo_str_of(text), &got), "%s", text);
        check(got == strtod(text, NULL), "%s is %.17g", text, got);
    }
}

static void test_locale(void **state)
{
    const char *name = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    double got;

    (void)state;
    check(real_read(gufo_str_of("-11.834823608398438"), &got), "it is a number");
    (void)setlocale(LC_NUMERIC, "C");
    check(got == -11.834823608398438, "%.17g", got);
    if (name == NULL)
        skip();
}

/* The digits are rounded first where there are few enough of them, and a power of ten that is exact. */
static void test_twice_rounded(void **state)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"-13.300446510314941", -0x1.a99d41fffffffp+3}, /* nearest: -0x1.a99d42p+3 */
        {"-10.654454231262207", -0x1.54f14a0000001p+3},
        {"0.5", 0.5},
        {"0", 0},
        {"-2e3", -2000},
        {"1e-30", 1e-30},
        {"0.12345678901234567890", 0.12345678901234567890},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double got = 1;

        check(real_read_twice_rounded(gufo_str_of(rows[i].text), &got), "%s", rows[i].text);
        check(got == rows[i].value, "%s: %a", rows[i].text, got);
    }
}

static void test_bad_numbers(void **state)
{
    static const struct {
        const char *text;
        gufo_status status;
    } rows[] = {
        {"01", GUFO_E_MALFORMED},
        {"-", GUFO_E_MALFORMED},
        {"1.", GUFO_E_MALFORMED},
        {".5", GUFO_E_MALFORMED},
        {"1e", GUFO_E_MALFORMED},
        {"1e+", GUFO_E_MALFORMED},
        {"+1", GUFO_E_MALFORMED},
        {"NaN", GUFO_E_MALFORMED},
        {"1.e5", GUFO_E_MALFORMED},
        {"1e309", GUFO_E_RANGE},
        {"-1e9999999999999", GUFO_E_RANGE},
        {"Infinity", GUFO_E_MALFORMED},
        {"", GUFO_E_TRUNCATED},
    };
    char digits[REAL_DIGITS + 2];
    opened o;
    double got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(!pull_real(open_text(&o, gufo_str_of(rows[i].text)), &got), "%s", rows[i].text);
        check(o.error.code == rows[i].status, "%s: %d", rows[i].text, (int)o.error.code);
    }
    memset(digits, '1', sizeof digits);
    check(!pull_real(open_text(&o, (gufo_str){digits, sizeof digits}), &got), "too many digits");
    check(o.error.code == GUFO_E_LIMIT, "too many digits: %d", (int)o.error.code);
}

static void test_words(void **state)
{
    opened o;
    bool got = false;

    (void)state;
    open_text(&o, gufo_str_of("[ true, false , null ]"));
    check(pull_mark(&o.p, '[') && pull_peek(&o.p) == 't' && pull_bool(&o.p, &got) && got, "true");
    check(pull_mark(&o.p, ',') && pull_bool(&o.p, &got) && !got, "false");
    check(pull_mark(&o.p, ',') && pull_peek(&o.p) == 'n' && pull_null(&o.p), "null");
    check(pull_mark(&o.p, ']') && pull_end(&o.p), "the end");
    check(!pull_bool(open_text(&o, gufo_str_of("tru")), &got), "cut");
    check(!pull_null(open_text(&o, gufo_str_of("nul"))), "cut");
}

static void test_skip(void **state)
{
    static const char *const good[] = {
        "{}",
        "[]",
        "{\"a\":[1,{\"b\":null}],\"c\":{\"d\":[[],[{}]]}}",
        "[true,false,null,-1.5e3,\"x\"]",
        " [ 1 , { \"a\" : 2 } ] ",
    };
    static const char *const bad[] = {
        "{",     "[",          "[1,]",  "[,1]",          "{\"a\":}",  "{\"a\"}",
        "{a:1}", "{\"a\":1,}", "[1 2]", "[1}",           "{\"a\":1]", "]",
        "[tru]", "[nul]",      "[01]",  "[\"\\ud800\"]", "{1:2}",     "",
    };
    opened o;
    gufo_str got;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        check(pull_skip(open_text(&o, gufo_str_of(good[i])), &got), "%s: %s", good[i],
              o.error.message);
        check(got.len > 0 && got.data[0] != ' ' && got.data[got.len - 1] != ' ', "%s", good[i]);
        check(pull_end(&o.p), "%s ends", good[i]);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        check(!pull_skip(open_text(&o, gufo_str_of(bad[i])), NULL), "%s", bad[i]);
}

static void test_depth(void **state)
{
    char text[2 * PULL_MAX_DEPTH + 2];
    opened o;

    (void)state;
    memset(text, '[', PULL_MAX_DEPTH);
    memset(text + PULL_MAX_DEPTH, ']', PULL_MAX_DEPTH);
    check(pull_skip(open_text(&o, (gufo_str){text, 2 * PULL_MAX_DEPTH}), NULL), "%s",
          o.error.message);
    memset(text, '[', sizeof text);
    check(!pull_skip(open_text(&o, (gufo_str){text, sizeof text}), NULL), "too deep");
    check(o.error.code == GUFO_E_LIMIT, "too deep: %d", (int)o.error.code);
    check_u64(o.error.offset, PULL_MAX_DEPTH, "too deep");
}

/* The first failure stays. */
static void test_first_failure(void **state)
{
    opened o;
    uint64_t number;

    (void)state;
    open_text(&o, gufo_str_of("[x"));
    o.p.base = 100;
    check(pull_mark(&o.p, '[') && !pull_u64(&o.p, &number), "no number");
    check_u64(o.error.offset, 101, "the place in the file");
    check(!pull_skip(&o.p, NULL) && !pull_end(&o.p) && pull_peek(&o.p) == '\0', "all fails");
    check_u64(o.error.offset, 101, "the first");
}

/* ---- parts of a text -------------------------------------------------------------------------- */

static void test_escapes(void **state)
{
    static const struct {
        const char *text;
        json_escape_form form;
        size_t end;
        uint32_t code_point;
    } rows[] = {
        {"\\n!", JSON_ESCAPE, 2, '\n'},         {"\\/", JSON_ESCAPE, 2, '/'},
        {"\\u00e9!", JSON_ESCAPE, 6, 0xe9},     {"\\ud83d\\uDE00!", JSON_ESCAPE, 12, 0x1f600},
        {"\\", JSON_ESCAPE_UNKNOWN, 1, 0},      {"\\a", JSON_ESCAPE_UNKNOWN, 1, 0},
        {"\\u12x4", JSON_ESCAPE_DIGITS, 4, 0},  {"\\u12", JSON_ESCAPE_DIGITS, 4, 0},
        {"\\udc00", JSON_ESCAPE_HALF, 6, 0},    {"\\ud800x", JSON_ESCAPE_HALF, 6, 0},
        {"\\ud800\\n", JSON_ESCAPE_HALF, 6, 0}, {"\\ud800\\ud800", JSON_ESCAPE_HALF, 12, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t code_point = 0;
        size_t at = 0;

        check(json_escape_read(gufo_str_of(rows[i].text), &at, &code_point) == rows[i].form, "%s",
              rows[i].text);
        check_u64(at, rows[i].end, "%s", rows[i].text);
        if (rows[i].form == JSON_ESCAPE)
            check_u64(code_point, rows[i].code_point, "%s", rows[i].text);
    }
}

/* Each character comes back, but for surrogates, which are none. */
static void test_put_escapes(void **state)
{
    char text[JSON_ESCAPE_SIZE];

    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c += c < 0x100 ? 1 : 0x3f) {
        uint32_t got = 0;
        size_t at = 0, len = json_escape_put(c, text);

        if (c >= 0xd800 && c < 0xe000)
            continue;
        check(json_escape_read((gufo_str){text, len}, &at, &got) == JSON_ESCAPE && at == len, "%x",
              (unsigned)c);
        check_u64(got, c, "%x", (unsigned)c);
    }
    check_u64(json_escape_put('/', text), 6, "the slash, which needs none, has no short one");
}

static void test_number_forms(void **state)
{
    static const struct {
        const char *text;
        json_number_form form;
        size_t end;
    } rows[] = {
        {"12,", JSON_NUMBER_WHOLE, 2},       {"-0", JSON_NUMBER_WHOLE, 2},
        {"01", JSON_NUMBER_WHOLE, 1},        {"1.50e-7]", JSON_NUMBER_REAL, 7},
        {"2E+3", JSON_NUMBER_REAL, 4},       {"-", JSON_NUMBER_NONE, 1},
        {"x", JSON_NUMBER_NONE, 0},          {"1.e5", JSON_NUMBER_NO_FRACTION, 2},
        {"1e+", JSON_NUMBER_NO_EXPONENT, 3}, {"", JSON_NUMBER_NONE, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t at = 0;

        check(json_number_skip(gufo_str_of(rows[i].text), &at) == rows[i].form, "%s", rows[i].text);
        check_u64(at, rows[i].end, "%s", rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string),         cmocka_unit_test(test_decoded_beside),
        cmocka_unit_test(test_bad_string),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_random_numbers), cmocka_unit_test(test_locale),
        cmocka_unit_test(test_bad_numbers),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_skip),           cmocka_unit_test(test_depth),
        cmocka_unit_test(test_twice_rounded),  cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_escapes),        cmocka_unit_test(test_put_escapes),
        cmocka_unit_test(test_number_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
