/* Lines of HTTP headers; headers.h has the idea.
 *
 *     HTTP/1.1 206 Partial Content      begins an answer: what an interim one (100) said is forgotten
 *     Content-Range: bytes 0-99/1234    a row of the table at the end reads it
 *     X-Unknown: any                    no row: skipped */
#include "remote/http/headers.h"

#include <string.h>

#include "base/text.h"

/* ---- pieces of a value ----------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static gufo_str trimmed(gufo_str text)
{
    while (text.len > 0 && is_blank(text.data[0]))
        text = str_from(text, 1);
    while (text.len > 0 && is_blank(text.data[text.len - 1]))
        text.len--;
    return text;
}

/* What is before `mark`; *rest is what is behind it.  False: there is none. */
static bool cut_at(gufo_str text, char mark, gufo_str *before, gufo_str *rest)
{
    const char *at = text.len > 0 ? memchr(text.data, mark, text.len) : NULL;

    if (at == NULL)
        return false;
    *before = (gufo_str){text.data, (size_t)(at - text.data)};
    *rest = str_from(text, before->len + 1);
    return true;
}

/* What is too long, or has bytes that no header may have, counts as missing. */
static bool keep(gufo_str value, char *out, size_t size)
{
    out[0] = '\0';
    if (value.len == 0 || value.len >= size)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] <= ' ' || value.data[i] == 0x7f)
            if (value.data[i] != ' ')
                return false;
    memcpy(out, value.data, value.len);
    out[value.len] = '\0';
    return true;
}

/* ---- Content-Range --------------------------------------------------------------------------- */

/* FIRST-LAST; their difference and one are a number, too. */
static bool read_span(gufo_str text, http_range *out)
{
    gufo_str first, last;
    uint64_t end;

    if (!cut_at(text, '-', &first, &last) || !str_number(trimmed(first), &out->first) ||
        !str_number(trimmed(last), &end) || end < out->first || end - out->first == UINT64_MAX)
        return false;
    out->count = end - out->first + 1;
    return true;
}

bool content_range_read(gufo_str value, http_range *out)
{
    gufo_str span, total;
    const bool is_bytes =
        str_begins_folded(value, "bytes") && value.len > 5 && is_blank(value.data[5]);

    *out = (http_range){.first = GUFO_NO_OFFSET, .total = GUFO_NO_OFFSET};
    if (!is_bytes || !cut_at(str_from(value, 6), '/', &span, &total))
        return false;
    span = trimmed(span);
    total = trimmed(total);
    if (!gufo_str_equal(total, gufo_str_of("*")) &&
        (!str_number(total, &out->total) || out->total == GUFO_NO_OFFSET))
        return false;
    if (gufo_str_equal(span, gufo_str_of("*")))
        return out->total != GUFO_NO_OFFSET;
    return read_span(span, out) && out->first < out->total && out->count <= out->total - out->first;
}

/* ---- dates ----------------------------------------------------------------------------------- */

/* Days since 1970 of a day in the Gregorian calendar: years begin in March, so that the day that some
 * have is their last. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;

    return 365 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1 - 719468;
}

/* The next word of a date: letters, or digits; marks between words are skipped. */
static gufo_str next_word(gufo_str *text)
{
    bool (*is_in_class)(char);
    size_t at = 0, len;
    gufo_str word;

    while (at < text->len && !is_letter(text->data[at]) && !is_digit(text->data[at]))
        at++;
    is_in_class = at < text->len && is_digit(text->data[at]) ? is_digit : is_letter;
    len = str_span(*text, at, is_in_class);
    word = (gufo_str){len > 0 ? text->data + at : "", len};
    *text = str_from(*text, at + len);
    return word;
}

/* 1 for January. */
static int64_t month_of(gufo_str word)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

    for (int64_t i = 0; i < 12 && word.len == 3; i++)
        if (str_same_folded(word, (gufo_str){names + 3 * i, 3}))
            return i + 1;
    return 0;
}

/* A year of two digits is within 50 years of now, of which the decade is enough to know. */
static uint64_t whole_year(uint64_t year, size_t digits)
{
    return digits > 2 ? year : year < 70 ? 2000 + year : 1900 + year;
}

