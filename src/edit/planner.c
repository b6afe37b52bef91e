/* The beginning and the end of plans; planner.h has the idea. */
#include "edit/planner.h"

#include <inttypes.h>
#include <string.h>

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

static gufo_status planner_own(gufo_job *job, gufo_document *document, gufo_error *error)
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

/* Parts of a model: its metadata, or the part that a tokenizer needs, with some tensors or none. */

/* What describes the data of tensors, and nothing else: meaningless where none exists.  A key
 * that ends in a dot means all that begin with it. */
static const char *const about_data[] = {
    "general.file_type",
    "general.quantization_version",
    "quantize.imatrix.",
};

static bool stands_for(const char *pattern, gufo_str key)
{
    size_t len = strlen(pattern);

    if (pattern[len - 1] != '.')
        return gufo_str_equal(key, gufo_str_of(pattern));
    return key.len > len && memcmp(key.data, pattern, len) == 0;
}

static bool is_of_vocabulary(void *unused, gufo_str key)
{
    for (size_t i = 0; i < sizeof about_data / sizeof *about_data; i++)
        if (stands_for(about_data[i], key))
            return false;
    return gufo_key_is_of_model(unused, key);
}

static gufo_status strip(gufo_job *job, const gufo_strip_options *options, gufo_error *error)
{
    const gufo_model *input = planner_of(job)->input;
    gufo_select_fn *keeps_key = options->vocabulary_only ? is_of_vocabulary : gufo_key_is_of_model;
    gufo_document *document;
    gufo_status status = planner_document(job, &document, error);

    if (status == GUFO_OK)
        status = gufo_document_copy_entries(document, gufo_model_shard(input, 0), keeps_key, NULL,
                                            NULL, error);
    if (status != GUFO_OK || options->vocabulary_only || options->keeps_tensor == NULL)
        return status;
    return gufo_document_copy_tensors(document, input, options->keeps_tensor, options->context,
                                      NULL, error);
}

gufo_job *gufo_job_strip(const gufo_model *input, const gufo_strip_options *options,
                         gufo_error *error)
{
    static const gufo_strip_options standard = {0};
    gufo_job *job = NULL;

    options = options != NULL ? options : &standard;
    if (planner_check_input(input, error) == GUFO_OK &&
        reserved_check(options->reserved, "gufo_strip_options", error) == GUFO_OK)
        job = planner_begin(input, options->allocator, error);
    if (job != NULL)
        job = planner_end(job, strip(job, options, error), error);
    if (job != NULL) /* how data lay is of no interest where it is taken apart */
        job->normalised &= GUFO_NORMALISED_VERSION | GUFO_NORMALISED_METADATA;
    return job;
}

/* ---- the other byte order: metadata by the document, tensors block by block --------------------- */

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

/* A shard set into one file.
 *
 * Opening a set has checked numbers, counts, totals, version, byte order, alignment and names of
 * tensors already.  The remaining checks are whether it is a set at all, and whether its shards
 * were made together. */

/* A single file may be a shard that was renamed, or was never one. */
static gufo_status check_count(const gufo_model *input, gufo_error *error)
{
    size_t shards = gufo_model_shard_count(input);
    uint64_t count, number = 0;
    gufo_error reason;

    if (gufo_model_get_u64(gufo_model_shard(input, 0), GUFO_SPLIT_COUNT_KEY, &count, &reason) !=
        GUFO_OK)
        return refuse(error, GUFO_E_SHARDS, "not part of a set: %.200s", reason.message);
    if (count == 0) /* how llama-gguf-split marks what it merged */
        return refuse(error, GUFO_E_SHARDS,
                      "not part of a set: split.count is 0, so the file was merged already");
    (void)gufo_model_get_u64(gufo_model_shard(input, 0), GUFO_SPLIT_NO_KEY, &number, NULL);
    if (count != shards)
        return refuse(error, GUFO_E_SHARDS,
                      "this is shard %" PRIu64 " of %" PRIu64
                      "; to merge a set, name its first shard, NAME-00001-of-%05" PRIu64 ".gguf",
                      number + 1, count, count);
    return GUFO_OK;
}

static bool find_id(const gufo_model *file, uint64_t *id)
{
    return gufo_model_get_u64(file, GUFO_SPLIT_ID_KEY, id, NULL) == GUFO_OK;
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
                                            gufo_key_is_of_model, NULL, NULL, error);
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
