/* The loop of requests; http.h has the idea.
 *
 *     a request waits (its first exchange, or after a failure)  ->  is in libcurl's hands  ->  has its end
 *
 * Every 50 ms, or when something comes, the loop looks whether it is to stop, whether a request stalls, and whether
 * the time of one that waits has come. */
#include "remote/http/http.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "remote/http/failure.h"
#include "remote/http/session.h"
#include "remote/http/transfer.h"

enum { TICK = 50 }; /* ms */

typedef struct flight {
    transfer transfer;
    enum { FREE, WAITS, RUNS } state;
} flight;

/* One call of http_get_all. */
typedef struct journey {
    gufo_remote *remote;
    session *session;
    const http_request *requests;
    http_answer *answers;
    size_t count, begun, done;
    flight *flights; /* SESSION_MOST */
    gufo_error *error;
    gufo_status status;
} journey;

/* ---- one flight ------------------------------------------------------------------------------ */

static void land(journey *j, flight *f)
{
    if (f->state == RUNS) {
        /* A name that is being resolved would be waited for. */
        if (j->status != GUFO_OK)
            (void)curl_easy_setopt(f->transfer.easy, CURLOPT_QUICK_EXIT, 1L);
        (void)curl_multi_remove_handle(j->session->multi, f->transfer.easy);
    }
    transfer_free(&f->transfer);
    f->state = FREE;
}

/* The first failure is that of all. */
static void fail_journey(journey *j, flight *f, gufo_status status)
{
    char shown[HTTP_URL_SIZE];

    if (j->status != GUFO_OK)
        return;
    j->status = status;
    fail_in(j->error, GUFO_FILE_INPUT, 0, url_shown(f->transfer.request->url, shown));
}

static gufo_status error_code(const journey *j)
{
    return j->error->code != GUFO_OK ? j->error->code : GUFO_E_IO;
}

static void take_off(journey *j, flight *f)
{
    if (curl_multi_add_handle(j->session->multi, f->transfer.easy) == CURLM_OK)
        f->state = RUNS;
    else
        fail_journey(j, f, fail_memory(j->error));
}

static void begin_next(journey *j, flight *f)
{
    const size_t i = j->begun++;
    gufo_status status = transfer_start(&f->transfer, j->remote, &j->requests[i], &j->answers[i],
                                        j->session->easy[f - j->flights], j->error);

    f->state = WAITS;
    if (status == GUFO_OK)
        take_off(j, f);
    else
        fail_journey(j, f, status);
}

/* libcurl is done with an exchange. */
static void end_exchange(journey *j, flight *f, CURLcode result)
{
    transfer_next next = transfer_end(&f->transfer, result);

    (void)curl_multi_remove_handle(j->session->multi, f->transfer.easy);
    f->state = WAITS;
    if (next == TRANSFER_FAILED)
        fail_journey(j, f, error_code(j));
    else if (next == TRANSFER_DONE) {
        land(j, f);
        j->done++;
    }
}

/* What libcurl leaves to us: those that wait, and those that stall. */
static void look_after(journey *j, flight *f, uint64_t now)
{
    gufo_status status;

    if (f->state == FREE && j->begun < j->count)
        begin_next(j, f);
    else if (f->state == WAITS && f->transfer.ready <= now) {
        status = transfer_exchange(&f->transfer);
        if (status == GUFO_OK)
            take_off(j, f);
        else
            fail_journey(j, f, status);
    } else if (f->state == RUNS && transfer_stalls(&f->transfer, now))
        fail_journey(j, f, fail_stalled(&f->transfer));
}

/* ---- the loop -------------------------------------------------------------------------------- */

static bool goes_on(const journey *j)
{
    gufo_remote *remote = j->remote;
    const gufo_remote_options *o = &remote->options;
    bool on = true;

    if (o->progress != NULL) {
        mutex_lock(&remote->asking);
        on = o->progress(o->progress_context, remote->received, 0);
        mutex_unlock(&remote->asking);
    }
    for (size_t i = 0; on && i < SESSION_MOST; i++) {
        const transfer *t = &j->flights[i].transfer;

        if (j->flights[i].state != FREE && t->request->goes_on != NULL)
            on = t->request->goes_on(t->request->context);
    }
    return on;
}

