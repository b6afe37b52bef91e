/* Pieces of views.  A row of the result is a row of its sources in one of three ways:
 *
 *     rows        all its numbers are side by side: segments say where the rows are, and the bytes
 *                 can be moved; those of packed weights are gathered, many at once
 *     transpose   it is a column of a matrix whose rows are side by side
 *     gathered    its numbers are anywhere: gather.c reads them */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/plan/plan.h"
#include "import/containers/checkpoint.h"
#include "import/packed/packed.h"

enum { MOST_SEGMENTS = 1 << 22 };

/* What a piece is made of, while it grows. */
typedef struct making {
    const gufo_allocator *allocator;
    piece *piece;
    uint64_t source_room, segment_room;
    uint64_t columns;       /* of a row of the sources */
    uint64_t *all_segments; /* of all tensors */
} making;

/* ---- sources -------------------------------------------------------------------------------- */

static void set_number(rows *r, const number_type *number, bool swapped)
{
    r->type = number_element_type(number);
    r->unpack = r->type == NULL ? unpack_find(number) : NULL;
    r->swapped = swapped && number->bits > 8;
}

/* Rows of numbers in a file. */
static rows rows_in(const source *from, uint32_t file, uint64_t offset, const number_type *number,
                    bool swapped, uint64_t columns)
{
    rows r = {.input = file,
              .source = from,
              .offset = offset,
              .row_bytes = columns * (number->bits / 8),
              .columns = columns};

    set_number(&r, number, swapped);
    return r;
}

/* What reading a view keeps. */
static uint64_t kept_memory(const view *v)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < v->count; i++)
        kept = larger(kept, unpacked_memory(v->chunks[i].packed));
    return kept;
}

