/* Comparing two models.
 *
 * Tensors are paired by their names; the order of either model makes no difference. */
#include "edit/compare/compare.h"

#include "base/error.h"
#include "codec/run.h"
#include "format/model/model.h"

/* ---- tensors -------------------------------------------------------------------------------- */

static void report(comparing *c, const gufo_tensor_difference *d)
{
    c->result->tensors[d->kind]++;
    if (d->kind != GUFO_DIFFERENCE_NONE && c->options->tensor != NULL)
        c->options->tensor(c->options->context, d);
}

/* Finds the tensor of b with the name of that of a.  *latest is the place of the one before it. */
static void find_other(comparing *c, gufo_tensor_difference *d, uint64_t *latest)
{
    uint64_t at;

    if (!gufo_model_tensor_index(c->models[1], d->a.name, &at) ||
        !gufo_model_tensor_at(c->models[1], at, &d->b)) {
        d->b = (gufo_tensor){0};
        d->kind = GUFO_DIFFERENCE_REMOVED;
        return;
    }
    if (at < *latest)
        c->result->notes |= GUFO_NOTE_TENSOR_ORDER;
    *latest = at;
}

static gufo_status compare_tensors(comparing *c, gufo_error *error)
{
    uint64_t latest = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_tensor_count(c->models[0]); i++) {
        gufo_tensor_difference d = {0};

        status = compare_tensor_at(c, 0, i, &d.a, error);
        if (status != GUFO_OK)
            return status;
        find_other(c, &d, &latest);
        status = compare_row(c, &d, error);
        if (status == GUFO_OK)
            report(c, &d);
        if (status == GUFO_OK)
            status = compare_progress(c, 0, error);
    }
    return status;
}

static gufo_status report_added(comparing *c, gufo_error *error)
{
    gufo_tensor_difference d = {.kind = GUFO_DIFFERENCE_ADDED};
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < gufo_model_tensor_count(c->models[1]) && status == GUFO_OK; i++) {
        status = compare_tensor_at(c, 1, i, &d.b, error);
        if (status == GUFO_OK && !gufo_model_tensor_find_str(c->models[0], d.b.name, NULL))
            report(c, &d);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

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

static gufo_status compare_all_tensors(comparing *c, gufo_error *error)
{
    gufo_status status = compare_tensors(c, error);

    return status == GUFO_OK ? report_added(c, error) : status;
}

gufo_status gufo_compare(const gufo_model *a, const gufo_model *b,
                         const gufo_compare_options *options, const gufo_run *run,
                         gufo_comparison *result, gufo_error *error)
{
    static const gufo_compare_options defaults = {0};
    gufo_comparison unwanted;
    const gufo_model *const models[2] = {a, b};
    comparing c = {.models = models,
                   .count = 1,
                   .options = options != NULL ? options : &defaults,
                   .run = run_of(run),
                   .result = result != NULL ? result : &unwanted};
    bool has_tensors = (c.options->flags & GUFO_COMPARE_METADATA) == 0;
    gufo_status status = run_check(c.run, error);

    c.allocator = run_allocator(c.run);
    *c.result = (gufo_comparison){0};
    if (status == GUFO_OK)
        status = flags_check(c.options->flags, GUFO_COMPARE_VALUES | GUFO_COMPARE_METADATA,
                             "gufo_compare_options", error);
    if (status == GUFO_OK)
        status = reserved_check(c.options->reserved, "gufo_compare_options", error);
    if (status != GUFO_OK)
        return status;
    note_files(&c);
    if (has_tensors)
        status = compare_measure(&c, error);
    if (status == GUFO_OK)
        status = compare_all_metadata(&c, error);
    if (status == GUFO_OK && has_tensors)
        status = compare_all_tensors(&c, error);
    c.result->same = status == GUFO_OK && is_same(c.result);
    return status;
}
