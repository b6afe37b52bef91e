/* From the number of a unit to its piece and rows. */
#include "base/checked.h"
#include "base/sort.h"
#include "produce/units/work.h"

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
