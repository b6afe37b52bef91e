/* All units of a job, in spans between which targets begin and end: a target is opened when
 * something is written to it, and closed when it is complete. */
#include "produce/run/run.h"
#include "produce/units/work.h"

/* Opens the targets that piece `number` begins, or that it is in the middle of; or closes those that
 * it ends. */
static gufo_status change_targets(targets *t, uint64_t number, bool open, gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(t->job, number, &room);
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < p->n_made && status == GUFO_OK; i++) {
        uint32_t index = p->made[i].target;

        if (index == NO_TARGET)
            continue;
        if (open)
            status = targets_open(t, index, error);
        else if (t->job->targets[index].last_piece == number)
            status = targets_close(t, index, error);
    }
    return status;
}

/* Whether the piece is the first one of a target, or, without `first`, the last one. */
static bool bounds_target(const gufo_job *job, uint64_t number, bool first)
{
    plain_piece room;
    const piece *p = job_piece_at(job, number, &room);

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

    w->files = t->fds;
    w->paths = t->paths;
    for (uint64_t i = 0, next; i < job->piece_count && status == GUFO_OK; i = next) {
        uint64_t begin = job->pieces[i].first_unit, end;

        next = i + 1;
        while (next < job->piece_count && !bounds_target(job, next - 1, false) &&
               !bounds_target(job, next, true))
            next++;
        end = next < job->piece_count ? job->pieces[next].first_unit : job->unit_count;
        status = change_targets(t, i, true, error);
        if (status == GUFO_OK && end > from)
            status = units_run(w, begin > from ? begin : from, end, error);
        if (status == GUFO_OK)
            status = change_targets(t, next - 1, false, error);
    }
    /* Files that consist of a header. */
    for (uint32_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        if (!job->targets[i].has_pieces) {
            status = targets_open(t, i, error);
            if (status == GUFO_OK)
                status = targets_close(t, i, error);
        }
    return status;
}

/* Nothing gets its name before the inputs are known to be as they were. */
gufo_status spans_finish(targets *t, struct work *w, gufo_error *error)
{
    gufo_status status = spans_run(t, w, 0, error);

    if (status == GUFO_OK)
        status = job_check_inputs(t->job, error);
    return status == GUFO_OK ? targets_commit(t, false, error) : status;
}
