/* Requests: one, or several at once.
 *
 * A request is one or more exchanges with servers, of which the caller sees the last one:
 *
 *     GET https://host/model          302 to a CDN       redirects, at most 5; tokens stay at their host
 *     GET https://cdn/...             503                waits, and asks again (retry.h)
 *     GET https://cdn/...  bytes 0-   206, then breaks   bytes that came are taken, and are not asked for again
 *     GET https://cdn/...  bytes 512- 206, to the end
 *
 * The caller gets the bytes that it has asked for, once each and in their order, or an error: what a server says of
 * a part is compared with what was asked, and with what it has said before.  */
#ifndef REMOTE_HTTP_HTTP_H
#define REMOTE_HTTP_HTTP_H

#include "base/buffer.h"
#include "gufo/remote.h"
#include "remote/http/headers.h"

/* Where the bytes of an address really are: what a redirect has led to.  Its query may be a secret. */
typedef struct http_place {
    char url[HTTP_URL_SIZE];
    bool
        was_private; /* the address that led here is of a private network, and so this one may be */
} http_place;

typedef struct http_request {
    const char *url;
    uint64_t first, count; /* the range; count 0: the whole body, without Range */
    const char *accept;    /* NULL: any */
    const http_place
        *at; /* where an earlier answer came from, to ask there first; NULL: not known */
    /* What is known of the file: another one is GUFO_E_CHANGED (If-Range, and comparing); NULL: nothing. */
    const http_version *version;
    const char
        *if_none_match; /* an ETag: an answer of 304 is as good as one with a body; NULL: none */
    /* A server without ranges sends all: skip what is before `first`, instead of failing. */
    bool may_skip;
    /* Takes the body as it comes; false: that is enough, and the request succeeds. */
    bool (*take)(void *context, const void *bytes, size_t size);
    /* What was taken is void, because it cannot be continued: the body starts over.  NULL: the request fails. */
    void (*restart)(void *context);
    /* Asked ten times a second and more; false: GUFO_E_STOPPED.  NULL: that of the options alone. */
    bool (*goes_on)(void *context);
    void *context;
} http_request;

typedef struct http_answer {
    int status;           /* of HTTP, also after a failure; 0: there was no answer */
    uint64_t count;       /* bytes that were taken */
    http_version version; /* of the file; its size is GUFO_NO_OFFSET if no header says it */
    uint64_t linked_size; /* X-Linked-Size, of the first answer that has it; GUFO_NO_OFFSET: none */
    char
        linked_etag[HTTP_TEXT_SIZE]; /* X-Linked-Etag: the sha256 of the content in quotes, or "" */
    char repo_commit[HTTP_TEXT_SIZE]; /* X-Repo-Commit */
    char error_code[HTTP_TEXT_SIZE];  /* X-Error-Code */
    char content_type[HTTP_TEXT_SIZE];
    char next[HTTP_URL_SIZE]; /* the next page (Link), a whole address; "": none */
    http_place from;
} http_answer;

/* Sends a request and waits for its end.  *answer (may be NULL) is filled after a failure, too.  Any thread.
 * The error names the address as its file, without its query.
 *   GUFO_E_ARGUMENT  the address is refused
 *   GUFO_E_CHANGED   the file is another one than `version`, or changed meanwhile
 *   GUFO_E_RANGE     `first` is behind the end; version.size is the size
 *   GUFO_E_IO        the server refuses (error->system is ENOENT for 404 and 410, EACCES for 401 and 403), has no
 *                    ranges, answers nonsense, or cannot be reached; or all this is forbidden (offline)
 *   GUFO_E_STOPPED, GUFO_E_MEMORY */
gufo_status http_get(gufo_remote *remote, const http_request *request, http_answer *answer,
                     gufo_error *error);

/* The same for several, all at once, on one connection where the server has HTTP/2; `answers` has room for as
 * many.  After a failure the others are given up. */
gufo_status http_get_all(gufo_remote *remote, const http_request *requests, size_t count,
                         http_answer *answers, gufo_error *error);

/* Appends the body, of at most `limit` bytes, whatever `take`, `restart` and `context` of the request are.
 * GUFO_E_LIMIT: it is longer. */
gufo_status http_read(gufo_remote *remote, const http_request *request, uint64_t limit, buffer *out,
                      http_answer *answer, gufo_error *error);

#endif
