/* The end of a plan: what can only be known then; and the end of a job. */
#include "base/error.h"
#include "base/memory.h"
#include "produce/units/work.h"

void gufo_job_free(gufo_job *job)
{
    gufo_allocator a;

    if (job == NULL)
        return;
    a = job->allocator;
    for (uint64_t i = 0; i < job->piece_count; i++)
        if (job->pieces[i].whole != NULL)
            piece_free(&a, job->pieces[i].whole);
    given_free(job->given);
    if (job->planner_free != NULL)
        job->planner_free(job->planner);
    mem_free(&a, (void *)job->temporaries);
    mem_free(&a, job->results);
    mem_free(&a, job->pieces);
    mem_free(&a, job->targets);
    mem_free(&a, job->inputs);
    mem_free(&a, job);
}

gufo_job *job_planned(gufo_job *job, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK && job->add_pieces == NULL)
        status = job_complete_pieces(job, error);
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
