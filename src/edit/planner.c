/* The beginning and the end of plans; planner.h has the idea. */
#include "edit/planner.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/model/model.h"

static void free_planner(void *context)
{
    planner *p = context;
    gufo_allocator allocator = p->allocator;

    for (uint64_t i = 0; i < p->documents.count; i++)
        gufo_document_free(planner_document_at(p, i));
    records_free(&p->documents, &allocator);
    mem_free(&allocator, p->header);
    mem_free(&allocator, p);
}

static gufo_status fill(gufo_job *job, const gufo_model *input, gufo_error *error)
{
    planner *p = mem_zero(&job->allocator, sizeof *p);

    if (p == NULL)
        return fail_memory(error);
    p->allocator = job->allocator;
    p->input = input;
    p->documents.size = sizeof(gufo_document *);
    job->planner = p;
    job->planner_free = free_planner;
    return job_add_shards(job, input, error);
}

gufo_job *planner_begin_any(const gufo_model *input, const gufo_allocator *allocator,
                            gufo_error *error)
{
    gufo_job *job = job_new(allocator, error);

    if (job == NULL || fill(job, input, error) == GUFO_OK)
        return job;
    gufo_job_free(job);
    return NULL;
}

gufo_job *planner_begin(const gufo_model *input, const gufo_allocator *allocator, gufo_error *error)
{
    return model_need_files(input, "bytes to copy", error) == GUFO_OK
               ? planner_begin_any(input, allocator, error)
               : NULL;
}

/* ---- documents ------------------------------------------------------------------------------ */

gufo_status planner_own(gufo_job *job, gufo_document *document, gufo_error *error)
{
    planner *p = planner_of(job);
    gufo_document **place = records_add(&p->documents, &p->allocator);

    if (place == NULL) {
        gufo_document_free(document);
        return fail_memory(error);
    }
    *place = document;
    return GUFO_OK;
}

gufo_status planner_document(gufo_job *job, gufo_document **out, gufo_error *error)
{
    gufo_facts facts = gufo_model_facts(gufo_model_shard(planner_of(job)->input, 0));
    gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ, .allocator = &job->allocator};
    gufo_error reason = {0};
    gufo_status status;

    *out = gufo_document_new(&options, &reason);
    if (*out == NULL)
        return fail_as(error, &reason);
    status = planner_own(job, *out, error);
    if (status != GUFO_OK)
        return status;
    return gufo_document_set_encoding(*out, facts.version == 2 ? 2 : 3, facts.byte_order, error);
}

/* ---- the input, and the end ----------------------------------------------------------------- */

gufo_status planner_check_input(const gufo_model *input, gufo_error *error)
{
    return input != NULL ? GUFO_OK : refuse(error, GUFO_E_ARGUMENT, "the model is missing");
}

gufo_job *planner_end(gufo_job *job, gufo_status status, gufo_error *error)
{
    planner *p = planner_of(job);

    for (uint64_t i = 0; i < p->documents.count && status == GUFO_OK; i++)
        status = job_add_document(job, planner_document_at(p, i), error);
    if (status == GUFO_OK)
        status = planner_note_normalised(job, error);
    return job_planned(job, model_fail(p->input, status, error), error);
}
