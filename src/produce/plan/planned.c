/* The end of a plan: what can only be known then. */
#include "base/error.h"
#include "base/memory.h"
#include "produce/units/work.h"

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
