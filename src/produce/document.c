/* The planner for documents: tensors that were copied from a model are moved, swapped if the
 * document has the other byte order, or encoded if they were retyped; the caller gives the
 * others. */
#include "base/error.h"
#include "base/files/move.h"
#include "base/memory.h"
#include "codec/interleaved.h"
#include "format/document/document.h"
#include "produce/units/work.h"

/* ---- pieces --------------------------------------------------------------------------------- */

/* A tensor of a document on its way to a piece. */
typedef struct planned {
    gufo_document_tensor tensor;
    gufo_tensor source;
    uint32_t input, target;
} planned;

/* Rows do not matter here: each one is a group of blocks. */
gufo_status job_add_swapped(gufo_job *job, uint32_t input, const gufo_tensor *tensor,
                            uint32_t target, uint64_t place, gufo_error *error)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    const interleaved *merged = interleaved_find(type->id);
    uint64_t group = merged != NULL ? merged->rows : 1, bytes = type->block_bytes * group;
    rows r = job_tensor_rows(job, input, tensor, 0);
    const made swapped = {
        .target = target, .place = place, .row_bytes = bytes, .type = type, .swap = !r.swapped};

    r.row_bytes = bytes;
    r.columns = type->block_elements * group;
    r.count = tensor->size / bytes;
    return job_add_rows(job, PIECE_MAKE, tensor->name, &r, &swapped, 1, error);
}

static gufo_status add_given(gufo_job *job, const planned *p, gufo_error *error)
{
    made bytes = {.target = p->target, .place = p->tensor.offset, .row_bytes = 1};
    piece given = {.how = PIECE_GIVEN,
                   .name = p->tensor.name,
                   .made = &bytes,
                   .n_made = 1,
                   .slices = 1,
                   .slice_rows = p->tensor.size};

    return job_add_piece(job, &given, error);
}

static gufo_status fail_retyped(const planned *p, const char *reason, gufo_error *error)
{
    const gufo_element_type *to = gufo_element_type_by_id(p->tensor.type);

    return model_fail(model_holding(p->tensor.from, &p->source),
                      fail_with(error, GUFO_E_ARGUMENT, p->source.info_offset,
                                "tensor %s cannot become %s: %s", QUOTED(p->tensor.name),
                                to != NULL ? to->name : "that type", reason),
                      error);
}

/* Why numbers of one type cannot become those of another; NULL if they can. */
static const char *not_encoded(const planned *p)
{
    const gufo_element_type *from = gufo_element_type_by_id(p->source.type);
    const gufo_element_type *to = gufo_element_type_by_id(p->tensor.type);
    const interleaved *merged = interleaved_find(p->source.type);

    if (from == NULL || (from->flags & GUFO_ELEMENT_DECODES) == 0)
        return "its own type cannot be decoded";
    if (merged != NULL && p->source.dims[1] % merged->rows != 0)
        return "its rows do not fill the groups of its own type";
    if (merged != NULL && merged->plain == p->tensor.type)
        return NULL;
    if (to == NULL || (to->flags & GUFO_ELEMENT_ENCODES) == 0)
        return "that type cannot be encoded";
    if ((to->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) != 0)
        return "that type needs importance data, which only quantizing has";
    return NULL;
}

static bool is_big(const gufo_job *job, uint32_t input)
{
    return gufo_model_facts(job->inputs[input].model).byte_order == GUFO_BIG_ENDIAN;
}

/* Rows that are made: of a made model as they are; of a tensor with another type than its source
 * decoded and encoded, or repacked. */
static gufo_status add_made(gufo_job *job, const planned *p, gufo_error *error)
{
    const gufo_element_type *to = gufo_element_type_by_id(p->tensor.type);
    const interleaved *merged = interleaved_find(p->source.type);
    bool retyped = p->source.type != p->tensor.type;
    const char *reason = retyped ? not_encoded(p) : NULL;
    made result = {.target = p->target,
                   .place = p->tensor.offset,
                   .type = to,
                   .encode = retyped && (merged == NULL || merged->plain != p->tensor.type),
                   .swap = p->tensor.swapped != is_big(job, p->input)};

    if (reason != NULL)
        return fail_retyped(p, reason, error);
    return job_add_tensor(job, p->input, &p->source, p->tensor.origin, &result, 1, 1, error);
}

/* How the data of a tensor whose input is known comes about. */
static gufo_status add_data(gufo_job *job, const planned *p, gufo_error *error)
{
    if (p->source.size > 0 &&
        (p->source.type != p->tensor.type || job->inputs[p->input].source == NULL))
        return add_made(job, p, error);
    if (p->source.size > 0 && p->tensor.swapped &&
        gufo_element_type_by_id(p->tensor.type)->block_bytes > 1)
        return job_add_swapped(job, p->input, &p->source, p->target, p->tensor.offset, error);
    return job_add_move(job, p->input, p->source.offset, p->source.size, p->target,
                        p->tensor.offset, p->tensor.name, error);
}

