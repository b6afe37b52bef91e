/* Operations on shapes and parts of tensors: the rows of one are a part of its axis before the last, or
 * of its only one, so that a weight and its bias are treated alike. */
#include "import/architectures/operations/operations_shape.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

/* ---- shapes --------------------------------------------------------------------------------- */

gufo_status shape_transpose(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];

    if (v->n_dims < 2)
        return refuse(error, GUFO_E_ARGUMENT,
                      "it has %" PRIu32 " dimensions, and cannot be transposed", v->n_dims);
    return view_swap(v, v->n_dims - 2, v->n_dims - 1, error);
}

gufo_status shape_swap(const operation_call *c, gufo_error *error)
{
    uint64_t a = smaller(c->numbers[0], VIEW_DIMS), b = smaller(c->numbers[1], VIEW_DIMS);

    return view_swap(&c->item->views[c->view], (uint32_t)a, (uint32_t)b, error);
}

/* The size of the one axis that is left to find; false if none fits. */
static bool rest_of(uint64_t numbers, const uint64_t *shape, uint32_t n, uint64_t *rest)
{
    uint64_t known = 1;

    for (uint32_t i = 0; i < n; i++)
        if (shape[i] != SIZE_OF_REST && !checked_mul(known, shape[i], &known))
            return false;
    if (known == 0 || numbers % known != 0)
        return false;
    *rest = numbers / known;
    return true;
}

gufo_status shape_reshape(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    uint64_t shape[STEP_ARGUMENTS], rest;

    memcpy(shape, c->numbers, sizeof shape);
    for (uint32_t i = 0; i < c->n_arguments; i++) {
        if (shape[i] != SIZE_OF_REST)
            continue;
        if (!rest_of(v->numbers, shape, c->n_arguments, &rest))
            return refuse(error, GUFO_E_ARGUMENT,
                          "its %s numbers do not divide as the configuration says",
                          GROUPED(v->numbers));
        shape[i] = rest;
    }
    return view_reshape(v, c->n_arguments, shape, error);
}

gufo_status shape_squeeze(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    uint64_t shape[VIEW_DIMS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n_dims; i++)
        if (v->shape[i] != 1)
            shape[n++] = v->shape[i];
    return view_reshape(v, n, shape, error);
}

gufo_status shape_column(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    uint64_t shape[VIEW_DIMS];

    memcpy(shape, v->shape, sizeof shape);
    if (v->n_dims < VIEW_DIMS)
        shape[v->n_dims] = 1;
    return view_reshape(v, v->n_dims + 1, shape, error);
}

