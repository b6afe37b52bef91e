/* The factors of a view of products.
 *
 * A number of the product is o * width + i.  In a chunk, steps that are whole multiples of the width go from
 * row to row of W, shorter ones from column to column.  Where the last axis of the view runs over
 * columns, its rows are rows of the first factor, in the same order, and its columns those of the second:
 *
 *     chunk     count 2 3 4  stride 12 4 1      W [6, 4], rank r
 *     rows      count 2 3 r  stride 3r r 1
 *     columns   count r 4    stride 4 1
 *
 * Where it runs over rows the view is W the other way round, and the factors change places.  Rows have to
 * share their columns, so that one matrix can be the second factor of a slice. */
#include "import/architectures/plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"
#include "import/containers/checkpoint.h"

enum { NUMBER_BYTES = 4 };

const number_type product_number = {
    .name = "product", .bits = 8 * NUMBER_BYTES, .kind = NUMBER_FLOAT, .type = -1};

/* ---- products ------------------------------------------------------------------------------- */

gufo_status product_place(product *p, checkpoint *seen, uint64_t *end, gufo_error *error)
{
    const uint64_t shape[CHECKPOINT_MAX_DIMS] = {p->height, p->width, 1, 1, 1, 1, 1, 1};
    const checkpoint_tensor *from = p->rows.tensor;
    uint64_t numbers, size;

    if (!checked_mul(p->height, p->width, &numbers) || !checked_mul(numbers, NUMBER_BYTES, &size) ||
        size > INT64_MAX - *end)
        return refuse(error, GUFO_E_LIMIT, "the product of %s has more numbers than can be counted",
                      QUOTED(p->own.name));
    p->begin = *end;
    p->own = (checkpoint_tensor){.name = p->own.name,
                                 .number = &product_number,
                                 .n_dims = 2,
                                 .is_product = true,
                                 .shape = shape,
                                 .file = from->file,
                                 .offset = *end,
                                 .elements = numbers};
    *end += size;
    return checkpoint_keep_shape(seen, &p->own, error);
}

bool products_own(const view *v)
{
    bool own = v->count > 0;

    for (uint64_t i = 0; i < v->count; i++)
        own = own && v->chunks[i].number == &product_number;
    return own;
}

/* ---- parts of a chunk ----------------------------------------------------------------------- */

/* A view that is divided. */
typedef struct division {
    const products *list;
    view *rows, *columns;
    uint64_t height, width; /* of a slice of the view */
    uint64_t done;          /* rows */
    const product *of;      /* that the last chunk is of */
} division;

/* A chunk of a view, and the steps of its axes: slices, rows, columns. */
typedef struct part {
    chunk chunk;
    const product *of;
    uint32_t groups[VIEW_DIMS + 1];
    uint64_t row, column; /* of W, where it begins */
} part;

static gufo_status fail_mixed(gufo_error *error)
{
    return refuse(
        error, GUFO_E_TYPE,
        "the rules of the architecture mix its rows with its columns, which the factors of "
        "an adapter cannot follow");
}

/* Whether counts [from, to) of a part step from row to row of W, or from column to column, and stay
 * inside. */
static bool steps_along(const part *p, uint32_t from, uint32_t to, bool down)
{
    const uint64_t width = p->of->width;
    uint64_t last = down ? p->row : p->column;

    for (uint32_t i = from; i < to; i++) {
        uint64_t stride = p->chunk.box.stride[i];

        if (down ? stride % width != 0 : stride >= width)
            return false;
        last += (p->chunk.box.count[i] - 1) * (down ? stride / width : stride);
    }
    return last < (down ? p->of->height : width);
}

/* Appends counts [from, to) of a part to a chunk of a factor. */
static bool copy_steps(chunk *c, const part *p, uint32_t from, uint32_t to, bool down,
                       const product_factor *f)
{
    for (uint32_t i = from; i < to; i++) {
        if (c->box.n == VIEW_DIMS)
            return false;
        c->box.count[c->box.n] = p->chunk.box.count[i];
        c->box.stride[c->box.n++] = p->chunk.box.stride[i] / (down ? p->of->width : 1) * f->side;
        c->numbers *= p->chunk.box.count[i];
    }
    return true;
}

static bool add_rank(chunk *c, const part *p, const product_factor *f)
{
    if (c->box.n == VIEW_DIMS)
        return false;
    c->box.count[c->box.n] = p->of->rank;
    c->box.stride[c->box.n++] = f->rank;
    c->numbers *= p->of->rank;
    return true;
}

