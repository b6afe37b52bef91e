/* Work on many threads with the result of one.
 *
 * A loop is cut into parts by its index.  Threads take the parts in order and work on them side by
 * side; results are passed on in the order of the index, by one thread at a time:
 *
 *     work      0  1  2  3  4  5 ...      any thread, begun in order, ended in any order
 *     pass on   0, 1, 2, 3, 4, 5 ...      strictly one after the other
 *
 * Sums that are added up at that point, and the error of a loop in which several parts fail,
 * therefore do not depend on the number of threads. */
#ifndef GUFO_BASE_THREADS_H
#define GUFO_BASE_THREADS_H

#include "gufo/base.h"

/* As many threads as somebody asks for; of 0 the number of processors that this process could use when
 * that was asked for the first time. */
unsigned thread_count(unsigned asked);

/* The processors that this thread may run on (sched_getaffinity), or as many as the processor time of the
 * control groups that the process is in is worth, rounded up, if these are fewer; at least 1.  `root` is
 * the folder with /proc/self/cgroup and /sys/fs/cgroup, of version 1, 2 or both; "" for those of the
 * system.  What cannot be read there, or is not a limit, limits nothing. */
unsigned processors_usable(const char *root);

typedef struct parallel_loop {
    uint64_t begin, end; /* of the index */
    unsigned threads;    /* at most; the calling thread is one of them.  0 means 1 */
    size_t result_size;  /* bytes of a part's result; may be 0 */
    void *context;       /* for both functions */
    /* Part `index` on thread number `thread` (0 to threads - 1), into `result`, which is zeroed. */
    gufo_status (*work)(void *context, unsigned thread, uint64_t index, void *result,
                        gufo_error *error);
    /* Takes the result of a part that succeeded, after all parts before it; NULL: nothing to take.
     */
    gufo_status (*hand_over)(void *context, uint64_t index, const void *result, gufo_error *error);
    /* Frees the result of a part that succeeded and is not passed on, because one before it failed; NULL:
     * nothing to free. */
    void (*drop)(void *context, void *result);
} parallel_loop;

/* Runs the loop and returns when all threads are done.  After a failure no further part is begun;
 * those that had begun are finished, the results of all parts before the first one that failed are
 * passed on, and its error is returned.  Where threads cannot be started, fewer work. */
gufo_status parallel_run(const parallel_loop *loop, const gufo_allocator *allocator,
                         gufo_error *error);

#endif