static gufo_status add_source(making *m, const rows *r, uint32_t *number, gufo_error *error)
{
    piece *p = m->piece;
    rows *list = mem_grow(m->allocator, p->sources, p->n_sources, &m->source_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    p->sources = list;
    *number = p->n_sources;
    list[p->n_sources++] = *r;
    return GUFO_OK;
}

/* Rows of m->columns numbers that begin where a chunk does; those of the chunk before it, if both
 * are rows of one tensor.  *first is the chunk's first row in them. */
static gufo_status source_of(making *m, const chunk *c, uint64_t reach, uint32_t *number,
                             uint64_t *first, gufo_error *error)
{
    piece *p = m->piece;
    rows r = rows_in(c->source, c->file, c->offset, c->number, c->swapped, m->columns);

    if (c->packed != NULL)
        r.read = unpacked_read;
    else if (chunk_is_zeros(c))
        r.read = gather_zeros;
    r.context = c->packed;
    r.memory = unpacked_memory(c->packed);
    r.count = reach + 1;
    for (uint32_t i = p->n_sources; i > 0 && i + 2 > p->n_sources; i--) {
        rows *last = &p->sources[i - 1];

        if (last->source != r.source || last->context != r.context || last->type != r.type ||
            last->unpack != r.unpack || last->swapped != r.swapped || r.offset < last->offset ||
            (r.offset - last->offset) % r.row_bytes != 0)
            continue;
        *number = i - 1;
        *first = chunk_is_zeros(c) ? 0 : (r.offset - last->offset) / r.row_bytes;
        last->count = larger(last->count, *first + reach + 1);
        return GUFO_OK;
    }
    *first = 0;
    return add_source(m, &r, number, error);
}

/* ---- segments ------------------------------------------------------------------------------- */

static gufo_status add_segment(void *context, const segment *s, gufo_error *error)
{
    making *m = context;
    piece *p = m->piece;
    segment *list =
        mem_grow(m->allocator, p->segments, p->n_segments, &m->segment_room, sizeof *list);

    if (*m->all_segments == MOST_SEGMENTS)
        return refuse(error, GUFO_E_LIMIT, "its rows are scattered over too many places");
    if (list == NULL)
        return fail_memory(error);
    ++*m->all_segments;
    p->segments = list;
    list[p->n_segments++] = *s;
    return GUFO_OK;
}

static gufo_status add_rows(making *m, const chunk *c, const strided_box *s, gufo_error *error)
{
    segment at = {.first = 0};
    uint64_t reach = 0;
    gufo_status status;

    for (uint32_t i = 0; i < s->n; i++)
        reach += (s->count[i] - 1) * s->stride[i];
    status = source_of(m, c, reach, &at.source, &at.first, error);
    return status == GUFO_OK ? strided_segments(s, at, add_segment, m, error) : status;
}

/* The steps from row to row of a chunk whose rows have `columns` numbers side by side; false if it
 * does not have such rows. */
static bool row_steps(const chunk *c, uint64_t columns, strided_box *s)
{
    uint64_t run = 1;
    uint32_t outer = c->box.n;

    if (outer > 0 && c->box.stride[outer - 1] == 1)
        run = c->box.count[--outer];
    if (run % columns != 0)
        return false;
    for (s->n = 0; s->n < outer; s->n++) {
        if (c->box.stride[s->n] % columns != 0)
            return false;
        s->count[s->n] = c->box.count[s->n];
        s->stride[s->n] = c->box.stride[s->n] / columns;
    }
    if (run > columns) {
        s->count[s->n] = run / columns;
        s->stride[s->n++] = 1;
    }
    return true;
}

/* Whether all chunks have rows of so many numbers. */
static bool has_rows(const view *v, uint64_t columns)
{
    strided_box s;

    for (uint64_t i = 0; i < v->count; i++)
        if (!row_steps(&v->chunks[i], columns, &s))
            return false;
    return true;
}

static gufo_status make_rows(making *m, const view *v, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    strided_box s;

    for (uint64_t i = 0; i < v->count && status == GUFO_OK; i++)
        if (row_steps(&v->chunks[i], m->columns, &s))
            status = add_rows(m, &v->chunks[i], &s, error);
    return status;
}

/* ---- packed weights -------------------------------------------------------------------------- */

/* A chunk of a packed weight whose rows are whole, as one whose elements are these rows. */
static bool packed_chunk(const chunk *c, uint64_t columns, uint64_t width, chunk *out)
{
    uint64_t first = c->offset / (c->number->bits / 8);
    strided_box s;

    if (c->packed == NULL || c->packed->columns != columns || first % columns != 0 ||
        !row_steps(c, columns, &s))
        return false;
    *out = *c;
    out->offset = first / columns * width;
    out->numbers = c->numbers / columns;
    out->box = s;
    return true;
}

/* Whether all its rows are whole rows of packed weights. */
static bool has_packed_rows(const view *v, uint64_t columns)
{
    chunk ignored;

    for (uint64_t i = 0; i < v->count; i++)
        if (!packed_chunk(&v->chunks[i], columns, 1, &ignored))
            return false;
    return v->count > 0;
}

/* Whether blocks can do without factors. */
static gufo_status check_factors(const view *v, bool *fit, gufo_error *error)
{
    factor_lists l;
    gufo_status status = factors_read(v, &l, fit, error);

    factors_free(v, &l);
    return status;
}

/* The type whose blocks hold all rows; NULL: they are F32. */
static gufo_status blocks_of(const view *v, uint64_t columns, const gufo_element_type **type,
                             gufo_error *error)
{
    bool fit = v->n_ops == 0 && has_packed_rows(v, columns);
    gufo_status status = GUFO_OK;

    for (uint64_t i = 1; fit && i < v->count; i++)
        fit = v->chunks[i].packed->type == v->chunks[0].packed->type;
    if (fit && v->chunks[0].packed->type != NULL && v->chunks[0].packed->kind->factors != NULL)
        status = check_factors(v, &fit, error);
    *type = fit ? v->chunks[0].packed->type : NULL;
    return status;
}

/* One source with rows in the order of the tensor: several are unpacked at once, whatever their order
 * in the weight. */
static gufo_status make_packed(making *m, const view *v, const gufo_element_type *type,
                               tensor_plan *plan, gufo_error *error)
{
    const uint64_t count = v->numbers / m->columns;
    const segment all = {.count = {count, 1, 1}, .stride = {1, 0, 0}};
    rows r = {.input = v->chunks[0].file,
              .read = gather_rows,
              .memory = kept_memory(v),
              .count = count,
              .columns = m->columns,
              .type = type};
    gather_form form = type->id == GUFO_TYPE_F32 ? GATHER_ROWS : GATHER_BLOCKS;
    uint32_t number;
    view by_rows;
    gufo_status status = gufo_element_row_size(type, m->columns, &r.row_bytes, error);

    if (status == GUFO_OK)
        status = view_copy(&by_rows, v, error);
    if (status != GUFO_OK)
        return status;
    for (uint64_t i = 0; i < v->count; i++)
        (void)packed_chunk(&v->chunks[i], m->columns, r.row_bytes, &by_rows.chunks[i]);
    r.context = gather_new_rows(&by_rows, r.row_bytes, form);
    view_free(&by_rows);
    if (r.context == NULL)
        return fail_memory(error);
    status = plan_keep(plan, r.context, error);
    if (status == GUFO_OK)
        status = add_source(m, &r, &number, error);
    return status == GUFO_OK ? add_segment(m, &all, error) : status;
}

/* ---- transposes ----------------------------------------------------------------------------- */

/* The steps from column to column of a chunk of whole slices, each `height` numbers high. */
static bool column_steps(const chunk *from, uint64_t height, uint64_t columns, strided_box *s)
{
    chunk c = *from;
    uint32_t groups[VIEW_DIMS + 1];
    uint64_t dims[3] = {0, height, columns};

    if (chunk_is_zeros(&c) || number_element_type(c.number) == NULL || height < 2 ||
        c.numbers % height != 0 || c.numbers / height % columns != 0)
        return false;
    dims[0] = c.numbers / height / columns;
    if (!chunk_align(&c, 3, dims, groups) || groups[2] != groups[1] + 1 ||
        c.box.stride[groups[1]] != 1)
        return false;
    s->n = 0;
    for (uint32_t i = 0; i < c.box.n; i++) {
        if (i == groups[1])
            continue;
        if (c.box.stride[i] % height != 0)
            return false;
        s->count[s->n] = c.box.count[i];
        s->stride[s->n++] = c.box.stride[i] / height;
    }
    return true;
}

static bool has_columns(const view *v, uint64_t height, uint64_t columns)
{
    strided_box s;

    for (uint64_t i = 0; i < v->count; i++)
        if (v->chunks[i].number != v->chunks[0].number ||
            !column_steps(&v->chunks[i], height, columns, &s))
            return false;
    return true;
}

static gufo_status make_columns(making *m, const view *v, gufo_error *error)
{
    const piece *p = m->piece;
    gufo_status status = GUFO_OK;
    strided_box s;

    for (uint64_t i = 0; i < v->count && status == GUFO_OK; i++)
        if (column_steps(&v->chunks[i], p->slice_rows, p->columns, &s))
            status = add_rows(m, &v->chunks[i], &s, error);
    return status;
}

/* ---- gathered ------------------------------------------------------------------------------- */

static gufo_status make_gathered(making *m, const view *v, tensor_plan *plan, gufo_error *error)
{
    const segment all = {.count = {v->numbers / m->columns, 1, 1}, .stride = {1, 0, 0}};
    const chunk one = v->chunks[0];
    rows r = {.input = one.file,
              .read = gather_rows,
              .memory = kept_memory(v),
              .row_bytes = m->columns * (one.number->bits / 8),
              .count = v->numbers / m->columns,
              .columns = m->columns};
    uint32_t number;
    gufo_status status;

    for (uint64_t i = 1; i < v->count; i++)
        if (v->chunks[i].number != one.number || v->chunks[i].swapped != one.swapped)
            return refuse(error, GUFO_E_TYPE, "its parts have several types");
    set_number(&r, one.number, one.swapped);
    r.context = gather_new(v, m->columns);
    if (r.context == NULL)
        return fail_memory(error);
    status = plan_keep(plan, r.context, error);
    if (status == GUFO_OK)
        status = add_source(m, &r, &number, error);
    return status == GUFO_OK ? add_segment(m, &all, error) : status;
}

/* ---- the piece ------------------------------------------------------------------------------ */

static gufo_status set_dims(planned_tensor *t, const view *v, tensor_plan *plan, gufo_error *error)
{
    uint64_t dims[GUFO_MAX_DIMS];

    if (v->n_dims > GUFO_MAX_DIMS)
        return refuse(error, GUFO_E_LIMIT, "it has %" PRIu32 " dimensions, and GGUF allows %d",
                      v->n_dims, GUFO_MAX_DIMS);
    t->n_dims = v->n_dims > 0 ? (uint8_t)v->n_dims : 1;
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        dims[i] = i < v->n_dims ? v->shape[v->n_dims - 1 - i] : 1;
    t->dims = shapes_share(&plan->shapes, dims, plan->allocator);
    return t->dims != NULL ? GUFO_OK : fail_memory(error);
}

/* The type that the numbers have: that of the checkpoint if GGUF models have it, and nothing is
 * computed.  All others become F32, whole numbers, too, as other converters do it: readers know no weights
 * of these. */
static const gufo_element_type *type_of(const view *v)
{
    const gufo_element_type *f32 = gufo_element_type_by_id(GUFO_TYPE_F32), *type;

    if (v->count == 0 || v->n_ops > 0)
        return f32;
    type = number_element_type(v->chunks[0].number);
    for (uint64_t i = 1; i < v->count; i++)
        if (v->chunks[i].number != v->chunks[0].number)
            return f32;
    return type != NULL && (type->id == GUFO_TYPE_F16 || type->id == GUFO_TYPE_BF16) ? type : f32;
}

/* Whether the bytes of all sources are those of the tensor. */
static bool is_moved(const planned_tensor *t, const piece *p)
{
    if (p->n_ops > 0 || p->transpose)
        return false;
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != t->type || p->sources[i].swapped)
            return false;
    return true;
}

