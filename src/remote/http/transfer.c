/* One request on its way; transfer.h has the idea. */
#define _GNU_SOURCE /* struct sockaddr of <curl/curl.h> */

#include "remote/http/transfer.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/http/failure.h"

enum { REDIRECTS_MOST = 5, CURL_BUFFER = 256 * 1024, LEAST_RATE = 1024 };

uint64_t transfer_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- where to ask ---------------------------------------------------------------------------- */

/* Whether this machine's addresses and those of private networks may be asked now. */
static bool forbids_private(const transfer *t)
{
    return (t->remote->options.flags & GUFO_REMOTE_FORBID_PRIVATE) != 0 ||
           (!t->is_first && !t->was_private);
}

static bool uses_proxy(const transfer *t)
{
    const gufo_remote_options *o = &t->remote->options;

    return (t->origin.is_https ? o->https_proxy : o->http_proxy) != NULL;
}

/* An address in digits, or what is always this machine. */
static bool is_spelled_private(const url_origin *origin)
{
    struct in_addr v4;
    struct in6_addr v6;
    const bool is_digits =
        inet_pton(AF_INET, origin->host, &v4) == 1 || inet_pton(AF_INET6, origin->host, &v6) == 1;

    return origin->is_local || (is_digits && address_is_private(origin->host));
}

static gufo_status check_scheme(const transfer *t)
{
    if (t->origin.is_https)
        return GUFO_OK;
    if (t->first_origin.is_https)
        return refuse(t->error, GUFO_E_IO,
                      "%s: redirects from https to http, which is not followed",
                      t->first_origin.host);
    if ((t->remote->options.flags & GUFO_REMOTE_PLAIN_HTTP) != 0 || t->origin.is_local)
        return GUFO_OK;
    return t->is_first ? refuse(t->error, GUFO_E_ARGUMENT,
                                "http without encryption is not allowed; use https, or allow it")
                       : refuse(t->error, GUFO_E_IO,
                                "a redirect leads to %s by http without encryption, which is not "
                                "followed",
                                QUOTED(gufo_str_of(t->origin.host)));
}

static gufo_status check_place(const transfer *t)
{
    gufo_status status = check_scheme(t);

    if (status == GUFO_OK && forbids_private(t) && is_spelled_private(&t->origin))
        status = refuse(t->error, t->is_first ? GUFO_E_ARGUMENT : GUFO_E_IO,
                        t->is_first ? "%s is an address of a private network, which is not allowed"
                                    : "a redirect leads to %s, an address of a private network",
                        t->origin.host);
    return status;
}

/* ---- what libcurl calls back ----------------------------------------------------------------- */

/* Of the socket that is about to be opened, after the name was resolved: so no second answer of a name
 * server helps. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    transfer *t = context;
    char digits[INET6_ADDRSTRLEN] = "";
    const void *bytes =
        address->family == AF_INET6
            ? (const void *)&((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr;

    (void)purpose;
    if (forbids_private(t) && !uses_proxy(t) &&
        (inet_ntop(address->family, bytes, digits, sizeof digits) == NULL ||
         address_is_private(digits)))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Before a request is sent on a connection, which may be one that was opened for another request. */
static int before_request(void *context, char *remote_ip, char *local_ip, int remote_port,
                          int local_port)
{
    transfer *t = context;

    (void)local_ip, (void)remote_port, (void)local_port;
    if (uses_proxy(t)) {
        t->was_private = t->was_private || (t->is_first && is_spelled_private(&t->origin));
        return CURL_PREREQFUNC_OK;
    }
    if (t->is_first)
        t->was_private = address_is_private(remote_ip);
    return forbids_private(t) && address_is_private(remote_ip) ? CURL_PREREQFUNC_ABORT
                                                               : CURL_PREREQFUNC_OK;
}

/* The error of a callback; libcurl then ends the exchange. */
static size_t stop_here(transfer *t)
{
    t->refused = true;
    return CURL_WRITEFUNC_ERROR;
}

