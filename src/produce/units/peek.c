/* Rows of a piece that passes its bytes, without a run: models show what a job would write. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "produce/units/work.h"

/* Rows of a transposed piece are columns of its sources. */
static gufo_status peek_columns(const gufo_job *job, const piece *p, uint64_t row, uint64_t count,
                                uint8_t *out, gufo_error *error)
{
    size_t cell = cell_size(p), size = (size_t)count * cell;
    uint8_t *part = mem_alloc(&job->allocator, size);
    gufo_status status = part != NULL ? GUFO_OK : fail_memory(error);

    for (uint64_t column = 0; column < p->columns && status == GUFO_OK; column++) {
        row_run run = rows_find(p, column, 1);

        status = rows_read_part(job, &run, row * cell, size, part, error);
        for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
            memcpy(out + (i * p->columns + column) * cell, part + i * cell, cell);
    }
    mem_free(&job->allocator, part);
    return status;
}

gufo_status job_peek(const gufo_job *job, uint64_t index, uint64_t row, uint64_t count, void *out,
                     gufo_error *error)
{
    const piece *p = &job->pieces[index];

    return p->transpose ? peek_columns(job, p, row, count, out, error)
                        : rows_gather(job, p, row, count, out, error);
}
