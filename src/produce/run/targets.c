/* Targets; run.h has the steps. */
#include "produce/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/commit.h"
#include "base/files/disk.h"
#include "base/files/trust.h"
#include "base/memory.h"
#include "produce/units/work.h"

gufo_status targets_fail(const targets *t, uint32_t index, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, index, t->paths[index]);
    return status;
}

gufo_status targets_each(targets *t, target_step *step, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++)
        status = targets_fail(t, i, step(t, i, error), error);
    return status;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Files that are read: all of them, or those that may not be replaced. */
static gufo_status guard_inputs(const gufo_job *job, const gufo_job_options *options, bool all,
                                gufo_guard *guard, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *guard = (gufo_guard){.allocator = &job->allocator};
    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++)
        if (job->inputs[i].source != NULL && (all || !job->inputs[i].replaceable))
            status = gufo_guard_add_fd(guard, job->inputs[i].source->fd, error);
    for (size_t i = 0; i < options->also_read_count && status == GUFO_OK; i++)
        status = guard_add_path(guard, options->also_read[i], error);
    return status;
}

/* The files of a resumable job are beside the output: none of them may be an input. */
static gufo_status check_beside(const targets *t, const output *file, const gufo_guard *guard,
                                gufo_error *error)
{
    static const char *const suffixes[] = {".part", ".part.journal"};

    for (size_t i = 0; t->resumable && i < sizeof suffixes / sizeof *suffixes; i++) {
        char *path = output_beside(file, suffixes[i]);
        struct stat info;
        bool same;

        if (path == NULL)
            return fail_memory(error);
        same = stat(path, &info) == 0 && guard_find_file(guard, &info) != GUARD_NOTHING;
        mem_free(&t->job->allocator, path);
        if (same)
            return refuse(error, GUFO_E_ARGUMENT,
                          "the output with %s is the input; it would be lost", suffixes[i]);
    }
    return GUFO_OK;
}

/* A folder of files may be a stranger's: what is written there does not go where its links go. */
static gufo_status check_link(const gufo_job *job, const char *path, gufo_error *error)
{
    struct stat info;

    return job->naming == JOB_NAMED_EACH && lstat(path, &info) == 0 && S_ISLNK(info.st_mode)
               ? refuse(error, GUFO_E_ARGUMENT, "it is a link, which is not followed")
               : GUFO_OK;
}

/* Without `inputs` the files beside the output are not compared with them. */
static gufo_status find_target(targets *t, const char *path, uint32_t index,
                               const gufo_guard *guard, const gufo_guard *inputs, gufo_error *error)
{
    const gufo_allocator *a = &t->job->allocator;
    size_t size = gufo_job_output_path(t->job, path, index, NULL, 0) + 1;
    gufo_status status;

    t->paths[index] = mem_alloc(a, size);
    if (t->paths[index] == NULL)
        return fail_memory(error);
    (void)gufo_job_output_path(t->job, path, index, t->paths[index], size);
    status = check_link(t->job, t->paths[index], error);
    if (status == GUFO_OK)
        status = output_find(&t->files[index], t->paths[index], true, guard, a, error);
    if (status == GUFO_OK && inputs != NULL)
        status = check_beside(t, &t->files[index], inputs, error);
    if (status == GUFO_OK && t->resumable) {
        t->parts[index] = output_beside(&t->files[index], ".part");
        status = t->parts[index] != NULL ? GUFO_OK : fail_memory(error);
    }
    return targets_fail(t, index, status, error);
}

/* Whether there is a path for every set, and can name so many shards. */
static gufo_status check_set_path(const gufo_job *job, const gufo_job_options *options,
                                  gufo_error *error)
{
    const char *path = options->path;
    size_t prefix_len;
    uint32_t number, count;

    if (options->more_count != (job->set_count > 1 ? job->set_count - 1 : 0))
        return refuse(error, GUFO_E_ARGUMENT, "the job writes %s models, not %s",
                      GROUPED(job->set_count > 1 ? job->set_count : 1),
                      GROUPED(options->more_count + 1));
    if (job->naming != JOB_NAMED_SET || job->target_count == 1 ||
        (gufo_shard_path_parse(path, &prefix_len, &number, &count) && number == 1 &&
         count == job->target_count))
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "a set of %s shards is written; the output must be named like its first shard, "
                  "such as NAME-00001-of-%05" PRIu64 ".gguf",
                  GROUPED(job->target_count), job->target_count);
}

