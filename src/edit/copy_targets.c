/* Several files that appear together or not at all.
 *
 *     find      where they will be; nothing is touched
 *     reserve   a temporary file beside each, of its full size
 *     write     one after the other, so that few are open at a time
 *     commit    names, when all bytes are safe on disk (base/commit.h) */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/commit.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "edit/copy.h"
#include "format/model.h"

/* ---- finding -------------------------------------------------------------------------------- */

/* All files of the input: none of them may be replaced. */
static gufo_status guard_inputs(const gufo_copy *c, output_guard *guard, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *guard = (output_guard){.allocator = &c->allocator};
    for (size_t i = 0; i < gufo_model_shard_count(c->input) && status == GUFO_OK; i++)
        status = guard_add_fd(guard, model_file(gufo_model_shard(c->input, i))->source.fd, error);
    guard_ready(guard);
    return status;
}

static gufo_status find_target(gufo_copy *c, const char *path, size_t index, bool replace,
                               const output_guard *guard, gufo_error *error)
{
    size_t size = gufo_copy_output_path(c, path, index, NULL, 0) + 1;
    output *file = &c->files[index];
    gufo_status status;

    c->paths[index] = mem_alloc(&c->allocator, size);
    if (c->paths[index] == NULL)
        return fail_memory(error);
    (void)gufo_copy_output_path(c, path, index, c->paths[index], size);
    c->failed_path = c->paths[index];
    status = output_find(file, c->paths[index], true, guard, &c->allocator, error);
    if (status != GUFO_OK)
        return status;
    file->replace = replace || (file->exists && commit_left(c->files, c->output_count, index));
    if (file->exists && !file->replace)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "target exists already");
    c->failed_path = NULL;
    return GUFO_OK;
}

/* Whether `path` can name a set of so many shards. */
static gufo_status check_set_path(gufo_copy *c, const char *path, gufo_error *error)
{
    size_t prefix_len;
    uint32_t number, count;

    if (c->naming != NAMED_SET || (gufo_shard_path_parse(path, &prefix_len, &number, &count) &&
                                   number == 1 && count == c->output_count))
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                     "a set of %zu shards is written; the output must be named as its first, such "
                     "as NAME-00001-of-%05zu.gguf",
                     c->output_count, c->output_count);
}

gufo_status copy_targets_find(gufo_copy *c, const char *path, bool replace, gufo_error *error)
{
    gufo_status status = check_set_path(c, path, error);
    output_guard guard = {0};
    size_t failed;

    if (status != GUFO_OK)
        return status;
    c->paths = mem_zero(&c->allocator, c->output_count * sizeof *c->paths);
    c->files = mem_zero(&c->allocator, c->output_count * sizeof *c->files);
    if (c->paths == NULL || c->files == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < c->output_count; i++)
        c->files[i].fd = -1;
    status = guard_inputs(c, &guard, error);
    for (size_t i = 0; i < c->output_count && status == GUFO_OK; i++)
        status = find_target(c, path, i, replace, &guard, error);
    guard_free(&guard);
    if (status != GUFO_OK)
        return status;
    status = commit_check(c->files, c->output_count, &failed, error);
    if (status != GUFO_OK)
        c->failed_path = c->paths[failed];
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status reserve_target(gufo_copy *c, size_t index, gufo_error *error)
{
    output *file = &c->files[index];
    bool replace = file->replace;
    gufo_status status;

    output_discard(file);
    status = output_open(file, c->paths[index], replace, c->outputs[index].size, NULL,
                         &c->allocator, error);
    c->temporaries[index] = file->temporary;
    if (status != GUFO_OK)
        return status;
    (void)close(file->fd);
    file->fd = -1;
    return GUFO_OK;
}

gufo_status copy_targets_reserve(gufo_copy *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < c->output_count && status == GUFO_OK; i++) {
        c->failed_path = c->paths[i];
        status = reserve_target(c, i, error);
    }
    if (status == GUFO_OK)
        c->failed_path = NULL;
    return status;
}

gufo_status target_open(gufo_copy *c, size_t index, gufo_error *error)
{
    output *file = &c->files[index];

    c->failed_path = c->paths[index];
    file->fd = disk_open(file->temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    return file->fd >= 0 ? GUFO_OK : fail_io(error, errno, "cannot open the temporary file again");
}

gufo_status target_close(gufo_copy *c, size_t index, gufo_error *error)
{
    gufo_status status = output_close(&c->files[index], error);

    if (status == GUFO_OK)
        c->failed_path = NULL;
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

gufo_status copy_targets_commit(gufo_copy *c, gufo_error *error)
{
    size_t failed;
    gufo_status status;

    for (size_t i = 0; i < c->output_count; i++)
        c->temporaries[i] = NULL;
    status = commit_set(c->files, c->output_count, &failed, error);
    c->failed_path = status == GUFO_OK ? NULL : c->paths[failed];
    return status;
}

void copy_targets_discard(gufo_copy *c)
{
    for (size_t i = 0; c->files != NULL && i < c->output_count; i++) {
        c->temporaries[i] = NULL;
        output_discard(&c->files[i]);
    }
}
