/* Opening all files of a model; shards.h has the idea. */
#include "cli/change/shards.h"

#include "cli/core/input.h"
#include "cli/core/report.h"
#include "cli/core/save.h"
#include "cli/core/signals.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOVED ".moved"

/* The files in the order of their numbers. */
typedef struct shard_list {
    char **names;       /* as they were, and as they are now: */
    const char **paths; /* an element of `names`, or of `moved` */
    char **moved;
    size_t count;
    bool any_moved, any_missing;
} shard_list;

static bool exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 || errno != ENOENT;
}

static void free_list(shard_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->names != NULL)
            free(list->names[i]);
        if (list->moved != NULL)
            free(list->moved[i]);
    }
    free(list->names);
    free(list->moved);
    free((void *)list->paths);
    *list = (shard_list){0};
}

static int make_list(shard_list *list, size_t count)
{
    *list = (shard_list){.names = calloc(count, sizeof *list->names),
                         .paths = calloc(count, sizeof *list->paths),
                         .moved = calloc(count, sizeof *list->moved),
                         .count = count};
    return list->names != NULL && list->paths != NULL && list->moved != NULL ? CODE_OK
                                                                             : report_memory(NULL);
}

/* ---- where files are ------------------------------------------------------------------------ */

/* A file that is missing may be there under its other name. */
static int find_file(shard_list *list, size_t index)
{
    const char *name = list->names[index];

    list->moved[index] = path_with(name, MOVED);
    if (list->moved[index] == NULL)
        return CODE_FAILED;
    list->paths[index] = name;
    if (exists(name))
        return CODE_OK;
    if (exists(list->moved[index])) {
        list->paths[index] = list->moved[index];
        list->any_moved = true;
    } else
        list->any_missing = true;
    return CODE_OK;
}

static int find_files(shard_list *list)
{
    int code = CODE_OK;

    for (size_t i = 0; i < list->count && code == CODE_OK; i++)
        code = find_file(list, i);
    return code;
}

/* The files that a path means by its name. */
static int list_by_name(shard_list *list, const char *path)
{
    uint32_t count = input_named_size(path, false);
    int code = make_list(list, count > 0 ? count : 1);

    for (uint32_t i = 0; i < list->count && code == CODE_OK; i++) {
        list->names[i] = count > 0 ? input_sibling_path(path, i + 1) : path_with(path, "");
        if (list->names[i] == NULL)
            code = report_memory(path);
    }
    return code == CODE_OK ? find_files(list) : code;
}

/* ---- shards in any order -------------------------------------------------------------------- */

/* What a shard says of itself: its number from 0, and of how many. */
static int read_numbers(const char *path, uint64_t *number, uint64_t *count)
{
    const input_options options = {.open_flags = GUFO_OPEN_NO_READ_AHEAD, .single = true};
    gufo_status status;
    gufo_error error;
    input in;
    int code = path_is_standard(path) ? report_usage("merge", "the input must be a file, not '-'")
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
    if (count != list->count) {
        report_message(path, "this shard is of a set of %" PRIu64 ", others are of one of %zu",
                       count, list->count);
        return CODE_FAILED;
    }
    if (list->names[number] != NULL) {
        report_message(path, "shard %" PRIu64 " is given twice: it is %s, too", number + 1,
                       list->names[number]);
        return CODE_FAILED;
    }
    list->names[number] = path_with(path, "");
    return list->names[number] != NULL ? find_file(list, (size_t)number) : CODE_FAILED;
}

/* A shard that was not given may be there under its other name; only then it has one. */
static int find_rest(shard_list *list, const char *path, bool deletes)
{
    for (size_t i = 0; i < list->count; i++) {
        uint32_t count;
        int code;

        if (list->names[i] != NULL)
            continue;
        if (deletes && gufo_shard_path_parse(path, NULL, NULL, &count) && count == list->count)
            list->names[i] = input_sibling_path(path, (uint32_t)i + 1);
        code = list->names[i] != NULL ? find_file(list, i) : CODE_OK;
        if (code != CODE_OK)
            return code;
        if (list->paths[i] == NULL || list->paths[i] != list->moved[i]) {
            report_message(path, "shard %zu of %zu is not given", i + 1, list->count);
            return CODE_FAILED;
        }
    }
    return CODE_OK;
}

static int list_by_keys(shard_list *list, char *const *arguments, int count, bool deletes)
{
    int code = CODE_OK;

    for (int i = 0; i < count && code == CODE_OK; i++)
        code = put_shard(list, arguments[i]);
    return code == CODE_OK ? find_rest(list, arguments[0], deletes) : code;
}

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_model *open_list(const shard_list *list)
{
    gufo_input *inputs = calloc(list->count, sizeof *inputs);
    gufo_model *model = NULL;
    bool pending = false;
    gufo_error error;

    if (inputs == NULL) {
        report_memory(NULL);
        return NULL;
    }
    for (size_t i = 0; i < list->count && !pending; i++) {
        inputs[i] = gufo_input_path(list->paths[i]);
        pending = save_is_pending(list->paths[i], false);
    }
    signals_reading(list->paths[0]);
    if (!pending)
        model = gufo_open_shards(inputs, list->count, NULL, &error);
    if (!pending && model == NULL)
        report_error(list->paths[0], &error);
    free(inputs);
    return model;
}

/* The first output of a split has the number of shards in its name. */
static int clean(copying *job, const shard_list *list, bool *done)
{
    char *pattern = path_with(job->base.output, "-00001-of-[0-9][0-9][0-9][0-9][0-9].gguf");
    gufo_status status;
    gufo_error error;
    glob_t found;

    if (pattern == NULL)
        return CODE_FAILED;
    status = gufo_job_clean(job->base.output, (const char *const *)list->names, list->count, done,
                            &error);
    if (status == GUFO_OK && !*done && glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !*done && status == GUFO_OK; i++)
            status = gufo_job_clean(found.gl_pathv[i], (const char *const *)list->names,
                                    list->count, done, &error);
        globfree(&found);
    }
    free(pattern);
    return status == GUFO_OK ? CODE_OK : report_refusal(job->base.output, &error);
}

static int open_found(copying *job, const shard_list *list, const char *path, bool *done)
{
    if (job->deletes && list->any_missing) {
        int code = clean(job, list, done);

        if (code != CODE_OK || *done)
            return code;
    }
    if (!job->deletes && list->any_moved) {
        report_message(path, "an interrupted run has moved data of the model to its output: repeat "
                             "that command, with --delete-input");
        return CODE_FAILED;
    }
    /* What is named by its first shard alone is known as a set. */
    if (!list->any_moved && strcmp(path, list->names[0]) == 0)
        job->model = input_open_model(path, 0);
    else
        job->model = open_list(list);
    return job->model != NULL ? CODE_OK : CODE_FAILED;
}

int shards_open(copying *job, char *const *arguments, int count, bool *done)
{
    shard_list list = {0};
    int code;

    *done = false;
    if (path_is_standard(arguments[0]))
        return report_usage(job->base.shared->command, "the input must be a file, not '-'");
    code = count == 1 ? list_by_name(&list, arguments[0])
                      : list_by_keys(&list, arguments, count, job->deletes);
    if (code == CODE_OK && count == 1)
        code = open_found(job, &list, arguments[0], done);
    else if (code == CODE_OK) {
        job->model = open_list(&list);
        code = job->model != NULL ? CODE_OK : CODE_FAILED;
    }
    free_list(&list);
    return code;
}
