/* gufo split and gufo merge: the files of a model that is split or merged, named by the first shard or
 * each of them. */
#include "cli/commands.h"
#include "cli/core/jobs/copying.h"
#include "cli/core/files/input.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files in the order of their numbers. */
typedef struct shard_list {
    char **names; /* as they were */
    char **paths; /* as they are now: the name itself, or the other one */
    size_t count;
    bool any_moved, any_missing;
} shard_list;

static int make_list(shard_list *list, size_t count)
{
    list->names = calloc(count, 2 * sizeof *list->names);
    if (list->names == NULL)
        return report_memory(NULL);
    list->paths = list->names + count;
    list->count = count;
    return CODE_OK;
}

static void free_list(shard_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->paths[i] != list->names[i])
            free(list->paths[i]);
        free(list->names[i]);
    }
    free(list->names);
}

/* ---- where files are ------------------------------------------------------------------------ */

/* Puts a file at its place; the list frees its name.  A missing file may exist under its other
 * name. */
static int put_file(shard_list *list, size_t index, char *name)
{
    char *moved;

    list->names[index] = list->paths[index] = name;
    if (name == NULL)
        return report_memory(NULL);
    if (path_exists(name))
        return CODE_OK;
    moved = path_with(name, ".moved");
    if (moved == NULL)
        return CODE_FAILED;
    if (path_exists(moved)) {
        list->paths[index] = moved;
        list->any_moved = true;
    } else {
        free(moved);
        list->any_missing = true;
    }
    return CODE_OK;
}

/* Lists the files that the name of a path means. */
static int list_by_name(shard_list *list, const char *path)
{
    uint32_t count = input_named_size(path, false);
    int code = make_list(list, count > 0 ? count : 1);

    for (uint32_t i = 0; i < list->count && code == CODE_OK; i++)
        code = put_file(list, i, count > 0 ? input_sibling_path(path, i + 1) : strdup(path));
    return code;
}

/* ---- shards in any order -------------------------------------------------------------------- */

/* Reads the number of a shard, from 0, and the count of its set. */
static int read_numbers(const char *path, uint64_t *number, uint64_t *count)
{
    const input_options options = {.open_flags = GUFO_OPEN_NO_READ_AHEAD, .single = true};
    gufo_status status;
    gufo_error error;
    input in;
    int code = path_is_standard(path) ? report_usage("the input must be a file, not '-'")
                                      : input_open(&in, path, &options);

    if (code != CODE_OK)
        return code;
    status = gufo_model_get_u64(in.model, "split.count", count, &error);
    if (status == GUFO_OK)
        status = gufo_model_get_u64(in.model, "split.no", number, &error);
    if (status != GUFO_OK)
        report_message(path, "not part of a set: %s", error.message);
    else if (*count == 0 || *count > GUFO_MAX_SHARDS || *number >= *count) {
        report_message(path, "not part of a set: it is shard %" PRIu64 " of %" PRIu64, *number + 1,
                       *count);
        status = GUFO_E_SHARDS;
    }
    input_close(&in);
    return status == GUFO_OK ? CODE_OK : CODE_FAILED;
}

static int put_shard(shard_list *list, const char *path)
{
    uint64_t number, count;
    int code = read_numbers(path, &number, &count);

    if (code == CODE_OK && list->count == 0)
        code = make_list(list, (size_t)count);
    if (code != CODE_OK)
        return code;
    if (count != list->count)
        return report_as(CODE_FAILED, path,
                         "this shard belongs to a set of %" PRIu64
                         ", others belong to a set of %zu",
                         count, list->count);
    if (list->names[number] != NULL)
        return report_as(CODE_FAILED, path,
                         "shard %" PRIu64 " is given twice: %s is the same shard", number + 1,
                         list->names[number]);
    return put_file(list, (size_t)number, strdup(path));
}

/* Finds shards that were not given: with --delete-input they may exist under their other name. */
static int find_rest(shard_list *list, const char *path, bool deletes)
{
    uint32_t count;
    bool named = deletes && gufo_shard_path_parse(path, NULL, NULL, &count) && count == list->count;

    for (size_t i = 0; i < list->count; i++) {
        if (list->names[i] != NULL)
            continue;
        if (named && put_file(list, i, input_sibling_path(path, (uint32_t)i + 1)) != CODE_OK)
            return CODE_FAILED;
        if (list->paths[i] == list->names[i])
            return report_as(CODE_FAILED, path, "shard %zu of %zu is not given", i + 1,
                             list->count);
    }
    return CODE_OK;
}

