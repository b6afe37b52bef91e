/* The memory that a model needs, for people, and why an estimate fails.  What is fitted has "~" and its
 * margin; bounds are called so.  Sizes are in one unit system, that of memory: 24 GiB is 24 * 2^30; with
 * --verbose all of them are bytes. */
#include "cli/estimate/estimate.h"

#include "cli/core/values/number.h"
#include "cli/core/values/sums.h"
#include "cli/core/records/table.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"

#include <inttypes.h>
#include <stdio.h>

/* What is loaded beside the model. */
static uint64_t estimate_beside(const gufo_estimate_device *d)
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
    bool has_limits, has_bytes;
} device_rows;

/* What a device or a model takes. */
static human_text amount(const device_rows *rows, uint64_t bytes)
{
    return rows->has_bytes || bytes == 0 ? human_grouped(bytes) : human_memory(bytes);
}

/* What is left of a limit, margins counted. */
static void add_left(table_row *row, const device_rows *rows, const gufo_estimate_device *d,
                     uint32_t index)
{
    uint64_t limit = estimate_limit(rows->v, index), most = gufo_estimate_most_bytes(d);

    if (limit == 0)
        row_text(row, "any");
    else
        row_text(row, "%s", amount(rows, limit > most ? limit - most : 0).text);
}

static void add_compute(table_row *row, const device_rows *rows, const gufo_estimate_device *d)
{
    const char *sign = d->compute_quality == GUFO_ESTIMATE_EXACT ? "" : "~";

    if (d->compute_quality == GUFO_ESTIMATE_NOT_KNOWN)
        row_text(row, "not known");
    else
        row_text(row, "%s%s", sign, amount(rows, d->compute_bytes).text);
}

static void add_total(table_row *row, const device_rows *rows, const gufo_estimate_device *d)
{
    if (estimate_is_known(d))
        row_text(row, "%s%s", estimate_margin(d) > 0 ? "~" : "",
                 amount(rows, estimate_total(d)).text);
    else
        row_text(row, "not known");
}

enum { DEVICE, LAYERS, WEIGHTS, CACHE, STATE, COMPUTE, OUTPUT, BESIDE, TOTAL, LEFT, PARTS };

/* A terminal that is narrow keeps the answer: what is needed, and what is left. */
static const table_column parts[PARTS] = {
    [DEVICE] = {"device", -6, 0}, [LAYERS] = {"layers", -6, 1}, [WEIGHTS] = {"weights", 7, 2},
    [CACHE] = {"cache", 5, 3},    [STATE] = {"state", 5, 5},    [COMPUTE] = {"compute", 7, 4},
    [OUTPUT] = {"output", 6, 7},  [BESIDE] = {"beside", 6, 6},  [TOTAL] = {"total", 5, 0},
    [LEFT] = {"left", 4, 0},
};

/* Whether a column says something about a device. */
static bool is_used(const device_rows *rows, size_t part)
{
    bool state = false, beside = false;

    for (uint32_t i = 0; i < rows->e->device_count; i++) {
        state |= rows->e->devices[i].state_bytes > 0;
        beside |= estimate_beside(&rows->e->devices[i]) > 0;
    }
    return part == STATE ? state : part == BESIDE ? beside : part != LEFT || rows->has_limits;
}

static void add_part(table_row *row, const device_rows *rows, uint32_t index, size_t part)
{
    const gufo_estimate_device *d = &rows->e->devices[index];

    if (part == DEVICE)
        row_text(row, "%s", estimate_name_of(index).text);
    else if (part == LAYERS)
        row_text(row, "%" PRIu64 "%s", d->layers, d->has_output ? "+out" : "");
    else if (part == COMPUTE)
        add_compute(row, rows, d);
    else if (part == BESIDE)
        row_text(row, "%s%s", d->draft_margin > 0 ? "~" : "",
                 amount(rows, estimate_beside(d)).text);
    else if (part == TOTAL)
        add_total(row, rows, d);
    else if (part == LEFT)
        add_left(row, rows, d, index);
    else
        row_text(row, "%s",
                 amount(rows, part == WEIGHTS ? d->model_bytes
                              : part == CACHE ? d->kv_bytes
                              : part == STATE ? d->state_bytes
                                              : d->output_bytes)
                     .text);
}

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const device_rows *rows = context;

    if (index >= rows->e->device_count)
        return false;
    for (size_t i = 0; i < PARTS; i++)
        if (is_used(rows, i))
            add_part(row, rows, (uint32_t)index, i);
    return true;
}

/* "~ may be 16.0 MiB more or less on CPU, 38.8 MiB on DEV0 (rough)" */
static void write_margins(const device_rows *rows)
{
    const gufo_estimate *e = rows->e;
    bool begun = false;
    line l;

    for (uint32_t d = 0; d < e->device_count; d++) {
        if (e->devices[d].compute_margin == 0)
            continue;
        if (!begun)
            line_begin(&l);
        fprintf(l.out, "%s %s %son %s%s", begun ? "," : "  ~ compute may be",
                amount(rows, e->devices[d].compute_margin).text, begun ? "" : "more or less ",
                estimate_name_of(d).text,
                e->devices[d].compute_quality == GUFO_ESTIMATE_ROUGH ? " (rough)" : "");
        begun = true;
    }
    if (begun)
        line_end(&l);
}