static void collect(journey *j)
{
    CURLMsg *message;
    int left;

    while (j->status == GUFO_OK &&
           (message = curl_multi_info_read(j->session->multi, &left)) != NULL) {
        const CURLcode result = message->data.result;

        for (size_t i = 0; i < SESSION_MOST; i++)
            if (j->flights[i].state == RUNS &&
                j->flights[i].transfer.easy == message->easy_handle) {
                end_exchange(j, &j->flights[i], result);
                break;
            }
    }
}

/* How long nothing is to be done: until one that waits may begin, or for a tick. */
static int rest_of(const journey *j, uint64_t now)
{
    uint64_t rest = TICK;

    for (size_t i = 0; i < SESSION_MOST; i++) {
        const flight *f = &j->flights[i];

        if (f->state == WAITS)
            rest = smaller(rest, f->transfer.ready > now ? f->transfer.ready - now : 0);
        else if (f->state == FREE && j->begun < j->count)
            rest = 0;
    }
    return (int)rest;
}

static void run(journey *j)
{
    int running;

    while (j->status == GUFO_OK && j->done < j->count) {
        const uint64_t now = transfer_now();

        for (size_t i = 0; i < SESSION_MOST && j->status == GUFO_OK; i++)
            look_after(j, &j->flights[i], now);
        if (j->status != GUFO_OK)
            return;
        if (!goes_on(j))
            j->status = refuse(j->error, GUFO_E_STOPPED, "stopped");
        else if (curl_multi_perform(j->session->multi, &running) != CURLM_OK)
            j->status = fail_memory(j->error);
        collect(j);
        if (j->status == GUFO_OK && j->done < j->count)
            (void)curl_multi_poll(j->session->multi, NULL, 0, rest_of(j, transfer_now()), NULL);
    }
}

gufo_status http_get_all(gufo_remote *remote, const http_request *requests, size_t count,
                         http_answer *answers, gufo_error *error)
{
    gufo_error own = {.code = GUFO_OK};
    journey j = {.remote = remote,
                 .requests = requests,
                 .answers = answers,
                 .count = count,
                 .error = error != NULL ? error : &own};

    j.flights = mem_array(&remote->allocator, SESSION_MOST, sizeof *j.flights);
    if (j.flights == NULL)
        return fail_memory(error);
    j.session = session_take(remote, error);
    if (j.session != NULL) {
        run(&j);
        for (size_t i = 0; i < SESSION_MOST; i++)
            land(&j, &j.flights[i]);
        session_give(remote, j.session);
    } else
        j.status = GUFO_E_MEMORY;
    mem_free(&remote->allocator, j.flights);
    return j.status;
}

gufo_status http_get(gufo_remote *remote, const http_request *request, http_answer *answer,
                     gufo_error *error)
{
    http_answer own;

    return http_get_all(remote, request, 1, answer != NULL ? answer : &own, error);
}

/* ---- a small body ---------------------------------------------------------------------------- */

typedef struct body_reader {
    buffer *out;
    size_t begin;
    uint64_t limit;
    bool no_memory, is_long;
    const http_request *request;
} body_reader;

static bool read_more(void *context, const void *bytes, size_t size)
{
    body_reader *r = context;

    r->is_long = size > r->limit - (r->out->len - r->begin);
    r->no_memory = !r->is_long && !buffer_append(r->out, bytes, size);
    return !r->is_long && !r->no_memory;
}

static void read_anew(void *context)
{
    body_reader *r = context;

    r->out->len = r->begin;
}

static bool reader_goes_on(void *context)
{
    const body_reader *r = context;

    return r->request->goes_on == NULL || r->request->goes_on(r->request->context);
}

gufo_status http_read(gufo_remote *remote, const http_request *request, uint64_t limit, buffer *out,
                      http_answer *answer, gufo_error *error)
{
    body_reader r = {.out = out, .begin = out->len, .limit = limit, .request = request};
    http_request own = *request;
    gufo_status status;
    char shown[HTTP_URL_SIZE];

    own.take = read_more;
    own.restart = read_anew;
    own.goes_on = reader_goes_on;
    own.context = &r;
    status = http_get(remote, &own, answer, error);
    if (status == GUFO_OK && r.no_memory)
        return fail_memory(error);
    if (status == GUFO_OK && r.is_long) {
        status = refuse(error, GUFO_E_LIMIT, "more than %s bytes", GROUPED(limit));
        fail_in(error, GUFO_FILE_INPUT, 0, url_shown(request->url, shown));
    }
    return status;
}
