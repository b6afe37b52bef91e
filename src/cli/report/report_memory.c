/* Memory over the context: the library computes it, the store keeps it. */
#include "cli/report/report_facts.h"

int report_add_memory(report_store *store, const gufo_estimator *estimator,
                      const gufo_estimate_options *options, gufo_report_model *shown)
{
    const gufo_report_curves_options curves = {.estimator = estimator, .run = options};
    gufo_report_curves *own;
    gufo_error error;

    if (shown->model == NULL)
        return CODE_OK;
    own = gufo_report_curves_new(shown->model, &curves, &error);
    if (own == NULL)
        return report_error(NULL, &error);
    gufo_report_curves_free(store->curves);
    store->curves = own;
    shown->memory = gufo_report_curves_list(own, &shown->memory_count);
    return CODE_OK;
}
