/* Data that the caller gives, from any thread and in any order.
 *
 * The job records which ranges of the target were written, so that no byte is forgotten.  Data in
 * order, in either direction, is one range.
 *
 * Only some files are open at a time, because a set may have tens of thousands: a file to which no
 * thread writes is closed when another one is needed. */
#include "base/checked.h"

#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/sort.h"
#include "gufo/base.h"
#include "produce/run/run.h"
#include "produce/units/work.h"

/* Ascending, and neither overlapping nor touching. */
typedef struct ranges {
    struct range {
        uint64_t begin, end;
    } * list;
    size_t count;
    uint64_t capacity;
    const gufo_allocator *allocator;
} ranges;

/* ---- sets of bytes ------------------------------------------------------------------------------ */

static bool ends_before(const void *list, size_t index, const void *position)
{
    return ((const struct range *)list)[index].end < *(const uint64_t *)position;
}

/* The first range that ends at or behind `position`. */
static size_t first_ending_at(const ranges *set, uint64_t position)
{
    return first_row_from(set->list, set->count, ends_before, &position);
}

/* Adds [begin, end); false without memory.  Writing in order, in either direction, keeps one range,
 * and takes constant time; in general it takes time in proportion to the ranges there are. */
static bool ranges_add(ranges *set, uint64_t begin, uint64_t end)
{
    size_t first = first_ending_at(set, begin), last = first;
    struct range joined = {begin, end}, *list;

    /* Ranges first .. last - 1 overlap or touch the new one, which takes them in. */
    for (; last < set->count && set->list[last].begin <= end; last++) {
        if (set->list[last].begin < joined.begin)
            joined.begin = set->list[last].begin;
        if (set->list[last].end > joined.end)
            joined.end = set->list[last].end;
    }
    list = mem_grow(set->allocator, set->list, set->count - (last - first), &set->capacity,
                    sizeof *list);
    if (list == NULL)
        return false;
    set->list = list;
    memmove(&set->list[first + 1], &set->list[last], (set->count - last) * sizeof *set->list);
    set->list[first] = joined;
    set->count = set->count + 1 - (last - first);
    return true;
}

static bool ranges_cover(const ranges *set, uint64_t begin, uint64_t end)
{
    size_t at = first_ending_at(set, end);

    return begin == end || (at < set->count && set->list[at].begin <= begin);
}

static void ranges_free(ranges *set)
{
    mem_free(set->allocator, set->list);
    *set = (ranges){.allocator = set->allocator};
}

enum { MOST_OPEN = 64 };

typedef struct given {
    gufo_job *job;
    targets targets; /* `files` is NULL for a stream */
    ranges *written; /* of each target */
    unsigned *users; /* threads that write to it now */
    uint64_t open;   /* targets that are */
    uint64_t next;   /* to be closed, if nobody writes to it */
    mutex lock;
    sink stream; /* its descriptor is -1 for files */
} given;

static void given_free(struct given *g)
{
    gufo_job *job;

    if (g == NULL)
        return;
    job = g->job;
    for (uint64_t i = 0; g->written != NULL && i < job->target_count; i++)
        ranges_free(&g->written[i]);
    mem_free(&job->allocator, g->written);
    mem_free(&job->allocator, g->users);
    if (g->targets.job != NULL)
        targets_end(&g->targets, false);
    mutex_destroy(&g->lock);
    mem_free(&job->allocator, g);
    job->given = NULL;
}

/* ---- beginning ------------------------------------------------------------------------------ */

static gufo_status begin(gufo_job *job, int stream, gufo_error *error)
{
    given *g = mem_zero(&job->allocator, sizeof *g);

    if (g == NULL)
        return fail_memory(error);
    job->given = g;
    g->job = job;
    g->stream.fd = stream;
    mutex_init(&g->lock);
    g->written = mem_zero(&job->allocator, (size_t)job->target_count * sizeof *g->written);
    g->users = mem_zero(&job->allocator, (size_t)job->target_count * sizeof *g->users);
    if (g->written == NULL || g->users == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < job->target_count; i++)
        g->written[i].allocator = &job->allocator;
    return GUFO_OK;
}

/* Closes a file that nobody writes to, if too many are open. */
static void make_room(given *g)
{
    for (uint64_t i = 0; g->open >= MOST_OPEN && i < g->job->target_count; i++) {
        uint32_t index = (uint32_t)g->next;

        g->next = (g->next + 1) % g->job->target_count;
        if (g->targets.fds[index] < 0 || g->users[index] > 0)
            continue;
        targets_rest(&g->targets, index);
        g->open--;
    }
}

static gufo_status open_all(given *g, const gufo_job_options *options, gufo_error *error)
{
    gufo_status status = targets_find(&g->targets, g->job, options, error);

    if (status == GUFO_OK)
        status = targets_check_replaceable(&g->targets, error);
    if (status == GUFO_OK)
        status = targets_reserve(&g->targets, error);
    for (uint32_t i = 0; i < g->job->target_count && status == GUFO_OK; i++) {
        make_room(g);
        status = targets_open(&g->targets, i, error);
        g->open++;
    }
    return status;
}

