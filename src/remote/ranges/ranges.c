/* A file of a server as a source; ranges.h has the idea. */
#include "remote/ranges/ranges.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "remote/ranges/chunks.h"
#include "remote/ranges/expected.h"
#include "remote/ranges/saved.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

static const uint64_t first_part = 256 * 1024, grain = 64 * 1024;
/* Of a header, in one request; of what is announced, in several at once; of each of these. */
static const uint64_t most_of_head = 4 * 1024 * 1024, window = 8 * 1024 * 1024,
                      part = 2 * 1024 * 1024;

/* Of a header, in all: twice as much as the longest ones have (vocabularies of 260,000 tokens). */
static const uint64_t most_walked = 32 * 1024 * 1024;

enum { AT_ONCE = 16 };

typedef struct remote_file {
    gufo_remote *remote;
    char *url;
    http_version version;
    mutex fetching; /* of chunks: the second thread finds what the first one has fetched */
    mutex lock;     /* of what follows */
    http_place at;
    expected_ranges expected;
    uint64_t head;   /* bytes that were fetched from the beginning on, without a gap */
    uint64_t walked; /* bytes of them that a walk has read */
    uint64_t saved;  /* bytes of them that the cache has */
    bool without_ranges;
} remote_file;

/* ---- fetching -------------------------------------------------------------------------------- */

/* Where the bytes of one request go. */
typedef struct landing {
    uint8_t *next;
} landing;

static bool land(void *context, const void *bytes, size_t size)
{
    landing *l = context;

    memcpy(l->next, bytes, size);
    l->next += size;
    return true;
}

static http_request request_of(const remote_file *file, const http_place *at, uint64_t offset,
                               uint64_t size, landing *land_at)
{
    return (http_request){.url = file->url,
                          .first = offset,
                          .count = size,
                          .at = at,
                          .version = &file->version,
                          .take = land,
                          .context = land_at};
}

typedef struct fetch_state {
    http_place at;
    http_request requests[AT_ONCE];
    http_answer answers[AT_ONCE];
    landing landings[AT_ONCE];
    size_t count;
} fetch_state;

static gufo_status fail_early_end(const remote_file *file, uint64_t at, gufo_error *error)
{
    char shown[HTTP_URL_SIZE];
    gufo_status status = fail_with(error, GUFO_E_CHANGED, at, "the file has become shorter");

    fail_in(error, GUFO_FILE_INPUT, 0, url_shown(file->url, shown));
    return status;
}

static void note_place(remote_file *file, const http_answer *answer)
{
    mutex_lock(&file->lock);
    file->without_ranges = file->without_ranges || answer->status == 200;
    file->at = answer->from;
    mutex_unlock(&file->lock);
}

/* One round: at most AT_ONCE parts.  *done is where it ends. */
static gufo_status fetch_round(remote_file *file, fetch_state *f, uint64_t offset, uint64_t end,
                               uint8_t *to, bool in_head, uint64_t *done, gufo_error *error)
{
    const uint64_t step = end - offset <= most_of_head ? end - offset : part;
    gufo_status status;

    mutex_lock(&file->lock);
    f->at = file->at;
    mutex_unlock(&file->lock);
    for (f->count = 0; f->count < AT_ONCE && offset < end; f->count++) {
        const uint64_t size = smaller(step, end - offset);

        f->landings[f->count] = (landing){to};
        f->requests[f->count] = request_of(file, &f->at, offset, size, &f->landings[f->count]);
        f->requests[f->count].may_skip = in_head;
        offset += size;
        to += size;
    }
    status = http_get_all(file->remote, f->requests, f->count, f->answers, error);
    for (size_t i = 0; i < f->count && status == GUFO_OK; i++)
        if (f->answers[i].count < f->requests[i].count)
            status = fail_early_end(file, f->requests[i].first + f->answers[i].count, error);
    if (status == GUFO_OK)
        note_place(file, &f->answers[0]);
    *done = offset;
    return status;
}

