/* The tensors of the document, and the job that makes them: a piece for each one, whose rows come
 * from the files of the checkpoint.  What only moves keeps its bytes.
 *
 * The first job, which the model reads rows by, lives as long as the import: its pieces take the place of
 * those of the plan. */
#include "base/error.h"
#include "import/architectures/pieces.h"
#include "import/conversion/conversion.h"

gufo_status conversion_add_tensors(conversion *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        const planned_tensor *t = &c->plan.tensors[i];

        status = gufo_document_add_tensor(c->base.document, gufo_str_of(t->name), t->type,
                                          t->n_dims, t->dims, error);
    }
    return status;
}

/* Whether numbers change, or their type does. */
static bool is_encoded(const planned_tensor *t)
{
    for (uint32_t i = 0; i < t->piece->n_sources; i++)
        if (t->piece->sources[i].type != t->type || t->piece->sources[i].unpack != NULL)
            return true;
    return t->piece->n_ops > 0;
}

static gufo_status add_piece(gufo_job *job, const planned_tensor *t, uint64_t place,
                             gufo_error *error)
{
    const piece *planned = t->piece;
    piece p = {.how = planned->how,
               .name = gufo_str_of(t->name),
               .sources = planned->sources,
               .segments = planned->segments,
               .ops = planned->ops,
               .n_sources = planned->n_sources,
               .n_segments = planned->n_segments,
               .n_ops = planned->n_ops,
               .transpose = planned->transpose,
               .columns = planned->columns,
               .slices = planned->slices,
               .slice_rows = planned->slice_rows};
    made result = {.place = place, .type = t->type, .encode = is_encoded(t)};
    gufo_status status = gufo_element_row_size(t->type, p.columns, &result.row_bytes, error);

    if (result.encode)
        p.how = PIECE_MAKE;
    p.made = &result;
    p.n_made = 1;
    return status == GUFO_OK ? job_add_piece(job, &p, error) : status;
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
    if (status == GUFO_OK)
        status = job_reserve_pieces(job, c->plan.count, error);
    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        planned_tensor *t = &c->plan.tensors[i];

        (void)gufo_document_tensor_at(base->document, i, &tensor);
        status = add_piece(job, t, tensor.offset, error);
        if (status == GUFO_OK && !t->is_lent)
            piece_lend(t, &job->pieces[i], c->plan.allocator);
    }
    return status;
}
