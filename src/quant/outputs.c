/* The files that are written: OUT, or one per shard of the input.
 *
 * The writer's plan says what a file is to hold and where; bytes go to OUT.part.  Before anything
 * is touched it is made sure that no file that will be written or removed is one that is read. */
#include "quant/quantizer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/commit.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/file.h"
#include "quant/imatrix.h"

/* ---- paths ---------------------------------------------------------------------------------- */

/* The bytes of `path` before the part that tells the shard. */
static size_t set_prefix_len(const char *path, size_t shards)
{
    static const char suffix[] = ".gguf";
    size_t len = strlen(path), suffix_len = sizeof suffix - 1, prefix_len;
    uint32_t number, count;

    if (gufo_shard_path_parse(path, &prefix_len, &number, &count) && number == 1 && count == shards)
        return prefix_len;
    if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0)
        return len - suffix_len;
    return len;
}

/* The path of output `index`: to be freed; NULL without memory. */
static char *path_of_output(const gufo_quantizer *q, const char *path, size_t index)
{
    uint32_t number = (uint32_t)index + 1, count = (uint32_t)q->output_count;
    size_t prefix_len = set_prefix_len(path, count), size = strlen(path) + 1;
    char *out;

    if (count > 1)
        size = gufo_shard_path_format(NULL, 0, path, prefix_len, number, count) + 1;
    out = mem_alloc(&q->allocator, size);
    if (out != NULL && count > 1)
        (void)gufo_shard_path_format(out, size, path, prefix_len, number, count);
    else if (out != NULL)
        memcpy(out, path, size);
    return out;
}

static gufo_status find_output(gufo_quantizer *q, const char *path, size_t index,
                               const output_guard *guard, gufo_error *error)
{
    quant_output *out = &q->outputs[index];

    out->path = path_of_output(q, path, index);
    if (out->path == NULL)
        return fail_memory(error);
    q->failed_path = out->path;
    return output_find(out->file, out->path, true, guard, &q->allocator, error);
}

/* ---- inputs must not be outputs ------------------------------------------------------------- */

/* All files that are read. */
static gufo_status guard_inputs(const gufo_quantizer *q, output_guard *guard, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *guard = (output_guard){.allocator = &q->allocator};
    for (size_t i = 0; i < gufo_set_shard_count(q->input) && status == GUFO_OK; i++)
        status = guard_add_fd(guard, gufo_set_shard(q->input, i)->source.fd, error);
    if (status == GUFO_OK && q->options.importance != NULL)
        status = imatrix_guard(q->options.importance, guard, error);
    guard_ready(guard);
    return status;
}

/* Checks TARGET.part and TARGET.part.journal. */
static gufo_status check_not_input(const gufo_quantizer *q, const quant_output *out,
                                   const output_guard *guard, gufo_error *error)
{
    static const char *const suffixes[] = {".part", ".part.journal"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *path = output_beside(out->file, suffixes[i]);
        struct stat info;
        bool same;

        if (path == NULL)
            return fail_memory(error);
        same = stat(path, &info) == 0 && guard_holds(guard, &info);
        mem_free(&q->allocator, path);
        if (same)
            return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                             "the output with %s is the input; it would be lost", suffixes[i]);
    }
    return GUFO_OK;
}

/* Two of them must not be the same file, and names must be free where old files are put aside. */
static gufo_status check_set(gufo_quantizer *q, gufo_error *error)
{
    size_t failed;
    gufo_status status = commit_check(q->files, q->output_count, &failed, error);

    q->failed_path = status == GUFO_OK ? NULL : q->outputs[failed].path;
    return status;
}

gufo_status outputs_find(gufo_quantizer *q, const char *path, gufo_error *error)
{
    output_guard guard;
    gufo_status status = guard_inputs(q, &guard, error);

    for (size_t i = 0; i < q->output_count && status == GUFO_OK; i++) {
        status = find_output(q, path, i, &guard, error);
        if (status == GUFO_OK)
            status = check_not_input(q, &q->outputs[i], &guard, error);
    }
    guard_free(&guard);
    if (status == GUFO_OK)
        status = check_set(q, error);
    if (status != GUFO_OK)
        return status;
    q->journal_path = output_beside(&q->files[0], ".part.journal");
    return q->journal_path != NULL ? GUFO_OK : fail_memory(error);
}

/* ---- what is there already ------------------------------------------------------------------ */

/* Checks one that is to be written. */
static gufo_status check_target(gufo_quantizer *q, quant_output *out, gufo_error *error)
{
    out->file->replace = (q->options.flags & GUFO_QUANTIZE_REPLACE) != 0 ||
                         (out->file->exists &&
                          commit_left(q->files, q->output_count, (size_t)(out->file - q->files)));
    if (!out->file->exists || out->file->replace)
        return GUFO_OK;
    q->failed_path = out->path;
    return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "target exists already");
}

gufo_status outputs_check_targets(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < q->output_count && status == GUFO_OK; i++)
        status = check_target(q, &q->outputs[i], error);
    return status;
}

/* Looks for the .part file; *info are its facts. */
static gufo_status find_part(const quant_output *out, bool *exists, struct stat *info,
                             gufo_error *error)
{
    char *path = output_beside(out->file, ".part");

    if (path == NULL)
        return fail_memory(error);
    *exists = lstat(path, info) == 0;
    mem_free(out->file->allocator, path);
    return GUFO_OK;
}

