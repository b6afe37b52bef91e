/* Tensors of models as pieces.
 *
 * Rows of a file are where the file has them.  A model that an import made (format/model/model.h) has a
 * job whose pieces make its tensors: its piece is taken over, from the files that it reads to
 * whatever the new job makes of its rows, so that nothing is encoded and decoded on the way.  Where
 * its rows are not those of the tensor, and for other made models, the model is asked for rows. */
#include "base/error.h"
#include "format/document/document.h"
#include "produce/units/work.h"

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows of a made model. */
static gufo_status read_made(const struct rows *r, uint64_t first, uint64_t count, void *out,
                             gufo_error *error)
{
    const gufo_model *model = r->context;
    gufo_tensor tensor;
    gufo_status status = model_tensor_at(model, r->offset, &tensor, error);

    if (status != GUFO_OK)
        return status;
    /* Buffers have the size that was planned. */
    if (r->type == NULL || tensor.type != r->type->id || tensor.dims[0] != r->columns ||
        tensor.size != r->row_bytes * r->count)
        return refuse(error, GUFO_E_CHANGED,
                      "tensor %s has another type or shape than it had when the job was planned",
                      QUOTED(tensor.name));
    return gufo_tensor_read_rows(model, &tensor, first, count, out, error);
}

/* The bytes of a row, which an empty tensor has too, if only its type says so. */
static uint64_t row_bytes(const gufo_tensor *tensor, uint64_t count)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    if (count > 0)
        return tensor->size / count;
    return type != NULL && type->block_elements != 0
               ? tensor->dims[0] / type->block_elements * type->block_bytes
               : 0;
}

rows job_tensor_rows(const gufo_job *job, uint32_t input, const gufo_tensor *tensor, uint64_t index)
{
    const job_input *in = &job->inputs[input];
    uint64_t columns = tensor->dims[0], count = columns == 0 ? 0 : tensor->elements / columns;
    rows r = {.input = input,
              .source = in->source,
              .offset = tensor->offset,
              .columns = columns,
              .count = count,
              .row_bytes = row_bytes(tensor, count),
              .type = gufo_element_type_by_id(tensor->type),
              .swapped = gufo_model_facts(in->model).byte_order == GUFO_BIG_ENDIAN};

    if (in->source == NULL) {
        r.read = read_made;
        r.context = (void *)in->model;
        r.offset = index;
        r.swapped = false;
    }
    return r;
}

/* ---- pieces of a made model ------------------------------------------------------------------ */

static const piece *piece_of(const gufo_job *job, uint32_t input, uint64_t index, plain_piece *room)
{
    const gufo_job *maker = model_maker(job->inputs[input].model);

    return maker != NULL ? job_piece_at(maker, index, room) : NULL;
}

/* Whether all results have the type of the tensor. */
static bool all_pass(const gufo_tensor *tensor, const made *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (results[i].encode || results[i].swap || results[i].type == NULL ||
            results[i].type->id != tensor->type)
            return false;
    return true;
}

/* Whether rows of the piece can be encoded as rows of the tensor. */
static bool serves(const piece *p, const gufo_tensor *tensor, const made *results, uint32_t count,
                   uint64_t slices)
{
    for (uint32_t i = 0; i < count; i++)
        if ((results[i].type->block_elements != 1 || results[i].weighted) &&
            p->columns != tensor->dims[0])
            return false;
    return slices == 1 || p->slices == slices || (!p->transpose && p->columns == tensor->dims[0]);
}

/* Adds the maker's piece with other results.  The files that the maker reads come behind its model in the
 * list of inputs. */
static gufo_status add_made_piece(gufo_job *job, uint32_t input, const piece *from, bool moves,
                                  made *results, uint32_t count, uint64_t slices, gufo_error *error)
{
    piece p = *from;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < count && status == GUFO_OK; i++) {
        made *m = &results[i];

        if (moves)
            m->row_bytes = from->made[0].row_bytes;
        else
            status = gufo_element_row_size(m->type, p.columns, &m->row_bytes, error);
        m->encode = m->encode || from->made[0].encode;
    }
    p.how = moves ? PIECE_MOVE : PIECE_MAKE;
    p.made = results;
    p.n_made = count;
    if (!p.transpose && slices > 1) {
        p.slice_rows = p.slices * p.slice_rows / slices;
        p.slices = slices;
    }
    return status == GUFO_OK ? job_add_moved(job, &p, job->inputs[input].first_file, error)
                             : status;
}

/* ---- a tensor ------------------------------------------------------------------------------- */

gufo_status job_add_tensor(gufo_job *job, uint32_t input, const gufo_tensor *tensor, uint64_t index,
                           made *results, uint32_t count, uint64_t slices, gufo_error *error)
{
    plain_piece room;
    const piece *p = piece_of(job, input, index, &room);
    bool moves = p != NULL && p->how == PIECE_MOVE && all_pass(tensor, results, count);
    rows from;
    gufo_status status = GUFO_OK;

    if (p != NULL && (moves || serves(p, tensor, results, count, slices)))
        return add_made_piece(job, input, p, moves, results, count, slices, error);
    from = job_tensor_rows(job, input, tensor, index);
    for (uint32_t i = 0; i < count && status == GUFO_OK; i++)
        status = gufo_element_row_size(results[i].type, from.columns, &results[i].row_bytes, error);
    return status == GUFO_OK ? job_add_results(job, PIECE_MAKE, tensor->name, &from, results, count,
                                               slices, error)
                             : status;
}
