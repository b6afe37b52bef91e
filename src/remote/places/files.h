/* The files of a repository: a list, of which one is chosen by its element type. */
#ifndef REMOTE_PLACES_FILES_H
#define REMOTE_PLACES_FILES_H

#include "gufo/base.h"

enum { PLACE_MOST_FILES = 1 << 20, PLACE_SHA256 = 64 };

typedef struct place_file {
    char *path;                    /* in the repository; it passes address_is_path */
    uint64_t size;                 /* GUFO_NO_OFFSET: not known */
    char sha256[PLACE_SHA256 + 1]; /* of its bytes; "": not known */
} place_file;

/* {0} with an allocator is an empty one. */
typedef struct place_files {
    place_file *list;
    uint64_t count, room;
    uint64_t left_out; /* files whose names are not paths */
    const gufo_allocator *allocator;
} place_files;

/* Adds a file, or counts it as left out.  `sha256` is taken if it is one.  GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status place_files_add(place_files *files, gufo_str path, uint64_t size, gufo_str sha256,
                            gufo_error *error);
void place_files_free(place_files *files);
/* Orders them by path. */
void place_files_sort(place_files *files);

/* The model of an element type, which may be written in any case: a GGUF file, or the first shard of a set,
 * whose path has the type as a word of its own; of several the one with the shortest path.  "latest" is
 * Q4_K_M, or else the first one.  NULL: none. */
const place_file *place_files_choose(const place_files *files, gufo_str type);
/* Says that it has none, and what else it has.  GUFO_E_NOT_FOUND. */
gufo_status place_files_refuse(const place_files *files, gufo_str type, gufo_error *error);

#endif
