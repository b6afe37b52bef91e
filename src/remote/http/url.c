/* Addresses; url.h has the idea. */
#include "remote/http/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* ---- addresses in digits --------------------------------------------------------------------- */

/* Networks that are not of the public internet (RFC 6890), as the bits that they begin with. */
static const struct {
    uint8_t bytes[4];
    unsigned bits;
} private_networks[] = {
    {{0}, 8},        {{10}, 8},         {{100, 64}, 10},  {{127}, 8},      {{169, 254}, 16},
    {{172, 16}, 12}, {{192, 0, 0}, 24}, {{192, 168}, 16}, {{198, 18}, 15}, {{224}, 3},
};
static const struct {
    uint8_t bytes[2];
    unsigned bits;
} private_networks6[] = {
    {{0xfc}, 7},        /* unique local */
    {{0xfe, 0x80}, 10}, /* link-local */
    {{0xfe, 0xc0}, 10}, /* site-local, of old */
    {{0xff}, 8},        /* multicast */
};

static bool begins_with_bits(const uint8_t *address, const uint8_t *network, unsigned bits)
{
    const unsigned whole = bits / 8, rest = bits % 8;

    return memcmp(address, network, whole) == 0 &&
           (rest == 0 || (address[whole] ^ network[whole]) >> (8 - rest) == 0);
}

static bool is_private4(const uint8_t address[4])
{
    for (size_t i = 0; i < sizeof private_networks / sizeof *private_networks; i++)
        if (begins_with_bits(address, private_networks[i].bytes, private_networks[i].bits))
            return true;
    return false;
}

/* Addresses that have one of version 4 inside lead there: mapped and compatible ones, NAT64, 6to4. */
static bool is_private6(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, nat64[12] = {0, 0x64, 0xff, 0x9b},
                         compatible[12] = {0}, to4[2] = {0x20, 0x02};

    if (memcmp(address, mapped, 12) == 0 || memcmp(address, nat64, 12) == 0)
        return is_private4(address + 12);
    if (memcmp(address, compatible, 12) == 0) /* :: and ::1 among them */
        return true;
    if (memcmp(address, to4, 2) == 0)
        return is_private4(address + 2);
    for (size_t i = 0; i < sizeof private_networks6 / sizeof *private_networks6; i++)
        if (begins_with_bits(address, private_networks6[i].bytes, private_networks6[i].bits))
            return true;
    return false;
}

bool address_is_private(const char *digits)
{
    uint8_t address[16];
    char bare[INET6_ADDRSTRLEN];
    size_t len = strcspn(digits, "%"); /* the zone of a link-local one */

    if (inet_pton(AF_INET, digits, address) == 1)
        return is_private4(address);
    if (len >= sizeof bare)
        return true;
    memcpy(bare, digits, len);
    bare[len] = '\0';
    return inet_pton(AF_INET6, bare, address) != 1 || is_private6(address);
}

