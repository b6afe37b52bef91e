/* --report OUT.html: a page with the outputs, or, before they are made, with the plan; what each tensor loses; and for a
 * size, what other sizes would lose. */
#include "cli/quantize/quantize.h"

#include "cli/core/files/path.h"
#include "cli/core/jobs/job_run.h"
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

typedef struct page_work {
    gufo_quantizer *quantizer;
    const quantize_options *options;
    report_store store;
    report_source *sources[GUFO_QUANTIZE_TARGETS];
    gufo_report_model models[GUFO_QUANTIZE_TARGETS];
    size_t source_count;
    gufo_report_content content;
} page_work;

/* ---- models ------------------------------------------------------------------------------------- */

/* The first file of an output: of a set, its first shard. */
static int open_output(page_work *w, size_t output)
{
    const quantize_options *o = w->options;
    const gufo_job *job = gufo_quantizer_job(w->quantizer);
    size_t each = gufo_job_output_count(job) / o->output_count;
    const input_options opening = {.single = false};
    char *path = job_output_path(job, o->paths[output], output * each);
    const char *kept = path != NULL ? report_store_text(&w->store, gufo_str_of(path)).data : NULL;
    int code = CODE_OK;

    free(path);
    if (kept == NULL)
        return CODE_FAILED;
    w->sources[output] = report_source_open(kept, o->base.shared, &opening, &code);
    if (w->sources[output] == NULL)
        return code;
    w->source_count++;
    w->models[output] = *report_source_model(w->sources[output]);
    return CODE_OK;
}

/* Before they are made, the input is what there is to be seen. */
static int open_models(page_work *w, const gufo_model *original)
{
    const quantize_options *o = w->options;
    int code = CODE_OK;

    w->content.models = w->models;
    if (o->dry_run) {
        w->models[0] =
            (gufo_report_model){.model = original, .name = gufo_str_of(path_name(o->input))};
        w->content.model_count = 1;
        return CODE_OK;
    }
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        code = open_output(w, i);
    w->content.model_count = o->output_count;
    return code;
}

/* ---- losses ------------------------------------------------------------------------------------- */

/* What a tensor has lost, or will; NaN: not known. */
static double loss_of(const page_work *w, size_t output, uint64_t index,
                      const gufo_quantizer_tensor *tensor)
{
    gufo_size_tensor planned;
    double relative;

    if (tensor->loss.count > 0) {
        relative = gufo_quantize_loss_relative(&tensor->loss);
        return relative * relative;
    }
    if (w->options->size.plan != NULL &&
        gufo_size_plan_tensor_at(w->options->size.plan, output, index, &planned))
        return planned.loss.relative;
    return tensor->choice.type == tensor->source.type ? 0 : NAN;
}

/* The tensor as the first model of the page has it. */
static bool find_tensor(const page_work *w, const gufo_quantizer_tensor *tensor, uint64_t *index)
{
    return gufo_model_tensor_index(w->models[0].model,
                                   w->options->dry_run ? tensor->source.name : tensor->name, index);
}

static int fill_losses(page_work *w, gufo_candidate_losses *l, size_t output)
{
    size_t tensors = (size_t)gufo_model_tensor_count(w->models[0].model);
    double *losses = report_store_room(&w->store, tensors, sizeof *losses);
    uint32_t *types = report_store_room(&w->store, tensors, sizeof *types);
    gufo_quantizer_tensor tensor;
    uint64_t index;

    if (losses == NULL || types == NULL)
        return CODE_FAILED;
    for (size_t i = 0; i < tensors; i++) {
        losses[i] = NAN;
        types[i] = GUFO_NO_TYPE;
    }
    for (uint64_t i = 0; gufo_quantizer_target_tensor_at(w->quantizer, output, i, &tensor); i++) {
        double loss = loss_of(w, output, i, &tensor);

        l->sums.bytes += tensor.choice.size;
        l->sums.elements += tensor.source.elements;
        l->sums.loss += isfinite(loss) ? loss : 0;
        if (!find_tensor(w, &tensor, &index))
            continue;
        losses[index] = loss;
        types[index] = tensor.choice.type;
    }
    l->losses = losses;
    l->types = types;
    return CODE_OK;
}

static int add_losses(page_work *w)
{
    const quantize_options *o = w->options;
    const char *names[GUFO_QUANTIZE_TARGETS];
    gufo_candidate_losses *losses;
    int code = CODE_OK;

    if (w->models[0].model == NULL)
        return CODE_OK;
    losses = report_store_room(&w->store, o->output_count, sizeof *losses);
    if (losses == NULL)
        return CODE_FAILED;
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++) {
        names[i] = o->dry_run ? o->targets[i].name : o->paths[i];
        code = fill_losses(w, &losses[i], i);
    }
    return code == CODE_OK
               ? report_put_losses(&w->store, o->input, names, losses, o->output_count, &w->content)
               : code;
}

/* ---- all ---------------------------------------------------------------------------------------- */

int quantize_save_page(gufo_quantizer *q, quantize_options *options, const gufo_model *original,
                       const gufo_guard *guard)
{
    page_work w = {.quantizer = q, .options = options};
    int code = open_models(&w, original);

    if (code == CODE_OK)
        code = add_losses(&w);
    if (code == CODE_OK && options->size.plan != NULL)
        code = size_add_curve(options, &w.store, &w.content);
    if (code == CODE_OK)
        code =
            report_page_save(&w.content, options->report, options->base.shared->force, guard, NULL);
    for (size_t i = 0; i < w.source_count; i++)
        report_source_free(w.sources[i]);
    report_store_free(&w.store);
    return code;
}
