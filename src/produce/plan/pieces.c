/* The pieces of a job: what planners add is checked, copied and cut into units. */
#include "base/checked.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/interleaved.h"
#include "format/document/document.h"
#include "produce/units/work.h"

/* ---- checking a piece ----------------------------------------------------------------------- */

/* Whether a row of so many numbers of the type has so many bytes. */
static bool row_fits(const gufo_element_type *type, uint64_t columns, uint64_t row_bytes)
{
    uint64_t bytes;

    return gufo_element_row_size(type, columns, &bytes, NULL) == GUFO_OK && bytes == row_bytes;
}

/* Whether bytes and numbers of the rows fit each other and the source. */
static bool rows_make_sense(const gufo_job *job, const rows *r)
{
    uint64_t size, numbers;

    if (r->input >= job->input_count || (r->source == NULL) == (r->read == NULL) ||
        !checked_mul(r->count, r->row_bytes, &size) ||
        !checked_mul(r->count, r->columns, &numbers) || size > INT64_MAX || numbers > INT64_MAX)
        return false;
    if (r->source != NULL && !range_inside(r->offset, size, r->source->size))
        return false;
    return r->type == NULL || r->unpack != NULL || row_fits(r->type, r->columns, r->row_bytes);
}

static bool sides_make_sense(const gufo_job *job, const rows *const *sides, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const rows *r = sides[i];

        if (r != NULL &&
            (!rows_make_sense(job, r) || r->columns == 0 || (r->type == NULL && r->unpack == NULL)))
            return false;
        for (unsigned k = 0; r != NULL && k < ROWS_SIDES; k++)
            if (r->side[k] != NULL) /* a table does not have its own */
                return false;
    }
    return true;
}

static bool op_makes_sense(const gufo_job *job, const piece *p, const row_op *op)
{
    for (uint32_t i = 0; i < op->kind->sides; i++)
        if (op->side[i] == NULL)
            return false;
    return sides_make_sense(job, op->side, OP_SIDES) &&
           (op->kind->fits == NULL || op->kind->fits(op, p->slices * p->slice_rows, p->columns));
}

/* Whether rows of a source may be taken as they are wanted: merged rows only in whole groups, parts
 * of rows only of plain types and blocks, and numbers only where there are some. */
static bool source_serves(const piece *p, const rows *r)
{
    bool merged = r->type != NULL && interleaved_find(r->type->id) != NULL;

    if (p->transpose)
        return r->type != NULL && r->unpack == NULL && !merged && r->columns == p->slice_rows;
    if (p->how == PIECE_MOVE)
        return r->row_bytes == p->made[0].row_bytes;
    return r->columns == p->columns && (r->type != NULL || r->unpack != NULL);
}

/* Whether any result takes blocks apart. */
static bool opens_blocks(const piece *p)
{
    for (uint32_t i = 0; i < p->n_made; i++)
        if (p->made[i].encode || p->made[i].type != p->sources[0].type)
            return true;
    return p->n_ops > 0;
}

static bool merged_rows_in_order(const piece *p)
{
    if (p->how == PIECE_MOVE || !opens_blocks(p))
        return true;
    for (uint32_t i = 0; i < p->n_segments; i++) {
        const segment *s = &p->segments[i];
        const rows *r = &p->sources[s->source];
        const interleaved *merged = r->type != NULL ? interleaved_find(r->type->id) : NULL;

        if (merged != NULL && (s->stride[0] != 1 || s->count[1] != 1 || s->count[2] != 1 ||
                               s->first % merged->rows != 0 || s->count[0] % merged->rows != 0 ||
                               s->begin % merged->rows != 0 || p->slice_rows % merged->rows != 0))
            return false;
    }
    return true;
}

/* Blocks that pass keep their type, or are repacked. */
static bool passes_blocks(const piece *p, const made *m)
{
    if (p->n_ops > 0)
        return false;
    for (uint32_t i = 0; i < p->n_sources; i++) {
        const rows *r = &p->sources[i];
        const interleaved *merged = r->type != NULL ? interleaved_find(r->type->id) : NULL;

        if (r->type == NULL || r->unpack != NULL || m->type == NULL ||
            (m->type != r->type &&
             (merged == NULL || merged->plain != m->type->id || p->transpose)))
            return false;
        if (p->transpose && (m->type->block_elements != 1 || r->type != p->sources[0].type))
            return false;
    }
    return true;
}

