/* A unit that is copied byte for byte: by the system from file to file where it can, else through
 * a buffer. */
#include "quant/quantizer.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "format/file.h"

#ifdef __linux__
/* Linux 4.5, glibc 2.27, musl 1.1.19; not declared for POSIX.1-2008. */
ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t size,
                        unsigned flags);
#else
static ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t size,
                               unsigned flags)
{
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)size, (void)flags;
    errno = ENOSYS;
    return -1;
}
#endif

/* Copies as much as the system does by itself, and moves both offsets.  It may refuse for many
 * reasons (other file systems, old kernels); what is wrong in earnest shows when the rest is read
 * and written. */
static uint64_t copy_by_system(const gufo_file *file, uint64_t from, int to_fd, uint64_t to,
                               uint64_t size)
{
    off_t from_offset = (off_t)from, to_offset = (off_t)to;
    uint64_t copied = 0;

    if (file->source.fd < 0 || file->source.sequential)
        return 0;
    while (copied < size) {
        ssize_t n = copy_file_range(file->source.fd, &from_offset, to_fd, &to_offset,
                                    (size_t)(size - copied), 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        copied += (uint64_t)n;
    }
    return copied;
}

gufo_status gufo_unit_copy(quant_worker *worker, const quant_unit *unit, gufo_error *error)
{
    const gufo_quantizer *q = worker->q;
    const quant_tensor *tensor = unit->tensor;
    const gufo_file *file = gufo_set_shard(q->input, tensor->shard);
    const quant_output *out = &q->outputs[tensor->output];
    uint64_t place, size, done;

    (void)gufo_writer_tensor(out->writer, tensor->output_index, &place, &size);
    place += unit->to;
    done = copy_by_system(file, tensor->source.offset + unit->from, out->file.fd, place,
                          unit->from_size);
    while (done < unit->from_size) {
        uint64_t rest = unit->from_size - done;
        size_t step = (size_t)(rest < worker->source_size ? rest : worker->source_size);
        gufo_status status =
            gufo_tensor_read(file, &tensor->source, unit->from + done, worker->source, step, error);

        if (status != GUFO_OK)
            return status;
        status = gufo_output_write(&out->file, place + done, worker->source, step, error);
        if (status != GUFO_OK) {
            worker->blame = BLAME_OUTPUT;
            return status;
        }
        done += step;
    }
    return GUFO_OK;
}
