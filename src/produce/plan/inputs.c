/* What a job reads: the shards of models, each once.
 *
 * Planners add the models that they know of.  At the end of a plan comes whatever else a target's
 * document was made from: a model whose entries were copied, and shards that no tensor comes from.
 * None of them may be replaced by an output, nor change while the job runs. */
#include "base/error.h"
#include "base/memory.h"
#include "format/document/document.h"
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

    return job_add_input(job, &input, number, error);
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

enum { SET_FIRST_BITS = 6 };

/* Models, by address: an open hash table that is at most half full. */
typedef struct model_set {
    const gufo_model **slots;
    uint64_t count;
    unsigned bits; /* of the number of slots; 0: none yet */
    const gufo_allocator *allocator;
} model_set;

/* Where the model is, or would be. */
static const gufo_model **find_slot(const model_set *set, const gufo_model *model)
{
    uint64_t mask = ((uint64_t)1 << set->bits) - 1;
    uint64_t at = (uint64_t)(uintptr_t)model * UINT64_C(0x9E3779B97F4A7C15) >> (64 - set->bits);

    while (set->slots[at] != NULL && set->slots[at] != model)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static gufo_status widen(model_set *set, gufo_error *error)
{
    model_set wider = {.count = set->count,
                       .bits = set->bits == 0 ? SET_FIRST_BITS : set->bits + 1,
                       .allocator = set->allocator};

    wider.slots = mem_zero(set->allocator, ((size_t)1 << wider.bits) * sizeof(const gufo_model *));
    if (wider.slots == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; set->bits > 0 && i < (uint64_t)1 << set->bits; i++)
        if (set->slots[i] != NULL)
            *find_slot(&wider, set->slots[i]) = set->slots[i];
    mem_free(set->allocator, set->slots);
    *set = wider;
    return GUFO_OK;
}

static gufo_status set_add(model_set *set, const gufo_model *model, bool *added, gufo_error *error)
{
    const gufo_model **slot;

    if (set->bits == 0 || set->count >= (uint64_t)1 << (set->bits - 1)) {
        gufo_status status = widen(set, error);

        if (status != GUFO_OK)
            return status;
    }
    slot = find_slot(set, model);
    *added = *slot == NULL;
    *slot = model;
    set->count += *added;
    return GUFO_OK;
}

/* Models of documents, and the files that are inputs. */
typedef struct reading {
    gufo_job *job;
    model_set models, inputs;
} reading;

/* In the order in which documents name them: the identity of a job depends on it. */
static gufo_status add_model(reading *r, const gufo_model *model, gufo_error *error)
{
    bool added;
    uint32_t number;
    gufo_status status = set_add(&r->models, model, &added, error);

    for (size_t i = 0; status == GUFO_OK && added && i < gufo_model_shard_count(model); i++) {
        const gufo_model *part = gufo_model_shard(model, i);
        bool is_new;

        status = set_add(&r->inputs, part, &is_new, error);
        if (status == GUFO_OK && is_new)
            status = add_part(r->job, part, (uint32_t)i, &number, error);
    }
    return status;
}

static gufo_status add_document(reading *r, const gufo_document *document, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < document->models.count && status == GUFO_OK; i++)
        status = add_model(r, document_model_in(document, i), error);
    return status;
}

gufo_status inputs_complete(gufo_job *job, gufo_error *error)
{
    reading r = {.job = job,
                 .models = {.allocator = &job->allocator},
                 .inputs = {.allocator = &job->allocator}};
    gufo_status status = GUFO_OK;
    bool ignored;

    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++)
        if (job->inputs[i].model != NULL)
            status = set_add(&r.inputs, job->inputs[i].model, &ignored, error);
    for (uint64_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        if (job->targets[i].document != NULL)
            status = add_document(&r, job->targets[i].document, error);
    mem_free(&job->allocator, r.models.slots);
    mem_free(&job->allocator, r.inputs.slots);
    return status;
}
