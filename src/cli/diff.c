/* gufo diff A B: how two models differ.
 *
 * The library compares; this file opens both and hands on what comes. */
#include "cli/diff.h"

#include "cli/commands.h"
#include "cli/cpu.h"
#include "cli/input.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/stdout.h"

/* ---- command line --------------------------------------------------------------------------- */

static const command_option diff_table[] = {
    {"values", NULL,
     "Decode tensors that differ, whatever their types, and report how far apart their numbers are",
     OPTION_FLAG(diff_options, values)},
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static void on_entry(void *context, const gufo_entry_difference *d)
{
    diff_report *r = context;

    progress_end(&r->bar);
    if (r->options->base.shared->json)
        diff_json_entry(r, d);
    else if (!r->options->base.shared->quiet)
        diff_text_entry(r, d);
}

static void on_tensor(void *context, const gufo_tensor_difference *d)
{
    diff_report *r = context;

    progress_end(&r->bar);
    if (r->options->base.shared->json)
        diff_json_tensor(r, d);
    else if (!r->options->base.shared->quiet)
        diff_text_tensor(r, d);
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(&((diff_report *)context)->bar, done, total);
    return !stdout_broken();
}

static int compare(diff_report *r)
{
    const shared_options *shared = r->options->base.shared;
    gufo_compare_options options = {.flags = r->options->values ? GUFO_COMPARE_VALUES : 0,
                                    .entry = on_entry,
                                    .tensor = on_tensor,
                                    .context = r};
    gufo_run run = {.threads = shared->threads,
                    .cpu = r->options->cpu,
                    .progress = on_progress,
                    .progress_context = r};
    gufo_comparison result;
    gufo_error error;

    progress_start_beside(&r->bar, shared);
    if (shared->json)
        diff_json_begin(r);
    gufo_status status = gufo_compare(r->models[0], r->models[1], &options, &run, &result, &error);

    progress_end(&r->bar);
    if (shared->json)
        diff_json_end(r, &result, status == GUFO_OK ? NULL : &error);
    else if (status == GUFO_OK && !shared->quiet)
        diff_text_end(r, &result);
    if (status == GUFO_E_STOPPED) /* the output has no reader */
        return CODE_OK;
    if (status != GUFO_OK) {
        return report_refusal(r->paths[0], &error); /* a pipe */
    }
    return result.same ? CODE_OK : CODE_NO;
}

/* Both are mapped: what is said of a file that is truncated meanwhile names the second. */
static int diff(diff_report *r)
{
    gufo_model *a, *b = NULL;
    int code = CODE_FAILED;

    a = input_open_model(r->paths[0], 0);
    if (a != NULL)
        b = input_open_model(r->paths[1], 0);
    if (b != NULL) {
        r->models[0] = a;
        r->models[1] = b;
        code = compare(r);
    }
    gufo_close(a);
    gufo_close(b);
    signals_reading(NULL);
    return code;
}

static int diff_named(void *context)
{
    diff_options *options = context;
    const shared_options *shared = options->base.shared;
    diff_report r = {.options = options, .j = json_writer_start(stdout)};
    int code;

    if (shared->arg_count != 2)
        return report_usage("diff", "two models are compared, and %d %s given", shared->arg_count,
                            shared->arg_count == 1 ? "is" : "are");
    code = cpu_from_environment(&options->cpu);
    if (code != CODE_OK)
        return code;
    for (int i = 0; i < 2; i++) {
        r.paths[i] = shared->args[i];
        if (path_is_standard(r.paths[i])) {
            report_message(r.paths[i], "the data of a pipe cannot be compared; give a file");
            return CODE_USAGE;
        }
    }
    return diff(&r);
}

const command_line command_diff = {
    .operands = "A B",
    .doc = "Show how two models differ: metadata, and tensors with their data.\v"
           "How a model is stored makes no difference: shards, byte order, version, padding, "
           "the order of keys and tensors.  Exit status 0 means that they are the same, 1 that "
           "something differs.",
    .options = diff_table,
    .size = sizeof(diff_options),
    .run = diff_named,
};
