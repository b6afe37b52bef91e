/* The output of a writer.
 *
 * To a path, bytes go straight to their final place from any thread; the file was reserved full of
 * zeros, so padding needs no writing.  To a stream they go out in order, and padding is sent when
 * the next tensor begins. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/move.h"
#include "format/writer.h"

static gufo_status check_unopened(const gufo_writer *w, gufo_error *error)
{
    if (w->used)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "the writer has an output already, or has had one");
    return GUFO_OK;
}

gufo_status gufo_writer_open_path(gufo_writer *w, const char *path, bool replace, gufo_error *error)
{
    return writer_open_guarded(w, path, replace, NULL, error);
}

gufo_status writer_open_guarded(gufo_writer *w, const char *path, bool replace,
                                const output_guard *guard, gufo_error *error)
{
    gufo_status status = check_unopened(w, error);

    if (status == GUFO_OK)
        status = gufo_writer_layout(w, NULL, error);
    if (status == GUFO_OK)
        status =
            output_open(&w->file, path, replace, w->layout.file_size, guard, &w->allocator, error);
    if (status != GUFO_OK)
        return status;
    status = output_write(&w->file, 0, w->header.out.data, w->header.out.len, error);
    if (status != GUFO_OK)
        output_discard(&w->file);
    w->used = w->open = status == GUFO_OK;
    return status;
}

const char *gufo_writer_temporary(const gufo_writer *w)
{
    return w->file.temporary;
}

/* Sends bytes to the stream.  How many of them arrived before a failure is not known, so that
 * nothing can follow it. */
static gufo_status send(gufo_writer *w, const void *data, size_t size, gufo_error *error)
{
    gufo_status status = output_write_all(w->stream, data, size, error);

    if (status == GUFO_OK)
        w->stream_position += size;
    else
        w->open = false;
    return status;
}

gufo_status gufo_writer_open_fd(gufo_writer *w, int fd, gufo_error *error)
{
    gufo_status status = check_unopened(w, error);

    if (status == GUFO_OK)
        status = gufo_writer_layout(w, NULL, error);
    if (status != GUFO_OK)
        return status;
    w->stream = fd;
    w->used = w->open = true;
    return send(w, w->header.out.data, w->header.out.len, error);
}

/* Sends zeros up to `position`. */
static gufo_status pad_stream(gufo_writer *w, uint64_t position, gufo_error *error)
{
    static const uint8_t zeros[4096];
    gufo_status status = GUFO_OK;

    while (w->stream_position < position && status == GUFO_OK) {
        uint64_t rest = position - w->stream_position;
        size_t step = rest < sizeof zeros ? (size_t)rest : sizeof zeros;

        status = send(w, zeros, step, error);
    }
    return status;
}

/* Whether all that lies before `position` in the stream has been sent, but for padding. */
static bool only_padding_before(const gufo_writer *w, uint64_t index, uint64_t position)
{
    const planned_tensor *tensor = writer_tensor(w, index);

    if (position == w->stream_position)
        return true;
    if (position != tensor->offset || position < w->stream_position)
        return false;
    for (; index > 0; index--) {
        const planned_tensor *before = writer_tensor(w, index - 1);

        if (before->size > 0)
            return w->stream_position == before->offset + before->size;
    }
    return w->stream_position == w->layout.data_offset;
}

static gufo_status stream_write(gufo_writer *w, uint64_t index, uint64_t offset, const void *data,
                                size_t size, gufo_error *error)
{
    uint64_t position = writer_tensor(w, index)->offset + offset;
    gufo_status status;

    if (!only_padding_before(w, index, position))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "a stream takes data in order: byte %" PRIu64 " is next, not %" PRIu64,
                         w->stream_position, position);
    status = pad_stream(w, position, error);
    return status == GUFO_OK ? send(w, data, size, error) : status;
}

static const char *no_output(const gufo_writer *w)
{
    return w->used ? "the output of the writer has ended, or failed before"
                   : "the writer has no output";
}

/* Notes that bytes of a tensor have been written. */
static gufo_status note_written(gufo_writer *w, const planned_tensor *tensor, uint64_t offset,
                                uint64_t size, gufo_error *error)
{
    uint64_t begin = tensor->offset + offset, end = begin + size;
    bool noted;

    if (offset + size == tensor->size)
        (void)checked_align(end, w->alignment, &end);
    (void)pthread_mutex_lock(&w->written_lock);
    noted = ranges_add(&w->written, begin, end);
    (void)pthread_mutex_unlock(&w->written_lock);
    return noted ? GUFO_OK : fail_memory(error);
}

