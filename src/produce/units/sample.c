/* Chosen rows of pieces, made and measured without a run.
 *
 * A sample is a unit of any length.  As in a run, those of simple pieces are one long list for all
 * threads; tables are loaded for one piece after the other, and a band is filled from the first sample
 * that is outside the one before:
 *
 *     rows      | . . x . . x . . . x . . | . x . . . x . . . . |
 *     bands       |-------------|           |-------------|
 *                           |-------------|
 */
#include "base/checked.h"

#include <string.h>

#include "base/error.h"
#include "produce/units/work.h"

uint64_t job_unit_rows(const piece *p)
{
    return p->unit_rows;
}

uint64_t job_group_rows(const piece *p)
{
    return cut_group(p);
}

/* Samples [begin, end) of a transposed piece. */
static gufo_status run_bands(work *w, uint64_t begin, uint64_t end, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    while (begin < end && status == GUFO_OK) {
        plain_piece room, other;
        unit first = units_at(w, begin, &room);
        uint64_t in_slice = first.row - first.slice * first.piece->slice_rows, stop = begin + 1;

        status = transpose_fill(w, first.number, first.slice, in_slice, UINT64_MAX, error);
        for (; status == GUFO_OK && stop < end; stop++) {
            unit u = units_at(w, stop, &other);

            if (u.slice != first.slice || u.row + u.rows > first.row + w->band.count)
                break;
        }
        if (status == GUFO_OK)
            status = units_span(w, begin, stop, error);
        begin = stop;
    }
    return status;
}

/* Samples [begin, end) of one piece. */
static gufo_status run_piece(work *w, uint64_t begin, uint64_t end, gufo_error *error)
{
    uint64_t number = w->samples[begin].piece;
    plain_piece room;
    gufo_status status = side_load(w, number, 1, error);

    if (status == GUFO_OK)
        status = job_piece_at(w->job, number, &room)->transpose ? run_bands(w, begin, end, error)
                                                                : units_span(w, begin, end, error);
    side_free(w);
    return status;
}

static bool is_simple(const work *w, uint64_t number)
{
    plain_piece room;

    return piece_is_simple(job_piece_at(w->job, w->samples[number].piece, &room));
}

static gufo_status run_round(work *w, uint64_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t begin = 0, end;

    for (; begin < count && status == GUFO_OK; begin = end) {
        uint64_t number = w->samples[begin].piece;
        bool simple = is_simple(w, begin);

        for (end = begin + 1; end < count; end++)
            if (simple ? !is_simple(w, end) : w->samples[end].piece != number)
                break;
        status = simple ? units_span(w, begin, end, error) : run_piece(w, begin, end, error);
    }
    return status;
}

static uint64_t bytes_of(const work *w, uint64_t count)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < count; i++) {
        plain_piece room;
        unit u = units_at(w, i, &room);

        bytes += cut_bytes(&u);
    }
    return bytes;
}

static gufo_status run_rounds(work *w, const job_sampler *sampler, gufo_error *error)
{
    gufo_status status;
    uint64_t count;

    w->take = sampler->take;
    w->take_context = sampler->context;
    w->total = 0;
    for (;;) {
        status = sampler->next(sampler->context, &w->samples, &count, error);
        if (status != GUFO_OK || count == 0)
            return status;
        w->total += bytes_of(w, count);
        status = run_round(w, count, error);
        if (status != GUFO_OK)
            return status;
    }
}

gufo_status job_measure_samples(gufo_job *job, const gufo_run *run, const job_sampler *sampler,
                                gufo_error *error)
{
    gufo_status status = job_check_run(run_of(run), error);
    work w;

    if (status == GUFO_OK && job->hooks.begin != NULL)
        status = job->hooks.begin(job->hooks.context, run_of(run), error);
    if (status == GUFO_OK)
        status = work_begin(&w, job, run_of(run), false, error);
    if (status != GUFO_OK)
        return status;
    status = run_rounds(&w, sampler, error);
    work_end(&w);
    return status == GUFO_OK ? job_check_inputs(job, error) : status;
}

/* Rows of a piece, without a run: models show what a job would write.
 *
 * Rows that only move are read from their sources; others are made as a run makes them, by a job of
 * this one piece. */

#define PEEK_MEMORY (UINT64_C(256) << 20)

/* Some rows of one slice, no more than a unit has. */
static gufo_status peek_unit(work *w, const unit *u, uint8_t *out, gufo_error *error)
{
    const piece *p = u->piece;
    gufo_status status = GUFO_OK;

    if (p->transpose) {
        w->band.capacity = u->rows * p->columns * cell_size(p); /* no more than is asked for */
        status = transpose_fill(w, 0, u->slice, u->row - u->slice * p->slice_rows, 1, error);
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
