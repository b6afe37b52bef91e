/* What lines of HTTP headers say. */
#include "remote_cases.h"

#include "remote/http/headers.h"

#define NONE GUFO_NO_OFFSET

static void test_content_range(void **state)
{
    static const struct {
        const char *value;
        bool is_good;
        uint64_t first, count, total;
    } rows[] = {
        {"bytes 0-99/3000000", true, 0, 100, 3000000},
        {"bytes 5-5/6", true, 5, 1, 6},
        {"Bytes  0-99/100", true, 0, 100, 100},
        {"bytes 0-99/*", true, 0, 100, NONE},
        {"bytes */3000000", true, NONE, 0, 3000000},
        {"bytes */*", false, 0, 0, 0},
        {"bytes 0-99/99", false, 0, 0, 0},
        {"bytes 9-5/100", false, 0, 0, 0},
        {"bytes 0-18446744073709551615/*", false, 0, 0, 0},
        {"bytes 1-18446744073709551615/*", false, 0, 0, 0},
        {"bytes 0-18446744073709551614/18446744073709551615", false, 0, 0, 0},
        {"bytes 0-18446744073709551616/18446744073709551617", false, 0, 0, 0},
        {"bytes -5/10", false, 0, 0, 0},
        {"bytes 0-/10", false, 0, 0, 0},
        {"bytes 0-1", false, 0, 0, 0},
        {"bytes+0-1/2", false, 0, 0, 0},
        {"items 0-1/2", false, 0, 0, 0},
        {"bytes", false, 0, 0, 0},
        {"", false, 0, 0, 0},
        {"bytes 0x1-2/3", false, 0, 0, 0},
        {"bytes +1-2/3", false, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        http_range got;

        check(content_range_read(gufo_str_of(rows[i].value), &got) == rows[i].is_good, "%s",
              rows[i].value);
        if (!rows[i].is_good)
            continue;
        check_u64(got.first, rows[i].first, "%s", rows[i].value);
        check_u64(got.count, rows[i].count, "%s", rows[i].value);
        check_u64(got.total, rows[i].total, "%s", rows[i].value);
    }
}

static void test_dates(void **state)
{
    static const struct {
        const char *value;
        int64_t seconds; /* -1: it is not one */
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Tue, 29 Feb 2028 23:59:60 GMT", 1835481600},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Sat, 01 Mar 2025 00:00:00 GMT", 1740787200},
        {"Sun, 06 Nov 1994 24:49:37 GMT", -1},
        {"Sun, 32 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994", -1},
        {"Sun, 06 Nov 99999 08:49:37 GMT", -1},
        {"Nov", -1},
        {"", -1},
        {"1 2 3 4 5 6 7 8 9", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t got = -1;

        check(http_date_read(gufo_str_of(rows[i].value), &got) == (rows[i].seconds >= 0), "%s",
              rows[i].value);
        check(got == rows[i].seconds, "%s: %" PRId64, rows[i].value, got);
    }
}

static void test_retry_after(void **state)
{
    static const struct {
        const char *value;
        uint64_t seconds; /* NONE: not understood */
    } rows[] = {
        {"0", 0},
        {"120", 120},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 37},
        {"Sun, 06 Nov 1994 08:48:00 GMT", 0},
        {"-5", NONE},
        {"soon", NONE},
        {"1.5", NONE},
        {"99999999999999999999999", NONE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t got = NONE;
        const bool is_good = retry_after_read(gufo_str_of(rows[i].value), 784111740, &got);

        check(is_good == (rows[i].seconds != NONE), "%s", rows[i].value);
        check(!is_good || got == rows[i].seconds, "%s: %" PRIu64, rows[i].value, got);
    }
}

static void test_etags(void **state)
{
    static const struct {
        const char *value;
        bool is_good, is_strong;
    } rows[] = {
        {"\"abc\"", true, true},     {"W/\"abc\"", true, false}, {"\"\"", true, true},
        {"abc", false, false},       {"\"a\"b\"", false, false}, {"\"abc", false, false},
        {"w/\"abc\"", false, false}, {"\"a b\"", false, false},  {"\"a\x01\"", false, false},
        {"\"", false, false},        {"", false, false},         {"W/", false, false},
    };
    char text[HTTP_TEXT_SIZE], long_one[HTTP_TEXT_SIZE + 2];
    bool is_strong;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(etag_read(gufo_str_of(rows[i].value), text, &is_strong) == rows[i].is_good, "%s",
              rows[i].value);
        check(is_strong == rows[i].is_strong, "%s", rows[i].value);
        check(strcmp(text, rows[i].is_good ? rows[i].value : "") == 0, "%s", rows[i].value);
    }
    memset(long_one, 'a', sizeof long_one);
    long_one[0] = long_one[HTTP_TEXT_SIZE] = '"';
    long_one[HTTP_TEXT_SIZE + 1] = '\0';
    check(!etag_read(gufo_str_of(long_one), text, &is_strong) && !is_strong, "too long");
    long_one[HTTP_TEXT_SIZE - 2] = '"';
    long_one[HTTP_TEXT_SIZE - 1] = '\0';
    check(etag_read(gufo_str_of(long_one), text, &is_strong), "as long as may be");
}

