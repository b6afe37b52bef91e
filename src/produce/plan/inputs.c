/* What a job reads: the shards of models, each once.
 *
 * Planners add the models that they know of.  At the end of a plan comes whatever else a target's
 * document was made from: a model whose entries were copied, and shards that no tensor comes from.
 * None of them may be replaced by an output, nor change while the job runs. */
#include "base/error.h"
#include "base/memory.h"
#include "format/document/document.h"
#include "format/file/records.h"
#include "produce/units/work.h"

/* ---- models that are known ------------------------------------------------------------------ */

static const source *source_of(const gufo_model *shard)
{
    const gguf_file *file = model_file(shard);

    return file != NULL ? &file->source : NULL;
}

static gufo_status add_part(gufo_job *job, const gufo_model *part, uint32_t shard, uint32_t *number,
                            gufo_error *error)
{
    gufo_facts facts = gufo_model_facts(part);
    job_input input = {.role = GUFO_FILE_INPUT,
                       .index = shard,
                       .name = gufo_model_name(part),
                       .source = source_of(part),
                       .head = facts.data_offset < facts.size ? facts.data_offset : facts.size,
                       .model = part};
    const gufo_job *maker = model_maker(part);
    uint32_t ignored;
    gufo_status status;

    input.first_file = (uint32_t)job->input_count + 1;
    status = job_add_input(job, &input, number, error);
    for (uint64_t i = 0; maker != NULL && i < maker->input_count && status == GUFO_OK; i++)
        status = job_add_input(job, &maker->inputs[i], &ignored, error);
    return status;
}

gufo_status job_add_model(gufo_job *job, const gufo_model *model, uint32_t shard, uint32_t *number,
                          gufo_error *error)
{
    const gufo_model *part = gufo_model_shard(model, shard);

    /* With all shards of a set added in their order, that is where it is. */
    if (shard < job->input_count && job->inputs[shard].model == part) {
        *number = shard;
        return GUFO_OK;
    }
    /* A set is searched shard by shard: usually the tensor is in the last one. */
    for (uint64_t i = job->input_count; i-- > 0;)
        if (job->inputs[i].model == part) {
            *number = (uint32_t)i;
            return GUFO_OK;
        }
    return add_part(job, part, shard, number, error);
}

gufo_status job_add_shards(gufo_job *job, const gufo_model *model, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint32_t number;

    for (size_t i = 0; i < gufo_model_shard_count(model) && status == GUFO_OK; i++)
        status = add_part(job, gufo_model_shard(model, i), (uint32_t)i, &number, error);
    return status;
}

/* ---- all that documents were made from ------------------------------------------------------ */

/* Models that documents were made from, and the files that are inputs: both by their addresses. */
typedef struct reading {
    gufo_job *job;
    const gufo_model **models;
    uint64_t model_count, model_room;
    name_index seen, inputs;
} reading;

static gufo_str address_of(const gufo_model *const *place)
{
    return (gufo_str){(const char *)place, sizeof(const gufo_model *)};
}

static gufo_str name_of_model(const void *owner, uint64_t index)
{
    return address_of(&((const reading *)owner)->models[index]);
}

static gufo_str name_of_input(const void *owner, uint64_t index)
{
    return address_of(&((const reading *)owner)->job->inputs[index].model);
}

static gufo_status note_input(reading *r, uint64_t number, gufo_error *error)
{
    gufo_status status = name_index_grow(&r->inputs, number, &r->job->allocator, error);
    uint64_t first;

    if (status == GUFO_OK)
        (void)name_index_add(&r->inputs, number, &first);
    return status;
}

/* *added is false for a model that was seen before. */
static gufo_status note_model(reading *r, const gufo_model *model, bool *added, gufo_error *error)
{
    const gufo_allocator *a = &r->job->allocator;
    const gufo_model **list =
        mem_grow(a, r->models, r->model_count, &r->model_room, sizeof(const gufo_model *));
    gufo_status status;
    uint64_t first;

    if (list == NULL)
        return fail_memory(error);
    r->models = list;
    list[r->model_count] = model;
    status = name_index_grow(&r->seen, r->model_count, a, error);
    *added = status == GUFO_OK && name_index_add(&r->seen, r->model_count, &first);
    r->model_count += *added;
    return status;
}

/* In the order in which documents name them: the identity of a job depends on it. */
static gufo_status add_model(reading *r, const gufo_model *model, gufo_error *error)
{
    bool added = false;
    gufo_status status = note_model(r, model, &added, error);

    for (size_t i = 0; status == GUFO_OK && added && i < gufo_model_shard_count(model); i++) {
        const gufo_model *part = gufo_model_shard(model, i);
        uint64_t ignored;
        uint32_t number;

        if (name_index_find(&r->inputs, address_of(&part), &ignored))
            continue;
        status = add_part(r->job, part, (uint32_t)i, &number, error);
        if (status == GUFO_OK)
            status = note_input(r, number, error);
    }
    return status;
}

gufo_status inputs_complete(gufo_job *job, gufo_error *error)
{
    reading r = {.job = job,
                 .seen = {.name_of = name_of_model, .owner = &r},
                 .inputs = {.name_of = name_of_input, .owner = &r}};
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++)
        status = note_input(&r, i, error);
    for (uint64_t i = 0; i < job->target_count && status == GUFO_OK; i++) {
        const gufo_document *document = job->targets[i].document;

        for (uint64_t k = 0; document != NULL && k < document->models.count && status == GUFO_OK;
             k++)
            status = add_model(&r, document_model_in(document, k), error);
    }
    mem_free(&job->allocator, r.models);
    name_index_free(&r.seen, &job->allocator);
    name_index_free(&r.inputs, &job->allocator);
    return status;
}
