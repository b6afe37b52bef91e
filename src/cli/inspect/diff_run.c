/* How the library works for gufo diff. */
#include "cli/inspect/diff.h"

#include "cli/core/stdout.h"

static bool step_while_read(void *bar, uint64_t done, uint64_t total)
{
    return progress_step(bar, done, total) && !stdout_broken();
}

gufo_run diff_run(const diff_options *options, progress *bar)
{
    gufo_run run = progress_run(bar, options->base.shared);

    run.cpu = options->cpu;
    if (options->report == NULL)
        run.progress = step_while_read;
    return run;
}
