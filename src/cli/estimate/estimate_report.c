/* The memory that a model needs, for people, and why an estimate fails.  What is fitted has "~" and its
 * margin; bounds are called so. */
#include "cli/estimate/estimate.h"

#include "base/checked.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

#include <inttypes.h>
#include <stdio.h>

estimate_name estimate_name_of(uint32_t index)
{
    estimate_name name = {"CPU"};

    if (index > 0)
        snprintf(name.text, sizeof name.text, "DEV%u", index - 1);
    return name;
}

uint64_t estimate_beside(const gufo_estimate_device *d)
{
    return capped_add(capped_add(d->adapter_bytes, d->projector_bytes), d->draft_bytes);
}

uint64_t estimate_total(const gufo_estimate_device *d)
{
    uint64_t model = capped_add(capped_add(d->model_bytes, d->context_bytes),
                                capped_add(d->compute_bytes, d->output_bytes));

    return capped_add(model, estimate_beside(d));
}

uint64_t estimate_margin(const gufo_estimate_device *d)
{
    return capped_add(d->compute_margin, d->draft_margin);
}

bool estimate_is_known(const gufo_estimate_device *d)
{
    return d->compute_quality != GUFO_ESTIMATE_NOT_KNOWN &&
           d->draft_quality != GUFO_ESTIMATE_NOT_KNOWN;
}

int estimate_report_shortage(const estimate_work *w, const gufo_estimate_shortage *s)
{
    return report_as(CODE_NO, w->in->path,
                     "nothing fits: with %s tokens of context, %s more is needed on %s",
                     human_grouped(s->n_ctx).text, human_sizes(s->missing_bytes).text,
                     estimate_name_of(s->device).text);
}

int estimate_report_failure(const estimate_work *w, const gufo_error *error)
{
    if (error->code == GUFO_E_ARGUMENT)
        return report_as(CODE_USAGE, w->in->path, "%s", error->message);
    /* Without a rule for the architecture: the file may be sound. */
    if (error->code == GUFO_E_TYPE)
        return report_as(CODE_NO, w->in->path, "not known: %s", error->message);
    return report_error(w->in->path, error);
}

/* ---- devices -------------------------------------------------------------------------------- */

typedef struct device_rows {
    const estimate_values *v;
    const gufo_estimate *e;
    bool has_beside, has_limits;
} device_rows;

/* What is left of a limit, margins counted. */
static void add_left(table_row *row, const estimate_values *v, const gufo_estimate_device *d,
                     uint32_t index)
{
    uint64_t limit = estimate_limit(v, index), most = gufo_estimate_most_bytes(d);

    if (limit == 0)
        row_text(row, "any");
    else
        row_text(row, "%s", human_decimal(limit > most ? limit - most : 0).text);
}

static void add_compute(table_row *row, const gufo_estimate_device *d)
{
    const char *sign = d->compute_quality == GUFO_ESTIMATE_EXACT ? "" : "~";

    if (d->compute_quality == GUFO_ESTIMATE_NOT_KNOWN)
        row_text(row, "not known");
    else
        row_text(row, "%s%s", sign, human_grouped(d->compute_bytes).text);
}

static void add_total(table_row *row, const gufo_estimate_device *d)
{
    const char *sign = estimate_margin(d) > 0 ? "~" : "";

    if (!estimate_is_known(d)) {
        row_text(row, "not known");
        row_text(row, "%s", "");
        return;
    }
    row_text(row, "%s%s", sign, human_grouped(estimate_total(d)).text);
    row_text(row, "%s", human_bytes(estimate_total(d)).text);
}

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const device_rows *rows = context;
    const gufo_estimate_device *d;

    if (index >= rows->e->device_count)
        return false;
    d = &rows->e->devices[index];
    row_text(row, "%s", estimate_name_of((uint32_t)index).text);
    row_text(row, "%" PRIu64 "%s", d->layers, d->has_output ? " + output" : "");
    row_text(row, "%s", human_grouped(d->model_bytes).text);
    row_text(row, "%s", human_grouped(d->kv_bytes).text);
    row_text(row, "%s", human_grouped(d->state_bytes).text);
    add_compute(row, d);
    row_text(row, "%s", human_grouped(d->output_bytes).text);
    if (rows->has_beside)
        row_text(row, "%s%s", d->draft_margin > 0 ? "~" : "",
                 human_grouped(estimate_beside(d)).text);
    add_total(row, d);
    if (rows->has_limits)
        add_left(row, rows->v, d, (uint32_t)index);
    return true;
}

