/* Rows of a piece, without a run: models show what a job would write.
 *
 * Rows that only move are read from their sources; others are made as a run makes them, by a job of
 * this one piece. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "produce/units/work.h"

#define PEEK_MEMORY (UINT64_C(256) << 20)

/* Some rows of one slice, no more than a unit has. */
static gufo_status peek_unit(work *w, const unit *u, uint8_t *out, gufo_error *error)
{
    const piece *p = u->piece;
    gufo_status status = GUFO_OK;

    if (p->transpose) {
        w->band.capacity = u->rows * p->columns * cell_size(p); /* no more than is asked for */
        status = transpose_fill(w, 0, u->slice, u->row - u->slice * p->slice_rows, error);
    }
    if (status == GUFO_OK)
        status = make_unit(w, &w->workers[0], u, NULL, error);
    if (status == GUFO_OK)
        memcpy(out, make_bytes(&w->workers[0], u, 0), (size_t)(u->rows * p->made[0].row_bytes));
    return status;
}

static gufo_status peek_made(work *w, uint64_t row, uint64_t count, uint8_t *out, gufo_error *error)
{
    const piece *p = w->job->pieces[0].whole;
    gufo_status status = side_load(w, 0, 1, error);

    for (uint64_t done = 0; done < count && status == GUFO_OK;) {
        unit u = {.piece = p, .slice = (row + done) / p->slice_rows, .row = row + done};
        uint64_t left = (u.slice + 1) * p->slice_rows - u.row;

        u.rows = smaller(smaller(p->unit_rows, left), count - done);
        status = peek_unit(w, &u, out, error);
        out += u.rows * p->made[0].row_bytes;
        done += u.rows;
    }
    return status;
}

gufo_status job_peek(const gufo_job *job, uint64_t index, uint64_t row, uint64_t count, void *out,
                     gufo_error *error)
{
    const gufo_run run = {.threads = 1, .memory = PEEK_MEMORY};
    gufo_job one = *job;
    gufo_status status;
    plain_piece room;
    const piece *p = job_piece_at(job, index, &room);
    kept_piece only = {.whole = (piece *)p}; /* which is only read */
    work w;

    if (p->how == PIECE_MOVE)
        return rows_gather(job, p, row, count, out, error);
    one.piece_at = NULL;
    one.pieces = &only;
    one.piece_count = 1;
    one.other_memory = 0;
    status = work_begin(&w, &one, &run, false, error);
    if (status != GUFO_OK)
        return status;
    status = peek_made(&w, row, count, out, error);
    work_end(&w);
    return status;
}
