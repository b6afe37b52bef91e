/* What the work and the reports of gufo diff share. */
#include "cli/diff/diff.h"

#include "cli/core/terminal/stdout.h"

const diff_note diff_notes[DIFF_NOTES] = {
    {GUFO_NOTE_KEY_ORDER, "key_order", "keys are in another order"},
    {GUFO_NOTE_TENSOR_ORDER, "tensor_order", "tensors are in another order"},
    {GUFO_NOTE_VERSION, "version", "versions of the format differ"},
    {GUFO_NOTE_BYTE_ORDER, "byte_order", "byte orders differ"},
    {GUFO_NOTE_SHARDS, "shards", "numbers of shards differ"},
};

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
