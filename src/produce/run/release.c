/* Releases inputs; run.h describes the idea. */
#include "produce/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/guard.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "produce/units/work.h"

/* A sync makes writers wait, so it must free enough: this many bytes, or a part of the whole. */
#define BYTES_BETWEEN (UINT64_C(256) << 20)
enum { PARTS = 16 };

/* More blocks than a header takes: a file that has so many is not sparse. */
#define SPARE_BYTES (UINT64_C(1) << 20)

static bool is_released(const job_input *input)
{
    return input->role == GUFO_FILE_INPUT;
}

static gufo_status fail_input(const release *r, uint64_t index, gufo_status status,
                              gufo_error *error)
{
    const job_input *input = &r->job->inputs[index];

    if (status != GUFO_OK)
        fail_in(error, input->role, input->index, input->name);
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_aside(const char *path)
{
    size_t len = strlen(path), suffix = sizeof RELEASE_SUFFIX - 1;

    return len > suffix && strcmp(path + len - suffix, RELEASE_SUFFIX) == 0;
}

/* The new name of an input, with `more` appended; the caller frees it.  NULL without memory. */
static char *aside_of(const release *r, uint64_t index, const char *more)
{
    const char *name = r->job->inputs[index].name;
    char suffix[32];

    snprintf(suffix, sizeof suffix, "%s%s", is_aside(name) ? "" : RELEASE_SUFFIX, more);
    return mem_join(&r->job->allocator, gufo_str_of(name), gufo_str_of(suffix));
}

/* ---- what is needed when -------------------------------------------------------------------- */

/* Notes that piece `number` needs rows of a source, with their tables. */
static void note_rows(release *r, uint64_t number, const rows *from)
{
    plain_piece room;
    const piece *p = job_piece_at(r->job, number, &room);

    if (from == NULL)
        return;
    if (!r->holes && r->units[from->input] < p->first_unit + p->units)
        r->units[from->input] = p->first_unit + p->units;
    if (r->holes && r->needed[number] > (from->source != NULL ? from->offset : 0))
        r->needed[number] = from->source != NULL ? from->offset : 0;
    for (unsigned i = 0; i < ROWS_SIDES; i++)
        note_rows(r, number, from->side[i]);
}

static void note_pieces(release *r)
{
    const gufo_job *job = r->job;

    for (uint64_t i = job->piece_count; i-- > 0;) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        if (r->holes)
            r->needed[i] = r->needed[i + 1];
        for (uint32_t k = 0; k < p->n_sources; k++)
            note_rows(r, i, &p->sources[k]);
        for (uint32_t k = 0; k < p->n_ops; k++)
            for (unsigned side = 0; side < OP_SIDES; side++)
                note_rows(r, i, p->ops[k].side[side]);
    }
}

static bool is_needed_less(const void *owner, uint32_t a, uint32_t b)
{
    const release *r = owner;

    return r->units[a] != r->units[b] ? r->units[a] < r->units[b] : a < b;
}

