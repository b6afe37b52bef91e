/* Writing a file so that the target is either the old file or the new one, never a mixture.
 *
 * Bytes go to a temporary file in the target's folder.  Commit syncs it and renames it to the
 * target; discard removes it.  A target that is a symlink is followed: the file it names is
 * replaced.
 *
 * Long work names its temporary file after the target, so that it can be found and continued:
 *
 *     output_find          finds the target, and checks whether it may be replaced
 *     output_open_part     TARGET.part, new or left over
 */
#ifndef GUFO_BASE_OUTPUT_H
#define GUFO_BASE_OUTPUT_H

#include "base/files/guard.h"

typedef struct output {
    int fd;          /* -1: none */
    char *target;    /* symlinks followed */
    char *temporary; /* beside it */
    bool replace;
    bool keep;       /* discard, and a commit that fails, leave the temporary file */
    bool exists;     /* there is a target, which gives its rights to the new file */
    bool is_private; /* only we may read it, whatever it replaces */
    char *old;       /* where an interrupted commit has put it (commit.h); NULL: nowhere */
    bool named;      /* an interrupted commit has given it its name already (commit.h) */
    uint64_t place;  /* the same for two targets that are the same name in the same folder */
    const gufo_allocator *allocator;
    /* Where signal handlers find `temporary`, or NULL: cleared once that is not a file any more. */
    const char *volatile *listed;
} output;

/* Creates the temporary file and reserves `size` bytes for it, which read as zeros.  GUFO_E_EXISTS
 * if the target exists and `replace` is false, or is not a regular file; GUFO_E_ARGUMENT if it is a
 * file that `guard` (may be NULL) holds, or the journal of an edit is beside it (pending.h).  On
 * failure nothing is left. */
gufo_status output_open(output *output, const char *path, bool replace, uint64_t size,
                        const gufo_guard *guard, const gufo_allocator *allocator,
                        gufo_error *error);

/* The two halves of it: finds the file that is meant and checks as above, but makes nothing yet;
 * creates the temporary file of an output that was found. */
gufo_status output_find(output *output, const char *path, bool replace, const gufo_guard *guard,
                        const gufo_allocator *allocator, gufo_error *error);
/* Without `reserve` it gets its size, but no space on the disk. */
gufo_status output_create(output *output, uint64_t size, bool reserve, gufo_error *error);
/* The target's path with `suffix` appended, which the caller frees with the allocator; NULL without
 * memory. */
char *output_beside(const output *output, const char *suffix);
/* Opens TARGET.part: an existing one if `again`, which must be our own file of one name (trust.h),
 * else it must not exist.  It gets `size` bytes, as above. */
gufo_status output_open_part(output *output, bool again, uint64_t size, bool reserve,
                             gufo_error *error);

/* Writes at any place, from any thread. */
gufo_status output_write(const output *output, uint64_t offset, const void *data, size_t size,
                         gufo_error *error);

/* Gives the file its rights, syncs and closes it, so that commit has nothing left to do but to name
 * it: for several files that are named together. */
gufo_status output_close(output *output, gufo_error *error);

/* Puts the file in place; on failure nothing is left. */
gufo_status output_commit(output *output, gufo_error *error);

/* The steps of a commit, for commit.h: names a file that was closed; syncs; frees what an output
 * holds. */
gufo_status output_take_name(const output *output, gufo_error *error);
/* Gives a file another name, which must not exist (GUFO_E_EXISTS); its old name may stay beside it. */
gufo_status output_give_new_name(const char *file, const char *name, gufo_error *error);
/* Waits until the names in the targets' folders are on disk: usually there is one folder, and only symlinks
 * lead to others.  File systems that cannot sync folders are not failures, and neither is a folder that we
 * may write to but not read.  *failed is set where it fails. */
gufo_status output_sync_folders(const output *files, size_t count, size_t *failed,
                                gufo_error *error);
void output_forget(output *output);

/* Removes an output that was not committed (unless `keep` is set); nothing to do for one that was,
 * or never opened. */
void output_discard(output *output);

/* GUFO_E_ARGUMENT for flags that do not exist, and reserved fields. */
gufo_status save_options_check(const gufo_save_options *options, gufo_error *error);

/* Writes all of `data` to a descriptor: at that byte of a file, from any thread; with GUFO_NO_OFFSET
 * at its current position. */
gufo_status output_write_at(int fd, uint64_t offset, const void *data, size_t size,
                            gufo_error *error);

#endif
