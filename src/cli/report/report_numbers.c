/* The numbers of tensors, and the scales of their blocks by element type. */
#include "cli/report/report_facts.h"

#include "cli/core/files/progress.h"

typedef struct numbers_work {
    const char *path;
    gufo_report_model *shown;
    gufo_stats *stats;
    gufo_report_scales *scales;
    gufo_run run;
    progress bar;
    uint64_t bytes_before, bytes;
} numbers_work;

/* Data that several tensors have would be read again and again. */
static bool is_scanned(const gufo_tensor *tensor)
{
    return !tensor->overlaps && tensor->available > 0;
}

static uint64_t count_bytes(const gufo_model *model)
{
    gufo_tensor tensor;
    uint64_t bytes = 0;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
        bytes += is_scanned(&tensor) ? 2 * tensor.available : 0;
    return bytes;
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    numbers_work *w = context;

    (void)total;
    return progress_step(&w->bar, w->bytes_before + done, w->bytes);
}

static void add_counts(gufo_scale_counts *sum, const gufo_scale_counts *more)
{
    sum->count += more->count;
    sum->zeros += more->zeros;
    sum->negative += more->negative;
    sum->subnormal += more->subnormal;
    sum->saturated += more->saturated;
    sum->nonfinite += more->nonfinite;
    for (size_t i = 0; i < GUFO_SCALE_EXPONENTS; i++)
        sum->exponents[i] += more->exponents[i];
}

static void add_scales(numbers_work *w, uint32_t type, const gufo_scales *scales)
{
    gufo_report_model *shown = w->shown;
    size_t i = 0;

    if (scales->scales.count == 0)
        return;
    while (i < shown->scales_count && w->scales[i].type != type)
        i++;
    w->scales[i].type = type;
    add_counts(&w->scales[i].scales, &scales->scales);
    add_counts(&w->scales[i].minimums, &scales->minimums);
    if (i == shown->scales_count)
        shown->scales_count++;
}

/* A tensor that cannot be decoded stays without numbers. */
static int scan(numbers_work *w, const gufo_tensor *tensor, gufo_stats *out)
{
    const gufo_run quiet = {.threads = w->run.threads, .cpu = w->run.cpu};
    gufo_scales scales = {.scales = {.count = 0}};
    gufo_error error;
    gufo_status status = gufo_tensor_scan(w->shown->model, tensor, 0, &w->run, out, &error);

    if (status == GUFO_OK)
        status = gufo_tensor_scan_scales(w->shown->model, tensor, &quiet, &scales, &error);
    w->bytes_before += 2 * tensor->available;
    if (status == GUFO_OK)
        add_scales(w, tensor->type, &scales);
    else
        *out = (gufo_stats){.elements = 0};
    if (status == GUFO_OK || status == GUFO_E_TYPE || status == GUFO_E_ARGUMENT)
        return CODE_OK;
    progress_end(&w->bar);
    return report_error(w->path, &error);
}

int report_add_numbers(report_store *store, const char *path, const shared_options *shared,
                       gufo_cpu cpu, gufo_report_model *shown)
{
    numbers_work w = {.path = path, .shown = shown};
    gufo_tensor tensor;
    int code = CODE_OK;

    if (shown->model == NULL)
        return CODE_OK;
    w.stats =
        report_store_room(store, (size_t)gufo_model_tensor_count(shown->model), sizeof *w.stats);
    w.scales = report_store_room(store, gufo_element_type_count(), sizeof *w.scales);
    if (w.stats == NULL || w.scales == NULL)
        return CODE_FAILED;
    w.bytes = count_bytes(shown->model);
    progress_start(&w.bar, shared->quiet);
    w.run = progress_run(&w.bar, shared);
    w.run.cpu = cpu;
    w.run.progress = on_progress;
    w.run.progress_context = &w;
    for (uint64_t i = 0; code == CODE_OK && gufo_model_tensor_at(shown->model, i, &tensor); i++)
        if (is_scanned(&tensor))
            code = scan(&w, &tensor, &w.stats[i]);
    progress_end(&w.bar);
    shown->stats = w.stats;
    shown->scales = w.scales;
    return code;
}
