/* gufo strip FILE OUT: writes a model without its tensors, or with some of them. */
#include "cli/commands.h"
#include "cli/core/files/copying.h"
#include "cli/core/options/names.h"

typedef struct strip_options {
    copying job;
    bool vocabulary_only, no_tensors;
    const char *tensors; /* GLOB */
    bool matched;        /* it, at least once */
} strip_options;

static const command_option strip_table[] = {
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {"vocab-only", NULL, "No tensors, and none of the metadata that describes their data",
     OPTION_FLAG(strip_options, vocabulary_only)},
    {"no-tensors", NULL, "No tensors, but all metadata", OPTION_FLAG(strip_options, no_tensors)},
    {"tensors", "GLOB", "All metadata, and the tensors whose names match",
     OPTION_TEXT(strip_options, tensors)},
    {"dry-run", NULL, "Show the result, but write nothing",
     OPTION_FLAG(strip_options, job.dry_run)},
    {0},
};

static bool keeps_tensor(void *context, gufo_str name)
{
    strip_options *o = context;
    bool keeps = glob_matches(o->tensors, name);

    o->matched = o->matched || keeps;
    return keeps;
}

static gufo_job *plan(copying *job, gufo_error *error)
{
    strip_options *o = (void *)job;
    gufo_strip_options what = {.vocabulary_only = o->vocabulary_only,
                               .keeps_tensor = o->tensors != NULL ? keeps_tensor : NULL,
                               .context = o};
    gufo_job *made = gufo_job_strip(job->model, &what, error);

    if (made == NULL || o->tensors == NULL || o->matched)
        return made;
    job->code = report_as(CODE_NO, job->input, "no tensor matches '%s'", o->tensors);
    gufo_job_free(made);
    return NULL;
}

static int strip(void *context)
{
    strip_options *o = context;

    if (o->vocabulary_only + o->no_tensors + (o->tensors != NULL) != 1)
        return report_usage("one of --vocab-only, --no-tensors and --tensors is needed");
    return copying_run(&o->job, plan);
}

const command_line command_strip = {
    .operands = {"--vocab-only|--no-tensors|--tensors=GLOB FILE OUT", 2, 2,
                 "FILE and OUT are needed"},
    .out = 2,
    .doc = "Write a model without its tensors, or with some of them.\v"
           "--vocab-only keeps what a tokenizer needs: general.*, tokenizer.* and the "
           "hyperparameters of the architecture.  Exit status 1 means that no tensor matches GLOB.",
    .examples = {{"gufo strip --vocab-only model.gguf vocab.gguf", "Writes the vocabulary alone."},
                 {"gufo strip --tensors='blk.0.*' model.gguf block.gguf",
                  "Writes all metadata, and the tensors of the first block."}},
    COMMAND_OPTIONS(strip_table, strip_options),
    .run = strip,
};
