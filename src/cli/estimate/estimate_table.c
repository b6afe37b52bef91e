/* gufo estimate --table: totals of several contexts, for several types of the cache.
 *
 *     context         F16       Q8_0       Q4_0
 *     4,096      ~5.5 GiB   ~5.3 GiB   ~5.1 GiB
 *     8,192    ! ~6.0 GiB   ~5.5 GiB   ~5.3 GiB
 *
 * Contexts double from 4096 on; the model's and the one that is asked for are among them. */
#include "cli/estimate/estimate.h"

#include "cli/core/records/table.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CONTEXT = 4096, CONTEXTS = 40, COLUMNS = 4 };

/* A pair of types of the cache. */
typedef struct cache_column {
    const gufo_element_type *k, *v;
    char name[24];
} cache_column;

typedef struct cell {
    bool is_refused;
    uint64_t n_ctx;
    uint32_t device_count;
    bool is_known; /* buffers for computing */
    uint64_t total[1 + GUFO_ESTIMATE_MAX_DEVICES], margin[1 + GUFO_ESTIMATE_MAX_DEVICES];
    bool is_short[1 + GUFO_ESTIMATE_MAX_DEVICES];
} cell;

typedef struct tabling {
    const estimate_work *w;
    uint64_t contexts[CONTEXTS];
    cache_column columns[COLUMNS];
    uint32_t devices[1 + GUFO_ESTIMATE_MAX_DEVICES]; /* that have something */
    size_t context_count, column_count, used_count;
    cell cells[CONTEXTS][COLUMNS];
    gufo_error refusal; /* the last one */
} tabling;

/* ---- rows and columns ----------------------------------------------------------------------- */

/* In order, and once. */
static void add_context(tabling *t, uint64_t context)
{
    size_t at = t->context_count;

    while (at > 0 && t->contexts[at - 1] > context)
        at--;
    if ((at > 0 && t->contexts[at - 1] == context) || t->context_count == CONTEXTS)
        return;
    memmove(&t->contexts[at + 1], &t->contexts[at], (t->context_count - at) * sizeof *t->contexts);
    t->contexts[at] = context;
    t->context_count++;
}

static void add_column(tabling *t, const gufo_element_type *k, const gufo_element_type *v)
{
    cache_column *added = &t->columns[t->column_count];

    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].k == k && t->columns[i].v == v)
            return;
    *added = (cache_column){.k = k, .v = v};
    snprintf(added->name, sizeof added->name, k == v ? "%.10s" : "%.10s/%.10s", k->name, v->name);
    t->column_count++;
}

static void find_columns(tabling *t)
{
    static const uint32_t usual[] = {GUFO_TYPE_F16, GUFO_TYPE_Q8_0, GUFO_TYPE_Q4_0};
    const gufo_estimate_options *o = &t->w->values->run;
    const gufo_element_type *f16 = gufo_element_type_by_id(GUFO_TYPE_F16);

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        add_column(t, gufo_element_type_by_id(usual[i]), gufo_element_type_by_id(usual[i]));
    add_column(t, o->type_k != NULL ? o->type_k : f16, o->type_v != NULL ? o->type_v : f16);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static void fill_device(const tabling *t, cell *c, const gufo_estimate_device *d, uint32_t index)
{
    uint64_t limit = estimate_limit(t->w->values, index);

    c->is_known &= estimate_is_known(d);
    c->total[index] = estimate_total(d);
    c->margin[index] = estimate_margin(d);
    c->is_short[index] = limit > 0 && gufo_estimate_most_bytes(d) > limit;
}

/* A type that llama.cpp refuses leaves its cell empty; other failures end the table. */
static gufo_status fill_cell(tabling *t, cell *c, uint64_t context, const cache_column *column)
{
    gufo_estimate_options options = t->w->values->run;
    gufo_estimate e;
    gufo_status status;

    options.n_ctx = context;
    options.type_k = column->k;
    options.type_v = column->v;
    status = gufo_estimator_run(t->w->estimator, &options, &e, &t->refusal);
    *c = (cell){.is_refused = status == GUFO_E_ARGUMENT, .n_ctx = context, .is_known = true};
    if (status != GUFO_OK)
        return c->is_refused ? GUFO_OK : status;
    c->n_ctx = e.n_ctx;
    c->device_count = e.device_count;
    for (uint32_t d = 0; d < e.device_count; d++)
        fill_device(t, c, &e.devices[d], d);
    return GUFO_OK;
}

/* Fails if options are refused whatever the type of the cache. */
static gufo_status find_contexts(tabling *t, gufo_error *error)
{
    gufo_estimate_options options = t->w->values->run;
    gufo_estimate e;
    gufo_status status;

    options.type_k = options.type_v = NULL;
    status = gufo_estimator_run(t->w->estimator, &options, &e, error);
    if (options.n_ctx > 0)
        add_context(t, options.n_ctx);
    options.n_ctx = 0;
    options.n_seq = 1;
    if (status == GUFO_OK)
        status = gufo_estimator_run(t->w->estimator, &options, &e, error);
    if (status != GUFO_OK)
        return status;
    for (uint64_t n = FIRST_CONTEXT; n < e.n_ctx; n *= 2)
        add_context(t, n);
    add_context(t, e.n_ctx);
    return GUFO_OK;
}

static gufo_status fill(tabling *t, gufo_error *error)
{
    gufo_status status = find_contexts(t, error);

    find_columns(t);
    for (size_t i = 0; status == GUFO_OK && i < t->context_count; i++)
        for (size_t c = 0; status == GUFO_OK && c < t->column_count; c++) {
            status = fill_cell(t, &t->cells[i][c], t->contexts[i], &t->columns[c]);
            if (status != GUFO_OK)
                *error = t->refusal;
        }
    return status;
}

/* F16, the first column, is not refused: find_contexts has run it with the largest contexts. */
static void find_devices(tabling *t)
{
    const cell *last = &t->cells[t->context_count - 1][0];

    for (uint32_t d = 0; d < last->device_count; d++)
        if (last->total[d] > 0)
            t->devices[t->used_count++] = d;
}

/* ---- for people ----------------------------------------------------------------------------- */

static bool has_several(const tabling *t)
{
    return t->used_count > 1;
}

static void add_cell(table_row *row, const cell *c, uint32_t device)
{
    const char *sign = c->is_known ? c->margin[device] > 0 ? "~" : "" : "> ";

    if (c->is_refused)
        row_text(row, "refused");
    else
        row_text(row, "%s%s%s", c->is_short[device] ? "! " : "", sign,
                 human_memory(c->total[device]).text);
}

/* A context has a row for each device. */
static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const tabling *t = context;
    uint64_t i = index / t->used_count;
    uint32_t device;

    if (i >= t->context_count)
        return false;
    device = t->devices[index % t->used_count];
    row_text(row, "%s", index % t->used_count == 0 ? human_grouped(t->cells[i][0].n_ctx).text : "");
    if (has_several(t))
        row_text(row, "%s", estimate_name_of(device).text);
    for (size_t c = 0; c < t->column_count; c++)
        add_cell(row, &t->cells[i][c], device);
    return true;
}

