/* Views: shapes, chunks, and the few steps that all operations consist of. */
#include "import/architectures/plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    MOST_PARTS = 1 << 20, /* that an operation may cut a view into */
    SEGMENT_DIMS = 3      /* axes that a segment has */
};

static const char *const too_scattered =
    "the order of its numbers is too irregular for this operation";

/* ---- chunks --------------------------------------------------------------------------------- */

/* Counts of one say nothing, and a count that continues the one inside it is part of that. */
static void join_counts(strided_box *s)
{
    uint32_t kept = VIEW_DIMS;

    for (uint32_t i = s->n; i > 0; i--) {
        uint64_t count = s->count[i - 1], stride = s->stride[i - 1];

        if (count == 1)
            continue;
        if (kept < VIEW_DIMS && stride == s->count[kept] * s->stride[kept]) {
            s->count[kept] *= count;
            continue;
        }
        kept--;
        s->count[kept] = count;
        s->stride[kept] = stride;
    }
    s->n = VIEW_DIMS - kept;
    memmove(s->count, s->count + kept, s->n * sizeof *s->count);
    memmove(s->stride, s->stride + kept, s->n * sizeof *s->stride);
}

static bool push(strided_box *s, uint64_t count, uint64_t stride)
{
    if (count == 1)
        return true;
    if (s->n == VIEW_DIMS)
        return false;
    s->count[s->n] = count;
    s->stride[s->n++] = stride;
    return true;
}

/* Takes `size` numbers from the counts of the chunk, whose last one that is left is *left of
 * count[*at - 1]; what is taken is behind the others in *out, the fastest first. */
static bool take(const strided_box *s, uint32_t *at, uint64_t *left, uint64_t *stride,
                 uint64_t size, strided_box *out)
{
    while (size > 1) {
        uint64_t some;

        if (*left == 1) {
            if (*at == 0)
                return false;
            (*at)--;
            *left = s->count[*at];
            *stride = s->stride[*at];
            continue;
        }
        some = smaller(size, *left);
        if (size % some != 0 || *left % some != 0 || !push(out, some, *stride))
            return false;
        size /= some;
        *left /= some;
        *stride *= some;
    }
    return true;
}

bool chunk_align(chunk *c, uint32_t n_dims, const uint64_t *dims, uint32_t *groups)
{
    uint32_t at = c->box.n, ends[VIEW_DIMS + 1] = {0};
    uint64_t left = 1, stride = 0;
    strided_box reversed = {.n = 0};

    for (uint32_t axis = n_dims; axis > 0; axis--) {
        ends[axis] = reversed.n;
        if (!take(&c->box, &at, &left, &stride, dims[axis - 1], &reversed))
            return false;
    }
    for (uint32_t i = 0; i < reversed.n; i++) {
        c->box.count[i] = reversed.count[reversed.n - 1 - i];
        c->box.stride[i] = reversed.stride[reversed.n - 1 - i];
    }
    c->box.n = reversed.n;
    groups[0] = 0;
    for (uint32_t axis = 1; axis <= n_dims; axis++)
        groups[axis] = reversed.n - ends[axis];
    return true;
}

void strided_pair_remove(strided_pair *p, uint32_t axis)
{
    for (p->n--; axis < p->n; axis++) {
        p->count[axis] = p->count[axis + 1];
        p->from[axis] = p->from[axis + 1];
        p->to[axis] = p->to[axis + 1];
    }
}

/* Axes from `axis` on; more than a segment has become several segments. */
static gufo_status add_segments(const strided_box *s, uint32_t axis, segment at,
                                add_strided_segment *add, void *context, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < SEGMENT_DIMS; i++) {
        const bool has = axis + i < s->n;

        at.count[i] = has ? s->count[s->n - 1 - i] : 1;
        at.stride[i] = has ? s->stride[s->n - 1 - i] : 0;
    }
    if (s->n - axis <= SEGMENT_DIMS)
        return add(context, &at, error);
    for (uint64_t i = 0; i < s->count[axis] && status == GUFO_OK; i++) {
        status = add_segments(s, axis + 1, at, add, context, error);
        at.first += s->stride[axis];
    }
    return status;
}

gufo_status strided_segments(const strided_box *s, segment at, add_strided_segment *add,
                             void *context, gufo_error *error)
{
    return add_segments(s, 0, at, add, context, error);
}

