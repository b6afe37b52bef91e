/* The edited file: opening it, locking it, and checking whether it is in use elsewhere. */
#define _GNU_SOURCE /* flock, realpath */

#include "base/error.h"

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

#include "base/checked.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "edit/journal.h"
#include "edit/planner.h"
#include "format/model/model.h"

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
    if (!is_same_file(&opened, &there))
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
    edit->model = read_only ? gufo_model_open(edit->path, &options, error)
                            : gufo_model_open_fd(edit->fd, &options, error);
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
    gufo_edit_free(edit);
    return NULL;
}

void gufo_edit_free(gufo_edit *edit)
{
    gufo_allocator allocator;

    if (edit == NULL)
        return;
    allocator = edit->allocator;
    edit_give_back(edit);
    gufo_document_free(edit->document);
    gufo_model_free(edit->model);
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

/* What a job does not preserve: everything that can be written in several ways.
 *
 * The validator already finds most of it, so this code uses its findings. */

static const struct {
    gufo_normalised kind;
    const char *rule; /* of the validator; NULL: found here */
    const char *text;
} kinds[] = {
    {GUFO_NORMALISED_VERSION, NULL, "the version becomes 3"},
    {GUFO_NORMALISED_ORDER, "data-order", "data is put in the order of the tensor infos"},
    {GUFO_NORMALISED_GAPS, "data-gap", "gaps between tensors are closed"},
    {GUFO_NORMALISED_PADDING, "padding-nonzero", "padding becomes zeros"},
    {GUFO_NORMALISED_TAIL, NULL, "padding at the end is added"},
    {GUFO_NORMALISED_TRAILING, "trailing-bytes", "bytes after the end of the model are dropped"},
    {GUFO_NORMALISED_SPLIT_KEYS, NULL, "split keys are dropped from a file that was not a shard"},
    {GUFO_NORMALISED_METADATA, NULL,
     "metadata of shards after the first is dropped where the first one differs"},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const char *gufo_normalised_text(gufo_normalised kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].kind == kind)
            return kinds[i].text;
    return NULL;
}

static void on_finding(void *context, const gufo_finding *finding)
{
    uint32_t *found = context;

    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].rule != NULL && strcmp(finding->rule->name, kinds[i].rule) == 0)
            *found |= kinds[i].kind;
}

/* Whether a tensor without bytes is anywhere but where it would be written; the validator reports
 * others. */
static bool empty_misplaced(const gufo_model *file)
{
    uint64_t expected = gufo_model_facts(file).data_offset;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        if (tensor.size == 0 && tensor.offset != expected)
            return true;
        if (tensor.size > 0)
            (void)checked_align(tensor.offset + tensor.size, gufo_model_facts(file).alignment,
                                &expected);
    }
    return false;
}

static bool lacks_tail(const gufo_model *file)
{
    uint64_t end = gufo_model_facts(file).data_offset + gufo_model_facts(file).data_size;

    return checked_align(end, gufo_model_facts(file).alignment, &end) &&
           gufo_model_facts(file).size < end;
}

static gufo_status note_file(gufo_job *job, const gufo_model *file, gufo_error *error)
{
    uint32_t version = gufo_document_version(planner_document_at(planner_of(job), 0));
    gufo_status status = gufo_model_check(file, on_finding, &job->normalised, error);

    if (gufo_model_facts(file).version != version)
        job->normalised |= GUFO_NORMALISED_VERSION;
    if (empty_misplaced(file))
        job->normalised |= GUFO_NORMALISED_ORDER;
    if (lacks_tail(file))
        job->normalised |= GUFO_NORMALISED_TAIL;
    return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static bool has_shard_keys(const gufo_model *file)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++)
        if (!gufo_key_is_of_model(NULL, entry.key))
            return true;
    return false;
}

/* Whether both entries have the same bytes: shards of a set have one byte order and version. */
static bool same_entry(const gufo_model *a, const gufo_entry *in_a, const gufo_model *b,
                       const gufo_entry *in_b)
{
    uint64_t size = in_a->end - in_a->offset;

    return in_b->end - in_b->offset == size &&
           memcmp(model_file(a)->source.base + in_a->offset,
                  model_file(b)->source.base + in_b->offset, (size_t)size) == 0;
}

/* Whether a later shard says something that the first does not say. */
static bool has_own_metadata(const gufo_model *first, const gufo_model *later)
{
    gufo_entry entry, in_first;

    for (uint64_t i = 0; gufo_model_entry_at(later, i, &entry); i++) {
        if (!gufo_key_is_of_model(NULL, entry.key) ||
            gufo_str_equal(entry.key, gufo_str_of(GUFO_ALIGNMENT_KEY)) ||
            gufo_str_equal(entry.key, gufo_str_of(GUFO_PADDING_KEY)))
            continue;
        if (!gufo_model_find_str(first, entry.key, &in_first) ||
            !same_entry(first, &in_first, later, &entry))
            return true;
    }
    return false;
}

gufo_status planner_note_normalised(gufo_job *job, gufo_error *error)
{
    const planner *p = planner_of(job);
    const gufo_model *first = gufo_model_shard(p->input, 0), *file;
    size_t count = gufo_model_shard_count(p->input);
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < count; i++) {
        file = gufo_model_shard(p->input, i);
        status = note_file(job, file, error);
        if (i > 0 && !p->keeps_keys && has_own_metadata(first, file))
            job->normalised |= GUFO_NORMALISED_METADATA;
    }
    if (count == 1 && p->drops_shard_keys && has_shard_keys(first))
        job->normalised |= GUFO_NORMALISED_SPLIT_KEYS;
    return status;
}
