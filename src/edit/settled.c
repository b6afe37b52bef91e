/* Whether an edit of a file is going on, or was interrupted. */
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/pending.h"
#include "edit/edit.h"
#include "edit/journal.h"

/* What the journal says about the file, no matter who holds its lock. */
static gufo_edit_state look(const char *path)
{
    /* Recovery reports that the file was changed since, or that it does not know the format. */
    static const gufo_edit_state states[] = {[JOURNAL_COMPLETE] = GUFO_EDIT_STATE_INTERRUPTED,
                                             [JOURNAL_UNFIT] = GUFO_EDIT_STATE_INTERRUPTED,
                                             [JOURNAL_UNKNOWN] = GUFO_EDIT_STATE_INTERRUPTED};
    const char *obstacle;
    journal_name journal;
    struct stat info;

    if (edit_journal_find(&journal, path, NULL) != GUFO_OK || stat(path, &info) != 0)
        return GUFO_EDIT_STATE_SETTLED;
    return states[edit_journal_look(journal.text, &info, &obstacle)];
}

gufo_edit_state gufo_edit_pending(const char *path)
{
    gufo_edit_state state = path != NULL ? look(path) : GUFO_EDIT_STATE_SETTLED;

    if (state != GUFO_EDIT_STATE_INTERRUPTED || !pending_is_locked(path))
        return state;
    /* It may have ended between the two questions. */
    return look(path) == GUFO_EDIT_STATE_SETTLED ? GUFO_EDIT_STATE_SETTLED : GUFO_EDIT_STATE_LIVE;
}

gufo_status edit_check_settled(const char *path, bool locked, gufo_error *error)
{
    static const char *const sentences[] = {
        [GUFO_EDIT_STATE_LIVE] = "the file is being edited",
        [GUFO_EDIT_STATE_INTERRUPTED] = "an edit of the file was interrupted; recover it first",
    };
    gufo_edit_state state = locked ? look(path) : gufo_edit_pending(path);

    return state == GUFO_EDIT_STATE_SETTLED
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "%s", sentences[state]);
}