gufo_status gufo_job_open(gufo_job *job, const gufo_job_options *options, gufo_error *error)
{
    gufo_status status = job_check_options(options, error);

    if (status == GUFO_OK && (options->flags & ~(uint32_t)GUFO_JOB_REPLACE) != 0)
        status = refuse(error, GUFO_E_ARGUMENT, "data that the caller gives cannot be resumed");
    if (status == GUFO_OK)
        status = job_add_counted(job, error);
    if (status == GUFO_OK)
        status = job_begin(job, run_of(NULL), error);
    if (status != GUFO_OK) /* an output that is open stays so */
        return status;
    status = begin(job, -1, error);
    if (status == GUFO_OK)
        status = open_all(job->given, options, error);
    if (status != GUFO_OK)
        given_free(job->given);
    return status;
}

static gufo_status check_stream(const gufo_job *job, gufo_error *error)
{
    bool fits = job->target_count == 1;
    plain_piece room;

    for (uint64_t i = 0; i < job->piece_count; i++)
        fits = fits && job_piece_at(job, i, &room)->how == PIECE_GIVEN;
    return fits ? GUFO_OK
                : refuse(error, GUFO_E_ARGUMENT,
                         "a stream takes one file, of which the caller gives all tensors");
}

gufo_status gufo_job_open_fd(gufo_job *job, int fd, gufo_error *error)
{
    const void *header;
    size_t size;
    gufo_status status = job_add_counted(job, error);

    if (status == GUFO_OK)
        status = check_stream(job, error);
    if (status == GUFO_OK)
        status = job_begin(job, run_of(NULL), error);
    if (status != GUFO_OK)
        return status;
    status = begin(job, fd, error);
    if (status == GUFO_OK)
        status = job_header(&job->targets[0], &header, &size, error);
    if (status == GUFO_OK)
        status = sink_send(&job->given->stream, header, size, error);
    if (status != GUFO_OK)
        given_free(job->given);
    return status;
}

/* ---- data ----------------------------------------------------------------------------------- */

/* The piece of a tensor: pieces of a target come in the order of its tensors.  *number is its own. */
static const piece *find_piece(const gufo_job *job, size_t index, uint64_t tensor, uint64_t *number,
                               plain_piece *room)
{
    const job_target *t;

    if (index >= job->target_count || tensor >= job->targets[index].tensor_count)
        return NULL;
    t = &job->targets[index];
    *number = t->has_pieces ? t->first_piece + tensor : UINT64_MAX;
    /* Data that is moved as a whole is one piece for all tensors. */
    return *number <= t->last_piece ? job_piece_at(job, *number, room) : NULL;
}

static gufo_status check_place(const gufo_job *job, const piece *p, uint64_t offset, uint64_t size,
                               gufo_error *error)
{
    if (job->given == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "%s",
                      job->used ? "the output of the job has ended, or failed before"
                                : "the job is not open");
    if (job->given->stream.failed)
        return refuse(error, GUFO_E_ARGUMENT, "the output of the job failed before");
    if (p == NULL)
        return refuse(error, GUFO_E_RANGE, "no such tensor");
    if (p->how != PIECE_GIVEN)
        return refuse(error, GUFO_E_ARGUMENT, "tensor %s comes from a model, and is not given",
                      QUOTED(p->name));
    if (!range_inside(offset, size, p->slice_rows))
        return refuse(error, GUFO_E_RANGE,
                      "tensor %s has %s bytes; %s bytes from %" PRIu64 " do not fit",
                      QUOTED(p->name), GROUPED(p->slice_rows), GROUPED(size), offset);
    return GUFO_OK;
}

/* Whether there is only padding between what was sent and `place`. */
static bool is_next(const given *g, uint64_t number, const piece *p, uint64_t place)
{
    const made *m = &p->made[0];
    const gufo_job *job = g->job;
    const void *header;
    size_t size = 0;
    plain_piece room;

    if (place == g->stream.position)
        return true;
    if (place != m->place || place < g->stream.position)
        return false;
    while (number > 0) {
        p = job_piece_at(job, --number, &room);
        if (p->slice_rows > 0)
            return g->stream.position == p->made[0].place + p->slice_rows;
    }
    return job_header(&job->targets[0], &header, &size, NULL) == GUFO_OK &&
           g->stream.position == size;
}

static gufo_status send_data(given *g, uint64_t number, const piece *p, uint64_t offset,
                             const void *data, size_t size, gufo_error *error)
{
    uint64_t place = p->made[0].place + offset;
    gufo_status status;

    if (!is_next(g, number, p, place))
        return refuse(error, GUFO_E_ARGUMENT,
                      "a stream takes data in order: byte %" PRIu64 " is next, not %" PRIu64,
                      g->stream.position, place);
    status = sink_pad(&g->stream, place, error);
    return status == GUFO_OK ? sink_send(&g->stream, data, size, error) : status;
}

