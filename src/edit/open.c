/* The edited file: opening it, locking it, and checking whether it is in use elsewhere. */
#define _GNU_SOURCE /* flock, realpath */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "edit/journal.h"

enum { LOCK_TRIES = 10 };

/* ---- opening and locking -------------------------------------------------------------------- */

/* One edit at a time.  File systems without locks have none.  A caller that only asks whether the
 * file is being edited (pending.h) holds it for a moment. */
static gufo_status lock(int fd, gufo_error *error)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return GUFO_OK;
        (void)nanosleep(&moment, NULL);
    }
    return fail_io(error, EBUSY, "another process is editing the file");
}

/* A process that waited for this file may have got one that lost its name meanwhile. */
static gufo_status check_name(const char *path, int fd, gufo_error *error)
{
    struct stat opened, there;

    if (fstat(fd, &opened) != 0 || stat(path, &there) != 0)
        return fail_io(error, errno, "cannot examine");
    if (!S_ISREG(opened.st_mode))
        return refuse(error, GUFO_E_ARGUMENT, "only a regular file can be edited");
    if (opened.st_dev != there.st_dev || opened.st_ino != there.st_ino)
        return refuse(error, GUFO_E_CHANGED, "the file was replaced by another process");
    return GUFO_OK;
}

static bool may_only_be_read(int failure)
{
    return failure == EACCES || failure == EPERM || failure == EROFS || failure == ETXTBSY;
}

gufo_status edit_open_locked(const char *path, int *fd, bool *writable, gufo_error *error)
{
    /* Not to wait: neither for a pipe, nor for a lease that another edit holds. */
    const int flags = O_CLOEXEC | O_NONBLOCK;
    gufo_status status;

    *fd = disk_open(path, O_RDWR | flags, 0);
    *writable = *fd >= 0;
    if (*fd < 0 && may_only_be_read(errno))
        *fd = open(path, O_RDONLY | flags);
    if (*fd < 0 && errno == EWOULDBLOCK)
        return fail_io(error, EBUSY, "another process is editing the file");
    if (*fd < 0)
        return fail_io(error, errno, "cannot open");
    status = check_name(path, *fd, error);
    if (status == GUFO_OK)
        status = lock(*fd, error);
    if (status == GUFO_OK)
        status = check_name(path, *fd, error);
    if (status == GUFO_OK)
        return GUFO_OK;
    (void)close(*fd);
    *fd = -1;
    return status;
}

/* ---- an edit -------------------------------------------------------------------------------- */

static gufo_status keep_paths(gufo_edit *edit, const char *path, gufo_error *error)
{
    char real[PATH_MAX];

    if (realpath(path, real) == NULL)
        return fail_io(error, errno, "cannot open");
    edit->path = mem_text(&edit->allocator, gufo_str_of(path));
    edit->real_path = mem_text(&edit->allocator, gufo_str_of(real));
    return edit->path != NULL && edit->real_path != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status open_file(gufo_edit *edit, bool read_only, uint64_t max_depth, gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_INCOMPLETE,
                                       .allocator = &edit->allocator,
                                       .name = edit->path,
                                       .max_depth = max_depth};
    gufo_status status =
        read_only ? GUFO_OK : edit_open_locked(edit->path, &edit->fd, &edit->writable, error);

    if (status == GUFO_OK)
        status = edit_check_settled(edit->path, !read_only, error);
    if (status != GUFO_OK)
        return status;
    /* Through the same descriptor, so that our own mapping does not prevent the lease. */
    edit->model = read_only ? gufo_open(edit->path, &options, error)
                            : gufo_open_fd(edit->fd, &options, error);
    if (edit->model == NULL)
        return GUFO_E_IO; /* the error says more */
    edit->document = gufo_document_from(
        edit->model, &(gufo_document_options){.allocator = &edit->allocator}, error);
    return edit->document != NULL ? GUFO_OK : GUFO_E_MALFORMED;
}

gufo_status edit_check_options(const char *path, const gufo_edit_options *options, uint32_t known,
                               gufo_error *error)
{
    if (path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the path is missing");
    if (flags_check(options->flags, known, "gufo_edit_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    return reserved_check(options->reserved, "gufo_edit_options", error);
}

gufo_edit *gufo_edit_open(const char *path, const gufo_edit_options *options, gufo_error *error)
{
    static const gufo_edit_options standard = {0};
    const gufo_allocator *allocator;
    gufo_edit *edit;
    gufo_status status;

    options = options != NULL ? options : &standard;
    if (edit_check_options(path, options, GUFO_EDIT_READ_ONLY, error) != GUFO_OK)
        return NULL;
    allocator = mem_allocator(options->allocator);
    edit = mem_zero(allocator, sizeof *edit);
    if (edit == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    edit->allocator = *allocator;
    edit->fd = -1;
    status = keep_paths(edit, path, error);
    if (status == GUFO_OK)
        status =
            open_file(edit, (options->flags & GUFO_EDIT_READ_ONLY) != 0, options->max_depth, error);
    if (status == GUFO_OK)
        return edit;
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    gufo_edit_close(edit);
    return NULL;
}

void gufo_edit_close(gufo_edit *edit)
{
    gufo_allocator allocator;

    if (edit == NULL)
        return;
    allocator = edit->allocator;
    edit_give_back(edit);
    gufo_document_free(edit->document);
    gufo_close(edit->model);
    if (edit->fd >= 0)
        (void)close(edit->fd);
    mem_free(&allocator, edit->path);
    mem_free(&allocator, edit->real_path);
    mem_free(&allocator, edit);
}

const gufo_model *gufo_edit_model(const gufo_edit *edit)
{
    return edit->model;
}

gufo_document *gufo_edit_document(gufo_edit *edit)
{
    return edit->document;
}

/* ---- who else uses it ----------------------------------------------------------------------- */

static const char *take_lease(gufo_edit *edit, char room[160])
{
    if (disk_lease(edit->fd, true) == 0) {
        edit->leased = true;
        return NULL;
    }
    if (errno == EAGAIN)
        return "the file is open or mapped elsewhere";
    snprintf(room, 160, "cannot check whether the file is open elsewhere (%s)", strerror(errno));
    return room;
}

const char *edit_obstacle(gufo_edit *edit, char room[160])
{
    struct stat info;

    if (lstat(edit->path, &info) == 0 && S_ISLNK(info.st_mode))
        return "it is reached through a symlink";
    if (fstat(edit->fd, &info) == 0 && info.st_nlink != 1) {
        snprintf(room, 160, "it has %ju hard links", (uintmax_t)info.st_nlink);
        return room;
    }
    return take_lease(edit, room);
}

void edit_give_back(gufo_edit *edit)
{
    if (edit->leased)
        (void)disk_lease(edit->fd, false);
    edit->leased = false;
}
