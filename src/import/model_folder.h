/* The folder of a model.  It may be a stranger's: its names, and its symlinks, lead to files in it and nowhere
 * else, unless the user wants that.
 *
 * One shape of links that lead out is known: the caches of Hugging Face's tools keep the files of a
 * repository once, for all its revisions.
 *
 *     models--ORG--NAME/snapshots/REVISION/config.json -> ../../blobs/HASH
 *     models--ORG--NAME/blobs/HASH
 *
 * Such a link is followed if what it leads to is a file, in that folder, of the owner of the link. */
#ifndef IMPORT_MODEL_FOLDER_H
#define IMPORT_MODEL_FOLDER_H

#include <limits.h>

#include "base/files/source_folder.h"

/* The folder at `path` on disk, which is lent.  A name that leads out of it is GUFO_E_MALFORMED with
 * GUFO_ADVICE_FOLLOW, unless `follow` is set. */
source_folder model_folder(gufo_str path, bool follow);

/* What the user names: the folder of a model, or a file, which may be anywhere, with the files beside it. */
typedef struct model_place {
    source_folder folder;
    const char *file;   /* NULL: the folder was named */
    source_folder from; /* what opens `file` */
} model_place;

/* Of a path on disk, which is lent. */
model_place model_place_of(const char *path, bool follow);

/* Names it in a failure that names no file yet. */
void model_place_fail_in(const model_place *place, gufo_error *error);

#define HUB_ADDRESS "https://huggingface.co/"

/* What a folder is called, which says something about the model in it. */
typedef struct folder_name {
    char id[NAME_MAX + 1]; /* of the model; "": the folder has no name that can be used */
    bool from_hub;         /* it is that of a repository of Hugging Face */
} folder_name;

/* By `called`, or by the path: "." and paths that end in slashes have a name as well. */
void folder_name_read(const source_folder *folder, folder_name *out);

/* The name as a text: "NAME", of a repository "https://huggingface.co/ORGANIZATION/NAME", or "". */
enum { FOLDER_NAME_ROOM = NAME_MAX + sizeof HUB_ADDRESS };
void folder_name_write(const folder_name *name, char out[FOLDER_NAME_ROOM]);
/* And back; false if that is not the name of a folder. */
bool folder_name_parse(gufo_str text, folder_name *out);
/* Calls a folder as the caller does; NULL: as it was.  Its name, as a text, is in `own`, which outlives it. */
void folder_name_settle(source_folder *folder, const char *called, char own[FOLDER_NAME_ROOM]);

#endif
