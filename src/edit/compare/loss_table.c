/* What candidates lose of an original, as a table: a row for each tensor of the first candidate.
 *
 *                 candidate 0    candidate 1
 *     tensor 0    loss  type     loss  type
 *     tensor 1    loss  type     NaN   GUFO_NO_TYPE     candidate 1 lacks the tensor */
#include <math.h>

#include "base/error.h"
#include "codec/run.h"
#include "edit/compare/compare.h"
#include "format/model/model.h"

struct gufo_loss_table {
    gufo_allocator allocator;
    gufo_candidate_losses list[GUFO_COMPARE_CANDIDATES];
    size_t count;
    double *losses[GUFO_COMPARE_CANDIDATES]; /* the list's */
    uint32_t *types[GUFO_COMPARE_CANDIDATES];
};

typedef struct table_work {
    gufo_loss_table *table;
    const gufo_model *first; /* candidate */
    const gufo_candidates_options *options;
} table_work;

static gufo_status make_room(gufo_loss_table *t, uint64_t tensors, gufo_error *error)
{
    for (size_t k = 0; k < t->count; k++) {
        t->losses[k] = mem_array(&t->allocator, tensors, sizeof *t->losses[k]);
        t->types[k] = mem_array(&t->allocator, tensors, sizeof *t->types[k]);
        if (t->losses[k] == NULL || t->types[k] == NULL)
            return fail_memory(error);
        for (uint64_t i = 0; i < tensors; i++) {
            t->losses[k][i] = NAN;
            t->types[k][i] = GUFO_NO_TYPE;
        }
        t->list[k].losses = t->losses[k];
        t->list[k].types = t->types[k];
    }
    return GUFO_OK;
}

static void take_row(void *context, const gufo_tensor_difference *row, size_t count)
{
    const table_work *w = context;
    gufo_loss_table *t = w->table;
    uint64_t index;

    if (w->options->tensor != NULL)
        w->options->tensor(w->options->context, row, count);
    if (row[0].b.name.data == NULL || !gufo_model_tensor_index(w->first, row[0].b.name, &index))
        return;
    for (size_t k = 0; k < count; k++) {
        double loss;

        if (gufo_tensor_difference_loss(&row[k], &loss))
            t->losses[k][index] = loss;
        if (row[k].b.name.data != NULL)
            t->types[k][index] = row[k].b.type;
    }
}

static gufo_status fill(table_work *w, const gufo_model *original,
                        const gufo_model *const *candidates, const gufo_run *run,
                        gufo_candidate *result, gufo_error *error)
{
    gufo_loss_table *t = w->table;
    gufo_candidates_options options = *w->options;
    gufo_candidate unwanted[GUFO_COMPARE_CANDIDATES];
    gufo_candidate *sums = result != NULL ? result : unwanted;
    gufo_status status = make_room(t, gufo_model_tensor_count(candidates[0]), error);

    options.flags |= GUFO_COMPARE_VALUES;
    options.tensor = take_row;
    options.context = w;
    if (status == GUFO_OK)
        status =
            gufo_compare_candidates(original, candidates, t->count, &options, run, sums, error);
    for (size_t k = 0; k < t->count && status == GUFO_OK; k++)
        t->list[k].sums = sums[k];
    return status;
}

gufo_loss_table *gufo_loss_table_new(const gufo_model *original,
                                     const gufo_model *const *candidates, size_t count,
                                     const gufo_candidates_options *options, const gufo_run *run,
                                     gufo_candidate *result, gufo_error *error)
{
    static const gufo_candidates_options defaults = {0};
    table_work w = {.options = options != NULL ? options : &defaults};

    if (compare_check_count(count, error) != GUFO_OK)
        return NULL;
    w.table = mem_object(w.options->allocator, sizeof *w.table, error);
    if (w.table == NULL)
        return NULL;
    w.table->count = count;
    w.first = candidates[0];
    if (fill(&w, original, candidates, run, result, error) == GUFO_OK)
        return w.table;
    gufo_loss_table_free(w.table);
    return NULL;
}

const gufo_candidate_losses *gufo_loss_table_list(const gufo_loss_table *table, size_t *count)
{
    *count = table->count;
    return table->list;
}

void gufo_loss_table_free(gufo_loss_table *table)
{
    gufo_allocator allocator;

    if (table == NULL)
        return;
    allocator = table->allocator;
    for (size_t k = 0; k < table->count; k++) {
        mem_free(&allocator, table->losses[k]);
        mem_free(&allocator, table->types[k]);
    }
    mem_free(&allocator, table);
}