static void test_sha256(void **state)
{
    static const char digits[] =
        "\"E3B0C44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"";
    char out[65], bad[sizeof digits];

    (void)state;
    assert_true(etag_sha256(digits, out));
    assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    memcpy(bad, digits, sizeof digits);
    bad[5] = 'g';
    assert_false(etag_sha256(bad, out));
    assert_false(etag_sha256("\"abc\"", out));
    assert_false(etag_sha256("", out));
}

static void test_links(void **state)
{
    static const struct {
        const char *value, *next; /* NULL: none */
    } rows[] = {
        {"<https://h/api?cursor=a,b>; rel=\"next\"", "https://h/api?cursor=a,b"},
        {"</a>; rel=prev, </b>; rel=next", "/b"},
        {"</a>; title=\"x\"; rel=\"next\"", "/a"},
        {"</a>;rel=NEXT", "/a"},
        {"</a>; rel=\"last\"", NULL},
        {"</a>, </b>; rel=next", "/b"},
        {"</a", NULL},
        {"<>; rel=next", ""},
        {"", NULL},
        {"; rel=next", NULL},
        {"</a>; rel=", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_str got = {NULL, 0};

        check(link_read(gufo_str_of(rows[i].value), "next", &got) == (rows[i].next != NULL), "%s",
              rows[i].value);
        if (rows[i].next != NULL)
            check_str(got, rows[i].next, "%s", rows[i].value);
    }
}

/* An interim answer, then the one that counts; names in any case. */
static void test_lines(void **state)
{
    static const char *const lines[] = {
        "HTTP/1.1 100 Continue\r\n",
        "ETag: \"old\"\r\n",
        "\r\n",
        "HTTP/2 206 \r\n",
        "content-range:bytes 0-1/9\r\n",
        "CONTENT-LENGTH:  2 \r\n",
        "Content-Encoding: identity\r\n",
        "x-linked-size: 9\r\n",
        "X-Linked-Etag: \"e\"\r\n",
        "Location: /a\r\n",
        "no colon\r\n",
        ": no name\r\n",
        "\r\n",
    };
    http_headers h = {.status = 0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        check(headers_add(&h, gufo_str_of(lines[i]), 0), "%s", lines[i]);
    assert_int_equal(h.status, 206);
    assert_string_equal(h.version.etag, "");
    assert_true(h.has_range && !h.has_encoding && h.has_location);
    check_u64(h.length, 2, "length");
    check_u64(h.linked_size, 9, "linked size");
    assert_string_equal(h.linked_etag, "\"e\"");
    assert_false(headers_add(&h, gufo_str_of("HTTP/1.1 x"), 0));
    assert_false(headers_add(&h, gufo_str_of("HTTP/1.1"), 0));
    assert_false(headers_add(&h, gufo_str_of("HTTP/1.1 099"), 0));
    assert_true(headers_add(&h, gufo_str_of("HTTP/1.1 200"), 0));
    assert_true(headers_add(&h, gufo_str_of("content-encoding: gzip"), 0) && h.has_encoding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_range), cmocka_unit_test(test_dates),
        cmocka_unit_test(test_retry_after),   cmocka_unit_test(test_etags),
        cmocka_unit_test(test_sha256),        cmocka_unit_test(test_links),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