/* Fetches [offset, end), which is in the file.  `in_head`: also from servers that send whole files only. */
static gufo_status fetch(remote_file *file, uint64_t offset, uint64_t end, uint8_t *to,
                         bool in_head, gufo_error *error)
{
    fetch_state *f = mem_alloc(&file->remote->allocator, sizeof *f);
    gufo_status status = f != NULL ? GUFO_OK : fail_memory(error);

    while (status == GUFO_OK && offset < end) {
        uint64_t done = offset;

        status = fetch_round(file, f, offset, end, to, in_head, &done, error);
        to += done - offset;
        offset = done;
    }
    mem_free(&file->remote->allocator, f);
    return status;
}

/* ---- what to fetch --------------------------------------------------------------------------- */

typedef struct fetch_plan {
    uint64_t begin, end;
    bool in_head;
} fetch_plan;

/* `size` bytes from `at` on are missing.  `walks`: they are of a header whose end is not known. */
static fetch_plan plan_fetch(remote_file *file, uint64_t at, uint64_t size, uint64_t file_size,
                             bool walks)
{
    fetch_plan plan = {.begin = at, .end = at + size};
    uint64_t step, expected;

    mutex_lock(&file->lock);
    expected = expected_end(&file->expected, at);
    step = larger(first_part, smaller(file->head / (file->without_ranges ? 1 : 2), most_of_head));
    if (walks && at == file->head)
        plan.end = larger(plan.end, capped_add(at, step));
    plan.in_head = walks || (file->without_ranges && at <= most_of_head);
    mutex_unlock(&file->lock);
    if (expected > at)
        plan.end =
            larger(plan.end, smaller(expected, capped_add(at, walks ? most_of_head : window)));
    else if (size < grain && !walks)
        plan.begin -= plan.begin % grain;
    if (plan.end - plan.begin < window || walks)
        plan.end = capped_add(plan.end, grain - 1) / grain * grain;
    if (walks) /* a long text comes in pieces */
        plan.end = smaller(plan.end, capped_add(at, most_of_head));
    plan.end = smaller(plan.end, file_size);
    return plan;
}

static gufo_status fetch_chunk(remote_file *file, const fetch_plan *plan, gufo_error *error)
{
    chunk *c = chunk_new(file->remote, (size_t)(plan->end - plan->begin));
    gufo_status status = c != NULL
                             ? fetch(file, plan->begin, plan->end, c->bytes, plan->in_head, error)
                             : fail_memory(error);

    if (status != GUFO_OK) {
        chunk_free(file->remote, c);
        return status;
    }
    c->owner = file;
    c->offset = plan->begin;
    mutex_lock(&file->lock);
    if (plan->begin <= file->head)
        file->head = larger(file->head, plan->end);
    mutex_unlock(&file->lock);
    chunks_add(file->remote, c);
    return GUFO_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    remote_file *file;
    uint64_t offset;
    uint8_t *to;
    size_t least, size, got;
    bool walks;
} reading;

static size_t copy_more(reading *r)
{
    const size_t more =
        chunks_copy(r->file->remote, r->file, r->offset + r->got, r->to + r->got, r->size - r->got);

    r->got += more;
    return more;
}

/* Fetches the next bytes that are missing: into a chunk, or where they are wanted if these are many. */
static gufo_status fetch_more(reading *r, gufo_error *error)
{
    remote_file *file = r->file;
    const uint64_t at = r->offset + r->got, size = file->version.size;
    const uint64_t missing = chunks_missing(file->remote, file, at, r->least - r->got);
    fetch_plan plan = plan_fetch(file, at, missing, size, r->walks);
    gufo_status status;

    /* What another thread has fetched ahead is not fetched again. */
    plan.end = at + chunks_missing(file->remote, file, at, plan.end - at);
    if (missing >= MIB && !r->walks && plan.end - at < missing + window) {
        status = fetch(file, at, at + missing, r->to + r->got, plan.in_head, error);
        r->got += status == GUFO_OK ? (size_t)missing : 0;
        return status;
    }
    return fetch_chunk(file, &plan, error);
}

