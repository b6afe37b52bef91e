/* What comparing bytes and comparing numbers share: threads, progress, reading. */
#include "base/threads.h"
#include "codec/run.h"
#include "edit/compare.h"

enum { WORK_BYTES = 24 << 20 }; /* of all threads together */

gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error)
{
    if (c->done + part > c->shown)
        c->shown = c->done + part;
    return run_progress(c->run, c->shown, c->total, error);
}

unsigned compare_threads(const comparing *c, size_t bytes, uint64_t parts)
{
    uint64_t threads = c->run->threads != 0 ? c->run->threads : thread_default_count();

    if (threads > WORK_BYTES / bytes)
        threads = WORK_BYTES / bytes;
    return (unsigned)(threads < parts ? threads : parts);
}

gufo_status compare_side(unsigned number, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK && error != NULL && number == 1 && error->role == GUFO_FILE_INPUT)
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
