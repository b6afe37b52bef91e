/* An edit of a file: the interface between the files of the edit.
 *
 *     journal.c   the journal; whether an edit is going on, or was interrupted
 *     open.c      the file, its lock, its document, and obstacles to changing it in place
 *     check.c     what the edit breaks
 *     plan.c      which way to write
 *     inplace.c   ways 1 and 2; way 3, streams, and trying one after another
 *     recover.c   after an interruption */
#ifndef GUFO_EDIT_EDIT_H
#define GUFO_EDIT_EDIT_H

#include "format/document/document.h"
#include "gufo/edit.h"

struct gufo_edit {
    gufo_allocator allocator;
    char *path;      /* as it was given */
    char *real_path; /* symlinks followed */
    int fd;          /* -1: read only */
    bool writable;   /* `fd` is */
    bool leased;
    gufo_model *model;
    gufo_document *document; /* made from it */
    bool applied;
};

/* ---- open.c --------------------------------------------------------------------------------- */

/* Opens for writing if that is permitted, else for reading, and locks.  `*writable` says which. */
gufo_status edit_open_locked(const char *path, int *fd, bool *writable, gufo_error *error);

/* GUFO_E_ARGUMENT without a path, and for options that are not zero or not among the `known`
 * flags. */
gufo_status edit_check_options(const char *path, const gufo_edit_options *options, uint32_t known,
                               gufo_error *error);

/* Takes the lease of the file.  Returns the obstacle to writing in place (static, or in `room`),
 * NULL for nothing. */
const char *edit_obstacle(gufo_edit *edit, char room[160]);
void edit_give_back(gufo_edit *edit);

/* ---- journal.c ------------------------------------------------------------------------------ */

/* GUFO_E_ARGUMENT while the file is being edited, or if an edit of it was interrupted.  `locked`:
 * the lock of the file is ours. */
gufo_status edit_check_settled(const char *path, bool locked, gufo_error *error);

/* ---- plan.c --------------------------------------------------------------------------------- */

/* GUFO_E_ARGUMENT for what no way can write. */
gufo_status edit_check_call(const gufo_edit *edit, const gufo_edit_target *target,
                            gufo_error *error);

/* Fills in the plan, lays the document out for it, and keeps the lease if the way is in place. */
gufo_status edit_choose(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *plan,
                        gufo_error *error);
/* The same for a rewrite: after another way that proved impossible, or, if `shared`, to where
 * blocks can be shared. */
gufo_status edit_choose_rewrite(gufo_edit *edit, const gufo_edit_target *target, bool shared,
                                gufo_edit_plan *plan, gufo_error *error);

/* ---- inplace.c ------------------------------------------------------------------------------ */

/* What was done to the file. */
typedef enum in_place_outcome {
    IN_PLACE_DONE,
    IN_PLACE_UNTOUCHED, /* the file is the old one */
    IN_PLACE_CLOSED,    /* the same, and a rewrite may still succeed */
    IN_PLACE_BROKEN,    /* the journal stays, and has to be recovered from */
} in_place_outcome;

enum { MAGIC_SIZE = 4 }; /* without them it is not a GGUF file */

gufo_status edit_sync(int fd, gufo_error *error);
/* Writes the first `size` bytes of a file, in such an order that it is not a GGUF file before all
 * of them are on disk. */
gufo_status edit_put_header(int fd, const uint8_t *header, uint64_t size, gufo_error *error);

#endif