static bool made_makes_sense(const gufo_job *job, const piece *p, const made *m)
{
    uint64_t size, end;

    if (!checked_mul(p->slices * p->slice_rows, m->row_bytes, &size) ||
        !checked_add(m->place, size, &end))
        return false;
    if (m->target != NO_TARGET &&
        (m->target >= job->target_count || end > job->targets[m->target].size))
        return false;
    if (p->how != PIECE_MAKE)
        return m->target != NO_TARGET && m->row_bytes > 0 && m->row_bytes == p->made[0].row_bytes &&
               (p->how == PIECE_MOVE || p->n_made == 1);
    return m->type != NULL && row_fits(m->type, p->columns, m->row_bytes) &&
           (m->encode || passes_blocks(p, m));
}

static bool makes_sense(const gufo_job *job, piece *p)
{
    uint64_t all;

    if (p->n_made == 0 || !checked_mul(p->slices, p->slice_rows, &all))
        return false;
    for (uint32_t i = 0; i < p->n_made; i++)
        if (!made_makes_sense(job, p, &p->made[i]))
            return false;
    if (p->how == PIECE_GIVEN || all == 0)
        return true;
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (!rows_make_sense(job, &p->sources[i]) || !source_serves(p, &p->sources[i]) ||
            !sides_make_sense(job, p->sources[i].side, ROWS_SIDES))
            return false;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (!op_makes_sense(job, p, &p->ops[i]))
            return false;
    if (p->transpose && !checked_mul(p->slices, p->columns, &all))
        return false;
    return rows_check(p, all) && merged_rows_in_order(p);
}

/* ---- adding a piece ------------------------------------------------------------------------- */

/* What is read for the piece: all rows of all segments.  False for more than can be counted:
 * strides of 0 read the same rows again and again. */
static bool count_bytes(piece *p)
{
    p->bytes = 0;
    for (uint32_t i = 0; p->units > 0 && i < p->n_segments; i++) {
        const segment *s = &p->segments[i];
        uint64_t size, count = s->count[0] * s->count[1] * s->count[2]; /* rows_check has done it */

        if (!checked_mul(count, p->sources[s->source].row_bytes, &size) ||
            !checked_add(p->bytes, size, &p->bytes))
            return false;
    }
    return true;
}

/* Counts units and bytes of the piece as the job's. */
static gufo_status count_piece(gufo_job *job, piece *p, gufo_error *error)
{
    uint64_t units, total;

    if (!count_bytes(p) || !checked_add(job->unit_count, p->units, &units) ||
        !checked_add(job->total, p->bytes, &total))
        return refuse(error, GUFO_E_LIMIT, "tensor %s is too large", QUOTED(p->name));
    job->unit_count = units;
    job->total = total;
    return GUFO_OK;
}

static void note_targets(gufo_job *job, const piece *p)
{
    for (uint32_t i = 0; i < p->n_made; i++) {
        job_target *t;

        if (p->made[i].target == NO_TARGET)
            continue;
        t = &job->targets[p->made[i].target];
        if (!t->has_pieces)
            t->first_piece = job->piece_count;
        t->last_piece = job->piece_count;
        t->has_pieces = true;
    }
}

gufo_status job_reserve_pieces(gufo_job *job, uint64_t count, gufo_error *error)
{
    uint64_t room, bytes;
    kept_piece *list;

    if (!checked_add(job->piece_count, count, &room) ||
        !checked_mul(room + 1, sizeof *list, &bytes) || bytes > SIZE_MAX)
        return fail_memory(error);
    list = mem_resize(&job->allocator, job->pieces, (size_t)bytes);
    if (list == NULL)
        return fail_memory(error);
    job->pieces = list;
    job->piece_room = room + 1;
    return GUFO_OK;
}

gufo_status job_count_piece(gufo_job *job, piece *p, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (!makes_sense(job, p))
        status = refuse(error, GUFO_E_ARGUMENT, "the plan for tensor %s does not fit its sources",
                        QUOTED(p->name));
    if (status == GUFO_OK)
        status = cut_piece(p, job->unit_count, error);
    if (status == GUFO_OK)
        status = count_piece(job, p, error);
    if (status != GUFO_OK && p->n_sources > 0 && p->sources[0].input < job->input_count)
        (void)rows_fail(job, &p->sources[0], status, error);
    return status;
}

