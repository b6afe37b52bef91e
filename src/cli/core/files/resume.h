/* Runs that are interrupted and continued: what the commands that keep a journal have in common. */
#ifndef CLI_CORE_FILES_RESUME_H
#define CLI_CORE_FILES_RESUME_H

#include "cli/core/options/options.h"

#include "gufo/produce.h"

/* The flags of a job with a journal: the same command continues what it has left, if nobody else can
 * have written it; `asked` (--resume) whatever it is, or says why not; --force starts over. */
uint32_t resume_flags(const shared_options *shared, bool asked);
/* For gufo_job_options.on_continue: says from where `path`, the context, is continued. */
void resume_announce(void *path, uint64_t done, uint64_t total);
/* Whether the journal of a run is beside the output: then only the run finds out whether an output
 * that exists is its own. */
bool resume_is_left(const char *path);

/* Reports that a signal has stopped the run, and the command that continues it.  Returns
 * CODE_INTERRUPTED. */
int resume_interrupted(const char *path, const shared_options *shared, bool asked);
/* Advice against `path`, which exists: the journal of a run, or an output. */
const char *resume_hint(const char *path);

#endif
