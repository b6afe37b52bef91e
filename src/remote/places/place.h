/* Where something is that an address names: in a cache of this machine, or at an address of the web.
 *
 *     text -> address (its grammar) -> caches -> what the service says, if it has to be asked
 *
 * A service is asked only where the address does not say it all: for a file of an element type (a list of
 * files), and for a model of a registry (its manifest). */
#ifndef REMOTE_PLACES_PLACE_H
#define REMOTE_PLACES_PLACE_H

#include "remote/http/headers.h"
#include "remote/places/address.h"
#include "remote/places/files.h"
#include "remote/places/local.h"
#include "remote/remote.h"

typedef struct place {
    address address; /* with the path of the file that was chosen; its url is a view of the text */
    local_answer here;       /* LOCAL_FILE, LOCAL_FOLDER: at local.path; LOCAL_NOTHING: at `url` */
    local_place local;       /* its commit is empty where no cache says it */
    char url[HTTP_URL_SIZE]; /* of a file, or, of a folder, of the list of its files */
    uint64_t size;           /* GUFO_NO_OFFSET: not known */
    char sha256[PLACE_SHA256 + 1]; /* of its bytes; "": not known */
} place;

/* Finds it.  GUFO_E_NOT_FOUND: the service has no such thing; GUFO_E_IO: it refuses, or may not be asked;
 * GUFO_E_ARGUMENT: it is not an address; and what http_get says. */
gufo_status place_find(gufo_remote *remote, const char *text, place *out, gufo_error *error);

/* Lists the files of a repository, in order; of a folder in it, those below. */
gufo_status place_list(gufo_remote *remote, const place *folder, place_files *files,
                       gufo_error *error);

/* Another file of the same repository and revision, whose path passes address_is_path. */
gufo_status place_beside(gufo_remote *remote, const place *folder, const char *path, place *out,
                         gufo_error *error);

#endif
