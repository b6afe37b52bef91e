/* What candidates lose of an original, by the tensors of the first one. */
#include "cli/report/report_facts.h"

#include "cli/core/files/path.h"
#include "cli/core/files/progress.h"

#include <math.h>

/* ---- tensors ------------------------------------------------------------------------------------ */

/* Whether a tensor comes before another one in a model: in the order of shards, and of their files. */
static bool is_before(const gufo_tensor *a, const gufo_tensor *b)
{
    return a->shard != b->shard ? a->shard < b->shard : a->info_offset < b->info_offset;
}

bool report_tensor_index(const gufo_model *model, const gufo_tensor *tensor, uint64_t *index)
{
    uint64_t begin = 0, end = gufo_model_tensor_count(model);
    gufo_tensor found;

    while (begin < end) {
        uint64_t middle = begin + (end - begin) / 2;

        (void)gufo_model_tensor_at(model, middle, &found);
        if (is_before(&found, tensor))
            begin = middle + 1;
        else
            end = middle;
    }
    *index = begin;
    return gufo_model_tensor_at(model, begin, &found) && gufo_str_equal(found.name, tensor->name);
}

/* ---- candidates --------------------------------------------------------------------------------- */

int report_losses_begin(report_losses *l, report_store *store, const gufo_model *model,
                        size_t count)
{
    size_t tensors = (size_t)gufo_model_tensor_count(model);

    *l = (report_losses){.model = model, .count = count};
    l->candidates = report_store_room(store, count, sizeof *l->candidates);
    for (size_t k = 0; l->candidates != NULL && k < count; k++) {
        l->losses[k] = report_store_room(store, tensors, sizeof(double));
        l->types[k] = report_store_room(store, tensors, sizeof(uint32_t));
        if (l->losses[k] == NULL || l->types[k] == NULL)
            return CODE_FAILED;
        for (size_t i = 0; i < tensors; i++) {
            l->losses[k][i] = NAN;
            l->types[k][i] = UINT32_MAX;
        }
    }
    return l->candidates != NULL ? CODE_OK : CODE_FAILED;
}

void report_losses_row(report_losses *l, const gufo_tensor_difference *row, size_t count)
{
    uint64_t index;

    if (row[0].b.name.data == NULL || !report_tensor_index(l->model, &row[0].b, &index))
        return;
    for (size_t k = 0; k < count; k++) {
        double loss;

        if (gufo_tensor_difference_loss(&row[k], &loss))
            l->losses[k][index] = loss;
        if (row[k].b.name.data != NULL)
            l->types[k][index] = row[k].b.type;
    }
}

void report_losses_end(report_losses *l, const char *original, const char *const *paths,
                       const gufo_candidate *sums, gufo_report_content *content)
{
    for (size_t k = 0; k < l->count; k++)
        l->candidates[k] = (gufo_report_candidate){
            .name = gufo_str_of(path_name(paths[k])),
            .size = sums[k].bytes,
            .bits_per_weight =
                sums[k].elements > 0 ? 8 * (double)sums[k].bytes / (double)sums[k].elements : 0,
            .loss = sums[k].loss,
            .losses = l->losses[k],
            .types = l->types[k]};
    content->original = gufo_str_of(path_name(original));
    content->candidates = l->candidates;
    content->candidate_count = l->count;
}

/* ---- comparing ---------------------------------------------------------------------------------- */

static void take_row(void *context, const gufo_tensor_difference *row, size_t count)
{
    report_losses_row(context, row, count);
}

int report_add_losses(report_store *store, const char *const *paths,
                      const gufo_model *const *models, size_t candidates,
                      const shared_options *shared, gufo_cpu cpu, gufo_report_content *content)
{
    gufo_candidate sums[GUFO_COMPARE_CANDIDATES];
    report_losses losses;
    const gufo_candidates_options options = {
        .flags = GUFO_COMPARE_VALUES, .tensor = take_row, .context = &losses};
    progress bar;
    gufo_run run = progress_run(&bar, shared);
    gufo_error error;
    gufo_status status;

    if (report_losses_begin(&losses, store, models[1], candidates) != CODE_OK)
        return CODE_FAILED;
    run.cpu = cpu;
    progress_start(&bar, shared->quiet);
    status =
        gufo_compare_candidates(models[0], models + 1, candidates, &options, &run, sums, &error);
    progress_end(&bar);
    if (status != GUFO_OK)
        return report_refusal(paths[0], &error);
    report_losses_end(&losses, paths[0], paths + 1, sums, content);
    return CODE_OK;
}
