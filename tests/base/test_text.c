/* Strings, UTF-8, names of statuses, the version. */
#include "../support/check.h"

#include "base/base64.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"

#define VIEW(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static void test_equal(void **state)
{
    static const struct {
        gufo_str a, b;
        bool equal;
    } rows[] = {
        {VIEW(""), VIEW(""), true},         {VIEW("a"), VIEW("a"), true},
        {VIEW("a"), VIEW("b"), false},      {VIEW("a"), VIEW("ab"), false},
        {VIEW("a\0b"), VIEW("a\0b"), true}, {VIEW("a\0b"), VIEW("a\0c"), false},
        {VIEW("a\0"), VIEW("a"), false},    {VIEW(""), {NULL, 0}, true},
        {{NULL, 0}, {NULL, 0}, true},       {VIEW("A"), VIEW("a"), false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(gufo_str_equal(rows[i].a, rows[i].b) == rows[i].equal, "row %zu", i);
        check(gufo_str_equal(rows[i].b, rows[i].a) == rows[i].equal, "row %zu, swapped", i);
    }
}

static void test_search(void **state)
{
    static const struct {
        gufo_str text, part;
        int at; /* -1: not there */
    } rows[] = {
        {VIEW("abcab"), VIEW("ab"), 0}, {VIEW("abcab"), VIEW("cab"), 2},
        {VIEW("aab"), VIEW("ab"), 1},   {VIEW("ab"), VIEW("abc"), -1},
        {VIEW("aaaa"), VIEW("b"), -1},  {VIEW("a\0b"), VIEW("\0b"), 1},
        {VIEW("ab"), VIEW(""), 0},      {{NULL, 0}, VIEW("a"), -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *found = str_search(rows[i].text, rows[i].part);

        check(rows[i].at < 0 ? found == NULL : found == rows[i].text.data + rows[i].at, "row %zu",
              i);
    }
}

static void test_group(void **state)
{
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {123456, "123,456"},
                 {1235814400, "1,235,814,400"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    char text[GUFO_GROUPED_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(gufo_number_grouped(text, cases[i].value), cases[i].text);
}

static void test_utf8(void **state)
{
    static const struct {
        gufo_str text;
        size_t valid;
    } rows[] = {
        {VIEW(""), 0},
        {VIEW("plain"), 5},
        {VIEW("nul\0inside"), 10},
        {VIEW("\x7f"), 1},
        {VIEW("\xc2\x80"), 2},
        {VIEW("\xdf\xbf"), 2},
        {VIEW("\xe0\xa0\x80"), 3},
        {VIEW("\xed\x9f\xbf"), 3},
        {VIEW("\xee\x80\x80"), 3},
        {VIEW("\xef\xbf\xbf"), 3},
        {VIEW("\xf0\x90\x80\x80"), 4},
        {VIEW("\xf4\x8f\xbf\xbf"), 4},
        {VIEW("a\x80"), 1},                   /* continuation without a start */
        {VIEW("ab\xc0\x80"), 2},              /* overlong NUL */
        {VIEW("\xc1\xbf"), 0},                /* overlong */
        {VIEW("\xe0\x9f\xbf"), 0},            /* overlong */
        {VIEW("\xf0\x8f\xbf\xbf"), 0},        /* overlong */
        {VIEW("x\xed\xa0\x80"), 1},           /* surrogate */
        {VIEW("\xed\xbf\xbf"), 0},            /* surrogate */
        {VIEW("\xf4\x90\x80\x80"), 0},        /* above U+10FFFF */
        {VIEW("\xf5\x80\x80\x80"), 0},        /* no start byte */
        {VIEW("\xff"), 0},                    /* no start byte */
        {VIEW("abc\xe2\x82"), 3},             /* cut */
        {VIEW("abc\xf0\x9f\xa6"), 3},         /* cut */
        {VIEW("\xc3"), 0},                    /* cut */
        {VIEW("\xe2\x28\xa1"), 0},            /* no continuation */
        {VIEW("\xe2\x82\x28"), 0},            /* no continuation */
        {VIEW("\xf0\x9f\xa6\x89\xf0\x9f"), 4} /* good, then cut */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *exact = malloc(rows[i].text.len + 1);

        assert_non_null(exact);
        memcpy(exact + 1, rows[i].text.data, rows[i].text.len);
        check_u64(gufo_utf8_valid_prefix((gufo_str){exact + 1, rows[i].text.len}), rows[i].valid,
                  "row %zu", i);
        free(exact);
    }
}

/* Every code point, encoded by hand, is valid exactly if Unicode has it as a scalar value. */
static void test_utf8_all(void **state)
{
    (void)state;
    for (uint32_t c = 0x800; c < 0x120000; c += c < 0x10000 ? 1 : 37) {
        char text[4];
        size_t len = 0;
        bool valid = !(c >= 0xd800 && c < 0xe000) && c < 0x110000;

        if (c < 0x10000) {
            text[len++] = (char)(0xe0 | c >> 12);
        } else {
            text[len++] = (char)(0xf0 | c >> 18);
            text[len++] = (char)(0x80 | (c >> 12 & 0x3f));
        }
        text[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        text[len++] = (char)(0x80 | (c & 0x3f));
        check_u64(gufo_utf8_valid_prefix((gufo_str){text, len}), valid ? len : 0, "U+%04" PRIX32,
                  c);
    }
}

static void test_utf8_encode(void **state)
{
    static const struct {
        uint32_t code_point;
        gufo_str text;
    } rows[] = {
        {0, VIEW("\0")},
        {0x7f, VIEW("\x7f")},
        {0x80, VIEW("\xc2\x80")},
        {0x7ff, VIEW("\xdf\xbf")},
        {0x800, VIEW("\xe0\xa0\x80")},
        {0xffff, VIEW("\xef\xbf\xbf")},
        {0x10000, VIEW("\xf0\x90\x80\x80")},
        {0x10ffff, VIEW("\xf4\x8f\xbf\xbf")},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[4];
        gufo_str text = {out, gufo_utf8_encode(rows[i].code_point, out)};
        uint32_t back;

        check(gufo_str_equal(text, rows[i].text), "row %zu", i);
        check_u64(gufo_utf8_decode(text, &back), text.len, "row %zu", i);
        check_u64(back, rows[i].code_point, "row %zu", i);
    }
}

static void test_hex(void **state)
{
    static const struct {
        const char *text;
        size_t at, most, digits;
        uint64_t value;
    } rows[] = {
        {"", 0, 4, 0, 0},        {"1aFg", 0, 4, 3, 0x1af},
        {"1aF9", 1, 2, 2, 0xaf}, {"ffff", 3, 4, 1, 0xf},
        {"ffff", 4, 4, 0, 0},    {"FEDCBA98765432101", 0, 16, 16, 0xfedcba9876543210},
        {"x1", 0, 2, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t value = 1;

        check_u64(str_hex(gufo_str_of(rows[i].text), rows[i].at, rows[i].most, &value),
                  rows[i].digits, "row %zu", i);
        check_u64(value, rows[i].value, "row %zu", i);
    }
}

/* Long runs, with the fault at every place, for implementations that take several bytes at once. */
static void test_utf8_places(void **state)
{
    char text[100];

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        memset(text, 'x', sizeof text);
        check_u64(gufo_utf8_valid_prefix((gufo_str){text, len}), len, "length %zu", len);
        for (size_t at = 0; at < len; at++) {
            text[at] = (char)0x80;
            check_u64(gufo_utf8_valid_prefix((gufo_str){text, len}), at, "length %zu", len);
            text[at] = 'x';
        }
    }
}

static void test_status_names(void **state)
{
    (void)state;
    for (int a = GUFO_OK; a <= GUFO_E_STOPPED; a++) {
        const char *name = gufo_status_name((gufo_status)a);

        check(name != NULL && name[0] != '\0', "status %d", a);
        for (int b = GUFO_OK; b < a; b++)
            check(strcmp(name, gufo_status_name((gufo_status)b)) != 0, "%d and %d: %s", a, b, name);
    }
    assert_string_equal(gufo_status_name(GUFO_E_TRUNCATED), "truncated");
    assert_non_null(gufo_status_name((gufo_status)999));
}

static void test_digits(void **state)
{
    char text[4];

    (void)state;
    for (unsigned digit = 0; digit < 36; digit++)
        for (int upper = 0; upper < 2; upper++)
            check(digit_value(digit_letter(digit, upper != 0)) == digit, "%u", digit);
    check(digit_value('-') >= 36 && digit_value('@') >= 36, "not digits");
    check(hex_put(hex_put(text, 0x0f, false), 0xa9, true) == text + 4, "four letters");
    assert_memory_equal(text, "0fA9", 4);
}

static void test_place(void **state)
{
    static const gufo_str text = VIEW("ab\n\xc3\xa9x\n\ny");
    static const struct {
        size_t at;
        uint64_t line, column;
    } rows[] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2}, {6, 2, 3},
                {7, 3, 1}, {8, 4, 1}, {9, 4, 2}, {99, 4, 2}};
    uint64_t line, column;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        str_place(text, rows[i].at, &line, &column);
        check_u64(line, rows[i].line, "line of %zu", rows[i].at);
        check_u64(column, rows[i].column, "column of %zu", rows[i].at);
    }
}

static void test_base64(void **state)
{
    static const struct {
        gufo_str bytes;
        const char *letters;
    } rows[] = {{VIEW(""), ""},
                {VIEW("f"), "Zg=="},
                {VIEW("fo"), "Zm8="},
                {VIEW("foo"), "Zm9v"},
                {VIEW("\xff\xfe\xfd\0"), "//79AA=="}};
    static const char *const bad[] = {"Zg=", "Z===", "====", "Z g=", "Zg==Zg==", "Zm9v\n"};
    buffer out = {.allocator = &default_allocator};
    bool memory;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++, out.len = 0) {
        const uint8_t *bytes = (const uint8_t *)rows[i].bytes.data;

        check(base64_write(bytes, rows[i].bytes.len, &out), "memory");
        check(gufo_str_equal((gufo_str){(const char *)out.data, out.len},
                             gufo_str_of(rows[i].letters)),
              "%s", rows[i].letters);
        out.len = 0;
        check(base64_read(gufo_str_of(rows[i].letters), &out, &memory), "%s", rows[i].letters);
        check(gufo_str_equal((gufo_str){(const char *)out.data, out.len}, rows[i].bytes), "%s",
              rows[i].letters);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        check(!base64_read(gufo_str_of(bad[i]), &out, &memory) && memory, "%s", bad[i]);
    buffer_free(&out);
}

static void test_version(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", GUFO_VERSION_MAJOR, GUFO_VERSION_MINOR,
             GUFO_VERSION_PATCH);
    assert_string_equal(gufo_version(), text);
    assert_string_equal(GUFO_VERSION_STRING, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),       cmocka_unit_test(test_search),
        cmocka_unit_test(test_utf8),        cmocka_unit_test(test_utf8_all),
        cmocka_unit_test(test_utf8_encode), cmocka_unit_test(test_hex),
        cmocka_unit_test(test_utf8_places), cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_version),     cmocka_unit_test(test_group),
        cmocka_unit_test(test_digits),      cmocka_unit_test(test_place),
        cmocka_unit_test(test_base64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
