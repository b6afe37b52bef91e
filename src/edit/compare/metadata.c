/* Comparing metadata: values, not bytes, because files may have different byte orders or
 * versions. */
#include "edit/compare/compare.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/interleaved.h"
#include "edit/planner.h"
#include "format/model/model.h"
#include "format/value/value.h"

/* ---- keys ----------------------------------------------------------------------------------- */

/* They describe how a model is stored. */
static bool is_ignored(gufo_str key)
{
    return !gufo_key_is_of_model(NULL, key) || gufo_str_equal(key, gufo_str_of("gufo.padding"));
}

/* ---- values --------------------------------------------------------------------------------- */

static bool same_bits(double a, double b)
{
    uint64_t bits_a, bits_b;

    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_a == bits_b;
}

/* Whether both are stored as the same bytes. */
static bool same_bytes(const gufo_array *a, const gufo_array *b)
{
    return a->encoding.version == b->encoding.version &&
           a->encoding.byte_order == b->encoding.byte_order && a->size == b->size &&
           (a->size == 0 || memcmp(a->data, b->data, (size_t)a->size) == 0);
}

/* Numbers and strings. */
static bool same_scalars(const gufo_value *a, const gufo_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case GUFO_VALUE_STRING:
        return gufo_str_equal(a->as.str, b->as.str);
    case GUFO_VALUE_BOOL:
        return a->as.b == b->as.b;
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        return same_bits(a->as.f, b->as.f);
    default:
        return a->as.u == b->as.u; /* signed ones have the same bits there */
    }
}

static bool same_leaves(const gufo_array *a, const gufo_array *b, bool *changed)
{
    gufo_array_iter at_a = gufo_array_start(a), at_b = gufo_array_start(b);
    gufo_value value_a, value_b;
    bool same = a->type == b->type && a->count == b->count;

    while (same && gufo_array_next(&at_a, &value_a) && gufo_array_next(&at_b, &value_b))
        same = same_scalars(&value_a, &value_b);
    *changed = *changed || at_a.changed || at_b.changed;
    return same && !at_a.changed && !at_b.changed;
}

/* Arrays of arrays, side by side. */
static bool same_nested(const gufo_array *a, const gufo_array *b, bool *changed)
{
    array_event event_a = ARRAY_BEGIN, event_b = ARRAY_BEGIN;
    gufo_array inner_a, inner_b;
    array_skip walk_a, walk_b;
    bool same = true;

    array_walk_start(&walk_a, a);
    array_walk_start(&walk_b, b);
    while (same && event_a != ARRAY_DONE) {
        event_a = array_walk_next(&walk_a, &inner_a);
        event_b = array_walk_next(&walk_b, &inner_b);
        if (event_a > ARRAY_DONE || event_b > ARRAY_DONE) {
            *changed = true;
            return false;
        }
        same = event_a == event_b;
        if (same && event_a == ARRAY_BEGIN)
            same = inner_a.count == inner_b.count;
        else if (same && event_a == ARRAY_LEAF)
            same = same_leaves(&inner_a, &inner_b, changed);
    }
    return same;
}

static bool same_arrays(const gufo_array *a, const gufo_array *b, bool *changed)
{
    if (a->type != b->type || a->count != b->count)
        return false;
    if (same_bytes(a, b))
        return true;
    return a->type == GUFO_VALUE_ARRAY ? same_nested(a, b, changed) : same_leaves(a, b, changed);
}

static bool same_values(const gufo_value *a, const gufo_value *b, bool *changed)
{
    return a->type == GUFO_VALUE_ARRAY && b->type == GUFO_VALUE_ARRAY
               ? same_arrays(&a->as.array, &b->as.array, changed)
               : same_scalars(a, b);
}

/* The index of the first element that differs; the count if all are equal. */
static uint64_t first_difference(const gufo_array *a, const gufo_array *b, bool *changed)
{
    gufo_array_iter at_a = gufo_array_start(a), at_b = gufo_array_start(b);
    uint64_t index = 0;
    gufo_value value_a, value_b;

    while (index < a->count && index < b->count && gufo_array_next(&at_a, &value_a) &&
           gufo_array_next(&at_b, &value_b) && same_values(&value_a, &value_b, changed))
        index++;
    *changed = *changed || at_a.changed || at_b.changed;
    return index;
}

/* ---- differences ---------------------------------------------------------------------------- */

static void report(comparing *c, const gufo_entry_difference *difference)
{
    c->result->entries[difference->kind]++;
    if (difference->kind != GUFO_DIFFERENCE_NONE && c->options->entry != NULL)
        c->options->entry(c->options->context, difference);
}

static gufo_status compare_entry(comparing *c, gufo_entry_difference *d, gufo_error *error)
{
    const gufo_value *a = &d->a.value, *b = &d->b.value;
    bool changed = false;

    if (!same_values(a, b, &changed)) {
        d->kind = GUFO_DIFFERENCE_CHANGED;
        d->has_first = a->type == GUFO_VALUE_ARRAY && b->type == GUFO_VALUE_ARRAY &&
                       a->as.array.type == b->as.array.type;
        if (d->has_first)
            d->first = first_difference(&a->as.array, &b->as.array, &changed);
    }
    if (changed)
        return fail_with(error, GUFO_E_CHANGED, d->a.offset,
                         "an array was changed while it was compared");
    report(c, d);
    return GUFO_OK;
}

/* Keys of a: what b has of them, in the same order? */
static gufo_status compare_entries(comparing *c, const gufo_model *a, const gufo_model *b,
                                   gufo_error *error)
{
    uint64_t latest = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_entry_count(a); i++) {
        gufo_entry_difference d = {0};

        status = compare_side(0, model_entry_at(a, i, &d.a, error), error);
        if (status != GUFO_OK || is_ignored(d.a.key))
            continue;
        if (!gufo_model_find_str(b, d.a.key, &d.b)) {
            d.kind = GUFO_DIFFERENCE_REMOVED;
            report(c, &d);
            continue;
        }
        if (d.b.offset < latest)
            c->result->notes |= GUFO_NOTE_KEY_ORDER;
        latest = d.b.offset;
        status = compare_entry(c, &d, error);
    }
    return status;
}

gufo_status compare_all_metadata(comparing *c, gufo_error *error)
{
    const gufo_model *a = c->models[0], *b = c->models[1];
    gufo_status status = compare_entries(c, a, b, error);

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_entry_count(b); i++) {
        gufo_entry_difference d = {.kind = GUFO_DIFFERENCE_ADDED};

        status = compare_side(1, model_entry_at(b, i, &d.b, error), error);
        if (status == GUFO_OK && !is_ignored(d.b.key) && !gufo_model_find_str(a, d.b.key, NULL))
            report(c, &d);
    }
    return status;
}

/* Comparing a tensor of one model with those of that name in others.
 *
 * Of a pair the data is compared as bytes if type and size are the same; numbers are compared only
 * where bytes differ, because equal bytes are equal numbers.  The numbers of all others are compared
 * together, so that the tensor of the first model is decoded once. */

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

    for (uint64_t i = 0; i < gufo_model_tensor_count(c->models[0]) && status == GUFO_OK; i++) {
        status = compare_tensor_at(c, 0, i, &a, error);
        for (size_t k = 1; k <= c->count && status == GUFO_OK; k++)
            if (gufo_model_tensor_find_str(c->models[k], a.name, NULL) &&
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
