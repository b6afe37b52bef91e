/* The texts of vocabularies of RWKV World: what Python reads of a line, and what no line may be. */
#include "../../support/allocator.h"
#include "../../support/check.h"
#include "../../support/pace.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "schema/syntax/rwkv_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER "does not begin with the number of a token"
#define NO_TOKEN "has no token in quotes"
#define NO_LENGTH "does not end with a length"
#define WRONG_LENGTH "gives another length than the token has"
#define TOO_LARGE "has an id far above the number of lines"
#define EMPTY "has an empty token"

static world_survey survey_of(gufo_str text)
{
    world_survey survey;
    gufo_error error = no_error();

    check_ok(rwkv_world_survey(text, NULL, &survey, &error), &error, "survey");
    return survey;
}

static gufo_str text_of(const char *data, size_t size)
{
    return (gufo_str){data, size};
}

#define LINE(text) text, sizeof(text) - 1

/* The lengths are what Python 3 says: len(eval(token)) of bytes, of strings in UTF-8. */
static void test_lines(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *reason;
    } rows[] = {
        {LINE("1 '\\x00' 1"), NULL},
        {LINE("65 '@' 1"), NULL},
        {LINE("257 b'\\xe0' 1"), NULL},
        {LINE("258 'on' 2"), NULL},
        {LINE("259 \"it's\" 4"), NULL},
        {LINE("260 '\"' 1"), NULL},
        {LINE("261 '\\'' 1"), NULL},
        {LINE("262 '\\\\' 1"), NULL},
        {LINE("263 '\\r\\n\\t' 3"), NULL},
        {LINE("264 ' ' 1"), NULL},
        {LINE("265 ' 1' 2"), NULL},
        {LINE("266 '' 0"), EMPTY},
        {LINE("267 b'' 0"), EMPTY},
        {LINE("268 '\xc3\xa9' 2"), NULL},
        {LINE("269 '\\xe9' 2"), NULL},
        {LINE("270 b'\\xe9' 1"), NULL},
        {LINE("271 '\\u4e2d' 3"), NULL},
        {LINE("272 '\\U0001f600' 4"), NULL},
        {LINE("273 '\\U0010ffff' 4"), NULL},
        {LINE("274 b'\\u4e2d' 6"), NULL},
        {LINE("275 b'\\xe4\\xb8' 2"), NULL},
        {LINE("276 '\\0' 1"), NULL},
        {LINE("277 '\\012' 1"), NULL},
        {LINE("278 '\\0123' 2"), NULL},
        {LINE("279 '\\400' 2"), NULL},
        {LINE("280 '\\8' 2"), NULL},
        {LINE("281 '\\d' 2"), NULL},
        {LINE("282 '\\\xc3\xa9' 3"), NULL},
        {LINE("283 b'\\377' 1"), NULL},
        {LINE("18446744073709551616 'a' 1"), TOO_LARGE},
        {LINE("5 'a' 01"), NULL},
        {LINE("5 '\xff\xfe' 2"), NULL}, /* another rule is about UTF-8 */

        {LINE(" 1 'a' 1"), NO_NUMBER},
        {LINE("1"), NO_NUMBER},
        {LINE("1\t'a' 1"), NO_NUMBER},
        {LINE("-1 'a' 1"), NO_NUMBER},
        {LINE("0x1 'a' 1"), NO_NUMBER},
        {LINE("'a' 1"), NO_NUMBER},
        {LINE("\xff\xfe"), NO_NUMBER},
        {LINE("\0 'a' 1"), NO_NUMBER},
        {LINE("1 "), NO_TOKEN},
        {LINE("1 a 1"), NO_TOKEN},
        {LINE("1  'a' 1"), NO_TOKEN},
        {LINE("1 'a"), NO_TOKEN},
        {LINE("1 'a\" 1"), NO_TOKEN},
        {LINE("1 b"), NO_TOKEN},
        {LINE("1 b 1"), NO_TOKEN},
        {LINE("1 bb'a' 1"), NO_TOKEN},
        {LINE("1 '"), NO_TOKEN},
        {LINE("1 '\\"), NO_TOKEN},
        {LINE("1 '\\'"), NO_TOKEN},
        {LINE("1 '\\x"), NO_TOKEN},
        {LINE("1 '\\x0' 1"), NO_TOKEN},
        {LINE("1 '\\xg0' 1"), NO_TOKEN},
        {LINE("1 '\\u12' 1"), NO_TOKEN},
        {LINE("1 '\\ud800' 3"), NO_TOKEN},
        {LINE("1 '\\U00110000' 4"), NO_TOKEN},
        {LINE("1 '\\Uffffffff' 4"), NO_TOKEN},
        {LINE("1 b'\xc3\xa9' 2"), NO_TOKEN},
        {LINE("1 b'\\\xc3' 2"), NO_TOKEN},
        {LINE("1 b'\\400' 1"), NO_TOKEN},
        {LINE("1 'a\0b\\\0' 1"), NO_TOKEN},
        {LINE("1 'a'"), NO_LENGTH},
        {LINE("1 'a' "), NO_LENGTH},
        {LINE("1 'a'1"), NO_LENGTH},
        {LINE("1 'a' 1 "), NO_LENGTH},
        {LINE("1 'a' -1"), NO_LENGTH},
        {LINE("1 'a' +1"), NO_LENGTH},
        {LINE("1 'a' 1.0"), NO_LENGTH},
        {LINE("1 'a' 1\0"), NO_LENGTH},
        {LINE("1 'a' 18446744073709551617"), NO_LENGTH}, /* not 1 */
        {LINE("1 'a' 2"), WRONG_LENGTH},
        {LINE("1 'a' 0"), WRONG_LENGTH},
        {LINE("1 'a' 4294967297"), WRONG_LENGTH},
        {LINE("1 '\\xe9' 1"), WRONG_LENGTH},
        {LINE("1 b'\\u4e2d' 3"), WRONG_LENGTH},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* Exactly so many bytes: reading past them is an error. */
        char *copy = malloc(rows[i].size);
        world_survey survey;

        assert_non_null(copy);
        memcpy(copy, rows[i].text, rows[i].size);
        survey = survey_of(text_of(copy, rows[i].size));
        check(strcmp(survey.fault, rows[i].reason != NULL ? rows[i].reason : "") == 0, "%s: %s",
              rows[i].text, survey.fault);
        free(copy);
    }
}