static gufo_status make_lists(targets *t, gufo_error *error)
{
    const gufo_allocator *a = &t->job->allocator;
    size_t count = (size_t)t->job->target_count;

    t->paths = mem_array(a, count, sizeof *t->paths);
    t->parts = mem_array(a, count, sizeof *t->parts);
    t->files = mem_array(a, count, sizeof *t->files);
    t->fds = mem_array(a, count, sizeof *t->fds);
    for (size_t i = 0; t->files != NULL && i < count; i++)
        t->files[i].fd = -1; /* whatever else is missing: targets_end closes what is not -1 */
    if (t->paths == NULL || t->parts == NULL || t->files == NULL || t->fds == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        t->fds[i] = -1;
    return GUFO_OK;
}

static const char *path_of_set(const gufo_job_options *options, uint64_t set)
{
    return set == 0 ? options->path : options->more_paths[set - 1];
}

static gufo_status find_all(targets *t, const gufo_job_options *options, gufo_error *error)
{
    gufo_guard guard, inputs;
    gufo_status status = guard_inputs(t->job, options, false, &guard, error);
    size_t failed = 0;

    inputs = (gufo_guard){.allocator = &t->job->allocator};
    if (status == GUFO_OK)
        status = guard_inputs(t->job, options, true, &inputs, error);
    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++)
        status = find_target(t, path_of_set(options, i / job_set_size(t->job)), i, &guard, &inputs,
                             error);
    gufo_guard_free(&guard);
    gufo_guard_free(&inputs);
    if (status != GUFO_OK)
        return status;
    status = commit_check(t->files, (size_t)t->job->target_count, &failed, error);
    return targets_fail(t, (uint32_t)failed, status, error);
}

static gufo_status begin_finding(targets *t, gufo_job *job, const gufo_job_options *options,
                                 bool resumable, gufo_error *error)
{
    gufo_status status;

    *t = (targets){.job = job, .flags = options->flags, .resumable = resumable};
    mutex_init(&t->lock);
    status = check_set_path(job, options, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, options->path);
    return status == GUFO_OK ? make_lists(t, error) : status;
}

gufo_status targets_find_part(targets *t, gufo_job *job, const gufo_job_options *options,
                              const job_part *part, gufo_error *error)
{
    gufo_status status = begin_finding(t, job, options, true, error);

    t->part = part;
    for (uint32_t i = part->first_target; i < part->end_target && status == GUFO_OK; i++) {
        output *file = &t->files[i];

        if (!part_touches(part, i))
            continue;
        status = find_target(t, path_of_set(options, i / job_set_size(job)), i, NULL, NULL, error);
        if (status == GUFO_OK) {
            file->keep = true;
            file->temporary = mem_text(file->allocator, gufo_str_of(t->parts[i]));
            status = file->temporary != NULL ? GUFO_OK : fail_memory(error);
        }
    }
    return status;
}

gufo_status targets_find(targets *t, gufo_job *job, const gufo_job_options *options,
                         gufo_error *error)
{
    gufo_status status = begin_finding(
        t, job, options, (options->flags & (GUFO_JOB_RESUMABLE | GUFO_JOB_RESUME)) != 0, error);

    if (status == GUFO_OK)
        status = find_all(t, options, error);
    if (status == GUFO_OK && t->resumable) {
        t->journal = output_beside(&t->files[0], ".part.journal");
        status = t->journal != NULL ? GUFO_OK : fail_memory(error);
    }
    return status;
}