static gufo_status make_lists(release *r, gufo_error *error)
{
    const gufo_allocator *a = &r->job->allocator;
    const gufo_job *job = r->job;

    if (r->holes) {
        r->needed = mem_array(a, job->piece_count + 1, sizeof *r->needed);
        if (r->needed == NULL)
            return fail_memory(error);
        r->needed[job->piece_count] = job->inputs[0].source->size;
        note_pieces(r);
        return GUFO_OK;
    }
    r->order = mem_array(a, job->input_count + 1, sizeof *r->order);
    r->units = mem_zero(a, (size_t)(job->input_count + 1) * sizeof *r->units);
    if (r->order == NULL || r->units == NULL)
        return fail_memory(error);
    note_pieces(r);
    for (uint32_t i = 0; i < job->input_count; i++) {
        /* An input without data is removed at the end. */
        r->units[i] = r->units[i] != 0 ? r->units[i] : job->unit_count;
        if (is_released(&job->inputs[i]))
            r->order[r->count++] = i;
    }
    sort_indices(r->order, r->count, is_needed_less, r);
    return GUFO_OK;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* A regular file of ours without other links: removing it frees its space and takes it from
 * nobody. */
static gufo_status check_file(const job_input *input, gufo_error *error)
{
    const char *obstacle;
    struct stat named, opened;

    if (input->source == NULL || input->source->fd < 0)
        return refuse(error, GUFO_E_ARGUMENT, "cannot be deleted: it is not a file");
    if (lstat(input->name, &named) != 0 || fstat(input->source->fd, &opened) != 0)
        return fail_io(error, errno, "cannot examine");
    if (S_ISLNK(named.st_mode))
        return refuse(error, GUFO_E_ARGUMENT,
                      "cannot be deleted: it is a symbolic link; name the file itself");
    if (!is_same_file(&named, &opened))
        return refuse(error, GUFO_E_CHANGED, "the file was changed while it was being read");
    obstacle = trust_own(input->name, &named, TRUST_ONE_NAME);
    return obstacle == NULL ? GUFO_OK
                            : refuse(error, GUFO_E_ARGUMENT, "cannot be deleted: %s", obstacle);
}

/* A file that is read under two names, or twice, would be missing the second time. */
static gufo_status check_distinct(const release *r, gufo_error *error)
{
    gufo_guard guard = {.allocator = &r->job->allocator};
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < r->job->input_count && status == GUFO_OK; i++)
        if (r->job->inputs[i].source != NULL)
            status = gufo_guard_add_fd(&guard, r->job->inputs[i].source->fd, error);
    for (size_t i = 1; i < guard.count && status == GUFO_OK; i++)
        if (guard.files[i].device == guard.files[i - 1].device &&
            guard.files[i].inode == guard.files[i - 1].inode)
            status = refuse(error, GUFO_E_ARGUMENT,
                            "the inputs cannot be deleted: one of them is read twice");
    gufo_guard_free(&guard);
    return status;
}

static gufo_status check_targets(const targets *t, gufo_error *error)
{
    for (uint32_t i = 0; i < t->job->target_count; i++)
        if (is_aside(t->files[i].target))
            return targets_fail(t, i,
                                refuse(error, GUFO_E_ARGUMENT,
                                       "names that end in " RELEASE_SUFFIX
                                       " are reserved for what is left of the inputs"),
                                error);
    return GUFO_OK;
}

/* ---- a header without data ------------------------------------------------------------------ */

/* Whether `fd` has the beginning of the input's header, or zeros where a loss of power took it, and nothing else. */
static bool is_unfinished(const job_input *input, int fd, uint64_t size)
{
    enum { PIECE = 4096 };
    uint8_t found[PIECE], wanted[PIECE];
    static const uint8_t zeros[PIECE];

    for (uint64_t at = 0; at < input->head && at < size; at += PIECE) {
        uint64_t end = input->head < size ? input->head : size;
        size_t step = (size_t)(end - at < PIECE ? end - at : PIECE), got = 0;

        if (source_read_fd(fd, at, found, step, &got, NULL) != GUFO_OK || got != step ||
            source_read(input->source, at, wanted, step, NULL) != GUFO_OK ||
            (memcmp(found, wanted, step) != 0 && memcmp(found, zeros, step) != 0))
            return false;
    }
    return true;
}

/* Why a file is not what an interrupted run has left of make_stub; NULL if it is. */
static const char *not_stub(const job_input *input, const char *path)
{
    int fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
    const char *obstacle = "it cannot be read";
    struct stat info;

    if (fd < 0)
        return obstacle;
    if (fstat(fd, &info) == 0)
        obstacle = trust_own(path, &info, TRUST_ONE_NAME);
    if (obstacle == NULL &&
        (((uint64_t)info.st_size > input->head && (uint64_t)info.st_size != input->source->size) ||
         (uint64_t)info.st_blocks * 512 > input->head + SPARE_BYTES ||
         !is_unfinished(input, fd, (uint64_t)info.st_size)))
        obstacle = "it is not of an interrupted run";
    (void)close(fd);
    return obstacle;
}

