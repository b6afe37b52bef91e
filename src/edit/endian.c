/* The other byte order: metadata by the document, tensors block by block. */
#include "base/error.h"
#include "edit/planner.h"
#include "format/model/model.h"

/* A shard, with all that it says. */
static gufo_status swap_shard(gufo_job *job, const gufo_model *shard, gufo_byte_order order,
                              gufo_error *error)
{
    gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ, .allocator = &job->allocator};
    gufo_error reason = {0};
    gufo_document *document = gufo_document_from(shard, &options, &reason);
    gufo_status status;

    if (document == NULL)
        return fail_as(error, &reason);
    status = planner_own(job, document, error);
    return status == GUFO_OK ? gufo_document_set_encoding(document, 3, order, error) : status;
}

static gufo_status check(const gufo_model *input, const gufo_endian_options *options,
                         gufo_error *error)
{
    gufo_status status = planner_check_input(input, error);

    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_endian_options", error);
    if (status != GUFO_OK)
        return status;
    if (options->order != GUFO_LITTLE_ENDIAN && options->order != GUFO_BIG_ENDIAN)
        return refuse(error, GUFO_E_ARGUMENT, "byte order %d does not exist", (int)options->order);
    if (gufo_model_facts(gufo_model_shard(input, 0)).byte_order == options->order)
        status = refuse(error, GUFO_E_ARGUMENT, "the model is %s-endian already",
                        options->order == GUFO_BIG_ENDIAN ? "big" : "little");
    return model_fail(input, status, error);
}

gufo_job *gufo_job_endian(const gufo_model *input, const gufo_endian_options *options,
                          gufo_error *error)
{
    static const gufo_endian_options standard = {0};
    size_t shards = input != NULL ? gufo_model_shard_count(input) : 0;
    gufo_status status;
    gufo_job *job = NULL;

    options = options != NULL ? options : &standard;
    status = check(input, options, error);
    if (status == GUFO_OK)
        job = planner_begin(input, options->allocator, error);
    if (job == NULL)
        return NULL;
    job->naming = shards > 1 ? JOB_NAMED_SET : JOB_NAMED_FILE;
    planner_of(job)->keeps_keys = true;
    for (size_t i = 0; i < shards && status == GUFO_OK; i++)
        status = swap_shard(job, gufo_model_shard(input, i), options->order, error);
    return planner_end(job, status, error);
}