/* A chunk of a factor that has one number so far: that of entry `at`. */
static chunk begin_chunk(const division *d, const product_factor *f, uint64_t at)
{
    const checkpoint_tensor *t = f->tensor;

    return (chunk){.source = &d->list->files->files[t->file].source,
                   .number = t->number,
                   .offset = t->offset + at * f->side * (t->number->bits / 8),
                   .numbers = 1,
                   .file = t->file,
                   .swapped = t->swapped};
}

static gufo_status add_times(view *v, const chunk *c, uint64_t times, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < times && status == GUFO_OK; i++)
        status = view_add_chunk(v, c, error);
    return status;
}

/* ---- rows that are rows --------------------------------------------------------------------- */

static bool is_same_chunk(const chunk *a, const chunk *b)
{
    const size_t size = a->box.n * sizeof *a->box.count;

    return a->source == b->source && a->offset == b->offset && a->box.n == b->box.n &&
           memcmp(a->box.count, b->box.count, size) == 0 &&
           memcmp(a->box.stride, b->box.stride, size) == 0;
}

/* The columns of `count` rows: once for each slice that begins with them. */
static gufo_status add_columns(const division *d, const part *p, const chunk *c, uint64_t count,
                               gufo_error *error)
{
    const view *so_far = d->columns;
    view one = {.allocator = so_far->allocator};
    uint64_t inside = d->done % d->height;
    bool same;
    gufo_status status;

    if (inside == 0 && (count <= d->height || count % d->height == 0))
        return add_times(d->columns, c, divide_up(count, d->height), error);
    if (inside + count > d->height)
        return fail_mixed(error);
    status = view_add_chunk(&one, c, error); /* in the same form as that which is there */
    if (status != GUFO_OK)
        return status;
    same = d->of == p->of && is_same_chunk(&so_far->chunks[so_far->count - 1], one.chunks);
    view_free(&one);
    return same ? GUFO_OK
                : refuse(error, GUFO_E_TYPE,
                         "its rows are those of several pairs, which have other columns each: one "
                         "pair of factors cannot be all of them");
}

static gufo_status add_straight(const division *d, const part *p, gufo_error *error)
{
    chunk left = begin_chunk(d, &p->of->rows, p->row),
          right = begin_chunk(d, &p->of->columns, p->column);
    gufo_status status;

    if (!copy_steps(&left, p, p->groups[0], p->groups[1], true, &p->of->rows) ||
        !add_rank(&left, p, &p->of->rows) || !add_rank(&right, p, &p->of->columns) ||
        !copy_steps(&right, p, p->groups[1], p->groups[2], false, &p->of->columns))
        return fail_mixed(error);
    status = view_add_chunk(d->rows, &left, error);
    return status == GUFO_OK ? add_columns(d, p, &right, left.numbers / p->of->rank, error)
                             : status;
}

/* ---- rows that are columns ------------------------------------------------------------------ */

/* The groups of the part are slices, rows, columns. */
static gufo_status add_turned(const division *d, const part *p, gufo_error *error)
{
    chunk left = begin_chunk(d, &p->of->columns, p->column),
          right = begin_chunk(d, &p->of->rows, p->row);
    const uint32_t *g = p->groups;
    gufo_status status;

    if (!copy_steps(&left, p, g[1], g[2], false, &p->of->columns) ||
        !add_rank(&left, p, &p->of->columns) ||
        !copy_steps(&right, p, g[0], g[1], true, &p->of->rows) ||
        !add_rank(&right, p, &p->of->rows) ||
        !copy_steps(&right, p, g[2], g[3], true, &p->of->rows))
        return fail_mixed(error);
    status = add_times(d->rows, &left, p->chunk.numbers / (d->height * d->width), error);
    return status == GUFO_OK ? view_add_chunk(d->columns, &right, error) : status;
}

/* ---- a chunk -------------------------------------------------------------------------------- */

static bool is_straight(part *p, const division *d)
{
    const uint64_t dims[2] = {p->chunk.numbers / d->width, d->width};

    return chunk_align(&p->chunk, 2, dims, p->groups) &&
           steps_along(p, p->groups[0], p->groups[1], true) &&
           steps_along(p, p->groups[1], p->groups[2], false);
}

static bool is_turned(part *p, const division *d)
{
    const uint64_t slice = d->height * d->width;
    const uint64_t dims[3] = {p->chunk.numbers / slice, d->height, d->width};
    uint64_t inner = 0, outer = 0;

    if (d->done % d->height != 0 || p->chunk.numbers % slice != 0 ||
        !chunk_align(&p->chunk, 3, dims, p->groups))
        return false;
    for (uint32_t i = p->groups[2]; i < p->groups[3]; i++)
        inner += (p->chunk.box.count[i] - 1) * (p->chunk.box.stride[i] / p->of->width);
    for (uint32_t i = p->groups[0]; i < p->groups[1]; i++)
        outer += (p->chunk.box.count[i] - 1) * (p->chunk.box.stride[i] / p->of->width);
    return steps_along(p, p->groups[0], p->groups[1], true) &&
           steps_along(p, p->groups[1], p->groups[2], false) &&
           steps_along(p, p->groups[2], p->groups[3], true) &&
           p->row + inner + outer < p->of->height;
}

