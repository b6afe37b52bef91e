/* Operations that put the rows of heads in another order: the rows are divided into axes, two axes are
 * swapped or one is cut, and the axes become rows again. */
#include "import/architectures/operations/operations_heads.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "import/architectures/operations/operations_shape.h"

/* ---- axes ----------------------------------------------------------------------------------- */

/* Divides axis 0 into `n` axes; all others become one. */
static gufo_status divide_rows(view *v, uint32_t n, const uint64_t *sizes, gufo_error *error)
{
    uint64_t shape[VIEW_DIMS], all = 1;

    for (uint32_t i = 0; i < n; i++) {
        shape[i] = sizes[i];
        if (!checked_mul(all, sizes[i], &all))
            all = UINT64_MAX;
    }
    if (v->n_dims == 0 || all == 0 || v->shape[0] != all)
        return refuse(error, GUFO_E_ARGUMENT, "its %s rows do not divide as the configuration says",
                      GROUPED(v->n_dims > 0 ? v->shape[0] : 1));
    shape[n] = v->numbers / all;
    return view_reshape(v, n + 1, shape, error);
}

/* Gives a view the shape that it had, with another number of rows. */
static gufo_status join_rows(view *v, const view *before, gufo_error *error)
{
    uint64_t shape[VIEW_DIMS], entry = before->numbers / larger(before->shape[0], 1);

    memcpy(shape, before->shape, sizeof shape);
    shape[0] = entry == 0 ? 0 : v->numbers / entry;
    return view_reshape(v, before->n_dims, shape, error);
}

/* Divides the rows, swaps two of the axes, and joins them. */
static gufo_status swap_rows(view *v, uint32_t n, const uint64_t *sizes, uint32_t a, uint32_t b,
                             gufo_error *error)
{
    const view before = *v;
    gufo_status status = divide_rows(v, n, sizes, error);

    if (status == GUFO_OK)
        status = view_swap(v, a, b, error);
    return status == GUFO_OK ? join_rows(v, &before, error) : status;
}

/* The size of one of `parts` parts of an axis; 0 if they do not divide. */
static uint64_t part_of(uint64_t size, uint64_t parts)
{
    return parts == 0 || size % parts != 0 ? 0 : size / parts;
}

static uint64_t rows_of(const view *v)
{
    return v->n_dims > 0 ? v->shape[0] : 1;
}

/* ---- rotary positions ----------------------------------------------------------------------- */

gufo_status heads_permute(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    uint64_t heads = c->numbers[0], half = part_of(part_of(rows_of(v), heads), 2);
    const uint64_t sizes[] = {heads, 2, half};

    return half == 0 ? refuse(error, GUFO_E_ARGUMENT,
                              "its %s rows do not divide into %s heads of an even size",
                              GROUPED(rows_of(v)), GROUPED(heads))
                     : swap_rows(v, 3, sizes, 1, 2, error);
}

/* Arguments: the size of a head, and of its rotary part. */
gufo_status heads_unpermute(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view], rest = {0};
    const view before = *v;
    uint64_t size = c->numbers[0], rotary = c->numbers[1], heads = part_of(rows_of(v), size);
    const uint64_t whole[] = {heads, size}, halves[] = {heads, part_of(rotary, 2), 2};
    gufo_status status;

    if (heads == 0 || halves[1] == 0 || rotary > size)
        return refuse(error, GUFO_E_ARGUMENT, "its %s rows are not heads of %s with %s rotary rows",
                      GROUPED(rows_of(v)), GROUPED(size), GROUPED(rotary));
    status = divide_rows(v, 2, whole, error);
    if (status == GUFO_OK)
        status = view_copy(&rest, v, error);
    if (status == GUFO_OK)
        status = view_slice(&rest, 1, rotary, size - rotary, 1, error);
    if (status == GUFO_OK)
        status = view_slice(v, 1, 0, rotary, 1, error);
    if (status == GUFO_OK) {
        const uint64_t shape[] = {halves[0], halves[1], halves[2], v->shape[2]};
        const uint64_t again[] = {heads, rotary, v->shape[2]};

        status = view_reshape(v, 4, shape, error);
        if (status == GUFO_OK)
            status = view_swap(v, 1, 2, error);
        if (status == GUFO_OK)
            status = view_reshape(v, 3, again, error);
    }
    if (status == GUFO_OK && rotary < size)
        status = view_append(v, &rest, 1, error);
    view_free(&rest);
    return status == GUFO_OK ? join_rows(v, &before, error) : status;
}

/* ---- q, k, v -------------------------------------------------------------------------------- */

gufo_status heads_regroup3(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    uint64_t heads = c->numbers[0];
    const uint64_t sizes[] = {heads, 3, part_of(part_of(rows_of(v), 3), heads)};

    return swap_rows(v, 3, sizes, 0, 1, error);
}

/* Cuts the only view into entries [begins[i], begins[i] + sizes[i]) of axis 1 of the divided rows, which
 * become rows again. */