static gufo_status clear_place(const job_input *input, const char *path, gufo_error *error)
{
    const char *obstacle;
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine %s", path);
    obstacle = S_ISREG(info.st_mode) ? not_stub(input, path) : "it is not a regular file";
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "%s is in the way: %s", path, obstacle);
    return disk_unlink(path) == 0 ? GUFO_OK : fail_io(error, errno, "cannot remove %s", path);
}

static gufo_status copy_header(const job_input *input, int fd, gufo_error *error)
{
    enum { PIECE = 4096 };
    gufo_status status = GUFO_OK;
    uint8_t bytes[PIECE];

    for (uint64_t at = 0; at < input->head && status == GUFO_OK; at += PIECE) {
        size_t size = (size_t)(input->head - at < PIECE ? input->head - at : PIECE);

        status = source_read(input->source, at, bytes, size, error);
        if (status == GUFO_OK)
            status = output_write_at(fd, at, bytes, size, error);
    }
    return status;
}

/* The file without its data: same size, same time.  Returns a descriptor, or -1. */
static int make_stub(const job_input *input, const char *path, gufo_error *error)
{
    const struct timespec times[2] = {input->source->modified, input->source->modified};
    gufo_status status = clear_place(input, path, error);
    struct stat info;
    int fd;

    if (status != GUFO_OK)
        return -1;
    fd = disk_open(path, O_RDWR | O_CREAT | O_EXCL | TRUST_OPEN_FLAGS, 0666);
    if (fd < 0) {
        (void)fail_io(error, errno, "cannot create %s", path);
        return -1;
    }
    status = copy_header(input, fd, error);
    if (status == GUFO_OK && (disk_resize(fd, input->source->size) != 0 ||
                              futimens(fd, times) != 0 || disk_sync(fd) != 0))
        status = fail_io(error, errno, "cannot write %s", path);
    if (status == GUFO_OK && fstat(fd, &info) == 0 &&
        (uint64_t)info.st_blocks * 512 > input->head + SPARE_BYTES)
        status = refuse(error, GUFO_E_ARGUMENT,
                        "cannot be deleted step by step: its file system has no sparse files");
    if (status == GUFO_OK)
        return fd;
    (void)close(fd);
    (void)disk_unlink(path);
    return -1;
}

/* Whether the file system has sparse files, and holes where they are needed. */
static gufo_status probe(const release *r, uint64_t index, gufo_error *error)
{
    const gufo_allocator *a = &r->job->allocator;
    const job_input *input = &r->job->inputs[index];
    char *path = aside_of(r, index, ".tmp");
    gufo_status status = GUFO_OK;
    int fd;

    if (path == NULL)
        return fail_memory(error);
    fd = make_stub(input, path, error);
    if (fd < 0)
        status = error->code;
    else if (r->holes && disk_punch(fd, 0, input->source->size) != 0)
        status = refuse(error, GUFO_E_ARGUMENT,
                        "cannot be deleted step by step: its file system does not punch holes");
    if (fd >= 0) {
        (void)close(fd);
        if (disk_unlink(path) != 0 && status == GUFO_OK)
            status = fail_io(error, errno, "cannot remove %s", path);
    }
    mem_free(a, path);
    return status;
}

gufo_status release_begin(release *r, gufo_job *job, keeper *k, const targets *t, gufo_error *error)
{
    gufo_error reason = {0};
    gufo_status status;

    *r = (release){.job = job, .keeper = k, .fd = -1};
    r->holes = job->input_count == 1 && job->target_count > 1;
    status = check_targets(t, error);
    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++)
        if (is_released(&job->inputs[i]))
            status = fail_input(r, i, check_file(&job->inputs[i], error), error);
    if (status == GUFO_OK)
        status = check_distinct(r, error);
    if (status == GUFO_OK)
        status = make_lists(r, error);
    if (status == GUFO_OK && (r->holes || r->count > 0)) {
        uint32_t first = r->holes ? 0 : r->order[0];

        status = probe(r, first, &reason);
        if (status != GUFO_OK)
            status = fail_input(r, first, fail_as(error, &reason), error);
    }
    return status;
}

