/* Why a request failed; failure.h has the idea. */
#include "remote/http/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"

gufo_status fail_changed(const transfer *t)
{
    return refuse(t->error, GUFO_E_CHANGED, "%s: the file was changed while it was being read",
                  t->origin.host);
}

gufo_status fail_without_ranges(const transfer *t)
{
    return refuse(
        t->error, GUFO_E_IO,
        "%s sends whole files only (no ranges), so a part of it cannot be read; fetch it first",
        t->origin.host);
}

gufo_status fail_protocol(const transfer *t, const char *what)
{
    return refuse(t->error, GUFO_E_IO, "%s %s", t->origin.host, what);
}

static void set_system(const transfer *t, int system)
{
    if (t->error != NULL)
        t->error->system = system;
}

/* ---- a status -------------------------------------------------------------------------------- */

static const struct {
    int status, system;
    const char *text;
} statuses[] = {
    {400, 0, " Bad Request"},
    {401, EACCES, " Unauthorized: it is private, does not exist, or the token is wrong"},
    {403, EACCES, " Forbidden"},
    {404, ENOENT, " Not Found"},
    {408, ETIMEDOUT, " Request Timeout"},
    {410, ENOENT, " Gone"},
    {429, EAGAIN, " Too Many Requests"},
    {451, EACCES, " Unavailable For Legal Reasons"},
    {500, 0, " Internal Server Error"},
    {502, 0, " Bad Gateway"},
    {503, EAGAIN, " Service Unavailable"},
    {504, ETIMEDOUT, " Gateway Timeout"},
};

/* The first line that says something: pages begin with markup, whose end is not needed. */
static gufo_str first_words(const transfer *t)
{
    gufo_str text = {t->excerpt, t->excerpt_len};
    size_t at = 0;

    while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\n' ||
                             text.data[at] == '\r' || text.data[at] == '\t'))
        at++;
    return str_from(text, at);
}

static const char *put_quoted(char *out, size_t size, gufo_str text)
{
    size_t len = 0, taken;
    char shown[GUFO_SHOWN_SIZE];

    for (size_t at = 0; at < text.len; at += taken) {
        const size_t more = gufo_utf8_show(str_from(text, at), shown, &taken);

        if (len + more >= size)
            break;
        memcpy(out + len, shown, more);
        len += more;
    }
    out[len] = '\0';
    return out;
}

gufo_status fail_status(const transfer *t)
{
    const int status = t->headers.status;
    const char *text = "", *code = t->answer->error_code;
    char words[EXCERPT * 3], shown_code[HTTP_TEXT_SIZE];
    const gufo_str excerpt = first_words(t);
    const uint64_t after = t->headers.retry_after;
    int system = 0;

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) {
            text = statuses[i].text;
            system = statuses[i].system;
        }
    if (status == 416)
        return refuse(t->error, GUFO_E_RANGE, "%s: the file ends before byte %" PRIu64,
                      t->origin.host, t->request->first + t->taken);
    (void)refuse(t->error, GUFO_E_IO, "%s answers %d%s%s%s%s%s%s%s", t->origin.host, status, text,
                 code[0] != '\0' ? " (" : "",
                 put_quoted(shown_code, sizeof shown_code, gufo_str_of(code)),
                 code[0] != '\0' ? ")" : "", excerpt.len > 0 ? ": \"" : "",
                 put_quoted(words, sizeof words, excerpt), excerpt.len > 0 ? "\"" : "");
    if (after != GUFO_NO_OFFSET && after > t->remote->pace.longest_after / 1000)
        (void)refuse(t->error, GUFO_E_IO, "%s answers %d%s, and asks to wait %s seconds",
                     t->origin.host, status, text, GROUPED(after));
    set_system(t, system);
    return GUFO_E_IO;
}

/* ---- without a good one ---------------------------------------------------------------------- */

gufo_status fail_short(const transfer *t, CURLcode result)
{
    return refuse(t->error, GUFO_E_IO, "%s: the connection ended after %s bytes%s%s%s",
                  t->origin.host, GROUPED(t->taken), result != CURLE_OK ? " (" : "",
                  result != CURLE_OK ? curl_easy_strerror(result) : "",
                  result != CURLE_OK ? ")" : "");
}

gufo_status fail_stalled(const transfer *t)
{
    (void)refuse(t->error, GUFO_E_IO, "%s: less than 1 KiB a second has come for %s seconds",
                 t->origin.host, GROUPED(t->remote->pace.stall / 1000));
    set_system(t, ETIMEDOUT);
    return GUFO_E_IO;
}

static int system_of(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
        return ENOENT;
    case CURLE_COULDNT_CONNECT:
        return ECONNREFUSED;
    case CURLE_OPERATION_TIMEDOUT:
        return ETIMEDOUT;
    default:
        return 0;
    }
}

gufo_status fail_connection(const transfer *t, CURLcode result, bool forbids_private)
{
    const bool was_forbidden =
        result == CURLE_ABORTED_BY_CALLBACK || (result == CURLE_COULDNT_CONNECT && forbids_private);

    /* That is also what libcurl says of a line of headers that has no end. */
    if (result == CURLE_OUT_OF_MEMORY && !t->judged)
        return fail_protocol(t, "sends headers that are too long, or there is no memory for them");
    if (result == CURLE_OUT_OF_MEMORY)
        return fail_memory(t->error);
    if (was_forbidden)
        return refuse(t->error, GUFO_E_IO,
                      "%s cannot be reached, or is an address of a private network, which %s",
                      t->origin.host,
                      t->is_first ? "is not allowed" : "a redirect may not lead to");
    (void)refuse(t->error, GUFO_E_IO, "%s cannot be reached: %s", t->origin.host,
                 curl_easy_strerror(result));
    set_system(t, system_of(result));
    return GUFO_E_IO;
}