static gufo_status cut_groups(item *it, uint32_t n, const uint64_t *divided, uint32_t parts,
                              const uint64_t *begins, const uint64_t *sizes, gufo_error *error)
{
    view before = it->views[0];
    gufo_status status = divide_rows(&it->views[0], n, divided, error);

    if (status == GUFO_OK)
        status = shape_cut(it, 1, parts, begins, sizes, 1, error);
    for (uint32_t i = 0; i < it->n_views && status == GUFO_OK; i++)
        status = join_rows(&it->views[i], &before, error);
    return status;
}

/* Joins views first, first + 1 ... of an item, `count` of them, into the first. */
static gufo_status join_views(item *it, uint32_t first, uint32_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 1; i < count; i++) {
        if (status == GUFO_OK)
            status = view_append(&it->views[first], &it->views[first + i], 0, error);
        view_free(&it->views[first + i]);
    }
    for (uint32_t i = first + count; i < it->n_views; i++)
        it->views[i - count + 1] = it->views[i];
    it->n_views -= count - 1;
    return status;
}

/* Arguments: heads, and heads of k and v. */
gufo_status heads_split_kv(const operation_call *c, gufo_error *error)
{
    uint64_t heads = c->numbers[0], kv = c->numbers[1], group = part_of(heads, kv);
    const uint64_t divided[] = {kv, group + 2,
                                part_of(rows_of(&c->item->views[0]), kv * (group + 2))};
    const uint64_t begins[] = {0, group, group + 1}, sizes[] = {group, 1, 1};

    if (group == 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s heads do not divide into %s groups",
                      GROUPED(heads), GROUPED(kv));
    return cut_groups(c->item, 3, divided, 3, begins, sizes, error);
}

gufo_status heads_regroup_kv(const operation_call *c, gufo_error *error)
{
    gufo_status status = heads_split_kv(c, error);

    return status == GUFO_OK ? join_views(c->item, 0, 3, error) : status;
}

/* Arguments: heads of k, sizes of a head of k and of v, heads of v for each of k. */
gufo_status heads_qkvz(const operation_call *c, gufo_error *error)
{
    uint64_t heads = c->numbers[0], dk = c->numbers[1], dv, unit;
    gufo_status status;

    if (!checked_mul(c->numbers[2], c->numbers[3], &dv) || dk > UINT64_MAX / 8 ||
        dv > UINT64_MAX / 8)
        return refuse(error, GUFO_E_ARGUMENT, "its heads are larger than any tensor");
    unit = 2 * dk + 2 * dv;
    const uint64_t divided[] = {heads, unit}, begins[] = {0, dk, 2 * dk, 2 * dk + dv};
    const uint64_t sizes[] = {dk, dk, dv, dv};

    status = cut_groups(c->item, 2, divided, 4, begins, sizes, error);
    return status == GUFO_OK ? join_views(c->item, 0, 3, error) : status;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Arguments: heads of k, heads of v for each of them, rows of a head; the rows before them, which
 * stay. */
gufo_status heads_tile(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view], head = {0};
    uint64_t kept = c->n_arguments > 3 ? c->numbers[3] : 0;
    gufo_status status = GUFO_OK;

    if (kept > rows_of(v) || v->n_dims == 0)
        return refuse(error, GUFO_E_ARGUMENT, "it has %s rows, fewer than %s", GROUPED(rows_of(v)),
                      GROUPED(kept));
    if (kept > 0) {
        status = view_copy(&head, v, error);
        if (status == GUFO_OK)
            status = view_slice(&head, 0, 0, kept, 1, error);
        if (status == GUFO_OK)
            status = view_slice(v, 0, kept, rows_of(v) - kept, 1, error);
    }
    if (status == GUFO_OK)
        status = swap_rows(v, 3, c->numbers, 0, 1, error);
    if (status == GUFO_OK && kept > 0) {
        view tiled = *v;

        *v = head;
        head = tiled;
        status = view_append(v, &head, 0, error);
    }
    view_free(&head);
    return status;
}

/* The same for the last axis. */
gufo_status heads_tile_columns(const operation_call *c, gufo_error *error)
{
    view *v = &c->item->views[c->view];
    const view before = *v;
    uint64_t columns = v->n_dims > 0 ? v->shape[v->n_dims - 1] : 1, all;
    gufo_status status;

    if (!checked_mul(c->numbers[0], c->numbers[1], &all) ||
        !checked_mul(all, c->numbers[2], &all) || all != columns || all == 0)
        return refuse(error, GUFO_E_ARGUMENT,
                      "its %s columns do not divide as the configuration says", GROUPED(columns));
    const uint64_t shape[] = {v->numbers / all, c->numbers[0], c->numbers[1], c->numbers[2]};

    status = view_reshape(v, 4, shape, error);
    if (status == GUFO_OK)
        status = view_swap(v, 1, 2, error);
    return status == GUFO_OK ? view_reshape(v, before.n_dims, before.shape, error) : status;
}
