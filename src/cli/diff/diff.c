/* gufo diff A B: how two models differ, or several from one.
 *
 * The library compares; this file opens the models and passes the differences of two on. */
#include "cli/diff/diff.h"
#include "cli/core/files/remote.h"

#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/records/quoting.h"
#include "cli/core/terminal/signals.h"
#include "cli/inspect/pager.h"

/* ---- command line --------------------------------------------------------------------------- */

static const char *const orders[] = {"file", "loss", NULL};

static const command_option diff_table[] = {
    {"values", NULL, "Report how much the numbers of tensors differ, whatever their types",
     OPTION_FLAG(diff_options, values), .common = true},
    {"report", "FILE",
     "Write a row for every tensor, with type, bytes and loss in each of the other models, to "
     "FILE.csv, "
     "or pictures to the page FILE.html (with --values)",
     OPTION_TEXT(diff_options, report)},
    {"sort", "ORDER", "Show tensors by loss, the largest first, or as in the file (with --values)",
     OPTION_CHOICE(diff_options, sort, orders, DIFF_BY_FILE), .common = true},
    {"top", "N", "Show the N tensors that lost most (with --values)",
     OPTION_NUMBER(diff_options, top, 1, UINT32_MAX), .common = true},
    {"sums", NULL, "Sum losses by role and by layer (with --values)",
     OPTION_FLAG(diff_options, sums), .common = true},
    {"layers", NULL, "Draw losses of layers and roles (with --values)",
     OPTION_FLAG(diff_options, layers), .common = true},
    {"no-pager", NULL, "Do not start a pager", OPTION_FLAG(diff_options, no_pager)},
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

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
    gufo_run run = diff_run(r->options, &r->bar);
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

/* ---- what is compared ----------------------------------------------------------------------- */

enum { MOST_MODELS = 1 + GUFO_COMPARE_CANDIDATES };

static int check_arguments(const diff_options *o)
{
    const shared_options *shared = o->base.shared;

    if (shared->arg_count < 2 || (shared->arg_count > 2 && !o->values && o->report == NULL))
        return report_usage("gufo diff compares two models, but %d %s given%s", shared->arg_count,
                            shared->arg_count == 1 ? "is" : "are",
                            shared->arg_count > 2 ? "; --values compares several with the first"
                                                  : "");
    if (shared->arg_count > MOST_MODELS)
        return report_usage("gufo diff compares at most %d models with the first, but %d are given",
                            GUFO_COMPARE_CANDIDATES, shared->arg_count - 1);
    if (o->report != NULL && !o->values)
        return report_usage("--report writes what --values measures; give both");
    if (diff_wants_losses(o) && !o->values)
        return report_usage(
            "--sort, --top, --sums and --layers show what --values measures; give both");
    if (diff_wants_losses(o) && shared->json)
        return report_usage(
            "--sort, --top, --sums and --layers are for people; --values --json has the "
            "numbers");
    for (int i = 0; i < shared->arg_count; i++) {
        shared->args[i] = (char *)remote_shown(shared->args[i]);
        if (path_is_standard(shared->args[i]))
            return report_as(CODE_USAGE, shared->args[i],
                             "standard input cannot be compared; give a file");
    }
    return csv_check(o->report, shared->force);
}

static int compare_models(const diff_options *o, gufo_model *const *models)
{
    const char *const *paths = (const char *const *)o->base.shared->args;
    size_t candidates = (size_t)o->base.shared->arg_count - 1;
    diff_report r = {
        .options = o, .paths = paths, .models = models, .j = json_writer_start(stdout)};
    pager p;

    pager_start_late(&p, !o->base.shared->json && !o->no_pager);
    return pager_end(&p, candidates == 1 && o->report == NULL && !diff_wants_losses(o)
                             ? compare(&r)
                             : diff_candidates(o, paths, models, candidates));
}

static int diff(void *context)
{
    diff_options *options = context;
    const shared_options *shared = options->base.shared;
    gufo_model *models[MOST_MODELS] = {NULL};
    int code, opened = 0;

    if (options->top > 0)
        options->sort = DIFF_BY_LOSS;
    code = check_arguments(options);
    if (code == CODE_OK)
        code = options_cpu(&options->cpu);
    /* All are mapped: a report of one that is truncated meanwhile names the last. */
    for (; code == CODE_OK && opened < shared->arg_count; opened++) {
        models[opened] = input_open_model(shared->args[opened], 0);
        code = models[opened] != NULL ? CODE_OK : CODE_FAILED;
    }
    if (code == CODE_OK)
        code = compare_models(options, models);
    while (opened > 0)
        gufo_model_free(models[--opened]);
    signals_reading(NULL);
    return code;
}

const command_line command_diff = {
    .operands = {.names = "A B..."},
    .doc = "Show how two models differ: metadata, and tensors with their data; or, with --values, "
           "what each tensor of A loses in several others.\v"
           "How a model is stored makes no difference: shards, byte order, version, padding, the "
           "order of keys and tensors.  Exit status 0 means that the models are the same, 1 that "
           "something differs.",
    .examples = {{"gufo diff old.gguf new.gguf", "Lists keys and tensors that differ."},
                 {"gufo diff --values f16.gguf q4_k_m.gguf",
                  "Also measures how much the numbers differ."},
                 {"gufo diff --values f16.gguf q4_k_m.gguf q5_k_m.gguf",
                  "Shows side by side what each tensor costs and loses."}},
    COMMAND_OPTIONS(diff_table, diff_options),
    .run = diff,
};
