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

gufo_job *job_planned(gufo_job *job, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK)
        status = check_hooks(job, error);
    if (status == GUFO_OK)
        status = inputs_complete(job, error);
    if (status == GUFO_OK) {
        job->temporaries =
            mem_zero(&job->allocator, ((size_t)job->target_count + 1) * sizeof *job->temporaries);
        job->results =
            mem_zero(&job->allocator, (size_t)job->piece_count * job->hooks.result_size + 1);
        if (job->temporaries == NULL || job->results == NULL)
            status = fail_memory(error);
    }
    if (status == GUFO_OK)
        return job;
    gufo_job_free(job);
    return NULL;
}
