/* One target that takes bytes in order: a pipe, a socket, a terminal.
 *
 * Every thread makes a unit; then they are sent one after another, with zeros between them where
 * the target has gaps. */
#include "base/error.h"

#include "base/checked.h"
#include "base/files/output.h"
#include "base/threads.h"
#include "produce/run/run.h"
#include "produce/units/work.h"

/* ---- bytes in order ----------------------------------------------------------------------------- */

gufo_status sink_send(sink *s, const void *bytes, uint64_t size, gufo_error *error)
{
    gufo_status status = output_write_at(s->fd, GUFO_NO_OFFSET, bytes, (size_t)size, error);

    s->position += size;
    s->failed = status != GUFO_OK;
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, NULL);
    return status;
}

gufo_status sink_pad(sink *s, uint64_t place, gufo_error *error)
{
    static const uint8_t zeros[4096];
    gufo_status status = GUFO_OK;

    while (s->position < place && status == GUFO_OK)
        status = sink_send(s, zeros, smaller(place - s->position, sizeof zeros), error);
    return status;
}

typedef struct stream {
    gufo_job *job;
    work work;
    sink sink;
    uint64_t first_unit; /* of the batch that is made */
} stream;

/* Unit `number` into the buffers of worker `number - first_unit`, whichever thread it is. */
static gufo_status make_one(void *context, unsigned thread, uint64_t number, void *result,
                            gufo_error *error)
{
    stream *s = context;
    worker *t = &s->work.workers[number - s->first_unit];
    plain_piece room;
    unit u = cut_find(s->job, number, &room);

    (void)thread;
    return u.piece->how == PIECE_MOVE
               ? rows_gather(s->job, u.piece, u.row, u.rows, t->source, error)
               : make_unit(&s->work, t, &u, result, error);
}

static gufo_status send_one(void *context, uint64_t number, const void *result, gufo_error *error)
{
    stream *s = context;
    const worker *t = &s->work.workers[number - s->first_unit];
    plain_piece room;
    unit u = cut_find(s->job, number, &room);
    const made *m = &u.piece->made[0];
    const uint8_t *bytes = u.piece->how == PIECE_MOVE ? t->source : make_bytes(t, &u, 0);
    gufo_status status = sink_pad(&s->sink, m->place + u.row * m->row_bytes, error);

    job_add_result(s->job, u.number, result);
    if (status == GUFO_OK)
        status = sink_send(&s->sink, bytes, u.rows * m->row_bytes, error);
    return status == GUFO_OK ? work_advance(&s->work, cut_bytes(&u), error) : status;
}

/* As many units as there are workers. */
static gufo_status send_batch(void *context, uint64_t begin, uint64_t end, gufo_error *error)
{
    stream *s = context;
    gufo_status status = GUFO_OK;

    for (uint64_t at = begin; at < end && status == GUFO_OK; at += s->work.threads) {
        uint64_t left = end - at;
        parallel_loop loop = {.begin = at,
                              .end = at + (left < s->work.threads ? left : s->work.threads),
                              .threads = s->work.threads,
                              .result_size = s->job->hooks.result_size,
                              .context = s,
                              .work = make_one,
                              .hand_over = send_one};

        s->first_unit = at;
        status = parallel_run(&loop, &s->work.allocator, error);
    }
    return status;
}

static gufo_status send_all(stream *s, gufo_error *error)
{
    const void *header;
    size_t size;
    gufo_status status = job_header(&s->job->targets[0], &header, &size, error);

    if (status == GUFO_OK)
        status = sink_send(&s->sink, header, size, error);
    if (status == GUFO_OK)
        status = units_run(&s->work, 0, s->job->unit_count, error);
    if (status == GUFO_OK)
        status = sink_pad(&s->sink, s->job->targets[0].size, error);
    return status == GUFO_OK ? job_check_inputs(s->job, error) : status;
}

static gufo_status check_stream(const gufo_job *job, gufo_error *error)
{
    uint64_t end = 0;

    if (job->target_count != 1)
        return refuse(error, GUFO_E_ARGUMENT, "%s files cannot be written to one stream",
                      GROUPED(job->target_count));
    for (uint64_t i = 0; i < job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        if (p->n_made != 1 || p->made[0].target == NO_TARGET)
            return refuse(error, GUFO_E_ARGUMENT, "a stream takes one result of each tensor");
        if (p->made[0].place < end)
            return refuse(error, GUFO_E_ARGUMENT, "tensor %s comes too late for a stream",
                          QUOTED(p->name));
        /* job_add_piece has checked that this is inside the target. */
        end = p->made[0].place + p->slices * p->slice_rows * p->made[0].row_bytes;
    }
    return GUFO_OK;
}

gufo_status gufo_job_stream(gufo_job *job, int fd, const gufo_run *how, gufo_error *error)
{
    stream s = {.job = job, .sink.fd = fd};
    gufo_status status = job_add_counted(job, error);

    if (status == GUFO_OK)
        status = check_stream(job, error);
    if (status == GUFO_OK)
        status = job_start(job, &s.work, how, true, error);
    if (status != GUFO_OK)
        return status;
    s.work.run_span = send_batch;
    s.work.span_context = &s;
    status = send_all(&s, error);
    work_end(&s.work);
    return status;
}
