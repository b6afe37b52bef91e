/* Some rules of gufo convert write numbers twice: one norm for each head, a tensor again where a model
 * lacks another, rows of the embedding.  Only one copy goes back, so all must be equal. */
#include "import/export/copies.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum { AT_ONCE = 1 << 14 };

/* Whether its numbers follow each other on both sides. */
static bool is_run(const box *b)
{
    return b->n == 0 || (b->n == 1 && b->to_step[0] == 1);
}

/* Numbers [from, from + count) of a tensor into `out`. */
static gufo_status read_numbers(const inversion *v, uint64_t tensor, uint64_t from, uint64_t count,
                                float *out, gufo_error *error)
{
    gufo_tensor t;
    uint64_t first, last;
    float *all;
    gufo_status status;

    (void)gufo_tensor_at(v->model, tensor, &t);
    first = from / t.dims[0];
    last = (from + count - 1) / t.dims[0] + 1;
    all = mem_array(v->allocator, (last - first) * t.dims[0], sizeof *all);
    if (all == NULL)
        return fail_memory(error);
    status = gufo_tensor_decode(v->model, &t, first, last - first, all, NULL, error);
    if (status == GUFO_OK)
        memcpy(out, all + (from - first * t.dims[0]), (size_t)count * sizeof *out);
    mem_free(v->allocator, all);
    return status;
}

/* Compares the numbers of `b` with those of `a` from number `skip` on. */
static gufo_status compare(const inversion *v, const box *a, uint64_t skip, const box *b,
                           bool *equal, gufo_error *error)
{
    const uint64_t count = box_numbers(b);
    float *x = mem_array(v->allocator, AT_ONCE, sizeof *x);
    float *y = mem_array(v->allocator, AT_ONCE, sizeof *y);
    gufo_status status = x != NULL && y != NULL ? GUFO_OK : fail_memory(error);

    for (uint64_t at = 0, some; at < count && *equal && status == GUFO_OK; at += some) {
        some = smaller(count - at, AT_ONCE);
        status = read_numbers(v, a->tensor, a->from + skip + at, some, x, error);
        if (status == GUFO_OK)
            status = read_numbers(v, b->tensor, b->from + at, some, y, error);
        *equal = status == GUFO_OK && memcmp(x, y, (size_t)some * sizeof *x) == 0;
    }
    mem_free(v->allocator, x);
    mem_free(v->allocator, y);
    return status;
}

static gufo_status check_copy(const inversion *v, const box *a, const box *b, gufo_error *error)
{
    bool inside = is_run(a) && is_run(b) && b->to - a->to <= box_numbers(a) &&
                  box_numbers(b) <= box_numbers(a) - (b->to - a->to);
    bool equal = inside || (a->to == b->to && boxes_fill_alike(a, b));
    gufo_status status = equal ? compare(v, a, b->to - a->to, b, &equal, error) : GUFO_OK;
    gufo_tensor x, y;

    if (status != GUFO_OK || equal)
        return status;
    (void)gufo_tensor_at(v->model, a->tensor, &x);
    (void)gufo_tensor_at(v->model, b->tensor, &y);
    return refuse(
        error, GUFO_E_TYPE,
        "tensors %s and %s are made of the same numbers by a conversion, but they differ: "
        "one of them would be lost",
        QUOTED(x.name), QUOTED(y.name));
}

gufo_status copies_check(const inversion *v, gufo_error *error)
{
    const box *first = NULL; /* the last box that is not a copy */
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < v->box_count && status == GUFO_OK; i++) {
        const box *b = &v->boxes[i];

        /* Boxes between the numbers of another one, as those of q, k and v, are not copies. */
        if (first != NULL && first->owner == b->owner &&
            (b->to == first->to || (is_run(first) && b->to < first->to + box_numbers(first))))
            status = check_copy(v, first, b, error);
        else
            first = b;
    }
    return status;
}
