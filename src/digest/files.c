/* Hashing all bytes of files. */
#include "gufo/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "codec/run.h"
#include "digest/algorithm.h"

enum { CHUNK = 1 << 20 };

typedef struct hashing {
    uint8_t *bytes; /* CHUNK of them */
    hasher hashers[GUFO_DIGEST_COUNT];
    uint32_t algorithms;
    uint64_t done, total; /* bytes of all files */
} hashing;

static gufo_status add_bytes(hashing *h, size_t size, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_add(&h->hashers[i], h->bytes, size, error);
    h->done += size;
    return status;
}

static gufo_status add_opened(hashing *h, int fd, const gufo_run *run, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t got = CHUNK;

    for (uint64_t at = 0; status == GUFO_OK && got == CHUNK; at += got) {
        status = source_read_fd(fd, at, h->bytes, CHUNK, &got, error);
        if (status == GUFO_OK)
            status = add_bytes(h, got, error);
        if (status == GUFO_OK)
            status = run_progress(run, h->done, h->total, error);
    }
    return status;
}

/* The opening of a pipe would wait. */
static gufo_status add_file(hashing *h, const char *path, const gufo_run *run, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    gufo_status status;
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0)
        status = fail_io(error, errno, "cannot open");
    else if (!S_ISREG(info.st_mode))
        status = refuse(error, GUFO_E_ARGUMENT, "not a regular file");
    else
        status = add_opened(h, fd, run, error);
    if (fd >= 0)
        (void)close(fd);
    return status;
}

static gufo_status begin(hashing *h, const gufo_run *run, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (h->algorithms == 0 || h->algorithms >> GUFO_DIGEST_COUNT != 0)
        return refuse(error, GUFO_E_ARGUMENT, "no such algorithms");
    h->bytes = mem_alloc(run_allocator(run), CHUNK);
    if (h->bytes == NULL)
        return fail_memory(error);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_open(&h->hashers[i], (gufo_digest_algorithm)i, error);
    return status;
}

static gufo_status finish(hashing *h, gufo_digests *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++)
        if ((h->algorithms >> i & 1) != 0)
            status = hasher_finish(&h->hashers[i], out->bytes[i], error);
    return status;
}

gufo_status gufo_digest_files(const char *const *paths, size_t count, uint32_t algorithms,
                              const gufo_run *how, gufo_digests *out, gufo_error *error)
{
    const gufo_run *run = run_of(how);
    hashing h = {.algorithms = algorithms};
    gufo_status status;
    struct stat info;

    if (out == NULL || (paths == NULL && count > 0))
        return refuse(error, GUFO_E_ARGUMENT, "the paths or the place for the hashes are missing");
    for (size_t i = 0; i < count; i++)
        h.total += stat(paths[i], &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    status = run_check(run, error);
    if (status == GUFO_OK)
        status = begin(&h, run, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        status = add_file(&h, paths[i], run, error);
        if (status != GUFO_OK)
            fail_in(error, GUFO_FILE_INPUT, (uint32_t)i, paths[i]);
    }
    if (status == GUFO_OK)
        status = finish(&h, out, error);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        hasher_close(&h.hashers[i]);
    mem_free(run_allocator(run), h.bytes);
    return status;
}
