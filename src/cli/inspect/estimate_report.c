/* The memory that a model needs, as a table or as JSON.  What is fitted has "~" and its margin. */
#include "cli/inspect/estimate.h"

#include "cli/core/human.h"
#include "cli/core/json.h"
#include "cli/core/table.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct device_name {
    char text[16];
} device_name;

static device_name name_of(uint32_t index)
{
    device_name name = {"CPU"};

    if (index > 0)
        snprintf(name.text, sizeof name.text, "DEV%u", index - 1);
    return name;
}

static uint64_t total_bytes(const gufo_estimate_device *d)
{
    return d->model_bytes + d->context_bytes + d->compute_bytes + d->output_bytes;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const char *const qualities[] = {"not known", "exact", "fitted", "rough"};

/* 0 is exact, null not known. */
static void write_margins(json_writer *j, const gufo_estimate *e, const gufo_estimate_device *d)
{
    json_begin_object(j, "margins");
    json_write_known(j, "model_bytes", e->missing_tensors == 0, 0);
    json_write_u64(j, "context_bytes", 0);
    json_write_known(j, "compute_bytes", d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN,
                     d->compute_margin);
    json_write_u64(j, "output_bytes", 0);
    json_end_object(j);
}

static void write_device(json_writer *j, const gufo_estimate *e, uint32_t index)
{
    const gufo_estimate_device *d = &e->devices[index];

    json_begin_object(j, NULL);
    json_write_text(j, "device", name_of(index).text);
    json_write_u64(j, "model_bytes", d->model_bytes);
    if (index == 0)
        json_write_u64(j, "mapped_bytes", d->mapped_bytes);
    json_write_u64(j, "context_bytes", d->context_bytes);
    json_write_u64(j, "kv_bytes", d->kv_bytes);
    json_write_u64(j, "state_bytes", d->state_bytes);
    json_write_known(j, "compute_bytes", d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN,
                     d->compute_bytes);
    json_write_u64(j, "output_bytes", d->output_bytes);
    json_write_u64(j, "layers", d->layers);
    json_write_bool(j, "has_output", d->has_output);
    json_write_text(j, "compute", qualities[d->compute_quality]);
    write_margins(j, e, d);
    json_end_object(j);
}

void estimate_write_json(const input *in, const estimate_options *options,
                         const estimate_values *values, const gufo_estimate *e)
{
    json_writer j = json_begin_document(in->path);

    (void)options;
    json_write_u64(&j, "n_ctx", e->n_ctx);
    json_write_u64(&j, "n_ctx_seq", e->n_ctx_seq);
    json_write_u64(&j, "n_batch", e->n_batch);
    json_write_u64(&j, "n_ubatch", e->n_ubatch);
    json_write_bool(&j, "flash_attn", e->flash_attention);
    json_write_known(&j, "n_gpu_layers", values->run.has_gpu_layers, values->run.n_gpu_layers);
    json_write_u64(&j, "kv_token_bytes", e->kv_token_bytes);
    json_write_u64(&j, "unused_bytes", e->unused_bytes);
    json_write_u64(&j, "missing_tensors", e->missing_tensors);
    json_begin_array(&j, "devices");
    for (uint32_t d = 0; d < e->device_count; d++)
        write_device(&j, e, d);
    json_end_array(&j);
    json_end_document(&j);
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const gufo_estimate *e = context;
    const gufo_estimate_device *d;

    if (index >= e->device_count)
        return false;
    d = &e->devices[index];
    row_text(row, "%s", name_of((uint32_t)index).text);
    row_text(row, "%" PRIu64 "%s", d->layers, d->has_output ? " + output" : "");
    row_text(row, "%s", human_grouped(d->model_bytes).text);
    row_text(row, "%s", human_grouped(d->kv_bytes).text);
    row_text(row, "%s", human_grouped(d->state_bytes).text);
    if (d->compute_quality == GUFO_ESTIMATE_NOT_KNOWN)
        row_text(row, "not known");
    else
        row_text(row, "%s%s", d->compute_quality == GUFO_ESTIMATE_EXACT ? "" : "~",
                 human_grouped(d->compute_bytes).text);
    row_text(row, "%s", human_grouped(d->output_bytes).text);
    if (d->compute_quality == GUFO_ESTIMATE_NOT_KNOWN)
        row_text(row, "not known");
    else
        row_text(row, "%s%s", d->compute_margin > 0 ? "~" : "", human_grouped(total_bytes(d)).text);
    if (d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN)
        row_text(row, "%s", human_bytes(total_bytes(d)).text);
    return true;
}

static void write_margin(const gufo_estimate *e)
{
    for (uint32_t d = 0; d < e->device_count; d++)
        if (e->devices[d].compute_margin > 0)
            printf("  ~ compute on %s: up to %s more or less%s\n", name_of(d).text,
                   human_bytes(e->devices[d].compute_margin).text,
                   e->devices[d].compute_quality == GUFO_ESTIMATE_ROUGH ? ", rough" : "");
}

void estimate_write_text(const input *in, const estimate_options *options,
                         const estimate_values *values, const gufo_estimate *e)
{
    static const table_column columns[] = {
        {"device", -6, 0}, {"layers", -6, 3},     {"weights", 7, 0},
        {"cache", 5, 0},   {"state", 5, 2},       {"compute", 7, 0},
        {"output", 6, 1},  {"total bytes", 5, 0}, {"", 3, 4}};
    table t = table_of(columns, sizeof columns / sizeof *columns);

    printf("%s: context %" PRIu64, in->path, e->n_ctx);
    if (e->n_ctx_seq != e->n_ctx)
        printf(" (%" PRIu64 " for a sequence)", e->n_ctx_seq);
    printf(", batch %" PRIu64 ", physical batch %" PRIu64 ", flash attention %s\n", e->n_batch,
           e->n_ubatch, e->flash_attention ? "on" : "off");
    if (values->is_fitted && values->run.has_gpu_layers)
        printf("  layers on devices, with the output: %" PRIu64 "\n", values->run.n_gpu_layers);
    table_print(&t, make_row, e);
    write_margin(e);
    if (!options->no_mmap && e->devices[0].mapped_bytes > 0)
        printf("  mapped for the weights on CPU: %s\n",
               human_grouped(e->devices[0].mapped_bytes).text);
    printf("  cache for each token: %s\n", human_grouped(e->kv_token_bytes).text);
    if (e->unused_bytes > 0)
        printf("  not loaded, since the architecture does not use them: %s\n",
               human_bytes(e->unused_bytes).text);
    if (e->missing_tensors > 0)
        printf("  weights of %s in other shards are not counted\n",
               human_counted(e->missing_tensors, "tensor", "tensors").text);
}
