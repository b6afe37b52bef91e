/* Opening all files of a model; shards.h has the idea. */
#include "cli/change/shards.h"

#include "cli/core/files/input.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    status = gufo_get_u64(in.model, "split.count", count, &error);
    if (status == GUFO_OK)
        status = gufo_get_u64(in.model, "split.no", number, &error);
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
        job->model = gufo_open_shards(inputs, list->count, NULL, &error);
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

gufo_job *shards_plan_merge(copying *job, gufo_error *error)
{
    return gufo_job_merge(job->model, NULL, error);
}

int shards_open(copying *job, bool *done)
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
