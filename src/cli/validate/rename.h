/* Giving several files new names: all of them, or none. */
#ifndef CLI_VALIDATE_RENAME_H
#define CLI_VALIDATE_RENAME_H

#include "base/files/guard.h"

typedef struct rename_move {
    const char *from, *to; /* differ, and are in the same folder */
} rename_move;

/* Gives every file its new name; the first one, without which a set does not open, comes last.  A
 * file that has one of these names already is replaced only if `force` is set: GUFO_E_EXISTS
 * otherwise, and GUFO_E_ARGUMENT if it is neither a regular file nor a link, or one of the files
 * that `kept` (may be NULL) holds.  On failure all names are as they were,
 * or the message says which are not; *failed_path is the path that the error is about.  Signals
 * that end the program must not come meanwhile. */
gufo_status rename_all(const rename_move *moves, size_t count, bool force, const output_guard *kept,
                       const char **failed_path, gufo_error *error);

#endif
