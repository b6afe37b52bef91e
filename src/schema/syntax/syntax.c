/* What the checks of values share. */
#include "schema/syntax/syntax.h"

#include <string.h>

syntax_result syntax_fault(syntax_verdict verdict, gufo_str text, gufo_str part, const char *reason)
{
    return (syntax_result){.verdict = verdict,
                           .at = part.data != NULL ? (size_t)(part.data - text.data) : 0,
                           .part = part,
                           .reason = reason};
}

void syntax_hint_joined(syntax_result *result, const gufo_str *pieces, size_t count)
{
    size_t used = 0;
    bool good = true;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < pieces[i].len && good; j++) {
            char c = pieces[i].data[j];

            good = c >= ' ' && c <= '~' && used + 1 < sizeof result->hint;
            if (good)
                result->hint[used++] = c;
        }
    result->hint[good ? used : 0] = '\0';
}

void syntax_hint(syntax_result *result, gufo_str hint)
{
    syntax_hint_joined(result, &hint, 1);
}

syntax_result syntax_variant(gufo_str text, const char *reason, gufo_str standard)
{
    syntax_result result = syntax_fault(SYNTAX_VARIANT, text, text, reason);

    syntax_hint(&result, standard);
    return result;
}

/* ---- UUIDs, DOIs and URLs ----------------------------------------------------------------------- */

/* ---- UUID ----------------------------------------------------------------------------------- */

/* Digits, and the groups of them in the standard form. */
enum { UUID_DIGITS = 32, UUID_LENGTH = 36 };

/* Copies the 32 digits with hyphens between the groups; false if `text` is not 32 digits, hyphens
 * apart. */
static bool group_digits(gufo_str text, char out[UUID_LENGTH])
{
    size_t used = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '-')
            continue;
        if (used == 8 || used == 13 || used == 18 || used == 23)
            out[used++] = '-';
        if (!is_hex(text.data[i]) || used == UUID_LENGTH)
            return false;
        out[used++] = text.data[i];
    }
    return used == UUID_LENGTH;
}

/* The text without braces or "urn:uuid:" around it. */
static gufo_str unwrapped(gufo_str text)
{
    static const char urn[] = "urn:uuid:";

    if (str_begins_folded(text, urn))
        return str_from(text, sizeof urn - 1);
    if (text.len > 2 && text.data[0] == '{' && text.data[text.len - 1] == '}')
        return (gufo_str){text.data + 1, text.len - 2};
    return text;
}

static syntax_result malformed(gufo_str text, gufo_str part, const char *reason)
{
    return syntax_fault(SYNTAX_MALFORMED, text, part, reason);
}

syntax_result syntax_uuid(gufo_str text)
{
    char digits[UUID_LENGTH];
    gufo_str standard = {digits, sizeof digits};

    if (text.len == 0)
        return malformed(text, text, "is empty");
    if (!group_digits(unwrapped(text), digits))
        return malformed(text, text,
                         "is not a UUID (32 hexadecimal digits in groups of 8-4-4-4-12)");
    if (gufo_str_equal(text, standard))
        return (syntax_result){0};
    return syntax_variant(text, "is a UUID not in groups of 8-4-4-4-12", standard);
}

/* ---- DOI ------------------------------------------------------------------------------------ */

/* The first byte from `at` on that is a blank or a control character, or no UTF-8. */
static size_t find_unprintable(gufo_str text, size_t at)
{
    size_t valid = gufo_utf8_valid_prefix(text);

    while (at < valid && (unsigned char)text.data[at] > ' ' && text.data[at] != 0x7f)
        at++;
    return at;
}

/* 10.NNNN[.N...]/SUFFIX */
static bool is_doi_name(gufo_str text)
{
    size_t at = 3, digits = 0;

    if (!str_begins_folded(text, "10."))
        return false;
    for (; at < text.len && (is_digit(text.data[at]) || text.data[at] == '.'); at++) {
        if (text.data[at] == '.' && !is_digit(text.data[at - 1]))
            return false;
        digits += text.data[at] != '.';
    }
    return digits >= 4 && at + 1 < text.len && text.data[at] == '/' && text.data[at - 1] != '.' &&
           find_unprintable(text, at) == text.len;
}

syntax_result syntax_doi(gufo_str text)
{
    static const char *const prefixes[] = {"doi:",
                                           "https://doi.org/",
                                           "http://doi.org/",
                                           "https://dx.doi.org/",
                                           "http://dx.doi.org/",
                                           "https://www.doi.org/",
                                           "http://www.doi.org/",
                                           "doi.org/"};
    gufo_str name;

    if (text.len == 0)
        return malformed(text, text, "is empty");
    if (is_doi_name(text))
        return (syntax_result){0};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!str_begins_folded(text, prefixes[i]))
            continue;
        name = str_from(text, strlen(prefixes[i]));
        while (name.len > 0 && name.data[0] == ' ')
            name = str_from(name, 1);
        if (is_doi_name(name))
            return syntax_variant(text, "is a DOI not in its standard form 10.NNNN/SUFFIX", name);
    }
    return malformed(text, text, "is not a DOI (10.NNNN/SUFFIX)");
}

