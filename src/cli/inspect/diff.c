/* gufo diff A B: how two models differ.
 *
 * The library compares; this file opens both and passes the differences on. */
#include "cli/inspect/diff.h"

#include "cli/commands.h"
#include "cli/core/input.h"
#include "cli/core/signals.h"
#include "cli/core/stdout.h"

/* ---- command line --------------------------------------------------------------------------- */

static const command_option diff_table[] = {
    {"values", NULL,
     "Decode tensors that differ, whatever their types, and report how far apart their numbers are",
     OPTION_FLAG(diff_options, values)},
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(&((diff_report *)context)->bar, done, total);
    return !stdout_broken();
}

static int compare(diff_report *r)
{
    const shared_options *shared = r->options->base.shared;
    static const diff_form nothing = {0};
    const diff_form *text = shared->quiet ? &nothing : &diff_text;
    const diff_form *form = shared->json ? &diff_json : text;
    gufo_compare_options options = {.flags = r->options->values ? GUFO_COMPARE_VALUES : 0,
                                    .entry = form->entry,
                                    .tensor = form->tensor,
                                    .context = r};
    gufo_run run = {.threads = (unsigned)shared->threads,
                    .cpu = r->options->cpu,
                    .progress = on_progress,
                    .progress_context = r};
    gufo_comparison result;
    gufo_status status;
    gufo_error error;

    progress_start_beside(&r->bar, shared);
    if (form->begin != NULL)
        form->begin(r);
    status = gufo_compare(r->models[0], r->models[1], &options, &run, &result, &error);
    progress_end(&r->bar);
    if (form->end != NULL)
        form->end(r, &result, status == GUFO_OK ? NULL : &error);
    if (status == GUFO_E_STOPPED) /* the output has no reader */
        return CODE_OK;
    if (status != GUFO_OK)
        return report_refusal(r->paths[0], &error); /* a pipe */
    return result.same ? CODE_OK : CODE_NO;
}

static int diff(void *context)
{
    diff_options *options = context;
    const shared_options *shared = options->base.shared;
    diff_report r = {.options = options, .j = json_writer_start(stdout)};
    int code;

    if (shared->arg_count != 2)
        return report_usage("two models are compared, and %d %s given", shared->arg_count,
                            shared->arg_count == 1 ? "is" : "are");
    code = options_cpu(&options->cpu);
    for (int i = 0; i < 2 && code == CODE_OK; i++) {
        r.paths[i] = shared->args[i];
        if (path_is_standard(r.paths[i]))
            code =
                report_as(CODE_USAGE, r.paths[i], "standard input cannot be compared; give a file");
    }
    /* Both are mapped: a report of one that is truncated meanwhile names the second. */
    for (int i = 0; i < 2 && code == CODE_OK; i++) {
        r.models[i] = input_open_model(r.paths[i], 0);
        code = r.models[i] != NULL ? CODE_OK : CODE_FAILED;
    }
    if (code == CODE_OK)
        code = compare(&r);
    gufo_close(r.models[0]);
    gufo_close(r.models[1]);
    signals_reading(NULL);
    return code;
}

const command_line command_diff = {
    .operands = {.names = "A B"},
    .doc = "Show how two models differ: metadata, and tensors with their data.\v"
           "How a model is stored makes no difference: shards, byte order, version, padding, "
           "the order of keys and tensors.  Exit status 0 means that they are the same, 1 that "
           "something differs.",
    .examples = {{"gufo diff old.gguf new.gguf", "Lists keys and tensors that differ."},
                 {"gufo diff --values f16.gguf q4_k_m.gguf",
                  "Also measures how far apart the numbers are."}},
    COMMAND_OPTIONS(diff_table, diff_options),
    .run = diff,
};
