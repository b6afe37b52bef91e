/* Addresses: what is allowed, where they lead, and how they are shown.
 *
 * libcurl's own parser reads them, so that what is checked is what libcurl asks. */
#ifndef REMOTE_HTTP_URL_H
#define REMOTE_HTTP_URL_H

#include "gufo/base.h"

#include "remote/http/headers.h"

/* The scheme, host and port of an address; what a token belongs to. */
typedef struct url_origin {
    char text[HTTP_TEXT_SIZE + 48]; /* https://host:443, in lower case */
    char host[HTTP_TEXT_SIZE];
    bool is_https, is_local; /* of this machine by its name or digits */
} url_origin;

/* Checks an address and makes it whole: `out` gets it as libcurl spells it, without a fragment.
 * GUFO_E_ARGUMENT: it is none, or has a user, a password, a scheme other than http and https, or is too long. */
gufo_status url_read(const char *url, char out[HTTP_URL_SIZE], url_origin *origin,
                     gufo_error *error);

/* The same for an address that an answer at `base` gives, which may be relative. */
gufo_status url_join(const char *base, const char *relative, char out[HTTP_URL_SIZE],
                     url_origin *origin, gufo_error *error);

/* An address without what is behind its question mark, which may be a secret, and without user and
 * password.  Of a text that is not an address, all up to these. */
const char *url_shown(const char *url, char out[HTTP_URL_SIZE]);

/* Whether a numerical address (as getnameinfo writes it) is of this machine, of a private network, or of
 * no machine at all: what strangers may not make us ask. */
bool address_is_private(const char *digits);

#endif
