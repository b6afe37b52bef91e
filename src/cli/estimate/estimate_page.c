/* gufo estimate --report: a page of the model, whose memory is that of the options. */
#include "cli/estimate/estimate.h"

#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/report/report.h"

int estimate_check_page(const estimate_options *o)
{
    const shared_options *shared = o->base.shared;

    if (o->report == NULL)
        return CODE_OK;
    if (shared->arg_count != 1 || path_is_folder(shared->args[0]))
        return report_usage("--report writes a page of one model; give its FILE");
    if (path_is_standard(shared->args[0]))
        return report_usage("a page reads FILE twice, and standard input cannot be");
    if (!report_is_page(o->report))
        return report_as(CODE_USAGE, o->report, "--report writes a page; its name ends with .html");
    return save_check_later(o->report, shared->force, NULL);
}

static int save(const estimate_work *w, report_source *source, const gufo_guard *guard)
{
    gufo_report_model *shown = report_source_model(source);
    const gufo_report_content content = {.models = shown, .model_count = 1};
    int code = report_add_memory(report_source_store(source), w->estimator, &w->values->run, shown);

    return code == CODE_OK ? report_page_save(&content, w->options->report,
                                              w->options->base.shared->force, guard, NULL)
                           : code;
}

int estimate_save_page(const estimate_work *w)
{
    const estimate_options *o = w->options;
    gufo_guard guard;
    int code = CODE_OK;
    report_source *source = report_source_open(w->in->path, o->base.shared, &o->input, &code);

    if (source == NULL)
        return code;
    if (!input_guard(w->in, &guard)) {
        report_source_free(source);
        return CODE_FAILED;
    }
    code = save_check(o->report, o->base.shared->force, &guard);
    if (code == CODE_OK)
        code = save(w, source, &guard);
    gufo_guard_free(&guard);
    report_source_free(source);
    return code;
}
