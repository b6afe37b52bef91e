/* The progress of a source whose size is unknown. */
#include "base/files/source.h"

#include "base/error.h"

gufo_status source_note(const source *s, uint64_t done, gufo_error *error)
{
    if (s->progress == NULL || s->progress(s->progress_context, done, 0))
        return GUFO_OK;
    return refuse(error, GUFO_E_STOPPED, "stopped");
}
