/* A unit whose bytes do not change.
 *
 * A long run is moved by the kernel, which shares blocks or copies them; short ones are gathered in
 * a buffer and written together. */
#include "base/error.h"
#include "base/files/move.h"
#include "produce/units/work.h"

enum { LONG_RUN = 256 * 1024 };

static gufo_status move_run(work *w, const worker *t, const made *m, const row_run *run,
                            uint64_t place, gufo_error *error)
{
    const rows *r = run->rows;
    const byte_range to = part_clip(w->part, m->target, place, run->count * r->row_bytes);
    const uint64_t from = r->offset + run->first * r->row_bytes + (to.from - place);
    bool read_failed;
    gufo_status status;

    if (to.from == to.to)
        return GUFO_OK;
    status = move_bytes(r->source, from, to.to - to.from, w->files[m->target], to.from, t->source,
                        t->source_size, &read_failed, error);
    return read_failed ? rows_fail(w->job, r, status, error)
                       : work_fail_target(w, m->target, status, error);
}

static bool is_long(const row_run *run, const worker *t)
{
    uint64_t size = run->count * run->rows->row_bytes;

    return run->rows->source != NULL && (size >= LONG_RUN || size > t->source_size);
}

/* Moves rows from `row` on, as many as fit into the buffer: *count. */
static gufo_status move_gathered(const work *w, const worker *t, const unit *u, const made *m,
                                 uint64_t row, uint64_t *count, gufo_error *error)
{
    uint64_t left = u->row + u->rows - row, place = m->place + row * m->row_bytes;
    byte_range to;
    gufo_status status;

    *count = smaller(t->source_size / m->row_bytes, left);
    to = part_clip(w->part, m->target, place, *count * m->row_bytes);
    if (to.from == to.to)
        return GUFO_OK;
    status = rows_gather(w->job, u->piece, row, *count, t->source, error);
    return status == GUFO_OK
               ? work_write(w, m->target, place, t->source, *count * m->row_bytes, error)
               : status;
}

/* Rows have one length here: job_add_piece has checked it. */
static gufo_status move_to(work *w, const worker *t, const unit *u, const made *m,
                           gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t row = u->row, end = u->row + u->rows; row < end && status == GUFO_OK;) {
        row_run run = rows_find(u->piece, row, end - row);
        uint64_t count = run.count;

        status = is_long(&run, t) ? move_run(w, t, m, &run, m->place + row * m->row_bytes, error)
                                  : move_gathered(w, t, u, m, row, &count, error);
        row += count;
    }
    return status;
}

/* One result after the other: each shares the blocks if it can; otherwise they are in memory by
 * then. */
gufo_status move_unit(work *w, worker *t, const unit *u, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    rows_expect(u->piece, u->row, u->rows);
    /* Without files no bytes stay that could be measured. */
    for (uint32_t i = 0; w->files != NULL && i < u->piece->n_made && status == GUFO_OK; i++)
        status = move_to(w, t, u, &u->piece->made[i], error);
    return status;
}