static bool was_asked_for_ranges(const transfer *t)
{
    return t->request->count > 0 || t->taken > 0;
}

/* The place of the first byte that is still wanted. */
static uint64_t wanted_from(const transfer *t)
{
    return t->request->first + t->taken;
}

static bool has_etag(const http_version *version)
{
    return version->etag[0] != '\0' && version->is_strong;
}

/* An ETag without the mark of weak ones: that two versions are the same no weak one proves, but another one
 * says that they are not. */
static const char *opaque_tag(const http_version *version)
{
    return version->etag + (version->etag[0] == 'W' ? 2 : 0);
}

/* Whether what this answer says of the file agrees with what is known of it. */
static bool is_same_version(const transfer *t)
{
    const http_version *known = &t->version, *said = &t->headers.version;

    if (known->etag[0] != '\0' && said->etag[0] != '\0' &&
        (strcmp(opaque_tag(known), opaque_tag(said)) != 0 || (has_etag(known) && has_etag(said))))
        return strcmp(opaque_tag(known), opaque_tag(said)) == 0;
    return known->modified[0] == '\0' || said->modified[0] == '\0' ||
           strcmp(known->modified, said->modified) == 0;
}

static gufo_status note_version(transfer *t, uint64_t size)
{
    http_version *known = &t->version;
    const bool same_size =
        known->size == GUFO_NO_OFFSET || size == GUFO_NO_OFFSET || known->size == size;

    if (!same_size || !is_same_version(t))
        return fail_changed(t);
    if (known->etag[0] == '\0')
        memcpy(known->etag, t->headers.version.etag, sizeof known->etag),
            known->is_strong = t->headers.version.is_strong;
    if (known->modified[0] == '\0')
        memcpy(known->modified, t->headers.version.modified, sizeof known->modified);
    if (known->size == GUFO_NO_OFFSET)
        known->size = size;
    return GUFO_OK;
}

/* 206: the part that it announces has to be the one that was asked for, or its beginning. */
static gufo_status judge_part(transfer *t)
{
    const http_range *range = &t->headers.range;
    const uint64_t asked = t->request->count > 0 ? t->request->count - t->taken : UINT64_MAX;
    gufo_status status;

    if (!was_asked_for_ranges(t) || !t->headers.has_range || range->first == GUFO_NO_OFFSET)
        return fail_protocol(t, "sends a part that was not asked for, or does not say which");
    if (range->first != wanted_from(t) || range->count > asked)
        return fail_protocol(t, "sends another part than the one that was asked for");
    if (t->headers.length != GUFO_NO_OFFSET && t->headers.length != range->count)
        return fail_protocol(t, "announces a part of one size and sends another");
    if ((status = note_version(t, range->total)) != GUFO_OK)
        return status;
    t->room = range->count;
    return GUFO_OK;
}

/* 200: the whole file. */
static gufo_status judge_whole(transfer *t)
{
    const uint64_t from = wanted_from(t);
    gufo_status status;

    if (was_asked_for_ranges(t) && from > 0) {
        if (!is_same_version(t) || (has_etag(&t->version) && !has_etag(&t->headers.version)))
            return fail_changed(t);
        if (t->request->first > 0 && !t->request->may_skip)
            return fail_without_ranges(t);
    }
    if ((status = note_version(t, t->headers.length)) != GUFO_OK)
        return status;
    t->skip = from;
    t->room = t->request->count > 0 ? t->request->count - t->taken : UINT64_MAX;
    return GUFO_OK;
}

/* The headers are complete: is their body what was asked for? */
static gufo_status judge(transfer *t)
{
    const int status = t->headers.status;

    t->judged = true;
    t->answer->status = status;
    t->use = BODY_EXCERPT;
    if (status == 304 && t->request->if_none_match != NULL) {
        t->use = BODY_NONE;
        return GUFO_OK;
    }
    if (status != 200 && status != 206)
        return GUFO_OK;
    if (t->headers.has_encoding)
        return fail_protocol(t, "sends a compressed body, which was not asked for");
    t->use = BODY_TAKE;
    return status == 206 ? judge_part(t) : judge_whole(t);
}

