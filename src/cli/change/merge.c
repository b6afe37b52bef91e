/* gufo merge SHARD... -o OUT: the files of a shard set as one. */
#include "cli/change/shards.h"
#include "cli/commands.h"
#include "cli/core/files/input.h"

#include <unistd.h>

static const command_option merge_table[] = {
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {"delete-input", NULL,
     "Delete each shard as soon as its bytes are safe in OUT, so that the disk needs room for only "
     "one more shard; this cannot be undone",
     OPTION_FLAG(copying, deletes)},
    {"dry-run", NULL, "Check the set and show the result, but write nothing",
     OPTION_FLAG(copying, dry_run)},
    {0},
};

/* The last operand is OUT, unless --output gives it.  A file that a pattern of the shell has found
 * is a shard, not OUT. */
static int take_output(copying *job)
{
    shared_options *shared = job->base.shared;
    const char *last = shared->arg_count > 0 ? shared->args[shared->arg_count - 1] : NULL;

    if (last == NULL)
        return report_usage("the shards and -o OUT are needed");
    if (job->base.output != NULL && shared->arg_count > 1 && access(last, F_OK) != 0)
        return command_line_twice(last);
    if (job->base.output != NULL)
        return CODE_OK;
    if (input_is_gguf(last) &&
        (shared->arg_count == 1 || gufo_shard_path_parse(last, NULL, NULL, NULL)))
        return report_as(CODE_USAGE, last, "this is an input; give the output with -o OUT");
    if (input_is_gguf(last))
        return report_as(CODE_USAGE, last,
                         "this is a GGUF file, so gufo does not take it for the output; "
                         "'-o %s --force' replaces it",
                         last);
    if (shared->arg_count == 1)
        return report_usage("the shards and -o OUT are needed");
    job->base.output = command_line_take(shared, shared->arg_count - 1);
    return CODE_OK;
}

static int merge(void *context)
{
    copying *job = context;
    int code = take_output(job);

    job->open = shards_open;
    return code == CODE_OK ? copying_run(job, shards_plan_merge) : code;
}

const command_line command_merge = {
    .operands = {.names = "FIRST -o OUT\nSHARD... -o OUT\nFIRST OUT"},
    .doc = "Merge a shard set into one file.\v"
           "FIRST is the first shard, NAME-00001-of-000NN.gguf; gufo finds the others in the same "
           "folder.  Or give all shards, in any order, as a pattern of the shell does.  gufo "
           "writes nothing unless all shards exist, are complete and belong together.",
    .examples = {{"gufo merge model-0000*.gguf -o model.gguf", "Merges all shards."},
                 {"gufo merge --delete-input model-00001-of-00003.gguf -o model.gguf",
                  "The same, on a disk with room for one more shard."}},
    COMMAND_OPTIONS(merge_table, copying),
    .run = merge,
};
