/* gufo stats FILE...: statistics of the numbers in tensors.
 *
 * The library scans the data; this file selects tensors and passes the results on, tensor by
 * tensor, to the writers of text and JSON. */
#include "cli/inspect/stats.h"

#include "base/error.h"
#include "cli/commands.h"
#include "cli/core/glob.h"
#include "cli/core/stdout.h"

/* ---- command line --------------------------------------------------------------------------- */

static const command_option stats_table[] = {
    {"tensors", "GLOB", "Only tensors whose names match GLOB (repeatable)",
     OPTION_TEXTS(stats_options, globs)},
    {"lenient", NULL, "Use the readable part of a damaged file, and exit with status 1",
     OPTION_BITS(stats_options, input.open_flags, GUFO_OPEN_LENIENT)},
    OPTION_SINGLE(stats_options),
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    stats_report *r = context;

    (void)total;
    progress_update(&r->bar, r->bytes_before + done, 2 * r->bytes);
    return true;
}

/* Whether the data of a tensor is looked at.  Many tensors with the same data could make the work
 * grow with the square of the file: one that begins inside another is looked at alone. */
static bool is_scanned(const stats_report *r, const gufo_tensor *tensor)
{
    return !tensor->overlaps || r->selected == 1;
}

static void select_tensors(stats_report *r)
{
    uint64_t all = 0;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_tensor_at(r->in->model, i, &tensor); i++) {
        if (!glob_selects(&r->options->globs, tensor.name))
            continue;
        r->selected++;
        all += tensor.available;
        r->bytes += tensor.overlaps ? 0 : tensor.available;
    }
    r->bytes = r->selected == 1 ? all : r->bytes;
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

static gufo_status scan(stats_report *r, stats_row *row)
{
    const stats_options *options = r->options;
    gufo_run run = {.threads = (unsigned)options->base.shared->threads,
                    .cpu = options->cpu,
                    .progress = on_progress,
                    .progress_context = r};
    gufo_status status;

    if (!is_scanned(r, &row->tensor))
        return refuse(&row->failure, GUFO_E_ARGUMENT,
                      "its data begins inside that of another tensor; --tensors can select it "
                      "alone");
    status = gufo_stats_scan(r->in->model, &row->tensor, 0, &run, &row->stats, &row->failure);
    progress_end(&r->bar);
    r->bytes_before += 2 * row->tensor.available;
    return status;
}

/* A tensor that cannot be decoded is reported, and is not a failure. */
static int look_at(stats_report *r, stats_row *row)
{
    gufo_status status = scan(r, row);

    row->decoded = status == GUFO_OK;
    if (row->decoded) {
        add_up(&r->totals, &row->stats);
    } else if (status == GUFO_E_TYPE || status == GUFO_E_ARGUMENT) {
        r->totals.tensors++;
        r->totals.undecoded++;
    } else {
        return report_error(r->in->path, &row->failure);
    }
    stats_put(r, row);
    return CODE_OK;
}

static int look_at_all(stats_report *r)
{
    int code = CODE_OK;
    stats_row row;

    for (uint64_t i = 0;
         code == CODE_OK && !stdout_broken() && gufo_tensor_at(r->in->model, i, &row.tensor); i++) {
        if (glob_selects(&r->options->globs, row.tensor.name))
            code = look_at(r, &row);
    }
    progress_end(&r->bar);
    return code;
}

static int report_all(const input *in, const stats_options *options)
{
    const shared_options *shared = options->base.shared;
    stats_report r = {.options = options, .in = in};
    int code;

    select_tensors(&r);
    if (r.selected == 0 && options->globs.count > 0)
        return report_as(CODE_NO, in->path, "no tensor matches '%s'%s", options->globs.items[0],
                         options->globs.count > 1 ? " or the other patterns" : "");
    progress_start_beside(&r.bar, shared);
    stats_begin(&r);
    code = look_at_all(&r);
    stats_end(&r);
    return code;
}

static int stats(void *context, const char *path)
{
    const stats_options *options = context;
    const shared_options *shared = options->base.shared;
    input in;
    int code;

    if (path != shared->args[0] && !shared->json)
        putc('\n', stdout);
    code = input_open_data(&in, path, &options->input, "scanned");
    if (code != CODE_OK)
        return code;
    code = worst_code(report_all(&in, options), input_damage(&in, true));
    input_close(&in);
    return code;
}

static int stats_of_all(void *context)
{
    stats_options *options = context;
    int code = options_cpu(&options->cpu);

    return code == CODE_OK ? command_line_each(options, stats) : code;
}

const command_line command_stats = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Show statistics of a model's tensors.\v"
           "gufo reads and decodes all data.  It draws histograms with -v, and for up to four "
           "tensors.  Exit status 1 means that no tensor matches.",
    .examples = {{"gufo stats model.gguf", "A line for each tensor."},
                 {"gufo stats -v --tensors='blk.0.*' model.gguf",
                  "Draws histograms of the first block."}},
    COMMAND_OPTIONS(stats_table, stats_options),
    .run = stats_of_all,
};
