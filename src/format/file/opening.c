/* Several threads may open files of a model; their progress is one. */
#include "format/file/file.h"

void opening_init(opening_state *o, const gufo_open_options *options)
{
    *o = (opening_state){.options = options};
    mutex_init(&o->lock);
}

void opening_end(opening_state *o)
{
    mutex_destroy(&o->lock);
}

bool opening_note(opening_state *o, uint64_t *noted, uint64_t done)
{
    const gufo_run *run = o->options->run;
    bool goes_on;

    if (run == NULL || run->progress == NULL)
        return true;
    mutex_lock(&o->lock);
    if (done >= *noted && !o->stopped) { /* no more where a pipe sends nothing */
        o->done += done - *noted;
        *noted = done;
        o->stopped = !run->progress(run->progress_context, o->done, 0);
    }
    goes_on = !o->stopped;
    mutex_unlock(&o->lock);
    return goes_on;
}
