/* Comparing the tensors of one model with those of several others.
 *
 *     original   candidates          rows
 *     a          a (other type)      a:  changed  same
 *     b          a b                 b:  removed  same
 *                b c                 c:  -        added */
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/run.h"
#include "edit/compare/compare.h"

typedef struct candidates_walk {
    comparing c;
    const gufo_candidates_options *options;
    gufo_candidate *result;
    gufo_tensor_difference row[GUFO_COMPARE_CANDIDATES];
} candidates_walk;

/* ---- sums ----------------------------------------------------------------------------------- */

bool gufo_tensor_difference_loss(const gufo_tensor_difference *difference, double *loss)
{
    const gufo_value_difference *v = &difference->values;

    *loss = 0;
    if (difference->kind == GUFO_DIFFERENCE_NONE)
        return difference->a.name.data != NULL;
    if (!difference->has_values || v->compared == 0)
        return false;
    if (v->square_difference == 0)
        return true;
    /* Divided by a sum that overflowed, any difference would be 0. */
    *loss = isinf(v->square_a) ? NAN : v->square_difference / v->square_a;
    return isfinite(*loss);
}

static void add_to(gufo_candidate *sum, const gufo_tensor_difference *d)
{
    double loss;

    sum->tensors[d->kind]++;
    if (d->kind == GUFO_DIFFERENCE_ADDED || d->kind == GUFO_DIFFERENCE_REMOVED)
        return;
    if (gufo_tensor_difference_loss(d, &loss))
        sum->loss += loss;
    else
        sum->unmeasured++;
    sum->nonfinite += d->values.nonfinite;
}

static bool is_absent(const gufo_tensor_difference *d)
{
    return d->a.name.data == NULL && d->b.name.data == NULL;
}

static gufo_status report(candidates_walk *w, gufo_error *error)
{
    for (size_t i = 0; i < w->c.count; i++)
        if (!is_absent(&w->row[i]))
            add_to(&w->result[i], &w->row[i]);
    if (w->options->tensor != NULL)
        w->options->tensor(w->options->context, w->row, w->c.count);
    return compare_progress(&w->c, 0, error);
}

static gufo_status count_tensors(candidates_walk *w, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor b;

    for (unsigned k = 0; k < w->c.count; k++) {
        gufo_candidate *sum = &w->result[k];

        for (uint64_t i = 0; i < gufo_model_tensor_count(w->c.models[k + 1]); i++) {
            status = compare_tensor_at(&w->c, k + 1, i, &b, error);
            if (status != GUFO_OK)
                return status;
            if (!checked_add(sum->bytes, b.size, &sum->bytes) ||
                !checked_add(sum->elements, b.elements, &sum->elements))
                return refuse(error, GUFO_E_RANGE,
                              "the tensors have more bytes in total than can be counted");
        }
    }
    return GUFO_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static gufo_status compare_original(candidates_walk *w, gufo_error *error)
{
    const comparing *c = &w->c;
    gufo_status status = GUFO_OK;
    gufo_tensor a;

    for (uint64_t i = 0; i < gufo_model_tensor_count(c->models[0]) && status == GUFO_OK; i++) {
        status = compare_tensor_at(c, 0, i, &a, error);
        if (status != GUFO_OK)
            return status;
        for (size_t k = 0; k < c->count; k++) {
            gufo_tensor_difference *d = &w->row[k];

            *d = (gufo_tensor_difference){.a = a};
            if (!gufo_model_tensor_find_str(c->models[k + 1], a.name, &d->b))
                d->kind = GUFO_DIFFERENCE_REMOVED;
        }
        status = compare_row(&w->c, w->row, error);
        if (status == GUFO_OK)
            status = report(w, error);
    }
    return status;
}

/* Whether the original or a candidate before `number` has the tensor. */
static bool is_known(const comparing *c, unsigned number, gufo_str name)
{
    for (unsigned k = 0; k < number; k++)
        if (gufo_model_tensor_find_str(c->models[k], name, NULL))
            return true;
    return false;
}

/* The tensors that candidate `number` is the first to have. */
static gufo_status report_added(candidates_walk *w, unsigned number, gufo_error *error)
{
    const comparing *c = &w->c;
    gufo_status status = GUFO_OK;
    gufo_tensor b;

    for (uint64_t i = 0; i < gufo_model_tensor_count(c->models[number]) && status == GUFO_OK; i++) {
        status = compare_tensor_at(c, number, i, &b, error);
        if (status != GUFO_OK || is_known(c, number, b.name))
            continue;
        for (unsigned k = 0; k < c->count; k++) {
            gufo_tensor_difference *d = &w->row[k];

            *d = (gufo_tensor_difference){0};
            if (gufo_model_tensor_find_str(c->models[k + 1], b.name, &d->b))
                d->kind = GUFO_DIFFERENCE_ADDED;
        }
        status = report(w, error);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

gufo_status compare_check_count(size_t count, gufo_error *error)
{
    if (count > 0 && count <= GUFO_COMPARE_CANDIDATES)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT, "%s candidates, but 1 to %d can be compared",
                  GROUPED(count), GUFO_COMPARE_CANDIDATES);
}

static gufo_status check_options(const candidates_walk *w, gufo_error *error)
{
    gufo_status status = run_check(w->c.run, error);

    if (status == GUFO_OK)
        status = compare_check_count(w->c.count, error);
    if (status == GUFO_OK)
        status =
            flags_check(w->options->flags, GUFO_COMPARE_VALUES, "gufo_candidates_options", error);
    if (status == GUFO_OK)
        status = reserved_check(w->options->reserved, "gufo_candidates_options", error);
    return status;
}

static gufo_status compare_all(candidates_walk *w, gufo_error *error)
{
    gufo_status status = compare_measure(&w->c, error);

    if (status == GUFO_OK)
        status = count_tensors(w, error);
    if (status == GUFO_OK)
        status = compare_original(w, error);
    for (unsigned k = 1; k <= w->c.count && status == GUFO_OK; k++)
        status = report_added(w, k, error);
    for (size_t k = 0; k < w->c.count && status == GUFO_OK; k++) {
        const uint64_t *tensors = w->result[k].tensors;

        w->result[k].same = tensors[GUFO_DIFFERENCE_ADDED] + tensors[GUFO_DIFFERENCE_REMOVED] +
                                tensors[GUFO_DIFFERENCE_CHANGED] ==
                            0;
    }
    return status;
}

gufo_status gufo_compare_candidates(const gufo_model *original, const gufo_model *const *candidates,
                                    size_t count, const gufo_candidates_options *options,
                                    const gufo_run *run, gufo_candidate *result, gufo_error *error)
{
    static const gufo_candidates_options defaults = {0};
    const gufo_model *models[1 + GUFO_COMPARE_CANDIDATES] = {original};
    gufo_candidate unwanted[GUFO_COMPARE_CANDIDATES];
    candidates_walk w = {.options = options != NULL ? options : &defaults,
                         .result = result != NULL ? result : unwanted};
    const gufo_compare_options flags = {.flags = w.options->flags};
    gufo_status status;

    w.c = (comparing){.models = models, .count = count, .options = &flags, .run = run_of(run)};
    status = check_options(&w, error);
    if (status != GUFO_OK)
        return status;
    w.c.allocator = run_allocator(w.c.run);
    for (size_t k = 0; k < count; k++) {
        models[k + 1] = candidates[k];
        w.result[k] = (gufo_candidate){0};
    }
    return compare_all(&w, error);
}