static void write_devices(const device_rows *rows)
{
    table_column columns[PARTS];
    size_t count = 0;
    table t;

    for (size_t i = 0; i < PARTS; i++)
        if (is_used(rows, i))
            columns[count++] = parts[i];
    t = table_of(columns, count);
    table_print(&t, make_row, rows);
    write_margins(rows);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void write_unread(const estimate_values *v, const gufo_estimate *e, uint64_t all)
{
    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t bytes = e->devices[d].read_bytes;

        if ((d == 0 ? v->host_bandwidth : v->bandwidth[d - 1]) == 0 && bytes > all / 100)
            line_put("  not included: time to read %s on %s (%s)", human_memory(bytes).text,
                     estimate_name_of(d).text, d == 0 ? "--host-bandwidth" : "--bandwidth");
    }
}

/* Four digits that count; from 1,000 on the whole number, which an exponent would hide. */
static human_text speed_text(double speed)
{
    human_text text;

    if (speed >= 1000 && speed < 1e18)
        return human_grouped((uint64_t)speed);
    snprintf(text.text, sizeof text.text, "%.4g", speed);
    return text;
}

static void write_speed(const estimate_values *v, const gufo_estimate *e)
{
    double speed = gufo_estimate_speed(e, v->host_bandwidth, v->bandwidth);
    uint64_t all = 0;

    for (uint32_t d = 0; d < e->device_count; d++)
        all = capped_add(all, e->devices[d].read_bytes);
    if (speed > 0)
        line_put("  speed: at most %s tokens per second; a token reads %s of weights in use, cache "
                 "and state",
                 speed_text(speed).text, human_memory(all).text);
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
static bool write_part(const device_rows *rows, const char *name,
                       uint64_t (*bytes_of)(const gufo_estimate_device *))
{
    const gufo_estimate *e = rows->e;
    bool begun = false;
    line l;

    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t bytes = bytes_of(&e->devices[d]);

        if (bytes == 0)
            continue;
        if (!begun) {
            line_begin(&l);
            fprintf(l.out, "  %s:", name);
        }
        fprintf(l.out, "%s %s%s on %s", begun ? "," : "",
                bytes_of == draft_bytes && e->devices[d].draft_margin > 0 ? "~" : "",
                amount(rows, bytes).text, estimate_name_of(d).text);
        begun = true;
    }
    if (begun)
        line_end(&l);
    return begun;
}

static void write_beside(const device_rows *rows)
{
    bool adapters = write_part(rows, "beside, adapters", adapter_bytes);
    bool projector = write_part(rows, "beside, projector without its buffers", projector_bytes);

    if (adapters || projector)
        line_put("  not counted: what adapters and projectors compute");
    (void)write_part(rows, "beside, the draft below", draft_bytes);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void write_shapes(const char *before, const char *path, const gufo_estimate *e)
{
    line l;

    line_begin(&l);
    fputs(before, l.out);
    text_put(l.out, gufo_str_of(path), TEXT_PLAIN);
    fprintf(l.out, "%scontext %s", path[0] != '\0' ? ": " : "", human_grouped(e->n_ctx).text);
    if (e->n_ctx_seq != e->n_ctx)
        fprintf(l.out, " (%s for a sequence)", human_grouped(e->n_ctx_seq).text);
    fprintf(l.out, ", batch %s, physical batch %s, flash attention %s",
            human_grouped(e->n_batch).text, human_grouped(e->n_ubatch).text,
            e->flash_attention ? "on" : "off");
    line_end(&l);
}

static void write_draft(const estimate_work *w)
{
    gufo_estimate e;

    if (w->draft->estimator == NULL || estimate_run_draft(w, &e, NULL) != GUFO_OK)
        return;
    write_shapes("draft ", w->draft->in.path, &e);
    write_devices(&(device_rows){.e = &e, .has_bytes = w->options->base.shared->verbose});
}

static void write_notes(const estimate_work *w, const device_rows *rows)
{
    const gufo_estimate *e = rows->e;

    if (!w->options->no_mmap && e->devices[0].mapped_bytes > 0)
        line_put("  mapped for the weights on CPU: %s",
                 amount(rows, e->devices[0].mapped_bytes).text);
    line_put("  cache for each further token: at least %s", amount(rows, e->kv_token_bytes).text);
    if (w->values->has_bandwidth)
        write_speed(w->values, e);
    if (e->unused_bytes > 0)
        line_put("  not loaded, since the architecture does not use them: %s",
                 amount(rows, e->unused_bytes).text);
    if (e->missing_tensors > 0)
        line_put("  weights of %s in other shards are not counted",
                 human_counted(e->missing_tensors, "tensor", "tensors").text);
}

void estimate_write_text(const estimate_work *w, const gufo_estimate *e)
{
    const device_rows rows = {w->values, e, w->values->has_limits,
                              w->options->base.shared->verbose};

    if (w->values->has_limits)
        estimate_write_fit(w, e);
    if (w->values->has_limits && w->is_brief)
        return;
    write_shapes(w->values->has_limits ? "  " : "", w->values->has_limits ? "" : w->in->path, e);
    write_devices(&rows);
    write_beside(&rows);
    write_notes(w, &rows);
    write_draft(w);
}
