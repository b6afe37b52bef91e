/* Boxes become pieces.
 *
 *     cut     a box whose numbers do not follow each other in the checkpoint is cut along its longest
 *             step there, until what is left does: ranges
 *     sort    ranges, in the order of the checkpoint
 *     group   neighbours that are made in the same way are one piece: rows that are copied, or columns
 *             that become rows
 *
 * Two tensors that alternate (gate and up of some experts) are one box, if the file has them at a
 * distance of whole rows. */
#include "import/export/tensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/half.h"
#include "import/architectures/plan/plan.h"

enum { MOST_RANGES = 1 << 20 };

/* A box whose numbers follow each other in the checkpoint. */
typedef struct range {
    box box;
    uint64_t numbers;
    uint64_t height; /* columns of so many numbers become rows; 0: rows stay rows */
    uint64_t width;
    uint32_t column; /* the axis of the box that is a column */
} range;

typedef struct arranging {
    gufo_job *job;
    const inversion *v;
    const gufo_allocator *a;
    const undoing *undoing;
    const gufo_element_type *type;
    uint64_t place, row; /* of the next piece in the target, and its first number */
    uint32_t target;
    range *ranges;
    uint64_t range_count, range_room;
    /* The piece that is made, and what belongs to its sources: */
    piece piece;
    uint64_t *tensors;
    uint64_t columns, source_room, tensor_room, segment_room;
} arranging;

/* ---- boxes ---------------------------------------------------------------------------------- */

static void copy_axis(strided_pair *p, uint32_t to, uint32_t from)
{
    p->count[to] = p->count[from];
    p->to[to] = p->to[from];
    p->from[to] = p->from[from];
}

/* Puts the axes in the order of their steps in the checkpoint, longest first; those of one entry say
 * nothing, and one that continues the next is part of it. */
static void simplify(strided_pair *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t count = p->count[i], to = p->to[i], from = p->from[i];
        uint32_t at = n;

        if (count == 1)
            continue;
        for (; at > 0 && p->to[at - 1] < to; at--)
            copy_axis(p, at, at - 1);
        p->count[at] = count;
        p->to[at] = to;
        p->from[at] = from;
        n++;
    }
    p->n = n;
    for (uint32_t i = n; i-- > 1;) {
        if (p->to[i - 1] != p->count[i] * p->to[i] || p->from[i - 1] != p->count[i] * p->from[i])
            continue;
        p->count[i] *= p->count[i - 1];
        strided_pair_remove(p, i - 1);
    }
}

/* Whether its numbers follow each other in the checkpoint. */
static bool is_range(const box *b)
{
    uint64_t step = 1;

    for (uint32_t i = b->walk.n; i > 0; i--) {
        if (b->walk.to[i - 1] != step)
            return false;
        step *= b->walk.count[i - 1];
    }
    return true;
}

/* Whether both have the same counts and steps. */
static bool same_walk(const box *a, const box *b)
{
    return boxes_fill_alike(a, b) &&
           memcmp(a->walk.from, b->walk.from, a->walk.n * sizeof *a->walk.from) == 0;
}

/* How far behind tensor `a` tensor `b` is in the file, in numbers; false if it is not, or not at whole
 * rows of the same type. */
static bool distance(const arranging *r, uint64_t a, uint64_t b, uint64_t *numbers)
{
    gufo_tensor x, y;
    uint64_t row, bytes;

    (void)gufo_model_tensor_at(r->v->model, a, &x);
    (void)gufo_model_tensor_at(r->v->model, b, &y);
    if (x.shard != y.shard || x.type != y.type || x.dims[0] != y.dims[0] ||
        x.offset == GUFO_NO_OFFSET || y.offset < x.offset)
        return false;
    row = x.size / (x.elements / x.dims[0]);
    bytes = y.offset - x.offset;
    return row > 0 && bytes % row == 0 && checked_mul(bytes / row, x.dims[0], numbers);
}