void release_end(release *r)
{
    if (r->job == NULL)
        return;
    if (r->fd >= 0)
        (void)close(r->fd);
    mem_free(&r->job->allocator, r->order);
    mem_free(&r->job->allocator, r->units);
    mem_free(&r->job->allocator, r->needed);
    *r = (release){.fd = -1};
}

/* ---- a run that begins ---------------------------------------------------------------------- */

uint64_t release_stamp(const release *r)
{
    const source *s = r->job->inputs[0].source;
    const uint64_t parts[] = {s->fd >= 0 ? disk_number(s->fd) : 0, s->size,
                              (uint64_t)s->modified.tv_sec, (uint64_t)s->modified.tv_nsec};
    uint64_t hash = 0;

    hash_chain(&hash, parts, sizeof parts);
    return hash;
}

/* Refuses an input whose data is gone, and a file of another user. */
static gufo_status check_input(const release *r, uint64_t index, uint64_t units_done, bool found,
                               gufo_error *error)
{
    const job_input *input = &r->job->inputs[index];
    bool gone = r->holes ? units_done == 0 : units_done < r->units[index];
    char *path = aside_of(r, index, "");
    struct stat info;
    bool exists;

    if (path == NULL)
        return fail_memory(error);
    exists = !is_aside(input->name) && lstat(path, &info) == 0;
    mem_free(&r->job->allocator, path);
    if (is_aside(input->name) && (!found || gone))
        return refuse(error, GUFO_E_ARGUMENT,
                      "an interrupted run has left this part of its input; the output or its "
                      "journal, which have the rest, is missing");
    if (exists && (r->holes || !found))
        return refuse(error, GUFO_E_ARGUMENT, "%s%s is in the way", input->name, RELEASE_SUFFIX);
    return GUFO_OK;
}

gufo_status release_check(const release *r, uint64_t units_done, bool found, const uint64_t *stamp,
                          gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < r->job->input_count && status == GUFO_OK; i++) {
        const job_input *input = &r->job->inputs[i];

        if (is_released(input))
            status = fail_input(r, i, check_input(r, i, units_done, found, error), error);
        /* The identity of the job omits the time of a file that gets holes. */
        if (status == GUFO_OK && r->holes && stamp != NULL && !is_aside(input->name) &&
            *stamp != release_stamp(r))
            status = fail_input(r, i,
                                refuse(error, GUFO_E_CHANGED,
                                       "cannot resume: the input was changed in the meantime"),
                                error);
    }
    return status;
}

/* Hours after the run began, the name may be that of another file, which is not ours to delete. */
static gufo_status check_still(const job_input *input, gufo_error *error)
{
    gufo_status status = source_unchanged(input->source, error);

    return status == GUFO_OK && !is_aside(input->name) ? check_file(input, error) : status;
}

/* ---- holes ---------------------------------------------------------------------------------- */

/* Opens the file under its new name and checks that it is still the one that is read. */
static gufo_status open_aside(release *r, const char *path, gufo_error *error)
{
    const char *obstacle;
    struct stat opened, read;

    r->fd = disk_open(path, O_RDWR | TRUST_OPEN_FLAGS, 0);
    if (r->fd < 0 || fstat(r->fd, &opened) != 0 || fstat(r->job->inputs[0].source->fd, &read) != 0)
        return fail_io(error, errno, "cannot open %s", path);
    obstacle = trust_own(path, &opened, TRUST_ONE_NAME);
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "cannot be deleted: %s", obstacle);
    if (!is_same_file(&opened, &read))
        return refuse(error, GUFO_E_CHANGED, "the file was changed while it was being read");
    return GUFO_OK;
}

/* Gives the file its new name: from now on it does not open as the model. */
static gufo_status set_aside(release *r, gufo_error *error)
{
    job_input *input = &r->job->inputs[0];
    gufo_status status = input->released ? GUFO_OK : check_still(input, error);
    char *path;

    if (r->fd >= 0 || status != GUFO_OK)
        return status;
    path = aside_of(r, 0, "");
    if (path == NULL)
        return fail_memory(error);
    if (!is_aside(input->name) && disk_rename(input->name, path) != 0)
        status = fail_io(error, errno, "cannot rename to %s", path);
    if (status == GUFO_OK)
        status = folder_sync_names(path, error);
    if (status == GUFO_OK)
        status = open_aside(r, path, error);
    input->released = status == GUFO_OK;
    mem_free(&r->job->allocator, path);
    return status;
}