/* This machine: 127.0.0.0/8, ::1, and the name that libcurl takes for these without asking. */
static bool is_this_machine(const char *host)
{
    uint8_t address[16];
    static const uint8_t one[16] = {[15] = 1};

    if (inet_pton(AF_INET, host, address) == 1)
        return address[0] == 127;
    if (inet_pton(AF_INET6, host, address) == 1)
        return memcmp(address, one, 16) == 0;
    return strcmp(host, "localhost") == 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A part of an address in lower case; false: it has none, or one that is too long. */
static bool part_of(CURLU *parsed, CURLUPart which, unsigned flags, char *out, size_t size)
{
    char *text = NULL;
    bool fits;

    if (curl_url_get(parsed, which, &text, flags) != CURLUE_OK)
        return false;
    fits = strlen(text) < size;
    for (size_t i = 0; fits && i <= strlen(text); i++)
        out[i] = to_lower(text[i]);
    curl_free(text);
    return fits;
}

static bool has_part(CURLU *parsed, CURLUPart which)
{
    char *text = NULL;
    const bool has = curl_url_get(parsed, which, &text, 0) != CURLUE_NO_USER && text != NULL;

    curl_free(text);
    return has;
}

static gufo_status read_origin(CURLU *parsed, url_origin *origin, gufo_error *error)
{
    char scheme[16] = "", host[HTTP_TEXT_SIZE] = "", port[16] = "";
    size_t len;

    if (!part_of(parsed, CURLUPART_SCHEME, 0, scheme, sizeof scheme) ||
        (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the address does not begin with https:// or http://");
    if (has_part(parsed, CURLUPART_USER) || has_part(parsed, CURLUPART_PASSWORD))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the address has a user or a password, which do not belong into an address");
    if (!part_of(parsed, CURLUPART_HOST, 0, host, sizeof host) || host[0] == '\0' ||
        !part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof port))
        return refuse(error, GUFO_E_ARGUMENT, "the address has no host, or one that is too long");
    (void)snprintf(origin->text, sizeof origin->text, "%s://%s:%s", scheme, host, port);
    len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']')
        (void)snprintf(origin->host, sizeof origin->host, "%.*s", (int)len - 2, host + 1);
    else
        memcpy(origin->host, host, len + 1);
    origin->is_https = strcmp(scheme, "https") == 0;
    origin->is_local = is_this_machine(origin->host);
    return GUFO_OK;
}

/* The whole address, without its fragment, which is not for servers. */
static gufo_status spell(CURLU *parsed, char out[HTTP_URL_SIZE], gufo_error *error)
{
    char *text = NULL;
    bool fits;

    if (curl_url_set(parsed, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_URL, &text, 0) != CURLUE_OK)
        return fail_memory(error);
    fits = strlen(text) < HTTP_URL_SIZE;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    curl_free(text);
    return fits ? GUFO_OK
                : refuse(error, GUFO_E_ARGUMENT, "the address has more than %d characters",
                         HTTP_URL_SIZE - 1);
}

/* `base` may be NULL.  An address with spaces, as some servers send it, has %20 in their places. */
gufo_status url_join(const char *base, const char *relative, char out[HTTP_URL_SIZE],
                     url_origin *origin, gufo_error *error)
{
    CURLU *parsed = curl_url();
    gufo_status status = GUFO_OK;

    *origin = (url_origin){.is_https = false};
    if (parsed == NULL)
        return fail_memory(error);
    if ((base != NULL && curl_url_set(parsed, CURLUPART_URL, base, 0) != CURLUE_OK) ||
        curl_url_set(parsed, CURLUPART_URL, relative, CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) !=
            CURLUE_OK)
        status = refuse(error, GUFO_E_ARGUMENT, "the address cannot be understood");
    if (status == GUFO_OK)
        status = read_origin(parsed, origin, error);
    if (status == GUFO_OK)
        status = spell(parsed, out, error);
    curl_url_cleanup(parsed);
    return status;
}

gufo_status url_read(const char *url, char out[HTTP_URL_SIZE], url_origin *origin,
                     gufo_error *error)
{
    return url_join(NULL, url, out, origin, error);
}

const char *url_shown(const char *url, char out[HTTP_URL_SIZE])
{
    /* A text that is not an address may have "://" in what it hides. */
    const size_t scheme = strcspn(url, ":/?#");
    const size_t start = strncmp(url + scheme, "://", 3) == 0 ? scheme + 3 : 0;
    const size_t host = strcspn(url + start, "/?#");
    size_t user = 0, len;

    for (size_t i = 0; i < host; i++)
        if (url[start + i] == '@')
            user = i + 1;
    len = strcspn(url + start + user, "?#");
    len = len < HTTP_URL_SIZE - 1 - start ? len : HTTP_URL_SIZE - 1 - start;
    memcpy(out, url, start);
    memcpy(out + start, url + start + user, len);
    out[start + len] = '\0';
    return out;
}
