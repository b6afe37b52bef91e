/* Models that are opened where they are: what an address names becomes a source, or a model of as many sources
 * as its set has shards. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "remote/places/place.h"
#include "remote/places/refusal.h"
#include "remote/ranges/ranges.h"

enum { AT_ONCE = 4 };                                  /* files that are opened side by side */
enum { MOST_ENTRIES = 100000, MOST_TENSORS = 100000 }; /* of a file */

/* ---- a file of this machine as a source ------------------------------------------------------ */

typedef struct local_source {
    const gufo_allocator *allocator;
    source file;
} local_source;

static gufo_status read_local(void *context, uint64_t offset, void *out, size_t size,
                              gufo_error *error)
{
    const local_source *local = context;

    return source_read(&local->file, offset, out, size, error);
}

static gufo_status local_unchanged(void *context, gufo_error *error)
{
    const local_source *local = context;

    return source_unchanged(&local->file, error);
}

static void close_local(void *context)
{
    local_source *local = context;

    source_close(&local->file);
    mem_free(local->allocator, local);
}

static gufo_status open_local(const char *path, const gufo_allocator *allocator, gufo_source *out,
                              gufo_error *error)
{
    local_source *local = mem_zero(allocator, sizeof *local);
    int fd = local != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    gufo_status status;

    if (local == NULL)
        return fail_memory(error);
    local->allocator = allocator;
    source_open_memory(&local->file, "", 0);
    status = fd >= 0 ? source_open_fd(&local->file, fd, false, 0, allocator, error)
                     : fail_io(error, errno, "cannot open");
    if (fd >= 0)
        (void)close(fd);
    if (status != GUFO_OK) {
        close_local(local);
        return status;
    }
    *out = (gufo_source){.context = local,
                         .size = local->file.size,
                         .read = read_local,
                         .unchanged = local_unchanged,
                         .close = close_local};
    return GUFO_OK;
}

/* ---- a place as a source --------------------------------------------------------------------- */

/* The host that has answered in the end, which may be a captive portal. */
static void note_host(const place *p, const http_answer *answer, char host[HTTP_TEXT_SIZE])
{
    char whole[HTTP_URL_SIZE];
    url_origin origin;

    host[0] = '\0';
    if (url_read(answer->from.url[0] != '\0' ? answer->from.url : p->url, whole, &origin, NULL) ==
        GUFO_OK)
        (void)snprintf(host, HTTP_TEXT_SIZE, "%s", origin.host);
}

static gufo_status open_url(gufo_remote *remote, const place *p, gufo_source *out,
                            char host[HTTP_TEXT_SIZE], gufo_error *error)
{
    http_answer *answer = mem_zero(&remote->allocator, sizeof *answer);
    gufo_status status =
        answer != NULL ? ranges_open(remote, p->url, out, answer, error) : fail_memory(error);

    if (status != GUFO_OK && answer != NULL)
        status = refusal_explain(&p->address, &remote->options, answer, error);
    if (status == GUFO_OK)
        note_host(p, answer, host);
    mem_free(&remote->allocator, answer);
    if (status != GUFO_OK || p->size == GUFO_NO_OFFSET || out->size == p->size)
        return status;
    if (out->close != NULL)
        out->close(out->context);
    return refuse(error, GUFO_E_CHANGED, "it has %s bytes, but its service says %s",
                  GROUPED(out->size), GROUPED(p->size));
}

static gufo_status open_place(gufo_remote *remote, const place *p, gufo_source *out,
                              char host[HTTP_TEXT_SIZE], gufo_error *error)
{
    host[0] = '\0';
    return p->here == LOCAL_FILE ? open_local(p->local.path, &remote->allocator, out, error)
                                 : open_url(remote, p, out, host, error);
}

static gufo_status refuse_folder(const place *p, gufo_error *error)
{
    return p->address.is_folder
               ? refuse(error, GUFO_E_ARGUMENT,
                        "the address names a repository: name a file of it, as OWNER/NAME/FILE or "
                        "OWNER/NAME:TYPE")
               : GUFO_OK;
}