/*     Sun, 06 Nov 1994 08:49:37 GMT      day month year time
 *     Sunday, 06-Nov-94 08:49:37 GMT     day month year time
 *     Sun Nov  6 08:49:37 1994           month day time year */
bool http_date_read(gufo_str value, int64_t *seconds)
{
    uint64_t number[5]; /* day, year, and time; in the third form the year is the last one */
    size_t count = 0, digits[5];
    int64_t month = 0;
    bool year_is_last = false;

    (void)next_word(&value); /* the day of the week */
    for (gufo_str word = next_word(&value); word.len > 0 && count < 5; word = next_word(&value)) {
        if (is_digit(word.data[0]) && word.len <= 4 && str_number(word, &number[count]))
            digits[count++] = word.len;
        else if (month == 0 && (month = month_of(word)) != 0)
            year_is_last = count == 0;
        else
            return false;
    }
    if (count < 5 || month == 0)
        return false;
    {
        const size_t year_at = year_is_last ? 4 : 1, time_at = year_is_last ? 1 : 2;
        const uint64_t year = whole_year(number[year_at], digits[year_at]), day = number[0];
        const uint64_t hour = number[time_at], minute = number[time_at + 1],
                       second = number[time_at + 2];

        if (day < 1 || day > 31 || year < 1970 || hour > 23 || minute > 59 || second > 60)
            return false;
        *seconds = days_since_1970((int64_t)year, month, (int64_t)day) * 86400 +
                   (int64_t)(hour * 3600 + minute * 60 + second);
    }
    return true;
}

bool retry_after_read(gufo_str value, int64_t now, uint64_t *seconds)
{
    int64_t date;

    if (str_number(value, seconds))
        return true;
    if (!http_date_read(value, &date))
        return false;
    *seconds = date > now ? (uint64_t)(date - now) : 0;
    return true;
}

/* ---- ETag, Link ------------------------------------------------------------------------------ */

bool etag_read(gufo_str value, char out[HTTP_TEXT_SIZE], bool *is_strong)
{
    const bool is_weak = str_begins(value, "W/");
    const gufo_str quoted = str_from(value, is_weak ? 2 : 0);
    const bool is_quoted =
        quoted.len >= 2 && quoted.data[0] == '"' &&
        memchr(quoted.data + 1, '"', quoted.len - 1) == quoted.data + quoted.len - 1;

    out[0] = '\0';
    *is_strong = false;
    if (!is_quoted || memchr(quoted.data, ' ', quoted.len) != NULL ||
        !keep(value, out, HTTP_TEXT_SIZE))
        return false;
    *is_strong = !is_weak;
    return true;
}

bool etag_sha256(const char *etag, char out[65])
{
    if (strlen(etag) != 66 || etag[0] != '"' || etag[65] != '"')
        return false;
    for (size_t i = 0; i < 64; i++) {
        if (!is_hex(etag[1 + i]))
            return false;
        out[i] = to_lower(etag[1 + i]);
    }
    out[64] = '\0';
    return true;
}

/* Whether parameters (; rel="next"; title=a) name the relation. */
static bool has_relation(gufo_str parameters, const char *relation)
{
    gufo_str name, rest = parameters, value;

    while (cut_at(rest, ';', &name, &rest)) {
        gufo_str parameter = rest, key;

        (void)cut_at(rest, ';', &parameter, &value);
        if (!cut_at(parameter, '=', &key, &value) ||
            !str_same_folded(trimmed(key), gufo_str_of("rel")))
            continue;
        value = trimmed(value);
        if (value.len >= 2 && value.data[0] == '"' && value.data[value.len - 1] == '"')
            value = (gufo_str){value.data + 1, value.len - 2};
        return str_same_folded(value, gufo_str_of(relation));
    }
    return false;
}

/*     <https://host/api?cursor=a,b>; rel="next", <...>; rel="last"
 * An address may have commas, which its brackets tell from those between links. */