/* Whether bytes [offset, offset + size) of tensor `index` can be taken. */
static gufo_status check_place(const gufo_writer *w, uint64_t index, uint64_t offset, uint64_t size,
                               gufo_error *error)
{
    const planned_tensor *tensor;

    if (!w->open)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "%s", no_output(w));
    if (index >= w->tensors.count)
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "no tensor %" PRIu64, index);
    tensor = writer_tensor(w, index);
    if (!range_inside(offset, size, tensor->size))
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "tensor %" PRIu64 " has %" PRIu64 " bytes; %" PRIu64 " bytes from %" PRIu64
                         " do not fit",
                         index, tensor->size, size, offset);
    return GUFO_OK;
}

gufo_status gufo_writer_write(gufo_writer *w, uint64_t index, uint64_t offset, const void *data,
                              size_t size, gufo_error *error)
{
    gufo_status status = check_place(w, index, offset, size, error);
    const planned_tensor *tensor;

    if (status != GUFO_OK || size == 0)
        return status;
    tensor = writer_tensor(w, index);
    status = w->stream >= 0 ? stream_write(w, index, offset, data, size, error)
                            : output_write(&w->file, tensor->offset + offset, data, size, error);
    return status == GUFO_OK ? note_written(w, tensor, offset, size, error) : status;
}

/* ---- copies --------------------------------------------------------------------------------- */

enum { COPY_STEP = 1 << 20 };

/* Bytes of a tensor in `file`, which go to the same place of tensor `index`. */
typedef struct data_copy {
    uint64_t index;
    uint64_t offset, size;
    const gufo_file *file;
    const gufo_tensor *tensor;
    void *space; /* of COPY_STEP bytes */
    bool *read_failed;
} data_copy;

/* Reads and sends, because a stream takes nothing but writes. */
static gufo_status copy_to_stream(gufo_writer *w, const data_copy *copy, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t done = 0; done < copy->size && status == GUFO_OK;) {
        uint64_t at = copy->offset + done, rest = copy->size - done;
        size_t step = rest < COPY_STEP ? (size_t)rest : COPY_STEP;

        status = gufo_tensor_read(copy->file, copy->tensor, at, copy->space, step, error);
        *copy->read_failed = status != GUFO_OK;
        if (status == GUFO_OK)
            status = gufo_writer_write(w, copy->index, at, copy->space, step, error);
        done += step;
    }
    return status;
}

static gufo_status copy_to_file(gufo_writer *w, const data_copy *copy, gufo_error *error)
{
    const planned_tensor *planned = writer_tensor(w, copy->index);
    gufo_status status = move_bytes(&copy->file->source, copy->tensor->offset + copy->offset,
                                    copy->size, w->file.fd, planned->offset + copy->offset,
                                    copy->space, COPY_STEP, copy->read_failed, error);

    return status == GUFO_OK ? note_written(w, planned, copy->offset, copy->size, error) : status;
}

gufo_status gufo_writer_copy_data(gufo_writer *w, uint64_t index, uint64_t offset,
                                  const gufo_file *file, const gufo_tensor *tensor, uint64_t size,
                                  bool *read_failed, gufo_error *error)
{
    data_copy copy = {index, offset, size, file, tensor, NULL, read_failed};
    gufo_status status = check_place(w, index, offset, size, error);

    *read_failed = false;
    if (status != GUFO_OK || size == 0)
        return status;
    status = tensor_check_range(tensor, offset, size, error);
    *read_failed = status != GUFO_OK;
    if (status != GUFO_OK)
        return status;
    copy.space = mem_alloc(&w->allocator, COPY_STEP);
    if (copy.space == NULL)
        return fail_memory(error);
    status = (w->stream >= 0 ? copy_to_stream : copy_to_file)(w, &copy, error);
    mem_free(&w->allocator, copy.space);
    return status;
}

/* ---- the end -------------------------------------------------------------------------------- */

static gufo_status check_written(const gufo_writer *w, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    for (uint64_t i = 0; i < w->tensors.count; i++) {
        const planned_tensor *tensor = writer_tensor(w, i);

        if (!ranges_cover(&w->written, tensor->offset, tensor->offset + tensor->size))
            return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                             "tensor %s did not get all of its %" PRIu64 " bytes",
                             quote_name(quoted, planned_name(w, tensor)), tensor->size);
    }
    return GUFO_OK;
}

gufo_status gufo_writer_finish(gufo_writer *w, gufo_error *error)
{
    gufo_status status;

    if (!w->open)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "%s", no_output(w));
    status = check_written(w, error);
    if (w->stream >= 0) {
        if (status == GUFO_OK)
            status = pad_stream(w, w->layout.file_size, error);
    } else if (status == GUFO_OK)
        status = output_commit(&w->file, error);
    else
        output_discard(&w->file);
    w->open = false;
    return status;
}
