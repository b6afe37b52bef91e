/* gufo merge FIRST OUT: the files of a shard set as one. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"

static const command_option merge_table[] = {
    {"dry-run", NULL, "Check the set and show the result, but write nothing",
     OPTION_FLAG(copying, dry_run)},
    {0},
};

static int plan(copying *job, gufo_error *error)
{
    job->plan = gufo_job_merge(job->model, NULL, error);
    return CODE_OK;
}

static int merge(void *context)
{
    copying *job = context;

    job->output = job->base.shared->args[1];
    return copying_run(job, plan);
}

const command_line command_merge = {
    .operands = "FIRST OUT",
    .doc = "Merge a shard set into one file.\v"
           "FIRST is the first shard, NAME-00001-of-000NN.gguf; the others are beside it.  Nothing "
           "is written unless all of them are there, complete, and belong together.",
    .options = merge_table,
    .size = sizeof(copying),
    .least = 2,
    .most = 2,
    .needed = "FIRST and OUT are needed",
    .run = merge,
};
