/* How work is run, as the rooms see it. */
#ifndef CODEC_RUN_H
#define CODEC_RUN_H

#include "gufo/run.h"

#include "base/error.h"
#include "base/memory.h"

/* That of the caller, or the default for NULL. */
static inline const gufo_run *run_of(const gufo_run *run)
{
    static const gufo_run standard = {0};

    return run != NULL ? run : &standard;
}

/* GUFO_E_ARGUMENT for fields that this version does not know. */
static inline gufo_status run_check(const gufo_run *run, gufo_error *error)
{
    return reserved_check(run->reserved, "gufo_run", error);
}

static inline const gufo_allocator *run_allocator(const gufo_run *run)
{
    return mem_allocator(run->allocator);
}

/* Whether to continue, with `done` of `total`; GUFO_E_STOPPED if not. */
static inline gufo_status run_progress(const gufo_run *run, uint64_t done, uint64_t total,
                                       gufo_error *error)
{
    if (run->progress == NULL || run->progress(run->progress_context, done, total))
        return GUFO_OK;
    return refuse(error, GUFO_E_STOPPED, "stopped");
}

#endif