gufo_status targets_check_replaceable(targets *t, gufo_error *error)
{
    size_t failed = 0;
    gufo_status status = commit_check_replace(t->files, (size_t)t->job->target_count,
                                              (t->flags & GUFO_JOB_REPLACE) != 0, &failed, error);

    return targets_fail(t, (uint32_t)failed, status, error);
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status reserve(targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    uint64_t size = t->job->targets[index].size;
    bool reserved = targets_reserves(t);
    gufo_status status;

    file->listed = t->resumable ? NULL : &t->job->temporaries[index];
    status = t->resumable ? output_open_part(file, false, size, reserved, error)
                          : output_create(file, size, reserved, error);
    targets_rest(t, index);
    return status;
}

gufo_status targets_reserve(targets *t, gufo_error *error)
{
    return targets_each(t, reserve, error);
}

gufo_status targets_sync_folders(const targets *t, gufo_error *error)
{
    size_t failed = 0;
    gufo_status status =
        output_sync_folders(t->files, (size_t)t->job->target_count, &failed, error);

    return targets_fail(t, (uint32_t)failed, status, error);
}

static gufo_status write_header(const targets *t, uint32_t index, gufo_error *error)
{
    const void *bytes;
    size_t size;
    gufo_status status = job_header(&t->job->targets[index], &bytes, &size, error);
    byte_range r;

    if (status != GUFO_OK || size == 0)
        return status;
    r = part_clip(t->part, index, 0, size);
    return output_write(&t->files[index], r.from, (const uint8_t *)bytes + r.from,
                        (size_t)(r.to - r.from), error);
}

/* The .part file of a part is not made here: only what its maker made is written to.  Its size, which the maker does not
 * sync, may have been lost with the power; setting it takes no byte from others. */
static gufo_status open_part(const targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    const uint64_t size = t->job->targets[index].size;
    const char *obstacle;
    struct stat info;

    file->fd = disk_open(file->temporary, O_RDWR | TRUST_OPEN_FLAGS, 0);
    if (file->fd < 0)
        return fail_io(error, errno, "cannot open its .part file");
    if (fstat(file->fd, &info) != 0)
        return fail_io(error, errno, "cannot examine its .part file");
    obstacle = trust_own(file->temporary, &info, TRUST_ONE_NAME);
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "cannot write to its .part file: %s", obstacle);
    if ((uint64_t)info.st_size > size)
        return refuse(error, GUFO_E_CHANGED, "its .part file has %s bytes, not %s",
                      GROUPED((uint64_t)info.st_size), GROUPED(size));
    if ((uint64_t)info.st_size < size && disk_resize(file->fd, size) != 0)
        return fail_io(error, errno, "cannot set the size of its .part file");
    return GUFO_OK;
}

