/* gufo split FILE OUTPREFIX: one model as several files. */
#include "cli/change/shards.h"
#include "cli/commands.h"
#include "cli/core/files/copying.h"

#include <string.h>

typedef struct split_options {
    copying job;
    gufo_split_options bounds;
    bool splits, merges; /* llama-gguf-split's words for what it does */
} split_options;

enum { TENSORS_OF_LLAMA = 128 }; /* its default limit */

static const command_option split_table[] = {
    {"max-size", "SIZE", "At most this many bytes per file, such as 2G, 1.5GiB or 500M",
     OPTION_SIZE(split_options, bounds.max_size, 1, "500M or 2G"), .common = true},
    {"max-tensors", "N", "At most N tensors per file",
     OPTION_NUMBER(split_options, bounds.max_tensors, 1, INT32_MAX), .common = true},
    {"no-tensor-first-split", NULL, "Put only metadata, no tensors, into the first file",
     OPTION_FLAG(split_options, bounds.metadata_alone)},
    {"delete-input", NULL,
     "Free each part of FILE as soon as its bytes are safe in an output (the file system must be "
     "able to punch holes), and delete FILE at the end; this cannot be undone",
     OPTION_FLAG(split_options, job.deletes), .common = true},
    {"dry-run", NULL, "Show which files would be written, but write nothing",
     OPTION_FLAG(split_options, job.dry_run), .common = true},
    {"output", "OUTPREFIX", "The beginning of the names of the files", OPTION_OUTPUT},
    {.help = "Options of llama-gguf-split:", .group = 2},
    {"split", NULL, "Split; without a limit, at most 128 tensors per file",
     OPTION_FLAG(split_options, splits), .group = 2},
    {"split-max-size", "SIZE", "The same as --max-size",
     OPTION_SIZE(split_options, bounds.max_size, 1, "500M or 2G"), .group = 2},
    {"split-max-tensors", "N", "The same as --max-tensors",
     OPTION_NUMBER(split_options, bounds.max_tensors, 1, INT32_MAX), .group = 2},
    {"merge", NULL, "The same as 'gufo merge FILE -o OUT'", OPTION_FLAG(split_options, merges),
     .group = 2},
    {0},
};

static int check_options(split_options *o)
{
    const char *prefix = o->job.base.output;
    size_t len = strlen(prefix);
    bool limited = o->bounds.max_size > 0 || o->bounds.max_tensors > 0;

    if (o->merges && (o->splits || limited || o->bounds.metadata_alone))
        return report_usage("--merge takes no limits, and not --split");
    if (o->merges)
        return CODE_OK;
    if (strcmp(prefix, "-") == 0)
        return report_usage("several files cannot go to standard output");
    /* A folder alone would give files named "-00001-of-000NN.gguf". */
    if (len == 0 || prefix[len - 1] == '/')
        return report_usage("OUTPREFIX must end with the beginning of a file name, not '%s'",
                            prefix);
    if (o->splits && !limited)
        o->bounds.max_tensors = TENSORS_OF_LLAMA;
    if ((o->bounds.max_size > 0) == (o->bounds.max_tensors > 0))
        return report_usage("either --max-size or --max-tensors is needed");
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

    o->job.open = shards_open;
    return code == CODE_OK ? copying_run(&o->job, o->merges ? shards_plan_merge : plan) : code;
}

const command_line command_split = {
    .operands = {"--max-size=SIZE|--max-tensors=N FILE OUTPREFIX", 2, 2,
                 "FILE and OUTPREFIX are needed"},
    .out = 2,
    .doc = "Split a model into several files.\v"
           "The files are OUTPREFIX-00001-of-000NN.gguf and so on; all of them appear, or none.  "
           "If FILE is the first shard of a set, gufo splits the set again.  A tensor that is "
           "larger than the limit gets its own file.",
    .examples = {{"gufo split --max-size=4G model.gguf parts/model",
                  "Writes parts/model-00001-of-000NN.gguf and so on."},
                 {"gufo split --dry-run --max-tensors=128 model.gguf model",
                  "Shows the files that the same command without --dry-run writes."}},
    COMMAND_OPTIONS(split_table, split_options),
    .run = split,
};
