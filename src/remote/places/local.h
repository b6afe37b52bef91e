/* What is on this machine already, in the caches of other programs.
 *
 *     huggingface  HUB/models--OWNER--NAME/refs/REVISION             the commit, a text
 *                                         /snapshots/COMMIT/PATH -> ../../blobs/...
 *                                         /.no_exist/COMMIT/PATH     known to be absent
 *     ollama       MODELS/manifests/HOST/OWNER/NAME/TAG, which names MODELS/blobs/sha256-...
 *     LM Studio    FOLDER/OWNER/NAME/PATH
 *     llama.cpp    FOLDER/OWNER_NAME_PATH, or the layout of huggingface
 *
 * Nobody is asked whether it is still the newest: who wants that names a commit, or leaves the caches out. */
#ifndef REMOTE_PLACES_LOCAL_H
#define REMOTE_PLACES_LOCAL_H

#include <limits.h>

#include "remote/places/address.h"
#include "remote/places/files.h"

/* Folders; NULL is none. */
typedef struct local_folders {
    const char *hub, *ollama;
    const char *const *others; /* ends with NULL */
} local_folders;

typedef enum local_answer {
    LOCAL_NOTHING,
    LOCAL_FILE,
    LOCAL_FOLDER, /* a repository, as much of it as is there */
    LOCAL_ABSENT, /* the service has said before that it has no such file */
} local_answer;

typedef struct local_place {
    char path[PATH_MAX];
    char commit[PLACE_SHA256 + 1]; /* "": not known */
    char sha256[PLACE_SHA256 + 1]; /* "": not known */
    uint64_t size;                 /* of a file */
    const char *cache;             /* "huggingface", "ollama", "LM Studio", "llama.cpp" */
} local_place;

/* Looks for what an address names.  A file that begins a set counts if the others are there, too. */
local_answer local_find(const address *a, const local_folders *folders, local_place *out);

/* Lists the files below a folder, in order. */
gufo_status local_list(const char *folder, place_files *files, gufo_error *error);

#endif
