/* Fuzz target: read anything as the headers of an answer, a line after the other, and as an address. */
#include "walk.h"

#include <string.h>

#include "base/text.h"
#include "remote/http/headers.h"
#include "remote/http/url.h"

static bool is_ended(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check_headers(const http_headers *h)
{
    char digest[65];

    must(h->status == 0 || (h->status >= 100 && h->status <= 999), "a status has three digits");
    must(is_ended(h->version.etag, HTTP_TEXT_SIZE) &&
             is_ended(h->version.modified, HTTP_TEXT_SIZE) &&
             is_ended(h->location, HTTP_URL_SIZE) && is_ended(h->next, HTTP_URL_SIZE),
         "texts end");
    must(!h->version.is_strong || h->version.etag[0] == '"', "a strong ETag has quotes");
    must(strpbrk(h->version.etag, "\r\n") == NULL && strpbrk(h->location, "\r\n") == NULL,
         "what goes into a request has no line ends");
    if (h->has_range && h->range.first != GUFO_NO_OFFSET)
        must(h->range.count > 0 && h->range.first < h->range.total &&
                 h->range.count <= h->range.total - h->range.first,
             "a part is in its file");
    if (etag_sha256(h->linked_etag, digest))
        must(strspn(digest, "0123456789abcdef") == 64, "a digest has 64 digits");
}

static void read_lines(gufo_str text)
{
    static http_headers headers;
    size_t at = 0;

    headers = (http_headers){.status = 0};
    while (at < text.len) {
        const gufo_str line = str_line(text, &at);

        if (headers_add(&headers, line, 784111740))
            check_headers(&headers);
    }
}

static void read_values(gufo_str text)
{
    uint64_t seconds;
    int64_t date;
    gufo_str link;

    (void)retry_after_read(text, 784111740, &seconds);
    if (http_date_read(text, &date))
        must(date >= 0 && date < 253402300800, "a date is in our era");
    if (link_read(text, "next", &link))
        must(link.data >= text.data && link.data + link.len <= text.data + text.len,
             "a link is in its text");
}

static void read_address(gufo_str text)
{
    static char url[HTTP_URL_SIZE * 2], whole[HTTP_URL_SIZE], again[HTTP_URL_SIZE];
    static url_origin origin, same;

    if (text.len >= sizeof url || memchr(text.data, '\0', text.len) != NULL)
        return;
    memcpy(url, text.data, text.len);
    url[text.len] = '\0';
    must(strpbrk(url_shown(url, whole), "?#") == NULL, "no query is shown");
    if (url_read(url, whole, &origin, NULL) != GUFO_OK)
        return;
    must(url_read(whole, again, &same, NULL) == GUFO_OK && strcmp(origin.text, same.text) == 0,
         "an address stays at its host");
    must(strncmp(whole, "http", 4) == 0, "no other scheme is let through");
    (void)url_join(whole, url, again, &same, NULL);
    (void)address_is_private(origin.host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str text = {(const char *)data, size};

    if (size == 0)
        text.data = "";
    read_lines(text);
    read_values(text);
    read_address(text);
    return 0;
}