static gufo_status set_ops(planned_tensor *t, const view *v, const gufo_allocator *a,
                           gufo_error *error)
{
    if (v->n_ops == 0)
        return GUFO_OK;
    t->piece->ops = mem_array(a, v->n_ops, sizeof *t->piece->ops);
    if (t->piece->ops == NULL)
        return fail_memory(error);
    memcpy(t->piece->ops, v->ops, v->n_ops * sizeof *v->ops);
    t->piece->n_ops = v->n_ops;
    return GUFO_OK;
}

/* Matrices, each with an importance of its own. */
static void set_slices(const planned_tensor *t, piece *p)
{
    p->columns = t->dims[0];
    p->slices = t->dims[2] * t->dims[3];
    p->slice_rows = t->dims[1];
}

/* Gives back the room that lists have left: there may be a million pieces. */
static void *trim(const gufo_allocator *a, void *list, uint64_t count, size_t size)
{
    void *smaller_list = count > 0 ? mem_resize(a, list, (size_t)count * size) : NULL;

    return smaller_list != NULL ? smaller_list : list;
}

static void trim_lists(making *m)
{
    piece *p = m->piece;

    p->sources = trim(m->allocator, p->sources, p->n_sources, sizeof *p->sources);
    p->segments = trim(m->allocator, p->segments, p->n_segments, sizeof *p->segments);
    m->source_room = m->segment_room = 0;
}