static void write_devices(const device_rows *rows)
{
    static const table_column all[] = {
        {"device", -6, 0},     {"layers", -6, 3}, {"weights", 7, 0},       {"cache", 5, 0},
        {"state", 5, 2},       {"compute", 7, 0}, {"output", 6, 1},        {"beside", 6, 0},
        {"total bytes", 5, 0}, {"total", 5, 4},   {"left, at least", 4, 0}};
    enum { ALL = sizeof all / sizeof *all, BESIDE = 7 };
    table_column columns[ALL];
    const gufo_estimate *e = rows->e;
    size_t count = 0;
    table t;

    for (size_t i = 0; i < ALL - (rows->has_limits ? 0 : 1); i++)
        if (i != BESIDE || rows->has_beside)
            columns[count++] = all[i];
    t = table_of(columns, count);
    table_print(&t, make_row, rows);
    for (uint32_t d = 0; d < e->device_count; d++)
        if (e->devices[d].compute_margin > 0)
            printf("  ~ compute on %s: up to %s more or less%s\n", estimate_name_of(d).text,
                   human_bytes(e->devices[d].compute_margin).text,
                   e->devices[d].compute_quality == GUFO_ESTIMATE_ROUGH ? ", rough" : "");
}

/* ---- what fits ------------------------------------------------------------------------------ */

static void write_limits(const estimate_work *w, const gufo_estimate *e)
{
    const char *before = "  limits: ";

    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t limit = estimate_limit(w->values, d);

        if (limit == 0)
            continue;
        printf("%s%s %s", before, estimate_name_of(d).text, human_sizes(limit).text);
        before = ", ";
    }
    putchar('\n');
}

static void write_missing(const gufo_estimate_shortage *s)
{
    printf(": %s more needed on %s\n", human_sizes(s->missing_bytes).text,
           estimate_name_of(s->device).text);
}

/* Why no more fits. */
static void write_shortages(const gufo_estimate *e)
{
    const gufo_estimate_shortage *layers = &e->layers_shortage, *context = &e->context_shortage;

    if (layers->missing_bytes > 0) {
        printf("  all %" PRIu64 " layers on devices, with %s tokens of context",
               layers->n_gpu_layers, human_grouped(layers->n_ctx).text);
        write_missing(layers);
    }
    if (context->missing_bytes > 0) {
        printf("  %s tokens of context", human_grouped(context->n_ctx).text);
        write_missing(context);
    }
}

/* The options that were found, as llama.cpp takes them. */
static void write_options(const estimate_work *w, const gufo_estimate *e)
{
    const estimate_values *v = w->values;
    bool has_layers = !v->run.has_gpu_layers || v->run.n_gpu_layers > 0;
    bool has_shares = has_layers && w->options->split == NULL && e->device_count > 2;

    printf("  options of llama.cpp: -c %" PRIu64, v->run.n_ctx);
    if (v->run.n_devices > 0 && v->run.has_gpu_layers)
        printf(" -ngl %" PRIu64, v->run.n_gpu_layers);
    else if (v->run.n_devices > 0)
        printf(" -ngl all");
    if (v->run.n_cpu_moe > 0 && !w->options->cpu_moe)
        printf(" -ncmoe %" PRIu64, v->run.n_cpu_moe);
    for (uint32_t d = 1; has_shares && d < e->device_count; d++)
        printf("%s%" PRIu64, d == 1 ? " -ts " : ",",
               e->devices[d].layers + e->devices[d].has_output);
    putchar('\n');
}

static void write_fit(const estimate_work *w, const gufo_estimate *e)
{
    write_limits(w, e);
    write_shortages(e);
    write_options(w, e);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void write_unread(const estimate_values *v, const gufo_estimate *e, uint64_t all)
{
    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t bytes = e->devices[d].read_bytes;

        if ((d == 0 ? v->host_bandwidth : v->bandwidth[d - 1]) == 0 && bytes > all / 100)
            printf("  not in that: time to read %s on %s (%s)\n", human_sizes(bytes).text,
                   estimate_name_of(d).text, d == 0 ? "--host-bandwidth" : "--bandwidth");
    }
}