static gufo_status read_bytes(reading *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    (void)copy_more(r);
    while (status == GUFO_OK && r->got < r->least) {
        mutex_lock(&r->file->fetching);
        if (copy_more(r) == 0) /* another thread has not fetched it meanwhile */
            status = fetch_more(r, error);
        mutex_unlock(&r->file->fetching);
        if (status == GUFO_OK)
            (void)copy_more(r);
    }
    return status;
}

static gufo_status read_exactly(void *context, uint64_t offset, void *to, size_t size,
                                gufo_error *error)
{
    reading r = {.file = context, .offset = offset, .to = to, .least = size, .size = size};

    return read_bytes(&r, error);
}

static gufo_status read_some(void *context, uint64_t offset, void *to, size_t least, size_t size,
                             size_t *got, gufo_error *error)
{
    remote_file *file = context;
    reading r = {
        .file = file, .offset = offset, .to = to, .least = least, .size = size, .walks = true};
    gufo_status status = offset + least <= most_walked
                             ? read_bytes(&r, error)
                             : fail_with(error, GUFO_E_LIMIT, offset,
                                         "a header of more than %s bytes is not read from a server",
                                         GROUPED(most_walked));

    *got = r.got;
    mutex_lock(&file->lock);
    file->walked = larger(file->walked, offset + r.got);
    mutex_unlock(&file->lock);
    return status;
}

/* ---- the rest of a source -------------------------------------------------------------------- */

static void expect(void *context, uint64_t offset, uint64_t size)
{
    remote_file *file = context;
    const uint64_t end = smaller(capped_add(offset, size), file->version.size);

    mutex_lock(&file->lock);
    expected_add(&file->expected, offset, end);
    mutex_unlock(&file->lock);
}

static bool enough(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return false;
}

static gufo_status unchanged(void *context, gufo_error *error)
{
    remote_file *file = context;
    http_request request = {.url = file->url,
                            .count = file->version.size > 0,
                            .version = &file->version,
                            .take = enough};
    http_place at;

    mutex_lock(&file->lock);
    at = file->at;
    mutex_unlock(&file->lock);
    request.at = &at;
    return http_get(file->remote, &request, NULL, error);
}

static void file_free(remote_file *file)
{
    gufo_remote *remote = file->remote;

    chunks_drop(remote, file);
    mutex_destroy(&file->fetching);
    mutex_destroy(&file->lock);
    mem_free(&remote->allocator, file->url);
    mem_free(&remote->allocator, file);
}

/* Keeps the header for the next time. */
static void save_head(remote_file *file)
{
    const uint64_t size = file->walked;
    uint8_t *bytes;

    if (!saved_is_used(file->remote) || size == 0 || size <= file->saved || size > CHUNKS_ROOM)
        return;
    bytes = mem_alloc(&file->remote->allocator, (size_t)size);
    if (bytes != NULL && chunks_copy(file->remote, file, 0, bytes, (size_t)size) == size)
        saved_write(file->remote, file->url, &file->version, bytes, (size_t)size);
    mem_free(&file->remote->allocator, bytes);
}

static void close_file(void *context)
{
    save_head(context);
    file_free(context);
}

/* ---- opening --------------------------------------------------------------------------------- */

static remote_file *file_new(gufo_remote *remote, const char *url, gufo_error *error)
{
    remote_file *file = mem_zero(&remote->allocator, sizeof *file);

    if (file != NULL) {
        file->remote = remote;
        mutex_init(&file->fetching);
        mutex_init(&file->lock);
        file->url = mem_text(&remote->allocator, gufo_str_of(url));
    }
    if (file != NULL && file->url != NULL)
        return file;
    if (file != NULL)
        file_free(file);
    (void)fail_memory(error);
    return NULL;
}

/* A chunk with the first bytes; takes it over. */
static void add_first(remote_file *file, chunk *c, size_t size)
{
    c->owner = file;
    c->offset = 0;
    c->size = size;
    file->head = size;
    chunks_add(file->remote, c);
}

