/* All units of a job, in spans between which targets begin and end: a target is opened when
 * something is written to it, and closed when it is complete. */
#include "produce/run/targets.h"
#include "produce/units/work.h"

static gufo_status close_target(targets *t, uint32_t index, gufo_error *error)
{
    gufo_status status = targets_open(t, index, error);

    return status == GUFO_OK ? targets_close(t, index, error) : status;
}

/* Opens the targets that piece `number` begins, or that it is in the middle of. */
static gufo_status open_targets(targets *t, uint64_t number, gufo_error *error)
{
    const piece *p = &t->job->pieces[number];
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (p->made[i].target != NO_TARGET)
            status = targets_open(t, p->made[i].target, error);
    return status;
}

static gufo_status close_targets(targets *t, uint64_t number, gufo_error *error)
{
    const piece *p = &t->job->pieces[number];
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++)
        if (p->made[i].target != NO_TARGET &&
            t->job->targets[p->made[i].target].last_piece == number)
            status = targets_close(t, p->made[i].target, error);
    return status;
}

/* Whether the piece is the first one of a target, or, without `first`, the last one. */
static bool bounds_target(const gufo_job *job, uint64_t number, bool first)
{
    const piece *p = &job->pieces[number];

    for (uint32_t i = 0; i < p->n_made; i++) {
        const job_target *target =
            p->made[i].target != NO_TARGET ? &job->targets[p->made[i].target] : NULL;

        if (target != NULL && (first ? target->first_piece : target->last_piece) == number)
            return true;
    }
    return false;
}

gufo_status spans_run(targets *t, struct work *w, uint64_t from, gufo_error *error)
{
    const gufo_job *job = t->job;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0, next; i < job->piece_count && status == GUFO_OK; i = next) {
        uint64_t begin = job->pieces[i].first_unit, end;

        next = i + 1;
        while (next < job->piece_count && !bounds_target(job, next - 1, false) &&
               !bounds_target(job, next, true))
            next++;
        end = job->pieces[next - 1].first_unit + job->pieces[next - 1].units;
        status = open_targets(t, i, error);
        if (status == GUFO_OK && end > from)
            status = units_run(w, begin > from ? begin : from, end, error);
        if (status == GUFO_OK)
            status = close_targets(t, next - 1, error);
    }
    /* Files that consist of a header. */
    for (uint32_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        if (!job->targets[i].has_pieces)
            status = close_target(t, i, error);
    return status;
}
