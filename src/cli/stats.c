/* gufo stats FILE...: what numbers the tensors hold.
 *
 * The library looks through the data; this file selects tensors and hands on what it finds, tensor
 * by tensor, to those that write it. */
#include "cli/stats.h"

#include "cli/commands.h"
#include "cli/cpu.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/show.h"
#include "cli/signals.h"
#include "cli/stdout.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

enum { OPTION_TENSORS = OPTION_COMMAND, OPTION_LENIENT };

static const struct argp_option stats_table[] = {
    {"tensors", OPTION_TENSORS, "GLOB", 0, "Only tensors whose names match GLOB (repeatable)", 1},
    {"lenient", OPTION_LENIENT, NULL, 0,
     "Use what can be read of a damaged file, and exit with status 1", 1},
    {0},
};

static bool add_glob(stats_options *options, const char *glob)
{
    const char **longer =
        realloc(options->globs, (options->glob_count + 1) * sizeof *options->globs);

    if (longer == NULL) {
        report_message(NULL, "out of memory");
        return false;
    }
    options->globs = longer;
    options->globs[options->glob_count++] = glob;
    return true;
}

static error_t parse_stats(int key, char *text, struct argp_state *state)
{
    stats_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options->base.shared;
        state->child_inputs[1] = &options->input;
        return 0;
    case OPTION_TENSORS:
        return add_glob(options, text) ? 0 : EINVAL;
    case OPTION_LENIENT:
        options->input.open_flags |= GUFO_OPEN_LENIENT;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp stats_argp = {
    .options = stats_table,
    .parser = parse_stats,
    .args_doc = "FILE...",
    .doc = "Show what numbers the tensors of a model hold.\v"
           "All data is read and decoded.  Histograms are drawn with -v, and where four tensors or "
           "fewer are shown.  Exit status 1 means that no tensor matches.",
    .children = input_children,
};

bool stats_selects(const stats_options *options, gufo_str name)
{
    bool selected = options->glob_count == 0;

    for (size_t i = 0; i < options->glob_count && !selected; i++)
        selected = show_matches(options->globs[i], name);
    return selected;
}

/* ---- input ---------------------------------------------------------------------------------- */

static bool has_data(const input *in)
{
    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++)
        if (!gufo_model_has_data(gufo_model_shard(in->model, i)))
            return false;
    return true;
}

static int report_damage(const input *in)
{
    int code = CODE_OK;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        const gufo_error *damage = gufo_model_damage(gufo_model_shard(in->model, i));

        if (damage == NULL)
            continue;
        report_error(gufo_model_name(gufo_model_shard(in->model, i)), damage);
        code = CODE_NO;
    }
    return code;
}

/* ---- the work ------------------------------------------------------------------------------- */

/* A tensor is scanned twice: so far all bytes before it. */
typedef struct work {
    stats_report report;
    progress bar;
    uint64_t bytes_before;
} work;

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    work *w = context;

    (void)total;
    progress_update(&w->bar, w->bytes_before + done, 2 * w->report.bytes);
    return true;
}

static void select_tensors(stats_report *r)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_tensor_at(r->in->model, i, &tensor); i++) {
        if (!stats_selects(r->options, tensor.name))
            continue;
        r->selected++;
        r->bytes += tensor.available;
    }
}

static void add_up(stats_totals *t, const gufo_stats *s)
{
    t->tensors++;
    t->elements += s->elements;
    t->finite += s->finite;
    t->zeros += s->zeros;
    t->bad_scales += s->bad_scales.count;
    t->outliers += s->outliers_below + s->outliers_above;
}

static void write_row(work *w, const stats_row *row)
{
    progress_end(&w->bar);
    if (w->report.options->base.shared->json)
        stats_json_row(&w->report, row);
    else
        stats_text_row(&w->report, row);
}

/* A tensor that cannot be decoded is reported, and is not a failure. */
static int look_at(work *w, stats_row *row)
{
    const stats_options *options = w->report.options;
    gufo_run run = {.threads = options->base.shared->threads,
                    .cpu = options->cpu,
                    .progress = on_progress,
                    .progress_context = w};
    gufo_status status =
        gufo_stats_scan(w->report.in->model, &row->tensor, 0, &run, &row->stats, &row->failure);

    w->bytes_before += 2 * row->tensor.available;
    row->decoded = status == GUFO_OK;
    if (row->decoded) {
        add_up(&w->report.totals, &row->stats);
    } else if (status == GUFO_E_TYPE || status == GUFO_E_ARGUMENT) {
        w->report.totals.tensors++;
        w->report.totals.undecoded++;
    } else {
        progress_end(&w->bar);
        report_error(w->report.in->path, &row->failure);
        return CODE_FAILED;
    }
    write_row(w, row);
    return CODE_OK;
}

static int look_at_all(work *w)
{
    int code = CODE_OK;
    stats_row row;

    for (uint64_t i = 0;
         code == CODE_OK && !stdout_broken() && gufo_tensor_at(w->report.in->model, i, &row.tensor);
         i++) {
        if (stats_selects(w->report.options, row.tensor.name))
            code = look_at(w, &row);
    }
    progress_end(&w->bar);
    return code;
}

static int report_all(const input *in, const stats_options *options)
{
    const shared_options *shared = options->base.shared;
    work w = {.report = {.options = options, .in = in, .j = json_writer_start(stdout)}};
    int code;

    select_tensors(&w.report);
    if (w.report.selected == 0 && options->glob_count > 0) {
        report_message(in->path, "no tensor matches '%s'%s", options->globs[0],
                       options->glob_count > 1 ? " or the other patterns" : "");
        return CODE_NO;
    }
    /* One line of JSON on a terminal would be torn by the bar. */
    progress_start(&w.bar, shared->quiet || (shared->json && isatty(STDOUT_FILENO)));
    if (shared->json)
        stats_json_begin(&w.report);
    else
        stats_text_begin(&w.report);
    code = look_at_all(&w);
    if (shared->json)
        stats_json_end(&w.report);
    else
        stats_text_end(&w.report);
    return code;
}

static int stats(const char *path, const stats_options *options)
{
    input in;
    int code = input_open_whole(&in, path, &options->input);

    if (code != CODE_OK)
        return code;
    if (has_data(&in)) {
        code = worst_code(report_all(&in, options), report_damage(&in));
    } else {
        report_message(path, "the data of a pipe cannot be scanned; give a file");
        code = CODE_USAGE;
    }
    input_close(&in);
    return code;
}

int command_stats(int argc, char **argv, shared_options *shared)
{
    stats_options options = {.base = {shared}};
    int code = options_parse(&stats_argp, 0, argc, argv, &options.base);

    if (code == CODE_OK && !shared->done && shared->arg_count == 0)
        code = report_usage("stats", "no FILE is given");
    if (code == CODE_OK && !shared->done)
        code = cpu_from_environment(&options.cpu);
    if (code == CODE_OK && !shared->done)
        for (int i = 0; i < shared->arg_count && !stdout_broken(); i++) {
            if (i > 0 && !shared->json)
                putc('\n', stdout);
            code = worst_code(code, stats(shared->args[i], &options));
        }
    free(options.globs);
    return code;
}
