/* The units of a part, in spans between which targets begin and end. */
#include "produce/parts/parts.h"

typedef struct spans {
    targets *targets;
    work *work;
    const job_part *part;
    uint64_t from;
} spans;

/* Units of some pieces that follow each other. */
typedef struct span {
    uint64_t piece, last; /* pieces */
    uint64_t begin, end;  /* units */
} span;

/* The units that are made of a piece now. */
static bool units_of(const spans *s, const piece *p, uint64_t *begin, uint64_t *end)
{
    if (!part_units(s->part, p, begin, end))
        return false;
    *begin = larger(*begin, s->from);
    return *begin < *end;
}

/* Whether the part has nothing of a target behind a piece. */
static bool ends_target(const spans *s, const piece *p, uint64_t number, const made *m)
{
    const uint64_t end = m->place + p->slices * p->slice_rows * m->row_bytes;

    return s->targets->job->targets[m->target].last_piece == number ||
           end >= s->part->bytes[m->target - s->part->first_target].to;
}

/* Whether a span ends with a piece: it is the last one of a target in the part. */
static bool ends_any(const spans *s, const piece *p, uint64_t number)
{
    for (uint32_t i = 0; i < p->n_made; i++)
        if (part_touches(s->part, p->made[i].target) && ends_target(s, p, number, &p->made[i]))
            return true;
    return false;
}

/* Whether a piece needs a target that is not open. */
static bool begins_any(const spans *s, const piece *p)
{
    for (uint32_t i = 0; i < p->n_made; i++)
        if (part_touches(s->part, p->made[i].target) && s->targets->fds[p->made[i].target] < 0)
            return true;
    return false;
}

static gufo_status open_all(const spans *s, uint64_t number, gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(s->targets->job, number, &room);
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (part_touches(s->part, p->made[i].target))
            status = targets_open(s->targets, p->made[i].target, error);
    return status;
}

static gufo_status close_ended(const spans *s, uint64_t number, gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(s->targets->job, number, &room);
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (part_touches(s->part, p->made[i].target) && ends_target(s, p, number, &p->made[i]))
            status = targets_close(s->targets, p->made[i].target, error);
    return status;
}

/* Lengthens a span, whose targets are open, by the pieces that need no others, and whose units follow. */
static void lengthen(const spans *s, span *now)
{
    const gufo_job *job = s->targets->job;
    plain_piece room;

    while (now->last + 1 < job->piece_count && now->end < s->part->end_unit &&
           !ends_any(s, job_piece_at(job, now->last, &room), now->last)) {
        const piece *p = job_piece_at(job, now->last + 1, &room);
        uint64_t begin, end;

        if (p->units > 0 &&
            (!units_of(s, p, &begin, &end) || begin != now->end || begins_any(s, p)))
            return;
        now->last++;
        now->end = p->units > 0 ? end : now->end;
    }
}

/* Makes a span that begins with piece `number`; *last is the piece that ends it. */
static gufo_status run_span(spans *s, uint64_t number, uint64_t *last, gufo_error *error)
{
    span now = {.piece = number, .last = number};
    plain_piece room;
    gufo_status status = GUFO_OK;

    if (units_of(s, job_piece_at(s->targets->job, number, &room), &now.begin, &now.end)) {
        status = open_all(s, number, error);
        if (status == GUFO_OK) {
            lengthen(s, &now);
            status = units_run(s->work, now.begin, now.end, error);
        }
        if (status == GUFO_OK)
            status = close_ended(s, now.last, error);
    }
    *last = now.last;
    return status;
}

/* Targets whose next piece is of another part, and those that no unit writes to. */
static gufo_status close_rest(const spans *s, gufo_error *error)
{
    const gufo_job *job = s->targets->job;
    gufo_status status = GUFO_OK;

    for (uint32_t i = s->part->first_target; i < s->part->end_target && status == GUFO_OK; i++) {
        const job_target *target = &job->targets[i];
        const uint64_t end = target_end(target);

        if (s->targets->fds[i] < 0 && part_touches(s->part, i) &&
            part_next_piece(job, i, target->first_piece, end) == end)
            status = targets_open(s->targets, i, error);
        if (status == GUFO_OK)
            status = targets_close(s->targets, i, error);
    }
    return status;
}

/* The bytes that an earlier run has read of the part. */
static uint64_t bytes_before(const spans *s)
{
    const gufo_job *job = s->targets->job;
    uint64_t bytes = 0, i = cut_piece_of(job, s->part->first_unit);

    for (; i < job->piece_count && job->pieces[i].first_unit < smaller(s->from, s->part->end_unit);
         i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);
        uint64_t begin, end;

        if (part_units(s->part, p, &begin, &end))
            bytes += cut_span_bytes(p, begin, smaller(end, s->from));
    }
    return bytes;
}

gufo_status spans_run_part(targets *t, work *w, const job_part *part, uint64_t from,
                           gufo_error *error)
{
    const gufo_job *job = t->job;
    spans s = {t, w, part, larger(from, part->first_unit)};
    gufo_status status = GUFO_OK;
    uint64_t i = s.from < part->end_unit ? cut_piece_of(job, s.from) : job->piece_count, last;

    w->files = t->fds;
    w->paths = t->paths;
    w->part = part;
    w->total = part->total;
    w->done = bytes_before(&s);
    for (; i < job->piece_count && job->pieces[i].first_unit < part->end_unit && status == GUFO_OK;
         i = last + 1)
        status = run_span(&s, i, &last, error);
    return status == GUFO_OK ? close_rest(&s, error) : status;
}
