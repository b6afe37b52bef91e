/* Jobs: making them, and the files that planners give them; pieces.c has the rest. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/interleaved.h"
#include "produce/units/work.h"

#define JOB_MEMORY (UINT64_C(24) << 20) /* for buffers, by default */

gufo_job *job_new(const gufo_allocator *allocator, gufo_error *error)
{
    gufo_job *job = mem_object(allocator, sizeof *job, error);

    if (job != NULL)
        job->memory = JOB_MEMORY;
    return job;
}

/* ---- lists ---------------------------------------------------------------------------------- */

gufo_status job_add_input(gufo_job *job, const job_input *input, uint32_t *number,
                          gufo_error *error)
{
    job_input *list =
        mem_grow(&job->allocator, job->inputs, job->input_count, &job->input_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    job->inputs = list;
    *number = (uint32_t)job->input_count;
    list[job->input_count++] = *input;
    return GUFO_OK;
}

gufo_status job_add_target(gufo_job *job, const job_target *target, uint32_t *number,
                           gufo_error *error)
{
    job_target *list =
        mem_grow(&job->allocator, job->targets, job->target_count, &job->target_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    job->targets = list;
    *number = (uint32_t)job->target_count;
    list[job->target_count] = *target;
    list[job->target_count++].has_pieces = false;
    return GUFO_OK;
}