/* Makes one box of two that alternate; false if they cannot be one. */
static bool join_boxes(const arranging *r, box *a, const box *b)
{
    uint64_t numbers, from;

    if (a->walk.n == VIEW_DIMS || is_range(a) || !same_walk(a, b) || b->to <= a->to ||
        !distance(r, a->tensor, b->tensor, &numbers) || !checked_add(numbers, b->from, &from) ||
        from < a->from)
        return false;
    a->walk.count[a->walk.n] = 2;
    a->walk.to[a->walk.n] = b->to - a->to;
    a->walk.from[a->walk.n++] = from - a->from;
    simplify(&a->walk);
    return true;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* Finds the axis that is a column, if rows are not rows. */
static void find_column(range *g)
{
    const box *b = &g->box;
    uint32_t column = b->walk.n;

    g->height = g->width = 0;
    for (uint32_t i = 0; i < b->walk.n; i++)
        if (b->walk.from[i] == 1)
            column = i;
    if (column == b->walk.n || b->walk.to[column] == 1)
        return;
    for (uint32_t i = 0; i < b->walk.n; i++)
        if (i != column && b->walk.from[i] % b->walk.count[column] != 0)
            return;
    if (b->from % b->walk.count[column] != 0)
        return;
    g->height = b->walk.count[column];
    g->width = b->walk.to[column];
    g->column = column;
}

static gufo_status add_range(arranging *r, const box *b, gufo_error *error)
{
    range *list = mem_grow(r->a, r->ranges, r->range_count, &r->range_room, sizeof *list), *g;

    if (list == NULL)
        return fail_memory(error);
    r->ranges = list;
    g = &list[r->range_count++];
    *g = (range){.box = *b, .numbers = box_numbers(b)};
    find_column(g);
    return GUFO_OK;
}

static gufo_status cut(arranging *r, const box *b, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    box part = *b;

    if (is_range(b))
        return add_range(r, b, error);
    strided_pair_remove(&part.walk, 0);
    for (uint64_t i = 0; i < b->walk.count[0] && status == GUFO_OK; i++) {
        if (r->range_count >= MOST_RANGES)
            return refuse(error, GUFO_E_LIMIT, "its numbers come from too many places");
        status = cut(r, &part, error);
        part.to += b->walk.to[0];
        part.from += b->walk.from[0];
    }
    return status;
}

/* Of the same numbers those of the tensor that the model has first come first, on every machine. */
static bool is_range_before(const void *a, const void *b)
{
    const range *x = a, *y = b;

    if (x->box.to != y->box.to)
        return x->box.to < y->box.to;
    if (x->numbers != y->numbers)
        return x->numbers > y->numbers;
    if (x->box.tensor != y->box.tensor)
        return x->box.tensor < y->box.tensor;
    return x->box.from < y->box.from;
}

/* Removes what a range before has: numbers that several tensors of the model have, too. */
static void remove_copies(arranging *r)
{
    uint64_t end = 0, kept = 0;

    for (uint64_t i = 0; i < r->range_count; i++) {
        const range g = r->ranges[i];

        if (kept > 0 && g.box.to < end)
            continue;
        end = g.box.to + g.numbers;
        r->ranges[kept++] = g;
    }
    r->range_count = kept;
}

static gufo_status find_ranges(arranging *r, gufo_error *error)
{
    const box *boxes = r->v->boxes + r->undoing->first_box;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < r->undoing->box_count && status == GUFO_OK; i++) {
        box b = boxes[i], next;

        simplify(&b.walk);
        if (i + 1 < r->undoing->box_count) {
            next = boxes[i + 1];
            simplify(&next.walk);
            i += join_boxes(r, &b, &next);
        }
        status = cut(r, &b, error);
    }
    if (status != GUFO_OK || r->range_count == 0)
        return status;
    sort_items(r->ranges, (size_t)r->range_count, sizeof *r->ranges, is_range_before);
    remove_copies(r);
    return GUFO_OK;
}