/* A file whose parts do not say how long the whole is: an answer with all of it does, of which no byte is wanted. */
static gufo_status find_size(remote_file *file, http_answer *answer, gufo_error *error)
{
    const http_request request = {.url = file->url, .version = &file->version, .take = enough};
    http_answer *whole;
    gufo_status status;

    if (answer->version.size == GUFO_NO_OFFSET)
        answer->version.size = answer->linked_size;
    if (answer->version.size != GUFO_NO_OFFSET)
        return GUFO_OK;
    whole = mem_alloc(&file->remote->allocator, sizeof *whole);
    if (whole == NULL)
        return fail_memory(error);
    status = http_get(file->remote, &request, whole, error);
    answer->version.size = status == GUFO_OK ? whole->version.size : GUFO_NO_OFFSET;
    mem_free(&file->remote->allocator, whole);
    if (status == GUFO_OK && answer->version.size == GUFO_NO_OFFSET) {
        char shown[HTTP_URL_SIZE];

        status = refuse(error, GUFO_E_IO,
                        "the server does not say how long the file is; fetch it first");
        fail_in(error, GUFO_FILE_INPUT, 0, url_shown(file->url, shown));
    }
    return status;
}

/* An empty file has no byte that a range could name. */
static bool is_empty_file(gufo_status status, const http_answer *answer)
{
    return status == GUFO_E_RANGE && answer->version.size == 0;
}

/* The first request.  `c` gets its bytes; `known` is what the cache has, or NULL. */
static gufo_status ask_first(remote_file *file, chunk *c, const saved_head *known,
                             http_answer *answer, gufo_error *error)
{
    landing first = {c->bytes};
    http_request request = {.url = file->url,
                            .count = first_part,
                            .if_none_match = known->chunk != NULL ? known->version.etag : NULL,
                            .take = land,
                            .context = &first};
    gufo_status status = http_get(file->remote, &request, answer, error);

    if (is_empty_file(status, answer))
        status = GUFO_OK;
    if (status != GUFO_OK)
        return status;
    if (answer->status == 304)
        answer->version = known->version;
    file->version = answer->version;
    file->at = answer->from;
    file->without_ranges = answer->status == 200;
    status = find_size(file, answer, error);
    file->version.size = answer->version.size;
    return status;
}

static gufo_status open_first(remote_file *file, http_answer *answer, gufo_error *error)
{
    saved_head known = {.chunk = NULL};
    chunk *c = chunk_new(file->remote, (size_t)first_part);
    gufo_status status;

    if (c == NULL)
        return fail_memory(error);
    saved_read(file->remote, file->url, &known);
    status = ask_first(file, c, &known, answer, error);
    if (status == GUFO_OK && answer->status == 304) {
        file->saved = known.chunk->size;
        add_first(file, known.chunk, known.chunk->size);
        known.chunk = NULL;
    } else if (status == GUFO_OK) {
        add_first(file, c, (size_t)smaller(answer->count, answer->version.size));
        c = NULL;
    }
    chunk_free(file->remote, c);
    chunk_free(file->remote, known.chunk);
    return status;
}

/* The ETag, or else the time, as a number; 0 without either. */
static uint64_t version_number(const http_version *version)
{
    const char *text = version->etag[0] != '\0' ? version->etag : version->modified;

    return *text != '\0' ? hash_text((hash_key){0, 0}, gufo_str_of(text)) | 1 : 0;
}

gufo_status ranges_open(gufo_remote *remote, const char *url, gufo_source *out, http_answer *answer,
                        gufo_error *error)
{
    remote_file *file = file_new(remote, url, error);
    http_answer *own;
    gufo_status status;

    if (file == NULL)
        return GUFO_E_MEMORY;
    own = mem_zero(&remote->allocator, sizeof *own);
    status = own != NULL ? open_first(file, own, error) : fail_memory(error);
    if (status == GUFO_OK)
        *out = (gufo_source){.context = file,
                             .size = file->version.size,
                             .read = read_exactly,
                             .read_some = read_some,
                             .unchanged = unchanged,
                             .expect = expect,
                             .version = version_number(&file->version),
                             .close = close_file};
    else
        file_free(file);
    if (own != NULL && answer != NULL)
        *answer = *own;
    mem_free(&remote->allocator, own);
    return status;
}