static gufo_status clear_part(const gufo_quantizer *q, const quant_output *out, gufo_error *error)
{
    char *path = output_beside(out->file, ".part");
    gufo_status status = GUFO_OK;

    if (path == NULL)
        return fail_memory(error);
    if (q->options.flags & GUFO_QUANTIZE_REPLACE) {
        if (disk_unlink(path) != 0 && errno != ENOENT)
            status = fail_io(error, errno, "cannot remove the old .part file");
    } else if (access(path, F_OK) == 0) {
        status = fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "its .part file exists already");
    }
    mem_free(&q->allocator, path);
    return status;
}

gufo_status outputs_clear_parts(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < q->output_count && status == GUFO_OK; i++) {
        status = clear_part(q, &q->outputs[i], error);
        if (status != GUFO_OK)
            q->failed_path = q->outputs[i].path;
    }
    return status;
}

static gufo_status check_part(const quant_output *out, bool exists, const struct stat *info,
                              gufo_error *error)
{
    if (exists && S_ISREG(info->st_mode) && (uint64_t)info->st_size == out->layout.file_size)
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                     "cannot resume: its .part file is missing or has another size");
}

gufo_status outputs_check_parts(gufo_quantizer *q, gufo_error *error)
{
    for (size_t i = 0; i < q->output_count; i++) {
        const quant_output *out = &q->outputs[i];
        gufo_status status;
        struct stat info;
        bool exists;

        q->failed_path = out->path;
        status = find_part(out, &exists, &info, error);
        if (status == GUFO_OK)
            status = check_part(out, exists, &info, error);
        if (status != GUFO_OK)
            return status;
    }
    q->failed_path = NULL;
    return GUFO_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Whether a file has the size and the header of the output. */
static bool holds_header(const quant_output *out, int fd)
{
    enum { PIECE = 4096 };
    uint8_t bytes[PIECE];
    struct stat info;
    size_t size, step;
    const uint8_t *header = gufo_writer_header(out->writer, &size);

    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size != out->layout.file_size)
        return false;
    for (size_t at = 0; at < size; at += step) {
        step = size - at < PIECE ? size - at : PIECE;
        if (pread(fd, bytes, step, (off_t)at) != (ssize_t)step ||
            memcmp(bytes, header + at, step) != 0)
            return false;
    }
    return true;
}

static gufo_status open_output(quant_output *out, bool again, gufo_error *error)
{
    gufo_status status = output_open_part(out->file, again, out->layout.file_size, error);
    const void *header;
    size_t size;

    if (status != GUFO_OK)
        return status;
    header = gufo_writer_header(out->writer, &size);
    return output_write(out->file, 0, header, size, error);
}

gufo_status outputs_open(gufo_quantizer *q, bool again, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < q->output_count && status == GUFO_OK; i++) {
        status = open_output(&q->outputs[i], again, error);
        if (status != GUFO_OK)
            q->failed_path = q->outputs[i].path;
    }
    return status;
}

/* Whether the target is the output that was made: it has its name already. */
static bool is_named(const quant_output *out)
{
    int fd = open(out->file->target, O_RDONLY | O_CLOEXEC);
    bool named = fd >= 0 && holds_header(out, fd);

    if (fd >= 0)
        (void)close(fd);
    return named;
}

/* Stopped between the two steps of naming, a file has both names. */
static gufo_status drop_second_name(const quant_output *out, const struct stat *part, bool *exists,
                                    gufo_error *error)
{
    struct stat target;
    char *path;

    if (!*exists || stat(out->file->target, &target) != 0 || target.st_dev != part->st_dev ||
        target.st_ino != part->st_ino)
        return GUFO_OK;
    path = output_beside(out->file, ".part");
    if (path == NULL)
        return fail_memory(error);
    *exists = disk_unlink(path) != 0;
    mem_free(out->file->allocator, path);
    return GUFO_OK;
}

static gufo_status open_complete(gufo_quantizer *q, quant_output *out, gufo_error *error)
{
    struct stat info;
    bool exists;
    gufo_status status = find_part(out, &exists, &info, error);

    if (status == GUFO_OK)
        status = drop_second_name(out, &info, &exists, error);
    if (status != GUFO_OK)
        return status;
    if (!exists && is_named(out)) {
        out->file->named = true;
        out->file->temporary = output_beside(out->file, ".part");
        return out->file->temporary != NULL ? GUFO_OK : fail_memory(error);
    }
    status = check_part(out, exists, &info, error);
    if (status == GUFO_OK)
        status = check_target(q, out, error);
    return status == GUFO_OK ? open_output(out, true, error) : status;
}

gufo_status outputs_open_complete(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < q->output_count && status == GUFO_OK; i++) {
        q->failed_path = q->outputs[i].path;
        status = open_complete(q, &q->outputs[i], error);
    }
    if (status == GUFO_OK)
        q->failed_path = NULL;
    return status;
}

gufo_status outputs_sync(const gufo_quantizer *q, gufo_error *error)
{
    for (size_t i = 0; i < q->output_count; i++)
        if (q->files[i].fd >= 0 && disk_sync(q->files[i].fd) != 0)
            return fail_io(error, errno, "cannot write");
    return GUFO_OK;
}

gufo_status outputs_commit(gufo_quantizer *q, bool keep, gufo_error *error)
{
    gufo_status status;
    size_t failed;

    for (size_t i = 0; i < q->output_count; i++)
        q->files[i].keep = keep;
    status = commit_set(q->files, q->output_count, &failed, error);
    if (status != GUFO_OK)
        q->failed_path = q->outputs[failed].path;
    return status;
}

void outputs_close(gufo_quantizer *q, bool keep)
{
    for (size_t i = 0; i < q->output_count; i++) {
        q->files[i].keep = keep;
        output_discard(&q->files[i]);
    }
}
