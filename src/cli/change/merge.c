/* gufo merge FIRST OUT: the files of a shard set as one. */
#include "cli/commands.h"
#include "cli/core/copying.h"
#include "cli/core/report.h"

static const command_option merge_table[] = {
    {"dry-run", NULL, "Check the set and show the result, but write nothing",
     OPTION_FLAG(copying, dry_run)},
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {0},
};

static gufo_job *plan(copying *job, gufo_error *error)
{
    return gufo_job_merge(job->model, NULL, error);
}

static int merge(void *context)
{
    return copying_run(context, plan);
}

const command_line command_merge = {
    .operands = {"FIRST OUT", 2, 2, "FIRST and OUT are needed", 2},
    .doc = "Merge a shard set into one file.\v"
           "FIRST is the first shard, NAME-00001-of-000NN.gguf; the others are beside it.  Nothing "
           "is written unless all of them are there, complete, and belong together.",
    .examples = {{"gufo merge model-00001-of-00003.gguf model.gguf", "Merges the three shards."}},
    COMMAND_OPTIONS(merge_table, copying),
    .run = merge,
};
