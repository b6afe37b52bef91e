/* Which files of a folder are a model's. */
#ifndef IMPORT_CONTAINERS_PARTS_H
#define IMPORT_CONTAINERS_PARTS_H

#include "import/containers/checkpoint.h"

typedef struct part_list {
    const gufo_allocator *allocator;
    import_bounds *bounds; /* of the files, lent; NULL: the default */
    char *folder;          /* without a slash at its end, but for "/" */
    char **names;          /* of files in the folder, in order */
    uint64_t count, room;
    checkpoint_layout layout;
    json_t *index;    /* the file's whole content; NULL: no index exists */
    char *index_path; /* where it is */
    bool index_named; /* by the user, so that it may be a symlink to any place */
} part_list;

/* Finds the files of the checkpoint in a folder, or of an index: they are there.  Freed with
 * parts_free, also after a failure. */
gufo_status parts_in_folder(part_list *parts, const char *folder, gufo_error *error);
gufo_status parts_of_index(part_list *parts, const char *path, gufo_error *error);
/* For a file that is named: only sets the folder that it is in, and the layout. */
gufo_status parts_beside(part_list *parts, const char *path, gufo_error *error);
void parts_free(part_list *parts);

/* Whether a folder has such files; *layout is that of the first one. */
bool parts_recognise(const char *folder, checkpoint_layout *layout);

/* The tensors of all files are those that the index lists, where it lists them. */
gufo_status parts_compare(const part_list *parts, const checkpoint *c, gufo_error *error);

#endif
