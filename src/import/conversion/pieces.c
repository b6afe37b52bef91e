/* The tensors of the document, and the job that makes them: a piece for each one, whose rows come
 * from the files of the checkpoint.  What only moves keeps its bytes.
 *
 * The first job, which the model reads rows by, lives as long as the import: its pieces take the place of
 * those of the plan.  Most are not kept at all: a checkpoint may have a million tensors, of which each
 * becomes one as it is. */
#include "base/error.h"
#include "format/document/document.h"
#include "import/architectures/plan/plan.h"
#include "import/conversion/conversion.h"

gufo_status conversion_add_tensors(conversion *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        const planned_tensor *t = &c->plan.tensors[i];

        status = document_lend_tensor(c->base.document, gufo_str_of(t->name), t->type->id,
                                      t->n_dims, t->dims, 0, error);
    }
    return status;
}

/* Whether numbers change, or their type does. */
static bool is_encoded(const planned_tensor *t, const piece *p)
{
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != t->type || p->sources[i].unpack != NULL)
            return true;
    return p->n_ops > 0;
}

/* The piece of a tensor with its only result, in *room. */
static gufo_status fill_piece(const tensor_plan *plan, const planned_tensor *t, uint64_t place,
                              plain_piece *room, gufo_error *error)
{
    const piece *planned = planned_piece(plan, t, room);
    const bool encode = is_encoded(t, planned);
    const piece p = {.how = encode ? PIECE_MAKE : planned->how,
                     .name = gufo_str_of(t->name),
                     .sources = planned->sources,
                     .segments = planned->segments,
                     .ops = planned->ops,
                     .made = &room->result,
                     .n_sources = planned->n_sources,
                     .n_segments = planned->n_segments,
                     .n_ops = planned->n_ops,
                     .n_made = 1,
                     .transpose = planned->transpose,
                     .columns = planned->columns,
                     .slices = planned->slices,
                     .slice_rows = planned->slice_rows};

    room->piece = p;
    room->result = (made){.place = place, .type = t->type, .encode = encode};
    return gufo_element_row_size(t->type, p.columns, &room->result.row_bytes, error);
}

/* Nothing fails: opening has made the same piece. */
static const piece *piece_at(const gufo_job *job, uint64_t index, plain_piece *room)
{
    const conversion *c = job->asked;
    const planned_tensor *t = &c->plan.tensors[index];
    gufo_document_tensor tensor;
    gufo_job counted = *job;

    if (t->piece != NULL)
        return t->piece;
    counted.unit_count = counted.total = 0;
    (void)gufo_document_tensor_at(c->base.document, index, &tensor);
    (void)fill_piece(&c->plan, t, tensor.offset, room, NULL);
    (void)job_count_piece(&counted, &room->piece, NULL);
    return &room->piece;
}

/* The first job is only asked: it keeps no pieces that can be made at any time. */
static gufo_status add_piece(const conversion *c, gufo_job *job, planned_tensor *t, uint64_t place,
                             gufo_error *error)
{
    const bool is_first = job->piece_at != NULL;
    plain_piece room;
    gufo_status status = fill_piece(&c->plan, t, place, &room, error);

    if (status == GUFO_OK && is_first && t->piece == NULL)
        return job_count_piece(job, &room.piece, error);
    if (status == GUFO_OK)
        status = job_add_piece(job, &room.piece, error);
    if (status == GUFO_OK && is_first)
        piece_lend(t, job->pieces[job->piece_count - 1].whole, c->plan.allocator);
    return status;
}

static uint64_t count_kept(const tensor_plan *plan)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < plan->count; i++)
        count += plan->tensors[i].piece != NULL;
    return count;
}

const conversion *conversion_of(const gufo_import *import)
{
    return import->kind->plan == conversion_plan ? (const conversion *)import : NULL;
}

gufo_status conversion_plan(gufo_import *base, gufo_job *job, gufo_error *error)
{
    conversion *c = (conversion *)base;
    gufo_status status = GUFO_OK;
    gufo_document_tensor tensor;
    uint32_t number;

    for (uint32_t i = 0; i < c->checkpoint.file_count && status == GUFO_OK; i++) {
        const checkpoint_file *file = &c->checkpoint.files[i];
        const job_input input = {.role = GUFO_FILE_INPUT,
                                 .index = i,
                                 .name = file->path,
                                 .source = &file->source,
                                 .head = file->head};

        status = job_add_input(job, &input, &number, error);
    }
    if (status == GUFO_OK)
        status = job_add_document_target(job, base->document, &number, error);
    if (base->peeked == NULL) {
        job->piece_at = piece_at;
        job->asked = c;
    }
    if (status == GUFO_OK)
        status = job_reserve_pieces(
            job, job->piece_at != NULL ? count_kept(&c->plan) : c->plan.count, error);
    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        (void)gufo_document_tensor_at(base->document, i, &tensor);
        status = add_piece(c, job, &c->plan.tensors[i], tensor.offset, error);
    }
    return status;
}