/* ---- URL ------------------------------------------------------------------------------------ */

/* The number of bytes before the first of `any`; all if none exists. */
static size_t span_until(gufo_str text, const char *any)
{
    size_t at = 0;

    while (at < text.len && (text.data[at] == '\0' || !strchr(any, text.data[at])))
        at++;
    return at;
}

/* Names of hosts: letters, digits, hyphens, dots, and what is beyond ASCII; or an IPv6 address in
 * brackets. */
static bool is_host(gufo_str host)
{
    bool brackets = host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']';

    if (brackets)
        host = (gufo_str){host.data + 1, host.len - 2};
    for (size_t i = 0; i < host.len; i++) {
        char c = host.data[i];
        bool edge = i == 0 || i + 1 == host.len || host.data[i - 1] == '.';

        if (brackets ? !is_hex(c) && c != ':' && c != '.'
                     : !is_letter(c) && !is_digit(c) && c != '_' && !((unsigned char)c & 0x80) &&
                           (edge || (c != '-' && c != '.')))
            return false;
    }
    return host.len > 0;
}

/* [USER@]HOST[:PORT] */
static bool is_authority(gufo_str authority)
{
    size_t user = span_until(authority, "@"), end, digits = 0;

    if (user < authority.len)
        authority = str_from(authority, user + 1);
    end = authority.len;
    while (digits < end && is_digit(authority.data[end - digits - 1]))
        digits++;
    if (digits < end && authority.data[end - digits - 1] == ':' &&
        (authority.data[0] != '[' || authority.data[end - 1] != ']'))
        end -= digits + 1;
    return is_host((gufo_str){authority.data, end});
}

/* What is written instead of https://, and what ends the host in it. */
typedef struct other_address {
    const char *prefix, *end;
} other_address;

static const other_address other_addresses[] = {
    {"git@", ":"},         {"ssh://git@", "/"},  {"git+ssh://git@", "/"},
    {"git+https://", "/"}, {"git+http://", "/"}, {"git://", "/"},
    {"https:/", "/"},      {"http:/", "/"},      {"https:", "/"},
    {"http:", "/"},        {"//", "/"},          {"", "/"},
};

/* Whether the text is an address once the prefix is replaced; fills in the hint. */
static bool hint_address(syntax_result *result, gufo_str text, const other_address *other)
{
    bool colon = other->end[0] == ':';
    gufo_str rest, host, path;

    if (!str_begins_folded(text, other->prefix))
        return false;
    rest = str_from(text, strlen(other->prefix));
    host = (gufo_str){rest.data, span_until(rest, other->end)};
    path = str_from(rest, host.len);
    /* huggingface.co/x, but not a/b and not "none". */
    if (!is_authority(host) || memchr(host.data, '.', host.len) == NULL ||
        memchr(host.data, '@', host.len) != NULL || (colon && path.len == 0))
        return false;
    syntax_hint_joined(result,
                       (gufo_str[]){gufo_str_of("https://"), host, gufo_str_of(colon ? "/" : ""),
                                    str_from(path, colon)},
                       4);
    return true;
}

/* The place of a % that is not followed by two hexadecimal digits; the end of the text if none
 * exists. */
static size_t find_broken_escape(gufo_str text)
{
    for (size_t at = span_until(text, "%"); at < text.len;
         at += 1 + span_until(str_from(text, at + 1), "%"))
        if (text.len - at < 3 || !is_hex(text.data[at + 1]) || !is_hex(text.data[at + 2]))
            return at;
    return text.len;
}

static syntax_result no_web_address(gufo_str text)
{
    syntax_result result = malformed(text, text, "does not begin with https:// or http://");

    for (size_t i = 0; i < sizeof other_addresses / sizeof *other_addresses; i++)
        if (hint_address(&result, text, &other_addresses[i])) {
            result.verdict = SYNTAX_VARIANT;
            break;
        }
    return result;
}

/* The address behind "https://". */
static syntax_result check_authority(gufo_str text, gufo_str rest)
{
    gufo_str authority = {rest.data, span_until(rest, "/?#")};

    if (authority.len == 0)
        return malformed(text, text, "is a URL without a host");
    if (!is_authority(authority))
        return malformed(text, authority, "is not a host name");
    return (syntax_result){0};
}

syntax_result syntax_url(gufo_str text)
{
    size_t bad = span_until((gufo_str){text.data, find_unprintable(text, 0)}, "<>\"{}|\\^`");
    size_t broken = find_broken_escape(text);

    if (text.len == 0)
        return malformed(text, text, "is empty");
    if (bad < text.len)
        return malformed(text, (gufo_str){text.data + bad, 1},
                         "is a character that a URL cannot contain");
    if (broken < text.len)
        return malformed(text, (gufo_str){text.data + broken, 1},
                         "is not followed by two hexadecimal digits");
    if (str_begins_folded(text, "https://"))
        return check_authority(text, str_from(text, strlen("https://")));
    if (str_begins_folded(text, "http://"))
        return check_authority(text, str_from(text, strlen("http://")));
    return no_web_address(text);
}
