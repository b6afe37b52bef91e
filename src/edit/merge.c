/* A shard set into one file.
 *
 * Opening a set has checked numbers, counts, totals, version, byte order, alignment and names of
 * tensors already.  The remaining checks are whether it is a set at all, and whether its shards
 * were made together. */
#include <inttypes.h>

#include "base/error.h"
#include "edit/planner.h"
#include "format/model/model.h"

/* A single file may be a shard that was renamed, or was never one. */
static gufo_status check_count(const gufo_model *input, gufo_error *error)
{
    size_t shards = gufo_model_shard_count(input);
    uint64_t count, number = 0;
    gufo_error reason;

    if (gufo_get_u64(gufo_model_shard(input, 0), GUFO_SPLIT_COUNT_KEY, &count, &reason) != GUFO_OK)
        return refuse(error, GUFO_E_SHARDS, "not part of a set: %.200s", reason.message);
    if (count == 0) /* how llama-gguf-split marks what it merged */
        return refuse(error, GUFO_E_SHARDS,
                      "not part of a set: split.count is 0, so the file was merged already");
    (void)gufo_get_u64(gufo_model_shard(input, 0), GUFO_SPLIT_NO_KEY, &number, NULL);
    if (count != shards)
        return refuse(error, GUFO_E_SHARDS,
                      "this is shard %" PRIu64 " of %" PRIu64
                      "; to merge a set, name its first shard, NAME-00001-of-%05" PRIu64 ".gguf",
                      number + 1, count, count);
    return GUFO_OK;
}

static bool find_id(const gufo_model *file, uint64_t *id)
{
    return gufo_get_u64(file, GUFO_SPLIT_ID_KEY, id, NULL) == GUFO_OK;
}

static gufo_status check_ids(const gufo_model *input, gufo_error *error)
{
    uint64_t first = 0, own = 0;
    bool expected = find_id(gufo_model_shard(input, 0), &first);

    for (size_t i = 1; i < gufo_model_shard_count(input); i++) {
        bool found = find_id(gufo_model_shard(input, i), &own);

        if (found != expected || (found && own != first)) {
            gufo_status status = refuse(error, GUFO_E_SHARDS,
                                        "shard %zu is of another set: its gufo.split.id differs "
                                        "from that of the first",
                                        i + 1);
            return model_fail(gufo_model_shard(input, i), status, error);
        }
    }
    return GUFO_OK;
}

static gufo_status merge(gufo_job *job, const gufo_model *input, gufo_error *error)
{
    gufo_document *document;
    gufo_status status = planner_document(job, &document, error);

    if (status == GUFO_OK)
        status = gufo_document_copy_entries(document, gufo_model_shard(input, 0),
                                            document_is_model_key, NULL, NULL, error);
    if (status == GUFO_OK)
        status = gufo_document_copy_tensors(document, input, NULL, NULL, NULL, error);
    return status;
}

gufo_job *gufo_job_merge(const gufo_model *input, const gufo_merge_options *options,
                         gufo_error *error)
{
    static const gufo_merge_options standard = {0};
    gufo_job *job = NULL;
    gufo_status status;

    options = options != NULL ? options : &standard;
    status = reserved_check(options->reserved, "gufo_merge_options", error);
    if (status == GUFO_OK)
        status = planner_check_input(input, error);
    if (status == GUFO_OK)
        status = model_fail(input, check_count(input, error), error);
    if (status == GUFO_OK)
        status = check_ids(input, error);
    if (status == GUFO_OK)
        job = planner_begin(input, options->allocator, error);
    return job != NULL ? planner_end(job, merge(job, input, error), error) : NULL;
}