static bool is_end(const char *data, size_t size)
{
    return size == 0 || data[0] == '\n' || data[0] == '\r';
}

static size_t take_header(char *data, size_t one, size_t count, void *context)
{
    transfer *t = context;
    const size_t size = one * count;

    if (t->judged) /* trailers of a chunked body */
        return size;
    t->header_bytes += size;
    if (t->header_bytes > HEADERS_MOST) {
        (void)fail_protocol(t, "sends more than 100 KB of headers");
        return stop_here(t);
    }
    if (!headers_add(&t->headers, (gufo_str){data, size}, (int64_t)time(NULL))) {
        (void)fail_protocol(t, "does not answer in HTTP");
        return stop_here(t);
    }
    if (is_end(data, size) && t->headers.status >= 200 && judge(t) != GUFO_OK)
        return stop_here(t);
    return size;
}

/* Passes on what was asked for of a body's next bytes. */
static size_t take_part(transfer *t, const char *data, size_t size)
{
    const uint64_t skipped = smaller(t->skip, size);
    const uint64_t wanted = smaller(size - skipped, t->room);

    t->skip -= skipped;
    if (size - skipped > wanted && t->headers.status == 206) {
        (void)fail_protocol(t, "sends more than was asked for");
        return stop_here(t);
    }
    if (wanted > 0 && !t->request->take(t->request->context, data + skipped, (size_t)wanted))
        t->enough = true;
    t->taken += wanted;
    t->room -= t->room == UINT64_MAX ? 0 : wanted;
    t->enough = t->enough || (t->room == 0 && t->headers.status == 200 && t->request->count > 0);
    return t->enough ? CURL_WRITEFUNC_ERROR : size;
}

static size_t take_body(char *data, size_t one, size_t count, void *context)
{
    transfer *t = context;
    const size_t size = one * count;
    const size_t room = EXCERPT - t->excerpt_len, more = size < room ? size : room;

    t->raw += size;
    mutex_lock(&t->remote->lock);
    t->remote->received += size;
    mutex_unlock(&t->remote->lock);
    if (t->use == BODY_TAKE)
        return take_part(t, data, size);
    memcpy(t->excerpt + t->excerpt_len, data, more);
    t->excerpt_len += more;
    /* A small page is read to its end, so that the connection can be used again. */
    return t->raw > CURL_BUFFER ? CURL_WRITEFUNC_ERROR : size;
}

/* ---- an exchange ----------------------------------------------------------------------------- */

static bool add_line(transfer *t, const char *line)
{
    struct curl_slist *longer = curl_slist_append(t->lines, line);

    t->lines = longer != NULL ? longer : t->lines;
    return longer != NULL;
}

static bool add_header(transfer *t, const char *name, const char *value)
{
    char line[HTTP_URL_SIZE];

    (void)snprintf(line, sizeof line, "%s: %s", name, value);
    return add_line(t, line);
}

static bool add_range(transfer *t)
{
    char range[64];
    const uint64_t from = wanted_from(t);

    if (!was_asked_for_ranges(t))
        return true;
    if (t->request->count == 0)
        (void)snprintf(range, sizeof range, "bytes=%" PRIu64 "-", from);
    else
        (void)snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, from,
                       t->request->first + t->request->count - 1);
    return add_header(t, "Range", range) &&
           (!has_etag(&t->version) || add_header(t, "If-Range", t->version.etag));
}

/* The token of an endpoint goes to its origin, and only if that is what the caller has asked. */
static bool add_tokens(transfer *t)
{
    for (size_t i = 0; i < REMOTE_TOKENS; i++) {
        const remote_token *token = &t->remote->tokens[i];

        if (token->header != NULL && strcmp(token->origin.text, t->origin.text) == 0 &&
            strcmp(token->origin.text, t->first_origin.text) == 0)
            return add_line(t, token->header);
    }
    return true;
}