static gufo_status keep_piece(gufo_job *job, const piece *p, uint32_t first_input,
                              gufo_error *error)
{
    kept_piece *list =
        mem_grow(&job->allocator, job->pieces, job->piece_count, &job->piece_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    job->pieces = list;
    if (!piece_keep(job, p, first_input, &list[job->piece_count]))
        return fail_memory(error);
    note_targets(job, p);
    job->piece_count++;
    return GUFO_OK;
}

/* job_add_piece for the piece of another job, whose input 0 is input `first` of this one. */
static gufo_status job_add_moved(gufo_job *job, const piece *p, uint32_t first, gufo_error *error)
{
    piece counted = *p;
    gufo_status status = job_count_piece(job, &counted, error);

    if (job->add_pieces != NULL) {
        job->counted++;
        return status;
    }
    return status == GUFO_OK ? keep_piece(job, &counted, first, error) : status;
}

gufo_status job_add_piece(gufo_job *job, const piece *p, gufo_error *error)
{
    return job_add_moved(job, p, 0, error);
}

gufo_status job_add_results(gufo_job *job, piece_how how, gufo_str name, const rows *from,
                            const made *results, uint32_t count, uint64_t slices, gufo_error *error)
{
    rows only = *from;
    segment all = {.count = {from->count, 1, 1}, .stride = {1, 0, 0}};
    piece p = {.how = how,
               .name = name,
               .sources = &only,
               .segments = &all,
               .made = (made *)results, /* job_add_piece copies them */
               .n_sources = 1,
               .n_segments = 1,
               .n_made = count,
               .columns = from->columns,
               .slices = slices,
               .slice_rows = slices > 0 ? from->count / slices : 0};

    return job_add_piece(job, &p, error);
}

gufo_status job_add_rows(gufo_job *job, piece_how how, gufo_str name, const rows *from,
                         const made *result, uint64_t slices, gufo_error *error)
{
    return job_add_results(job, how, name, from, result, 1, slices, error);
}

rows job_byte_rows(const gufo_job *job, uint32_t input, uint64_t from, uint64_t size)
{
    return (rows){.input = input,
                  .source = job->inputs[input].source,
                  .offset = from,
                  .row_bytes = 1,
                  .count = size};
}

gufo_status job_add_move(gufo_job *job, uint32_t input, uint64_t from, uint64_t size,
                         uint32_t target, uint64_t place, gufo_str name, gufo_error *error)
{
    const rows bytes = job_byte_rows(job, input, from, size);
    const made moved = {.target = target, .place = place, .row_bytes = 1};

    return job_add_rows(job, PIECE_MOVE, name, &bytes, &moved, 1, error);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool needs_importance(const made *m)
{
    return m->weighs || m->weighted;
}

/* Whether there is a hook for all that pieces want. */
static gufo_status check_hooks(const gufo_job *job, gufo_error *error)
{
    const job_hooks *hooks = &job->hooks;
    bool complete = hooks->result_size <= JOB_RESULT_SIZE;

    for (uint64_t i = 0; i < job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        for (uint32_t k = 0; k < p->n_made; k++)
            complete = complete && (!needs_importance(&p->made[k]) || hooks->importance != NULL) &&
                       (!p->made[k].measure || hooks->measure != NULL);
    }
    return complete ? GUFO_OK
                    : refuse(error, GUFO_E_ARGUMENT,
                             "the plan has no hook that a tensor needs, or one with too large "
                             "a result");
}

/* What depends on the pieces, which are all there. */
gufo_status job_complete_pieces(gufo_job *job, gufo_error *error)
{
    gufo_status status = check_hooks(job, error);

    if (status != GUFO_OK)
        return status;
    job->results = mem_array(&job->allocator, job->result_count, job->hooks.result_size);
    return job->results != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status job_add_counted(gufo_job *job, gufo_error *error)
{
    gufo_status (*const add_pieces)(void *context, gufo_error *error) = job->add_pieces;
    gufo_status status;

    if (add_pieces == NULL)
        return GUFO_OK;
    job->add_pieces = NULL;
    job->unit_count = job->total = 0;
    status = job_reserve_pieces(job, job->counted, error);
    if (status == GUFO_OK)
        status = add_pieces(job->hooks.context, error);
    if (status == GUFO_OK)
        status = job_complete_pieces(job, error);
    job->used = status != GUFO_OK; /* some of its pieces are missing */
    return status;
}

/* Tensors of models as pieces.
 *
 * Rows of a file are where the file has them.  A model that an import made (format/model/model.h) has a
 * job whose pieces make its tensors: its piece is taken over, from the files that it reads to
 * whatever the new job makes of its rows, so that nothing is encoded and decoded on the way.  Where
 * its rows are not those of the tensor, and for other made models, the model is asked for rows. */

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
