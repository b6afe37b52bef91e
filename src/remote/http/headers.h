/* What lines of HTTP headers say.
 *
 * Every function takes any bytes: lines come from a server that may be hostile, or a captive portal. */
#ifndef REMOTE_HTTP_HEADERS_H
#define REMOTE_HTTP_HEADERS_H

#include "gufo/base.h"

enum {
    HTTP_TEXT_SIZE =
        256, /* of an ETag, a date ..., with the terminator; what is longer counts as missing */
    HTTP_URL_SIZE = 8192,
};

/* Content-Range: bytes FIRST-LAST/TOTAL. */
typedef struct http_range {
    uint64_t first, count; /* GUFO_NO_OFFSET and 0: bytes * / TOTAL, no byte is sent */
    uint64_t total;        /* GUFO_NO_OFFSET: * */
} http_range;

/* By what a file is known to be the same. */
typedef struct http_version {
    char etag[HTTP_TEXT_SIZE];     /* with its quotes, and W/ if it is weak; "": none */
    bool is_strong;                /* may be used in If-Range */
    char modified[HTTP_TEXT_SIZE]; /* Last-Modified as it is spelled; "": none */
    uint64_t size;                 /* of the whole file; GUFO_NO_OFFSET: not known */
} http_version;

/* What the headers of one answer say.  GUFO_NO_OFFSET and "": they do not. */
typedef struct http_headers {
    int status;
    bool has_range, has_encoding;
    http_range range;
    uint64_t length;
    uint64_t retry_after; /* seconds */
    uint64_t linked_size;
    http_version version; /* without its size */
    char linked_etag[HTTP_TEXT_SIZE];
    char repo_commit[HTTP_TEXT_SIZE];
    char error_code[HTTP_TEXT_SIZE];
    char content_type[HTTP_TEXT_SIZE];
    char location[HTTP_URL_SIZE]; /* may be relative */
    char next[HTTP_URL_SIZE];     /* Link with rel="next"; may be relative */
    bool has_location;            /* also if it is too long */
} http_headers;

/* Adds a line, with or without its end, which may be a status line: then all is empty again.  `now` is the
 * time in seconds since 1970.  False: a malformed status line. */
bool headers_add(http_headers *headers, gufo_str line, int64_t now);

bool content_range_read(gufo_str value, http_range *out);
/* Seconds, or a date (RFC 9110, 5.6.7), which is 0 if it has passed. */
bool retry_after_read(gufo_str value, int64_t now, uint64_t *seconds);
/* Seconds since 1970 of one of the three forms of a date. */
bool http_date_read(gufo_str value, int64_t *seconds);
/* The quoted text of an ETag as it is spelled, with W/. */
bool etag_read(gufo_str value, char out[HTTP_TEXT_SIZE], bool *is_strong);
/* The address of a Link header with that relation. */
bool link_read(gufo_str value, const char *relation, gufo_str *out);
/* The content of a quoted ETag of 64 hexadecimal digits, which is a sha256 where a service says so. */
bool etag_sha256(const char *etag, char out[65]);

#endif
