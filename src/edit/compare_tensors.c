/* Comparing a tensor of one model with those of that name in others.
 *
 * Of a pair the data is compared as bytes if type and size are the same; numbers are compared only
 * where bytes differ, because equal bytes are equal numbers.  The numbers of all others are compared
 * together, so that the tensor of the first model is decoded once. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/interleaved.h"
#include "edit/compare.h"
#include "format/model/model.h"

/* ---- before the work ------------------------------------------------------------------------ */

gufo_status compare_tensor_at(const comparing *c, unsigned number, uint64_t index, gufo_tensor *out,
                              gufo_error *error)
{
    return compare_side(number, model_tensor_at(c->models[number], index, out, error), error);
}

static gufo_status check_data(const comparing *c, gufo_error *error)
{
    for (unsigned number = 0; number <= c->count; number++) {
        gufo_status status;

        if (gufo_model_has_data(c->models[number]))
            continue;
        status = refuse(error, GUFO_E_ARGUMENT, "the data of a pipe cannot be compared");
        return compare_side(number, model_fail(c->models[number], status, error), error);
    }
    return GUFO_OK;
}

gufo_status compare_measure(comparing *c, gufo_error *error)
{
    gufo_status status = check_data(c, error);
    gufo_tensor a;

    for (uint64_t i = 0; i < gufo_tensor_count(c->models[0]) && status == GUFO_OK; i++) {
        status = compare_tensor_at(c, 0, i, &a, error);
        for (size_t k = 1; k <= c->count && status == GUFO_OK; k++)
            if (gufo_tensor_find_str(c->models[k], a.name, NULL) &&
                !checked_add(c->total, a.size, &c->total))
                return refuse(error, GUFO_E_RANGE,
                              "the tensors have more bytes in total than can be counted");
    }
    return status;
}

/* ---- a row ---------------------------------------------------------------------------------- */

static compared_side side_of(const comparing *c, unsigned number, const gufo_tensor *tensor)
{
    const interleaved *merged = interleaved_find(tensor->type);
    const gufo_model *model = c->models[number];

    return (compared_side){.number = number,
                           .model = model,
                           .tensor = tensor,
                           .type = gufo_element_type_by_id(tensor->type),
                           .rows = merged != NULL ? merged->rows : 1,
                           .big = gufo_model_facts(model).byte_order == GUFO_BIG_ENDIAN};
}

static gufo_status compare_without_values(comparing *c, const compared_side *a,
                                          const compared_other *other, gufo_error *error)
{
    const compared_side sides[2] = {*a, other->side};
    gufo_tensor_difference *d = other->difference;

    d->type = d->a.type != d->b.type;
    d->shape = d->a.n_dims != d->b.n_dims || memcmp(d->a.dims, d->b.dims, sizeof d->a.dims) != 0;
    if (d->type || d->a.elements != d->b.elements)
        return GUFO_OK;
    return compare_tensor_bytes(c, sides, d, error);
}

static bool needs_values(const comparing *c, const gufo_tensor_difference *d)
{
    return (c->options->flags & GUFO_COMPARE_VALUES) != 0 && !d->shape && (d->type || d->data);
}

gufo_status compare_row(comparing *c, gufo_tensor_difference *row, gufo_error *error)
{
    compared_side a = side_of(c, 0, &row->a);
    compared_other others[GUFO_COMPARE_CANDIDATES]; /* whose values are compared */
    size_t count = 0;
    uint64_t before = c->done, compared = 0;
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < c->count && status == GUFO_OK; i++) {
        gufo_tensor_difference *d = &row[i];

        if (d->kind == GUFO_DIFFERENCE_REMOVED)
            continue;
        others[count] = (compared_other){side_of(c, i + 1, &d->b), d};
        status = compare_without_values(c, &a, &others[count], error);
        if (d->type || d->shape || d->data)
            d->kind = GUFO_DIFFERENCE_CHANGED;
        compared += d->a.size;
        if (needs_values(c, d))
            count++;
        else
            c->done += d->a.size;
    }
    if (status == GUFO_OK && count > 0)
        status = compare_tensor_values(c, &a, others, count, error);
    c->done = before + compared;
    return status;
}