gufo_status shape_flatten(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    const uint64_t numbers = v->numbers;

    return view_reshape(v, 1, &numbers, error);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static uint32_t rows_axis(const view *v)
{
    return v->n_dims >= 2 ? v->n_dims - 2 : 0;
}

/* The axis that optional argument `index` names: "columns", or the rows. */
static uint32_t axis_of(const operation_call *c, uint32_t index, const view *v)
{
    bool columns =
        index < c->n_arguments && gufo_str_equal(c->texts[index], gufo_str_of("columns"));

    return columns && v->n_dims > 0 ? v->n_dims - 1 : rows_axis(v);
}

gufo_status shape_cut(item *it, uint32_t axis, uint32_t count, const uint64_t *begins,
                      const uint64_t *sizes, uint64_t step, gufo_error *error)
{
    view whole = it->views[0];
    gufo_status status = GUFO_OK;

    if (it->n_views != 1 || count > ITEM_VIEWS)
        return refuse(error, GUFO_E_ARGUMENT, "it is divided into too many parts");
    it->n_views = 0;
    for (uint32_t i = 0; i < count && status == GUFO_OK; i++) {
        status = view_copy(&it->views[it->n_views++], &whole, error);
        if (status == GUFO_OK)
            status = view_slice(&it->views[i], axis, begins[i], sizes[i], step, error);
    }
    view_free(&whole);
    return status;
}

static gufo_status fail_division(const view *v, uint32_t axis, uint64_t parts, gufo_error *error)
{
    return refuse(error, GUFO_E_ARGUMENT, "an axis of %s does not divide into %s",
                  GROUPED(v->n_dims > 0 ? v->shape[axis] : 1), GROUPED(parts));
}

gufo_status shape_divide(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[0];
    uint32_t axis = axis_of(c, 1, v);
    uint64_t parts = c->numbers[0], begins[ITEM_VIEWS], sizes[ITEM_VIEWS];

    if (v->n_dims == 0 || parts == 0 || parts > ITEM_VIEWS || v->shape[axis] % parts != 0)
        return fail_division(v, axis, parts, error);
    for (uint32_t i = 0; i < parts; i++) {
        sizes[i] = v->shape[axis] / parts;
        begins[i] = i * sizes[i];
    }
    return shape_cut(c->item, axis, (uint32_t)parts, begins, sizes, 1, error);
}

gufo_status shape_split(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[0];
    uint32_t axis = rows_axis(v);
    uint64_t begins[STEP_ARGUMENTS], end = 0;

    for (uint32_t i = 0; i < c->n_arguments; i++) {
        begins[i] = end;
        if (!checked_add(end, c->numbers[i], &end))
            return refuse(error, GUFO_E_ARGUMENT, "its parts are larger than any tensor");
    }
    if (v->n_dims == 0 || end != v->shape[axis])
        return refuse(error, GUFO_E_ARGUMENT, "it has %s rows, not the %s of the configuration",
                      GROUPED(v->n_dims > 0 ? v->shape[axis] : 1), GROUPED(end));
    return shape_cut(c->item, axis, c->n_arguments, begins, c->numbers, 1, error);
}

gufo_status shape_alternate(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[0];
    uint32_t axis = axis_of(c, 0, v);
    const uint64_t begins[2] = {0, 1};
    uint64_t sizes[2];

    if (v->n_dims == 0 || v->shape[axis] % 2 != 0)
        return fail_division(v, axis, 2, error);
    sizes[0] = sizes[1] = v->shape[axis] / 2;
    return shape_cut(c->item, axis, 2, begins, sizes, 2, error);
}

gufo_status shape_copy(const operation_call *c, gufo_error *error)
{
    item *it = c->item;

    if (it->n_views != 1)
        return refuse(error, GUFO_E_ARGUMENT, "it is divided into too many parts");
    return view_copy(&it->views[it->n_views++], &it->views[0], error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* 0: how many there are is not known, and all stay. */
gufo_status shape_first_rows(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];

    if (v->n_dims == 0 || c->numbers[0] == 0 || c->numbers[0] >= v->shape[0])
        return GUFO_OK;
    return view_slice(v, 0, 0, c->numbers[0], 1, error);
}

gufo_status shape_rows_from(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];

    if (v->n_dims == 0 || c->numbers[0] >= v->shape[0])
        return refuse(error, GUFO_E_ARGUMENT, "it has no more than %s rows",
                      GROUPED(c->numbers[0]));
    return view_slice(v, 0, c->numbers[0], v->shape[0] - c->numbers[0], 1, error);
}

enum { MOST_PADDED = 1024 }; /* rows that a tensor gets which has fewer */

gufo_status shape_pad_rows(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];

    if (v->n_dims == 0 || c->numbers[0] <= v->shape[0])
        return GUFO_OK;
    if (c->numbers[0] - v->shape[0] > larger(v->shape[0], MOST_PADDED))
        return refuse(error, GUFO_E_LIMIT,
                      "it has %s rows, far fewer than the %s of the configuration",
                      GROUPED(v->shape[0]), GROUPED(c->numbers[0]));
    return view_append_zeros(v, c->numbers[0] - v->shape[0], error);
}

enum { MOST_REPEATED = 4096 };

/* All entries again, until they are there as often as the argument says. */
gufo_status shape_repeat(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view], once = {0};
    uint64_t times = c->numbers[0], shape[2] = {1, v->numbers};
    gufo_status status;

    if (times == 0 || times > MOST_REPEATED)
        return refuse(error, GUFO_E_ARGUMENT, "it cannot occur %s times", GROUPED(times));
    status = view_reshape(v, 2, shape, error);
    if (status == GUFO_OK)
        status = view_copy(&once, v, error);
    for (uint64_t i = 1; i < times && status == GUFO_OK; i++)
        status = view_append(v, &once, 0, error);
    view_free(&once);
    return status;
}
