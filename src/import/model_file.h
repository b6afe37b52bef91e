/* Files of a model folder.  A folder may be a stranger's: its names, and its symlinks, lead to files in it
 * and nowhere else, unless the user wants that.
 *
 * One shape of links that lead out is known: the caches of Hugging Face's tools keep the files of a
 * repository once, for all its revisions.
 *
 *     models--ORG--NAME/snapshots/REVISION/config.json -> ../../blobs/HASH
 *     models--ORG--NAME/blobs/HASH
 *
 * Such a link is followed if what it leads to is a file, in that folder, of the owner of the link. */
#ifndef IMPORT_MODEL_FILE_H
#define IMPORT_MODEL_FILE_H

#include <dirent.h>

#include "gufo/base.h"

/* What reading the files of one model may take and reach. */
typedef struct import_bounds {
    /* Bytes of memory for all of them together.  Nothing is given back: a file whose values are gone
     * again was large all the same. */
    uint64_t left;
    bool follow; /* symlinks lead to any place */
} import_bounds;

/* Opens FOLDER/NAME for reading.  GUFO_E_MALFORMED, with GUFO_ADVICE_FOLLOW, where the name leads out of
 * the folder, unless `bounds` (NULL: the default) follow it; GUFO_E_IO.  A folder is opened, too: reading
 * says what it is.  Without `folder` the user has named the file, which may be anywhere. */
gufo_status model_file_open(const char *folder, const char *name, const import_bounds *bounds,
                            int *fd, gufo_error *error);
/* Opens a folder in it to list it, as above; *listing is NULL, with GUFO_OK, if there is none. */
gufo_status model_file_list(const char *folder, const char *name, const import_bounds *bounds,
                            DIR **listing, gufo_error *error);
/* Whether something has that name: a file, or a symlink, which may lead nowhere. */
bool model_file_exists(const char *folder, const char *name);

#endif
