/* One model into several files.
 *
 * Tensors keep their order; a shard takes the next one as long as its file stays within the limit.
 * The size of a file is known without writing it:
 *
 *     header and keys | info | info | ... | padding | data | padding | data | padding
 *     fixed             grows with names     to the alignment of the model */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "edit/planner.h"
#include "format/model/model.h"

/* A split that is being planned. */
typedef struct split {
    gufo_job *job;
    const gufo_split_options *options;
    uint64_t alignment;
    uint64_t base[2];              /* header and keys of the first shard, and of any other */
    uint64_t infos, data, tensors; /* of the shard that is being filled */
    records shards;                /* of uint64_t: the tensors of each */
    uint64_t id;
} split;

/* ---- documents ------------------------------------------------------------------------------ */

static bool is_alignment(void *unused, gufo_str key)
{
    (void)unused;
    return gufo_str_equal(key, gufo_str_of(GUFO_ALIGNMENT_KEY));
}

/* The first shard gets all metadata; readers look for the alignment in every one. */
static gufo_status new_shard(const split *s, bool first, gufo_document **out, gufo_error *error)
{
    const gufo_model *from = gufo_model_shard(planner_of(s->job)->input, 0);
    gufo_status status = planner_document(s->job, out, error);

    return status == GUFO_OK
               ? gufo_document_copy_entries(*out, from, first ? gufo_key_is_of_model : is_alignment,
                                            NULL, NULL, error)
               : status;
}

/* Takes back the document that was made last: it was only measured. */
static void drop_document(const split *s)
{
    planner *p = planner_of(s->job);

    p->documents.count--;
    gufo_document_free(planner_document_at(p, p->documents.count));
}

/* Makes the number that is the same for every shard of a split, and differs between models: a hash
 * of header, metadata and tensor infos, as they would be in one file. */
