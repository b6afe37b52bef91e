/* One request on its way: an exchange after the other, until it has its end.
 *
 *     transfer_start    the first exchange is set up in an easy handle of libcurl
 *     transfer_end      libcurl is done with it: is the request, too, is there another one, and when
 *
 * Between these, libcurl calls back: lines of headers, then the body.  The answer is judged when its headers are
 * complete, before a byte of its body is taken (judge). */
#ifndef REMOTE_HTTP_TRANSFER_H
#define REMOTE_HTTP_TRANSFER_H

#include <curl/curl.h>

#include "remote/http/http.h"
#include "remote/http/retry.h"
#include "remote/http/url.h"
#include "remote/remote.h"

enum { EXCERPT = 200, HEADERS_MOST = 100 * 1024 };

/* What is done with a body. */
typedef enum body_use {
    BODY_TAKE,    /* it is what was asked for */
    BODY_EXCERPT, /* its first bytes are for a message */
    BODY_NONE,    /* there is none, or nobody wants it */
} body_use;

typedef enum transfer_next {
    TRANSFER_AGAIN, /* set up for another exchange, at `ready` */
    TRANSFER_DONE,
    TRANSFER_FAILED,
} transfer_next;

typedef struct transfer {
    gufo_remote *remote;
    const http_request *request;
    http_answer *answer;
    gufo_error *error;
    CURL *easy;
    struct curl_slist *lines; /* of the request */

    char url[HTTP_URL_SIZE]; /* of this exchange */
    url_origin origin, first_origin;
    unsigned redirects;
    bool
        is_first; /* this exchange is with the address of the request, not with what it has led to */
    bool was_private; /* that was of a private network */
    bool
        asked_anew; /* a redirect's target has refused, and the address of the request was asked once again */

    http_version version; /* what all answers have to agree with */
    uint64_t taken;       /* bytes so far */
    uint64_t skip;        /* bytes of this body before those */
    uint64_t room;        /* bytes that this body may have beside; UINT64_MAX: any */
    bool enough;          /* no more bytes are wanted */

    http_headers headers; /* of this exchange */
    size_t header_bytes;
    bool judged;
    body_use use;
    char excerpt[EXCERPT];
    size_t excerpt_len;
    bool refused; /* by one of our callbacks, which has set the error */

    retry_state tries;
    uint64_t ready;            /* when to begin the next exchange */
    uint64_t furthest;         /* that `taken` has ever come: bytes behind it are progress */
    uint64_t raw;              /* bytes of its body that have come, wanted or not */
    uint64_t mark, mark_bytes; /* for stalls: when so many bytes of the body had come */
} transfer;

/* Milliseconds of a clock that only goes forward. */
uint64_t transfer_now(void);

/* Checks the request and sets up its first exchange with `easy`. */
gufo_status transfer_start(transfer *t, gufo_remote *remote, const http_request *request,
                           http_answer *answer, CURL *easy, gufo_error *error);
/* Sets up an exchange; called by transfer_start, and after TRANSFER_AGAIN when `ready` has come. */
gufo_status transfer_exchange(transfer *t);
/* What comes after an exchange that has ended with `result`. */
transfer_next transfer_end(transfer *t, CURLcode result);
/* Whether less than what is allowed has come for too long. */
bool transfer_stalls(transfer *t, uint64_t now);
void transfer_free(transfer *t);

#endif