static bool set_lines(transfer *t)
{
    curl_slist_free_all(t->lines);
    t->lines = NULL;
    return add_header(t, "Accept", t->request->accept != NULL ? t->request->accept : "*/*") &&
           add_header(t, "Accept-Encoding", "identity") && add_range(t) && add_tokens(t) &&
           (t->request->if_none_match == NULL || t->taken > 0 ||
            add_header(t, "If-None-Match", t->request->if_none_match));
}

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* What every request has.  An empty proxy: libcurl would ask the environment. */
static bool set_usual(transfer *t)
{
    const gufo_remote_options *o = &t->remote->options;
    CURL *easy = t->easy;
    bool done = true;

#define SET(option, value) (done = curl_easy_setopt(easy, option, value) == CURLE_OK && done)
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_PIPEWAIT, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)t->remote->pace.connect);
    SET(CURLOPT_USERAGENT, o->user_agent);
    SET(CURLOPT_NOPROXY, text_or_empty(o->no_proxy));
    if (o->ca_file != NULL)
        SET(CURLOPT_CAINFO, o->ca_file);
    SET(CURLOPT_HEADERFUNCTION, take_header);
    SET(CURLOPT_HEADERDATA, t);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, t);
    SET(CURLOPT_PREREQFUNCTION, before_request);
    SET(CURLOPT_PREREQDATA, t);
    SET(CURLOPT_PRIVATE, t);
    /* Refused where a failure has left the last one in use, which does as well. */
    (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)CURL_BUFFER);
    return done;
}

static bool set_exchange(transfer *t)
{
    const gufo_remote_options *o = &t->remote->options;
    CURL *easy = t->easy;
    bool done = true;

    SET(CURLOPT_PROTOCOLS_STR, t->origin.is_https ? "https" : "http");
    SET(CURLOPT_PROXY, text_or_empty(t->origin.is_https ? o->https_proxy : o->http_proxy));
    SET(CURLOPT_URL, t->url);
    SET(CURLOPT_HTTPHEADER, t->lines);
#undef SET
    return done;
}

