/* A unit that is copied byte for byte: by the system from file to file where it can, else through
 * a buffer. */
#include "quant/quantizer.h"

#include "base/move.h"
#include "format/file.h"

gufo_status unit_copy(quant_worker *worker, const quant_unit *unit, gufo_error *error)
{
    const gufo_quantizer *q = worker->q;
    const quant_tensor *tensor = unit->tensor;
    const gufo_file *file = gufo_set_shard(q->input, tensor->shard);
    const quant_output *out = &q->outputs[tensor->output];
    uint64_t place, size;
    gufo_status status;
    bool read_failed;

    (void)gufo_writer_tensor(out->writer, tensor->output_index, &place, &size);
    status = move_bytes(&file->source, tensor->source.offset + unit->from, unit->from_size,
                        out->file->fd, place + unit->to, worker->source, worker->source_size,
                        &read_failed, error);
    if (status != GUFO_OK && !read_failed)
        worker->blame = BLAME_OUTPUT;
    return status;
}