gufo_status view_add_chunk(view *v, const chunk *c, gufo_error *error)
{
    chunk *list = mem_grow(v->allocator, v->chunks, v->count, &v->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    v->chunks = list;
    list[v->count] = *c;
    join_counts(&list[v->count++].box);
    return GUFO_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

gufo_status view_open(view *v, const checkpoint *c, const checkpoint_tensor *t,
                      const gufo_allocator *a, gufo_error *error)
{
    chunk all = {.source = t->packed == NULL ? &c->files[t->file].source : NULL,
                 .packed = t->packed,
                 .number = t->number,
                 .offset = t->packed == NULL ? t->offset : 0,
                 .numbers = t->elements,
                 .box.n = t->n_dims,
                 .file = t->file,
                 .swapped = t->swapped};

    *v = (view){.allocator = a, .checkpoint = c, .n_dims = t->n_dims, .numbers = t->elements};
    memcpy(v->shape, t->shape, sizeof v->shape);
    memcpy(all.box.count, t->shape, sizeof all.box.count);
    checkpoint_tensor_strides(t, all.box.stride);
    return view_add_chunk(v, &all, error);
}

gufo_status view_copy(view *v, const view *from, gufo_error *error)
{
    *v = *from;
    v->room = from->count;
    v->chunks = mem_array(from->allocator, from->count, sizeof *v->chunks);
    if (v->chunks == NULL) {
        v->count = v->room = 0;
        return fail_memory(error);
    }
    if (from->count > 0)
        memcpy(v->chunks, from->chunks, (size_t)from->count * sizeof *v->chunks);
    return GUFO_OK;
}

void view_free(view *v)
{
    if (v->allocator != NULL)
        mem_free(v->allocator, v->chunks);
    *v = (view){0};
}

/* Puts the chunks of `parts`, which it takes over, in place of those of `v`. */
static gufo_status replace_chunks(view *v, view *parts, gufo_status status)
{
    if (status != GUFO_OK) {
        mem_free(parts->allocator, parts->chunks);
        return status;
    }
    mem_free(v->allocator, v->chunks);
    v->chunks = parts->chunks;
    v->count = parts->count;
    v->room = parts->room;
    return GUFO_OK;
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* Numbers of one entry of axis 0. */
static uint64_t entry_numbers(const view *v)
{
    return v->n_dims == 0 || v->shape[0] == 0 ? v->numbers : v->numbers / v->shape[0];
}

gufo_status view_reshape(view *v, uint32_t n_dims, const uint64_t *shape, gufo_error *error)
{
    uint64_t numbers = 1;

    if (n_dims > VIEW_DIMS)
        return refuse(error, GUFO_E_ARGUMENT, "the shape has %" PRIu32 " axes, more than %d",
                      n_dims, VIEW_DIMS);
    for (uint32_t i = 0; i < n_dims; i++)
        if (!checked_mul(numbers, shape[i], &numbers))
            numbers = UINT64_MAX;
    if (numbers != v->numbers)
        return refuse(error, GUFO_E_ARGUMENT, "it has %s numbers, but its shape needs %s",
                      GROUPED(v->numbers), GROUPED(numbers));
    v->n_dims = n_dims;
    for (uint32_t i = 0; i < VIEW_DIMS; i++)
        v->shape[i] = i < n_dims ? shape[i] : 1;
    return GUFO_OK;
}

/* A chunk with a group of counts for each axis of the view. */
static bool align_chunk(const view *v, chunk *c, uint32_t *groups)
{
    uint64_t dims[VIEW_DIMS], entry = entry_numbers(v);

    memcpy(dims, v->shape, sizeof dims);
    if (entry == 0 || c->numbers % entry != 0)
        return false;
    dims[0] = c->numbers / entry;
    return chunk_align(c, v->n_dims, dims, groups);
}

/* The counts of `from`, its groups in the order of `axes`. */
static void permute_groups(strided_box *to, const strided_box *from, const uint32_t *groups,
                           const uint32_t *axes, uint32_t n_dims)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_dims; i++)
        for (uint32_t k = groups[axes[i]]; k < groups[axes[i] + 1]; k++) {
            to->count[n] = from->count[k];
            to->stride[n++] = from->stride[k];
        }
}

gufo_status view_swap(view *v, uint32_t a, uint32_t b, gufo_error *error)
{
    uint32_t axes[VIEW_DIMS], groups[VIEW_DIMS + 1];
    uint64_t size;

    if (a >= v->n_dims || b >= v->n_dims)
        return refuse(error, GUFO_E_ARGUMENT, "it has %" PRIu32 " axes, too few for this operation",
                      v->n_dims);
    if (a == b || v->numbers == 0)
        a = b;
    if (a != b && (a == 0 || b == 0) && v->count > 1)
        return refuse(error, GUFO_E_ARGUMENT, "%s", too_scattered);
    for (uint32_t i = 0; i < v->n_dims; i++)
        axes[i] = i == a ? b : i == b ? a : i;
    for (uint64_t i = 0; a != b && i < v->count; i++) {
        chunk from = v->chunks[i];

        if (!align_chunk(v, &from, groups))
            return refuse(error, GUFO_E_ARGUMENT, "%s", too_scattered);
        v->chunks[i] = from;
        permute_groups(&v->chunks[i].box, &from.box, groups, axes, v->n_dims);
        join_counts(&v->chunks[i].box);
    }
    size = v->shape[a];
    v->shape[a] = v->shape[b];
    v->shape[b] = size;
    return GUFO_OK;
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Entries of an axis of one aligned chunk. */
static bool slice_chunk(chunk *c, uint32_t begin, uint32_t end, uint64_t size, uint64_t first,
                        uint64_t count, uint64_t step)
{
    if (count == size && step == 1)
        return true;
    if (end == begin) /* one entry, and it is the one that is wanted */
        return true;
    if (end - begin > 1)
        return false;
    c->offset += first * c->box.stride[begin] * (c->number->bits / 8);
    c->box.count[begin] = count;
    c->box.stride[begin] *= step;
    c->numbers = c->numbers / size * count;
    return true;
}

/* The entries from `begin` on, `size` of them, that a slice wants: *first, in `size`; their number. */
static uint64_t wanted(uint64_t begin, uint64_t size, uint64_t from, uint64_t count, uint64_t step,
                       uint64_t *first)
{
    uint64_t skip = begin > from ? divide_up(begin - from, step) : 0, last;

    if (skip >= count || from + skip * step >= begin + size)
        return 0;
    *first = from + skip * step - begin;
    last = (size - 1 - *first) / step + 1;
    return smaller(last, count - skip);
}

static gufo_status slice_all(const view *v, view *parts, uint32_t axis, uint64_t first,
                             uint64_t count, uint64_t step, gufo_error *error)
{
    uint64_t begin = 0, entry = entry_numbers(v);
    uint32_t groups[VIEW_DIMS + 1];
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < v->count && status == GUFO_OK; i++) {
        chunk c = v->chunks[i];
        uint64_t size = axis == 0 ? c.numbers / entry : v->shape[axis], from = first, some = count;

        if (axis == 0 && c.numbers % entry != 0) /* an entry spans two chunks */
            return refuse(error, GUFO_E_ARGUMENT, "%s", too_scattered);
        if (axis == 0)
            some = wanted(begin, size, first, count, step, &from);
        begin += size;
        if (some == 0)
            continue;
        if (!align_chunk(v, &c, groups) ||
            !slice_chunk(&c, groups[axis], groups[axis + 1], size, from, some, step))
            return refuse(error, GUFO_E_ARGUMENT, "%s", too_scattered);
        status = view_add_chunk(parts, &c, error);
    }
    return status;
}

gufo_status view_slice(view *v, uint32_t axis, uint64_t first, uint64_t count, uint64_t step,
                       gufo_error *error)
{
    view parts = {.allocator = v->allocator};
    uint64_t reach;
    gufo_status status;

    if (axis >= v->n_dims || step == 0)
        return refuse(error, GUFO_E_ARGUMENT, "it has %" PRIu32 " axes, too few for this operation",
                      v->n_dims);
    if (!checked_mul(count == 0 ? 0 : count - 1, step, &reach) ||
        !range_inside(first, count == 0 ? 0 : reach + 1, v->shape[axis]))
        return refuse(error, GUFO_E_ARGUMENT,
                      "an axis of %s entries does not have %s from entry %" PRIu64 " on",
                      GROUPED(v->shape[axis]), GROUPED(count), first);
    status = v->numbers == 0 || count == 0 ? GUFO_OK
                                           : slice_all(v, &parts, axis, first, count, step, error);
    status = replace_chunks(v, &parts, status);
    if (status != GUFO_OK)
        return status;
    v->numbers = v->shape[axis] == 0 ? 0 : v->numbers / v->shape[axis] * count;
    v->shape[axis] = count;
    return GUFO_OK;
}

/* ---- several views -------------------------------------------------------------------------- */

static bool append_fits(const view *v, const view *more, uint32_t axis)
{
    if (v->n_dims != more->n_dims || axis >= v->n_dims || v->n_ops != more->n_ops)
        return false;
    for (uint32_t i = 0; i < v->n_dims; i++)
        if (i != axis && v->shape[i] != more->shape[i])
            return false;
    for (uint32_t i = 0; i < v->n_ops; i++)
        if (v->ops[i].kind != more->ops[i].kind || v->ops[i].number != more->ops[i].number)
            return false;
    return true;
}

/* Appends the chunks of entry `index` of `outer` entries that `from` is divided into. */
static gufo_status append_entry(view *to, const view *from, uint64_t outer, uint64_t index,
                                gufo_error *error)
{
    uint64_t shape[2] = {outer, from->numbers / outer};
    view part;
    gufo_status status = view_copy(&part, from, error);

    if (status == GUFO_OK)
        status = view_reshape(&part, 2, shape, error);
    if (status == GUFO_OK)
        status = view_slice(&part, 0, index, 1, 1, error);
    for (uint64_t i = 0; i < part.count && status == GUFO_OK; i++)
        status = view_add_chunk(to, &part.chunks[i], error);
    view_free(&part);
    return status;
}

static gufo_status interleave(view *v, const view *more, uint32_t axis, gufo_error *error)
{
    view parts = {.allocator = v->allocator};
    uint64_t outer = 1;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < axis; i++)
        outer *= v->shape[i];
    if (outer > MOST_PARTS / (v->count + more->count + 1))
        return refuse(error, GUFO_E_ARGUMENT, "%s", too_scattered);
    for (uint64_t i = 0; i < outer && status == GUFO_OK; i++) {
        status = append_entry(&parts, v, outer, i, error);
        if (status == GUFO_OK)
            status = append_entry(&parts, more, outer, i, error);
    }
    return replace_chunks(v, &parts, status);
}

