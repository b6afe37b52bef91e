/* gufo merge FIRST OUT: the files of a shard set as one. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"

typedef struct merge_options {
    command_input base;
    bool dry_run;
} merge_options;

enum { OPTION_DRY_RUN = OPTION_COMMAND };

static const struct argp_option merge_table[] = {
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Check the set and show the result, but write nothing", 1},
    {0},
};

static error_t parse_merge(int key, char *text, struct argp_state *state)
{
    merge_options *o = state->input;

    (void)text;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case OPTION_DRY_RUN:
        o->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp merge_argp = {
    .options = merge_table,
    .parser = parse_merge,
    .args_doc = "FIRST OUT",
    .doc = "Merge a shard set into one file.\v"
           "FIRST is the first shard, NAME-00001-of-000NN.gguf; the others are beside it.  Nothing "
           "is written unless all of them are there, complete, and belong together.",
    .children = options_children,
};

int command_merge(int argc, char **argv, shared_options *shared)
{
    merge_options options = {.base = {shared}};
    int code = options_parse(&merge_argp, 0, argc, argv, &options.base);
    copying job = {.shared = shared, .dry_run = options.dry_run};
    gufo_error error;

    if (code != 0 || shared->done)
        return code;
    code = copying_read_two(&job, "FIRST and OUT") ? copying_open(&job) : CODE_USAGE;
    if (code == CODE_OK)
        job.plan = gufo_job_merge(job.model, NULL, &error);
    return copying_finish(&job, code, &error);
}