gufo_status transfer_exchange(transfer *t)
{
    gufo_status status = check_place(t);

    if (status != GUFO_OK)
        return status;
    t->headers = (http_headers){.status = 0};
    t->header_bytes = t->excerpt_len = 0;
    t->judged = t->refused = t->enough = false;
    t->use = BODY_NONE;
    t->skip = t->room = t->raw = 0;
    /* Attempts that have brought nothing are one wait, but for what servers have asked for. */
    t->mark = smaller(transfer_now(), t->tries.since + t->tries.granted);
    t->mark_bytes = 0;
    curl_easy_reset(t->easy);
    return set_lines(t) && set_usual(t) && set_exchange(t) ? GUFO_OK : fail_memory(t->error);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* The address that the caller has asked for. */
static gufo_status go_to_first(transfer *t)
{
    t->is_first = true;
    t->was_private = false;
    t->redirects = 0;
    return url_read(t->request->url, t->url, &t->origin, t->error);
}

static gufo_status go_to_known(transfer *t, const http_place *at)
{
    t->is_first = false;
    t->was_private = at->was_private;
    return url_read(at->url, t->url, &t->origin, t->error);
}

static gufo_status check_request(const gufo_remote *remote, const http_request *request,
                                 gufo_error *error)
{
    uint64_t end;

    if ((remote->options.flags & GUFO_REMOTE_OFFLINE) != 0)
        return refuse(error, GUFO_E_IO, "the network is not used (offline)");
    return checked_add(request->first, request->count, &end)
               ? GUFO_OK
               : refuse(error, GUFO_E_RANGE, "the range ends behind the last possible byte");
}

static http_version known_version(const http_request *request)
{
    const http_version unknown = {.size = GUFO_NO_OFFSET};

    return request->version != NULL ? *request->version : unknown;
}

gufo_status transfer_start(transfer *t, gufo_remote *remote, const http_request *request,
                           http_answer *answer, CURL *easy, gufo_error *error)
{
    gufo_status status = check_request(remote, request, error);

    *t = (transfer){.remote = remote,
                    .request = request,
                    .answer = answer,
                    .error = error,
                    .easy = easy,
                    .version = known_version(request)};
    *answer = (http_answer){.version = {.size = GUFO_NO_OFFSET}, .linked_size = GUFO_NO_OFFSET};
    retry_progress(&t->tries, transfer_now());
    if (status == GUFO_OK)
        status = go_to_first(t);
    t->first_origin = t->origin;
    if (status == GUFO_OK && request->at != NULL && request->at->url[0] != '\0')
        status = go_to_known(t, request->at);
    return status == GUFO_OK ? transfer_exchange(t) : status;
}

/* What only the first answer of several says, the one before a redirect. */
static void keep_first_headers(transfer *t)
{
    http_answer *a = t->answer;

    if (a->linked_size == GUFO_NO_OFFSET)
        a->linked_size = t->headers.linked_size;
    if (a->linked_etag[0] == '\0')
        memcpy(a->linked_etag, t->headers.linked_etag, sizeof a->linked_etag);
    if (a->repo_commit[0] == '\0')
        memcpy(a->repo_commit, t->headers.repo_commit, sizeof a->repo_commit);
    if (a->error_code[0] == '\0')
        memcpy(a->error_code, t->headers.error_code, sizeof a->error_code);
}

static void keep_last_headers(transfer *t)
{
    http_answer *a = t->answer;
    url_origin origin;

    a->count = t->taken;
    a->version = t->version;
    if (t->headers.status == 200 && t->use == BODY_TAKE && !t->enough) /* its end was seen */
        a->version.size = t->taken;
    memcpy(a->content_type, t->headers.content_type, sizeof a->content_type);
    memcpy(a->from.url, t->url, sizeof a->from.url);
    a->from.was_private = t->was_private;
    if (t->is_first) /* the place is the address itself: nothing to remember */
        a->from.url[0] = '\0';
    if (t->headers.next[0] == '\0' ||
        url_join(t->url, t->headers.next, a->next, &origin, NULL) != GUFO_OK)
        a->next[0] = '\0';
}

static transfer_next redirect(transfer *t)
{
    char target[HTTP_URL_SIZE];
    url_origin origin;
    gufo_error reason;

    if (++t->redirects > REDIRECTS_MOST) {
        (void)fail_protocol(t, "redirects more than 5 times");
        return TRANSFER_FAILED;
    }
    if (t->headers.location[0] == '\0' ||
        url_join(t->url, t->headers.location, target, &origin, &reason) != GUFO_OK) {
        (void)fail_protocol(t, "redirects to something that is not an address");
        return TRANSFER_FAILED;
    }
    memcpy(t->url, target, sizeof target);
    t->origin = origin;
    t->is_first = false;
    t->ready = 0;
    return TRANSFER_AGAIN;
}

/* Addresses that redirects have led to expire: the first one leads to a new one.  Once, for a refusal may be
 * meant. */
static transfer_next ask_anew(transfer *t)
{
    t->asked_anew = true;
    t->ready = 0;
    return go_to_first(t) == GUFO_OK ? TRANSFER_AGAIN : TRANSFER_FAILED;
}

/* Whether the rest of a body may be asked for: a strong ETag says that it is that of the same file.  Without one
 * the body starts over, if the caller allows that; a range that cannot is compared with what else is known. */
static bool may_continue(const transfer *t)
{
    return has_etag(&t->version) || (t->request->count > 0 && t->request->restart == NULL);
}

/* The same exchange once more, or from where its body broke off.  The failure is in the error already. */
static transfer_next try_again(transfer *t, uint64_t after)
{
    const uint64_t now = transfer_now();
    uint64_t chance, wait;

    mutex_lock(&t->remote->lock);
    chance = t->remote->chance;
    chance ^= chance << 13, chance ^= chance >> 7,
        chance ^= chance << 17; /* xorshift (Marsaglia) */
    t->remote->chance = chance;
    mutex_unlock(&t->remote->lock);
    if (!retry_again(&t->tries, &t->remote->pace, now, after, chance >> 16, &wait))
        return TRANSFER_FAILED;
    if (t->taken > 0 && !may_continue(t)) {
        if (t->request->restart == NULL)
            return TRANSFER_FAILED;
        t->request->restart(t->request->context);
        t->taken = 0;
        t->version = known_version(t->request);
    }
    t->ready = now + wait;
    return TRANSFER_AGAIN;
}

static uint64_t asked_wait(const transfer *t)
{
    const uint64_t seconds = t->headers.retry_after;

    return seconds == GUFO_NO_OFFSET ? GUFO_NO_OFFSET
           : seconds > UINT32_MAX    ? UINT32_MAX
                                     : seconds * 1000;
}

/* After an answer whose body was not wanted. */
static transfer_next end_status(transfer *t)
{
    const int status = t->headers.status;
    const bool is_redirect =
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308;

    if (status == 304 && t->use == BODY_NONE)
        return TRANSFER_DONE;
    if (is_redirect && t->headers.has_location)
        return redirect(t);
    if (status == 403 && !t->is_first && !t->asked_anew)
        return ask_anew(t);
    if (status == 416 && t->headers.has_range)
        t->version.size = t->headers.range.total;
    (void)fail_status(t);
    return retry_has_status(status) ? try_again(t, asked_wait(t)) : TRANSFER_FAILED;
}

/* Whether all bytes that there are have come. */
static bool is_complete(const transfer *t)
{
    const uint64_t size = t->version.size;

    if (t->enough)
        return true;
    if (t->request->count == 0)
        return size == GUFO_NO_OFFSET || t->taken == size;
    return t->taken == t->request->count ||
           (size != GUFO_NO_OFFSET && t->request->first + t->taken >= size) ||
           (size == GUFO_NO_OFFSET && t->headers.status == 200);
}

/* After a body, whole or not. */
static transfer_next end_body(transfer *t, CURLcode result)
{
    if (t->enough || (result == CURLE_OK && is_complete(t)))
        return TRANSFER_DONE;
    (void)fail_short(t, result);
    if (t->taken < t->furthest || t->taken - t->furthest < t->remote->pace.progress)
        return try_again(t, GUFO_NO_OFFSET);
    t->furthest = t->taken;
    /* A connection that has brought some of it may end: the rest is asked for at once. */
    retry_progress(&t->tries, transfer_now());
    return try_again(t, 0);
}

static bool may_pass(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static transfer_next what_next(transfer *t, CURLcode result)
{
    if (t->refused)
        return TRANSFER_FAILED;
    if (t->judged && t->use != BODY_TAKE)
        return end_status(t);
    if (t->judged && (result == CURLE_OK || t->enough || may_pass(result)))
        return end_body(t, result);
    (void)fail_connection(t, result, forbids_private(t) && !uses_proxy(t));
    return may_pass(result) ? try_again(t, GUFO_NO_OFFSET) : TRANSFER_FAILED;
}

transfer_next transfer_end(transfer *t, CURLcode result)
{
    transfer_next next;

    keep_first_headers(t);
    next = what_next(t, result);
    if (next != TRANSFER_AGAIN)
        keep_last_headers(t);
    return next;
}

bool transfer_stalls(transfer *t, uint64_t now)
{
    const uint64_t stall = t->remote->pace.stall;

    if (t->raw - t->mark_bytes >= LEAST_RATE * stall / 1000) {
        t->mark = now;
        t->mark_bytes = t->raw;
    }
    return now - t->mark > stall;
}

void transfer_free(transfer *t)
{
    curl_slist_free_all(t->lines);
    t->lines = NULL;
}
