/* All units, in order, on all threads.
 *
 * Most pieces are simple: their units are one long list for all threads.  Pieces with tables beside
 * them are worked on together as long as the tables fit into memory, and one that is transposed
 * alone, because these take memory that all threads share:
 *
 *     units   | simple pieces ........ | tables, simple, tables | band | band | simple ........ |
 */
#include "base/checked.h"

#include "base/sort.h"
#include "base/threads.h"
#include "produce/units/work.h"

/* ---- from the number of a unit to its piece and rows -------------------------------------------- */

/* The last piece that begins at or before it is not empty. */
uint64_t cut_piece_of(const gufo_job *job, uint64_t number)
{
    return last_begun(&job->pieces->first_unit, sizeof *job->pieces, job->piece_count, number);
}

unit cut_find(const gufo_job *job, uint64_t number, plain_piece *room)
{
    unit u = {.number = cut_piece_of(job, number)};
    const piece *p = job_piece_at(job, u.number, room);
    uint64_t row;

    u.piece = p;
    number -= p->first_unit;
    u.slice = number / p->slice_units;
    row = number % p->slice_units * p->unit_rows;
    u.row = u.slice * p->slice_rows + row;
    u.rows = smaller(p->unit_rows, p->slice_rows - row);
    return u;
}

uint64_t cut_row(const piece *p, uint64_t number)
{
    const uint64_t at = number - p->first_unit, slice = at / p->slice_units;

    return slice * p->slice_rows + at % p->slice_units * p->unit_rows;
}

uint64_t cut_span_bytes(const piece *p, uint64_t begin, uint64_t end)
{
    const unit all = {.piece = p,
                      .row = begin < end ? cut_row(p, begin) : 0,
                      .rows = begin < end ? cut_row(p, end) - cut_row(p, begin) : 0};

    return begin < end ? cut_bytes(&all) : 0;
}

/* A sample is a unit of any rows. */
static unit unit_of(const work *w, const job_sample *s, plain_piece *room)
{
    const piece *p = job_piece_at(w->job, s->piece, room);

    return (unit){.piece = p,
                  .number = s->piece,
                  .slice = s->row / p->slice_rows,
                  .row = s->row,
                  .rows = s->count,
                  .skipped = s->skipped};
}

unit units_at(const work *w, uint64_t number, plain_piece *room)
{
    return w->samples != NULL ? unit_of(w, &w->samples[number], room)
                              : cut_find(w->job, number, room);
}

static gufo_status do_unit(void *context, unsigned thread, uint64_t number, void *result,
                           gufo_error *error)
{
    work *w = context;
    worker *t = &w->workers[thread];
    plain_piece room;
    unit u = units_at(w, number, &room);
    gufo_status status;

    if (u.piece->how == PIECE_MOVE)
        return move_unit(w, t, &u, error);
    status = make_unit(w, t, &u, result, error);
    return status == GUFO_OK ? make_write(w, t, &u, error) : status;
}

static gufo_status take_unit(void *context, uint64_t number, const void *result, gufo_error *error)
{
    work *w = context;
    plain_piece room;
    unit u = units_at(w, number, &room);
    gufo_status status = GUFO_OK;

    if (w->take != NULL)
        status = w->take(w->take_context, number, result, error);
    else
        job_add_result(w->job, u.number, result);
    if (w->note != NULL && status == GUFO_OK)
        status = w->note(w->note_context, number, u.number, result, error);
    return status == GUFO_OK ? work_advance(w, cut_bytes(&u), error) : status;
}

gufo_status units_span(work *w, uint64_t begin, uint64_t end, gufo_error *error)
{
    parallel_loop loop = {.begin = begin,
                          .end = end,
                          .threads = w->threads,
                          .result_size = w->job->hooks.result_size,
                          .context = w,
                          .work = do_unit,
                          .hand_over = take_unit};

    if (w->run_span != NULL)
        return w->run_span(w->span_context, begin, end, error);
    return parallel_run(&loop, &w->allocator, error);
}

/* Units of one transposed piece, band by band. */
static gufo_status run_bands(work *w, uint64_t number, uint64_t begin, uint64_t end,
                             gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(w->job, number, &room);
    gufo_status status = GUFO_OK;

    while (begin < end && status == GUFO_OK) {
        uint64_t at = begin - p->first_unit, slice = at / p->slice_units;
        uint64_t units;

        status = transpose_fill(w, number, slice, at % p->slice_units * p->unit_rows, end - begin,
                                error);
        if (status != GUFO_OK)
            return status;
        units = smaller(divide_up(w->band.count, p->unit_rows), end - begin);
        status = units_span(w, begin, begin + units, error);
        begin += units;
    }
    return status;
}

/* Whether a piece is worked on with those before it, whose tables take *bytes: what readers keep
 * serves one piece at a time. */
static bool joins(const work *w, const piece *p, uint64_t *bytes)
{
    uint64_t more;

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].memory > 0)
            return false;
    if (p->transpose || side_measure(p, &more, NULL) != GUFO_OK)
        return false;
    return checked_add(*bytes, more, bytes) && *bytes <= w->sides.capacity;
}

/* How many pieces from `number` on are worked on together. */
static uint64_t together(const work *w, uint64_t number, uint64_t end)
{
    const gufo_job *job = w->job;
    uint64_t most = smaller(job->piece_count - number, SIDE_PIECES), count = 0, bytes = 0;

    for (plain_piece room; count < most && job->pieces[number + count].first_unit < end; count++)
        if (!joins(w, job_piece_at(job, number + count, &room), &bytes))
            break;
    return larger(count, 1);
}

/* Units of `count` pieces from `number` on. */
static gufo_status run_pieces(work *w, uint64_t number, uint64_t count, uint64_t begin,
                              uint64_t end, gufo_error *error)
{
    plain_piece room;
    gufo_status status = side_load(w, number, count, error);

    if (status == GUFO_OK)
        status = job_piece_at(w->job, number, &room)->transpose
                     ? run_bands(w, number, begin, end, error)
                     : units_span(w, begin, end, error);
    side_free(w);
    return status;
}

/* The end of the simple pieces from the one of unit `begin` on. */
static uint64_t simple_end(const gufo_job *job, uint64_t number, uint64_t end)
{
    plain_piece room;

    while (number < job->piece_count && piece_is_simple(job_piece_at(job, number, &room)) &&
           job->pieces[number].first_unit < end)
        number++;
    return number < job->piece_count ? smaller(job->pieces[number].first_unit, end) : end;
}

gufo_status units_run(work *w, uint64_t begin, uint64_t end, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    plain_piece room;

    while (begin < end && status == GUFO_OK) {
        uint64_t number = cut_piece_of(w->job, begin), stop;

        if (piece_is_simple(job_piece_at(w->job, number, &room))) {
            stop = simple_end(w->job, number, end);
            status = units_span(w, begin, stop, error);
        } else {
            uint64_t count = together(w, number, end);
            const piece *last = job_piece_at(w->job, number + count - 1, &room);

            stop = smaller(last->first_unit + last->units, end);
            status = run_pieces(w, number, count, begin, stop, error);
        }
        begin = stop;
    }
    return status;
}
