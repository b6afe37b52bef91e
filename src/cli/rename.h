/* Giving several files new names: all of them, or none. */
#ifndef CLI_RENAME_H
#define CLI_RENAME_H

#include "gufo/base.h"

typedef struct rename_move {
    const char *from, *to; /* differ, and are in the same folder */
    char *aside;           /* where a file that was named `to` waits; NULL: there was none */
    bool is_aside, is_moved;
} rename_move;

/* Gives every file its new name.  A file that has one of these names already is replaced only if
 * `force` is set, and only when all files have their names: GUFO_E_EXISTS otherwise, and
 * GUFO_E_ARGUMENT if it is neither a regular file nor a link.  On failure all names are as they were,
 * or the message says which are not; *failed_path is the path that the error is about.  Signals that
 * end the program must not come meanwhile. */
gufo_status rename_all(rename_move *moves, size_t count, bool force, const char **failed_path,
                       gufo_error *error);
/* Frees what rename_all has put into the list. */
void rename_free(rename_move *moves, size_t count);

#endif