bool link_read(gufo_str value, const char *relation, gufo_str *out)
{
    gufo_str before, address, rest = value;

    while (cut_at(rest, '<', &before, &rest) && cut_at(rest, '>', &address, &rest)) {
        gufo_str parameters = rest;

        (void)cut_at(rest, '<', &parameters, &before);
        if (parameters.len > 0 && memchr(parameters.data, ',', parameters.len) != NULL)
            (void)cut_at(parameters, ',', &parameters, &before);
        if (has_relation(parameters, relation)) {
            *out = address;
            return true;
        }
    }
    return false;
}

/* ---- the table of lines ---------------------------------------------------------------------- */

static void take_range(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    headers->has_range = content_range_read(value, &headers->range);
}

static void take_length(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    if (!str_number(value, &headers->length))
        headers->length = GUFO_NO_OFFSET;
}

static void take_encoding(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    headers->has_encoding = value.len > 0 && !str_same_folded(value, gufo_str_of("identity"));
}

static void take_retry_after(http_headers *headers, gufo_str value, int64_t now)
{
    if (!retry_after_read(value, now, &headers->retry_after))
        headers->retry_after = GUFO_NO_OFFSET;
}

static void take_etag(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    (void)etag_read(value, headers->version.etag, &headers->version.is_strong);
}

static void take_modified(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    (void)keep(value, headers->version.modified, HTTP_TEXT_SIZE);
}

static void take_linked_size(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    if (!str_number(value, &headers->linked_size))
        headers->linked_size = GUFO_NO_OFFSET;
}

static void take_linked_etag(http_headers *headers, gufo_str value, int64_t now)
{
    bool is_strong;

    (void)now;
    (void)etag_read(value, headers->linked_etag, &is_strong);
}

static void take_commit(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    (void)keep(value, headers->repo_commit, HTTP_TEXT_SIZE);
}

static void take_error_code(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    (void)keep(value, headers->error_code, HTTP_TEXT_SIZE);
}

static void take_content_type(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    (void)keep(value, headers->content_type, HTTP_TEXT_SIZE);
}

static void take_location(http_headers *headers, gufo_str value, int64_t now)
{
    (void)now;
    headers->has_location = true;
    (void)keep(value, headers->location, HTTP_URL_SIZE);
}

static void take_link(http_headers *headers, gufo_str value, int64_t now)
{
    gufo_str address;

    (void)now;
    if (link_read(value, "next", &address))
        (void)keep(address, headers->next, HTTP_URL_SIZE);
}

static const struct {
    const char *name;
    void (*take)(http_headers *headers, gufo_str value, int64_t now);
} lines[] = {
    {"Content-Range", take_range},
    {"Content-Length", take_length},
    {"Content-Encoding", take_encoding},
    {"Retry-After", take_retry_after},
    {"ETag", take_etag},
    {"Last-Modified", take_modified},
    {"X-Linked-Size", take_linked_size},
    {"X-Linked-Etag", take_linked_etag},
    {"X-Repo-Commit", take_commit},
    {"X-Error-Code", take_error_code},
    {"Content-Type", take_content_type},
    {"Location", take_location},
    {"Link", take_link},
};

/* HTTP/1.1 206 Partial Content, HTTP/2 206. */
static bool begin(http_headers *headers, gufo_str line)
{
    gufo_str protocol, rest;
    uint64_t status;

    *headers = (http_headers){.range = {.first = GUFO_NO_OFFSET, .total = GUFO_NO_OFFSET},
                              .length = GUFO_NO_OFFSET,
                              .retry_after = GUFO_NO_OFFSET,
                              .linked_size = GUFO_NO_OFFSET,
                              .version = {.size = GUFO_NO_OFFSET}};
    if (!cut_at(line, ' ', &protocol, &rest) || rest.len < 3 ||
        !str_number((gufo_str){rest.data, 3}, &status) || status < 100)
        return false;
    headers->status = (int)status;
    return true;
}

bool headers_add(http_headers *headers, gufo_str line, int64_t now)
{
    gufo_str name, value;

    if (str_begins(line, "HTTP/"))
        return begin(headers, line);
    if (!cut_at(line, ':', &name, &value))
        return true;
    value = trimmed(value);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (str_same_folded(name, gufo_str_of(lines[i].name)))
            lines[i].take(headers, value, now);
    return true;
}