/* A tensor that was copied from a model. */
static gufo_status add_copied(gufo_job *job, planned *p, gufo_error *error)
{
    const gufo_model *holder;
    gufo_status status;

    p->source = (gufo_tensor){.shard = 0};
    if (!gufo_model_tensor_at(p->tensor.from, p->tensor.origin, &p->source) ||
        (p->source.type == p->tensor.type && p->source.size != p->tensor.size))
        return fail_retyped(p, "its source has another size", error);
    holder = model_holding(p->tensor.from, &p->source);
    if (!gufo_model_has_data(holder))
        return model_fail(
            holder,
            refuse(error, GUFO_E_ARGUMENT,
                   "the data of a pipe cannot be used after its metadata was read; give a file"),
            error);
    status = job_add_model(job, p->tensor.from, p->source.shard, &p->input, error);
    return status == GUFO_OK ? add_data(job, p, error) : status;
}

static gufo_status lay_out(gufo_document *document, gufo_layout *out, gufo_error *error)
{
    if (!document->laid_out)
        return gufo_document_layout(document, NULL, out, error);
    *out = document->layout;
    return GUFO_OK;
}

gufo_status job_add_document_target(gufo_job *job, gufo_document *document, uint32_t *number,
                                    gufo_error *error)
{
    job_target target = {.document = document,
                         .tensor_count = gufo_document_tensor_count(document)};
    gufo_document_tensor tensor;
    gufo_layout layout;
    gufo_status status = lay_out(document, &layout, error);

    if (status != GUFO_OK)
        return status;
    target.size = layout.file_size;
    job->unreserved = job->unreserved || layout.alignment > GUFO_MAX_ALIGNMENT;
    for (uint64_t i = 0; gufo_document_tensor_at(document, i, &tensor); i++)
        target.data_size += tensor.size;
    return job_add_target(job, &target, number, error);
}

/* Everything behind the metadata of the source, gaps and what follows the last tensor with it. */
static gufo_status add_data_as_source(gufo_job *job, const gufo_document *document, uint32_t target,
                                      gufo_error *error)
{
    gufo_facts facts = gufo_model_facts(document->source);
    uint64_t size = facts.size > facts.data_offset ? facts.size - facts.data_offset : 0;
    uint64_t head = (0 - facts.data_offset) % MOVE_SHARED_BLOCK;
    uint64_t place = document->layout.data_offset;
    uint32_t input;
    gufo_status status = job_add_model(job, document->source, 0, &input, error);

    /* The first piece ends where a block does, so that all units of the second begin with one. */
    head = head < size ? head : size;
    if (status == GUFO_OK && head > 0)
        status = job_add_move(job, input, facts.data_offset, head, target, place, (gufo_str){"", 0},
                              error);
    if (status == GUFO_OK && size > head)
        status = job_add_move(job, input, facts.data_offset + head, size - head, target,
                              place + head, (gufo_str){"", 0}, error);
    return status;
}

gufo_status job_add_document(gufo_job *job, gufo_document *document, gufo_error *error)
{
    planned p = {.target = 0};
    gufo_status status = job_add_document_target(job, document, &p.target, error);

    if (status == GUFO_OK && document->layout.way == GUFO_LAYOUT_AS_SOURCE)
        return add_data_as_source(job, document, p.target, error);
    for (uint64_t i = 0; status == GUFO_OK && gufo_document_tensor_at(document, i, &p.tensor); i++)
        status = p.tensor.from != NULL ? add_copied(job, &p, error) : add_given(job, &p, error);
    return status;
}

gufo_job *gufo_job_of_documents(gufo_document *const *documents, size_t count,
                                const gufo_job_plan_options *options, gufo_error *error)
{
    gufo_job *job = job_new(options != NULL ? options->allocator : NULL, error);
    gufo_status status = GUFO_OK;

    if (job == NULL)
        return NULL;
    if (count == 0)
        status = refuse(error, GUFO_E_ARGUMENT, "the document is missing");
    if (status == GUFO_OK && options != NULL)
        status = reserved_check(options->reserved, "gufo_job_plan_options", error);
    job->naming = count > 1 ? JOB_NAMED_SET : JOB_NAMED_FILE;
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = documents[i] != NULL
                     ? job_add_document(job, documents[i], error)
                     : refuse(error, GUFO_E_ARGUMENT, "document %zu is missing", i);
    return job_planned(job, status, error);
}
