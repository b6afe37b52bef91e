/* gufo strip FILE -o OUT: a model without tensors, or with some of them. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"
#include "cli/show.h"

typedef struct strip_options {
    command_input base;
    const char *output;
    bool vocabulary_only, no_tensors, dry_run;
    const char *tensors; /* GLOB */
    bool matched;        /* it, at least once */
} strip_options;

enum { OPTION_VOCAB_ONLY = OPTION_COMMAND, OPTION_NO_TENSORS, OPTION_TENSORS, OPTION_DRY_RUN };

static const struct argp_option strip_table[] = {
    {"output", 'o', "OUT", 0, "The file to write ('-': standard output)", 1},
    {"vocab-only", OPTION_VOCAB_ONLY, NULL, 0,
     "No tensors, and none of the metadata that describes their data", 1},
    {"no-tensors", OPTION_NO_TENSORS, NULL, 0, "No tensors, but all metadata", 1},
    {"tensors", OPTION_TENSORS, "GLOB", 0, "All metadata, and the tensors whose names match", 1},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Show the result, but write nothing", 1},
    {0},
};

static error_t parse_strip(int key, char *text, struct argp_state *state)
{
    strip_options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case 'o':
        o->output = text;
        return 0;
    case OPTION_VOCAB_ONLY:
        o->vocabulary_only = true;
        return 0;
    case OPTION_NO_TENSORS:
        o->no_tensors = true;
        return 0;
    case OPTION_TENSORS:
        o->tensors = text;
        return 0;
    case OPTION_DRY_RUN:
        o->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp strip_argp = {
    .options = strip_table,
    .parser = parse_strip,
    .args_doc = "FILE",
    .doc = "Write a model without its tensors, or with some of them.\v"
           "What --vocab-only keeps is enough for a tokenizer: general.*, tokenizer.* and the "
           "hyperparameters of the architecture.  Exit status 1 means that no tensor matches GLOB.",
    .children = options_children,
};

static int check_arguments(copying *job, const strip_options *o)
{
    const shared_options *shared = o->base.shared;

    if (shared->arg_count != 1)
        return report_usage("strip", "one FILE is needed");
    if (o->output == NULL)
        return report_usage("strip", "-o OUT is needed");
    if (o->vocabulary_only + o->no_tensors + (o->tensors != NULL) != 1)
        return report_usage("strip", "one of --vocab-only, --no-tensors and --tensors is needed");
    job->input = shared->args[0];
    job->output = o->output;
    return CODE_OK;
}

static bool keeps_tensor(void *context, gufo_str name)
{
    strip_options *o = context;
    bool keeps = show_matches(o->tensors, name);

    o->matched = o->matched || keeps;
    return keeps;
}

static int plan(copying *job, strip_options *o, gufo_error *error)
{
    gufo_strip_options what = {.vocabulary_only = o->vocabulary_only,
                               .keeps_tensor = o->tensors != NULL ? keeps_tensor : NULL,
                               .context = o};

    job->plan = gufo_job_strip(job->model, &what, error);
    if (job->plan == NULL || o->tensors == NULL || o->matched)
        return CODE_OK;
    report_message(job->input, "no tensor matches '%s'", o->tensors);
    return CODE_NO;
}

int command_strip(int argc, char **argv, shared_options *shared)
{
    strip_options options = {.base = {shared}};
    int code = options_parse(&strip_argp, 0, argc, argv, &options.base);
    copying job = {.shared = shared, .dry_run = options.dry_run};
    gufo_error error;

    if (code != 0 || shared->done)
        return code;
    code = check_arguments(&job, &options);
    if (code == CODE_OK)
        code = copying_open(&job);
    if (code == CODE_OK)
        code = plan(&job, &options, &error);
    return copying_finish(&job, code, &error);
}