static int list_by_keys(shard_list *list, const shared_options *shared, bool deletes)
{
    int code = CODE_OK;

    for (int i = 0; i < shared->arg_count && code == CODE_OK; i++)
        code = put_shard(list, shared->args[i]);
    return code == CODE_OK ? find_rest(list, shared->args[0], deletes) : code;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int open_list(copying *job, const shard_list *list)
{
    gufo_input *inputs = calloc(list->count + 1, sizeof *inputs); /* never of 0 bytes */
    bool pending = false;
    gufo_error error;

    if (inputs == NULL)
        return report_memory(NULL);
    for (size_t i = 0; i < list->count && !pending; i++) {
        inputs[i] = gufo_input_path(list->paths[i]);
        pending = save_is_pending(list->paths[i], false);
    }
    signals_reading(list->paths[0]);
    if (!pending)
        job->model = gufo_model_open_shards(inputs, list->count, NULL, &error);
    free(inputs);
    if (pending || job->model != NULL)
        return pending ? CODE_FAILED : CODE_OK;
    return report_error(list->paths[0], &error);
}

/* Cleans up after a run that had written everything.  The first output of a split has the number of
 * shards in its name. */
static int clean(const copying *job, const shard_list *list, bool *done)
{
    const char *const *names = (const char *const *)list->names;
    char *pattern = path_with(job->base.output, "-00001-of-[0-9][0-9][0-9][0-9][0-9].gguf");
    gufo_status status;
    gufo_error error;
    glob_t found;

    if (pattern == NULL)
        return CODE_FAILED;
    status = gufo_job_clean(job->base.output, names, list->count, done, &error);
    if (status == GUFO_OK && !*done && glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !*done && status == GUFO_OK; i++)
            status = gufo_job_clean(found.gl_pathv[i], names, list->count, done, &error);
        globfree(&found);
    }
    free(pattern);
    return status == GUFO_OK ? CODE_OK : report_refusal(job->base.output, &error);
}

static int open_named(copying *job, const shard_list *list, const char *path, bool *done)
{
    int code = job->deletes && list->any_missing ? clean(job, list, done) : CODE_OK;

    if (code != CODE_OK || *done)
        return code;
    if (!job->deletes && list->any_moved)
        return report_as(CODE_FAILED, path,
                         "an interrupted run has moved data of the model to its output: repeat "
                         "that command, with --delete-input");
    /* The name of the first shard opens the whole set. */
    if (list->any_moved || strcmp(path, list->names[0]) != 0)
        return open_list(job, list);
    job->model = input_open_model(path, 0);
    return job->model != NULL ? CODE_OK : CODE_FAILED;
}

/* Plans one file of what open_shards opened. */
static gufo_job *plan_merge(copying *job, gufo_error *error)
{
    return gufo_job_merge(job->model, NULL, error);
}

/* Opens the model of all arguments: a file, the first shard of a set, or all shards of a set in any
 * order.  With job->deletes, finds files whose data an interrupted run has released under their
 * other name (gufo/produce.h); sets *done after removing them if that run had done everything else.
 * Returns CODE_OK with job->model unless *done, or another code after a report. */
static int open_shards(copying *job, bool *done)
{
    const shared_options *shared = job->base.shared;
    const char *path = shared->args[0];
    bool by_name = shared->arg_count == 1;
    shard_list list = {0};
    int code;

    if (path_is_standard(path))
        return report_usage("the input must be a file, not '-'");
    code = by_name ? list_by_name(&list, path) : list_by_keys(&list, shared, job->deletes);
    if (code == CODE_OK)
        code = by_name ? open_named(job, &list, path, done) : open_list(job, &list);
    free_list(&list);
    return code;
}

/* ---- gufo split FILE OUTPREFIX: one model as several files ----------------------------------- */

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
#include "cli/core/options/part_options.def"
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

static gufo_job *plan_split(copying *job, gufo_error *error)
{
    return gufo_job_split(job->model, &((split_options *)(void *)job)->bounds, error);
}

static int split(void *context)
{
    split_options *o = context;
    int code = check_options(o);

    o->job.open = open_shards;
    return code == CODE_OK ? copying_run(&o->job, o->merges ? plan_merge : plan_split) : code;
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

/* ---- gufo merge SHARD... -o OUT: the files of a shard set as one ----------------------------- */

static const command_option merge_table[] = {
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {"delete-input", NULL,
     "Delete each shard as soon as its bytes are safe in OUT, so that the disk needs room for only "
     "one more shard; this cannot be undone",
     OPTION_FLAG(copying, deletes)},
    {"dry-run", NULL, "Check the set and show the result, but write nothing",
     OPTION_FLAG(copying, dry_run)},
#include "cli/core/options/part_options.def"
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

    job->open = open_shards;
    return code == CODE_OK ? copying_run(job, plan_merge) : code;
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
