/* Which files of a folder are a model's. */
#ifndef IMPORT_CONTAINERS_PARTS_H
#define IMPORT_CONTAINERS_PARTS_H

#include "import/containers/checkpoint.h"

enum { INDEX_NAME = 64 };

typedef struct part_list {
    const gufo_allocator *allocator;
    import_bounds *bounds; /* of the files, lent; NULL: the default */
    const model_place *place;
    char **names; /* of files in the folder, in order; none with `is_single` */
    uint64_t count, room;
    checkpoint_layout layout;
    bool is_single; /* the file of the place itself */
    json_t *index;  /* the file's whole content; NULL: no index exists */
    /* Where it is; one that the user names may be a symlink to any place. */
    const source_folder *index_folder;
    const char *index_name;
    char own_name[INDEX_NAME]; /* made of that of the files */
} part_list;

/* Finds the files of the checkpoint in a place, which outlives the list: they are there.  Freed with
 * parts_free, also after a failure. */
gufo_status parts_find(part_list *parts, const model_place *place, gufo_error *error);
void parts_free(part_list *parts);

/* Whether a folder has such files; *layout is that of the first one. */
bool parts_recognise(const source_folder *folder, checkpoint_layout *layout);

/* The tensors of all files are those that the index lists, where it lists them. */
gufo_status parts_compare(const part_list *parts, const checkpoint *c, gufo_error *error);

#endif