static gufo_status open_again(targets *t, uint32_t index, bool header, gufo_error *error)
{
    output *file = &t->files[index];
    gufo_status status = GUFO_OK;

    if (file->fd >= 0 || file->named)
        return GUFO_OK;
    if (t->part != NULL) {
        status = open_part(t, index, error);
    } else {
        file->fd = disk_open(file->temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
        if (file->fd < 0)
            status = fail_io(error, errno, "cannot open the temporary file again");
    }
    if (header && status == GUFO_OK)
        status = write_header(t, index, error);
    mutex_lock(&t->lock);
    t->fds[index] = file->fd;
    mutex_unlock(&t->lock);
    return targets_fail(t, index, status, error);
}

gufo_status targets_open(targets *t, uint32_t index, gufo_error *error)
{
    return open_again(t, index, true, error);
}

gufo_status targets_reopen(targets *t, uint32_t index, gufo_error *error)
{
    return open_again(t, index, false, error);
}

/* It is synced when it is closed for good. */
void targets_rest(targets *t, uint32_t index)
{
    mutex_lock(&t->lock);
    if (t->files[index].fd >= 0)
        (void)close(t->files[index].fd);
    t->files[index].fd = t->fds[index] = -1;
    mutex_unlock(&t->lock);
}

/* The file of a part gets the rights of what it replaces when all parts are there. */
static gufo_status close_output(const targets *t, output *file, gufo_error *error)
{
    int fd = file->fd, failure;

    if (t->part == NULL)
        return output_close(file, error);
    failure = disk_sync(fd) == 0 ? 0 : errno;
    file->fd = -1;
    if (failure != 0) {
        (void)close(fd);
        return fail_io(error, failure, "cannot sync");
    }
    return close(fd) == 0 ? GUFO_OK : fail_io(error, errno, "cannot write");
}

gufo_status targets_close(targets *t, uint32_t index, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    mutex_lock(&t->lock);
    if (t->files[index].fd >= 0)
        status = close_output(t, &t->files[index], error);
    t->fds[index] = -1;
    t->lost = t->lost || status != GUFO_OK;
    mutex_unlock(&t->lock);
    return targets_fail(t, index, status, error);
}

gufo_status targets_sync(targets *t, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    mutex_lock(&t->lock);
    if (t->lost)
        status = refuse(error, GUFO_E_IO, "an output could not be synced before");
    for (uint32_t i = 0; i < t->job->target_count && status == GUFO_OK; i++)
        if (t->fds[i] >= 0 && disk_sync(t->fds[i]) != 0) {
            status = targets_fail(t, i, fail_io(error, errno, "cannot sync"), error);
            t->lost = true;
        }
    mutex_unlock(&t->lock);
    return status;
}

/* ---- the end -------------------------------------------------------------------------------- */

gufo_status targets_commit(targets *t, bool keep, gufo_error *error)
{
    size_t failed;
    gufo_status status;

    for (uint64_t i = 0; i < t->job->target_count; i++)
        t->files[i].keep = keep;
    status = commit_set(t->files, (size_t)t->job->target_count, &failed, error);
    return targets_fail(t, (uint32_t)failed, status, error);
}

void targets_end(targets *t, bool keep)
{
    const gufo_allocator *a = &t->job->allocator;

    for (uint64_t i = 0; t->files != NULL && i < t->job->target_count; i++) {
        t->files[i].keep = keep || t->part != NULL;
        output_discard(&t->files[i]);
    }
    for (uint64_t i = 0; t->paths != NULL && i < t->job->target_count; i++)
        mem_free(a, t->paths[i]);
    for (uint64_t i = 0; t->parts != NULL && i < t->job->target_count; i++)
        mem_free(a, t->parts[i]);
    mem_free(a, t->paths);
    mem_free(a, t->parts);
    mem_free(a, t->files);
    mem_free(a, t->fds);
    mem_free(a, t->journal);
    mutex_destroy(&t->lock);
}

/* The files that an interrupted run left: OUT.part, some of which may already have their final
 * names. */

/* ---- nothing is to be kept ------------------------------------------------------------------ */

static gufo_status remove_part(targets *t, uint32_t index, gufo_error *error)
{
    const char *obstacle;
    struct stat info;

    if (lstat(t->parts[index], &info) != 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot examine its .part file");
    obstacle = trust_own(t->parts[index], &info, 0);
    if (obstacle != NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "its .part file is in the way and cannot be replaced: %s", obstacle);
    if ((t->flags & GUFO_JOB_REPLACE) == 0)
        return refuse(error, GUFO_E_EXISTS, "its .part file exists already");
    if (disk_unlink(t->parts[index]) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the old .part file");
    return GUFO_OK;
}

gufo_status parts_clear(targets *t, gufo_error *error)
{
    return targets_each(t, remove_part, error);
}

/* ---- going on ------------------------------------------------------------------------------- */

static gufo_status check_part(targets *t, uint32_t index, gufo_error *error)
{
    struct stat info;

    if (lstat(t->parts[index], &info) == 0 && S_ISREG(info.st_mode) &&
        (uint64_t)info.st_size == t->job->targets[index].size)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "cannot resume: its .part file is missing or has another size");
}

static gufo_status reserve_again(targets *t, uint32_t index, gufo_error *error)
{
    gufo_status status = output_open_part(&t->files[index], true, t->job->targets[index].size,
                                          targets_reserves(t), error);

    targets_rest(t, index);
    return status;
}

/* Takes everything out of the .part file first: it may be what another run left, and no other
 * process writes to the padding. */
static gufo_status reserve_emptied(targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    gufo_status status = output_open_part(file, true, 0, false, error);

    targets_rest(t, index);
    mem_free(file->allocator, file->temporary);
    file->temporary = NULL;
    return status == GUFO_OK ? reserve_again(t, index, error) : status;
}

/* A target that was not begun may not have its size yet. */
static gufo_status continue_part(targets *t, uint32_t index, gufo_error *error)
{
    const job_target *target = &t->job->targets[index];
    bool begun =
        target->has_pieces && t->job->pieces[target->first_piece].first_unit < t->units_done;
    gufo_status status = begun ? check_part(t, index, error) : GUFO_OK;

    if (status != GUFO_OK)
        return status;
    return begun ? reserve_again(t, index, error) : reserve_emptied(t, index, error);
}

gufo_status parts_continue(targets *t, gufo_error *error)
{
    return targets_each(t, continue_part, error);
}

/* ---- nothing but names is missing ----------------------------------------------------------- */

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Whether the target is the output that was made: it has its size and its header, and got its name
 * after the journal was complete.  Naming changes the time of the last change of a file's facts; an
 * old target, which may be of the same size and header, has an earlier one. */
static bool has_its_name(const targets *t, uint32_t index)
{
    enum { PIECE = 4096 };
    const void *header;
    uint8_t bytes[PIECE];
    struct stat info;
    size_t size, step, got;
    int fd = open(t->files[index].target, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &info) == 0 &&
                (uint64_t)info.st_size == t->job->targets[index].size &&
                !is_before(&info.st_ctim, &t->complete) &&
                job_header(&t->job->targets[index], &header, &size, NULL) == GUFO_OK;

    for (size_t at = 0; same && at < size; at += step) {
        step = size - at < PIECE ? size - at : PIECE;
        same = source_read_fd(fd, at, bytes, step, &got, NULL) == GUFO_OK && got == step &&
               memcmp(bytes, (const uint8_t *)header + at, step) == 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return same;
}

/* Stopped between the two steps of naming, a file has both names: it loses that of a .part file. */
static void drop_second_name(const targets *t, uint32_t index)
{
    struct stat part, target;

    if (lstat(t->parts[index], &part) == 0 && stat(t->files[index].target, &target) == 0 &&
        is_same_file(&target, &part))
        (void)disk_unlink(t->parts[index]);
}

static bool has_part(const targets *t, uint32_t index)
{
    struct stat part;

    return lstat(t->parts[index], &part) == 0;
}

static gufo_status open_complete(targets *t, uint32_t index, gufo_error *error)
{
    output *file = &t->files[index];
    gufo_status status;

    drop_second_name(t, index);
    if (has_part(t, index) || !has_its_name(t, index)) {
        status = check_part(t, index, error);
        return status == GUFO_OK ? reserve_again(t, index, error) : status;
    }
    file->named = true;
    file->temporary = mem_text(file->allocator, gufo_str_of(t->parts[index]));
    return file->temporary != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status parts_open_complete(targets *t, gufo_error *error)
{
    gufo_status status = targets_each(t, open_complete, error);

    return status == GUFO_OK ? targets_check_replaceable(t, error) : status;
}

/* Rights and a sync, which those who wrote parts of it did not give. */
static gufo_status close_made(targets *t, uint32_t index, gufo_error *error)
{
    gufo_status status = targets_reopen(t, index, error);

    return status == GUFO_OK ? targets_close(t, index, error) : status;
}

gufo_status targets_commit_parts(targets *t, gufo_error *error)
{
    gufo_status status;

    t->is_made = true;
    status = parts_open_complete(t, error);
    if (status == GUFO_OK)
        status = targets_each(t, close_made, error);
    return status == GUFO_OK ? targets_commit(t, true, error) : status;
}

/* All units of a job, in spans between which targets begin and end: a target is opened when
 * something is written to it, and closed when it is complete. */

/* Opens the targets that piece `number` begins, or that it is in the middle of; or closes those that
 * it ends. */
static gufo_status change_targets(targets *t, uint64_t number, bool open, gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(t->job, number, &room);
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++) {
        uint32_t index = p->made[i].target;

        if (index == NO_TARGET)
            continue;
        if (open)
            status = targets_open(t, index, error);
        else if (t->job->targets[index].last_piece == number)
            status = targets_close(t, index, error);
    }
    return status;
}

/* Whether the piece is the first one of a target, or, without `first`, the last one. */
static bool bounds_target(const gufo_job *job, uint64_t number, bool first)
{
    plain_piece room;
    const piece *p = job_piece_at(job, number, &room);

    for (uint32_t i = 0; i < p->n_made; i++) {
        const job_target *target =
            p->made[i].target != NO_TARGET ? &job->targets[p->made[i].target] : NULL;

        if (target != NULL && (first ? target->first_piece : target->last_piece) == number)
            return true;
    }
    return false;
}

gufo_status spans_run(targets *t, struct work *w, uint64_t from, gufo_error *error)
{
    const gufo_job *job = t->job;
    gufo_status status = GUFO_OK;

    w->files = t->fds;
    w->paths = t->paths;
    for (uint64_t i = 0, next; i < job->piece_count && status == GUFO_OK; i = next) {
        uint64_t begin = job->pieces[i].first_unit, end;

        next = i + 1;
        while (next < job->piece_count && !bounds_target(job, next - 1, false) &&
               !bounds_target(job, next, true))
            next++;
        end = next < job->piece_count ? job->pieces[next].first_unit : job->unit_count;
        status = change_targets(t, i, true, error);
        if (status == GUFO_OK && end > from)
            status = units_run(w, begin > from ? begin : from, end, error);
        if (status == GUFO_OK)
            status = change_targets(t, next - 1, false, error);
    }
    /* Files that consist of a header. */
    for (uint32_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        if (!job->targets[i].has_pieces) {
            status = targets_open(t, i, error);
            if (status == GUFO_OK)
                status = targets_close(t, i, error);
        }
    return status;
}

/* Nothing gets its name before the inputs are known to be as they were. */
gufo_status spans_finish(targets *t, struct work *w, gufo_error *error)
{
    gufo_status status = spans_run(t, w, 0, error);

    if (status == GUFO_OK)
        status = job_check_inputs(t->job, error);
    return status == GUFO_OK ? targets_commit(t, false, error) : status;
}
