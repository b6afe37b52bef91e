/* The parallel loop of a build without threads (-DGUFO_THREADS=OFF): one part after the other.
 *
 * What callers see is the same as of threads.c with one thread: results are passed on in order, and nothing is
 * begun after a failure. */
#include "base/threads.h"

#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"

unsigned thread_count(unsigned asked)
{
    (void)asked;
    return 1;
}

static gufo_status run_part(const parallel_loop *loop, uint64_t index, void *result,
                            gufo_error *error)
{
    gufo_status status;

    if (loop->result_size > 0)
        memset(result, 0, loop->result_size);
    status = loop->work(loop->context, 0, index, result, error);
    return status == GUFO_OK && loop->hand_over != NULL
               ? loop->hand_over(loop->context, index, result, error)
               : status;
}

gufo_status parallel_run(const parallel_loop *loop, const gufo_allocator *allocator,
                         gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_error ignored;
    void *result;

    if (loop->begin >= loop->end)
        return GUFO_OK;
    result = mem_alloc(allocator, loop->result_size + 1);
    if (result == NULL)
        return fail_memory(error);
    for (uint64_t i = loop->begin; i < loop->end && status == GUFO_OK; i++)
        status = run_part(loop, i, result, error != NULL ? error : &ignored);
    mem_free(allocator, result);
    return status;
}

void companion_start(companion *c, void *(*run)(void *context), void *context)
{
    (void)run, (void)context;
    c->running = false;
}

bool companion_wait(companion *c, mutex *m, unsigned seconds)
{
    (void)c, (void)m, (void)seconds;
    return false;
}

void companion_end(companion *c)
{
    (void)c;
}