gufo_status view_append(view *v, const view *more, uint32_t axis, gufo_error *error)
{
    uint64_t size, numbers;
    gufo_status status = GUFO_OK;

    if (!append_fits(v, more, axis) || !checked_add(v->shape[axis], more->shape[axis], &size) ||
        !checked_add(v->numbers, more->numbers, &numbers))
        return refuse(error, GUFO_E_ARGUMENT, "the shapes of its parts do not fit each other");
    if (axis > 0 && numbers > 0)
        status = interleave(v, more, axis, error);
    for (uint64_t i = 0; axis == 0 && i < more->count && status == GUFO_OK; i++)
        status = view_add_chunk(v, &more->chunks[i], error);
    v->shape[axis] = size;
    v->numbers = numbers;
    return status;
}

gufo_status view_append_zeros(view *v, uint64_t entries, gufo_error *error)
{
    chunk zeros = {0};
    uint64_t entry = entry_numbers(v);

    if (entries == 0)
        return GUFO_OK;
    if (v->n_dims == 0 || v->count == 0)
        return refuse(error, GUFO_E_ARGUMENT, "it has no rows");
    zeros.number = v->chunks[0].number;
    zeros.swapped = v->chunks[0].swapped;
    zeros.file = v->chunks[0].file;
    zeros.box.n = 1;
    zeros.box.stride[0] = 1;
    if (!checked_mul(entries, entry, &zeros.box.count[0]) ||
        !checked_add(v->numbers, zeros.box.count[0], &v->numbers) ||
        !checked_add(v->shape[0], entries, &v->shape[0]))
        return refuse(error, GUFO_E_LIMIT, "it would have more numbers than can be counted");
    zeros.numbers = zeros.box.count[0];
    return view_add_chunk(v, &zeros, error);
}

gufo_status view_operate(view *v, const row_op *op, gufo_error *error)
{
    if (v->n_ops == VIEW_OPS)
        return refuse(error, GUFO_E_ARGUMENT, "more than %d operations on its numbers", VIEW_OPS);
    v->ops[v->n_ops++] = *op;
    return GUFO_OK;
}
