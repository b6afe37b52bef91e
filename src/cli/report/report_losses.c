/* What candidates lose of an original: the library compares them. */
#include "cli/report/report_facts.h"

#include "cli/core/files/path.h"
#include "cli/core/files/progress.h"

int report_put_losses(report_store *store, const char *original, const char *const *paths,
                      const gufo_candidate_losses *losses, size_t count,
                      gufo_report_content *content)
{
    gufo_report_candidate *candidates = report_store_room(store, count, sizeof *candidates);

    if (candidates == NULL)
        return CODE_FAILED;
    for (size_t k = 0; k < count; k++)
        candidates[k] =
            (gufo_report_candidate){.name = gufo_str_of(path_name(paths[k])), .losses = &losses[k]};
    content->original = gufo_str_of(path_name(original));
    content->candidates = candidates;
    content->candidate_count = count;
    return CODE_OK;
}

int report_add_losses(report_store *store, const char *const *paths,
                      const gufo_model *const *models, size_t candidates,
                      const shared_options *shared, gufo_cpu cpu, gufo_report_content *content)
{
    const gufo_candidate_losses *losses;
    progress bar;
    gufo_run run = progress_run(&bar, shared);
    gufo_error error;

    run.cpu = cpu;
    progress_start(&bar, shared->quiet);
    store->losses =
        gufo_loss_table_new(models[0], models + 1, candidates, NULL, &run, NULL, &error);
    progress_end(&bar);
    if (store->losses == NULL)
        return report_refusal(paths[0], &error);
    losses = gufo_loss_table_list(store->losses, &candidates);
    return report_put_losses(store, paths[0], paths + 1, losses, candidates, content);
}
