/* Compares all bytes of a file with hashes that sha256sum and its relatives have written. */
#include "digest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "codec/run.h"
#include "digest/algorithm.h"

enum { CHUNK = 1 << 20 };

/* ---- which lines ---------------------------------------------------------------------------- */

static gufo_str last_component(gufo_str path)
{
    for (size_t i = path.len; i > 0; i--)
        if (path.data[i - 1] == '/')
            return (gufo_str){path.data + i, path.len - i};
    return path;
}

/* How well a line is about a file. */
typedef enum fit {
    FIT_NOT,
    FIT_ONLY, /* the manifest is about one file, whatever its name */
    FIT_COMPONENT,
    FIT_PATH,
} fit;

static fit fit_of(gufo_str name, gufo_str path, bool alone)
{
    if (gufo_str_equal(name, path))
        return FIT_PATH;
    if (gufo_str_equal(last_component(name), last_component(path)))
        return FIT_COMPONENT;
    return alone ? FIT_ONLY : FIT_NOT;
}

/* Whether all lines have one name, and the file may have another one now: a shard may not, because
 * the name could be that of another shard. */
static bool is_alone(const manifest_lines *lines, const char *path)
{
    uint32_t number, count;

    for (uint64_t i = 1; i < lines->count; i++)
        if (!gufo_str_equal(lines->lines[i].name, lines->lines[0].name))
            return false;
    return gufo_str_equal(lines->lines[0].name, gufo_str_of("-")) ||
           !gufo_shard_path_parse(path, NULL, &number, &count) || count == 1;
}

/* The lines of the best fit, one for each algorithm. */
static gufo_status find_lines(const manifest_lines *lines, const char *path,
                              const gufo_manifest_line *found[GUFO_DIGEST_COUNT],
                              uint32_t *algorithms, gufo_error *error)
{
    const gufo_manifest_line *first = NULL;
    bool alone = is_alone(lines, path);
    fit best = FIT_NOT;

    for (uint64_t i = 0; i < lines->count; i++) {
        fit own = fit_of(lines->lines[i].name, gufo_str_of(path), alone);

        best = own > best ? own : best;
    }
    for (uint64_t i = 0; i < lines->count && best != FIT_NOT; i++) {
        const gufo_manifest_line *line = &lines->lines[i];
        const gufo_manifest_line **place = &found[line->algorithm];

        if (fit_of(line->name, gufo_str_of(path), alone) != best)
            continue;
        if (first != NULL && !gufo_str_equal(first->name, line->name))
            return refuse(error, GUFO_E_NOT_FOUND,
                          "lines %" PRIu64 " and %" PRIu64 " are about several files named %s",
                          first->number, line->number, QUOTED(last_component(gufo_str_of(path))));
        if (*place != NULL && memcmp((*place)->digest, line->digest, GUFO_DIGEST_SIZE) != 0)
            return refuse(error, GUFO_E_MALFORMED,
                          "lines %" PRIu64 " and %" PRIu64
                          " give different hashes for the same name",
                          (*place)->number, line->number);
        first = *place = line;
        *algorithms |= UINT32_C(1) << line->algorithm;
    }
    return GUFO_OK;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

typedef struct hashing {
    int fd;
    uint64_t size;
    uint8_t *bytes; /* CHUNK of them */
    hasher hashers[GUFO_DIGEST_COUNT];
    uint32_t algorithms;
} hashing;

static gufo_status add_bytes(hashing *h, size_t size, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_add(&h->hashers[i], h->bytes, size, error);
    return status;
}

static gufo_status hash_file(hashing *h, const gufo_run *run, gufo_digests *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t got = CHUNK;

    for (uint64_t at = 0; status == GUFO_OK && got == CHUNK; at += got) {
        status = source_read_fd(h->fd, at, h->bytes, CHUNK, &got, error);
        if (status == GUFO_OK)
            status = add_bytes(h, got, error);
        if (status == GUFO_OK)
            status = run_progress(run, at + got, h->size, error);
    }
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_finish(&h->hashers[i], out->bytes[i], error);
    return status;
}

static gufo_status open_file(hashing *h, const char *path, const gufo_allocator *allocator,
                             gufo_error *error)
{
    gufo_status status = GUFO_OK;
    struct stat info;

    /* The opening of a pipe would wait. */
    h->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (h->fd < 0 || fstat(h->fd, &info) != 0)
        return fail_io(error, errno, "cannot open");
    if (!S_ISREG(info.st_mode))
        return refuse(error, GUFO_E_ARGUMENT, "not a regular file");
    h->size = (uint64_t)info.st_size;
    h->bytes = mem_alloc(allocator, CHUNK);
    if (h->bytes == NULL)
        return fail_memory(error);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_open(&h->hashers[i], (gufo_digest_algorithm)i, error);
    return status;
}

static void close_file(hashing *h, const gufo_allocator *allocator)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        hasher_close(&h->hashers[i]);
    mem_free(allocator, h->bytes);
    if (h->fd >= 0)
        (void)close(h->fd);
}

gufo_status gufo_manifest_verify_file(const gufo_manifest *manifest, const char *path,
                                      const gufo_run *how, gufo_manifest_result *out,
                                      gufo_error *error)
{
    const gufo_manifest_line *found[GUFO_DIGEST_COUNT] = {NULL};
    const gufo_allocator *allocator = run_allocator(run_of(how));
    hashing h = {.fd = -1};
    gufo_digests digests;
    gufo_status status;

    *out = (gufo_manifest_result){.whole = true, .verdict = GUFO_MANIFEST_NEW};
    if (manifest == NULL || path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the manifest or the path is missing");
    if (manifest->files.count == 0)
        return GUFO_OK;
    status = find_lines(&manifest->files, path, found, &h.algorithms, error);
    if (status != GUFO_OK || h.algorithms == 0)
        return status;
    status = open_file(&h, path, allocator, error);
    if (status == GUFO_OK)
        status = hash_file(&h, run_of(how), &digests, error);
    close_file(&h, allocator);
    if (status != GUFO_OK) {
        fail_in(error, GUFO_FILE_INPUT, 0, path);
        return status;
    }
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (found[i] != NULL && memcmp(found[i]->digest, digests.bytes[i], GUFO_DIGEST_SIZE) != 0)
            out->differing |= UINT32_C(1) << i;
    out->algorithms = h.algorithms;
    out->verdict = out->differing != 0 ? GUFO_MANIFEST_DIFFERS : GUFO_MANIFEST_SAME;
    return GUFO_OK;
}
