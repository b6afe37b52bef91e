/* Several files that appear together or not at all.
 *
 *     find      where they will be; nothing is touched
 *     reserve   a temporary file beside each, of its full size
 *     write     one after the other, so that few are open at a time
 *     commit    names, the first shard last: without it there is no set
 *
 * Only the names are left to be given when all bytes are safe on disk.  If the program is killed
 * between two names, shards without a first one are left; the same split replaces them the next
 * time, since gufo.split.id tells that they are its own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "edit/copy.h"
#include "format/model.h"

/* ---- finding -------------------------------------------------------------------------------- */

static bool is_input(const gufo_copy *c, const char *path)
{
    struct stat written, read;

    if (stat(path, &written) != 0)
        return false;
    for (size_t i = 0; i < gufo_model_shard_count(c->input); i++) {
        int fd = model_file(gufo_model_shard(c->input, i))->source.fd;

        if (fd >= 0 && fstat(fd, &read) == 0 && read.st_dev == written.st_dev &&
            read.st_ino == written.st_ino)
            return true;
    }
    return false;
}

static bool number_is(const gufo_model *file, const char *key, uint64_t expected)
{
    uint64_t value;

    return gufo_get_u64(file, key, &value, NULL) == GUFO_OK && value == expected;
}

/* Whether a file that exists is a shard that this split would write, left without a first one. */
static bool is_leftover(const gufo_copy *c, size_t index)
{
    gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE,
                                 .allocator = &c->allocator};
    gufo_model *file;
    bool same;

    if (!c->adds_split_keys || index == 0 || c->files[0].exists)
        return false;
    file = gufo_open(c->paths[index], &options, NULL);
    same = file != NULL && number_is(file, SPLIT_ID_KEY, c->split_id) &&
           number_is(file, SPLIT_NO_KEY, index) &&
           number_is(file, SPLIT_COUNT_KEY, c->output_count);
    gufo_close(file);
    return same;
}

static gufo_status find_target(gufo_copy *c, const char *path, size_t index, bool replace,
                               gufo_error *error)
{
    size_t size = gufo_copy_output_path(c, path, index, NULL, 0) + 1;
    output *file = &c->files[index];
    gufo_status status;

    c->paths[index] = mem_alloc(&c->allocator, size);
    if (c->paths[index] == NULL)
        return fail_memory(error);
    (void)gufo_copy_output_path(c, path, index, c->paths[index], size);
    c->failed_path = c->paths[index];
    status = output_find(file, c->paths[index], true, &c->allocator, error);
    if (status != GUFO_OK)
        return status;
    if (is_input(c, c->paths[index]))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "the output is the input; it would be lost");
    file->replace = replace || (file->exists && is_leftover(c, index));
    if (file->exists && !file->replace)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "target exists already");
    /* Its journal would be taken for one of the new file. */
    if (gufo_edit_pending(c->paths[index]))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "an edit of the output was interrupted and has to be recovered first");
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

gufo_status targets_find(gufo_copy *c, const char *path, bool replace, gufo_error *error)
{
    gufo_status status = check_set_path(c, path, error);

    if (status != GUFO_OK)
        return status;
    c->paths = mem_zero(&c->allocator, c->output_count * sizeof *c->paths);
    c->files = mem_zero(&c->allocator, c->output_count * sizeof *c->files);
    if (c->paths == NULL || c->files == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < c->output_count; i++)
        c->files[i].fd = -1;
    for (size_t i = 0; i < c->output_count && status == GUFO_OK; i++)
        status = find_target(c, path, i, replace, error);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status reserve_target(gufo_copy *c, size_t index, gufo_error *error)
{
    output *file = &c->files[index];
    bool replace = file->replace;
    gufo_status status;

    output_discard(file);
    status =
        output_open(file, c->paths[index], replace, c->outputs[index].size, &c->allocator, error);
    c->temporaries[index] = file->temporary;
    if (status != GUFO_OK)
        return status;
    (void)close(file->fd);
    file->fd = -1;
    return GUFO_OK;
}

gufo_status targets_reserve(gufo_copy *c, gufo_error *error)
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

/* An old set must not be seen with some shards new and some old: it goes first. */
static gufo_status remove_old_first(const gufo_copy *c, gufo_error *error)
{
    const output *first = &c->files[0];

    if (c->output_count == 1 || !first->exists)
        return GUFO_OK;
    if (disk_unlink(first->target) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the old first shard");
    return GUFO_OK;
}

/* Names one file; c->paths[index] is then where it is, symlinks followed. */
static gufo_status commit_target(gufo_copy *c, size_t index, gufo_error *error)
{
    output *file = &c->files[index];
    char *target = output_beside(file, "");
    gufo_status status;

    if (target == NULL)
        return fail_memory(error);
    c->temporaries[index] = NULL;
    status = output_commit(file, error);
    if (status != GUFO_OK) {
        mem_free(&c->allocator, target);
        return status;
    }
    mem_free(&c->allocator, c->paths[index]);
    c->paths[index] = target;
    return GUFO_OK;
}

gufo_status targets_commit(gufo_copy *c, gufo_error *error)
{
    gufo_status status = remove_old_first(c, error);
    size_t next = c->output_count;

    c->failed_path = c->paths[0];
    while (next > 0 && status == GUFO_OK) {
        c->failed_path = c->paths[next - 1];
        status = commit_target(c, next - 1, error);
        next -= status == GUFO_OK;
    }
    if (status == GUFO_OK)
        c->failed_path = NULL;
    for (size_t i = next; i < c->output_count && status != GUFO_OK; i++)
        (void)disk_unlink(c->paths[i]);
    return status;
}

void targets_discard(gufo_copy *c)
{
    for (size_t i = 0; c->files != NULL && i < c->output_count; i++) {
        c->temporaries[i] = NULL;
        output_discard(&c->files[i]);
    }
}