/* ---- sources -------------------------------------------------------------------------------- */

/* The rows of a tensor, of r->columns numbers, up to number `end`. */
static gufo_status rows_of_tensor(const arranging *r, uint64_t index, uint64_t end, rows *out,
                                  gufo_error *error)
{
    gufo_tensor t;
    uint32_t input;
    gufo_status status;

    (void)gufo_model_tensor_at(r->v->model, index, &t);
    status = job_add_model(r->job, r->v->model, t.shard, &input, error);
    if (status != GUFO_OK)
        return status;
    *out = job_tensor_rows(r->job, input, &t, index);
    if (out->type == NULL || (out->source == NULL && out->columns != r->columns))
        return refuse(error, GUFO_E_TYPE, "tensor %s cannot be rearranged: %s", QUOTED(t.name),
                      out->type == NULL ? "its type is not known" : "it is not in a file");
    if (r->columns % out->type->block_elements != 0)
        return refuse(error, GUFO_E_TYPE,
                      "tensor %s has blocks of %" PRIu32
                      " numbers, which go to several places: decode it first, to F16 or BF16",
                      QUOTED(t.name), out->type->block_elements);
    if (out->source != NULL) {
        out->columns = r->columns;
        out->row_bytes = r->columns / out->type->block_elements * out->type->block_bytes;
        out->count = divide_up(end, r->columns);
    }
    return GUFO_OK;
}

static gufo_status add_source(arranging *r, const rows *from, uint64_t tensor, gufo_error *error)
{
    piece *p = &r->piece;
    rows *list = mem_grow(r->a, p->sources, p->n_sources, &r->source_room, sizeof *list);
    uint64_t *tensors = mem_grow(r->a, r->tensors, p->n_sources, &r->tensor_room, sizeof *tensors);

    if (list != NULL)
        p->sources = list;
    if (tensors != NULL)
        r->tensors = tensors;
    if (list == NULL || tensors == NULL)
        return fail_memory(error);
    tensors[p->n_sources] = tensor;
    list[p->n_sources++] = *from;
    return GUFO_OK;
}

/* The source that has numbers of a tensor up to `end`; UINT64_MAX means zeros. */
static gufo_status find_source(arranging *r, uint64_t tensor, uint64_t end, uint32_t *number,
                               gufo_error *error)
{
    rows from = {.read = gather_zeros,
                 .columns = r->columns,
                 .count = divide_up(end, r->columns),
                 .type = gufo_element_type_by_id(GUFO_TYPE_F32),
                 .row_bytes = r->columns * sizeof(float)};
    gufo_status status = GUFO_OK;

    for (uint32_t i = r->piece.n_sources; i-- > 0;)
        if (r->tensors[i] == tensor) {
            *number = i;
            r->piece.sources[i].count =
                larger(r->piece.sources[i].count, divide_up(end, r->columns));
            return GUFO_OK;
        }
    if (tensor != UINT64_MAX)
        status = rows_of_tensor(r, tensor, end, &from, error);
    *number = r->piece.n_sources;
    return status == GUFO_OK ? add_source(r, &from, tensor, error) : status;
}

/* ---- segments ------------------------------------------------------------------------------- */

