/* What is JSON, and what is not. */
#include "../../support/check.h"

#include "schema/syntax/json.h"

#include <stdlib.h>
#include <string.h>

static void test_texts(void **state)
{
    static const char *const good[] = {
        "{}",
        "[]",
        " [ ] ",
        "0",
        "-0",
        "1.5e-3",
        "12E+2",
        "\"\"",
        "\"\\u00e9\\n\\\\\"",
        "true",
        "null",
        "[1, [2, {\"a\": [false]}], \"b\"]\n",
        "{\"a\": {\"b\": {}}, \"a\": 1}",
    };
    static const struct {
        const char *text;
        size_t at;
    } bad[] = {
        {"", 0},           {" ", 1},        {"{", 1},       {"[1,]", 3},
        {"{\"a\"}", 4},    {"{\"a\":}", 5}, {"{a:1}", 1},   {"[1 2]", 3},
        {"01", 1},         {"1.", 2},       {"1e", 2},      {"-", 1},
        {"+1", 0},         {"\"a", 2},      {"\"\\x\"", 3}, {"\"\\u12g4\"", 7},
        {"\"\t\"", 2},     {"tru", 0},      {"{} {}", 3},   {"[\"a\" : 1]", 5},
        {"{\"a\":1,}", 7}, {"nulls", 4},    {"'a'", 0},     {"\"\\", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        check(json_check(gufo_str_of(good[i]), NULL, NULL).reason == NULL, "%s: %s", good[i],
              json_check(gufo_str_of(good[i]), NULL, NULL).reason);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        json_fault fault = json_check(gufo_str_of(bad[i].text), NULL, NULL);

        check(fault.reason != NULL, "%s", bad[i].text);
        check_u64(fault.at, bad[i].at, "%s: %s", bad[i].text, fault.reason);
    }
}

/* As deep as is allowed, and one level more; a million levels do no harm. */
static void test_depth(void **state)
{
    char *text = malloc(1000000);

    (void)state;
    memset(text, '[', 1000000);
    memset(text + JSON_DEPTH, ']', JSON_DEPTH);
    check(json_check((gufo_str){text, 2 * JSON_DEPTH}, NULL, NULL).reason == NULL, "deep");
    memset(text, '[', 1000000);
    check_u64(json_check((gufo_str){text, 1000000}, NULL, NULL).at, JSON_DEPTH, "deeper");
    free(text);
}

/* Every beginning of a text ends somewhere inside. */
static void test_beginnings(void **state)
{
    static const char text[] = "{\"a\": [1.5, \"\\u00e9\", true, null], \"b\": {\"c\": -2e3}}";

    (void)state;
    for (size_t len = 0; len + 1 < sizeof text; len++) {
        char *copy = malloc(len + 1);
        json_fault fault;

        memcpy(copy, text, len);
        fault = json_check((gufo_str){copy, len}, NULL, NULL);
        check(len == strlen(text) || (fault.reason != NULL && fault.at <= len), "%zu", len);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_beginnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
