/* Operations that compute nothing: they change the names of tensors, and where their numbers are.
 *
 *     names    new names, new numbers of blocks; tensors that are dropped
 *     shapes   axes, and parts of them: the rows of a tensor are its axis before the last, or its only
 *              one, so that a weight and its bias are treated alike
 *     heads    rows of heads in another order */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/operations/operation.h"

/* ---- names ---------------------------------------------------------------------------------- */

static gufo_status fail_long(gufo_error *error)
{
    return refuse(error, GUFO_E_LIMIT, "its name becomes longer than %d bytes", ITEM_NAME);
}

/* Replaces bytes [at, at + len) of the name. */
static bool replace(item *it, size_t at, size_t len, gufo_str by)
{
    size_t all = strlen(it->name);

    if (all - len + by.len > ITEM_NAME)
        return false;
    memmove(it->name + at + by.len, it->name + at + len, all - at - len + 1);
    if (by.len > 0)
        memcpy(it->name + at, by.data, by.len);
    return true;
}

gufo_status names_rename(const operation_call *c, gufo_error *error)
{
    item *it = c->item;
    gufo_str from = c->texts[0], to = c->n_arguments > 1 ? c->texts[1] : (gufo_str){"", 0};
    size_t at = 0;
    const char *found;

    while ((found = str_search(gufo_str_of(it->name + at), from)) != NULL) {
        at = (size_t)(found - it->name);
        if (!replace(it, at, from.len, to))
            return fail_long(error);
        at += to.len;
    }
    return GUFO_OK;
}

gufo_status names_strip(const operation_call *c, gufo_error *error)
{
    gufo_str start = c->texts[0];

    (void)error;
    if (strlen(c->item->name) >= start.len && memcmp(c->item->name, start.data, start.len) == 0)
        (void)replace(c->item, 0, start.len, (gufo_str){"", 0});
    return GUFO_OK;
}

gufo_status names_begin(const operation_call *c, gufo_error *error)
{
    return replace(c->item, 0, 0, c->texts[0]) ? GUFO_OK : fail_long(error);
}

gufo_status names_end(const operation_call *c, gufo_error *error)
{
    return replace(c->item, strlen(c->item->name), 0, c->texts[0]) ? GUFO_OK : fail_long(error);
}

/* The first part of a name that has digits alone; an empty text: none. */
static gufo_str block_of(const char *name)
{
    gufo_str rest = gufo_str_of(name);

    while (rest.len > 0) {
        const char *dot = memchr(rest.data, '.', rest.len);
        gufo_str part = {rest.data, dot != NULL ? (size_t)(dot - rest.data) : rest.len};

        if (part.len > 0 && str_digits(part, 0) == part.len)
            return part;
        rest = str_from(rest, part.len + (part.len < rest.len));
    }
    return rest;
}

uint64_t names_block(const char *name)
{
    gufo_str part = block_of(name);
    uint64_t number;

    return part.len > 0 && str_number(part, &number) ? number : UINT64_MAX;
}

/* Puts `more` and the number of the block that the name has, times `times`, in the place of that. */
static gufo_status set_block(const operation_call *c, uint64_t times, uint64_t more,
                             gufo_error *error)
{
    gufo_str part = block_of(c->item->name);
    uint64_t number;
    char text[32];

    if (part.len == 0 || !str_number(part, &number) || !checked_add(number * times, more, &number))
        return refuse(error, GUFO_E_ARGUMENT, "its name has no number of a block");
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return replace(c->item, (size_t)(part.data - c->item->name), part.len, gufo_str_of(text))
               ? GUFO_OK
               : fail_long(error);
}

gufo_status names_renumber(const operation_call *c, gufo_error *error)
{
    return set_block(c, 1, c->numbers[0], error);
}

gufo_status names_number(const operation_call *c, gufo_error *error)
{
    return set_block(c, 0, c->numbers[0], error);
}

/* ---- tensors -------------------------------------------------------------------------------- */

gufo_status names_keep(const operation_call *c, gufo_error *error)
{
    (void)c, (void)error;
    return GUFO_OK;
}

gufo_status names_drop(const operation_call *c, gufo_error *error)
{
    (void)error;
    c->item->fate = ITEM_DROPPED;
    return GUFO_OK;
}

gufo_status names_skip(const operation_call *c, gufo_error *error)
{
    c->item->skipped = true;
    return names_drop(c, error);
}

/* The first tensor of a group stays, the others are dropped. */
gufo_status names_first(const operation_call *c, gufo_error *error)
{
    planner *p = c->planner;
    gufo_str *list;

    for (uint64_t i = 0; i < p->first_count; i++)
        if (gufo_str_equal(p->firsts[i], c->texts[0]))
            return names_drop(c, error);
    list = mem_grow(p->plan->allocator, p->firsts, p->first_count, &p->first_room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    p->firsts = list;
    list[p->first_count++] = c->texts[0];
    return GUFO_OK;
}

gufo_status names_refuse(const operation_call *c, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "%.*s", (int)c->texts[0].len, c->texts[0].data);
}

/* Operations on shapes and parts of tensors: the rows of one are a part of its axis before the last, or
 * of its only one, so that a weight and its bias are treated alike. */

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

/* Replaces the only view of an item by parts of an axis: `count` of them, part i from entry
 * begins[i] * 1 on, `sizes[i]` entries, `step` apart. */
static gufo_status shape_cut(item *it, uint32_t axis, uint32_t count, const uint64_t *begins,
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

/* Operations that put the rows of heads in another order: the rows are divided into axes, two axes are
 * swapped or one is cut, and the axes become rows again. */

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
