/* Files beside the model of gufo estimate: adapters and a projector, whose weights count, and a
 * draft, which has an estimate of its own. */
#include "cli/estimate/estimate.h"

/* llama.cpp refuses the file, or it cannot be read. */
static int report_file(const char *path, const gufo_error *error)
{
    return error->code == GUFO_E_ARGUMENT ? report_as(CODE_USAGE, path, "%s", error->message)
                                          : report_error(path, error);
}

/* Adds a file whose header alone counts. */
static int add_file(const estimate_options *o, const char *path, gufo_estimator *e,
                    gufo_status (*add)(gufo_estimator *e, const gufo_model *model,
                                       gufo_error *error))
{
    input in;
    gufo_error error;
    int code = input_open(&in, path, &o->input);

    if (code != CODE_OK)
        return code;
    if (add(e, in.model, &error) != GUFO_OK)
        code = report_file(path, &error);
    input_close(&in);
    return code;
}

static int add_draft(const estimate_options *o, gufo_estimator *e, estimate_draft *draft)
{
    gufo_error error;
    int code = input_open(&draft->in, o->draft, &o->input);

    if (code != CODE_OK)
        return code;
    draft->estimator = gufo_estimator_new(draft->in.model, NULL, &error);
    if (draft->estimator != NULL &&
        gufo_estimator_add_draft(e, draft->estimator, &error) == GUFO_OK)
        return CODE_OK;
    code = error.code == GUFO_E_TYPE ? report_as(CODE_NO, o->draft, "not known: %s", error.message)
                                     : report_file(o->draft, &error);
    if (draft->estimator == NULL)
        input_close(&draft->in);
    return code;
}

int estimate_add_beside(const estimate_options *o, gufo_estimator *e, estimate_draft *draft)
{
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && i < o->adapters.count; i++)
        code = add_file(o, o->adapters.items[i], e, gufo_estimator_add_adapter);
    if (code == CODE_OK && o->projector != NULL)
        code = add_file(o, o->projector, e, gufo_estimator_add_projector);
    return code == CODE_OK && o->draft != NULL ? add_draft(o, e, draft) : code;
}

void estimate_close_draft(estimate_draft *draft)
{
    if (draft->estimator == NULL)
        return;
    gufo_estimator_free(draft->estimator);
    input_close(&draft->in);
}

gufo_status estimate_run_draft(const estimate_work *w, gufo_estimate *out, gufo_error *error)
{
    gufo_estimate_options options = gufo_estimate_draft_options(&w->values->run);

    return gufo_estimator_run(w->draft->estimator, &options, out, error);
}
