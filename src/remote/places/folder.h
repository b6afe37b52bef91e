/* The folder of a model on another machine: a repository, or a folder of any web server.
 *
 * A service lists the files of a repository.  A web server lists nothing: files of models have known names, of which
 * each is asked for once, and the index of a checkpoint names the others.
 *
 * A file is opened once and stays open as long as the folder, so that no byte of it is fetched twice for another
 * reader. */
#ifndef REMOTE_PLACES_FOLDER_H
#define REMOTE_PLACES_FOLDER_H

#include "remote/places/place.h"

typedef struct folder_file {
    char *name; /* in the folder */
    bool opened;
    gufo_source source;
} folder_file;

typedef struct folder_files {
    folder_file *list;
    uint64_t count, room;
    const gufo_allocator *allocator;
} folder_files;

/* Adds a name that is not there yet, which passes address_is_path. */
gufo_status folder_add(folder_files *files, gufo_str name, gufo_error *error);

/* Adds the files that an index of a checkpoint names, which may be any bytes.  GUFO_E_MALFORMED, GUFO_E_TRUNCATED,
 * GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status folder_add_index(folder_files *files, gufo_str text, gufo_error *error);

#endif