gufo_status gufo_remote_source(gufo_remote *remote, const char *text, gufo_source *out,
                               gufo_error *error)
{
    char host[HTTP_TEXT_SIZE];
    place *p = mem_zero(&remote->allocator, sizeof *p);
    gufo_status status = p != NULL ? place_find(remote, text, p, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = refuse_folder(p, error);
    if (status == GUFO_OK)
        status = open_place(remote, p, out, host, error);
    mem_free(&remote->allocator, p);
    return status;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* What else could be wrong with what is not a model: the message of the file's own fault goes on. */
static void explain(const place *p, const char *host, gufo_error *error)
{
    size_t len;

    if (error == NULL || error->code != GUFO_E_NOT_GGUF)
        return;
    len = strlen(error->message);
    if (strstr(error->message, "LFS pointer") != NULL && strstr(p->url, "/raw/") != NULL)
        (void)snprintf(error->message + len, sizeof error->message - len,
                       "; its address has resolve/ in the place of raw/");
    else if (host[0] != '\0')
        (void)snprintf(error->message + len, sizeof error->message - len, "; it came from %s",
                       host);
}

/* The files of a model, in order. */
typedef struct model_files {
    gufo_remote *remote;
    const char *text;
    const place *first; /* found already */
    uint32_t count;
    gufo_source *sources;
    gufo_input *inputs;
    char **names;
    char host[HTTP_TEXT_SIZE]; /* of the first */
} model_files;

/* The name in an address that a set is known by: without what is behind its question mark. */
static gufo_str name_of(const place *p)
{
    const char *text = p->address.path[0] != '\0' ? p->address.path : p->url;

    return (gufo_str){text, strcspn(text, p->address.path[0] != '\0' ? "" : "?#")};
}

/* How many files the model has, by the name of the first; 1 for one that is not the first of a set. */
static uint32_t count_shards(const place *p)
{
    char name[HTTP_URL_SIZE];
    gufo_str text = name_of(p);
    uint32_t number, count;

    memcpy(name, text.data, text.len);
    name[text.len] = '\0';
    return gufo_shard_path_parse(name, NULL, &number, &count) && number == 1 ? count : 1;
}

/* Puts the name of another shard in the place of the first one's; what follows it stays. */
static bool put_number(char *out, size_t room, const char *text, size_t name_len, uint32_t number,
                       uint32_t count)
{
    char name[HTTP_URL_SIZE];
    size_t prefix, len;
    uint32_t own, all;

    memcpy(name, text, name_len);
    name[name_len] = '\0';
    if (!gufo_shard_path_parse(name, &prefix, &own, &all))
        return false;
    len = gufo_shard_path_format(out, room, name, prefix, number, count);
    return len < room && strlen(text + name_len) < room - len &&
           snprintf(out + len, room - len, "%s", text + name_len) >= 0;
}

/* Where a later shard is. */
static gufo_status find_shard(const model_files *m, uint32_t number, place *out, gufo_error *error)
{
    const place *first = m->first;
    char path[ADDRESS_PATH];

    if (first->address.path[0] != '\0') {
        (void)put_number(path, sizeof path, first->address.path, strlen(first->address.path),
                         number, m->count);
        return place_beside(m->remote, first, path, out, error);
    }
    *out = *first;
    if (!put_number(out->url, sizeof out->url, first->url, name_of(first).len, number, m->count))
        return refuse(error, GUFO_E_LIMIT, "the address is too long");
    return GUFO_OK;
}

/* What errors call a file: the address as it is written, for later shards with their numbers. */
static char *shown_name(const model_files *m, uint32_t number)
{
    char name[HTTP_URL_SIZE], shown[HTTP_URL_SIZE];
    const char *text = url_shown(m->text, shown);

    if (number > 1 && !put_number(name, sizeof name, text, strlen(text), number, m->count))
        (void)snprintf(name, sizeof name, "%.6000s (%u of %u)", text, number, m->count);
    return mem_text(&m->remote->allocator, gufo_str_of(number > 1 ? name : text));
}

static gufo_status open_shard(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    model_files *m = context;
    const uint32_t number = (uint32_t)index + 1;
    char host[HTTP_TEXT_SIZE];
    place *p = mem_copy(&m->remote->allocator, m->first, sizeof *p);
    gufo_status status = p != NULL ? GUFO_OK : fail_memory(error);

    (void)thread, (void)result;
    m->names[index] = shown_name(m, number);
    if (m->names[index] == NULL && status == GUFO_OK)
        status = fail_memory(error);
    if (status == GUFO_OK && number > 1)
        status = find_shard(m, number, p, error);
    if (status == GUFO_OK)
        status = open_place(m->remote, p, &m->sources[index], host, error);
    if (status == GUFO_OK && number == 1)
        memcpy(m->host, host, sizeof host);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, (uint32_t)index, m->names[index]);
    mem_free(&m->remote->allocator, p);
    return status;
}

static gufo_status open_sources(model_files *m, gufo_error *error)
{
    const gufo_allocator *allocator = &m->remote->allocator;
    const parallel_loop loop = {
        .end = m->count, .threads = AT_ONCE, .context = m, .work = open_shard};

    m->sources = mem_array(allocator, m->count, sizeof *m->sources);
    m->inputs = mem_array(allocator, m->count, sizeof *m->inputs);
    m->names = mem_array(allocator, m->count, sizeof *m->names);
    if (m->sources == NULL || m->inputs == NULL || m->names == NULL)
        return fail_memory(error);
    return parallel_run(&loop, allocator, error);
}

static void close_sources(model_files *m)
{
    for (uint32_t i = 0; m->sources != NULL && i < m->count; i++)
        if (m->sources[i].close != NULL)
            m->sources[i].close(m->sources[i].context);
}

static void free_files(model_files *m)
{
    const gufo_allocator *allocator = &m->remote->allocator;

    for (uint32_t i = 0; m->names != NULL && i < m->count; i++)
        mem_free(allocator, m->names[i]);
    mem_free(allocator, m->names);
    mem_free(allocator, m->inputs);
    mem_free(allocator, m->sources);
}

static gufo_model *open_files(model_files *m, const gufo_open_options *options, gufo_error *error)
{
    const gufo_run run = {.threads = AT_ONCE};
    gufo_open_options own = options != NULL ? *options : (gufo_open_options){0};
    gufo_model *model;

    if (open_sources(m, error) != GUFO_OK) {
        close_sources(m);
        return NULL;
    }
    if (own.run == NULL && own.allocator == NULL && own.on_finding == NULL)
        own.run = &run;
    /* What an index takes follows what a server sends: far more than models have, and no more than a few dozen MB. */
    if (own.max_metadata == 0)
        own.max_metadata = MOST_ENTRIES;
    if (own.max_tensors == 0)
        own.max_tensors = MOST_TENSORS;
    if (own.name == NULL)
        own.name = m->names[0];
    for (uint32_t i = 0; i < m->count; i++) {
        m->inputs[i] = gufo_input_source(&m->sources[i]);
        m->inputs[i].name = i == 0 ? own.name : m->names[i];
    }
    /* One file that is a part of a set is refused, as it is on disk. */
    model = m->count > 1 ? gufo_model_open_shards(m->inputs, m->count, &own, error)
                         : gufo_model_open_source(m->sources, &own, error);
    if (model == NULL)
        explain(m->first, m->host, error);
    return model;
}

static gufo_model *open_found(gufo_remote *remote, const char *text, const place *p,
                              const gufo_open_options *options, gufo_error *error)
{
    const bool single = options != NULL && (options->flags & GUFO_OPEN_INCOMPLETE) != 0;
    model_files files = {.remote = remote, .text = text, .first = p, .count = 1};
    gufo_error reason;
    gufo_model *model;

    if (refuse_folder(p, error) != GUFO_OK)
        return NULL;
    if (p->here == LOCAL_FILE)
        return gufo_model_open(p->local.path, options, error);
    if (!single)
        files.count = count_shards(p);
    model = open_files(&files, options, &reason);
    if (model == NULL)
        (void)fail_as(error, &reason);
    free_files(&files);
    return model;
}

gufo_model *gufo_remote_model_open(gufo_remote *remote, const char *text,
                                   const gufo_open_options *options, gufo_error *error)
{
    place *p = mem_zero(&remote->allocator, sizeof *p);
    gufo_status status = p != NULL ? place_find(remote, text, p, error) : fail_memory(error);
    gufo_model *model = status == GUFO_OK ? open_found(remote, text, p, options, error) : NULL;

    mem_free(&remote->allocator, p);
    return model;
}