static gufo_status punch(release *r, uint64_t units_done, gufo_error *error)
{
    const gufo_job *job = r->job;
    uint64_t begin = r->freed > job->inputs[0].head ? r->freed : job->inputs[0].head;
    uint64_t end =
        r->needed[units_done < job->unit_count ? cut_piece_of(job, units_done) : job->piece_count];
    gufo_status status = set_aside(r, error);

    if (status != GUFO_OK || end <= begin)
        return status;
    if (disk_punch(r->fd, begin, end - begin) != 0)
        return fail_io(error, errno, "cannot punch a hole");
    r->freed = end;
    return GUFO_OK;
}

/* ---- whole files ---------------------------------------------------------------------------- */

/* Removes one file and closes it: its space is free when no program has it open. */
static gufo_status remove_whole(job_input *input, const char *path, gufo_error *error)
{
    gufo_status status = check_still(input, error);
    int fd = status == GUFO_OK ? make_stub(input, path, error) : -1;

    if (fd < 0)
        return status != GUFO_OK ? status : error->code;
    status = folder_sync_names(path, error);
    if (status == GUFO_OK)
        status = source_exchange(input->source, fd, error);
    if (status == GUFO_OK && disk_unlink(input->name) != 0)
        status = fail_io(error, errno, "cannot delete");
    (void)close(fd);
    return status;
}

static gufo_status remove_inputs(release *r, uint64_t units_done, gufo_error *error)
{
    gufo_error reason = {0};
    gufo_status status = GUFO_OK;

    for (; status == GUFO_OK && r->next < r->count; r->next++) {
        uint32_t index = r->order[r->next];
        job_input *input = &r->job->inputs[index];
        char *path;

        if (r->units[index] > units_done)
            break;
        path = aside_of(r, index, "");
        if (path == NULL)
            return fail_memory(error);
        if (!is_aside(input->name))
            status = remove_whole(input, path, &reason);
        input->released = status == GUFO_OK;
        mem_free(&r->job->allocator, path);
        if (status != GUFO_OK)
            status = fail_input(r, index, fail_as(error, &reason), error);
    }
    return status;
}

/* ---- the way through a run ------------------------------------------------------------------ */

static gufo_status release_done(release *r, uint64_t units_done, gufo_error *error)
{
    return r->holes ? fail_input(r, 0, punch(r, units_done, error), error)
                    : remove_inputs(r, units_done, error);
}

gufo_status release_after(release *r, uint64_t units_done, uint64_t bytes, gufo_error *error)
{
    bool removes = !r->holes && r->next < r->count && r->units[r->order[r->next]] <= units_done;
    gufo_status status;

    r->unsaved += bytes;
    if (!removes && r->unsaved < BYTES_BETWEEN && r->unsaved < r->job->total / PARTS)
        return GUFO_OK;
    r->unsaved = 0;
    status = keeper_save(r->keeper, error);
    return status == GUFO_OK ? release_done(r, units_done, error) : status;
}

gufo_status release_rest(release *r, gufo_error *error)
{
    return release_done(r, r->job->unit_count, error);
}

gufo_status release_remove(release *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < r->job->input_count && status == GUFO_OK; i++) {
        char *path = is_released(&r->job->inputs[i]) ? aside_of(r, i, "") : NULL;

        if (path == NULL)
            continue;
        if (disk_unlink(path) != 0 && errno != ENOENT)
            status = fail_io(error, errno, "cannot remove %s", path);
        else if (i + 1 == r->job->input_count || !folder_same(path, r->job->inputs[i + 1].name))
            status = folder_sync_names(path, error);
        mem_free(&r->job->allocator, path);
        status = fail_input(r, i, status, error);
    }
    return status;
}
