/* Copies of cached files; local_copy.h has the interface. */
#include "remote/fetch/local_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/move.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "remote/fetch/header.h"

enum { STRETCH = 64 << 20, BUFFER = 1 << 20 };

static gufo_status copy_all(download *d, const source *from, void *room, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t at = 0; at < d->size && status == GUFO_OK; at += STRETCH) {
        bool read_failed;

        if (d->goes_on != NULL && !d->goes_on(d->context))
            return refuse(error, GUFO_E_STOPPED, "stopped");
        status = move_bytes(from, at, smaller(STRETCH, d->size - at), d->out->fd, at, room, BUFFER,
                            &read_failed, error);
    }
    return status;
}

static gufo_status copy(download *d, const source *from, gufo_error *error)
{
    void *room = mem_alloc(d->allocator, BUFFER);
    gufo_status status =
        room != NULL ? output_create(d->out, d->size, true, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = copy_all(d, from, room, error);
    if (status == GUFO_OK && !range_set_add(&d->finished, (byte_range){0, d->size}))
        status = fail_memory(error);
    mem_free(d->allocator, room);
    return status;
}

gufo_status local_copy_begin(download *d, gufo_error *error)
{
    /* A pipe that somebody put into the cache would be waited for. */
    int fd = open(d->file->local, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    gufo_status status;
    struct stat info;
    source from;

    d->finished.allocator = d->allocator;
    memcpy(d->sha256, d->file->sha256, sizeof d->sha256);
    d->is_checked = !header_is_wanted(d->file->name);
    if (fd < 0)
        return fail_io(error, errno, "cannot open %s", QUOTED(gufo_str_of(d->file->local)));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return refuse(error, GUFO_E_IO, "%s is not a regular file",
                      QUOTED(gufo_str_of(d->file->local)));
    }
    status = source_open_fd(&from, fd, false, 0, d->allocator, error);
    if (status != GUFO_OK)
        return status;
    d->size = from.size;
    status = copy(d, &from, error);
    source_close(&from);
    return status;
}