static void write_speed(const estimate_values *v, const gufo_estimate *e)
{
    double speed = gufo_estimate_speed(e, v->host_bandwidth, v->bandwidth);
    uint64_t all = 0;

    for (uint32_t d = 0; d < e->device_count; d++)
        all = capped_add(all, e->devices[d].read_bytes);
    if (speed > 0)
        printf(
            "  speed, at most: %.4g tokens per second; a token reads %s of weights in use, cache "
            "and state\n",
            speed, human_sizes(all).text);
    write_unread(v, e, all);
}

/* ---- beside --------------------------------------------------------------------------------- */

static uint64_t adapter_bytes(const gufo_estimate_device *d)
{
    return d->adapter_bytes;
}

static uint64_t projector_bytes(const gufo_estimate_device *d)
{
    return d->projector_bytes;
}

static uint64_t draft_bytes(const gufo_estimate_device *d)
{
    return d->draft_bytes;
}

/* "  adapters: 1,000 on CPU, 2,000 on DEV0" */
static bool write_part(const gufo_estimate *e, const char *name,
                       uint64_t (*bytes_of)(const gufo_estimate_device *))
{
    const char *before = "";

    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t bytes = bytes_of(&e->devices[d]);

        if (bytes == 0)
            continue;
        if (*before == '\0')
            printf("  %s:", name);
        printf("%s %s%s on %s", before,
               bytes_of == draft_bytes && e->devices[d].draft_margin > 0 ? "~" : "",
               human_grouped(bytes).text, estimate_name_of(d).text);
        before = ",";
    }
    if (*before != '\0')
        putchar('\n');
    return *before != '\0';
}

static void write_beside(const gufo_estimate *e)
{
    bool adapters = write_part(e, "beside, adapters", adapter_bytes);
    bool projector = write_part(e, "beside, projector without its buffers", projector_bytes);

    if (adapters || projector)
        puts("  not counted: what adapters and projectors compute");
    (void)write_part(e, "beside, the draft below", draft_bytes);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void write_shapes(const char *path, const gufo_estimate *e)
{
    text_print("%s: context %" PRIu64, path, e->n_ctx);
    if (e->n_ctx_seq != e->n_ctx)
        printf(" (%" PRIu64 " for a sequence)", e->n_ctx_seq);
    printf(", batch %" PRIu64 ", physical batch %" PRIu64 ", flash attention %s\n", e->n_batch,
           e->n_ubatch, e->flash_attention ? "on" : "off");
}

static void write_draft(const estimate_work *w)
{
    gufo_estimate e;

    if (w->draft->estimator == NULL || estimate_run_draft(w, &e, NULL) != GUFO_OK)
        return;
    printf("draft ");
    write_shapes(w->draft->in.path, &e);
    write_devices(&(device_rows){.e = &e});
}

static bool has_beside(const gufo_estimate *e)
{
    uint64_t sum = 0;

    for (uint32_t d = 0; d < e->device_count; d++)
        sum = capped_add(sum, estimate_beside(&e->devices[d]));
    return sum > 0;
}

void estimate_write_text(const estimate_work *w, const gufo_estimate *e)
{
    write_shapes(w->in->path, e);
    if (w->values->has_limits)
        write_fit(w, e);
    write_devices(&(device_rows){w->values, e, has_beside(e), w->values->has_limits});
    write_beside(e);
    if (!w->options->no_mmap && e->devices[0].mapped_bytes > 0)
        printf("  mapped for the weights on CPU: %s\n",
               human_grouped(e->devices[0].mapped_bytes).text);
    printf("  cache for one token more, at least: %s bytes\n",
           human_grouped(e->kv_token_bytes).text);
    if (w->values->has_bandwidth)
        write_speed(w->values, e);
    if (e->unused_bytes > 0)
        printf("  not loaded, since the architecture does not use them: %s\n",
               human_bytes(e->unused_bytes).text);
    if (e->missing_tensors > 0)
        printf("  weights of %s in other shards are not counted\n",
               human_counted(e->missing_tensors, "tensor", "tensors").text);
    write_draft(w);
}
