/* Comparing two models.
 *
 * Tensors are paired by their names.  Of a pair the data is compared as bytes if type and size are
 * the same; numbers are compared only where bytes differ, because equal bytes are equal numbers. */
#include "edit/compare.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/interleaved.h"
#include "codec/run.h"
#include "format/model/model.h"

/* ---- pairs of tensors ----------------------------------------------------------------------- */

static void report(comparing *c, const gufo_tensor_difference *d)
{
    c->result->tensors[d->kind]++;
    if (d->kind != GUFO_DIFFERENCE_NONE && c->options->tensor != NULL)
        c->options->tensor(c->options->context, d);
}

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

static gufo_status compare_data(comparing *c, gufo_tensor_difference *d, gufo_error *error)
{
    compared_side sides[2] = {side_of(c, 0, &d->a), side_of(c, 1, &d->b)};
    gufo_status status = GUFO_OK;

    if (!d->type && d->a.elements == d->b.elements)
        status = compare_tensor_bytes(c, sides, d, error);
    if (status == GUFO_OK && (c->options->flags & GUFO_COMPARE_VALUES) != 0 && !d->shape &&
        (d->type || d->data))
        status = compare_tensor_values(c, sides, d, error);
    return status;
}

static gufo_status compare_pair(comparing *c, gufo_tensor_difference *d, gufo_error *error)
{
    gufo_status status;

    d->type = d->a.type != d->b.type;
    d->shape = d->a.n_dims != d->b.n_dims || memcmp(d->a.dims, d->b.dims, sizeof d->a.dims) != 0;
    status = compare_data(c, d, error);
    if (status != GUFO_OK)
        return status;
    c->done += d->a.size;
    if (d->type || d->shape || d->data)
        d->kind = GUFO_DIFFERENCE_CHANGED;
    report(c, d);
    return compare_progress(c, 0, error);
}

static gufo_status compare_tensors(comparing *c, gufo_error *error)
{
    uint64_t latest = 0, at;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_tensor_count(c->models[0]); i++) {
        gufo_tensor_difference d = {0};

        status = compare_side(0, model_tensor_at(c->models[0], i, &d.a, error), error);
        if (status != GUFO_OK)
            return status;
        if (!model_tensor_find(c->models[1], d.a.name, &at) ||
            !gufo_tensor_at(c->models[1], at, &d.b)) {
            d.b = (gufo_tensor){0};
            d.kind = GUFO_DIFFERENCE_REMOVED;
            report(c, &d);
            continue;
        }
        if (at < latest)
            c->result->notes |= GUFO_NOTE_TENSOR_ORDER;
        latest = at;
        status = compare_pair(c, &d, error);
    }
    return status;
}

static gufo_status report_added(comparing *c, gufo_error *error)
{
    gufo_tensor_difference d = {.kind = GUFO_DIFFERENCE_ADDED};
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < gufo_tensor_count(c->models[1]) && status == GUFO_OK; i++) {
        status = compare_side(1, model_tensor_at(c->models[1], i, &d.b, error), error);
        if (status == GUFO_OK && !gufo_tensor_find_str(c->models[0], d.b.name, NULL))
            report(c, &d);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status measure(comparing *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor a;

    for (unsigned side = 0; side < 2; side++) {
        if (gufo_model_has_data(c->models[side]))
            continue;
        status = refuse(error, GUFO_E_ARGUMENT, "the data of a pipe cannot be compared");
        return compare_side(side, model_fail(c->models[side], status, error), error);
    }
    for (uint64_t i = 0; i < gufo_tensor_count(c->models[0]) && status == GUFO_OK; i++) {
        status = compare_side(0, model_tensor_at(c->models[0], i, &a, error), error);
        if (status == GUFO_OK && gufo_tensor_find_str(c->models[1], a.name, NULL) &&
            !checked_add(c->total, a.size, &c->total))
            return refuse(error, GUFO_E_RANGE,
                          "the tensors have more bytes in total than can be counted");
    }
    return status;
}

static void note_files(comparing *c)
{
    gufo_facts a = gufo_model_facts(c->models[0]), b = gufo_model_facts(c->models[1]);

    if (a.version != b.version)
        c->result->notes |= GUFO_NOTE_VERSION;
    if (a.byte_order != b.byte_order)
        c->result->notes |= GUFO_NOTE_BYTE_ORDER;
    if (gufo_model_shard_count(c->models[0]) != gufo_model_shard_count(c->models[1]))
        c->result->notes |= GUFO_NOTE_SHARDS;
}

static bool is_same(const gufo_comparison *result)
{
    for (size_t i = GUFO_DIFFERENCE_ADDED; i < GUFO_DIFFERENCE_COUNT; i++)
        if (result->entries[i] != 0 || result->tensors[i] != 0)
            return false;
    return true;
}

gufo_status gufo_compare(const gufo_model *a, const gufo_model *b,
                         const gufo_compare_options *options, const gufo_run *run,
                         gufo_comparison *result, gufo_error *error)
{
    static const gufo_compare_options defaults = {0};
    gufo_comparison unwanted;
    comparing c = {.models = {a, b},
                   .options = options != NULL ? options : &defaults,
                   .run = run_of(run),
                   .result = result != NULL ? result : &unwanted};
    gufo_status status = run_check(c.run, error);

    c.allocator = run_allocator(c.run);
    *c.result = (gufo_comparison){0};
    if (status == GUFO_OK)
        status = flags_check(c.options->flags, GUFO_COMPARE_VALUES, "gufo_compare_options", error);
    if (status == GUFO_OK)
        status = reserved_check(c.options->reserved, "gufo_compare_options", error);
    if (status != GUFO_OK)
        return status;
    note_files(&c);
    status = measure(&c, error);
    if (status == GUFO_OK)
        status = compare_all_metadata(&c, error);
    if (status == GUFO_OK)
        status = compare_tensors(&c, error);
    if (status == GUFO_OK)
        status = report_added(&c, error);
    c.result->same = status == GUFO_OK && is_same(c.result);
    return status;
}