static gufo_status divide_chunk(division *d, const chunk *c, gufo_error *error)
{
    const product *list = d->list->list;
    part p = {.chunk = *c,
              .of = &list[last_begun(&list->begin, sizeof *list, d->list->count, c->offset)]};
    const uint64_t number = (c->offset - p.of->begin) / NUMBER_BYTES;
    gufo_status status;

    if (c->number != &product_number || c->numbers % d->width != 0)
        return fail_mixed(error);
    p.row = number / p.of->width;
    p.column = number % p.of->width;
    if (d->of != NULL && (d->of->rank != p.of->rank || d->of->scale != p.of->scale))
        return refuse(error, GUFO_E_TYPE,
                      "its parts are pairs of rank %" PRIu64 " and of rank %" PRIu64
                      ", or with other values of alpha: one pair cannot be all of them",
                      d->of->rank, p.of->rank);
    if (is_straight(&p, d))
        status = add_straight(d, &p, error);
    else if (p.chunk = *c, is_turned(&p, d))
        status = add_turned(d, &p, error);
    else
        status = fail_mixed(error);
    d->done += c->numbers / d->width;
    d->of = p.of;
    return status;
}

/* ---- the view ------------------------------------------------------------------------------- */

/* Zeros that were appended to the rows: rows of the first factor. */
static gufo_status add_zero_rows(division *d, const chunk *c, gufo_error *error)
{
    chunk zeros = *c;

    if (d->of == NULL || c->numbers % d->width != 0 || d->done % d->height == 0)
        return fail_mixed(error);
    zeros.number = d->of->rows.tensor->number;
    zeros.swapped = d->of->rows.tensor->swapped;
    zeros.numbers = zeros.box.count[0] = c->numbers / d->width * d->of->rank;
    zeros.box.stride[0] = zeros.box.n = 1;
    d->done += c->numbers / d->width;
    return view_add_chunk(d->rows, &zeros, error);
}

static gufo_status set_shape(view *out, const view *v, uint64_t height, uint64_t width,
                             gufo_error *error)
{
    uint64_t shape[VIEW_DIMS];

    memcpy(shape, v->shape, sizeof shape);
    shape[v->n_dims - 2] = height;
    shape[v->n_dims - 1] = width;
    out->numbers = 0;
    for (uint64_t i = 0; i < out->count; i++)
        out->numbers += out->chunks[i].numbers;
    return view_reshape(out, v->n_dims, shape, error);
}

/* Multiplying is what the left factor can do for the product: by a number, which becomes part of *scale,
 * or every row by its own. */
static gufo_status follow_ops(const view *v, view *left, double *scale, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < v->n_ops && status == GUFO_OK; i++) {
        const row_op *op = &v->ops[i];

        if (op->kind == &row_op_scale && op->side[0] == NULL)
            *scale *= op->number;
        else if (op->kind == &row_op_scale_rows)
            status = view_operate(left, op, error);
        else if (op->kind != &row_op_round_f32)
            status = refuse(error, GUFO_E_TYPE,
                            "the rules of the architecture compute with its numbers, which the "
                            "factors of an adapter cannot follow");
    }
    return status;
}

gufo_status products_divide(const products *list, const view *v, view *left, view *right,
                            double *scale, gufo_error *error)
{
    division d = {.list = list, .rows = left, .columns = right};
    gufo_status status = GUFO_OK;

    *left = *right = (view){.allocator = v->allocator, .checkpoint = list->files};
    if (v->n_dims < 2 || v->numbers == 0)
        return fail_mixed(error);
    d.height = v->shape[v->n_dims - 2];
    d.width = v->shape[v->n_dims - 1];
    for (uint64_t i = 0; i < v->count && status == GUFO_OK; i++)
        status = chunk_is_zeros(&v->chunks[i]) ? add_zero_rows(&d, &v->chunks[i], error)
                                               : divide_chunk(&d, &v->chunks[i], error);
    if (status == GUFO_OK)
        status = set_shape(left, v, d.height, d.of->rank, error);
    if (status == GUFO_OK)
        status = set_shape(right, v, d.of->rank, d.width, error);
    *scale = d.of != NULL ? d.of->scale : 1;
    return status == GUFO_OK ? follow_ops(v, left, scale, error) : status;
}
