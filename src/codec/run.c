/* How work is run, as programs ask. */
#include "codec/run.h"

#include "base/threads.h"

unsigned gufo_run_threads(const gufo_run *run)
{
    return thread_count(run_of(run)->threads);
}