static gufo_status make_id(split *s, gufo_error *error)
{
    gufo_document *whole;
    const void *bytes;
    size_t size;
    gufo_status status = new_shard(s, true, &whole, error);

    if (status == GUFO_OK)
        status =
            gufo_document_copy_tensors(whole, planner_of(s->job)->input, NULL, NULL, NULL, error);
    if (status == GUFO_OK)
        status = gufo_document_layout(whole, NULL, NULL, error);
    if (status == GUFO_OK)
        status = gufo_document_header(whole, &bytes, &size, error);
    if (status != GUFO_OK)
        return status;
    s->id = hash_text((hash_key){0, 0}, (gufo_str){bytes, size});
    drop_document(s);
    return GUFO_OK;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Bytes of a shard without tensors, before padding: which shard of how many does not matter. */
static gufo_status measure_base(split *s, size_t index, gufo_error *error)
{
    gufo_document *empty;
    gufo_status status = new_shard(s, index == 0, &empty, error);

    if (status == GUFO_OK)
        status = gufo_document_set_shard(empty, 0, 1, 0, s->id, error);
    if (status != GUFO_OK)
        return status;
    s->base[index] = gufo_document_metadata_size(empty);
    drop_document(s);
    return GUFO_OK;
}

/* Whether the shard may take a tensor.  All but the first shard begin with one that was not asked
 * about. */
static bool has_room(const split *s, const gufo_tensor *tensor)
{
    const gufo_split_options *o = s->options;
    uint64_t size =
        s->base[s->shards.count > 0] + s->infos + document_info_size(tensor->name, tensor->n_dims);
    uint64_t data;

    if (o->max_tensors > 0 && s->tensors >= o->max_tensors)
        return false;
    if (o->max_size == 0)
        return true;
    return checked_align(tensor->size, s->alignment, &data) && checked_add(data, s->data, &data) &&
           checked_align(size, s->alignment, &size) && checked_add(size, data, &size) &&
           size <= o->max_size;
}

static void put(split *s, const gufo_tensor *tensor)
{
    uint64_t data = 0;

    (void)checked_align(tensor->size, s->alignment, &data);
    s->infos += document_info_size(tensor->name, tensor->n_dims);
    s->data += data;
    s->tensors++;
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Ends the shard that was filled. */
static gufo_status end_shard(split *s, gufo_error *error)
{
    uint64_t *tensors;

    if (s->shards.count == GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_LIMIT, "more than %s shards would be needed",
                      GROUPED(GUFO_MAX_SHARDS));
    tensors = records_add(&s->shards, &s->job->allocator);
    if (tensors == NULL)
        return fail_memory(error);
    *tensors = s->tensors;
    s->infos = s->data = s->tensors = 0;
    return GUFO_OK;
}

static gufo_status distribute(split *s, gufo_error *error)
{
    const gufo_model *input = planner_of(s->job)->input;
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    for (uint64_t i = 0; status == GUFO_OK && gufo_model_tensor_at(input, i, &tensor); i++) {
        if ((i == 0 && s->options->metadata_alone) || !has_room(s, &tensor))
            status = end_shard(s, error);
        put(s, &tensor);
    }
    return status == GUFO_OK ? end_shard(s, error) : status;
}

static uint64_t tensors_of(const split *s, size_t index)
{
    return *(const uint64_t *)records_at(&s->shards, index);
}

/* A shard with tensors from `first` on. */
static gufo_status make_shard(const split *s, size_t index, uint64_t first, gufo_error *error)
{
    const gufo_model *input = planner_of(s->job)->input;
    gufo_document *document;
    gufo_status status = new_shard(s, index == 0, &document, error);

    if (status == GUFO_OK)
        status = gufo_document_set_shard(document, index, s->shards.count,
                                         gufo_model_tensor_count(input), s->id, error);
    for (uint64_t i = 0; i < tensors_of(s, index) && status == GUFO_OK; i++)
        status = gufo_document_copy_tensor(document, input, first + i, error);
    return status;
}

static gufo_status plan(split *s, gufo_error *error)
{
    gufo_status status = make_id(s, error);
    uint64_t first = 0;

    for (size_t i = 0; i < 2 && status == GUFO_OK; i++)
        status = measure_base(s, i, error);
    if (status == GUFO_OK)
        status = distribute(s, error);
    for (size_t i = 0; i < s->shards.count && status == GUFO_OK; i++) {
        status = make_shard(s, i, first, error);
        first += tensors_of(s, i);
    }
    return status;
}

/* One shard alone would become a set that looks like a whole model. */
static gufo_status check_whole(const gufo_model *input, gufo_error *error)
{
    uint64_t count = 0;

    if (gufo_model_shard_count(input) == 1 &&
        gufo_model_get_u64(gufo_model_shard(input, 0), GUFO_SPLIT_COUNT_KEY, &count, NULL) ==
            GUFO_OK &&
        count > 1)
        return refuse(error, GUFO_E_SHARDS,
                      "this is one shard of %" PRIu64
                      "; to split a set again, name its first shard, NAME-00001-of-%05" PRIu64
                      ".gguf",
                      count, count);
    return GUFO_OK;
}

static gufo_status check_options(const gufo_split_options *options, const gufo_model *input,
                                 gufo_error *error)
{
    gufo_status status = reserved_check(options->reserved, "gufo_split_options", error);

    if (status != GUFO_OK)
        return status;
    if (options->max_size == 0 && options->max_tensors == 0)
        return refuse(error, GUFO_E_ARGUMENT,
                      "a split needs a limit, in bytes or in tensors: gufo_split_options.max_size "
                      "or max_tensors");
    if (gufo_model_tensor_count(input) > INT32_MAX)
        status = refuse(error, GUFO_E_LIMIT, "split.tensors.count cannot hold so many tensors");
    else
        status = check_whole(input, error);
    return model_fail(input, status, error);
}

gufo_job *gufo_job_split(const gufo_model *input, const gufo_split_options *options,
                         gufo_error *error)
{
    static const gufo_split_options standard = {0};
    split s = {.options = options != NULL ? options : &standard, .shards.size = sizeof(uint64_t)};
    gufo_status status;

    if (planner_check_input(input, error) == GUFO_OK &&
        check_options(s.options, input, error) == GUFO_OK)
        s.job = planner_begin(input, s.options->allocator, error);
    if (s.job == NULL)
        return NULL;
    s.alignment = gufo_model_facts(gufo_model_shard(input, 0)).alignment;
    s.job->naming = JOB_NAMED_PREFIX;
    planner_of(s.job)->drops_shard_keys = true;
    status = plan(&s, error);
    records_free(&s.shards, &s.job->allocator);
    return planner_end(s.job, status, error);
}