gufo_status piece_of_view(planned_tensor *t, const view *v, tensor_plan *plan, gufo_error *error)
{
    making m = {.allocator = plan->allocator, .piece = t->piece, .all_segments = &plan->segments};
    gufo_status status = set_dims(t, v, plan, error);

    if (status != GUFO_OK)
        return status;
    if (!t->keeps_type)
        status = blocks_of(v, t->dims[0], &t->type, error);
    if (status != GUFO_OK)
        return status;
    if (t->type == NULL)
        t->type = type_of(v);
    set_slices(t, t->piece);
    m.columns = t->dims[0];
    if (v->numbers > 0) {
        if (has_packed_rows(v, t->dims[0])) {
            status = make_packed(&m, v, t->type, plan, error);
        } else if (has_rows(v, t->dims[0])) {
            status = make_rows(&m, v, error);
        } else if (has_columns(v, t->dims[1], t->dims[0])) {
            m.columns = t->dims[1];
            t->piece->transpose = true;
            status = make_columns(&m, v, error);
        } else {
            status = make_gathered(&m, v, plan, error);
        }
    }
    trim_lists(&m);
    if (status == GUFO_OK)
        status = set_ops(t, v, plan->allocator, error);
    t->piece->how = is_moved(t, t->piece) ? PIECE_MOVE : PIECE_MAKE;
    return status;
}

