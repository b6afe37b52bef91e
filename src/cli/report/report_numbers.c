/* The numbers of tensors, and the scales of their blocks: the library reads them. */
#include "cli/report/report_facts.h"

#include "cli/core/files/progress.h"

int report_add_numbers(report_store *store, const char *path, const shared_options *shared,
                       gufo_cpu cpu, gufo_report_model *shown)
{
    progress bar;
    gufo_run run = progress_run(&bar, shared);
    gufo_error error;

    if (shown->model == NULL)
        return CODE_OK;
    run.cpu = cpu;
    progress_start(&bar, shared->quiet);
    shown->numbers = store->numbers = gufo_model_numbers_new(shown->model, NULL, &run, &error);
    progress_end(&bar);
    return shown->numbers != NULL ? CODE_OK : report_error(path, &error);
}