static void write_notes(const tabling *t)
{
    const estimate_values *v = t->w->values;
    bool is_refused = false;

    for (size_t c = 0; c < t->column_count; c++)
        is_refused |= t->cells[0][c].is_refused;
    if (is_refused)
        line_put("  refused: %s", t->refusal.message);
    if (!t->cells[0][0].is_known)
        line_put("  > without buffers for computing that are not known");
    for (size_t i = 0; v->has_limits && i < t->used_count; i++)
        if (estimate_limit(v, t->devices[i]) > 0)
            line_put("  ! more than %s on %s, margins counted",
                     human_memory(estimate_limit(v, t->devices[i])).text,
                     estimate_name_of(t->devices[i]).text);
}

static void write_text(const tabling *t)
{
    table_column columns[COLUMNS + 2] = {{"context", 7, 0}};
    size_t count = 1;
    table lines;
    line head;

    if (has_several(t))
        columns[count++] = (table_column){"device", -6, 0};
    for (size_t c = 0; c < t->column_count; c++)
        columns[count++] = (table_column){t->columns[c].name, 10, (unsigned)c};
    lines = table_of(columns, count);
    line_begin(&head);
    text_put(head.out, gufo_str_of(t->w->in->path), TEXT_PLAIN);
    fputs(": memory by context and type of the cache", head.out);
    line_end(&head);
    table_print(&lines, make_row, t);
    write_notes(t);
}

/* ---- for machines --------------------------------------------------------------------------- */

static void write_cell(json_writer *j, const cell *c, const cache_column *column)
{
    json_begin_object(j, NULL);
    json_write_u64(j, "n_ctx", c->n_ctx);
    json_write_text(j, "type_k", column->k->name);
    json_write_text(j, "type_v", column->v->name);
    json_write_bool(j, "refused", c->is_refused);
    json_begin_array(j, "devices");
    for (uint32_t d = 0; d < c->device_count; d++) {
        json_begin_object(j, NULL);
        json_write_text(j, "device", estimate_name_of(d).text);
        json_write_known(j, "total_bytes", c->is_known, c->total[d]);
        json_write_known(j, "margin", c->is_known, c->margin[d]);
        if (c->is_known || c->is_short[d])
            json_write_bool(j, "fits", !c->is_short[d]);
        else
            json_write_null(j, "fits");
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void write_json(const tabling *t)
{
    json_writer j = json_begin_document(t->w->in->path);

    json_write_u64(&j, "schema_version", 1);
    json_begin_array(&j, "table");
    for (size_t i = 0; i < t->context_count; i++)
        for (size_t c = 0; c < t->column_count; c++)
            write_cell(&j, &t->cells[i][c], &t->columns[c]);
    json_end_array(&j);
    json_end_document(&j);
}

int estimate_write_table(const estimate_work *w)
{
    tabling *t = calloc(1, sizeof *t);
    gufo_error error;
    int code = CODE_OK;

    if (t == NULL)
        return report_memory(w->in->path);
    t->w = w;
    if (fill(t, &error) == GUFO_OK) {
        find_devices(t);
        (w->options->base.shared->json ? write_json : write_text)(t);
    } else {
        code = estimate_report_failure(w, &error);
    }
    free(t);
    return code;
}