/* ---- pieces that are not kept --------------------------------------------------------------- */

static uint64_t rows_of(const planned_tensor *t)
{
    return t->dims[1] * t->dims[2] * t->dims[3];
}

/* Whether a piece is all rows of a source, one after the other. */
static bool is_whole(const planned_tensor *t)
{
    const piece *p = t->piece;
    const segment *s = p->segments;

    return p->n_ops == 0 && !p->transpose && p->n_sources == 1 && p->n_segments == 1 &&
           p->sources->source != NULL && p->sources->count == rows_of(t) && s->first == 0 &&
           s->count[0] == rows_of(t) && (s->count[0] == 1 || s->stride[0] == 1);
}

void piece_forget_plain(planned_tensor *t, const view *v, const tensor_plan *plan)
{
    const checkpoint *c = plan->checkpoint;
    const checkpoint_tensor *from = t->from;
    const chunk *all = v->chunks;

    if (from == NULL || from < c->tensors || from >= c->tensors + c->tensor_count ||
        v->count != 1 || all->source == NULL || all->source != &c->files[from->file].source ||
        all->file != from->file || all->offset != from->offset || all->number != from->number ||
        all->swapped != from->swapped || !is_whole(t))
        return;
    piece_release(t, plan->allocator);
    t->piece = NULL;
}

const piece *planned_piece(const tensor_plan *plan, const planned_tensor *t, plain_piece *room)
{
    const checkpoint_tensor *from = t->from;

    if (t->piece != NULL)
        return t->piece;
    room->source = rows_in(&plan->checkpoint->files[from->file].source, from->file, from->offset,
                           from->number, from->swapped, t->dims[0]);
    room->source.count = rows_of(t);
    room->all = (segment){.count = {rows_of(t), 1, 1}, .stride = {1, 0, 0}};
    room->piece = (piece){.name = from->name,
                          .sources = &room->source,
                          .segments = &room->all,
                          .n_sources = 1,
                          .n_segments = 1};
    set_slices(t, &room->piece);
    room->piece.how = is_moved(t, &room->piece) ? PIECE_MOVE : PIECE_MAKE;
    return &room->piece;
}

void piece_release(planned_tensor *t, const gufo_allocator *a)
{
    if (t->is_lent || t->piece == NULL)
        return;
    mem_free(a, t->piece->sources);
    mem_free(a, t->piece->segments);
    mem_free(a, t->piece->ops);
    mem_free(a, t->piece);
}

void piece_lend(planned_tensor *t, piece *of_job, const gufo_allocator *a)
{
    piece_release(t, a);
    t->piece = of_job;
    t->is_lent = true;
}
