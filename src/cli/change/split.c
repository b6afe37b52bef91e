/* gufo split FILE OUTPREFIX: one model as several files. */
#include "cli/commands.h"
#include "cli/core/copying.h"
#include "cli/core/report.h"

#include <string.h>

typedef struct split_options {
    copying job;
    gufo_split_options bounds;
} split_options;

static const command_option split_table[] = {
    {"max-size", "SIZE", "At most this many bytes per file, such as 2G, 1.5GiB or 500M",
     OPTION_SIZE(split_options, bounds.max_size, 1, "500M or 2G")},
    {"max-tensors", "N", "At most N tensors per file",
     OPTION_NUMBER(split_options, bounds.max_tensors, 1, INT32_MAX)},
    {"no-tensor-first-split", NULL, "Put only metadata, no tensors, into the first file",
     OPTION_FLAG(split_options, bounds.metadata_alone)},
    {"dry-run", NULL, "Show which files would be written, but write nothing",
     OPTION_FLAG(split_options, job.dry_run)},
    {"output", "OUTPREFIX", "How the names of the files begin", OPTION_OUTPUT},
    {0},
};

static int check_options(const split_options *o)
{
    const char *prefix = o->job.base.output;
    size_t len = strlen(prefix);

    if (strcmp(prefix, "-") == 0)
        return report_usage("split", "several files cannot go to standard output");
    /* A folder alone would give files named "-00001-of-000NN.gguf". */
    if (len == 0 || prefix[len - 1] == '/')
        return report_usage(
            "split", "OUTPREFIX has to end in the beginning of a file name, not '%s'", prefix);
    if ((o->bounds.max_size > 0) == (o->bounds.max_tensors > 0))
        return report_usage("split", "either --max-size or --max-tensors is needed");
    return CODE_OK;
}

static gufo_job *plan(copying *job, gufo_error *error)
{
    return gufo_job_split(job->model, &((split_options *)(void *)job)->bounds, error);
}

static int split(void *context)
{
    split_options *o = context;
    int code = check_options(o);

    return code == CODE_OK ? copying_run(&o->job, plan) : code;
}

const command_line command_split = {
    .operands = {"--max-size=SIZE|--max-tensors=N FILE OUTPREFIX", 2, 2,
                 "FILE and OUTPREFIX are needed", 2},
    .doc = "Split a model into several files.\v"
           "The files are OUTPREFIX-00001-of-000NN.gguf and so on; all of them appear, or none.  "
           "FILE may be the first shard of a set, which is then split again.  A tensor that "
           "is larger than the limit gets its own file.",
    .examples = {{"gufo split --max-size=4G model.gguf parts/model",
                  "Writes parts/model-00001-of-000NN.gguf and so on."}},
    COMMAND_OPTIONS(split_table, split_options),
    .run = split,
};
