/* Moving bytes that are hashed; moving.h has the idea.
 *
 * A stretch is moved, and then read from the new file, where it is in the memory of the system: one reading
 * from the disk, and what is hashed is what is written. */
#include "remote/ollama/moving.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/move.h"
#include "base/files/output.h"
#include "base/memory.h"
#include "remote/sha256.h"

enum { STRETCH = 16 << 20, BUFFER = 1 << 20 };

gufo_status ollama_progress_note(const ollama_progress *progress, uint64_t done, gufo_error *error)
{
    const gufo_run *run = progress->run;

    return run == NULL || run->progress == NULL ||
                   run->progress(run->progress_context, progress->before + done, progress->total)
               ? GUFO_OK
               : refuse(error, GUFO_E_STOPPED, "stopped");
}

typedef struct moving {
    sha256 hash;
    void *buffer;
    const ollama_progress *progress;
    gufo_error *error;
} moving;

static gufo_status begin(moving *m, const gufo_allocator *allocator, gufo_error *error)
{
    m->error = error;
    m->buffer = mem_alloc(allocator, BUFFER);
    return m->buffer != NULL ? sha256_open(&m->hash, error) : fail_memory(error);
}

static void end(moving *m, const gufo_allocator *allocator)
{
    sha256_close(&m->hash);
    mem_free(allocator, m->buffer);
}

/* Hashes bytes [at, at + size) of a file. */
static gufo_status hash_stretch(moving *m, int fd, uint64_t at, uint64_t size)
{
    gufo_status status = GUFO_OK;

    while (size > 0 && status == GUFO_OK) {
        size_t step = size < BUFFER ? (size_t)size : BUFFER, got = 0;

        status = source_read_fd(fd, at, m->buffer, step, &got, m->error);
        if (status == GUFO_OK && got == 0)
            status = refuse(m->error, GUFO_E_CHANGED, "it was cut short while it was hashed");
        if (status == GUFO_OK)
            status = sha256_add(&m->hash, m->buffer, got, m->error);
        at += got;
        size -= got;
    }
    return status;
}

/* ---- a file into another -------------------------------------------------------------------- */

static gufo_status move_all(moving *m, const source *from, const output *to, bool *read_failed)
{
    gufo_status status = ollama_progress_note(m->progress, 0, m->error);

    for (uint64_t at = 0; at < from->size && status == GUFO_OK;) {
        uint64_t left = from->size - at, size = left < STRETCH ? left : STRETCH;

        status = move_bytes(from, at, size, to->fd, at, m->buffer, BUFFER, read_failed, m->error);
        if (status == GUFO_OK)
            status = hash_stretch(m, to->fd, at, size);
        at += size;
        if (status == GUFO_OK)
            status = ollama_progress_note(m->progress, at, m->error);
    }
    return status;
}

static gufo_status check_digest(const char *hex, const char *wanted, gufo_error *error)
{
    return wanted == NULL || strcmp(hex, wanted) == 0
               ? GUFO_OK
               : refuse(error, GUFO_E_MALFORMED,
                        "the blob is damaged: the SHA-256 of its bytes is %s, not that of its name",
                        hex);
}

/* Errors name the new file, except where reading fails. */
gufo_status ollama_move(const source *from, const char *path, bool replace, const char *wanted,
                        char hex[OLLAMA_HEX + 1], const ollama_progress *progress,
                        const gufo_allocator *allocator, gufo_error *error)
{
    gufo_guard guard = {.allocator = allocator};
    output to = {.fd = -1};
    moving m = {.progress = progress};
    bool read_failed = false;
    gufo_status status = gufo_guard_add_fd(&guard, from->fd, error);

    if (status == GUFO_OK)
        status = output_open(&to, path, replace, from->size, &guard, allocator, error);
    if (status == GUFO_OK)
        status = begin(&m, allocator, error);
    if (status == GUFO_OK)
        status = move_all(&m, from, &to, &read_failed);
    if (status == GUFO_OK) {
        read_failed = true;
        status = source_unchanged(from, error);
    }
    if (status == GUFO_OK)
        status = sha256_finish(&m.hash, hex, error);
    if (status == GUFO_OK)
        status = check_digest(hex, wanted, error);
    if (status == GUFO_OK) {
        read_failed = false;
        status = output_commit(&to, error);
    } else {
        output_discard(&to);
    }
    end(&m, allocator);
    gufo_guard_free(&guard);
    if (status != GUFO_OK && status != GUFO_E_STOPPED && !read_failed)
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
    return status;
}

/* ---- a file that is there ------------------------------------------------------------------- */

static gufo_status hash_all(moving *m, int fd, uint64_t size, char hex[OLLAMA_HEX + 1])
{
    gufo_status status = GUFO_OK;

    for (uint64_t at = 0; at < size && status == GUFO_OK;) {
        uint64_t step = size - at < STRETCH ? size - at : STRETCH;

        status = hash_stretch(m, fd, at, step);
        at += step;
        if (status == GUFO_OK)
            status = ollama_progress_note(m->progress, at, m->error);
    }
    return status == GUFO_OK ? sha256_finish(&m->hash, hex, m->error) : status;
}

gufo_status ollama_hash_file(const char *path, char hex[OLLAMA_HEX + 1], uint64_t *size,
                             const ollama_progress *progress, const gufo_allocator *allocator,
                             gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    moving m = {.progress = progress};
    gufo_status status;
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0)
        status = fail_io(error, errno, "cannot open");
    else
        status = begin(&m, allocator, error);
    if (status == GUFO_OK) {
        *size = (uint64_t)info.st_size;
        status = hash_all(&m, fd, *size, hex);
    }
    end(&m, allocator);
    if (fd >= 0)
        (void)close(fd);
    if (status != GUFO_OK && status != GUFO_E_STOPPED)
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
    return status;
}
