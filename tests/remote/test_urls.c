/* Addresses: which are allowed, how they are shown, and which are of private networks. */
#include "remote_cases.h"

#include "remote/http/url.h"

static void test_read(void **state)
{
    static const struct {
        const char *url, *whole, *origin; /* NULL: refused */
    } rows[] = {
        {"https://Host.Example/a?b#c", "https://Host.Example/a?b", "https://host.example:443"},
        {"https://host:8443/a", "https://host:8443/a", "https://host:8443"},
        {"https://host:443/", "https://host:443/", "https://host:443"},
        {"http://127.0.0.1/a%20b", "http://127.0.0.1/a%20b", "http://127.0.0.1:80"},
        {"https://[::1]:9/a", "https://[::1]:9/a", "https://[::1]:9"},
        {"https://h/a/../b", "https://h/b", "https://h:443"},
        {"https://user@host/a", NULL, NULL},
        {"https://user:secret@host/a", NULL, NULL},
        {"https://:secret@host/a", NULL, NULL},
        {"file:///etc/passwd", NULL, NULL},
        {"ftp://host/a", NULL, NULL},
        {"https://", NULL, NULL},
        {"https:///a", "https://a/", "https://a:443"},
        {"", NULL, NULL},
        {"https://host:99999/", NULL, NULL},
        {"https://ho\nst/", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char whole[HTTP_URL_SIZE];
        url_origin origin;
        gufo_error error = {0};
        const gufo_status status = url_read(rows[i].url, whole, &origin, &error);

        check((status == GUFO_OK) == (rows[i].whole != NULL), "%s: %s", rows[i].url, error.message);
        check(status == GUFO_OK || strstr(error.message, "secret") == NULL, "%s", error.message);
        if (status != GUFO_OK)
            continue;
        check(strcmp(whole, rows[i].whole) == 0, "%s: %s", rows[i].url, whole);
        check(strcmp(origin.text, rows[i].origin) == 0, "%s: %s", rows[i].url, origin.text);
    }
}

static void test_long(void **state)
{
    static char url[HTTP_URL_SIZE + 100], whole[HTTP_URL_SIZE];
    url_origin origin;

    (void)state;
    memset(url, 'a', sizeof url - 1);
    memcpy(url, "https://host/", 13);
    assert_int_equal(url_read(url, whole, &origin, NULL), GUFO_E_ARGUMENT);
    assert_true(strlen(url_shown(url, whole)) < HTTP_URL_SIZE);
    url[HTTP_URL_SIZE - 1] = '\0';
    assert_int_equal(url_read(url, whole, &origin, NULL), GUFO_OK);
}

static void test_join(void **state)
{
    static const struct {
        const char *base, *relative, *whole; /* NULL: refused */
    } rows[] = {
        {"https://h/a/b?q", "c", "https://h/a/c"},
        {"https://h/a/b?q", "/c?d", "https://h/c?d"},
        {"https://h/a", "//other/c", "https://other/c"},
        {"https://h/a", "http://other/c", "http://other/c"},
        {"https://h/a", "?x", "https://h/a?x"},
        {"https://h/a", "a b", "https://h/a%20b"},
        {"https://h/a", "file:///etc/passwd", NULL},
        {"https://h/a", "https://u:p@h/", NULL},
        {"https://h/a", "javascript:alert(1)", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char whole[HTTP_URL_SIZE];
        url_origin origin;
        const gufo_status status = url_join(rows[i].base, rows[i].relative, whole, &origin, NULL);

        check((status == GUFO_OK) == (rows[i].whole != NULL), "%s", rows[i].relative);
        if (status == GUFO_OK)
            check(strcmp(whole, rows[i].whole) == 0, "%s: %s", rows[i].relative, whole);
    }
}

static void test_shown(void **state)
{
    static const char *const rows[][2] = {
        {"https://host/a?X-Amz-Signature=secret#f", "https://host/a"},
        {"https://user:secret@host/a", "https://host/a"},
        {"https://a@b@host/a@b", "https://host/a@b"},
        {"https://host", "https://host"},
        {"no address?secret", "no address"},
        {"no address?of=a://secret", "no address"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[HTTP_URL_SIZE];

        check(strcmp(url_shown(rows[i][0], out), rows[i][1]) == 0, "%s: %s", rows[i][0], out);
    }
}

static void test_private(void **state)
{
    static const char *const private[] = {
        "127.0.0.1",
        "127.255.255.255",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fdff::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::127.0.0.1",
        "not an address",
        "",
    };
    static const char *const public[] = {
        "8.8.8.8",        "172.15.0.1",       "172.32.0.1",
        "11.0.0.1",       "169.253.0.1",      "192.169.0.1",
        "100.63.0.1",     "100.128.0.1",      "2001:4860:4860::8888",
        "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::",
        "fb00::1",        "223.255.255.255",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(private); i++)
        check(address_is_private(private[i]), "%s", private[i]);
    for (size_t i = 0; i < COUNT_OF(public); i++)
        check(!address_is_private(public[i]), "%s", public[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),  cmocka_unit_test(test_long),    cmocka_unit_test(test_join),
        cmocka_unit_test(test_shown), cmocka_unit_test(test_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