static gufo_status note_written(given *g, size_t index, const piece *p, uint64_t offset,
                                size_t size, gufo_error *error)
{
    uint64_t begins = p->made[0].place + offset;

    return ranges_add(&g->written[index], begins, begins + size) ? GUFO_OK : fail_memory(error);
}

/* The descriptor of a target, which stays open until it is given back. */
static gufo_status take_file(given *g, uint32_t index, int *fd, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    mutex_lock(&g->lock);
    if (g->targets.fds[index] < 0) {
        make_room(g);
        status = targets_reopen(&g->targets, index, error);
        g->open += status == GUFO_OK;
    }
    g->users[index] += status == GUFO_OK;
    *fd = g->targets.fds[index];
    mutex_unlock(&g->lock);
    return status;
}

static gufo_status write_file(given *g, uint32_t index, const piece *p, uint64_t offset,
                              const void *data, size_t size, gufo_error *error)
{
    gufo_status status;
    int fd;

    status = take_file(g, index, &fd, error);
    if (status != GUFO_OK)
        return status;
    status = output_write_at(fd, p->made[0].place + offset, data, size, error);
    (void)targets_fail(&g->targets, index, status, error);
    mutex_lock(&g->lock);
    g->users[index]--;
    if (status == GUFO_OK)
        status = note_written(g, index, p, offset, size, error);
    mutex_unlock(&g->lock);
    return status;
}

gufo_status gufo_job_write(gufo_job *job, size_t index, uint64_t tensor, uint64_t offset,
                           const void *data, size_t size, gufo_error *error)
{
    uint64_t number = 0;
    plain_piece room;
    const piece *p = find_piece(job, index, tensor, &number, &room);
    gufo_status status = check_place(job, p, offset, size, error);
    given *g = job->given;

    if (status != GUFO_OK || size == 0)
        return status;
    if (g->stream.fd < 0)
        return write_file(g, (uint32_t)index, p, offset, data, size, error);
    status = send_data(g, number, p, offset, data, size, error);
    return status == GUFO_OK ? note_written(g, index, p, offset, size, error) : status;
}

/* ---- the end -------------------------------------------------------------------------------- */

static gufo_status check_written(const given *g, gufo_error *error)
{
    for (uint64_t i = 0; i < g->job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(g->job, i, &room);
        const made *m = &p->made[0];

        if (p->how == PIECE_GIVEN &&
            !ranges_cover(&g->written[m->target], m->place, m->place + p->slice_rows))
            return refuse(error, GUFO_E_ARGUMENT, "tensor %s did not get all of its %s bytes",
                          QUOTED(p->name), GROUPED(p->slice_rows));
    }
    return GUFO_OK;
}

static gufo_status finish_files(given *g, const gufo_run *run, gufo_error *error)
{
    work w;
    gufo_status status = job_check_run(run, error);

    if (status == GUFO_OK)
        status = work_begin(&w, g->job, run, false, error);
    if (status != GUFO_OK)
        return status;
    status = spans_finish(&g->targets, &w, error);
    work_end(&w);
    return status;
}

gufo_status gufo_job_finish(gufo_job *job, const gufo_run *run, gufo_error *error)
{
    given *g = job->given;
    gufo_status status;

    if (g == NULL)
        return check_place(job, NULL, 0, 0, error);
    status = g->stream.failed ? check_place(job, NULL, 0, 0, error) : check_written(g, error);
    if (status == GUFO_OK)
        status = g->stream.fd >= 0 ? sink_pad(&g->stream, job->targets[0].size, error)
                                   : finish_files(g, run_of(run), error);
    given_free(g);
    return status;
}

/* ---- the end of a plan: what can only be known then --------------------------------------------- */

void gufo_job_free(gufo_job *job)
{
    gufo_allocator a;

    if (job == NULL)
        return;
    a = job->allocator;
    for (uint64_t i = 0; i < job->piece_count; i++)
        if (job->pieces[i].whole != NULL)
            piece_free(&a, job->pieces[i].whole);
    given_free(job->given);
    if (job->planner_free != NULL)
        job->planner_free(job->planner);
    mem_free(&a, (void *)job->temporaries);
    mem_free(&a, job->results);
    mem_free(&a, job->pieces);
    mem_free(&a, job->targets);
    mem_free(&a, job->inputs);
    mem_free(&a, job);
}

gufo_job *job_planned(gufo_job *job, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK && job->add_pieces == NULL)
        status = job_complete_pieces(job, error);
    if (status == GUFO_OK)
        status = inputs_complete(job, error);
    if (status == GUFO_OK) {
        job->temporaries =
            mem_zero(&job->allocator, ((size_t)job->target_count + 1) * sizeof *job->temporaries);
        if (job->temporaries == NULL)
            status = fail_memory(error);
    }
    if (status == GUFO_OK)
        return job;
    gufo_job_free(job);
    return NULL;
}