static gufo_status add_segment(void *context, const segment *s, gufo_error *error)
{
    arranging *r = context;
    piece *p = &r->piece;
    segment *list = mem_grow(r->a, p->segments, p->n_segments, &r->segment_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    p->segments = list;
    list[p->n_segments++] = *s;
    return GUFO_OK;
}

/* The last number of a box, + 1. */
static uint64_t end_of(const box *b)
{
    uint64_t end = b->from + 1;

    for (uint32_t i = 0; i < b->walk.n; i++)
        end += (b->walk.count[i] - 1) * b->walk.from[i];
    return end;
}

/* Adds the rows of a range, of r->columns numbers. */
static gufo_status add_range_rows(arranging *r, const range *g, gufo_error *error)
{
    strided_pair walk = g->box.walk;
    segment at = {.first = g->box.from / r->columns};
    strided_box steps;
    gufo_status status = find_source(r, g->box.tensor, end_of(&g->box), &at.source, error);

    if (g->height > 0) { /* a column of it is a row of the source */
        strided_pair_remove(&walk, g->column);
    } else if (walk.n > 0 && walk.from[walk.n - 1] == 1) {
        walk.count[walk.n - 1] /= r->columns;
        walk.from[walk.n - 1] = r->columns;
    }
    steps.n = walk.n;
    for (uint32_t i = 0; i < walk.n; i++) {
        steps.count[i] = walk.count[i];
        steps.stride[i] = walk.from[i] / r->columns;
    }
    return status == GUFO_OK ? strided_segments(&steps, at, add_segment, r, error) : status;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* The longest row that all ranges [first, last) consist of, up to a row of their tensor. */
static uint64_t columns_of(const arranging *r, uint64_t first, uint64_t last)
{
    gufo_tensor t;
    uint64_t columns;

    (void)gufo_model_tensor_at(r->v->model, r->ranges[first].box.tensor, &t);
    columns = t.dims[0];
    for (uint64_t i = first; i < last; i++) {
        const box *b = &r->ranges[i].box;
        bool has_run = b->walk.n > 0 && b->walk.from[b->walk.n - 1] == 1;

        columns = common_divisor(columns, has_run ? b->walk.count[b->walk.n - 1] : 1);
        columns = common_divisor(columns, b->from);
        for (uint32_t k = 0; k + has_run < b->walk.n; k++)
            columns = common_divisor(columns, b->walk.from[k]);
    }
    return columns;
}

static bool is_moved(const arranging *r)
{
    const piece *p = &r->piece;

    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != r->type || p->sources[i].swapped)
            return false;
    return p->n_ops == 0 && !p->transpose;
}

static bool needs_encoding(const arranging *r)
{
    for (uint32_t i = 0; i < r->piece.n_sources; i++)
        if (r->piece.sources[i].type != r->type)
            return true;
    return r->piece.n_ops > 0;
}

/* Ends the piece that has `numbers` numbers. */
static gufo_status add_piece(arranging *r, uint64_t numbers, gufo_error *error)
{
    piece *p = &r->piece;
    const bool encodes = needs_encoding(r);
    made result = {.target = r->target,
                   .type = r->type,
                   .encode = encodes,
                   .measure = encodes && r->type->id == GUFO_TYPE_F16};
    gufo_status status;

    p->how = is_moved(r) ? PIECE_MOVE : PIECE_MAKE;
    p->made = &result;
    p->n_made = 1;
    result.row_bytes = p->columns * r->type->block_bytes;
    result.place = r->place + r->row * r->type->block_bytes;
    status = job_add_piece(r->job, p, error);
    p->made = NULL;
    p->n_sources = p->n_segments = 0;
    r->row += numbers;
    return status;
}

static gufo_status add_zeros(arranging *r, uint64_t numbers, gufo_error *error)
{
    const box zeros = {.tensor = UINT64_MAX, .walk = {.n = 1, .count = {numbers}, .from = {1}}};
    const range g = {.box = zeros, .numbers = numbers};
    gufo_status status;

    r->columns = 1;
    status = add_range_rows(r, &g, error);
    r->piece.columns = 1;
    r->piece.slices = 1;
    r->piece.slice_rows = numbers;
    r->piece.transpose = false;
    return status == GUFO_OK ? add_piece(r, numbers, error) : status;
}

/* Ranges [first, last), which follow each other and are made in the same way. */
static gufo_status add_group(arranging *r, uint64_t first, uint64_t last, gufo_error *error)
{
    const range *g = &r->ranges[first];
    uint64_t numbers = 0;
    gufo_status status = GUFO_OK;

    r->columns = g->height > 0 ? g->height : columns_of(r, first, last);
    for (uint64_t i = first; i < last && status == GUFO_OK; i++) {
        numbers += r->ranges[i].numbers;
        status = add_range_rows(r, &r->ranges[i], error);
    }
    r->piece.transpose = g->height > 0;
    r->piece.columns = g->height > 0 ? g->width : r->columns;
    r->piece.slices = g->height > 0 ? numbers / (g->height * g->width) : 1;
    r->piece.slice_rows = g->height > 0 ? g->height : numbers / r->columns;
    return status == GUFO_OK ? add_piece(r, numbers, error) : status;
}

static bool same_group(const range *a, const range *b)
{
    return a->height == b->height && a->width == b->width && a->box.to + a->numbers == b->box.to;
}

static gufo_status add_all(arranging *r, uint64_t numbers, gufo_error *error)
{
    gufo_status status = find_ranges(r, error);

    for (uint64_t first = 0, last; first < r->range_count && status == GUFO_OK; first = last) {
        if (r->ranges[first].box.to > r->row)
            status = add_zeros(r, r->ranges[first].box.to - r->row, error);
        last = first + 1;
        while (last < r->range_count && same_group(&r->ranges[last - 1], &r->ranges[last]))
            last++;
        if (status == GUFO_OK)
            status = add_group(r, first, last, error);
    }
    if (status == GUFO_OK && r->row < numbers)
        status = add_zeros(r, numbers - r->row, error);
    return status;
}

/* ---- numbers of keys ------------------------------------------------------------------------- */

static gufo_status read_given(const struct rows *r, uint64_t first, uint64_t count, void *out,
                              gufo_error *error)
{
    const given_number *given = r->context;

    (void)first, (void)count, (void)error;
    store_u32(out, float_to_bits(given->value), bytes_swapped(false));
    return GUFO_OK;
}

static const given_number *find_given(const made_up *m, uint64_t owner)
{
    const given_number *last;

    if (m->given_count == 0 || m->given[0].tensor > owner)
        return NULL;
    last = &m->given[last_begun(&m->given->tensor, sizeof *m->given, m->given_count, owner)];
    return last->tensor == owner ? last : NULL;
}

static gufo_status add_given(arranging *r, const given_number *given, gufo_error *error)
{
    const rows one = {.read = read_given,
                      .generated = true,
                      .context = (void *)given,
                      .row_bytes = sizeof(float),
                      .count = 1,
                      .columns = 1,
                      .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    const made result = {.target = r->target,
                         .place = r->place,
                         .row_bytes = r->type->block_bytes,
                         .type = r->type,
                         .encode = true};

    return job_add_rows(r->job, PIECE_MAKE, r->piece.name, &one, &result, 1, error);
}

gufo_status arrange(gufo_job *job, const inversion *v, uint64_t owner,
                    const gufo_element_type *type, uint32_t target, uint64_t place,
                    gufo_error *error)
{
    const undoing *u = &v->undoings[owner];
    arranging r = {.job = job,
                   .v = v,
                   .a = v->allocator,
                   .undoing = u,
                   .type = type,
                   .target = target,
                   .place = place};
    const given_number *given;
    gufo_status status;

    r.piece.name = v->made->checkpoint.tensors[owner].name;
    r.piece.ops = (row_op *)u->ops; /* job_add_piece copies them */
    r.piece.n_ops = u->n_ops;
    given = find_given(v->made, owner);
    status = given != NULL ? add_given(&r, given, error)
                           : add_all(&r, v->made->checkpoint.tensors[owner].elements, error);
    mem_free(r.a, r.ranges);
    mem_free(r.a, r.piece.sources);
    mem_free(r.a, r.piece.segments);
    mem_free(r.a, r.tensors);
    return status;
}
