/* The end of a plan: what can only be known then. */
#include "base/error.h"
#include "base/memory.h"
#include "produce/units/work.h"

static bool needs_importance(const made *m)
{
    return m->weighs || m->weighted;
}

/* Whether there is a hook for all that pieces want. */
static gufo_status check_hooks(const gufo_job *job, gufo_error *error)
{
    const job_hooks *hooks = &job->hooks;
    bool complete = hooks->result_size <= JOB_RESULT_SIZE;

    for (uint64_t i = 0; i < job->piece_count; i++)
        for (uint32_t k = 0; k < job->pieces[i].n_made; k++)
            complete = complete &&
                       (!needs_importance(&job->pieces[i].made[k]) || hooks->importance != NULL) &&
                       (!job->pieces[i].made[k].measure || hooks->measure != NULL);
    return complete ? GUFO_OK
                    : refuse(error, GUFO_E_ARGUMENT,
                             "the plan has no hook that a tensor needs, or one with too large "
                             "a result");
}

/* What depends on the pieces, which are all there. */
static gufo_status complete_pieces(gufo_job *job, gufo_error *error)
{
    gufo_status status = check_hooks(job, error);

    if (status != GUFO_OK)
        return status;
    job->results = mem_array(&job->allocator, job->piece_count, job->hooks.result_size);
    return job->results != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status job_add_counted(gufo_job *job, gufo_error *error)
{
    gufo_status (*const add_pieces)(void *context, gufo_error *error) = job->add_pieces;
    gufo_status status;

    if (add_pieces == NULL)
        return GUFO_OK;
    job->add_pieces = NULL;
    job->unit_count = job->total = 0;
    status = job_reserve_pieces(job, job->counted, error);
    if (status == GUFO_OK)
        status = add_pieces(job->hooks.context, error);
    if (status == GUFO_OK)
        status = complete_pieces(job, error);
    job->used = status != GUFO_OK; /* some of its pieces are missing */
    return status;
}

gufo_job *job_planned(gufo_job *job, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK && job->add_pieces == NULL)
        status = complete_pieces(job, error);
    if (status == GUFO_OK)
        status = inputs_complete(job, error);
    if (status == GUFO_OK) {
        job->temporaries =
            mem_zero(&job->allocator, ((size_t)job->target_count + 1) * sizeof *job->temporaries);
        if (job->temporaries == NULL)
            status = fail_memory(error);
    }
    if (status == GUFO_OK)
        return job;
    gufo_job_free(job);
    return NULL;
}
