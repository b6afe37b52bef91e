/* The units of a part: which of a piece, and which pieces write to a target. */
#include "produce/units/work.h"

uint64_t cut_unit_of(const piece *p, uint64_t row)
{
    return p->first_unit + row / p->slice_rows * p->slice_units +
           row % p->slice_rows / p->unit_rows;
}

/* The bytes that a result has in its target: none where it has no target. */
static uint64_t made_bytes(const piece *p, const made *m)
{
    return p->units > 0 && m->target != NO_TARGET ? p->slices * p->slice_rows * m->row_bytes : 0;
}

const made *part_made(const piece *p, uint32_t target)
{
    for (uint32_t i = 0; i < p->n_made; i++)
        if (p->made[i].target == target && made_bytes(p, &p->made[i]) > 0)
            return &p->made[i];
    return NULL;
}

bool part_units(const job_part *part, const piece *p, uint64_t *begin, uint64_t *end)
{
    bool writes = false;

    *begin = UINT64_MAX;
    *end = 0;
    for (uint32_t i = 0; i < p->n_made; i++) {
        const made *m = &p->made[i];
        const uint64_t size = made_bytes(p, m);
        byte_range r = {0, 0};

        if (size > 0)
            r = part_clip(part, m->target, m->place, size);
        if (r.from < r.to) {
            *begin = smaller(*begin, cut_unit_of(p, (r.from - m->place) / m->row_bytes));
            *end = larger(*end, cut_unit_of(p, (r.to - 1 - m->place) / m->row_bytes) + 1);
        }
        writes = writes || size > 0;
    }
    if (!writes) {
        *begin = larger(p->first_unit, part->border);
        *end = smaller(p->first_unit + p->units, part->next_border);
    }
    return *begin < *end;
}

uint64_t part_next_piece(const gufo_job *job, uint32_t target, uint64_t from, uint64_t end)
{
    plain_piece room;

    while (from < end && part_made(job_piece_at(job, from, &room), target) == NULL)
        from++;
    return from;
}
