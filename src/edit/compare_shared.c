/* What comparing bytes and comparing numbers share: threads, progress, reading. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/run.h"
#include "edit/compare.h"

enum { WORK_BYTES = 24 << 20 }; /* of all threads together */

gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error)
{
    if (c->done + part > c->shown)
        c->shown = c->done + part;
    return run_progress(c->run, c->shown, c->total, error);
}

gufo_status compare_run(const comparing *c, parallel_loop *loop, size_t bytes, void **memory,
                        gufo_error *error)
{
    uint64_t threads = thread_count(c->run->threads);
    gufo_status status;

    loop->threads = (unsigned)smaller(smaller(threads, WORK_BYTES / bytes), loop->end);
    *memory = mem_alloc(c->allocator, loop->threads * bytes);
    if (*memory == NULL)
        return fail_memory(error);
    status = parallel_run(loop, c->allocator, error);
    mem_free(c->allocator, *memory);
    return status;
}

gufo_status compare_side(unsigned number, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK && error != NULL && number > 0 && error->role == GUFO_FILE_INPUT)
        error->role = GUFO_FILE_SECOND_INPUT;
    return status;
}

gufo_status compare_read(const compared_side *side, uint64_t offset, void *buffer, uint64_t size,
                         gufo_error *error)
{
    gufo_status status =
        gufo_tensor_read_raw(side->model, side->tensor, offset, buffer, (size_t)size, error);

    return compare_side(side->number, status, error);
}