/* Every beginning of a good line but the whole is a fault, and none is read past. */
static void test_prefixes(void **state)
{
    static const char line[] = "272 '\\U0001f600\\x41\\'\\377' 12";

    (void)state;
    for (size_t size = 0; size < sizeof line - 1; size++) {
        char *copy = malloc(size > 0 ? size : 1);

        assert_non_null(copy);
        memcpy(copy, line, size);
        check_status(survey_of(text_of(copy, size)).status, GUFO_E_MALFORMED, NULL, "%zu bytes",
                     size);
        free(copy);
    }
}

/* `lines`: that were read, the one with the fault included. */
static void check_text(gufo_str text, const char *fault, uint64_t lines, size_t at)
{
    world_survey survey = survey_of(text);

    assert_string_equal(survey.fault, fault != NULL ? fault : "");
    check_u64(survey.lines, lines, "lines");
    if (fault != NULL)
        check_u64(survey.at, at, "place");
}

static void test_ends_of_lines(void **state)
{
    (void)state;
    check_text(text_of("", 0), "is missing", 1, 0);
    check_text(gufo_str_of("1 'a' 1\n2 'b' 1\n"), NULL, 2, 0);
    check_text(gufo_str_of("1 'a' 1\r\n2 'b' 1\r\n"), NULL, 2, 0);
    check_text(gufo_str_of("1 'a' 1\n2 'b' 1"), NULL, 2, 0);
    check_text(gufo_str_of("1 'a' 1\n\n2 'b' 1\n"), NO_NUMBER, 2, 8);
    check_text(gufo_str_of("\n"), NO_NUMBER, 1, 0);
    check_text(gufo_str_of("1 'a' 1\n2 'b\n' 2\n"), NO_TOKEN, 2, 8);
    check_text(gufo_str_of("1 'a' 1\r2 'b' 1\n"), NO_LENGTH, 1, 0);
    check_text(gufo_str_of("1 'a' 1\n2 'b' 1\n3 'c' 7"), WRONG_LENGTH, 3, 16);
}

static void test_ids(void **state)
{
    world_survey survey = survey_of(gufo_str_of("7 'a' 1\n3 'b' 1\n65538 'c' 1\n"));

    (void)state;
    check_ok(survey.status, NULL, "ids");
    check_u64(survey.largest, 65538, "largest");
    check_text(gufo_str_of("5 'a' 1\n7 'b' 1\n6 'c' 1\n7 'd' 1\n5 'e' 1\n"),
               "has id 7, as line 2 has", 4, 24);
    check_text(gufo_str_of("0 'a' 1\n0 'a' 1\n"), "has id 0, as line 1 has", 2, 8);
    check_text(gufo_str_of("1 'a' 1\n65539 'c' 1"), TOO_LARGE, 2, 8);
    check_status(survey_of(gufo_str_of("18446744073709551616 'a' 1")).status, GUFO_E_LIMIT, NULL,
                 "the largest number");
}

static void test_memory(void **state)
{
    gufo_error error = no_error();
    gufo_allocator allocator;
    world_survey survey;
    counter c;

    (void)state;
    counter_init(&c);
    c.fail_at = 1;
    allocator = counter_allocator(&c);
    check_status(rwkv_world_survey(gufo_str_of("1 'a' 1"), &allocator, &survey, &error),
                 GUFO_E_MEMORY, &error, "memory");
}

/* A million lines, of which the last is wrong; and one line as long. */
static void test_large(void **state)
{
    enum { LINES = 1000000 };
    buffer text = {.allocator = &default_allocator};
    char line[32];
    void *place;
    size_t last = 0;

    (void)state;
    skip_if_emulated();
    for (int i = 1; i <= LINES; i++) {
        int size = snprintf(line, sizeof line, "%d 'a\\xe9' %d\n", i, i < LINES ? 3 : 4);

        last = text.len;
        place = buffer_extend(&text, (uint64_t)size);
        assert_non_null(place);
        memcpy(place, line, (size_t)size);
    }
    check_text(text_of((const char *)text.data, text.len), WRONG_LENGTH, LINES, last);
    check_text(text_of((const char *)text.data, last), NULL, LINES - 1, 0);
    memset(text.data, '\\', text.len);
    memcpy(text.data, "1 '", 3);
    check_text(text_of((const char *)text.data, text.len), NO_TOKEN, 1, 0);
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_ends_of_lines), cmocka_unit_test(test_ids),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
