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

        status = transpose_fill(w, first.number, first.slice, in_slice, error);
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
