/* Runs that are interrupted and continued. */
#include "cli/core/files/resume.h"

#include "base/files/output.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/core/values/human.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"
#include "cli/core/files/save.h"

static const char suffix[] = ".part.journal";

uint32_t resume_flags(const shared_options *shared, bool asked)
{
    return GUFO_JOB_RESUMABLE | (shared->force ? GUFO_JOB_REPLACE : GUFO_JOB_CONTINUE) |
           (asked ? GUFO_JOB_RESUME : 0u);
}

void resume_announce(void *path, uint64_t done, uint64_t total)
{
    double part = total > 0 ? (double)done / (double)total : 1;

    report_note(path, "continues an interrupted run at %u %% (%s of %s)", (unsigned)(100 * part),
                human_file_size(done).text, human_file_size(total).text);
}

bool resume_is_left(const char *path)
{
    char *journal;
    output target;
    bool left;

    if (save_is_stream(path) ||
        output_find(&target, path, true, NULL, &default_allocator, NULL) != GUFO_OK)
        return false;
    journal = output_beside(&target, suffix);
    left = journal != NULL && path_exists(journal);
    mem_free(&default_allocator, journal);
    output_discard(&target);
    return left;
}

int resume_interrupted(const char *path, const shared_options *shared, bool asked)
{
    return report_as(
        CODE_INTERRUPTED, path,
        "interrupted; the finished part is kept beside it; the same command %scontinues",
        shared->force && !asked ? "with --resume " : "");
}

const char *resume_hint(const char *path)
{
    if (save_is_stream(path)) /* or a folder */
        return "";
    return str_ends(gufo_str_of(path), suffix) ? " (--resume continues it, --force starts over)"
                                               : " (--force replaces it)";
}
