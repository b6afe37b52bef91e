/* Files that are written as a whole or not at all, and never over one that is still needed.
 *
 *     gufo_save("report.txt", gufo_str_of(text), NULL, &error);
 *
 * The files of a job (produce.h) are written this way; these functions are for what a program writes
 * beside them, such as reports, plans and keys, and for names of sets of files. */
#ifndef GUFO_FILES_H
#define GUFO_FILES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_save_options gufo_save_options;

/* Writes a file: a temporary one in the same folder, which is synced and then gets the name, so that
 * `path` names the old file or the new one, and never a part of it.  A symlink is followed: the file
 * that it names is replaced.  A signal that ends the program meanwhile leaves the temporary file.
 * `options` may be NULL.  Any thread.
 *   GUFO_E_EXISTS    the file exists, without GUFO_SAVE_REPLACE; it is not a regular file
 *   GUFO_E_ARGUMENT  a file of the guard; one that is being edited (edit.h); links of strangers in a
 *                    folder where everybody may create files
 *   GUFO_E_IO, GUFO_E_MEMORY, GUFO_E_CHANGED for a folder that is exchanged meanwhile */
GUFO_API gufo_status gufo_save(const char *path, gufo_str bytes, const gufo_save_options *options,
                               gufo_error *error);

/* ---- files that are not to be lost ----------------------------------------------------------- */

/* Files that an output may not replace.  A path does not identify a file: symlinks and hard links
 * lead to the same one, which a guard knows by device and inode.  {0} is an empty one; the caller may
 * set `allocator` before its first use, which outlives it.  Freed with gufo_guard_free.  One thread at
 * a time may add to it. */
typedef struct gufo_guard {
    struct gufo_guard_entry *files;
    size_t count;
    uint64_t room;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];
} gufo_guard;

/* Add the files that paths name, or the one of a descriptor.  NULL, -1, paths without a file, and
 * what is not a regular file add nothing.  GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_guard_add_paths(gufo_guard *guard, const char *const *paths, size_t count,
                                          gufo_error *error);
GUFO_API gufo_status gufo_guard_add_fd(gufo_guard *guard, int fd, gufo_error *error);
/* Adds the file that will be written at `path`, whether it exists or not: another output may not be the
 * same file.  Fails as gufo_save_check where it cannot be found. */
GUFO_API gufo_status gufo_guard_add_output(gufo_guard *guard, const char *path, gufo_error *error);
/* Whether `path` names a file that was added.  `guard` may be NULL. */
GUFO_API bool gufo_guard_has(const gufo_guard *guard, const char *path);
/* Empties a guard and frees its memory. */
GUFO_API void gufo_guard_free(gufo_guard *guard);

/* ---- a file -------------------------------------------------------------------------------- */

typedef enum gufo_save_flags {
    GUFO_SAVE_REPLACE = 1, /* a file that exists is replaced; its mode stays */
    GUFO_SAVE_PRIVATE = 2, /* a secret: other users cannot read the file, whatever it replaces */
} gufo_save_flags;

typedef struct gufo_save_options {
    uint32_t flags;                  /* of gufo_save_flags */
    const gufo_guard *guard;         /* files that are not replaced; NULL: none */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_save_options;

/* Whether gufo_save would be refused; writes nothing.  Appends to `target` (may be NULL) the path of the
 * file that would be written, symlinks followed.  GUFO_E_IO with ENOENT without its folder. */
GUFO_API gufo_status gufo_save_check(const char *path, const gufo_save_options *options,
                                     gufo_text *target, gufo_error *error);

/* ---- streams ------------------------------------------------------------------------------- */

/* Opens what takes bytes in order and is not replaced: a device, a pipe, a socket.  The result is a
 * descriptor, to be closed by the caller; -1 on failure: GUFO_E_CHANGED for a regular file, which would
 * be overwritten in place; GUFO_E_ARGUMENT for a pipe of another user, or one behind another user's
 * symlink, in a folder where everybody may create files; GUFO_E_IO. */
GUFO_MUST_USE GUFO_API int gufo_stream_open(const char *path, gufo_error *error);
/* Writes all bytes at the current position of a descriptor.  GUFO_E_IO. */
GUFO_API gufo_status gufo_stream_write(int fd, gufo_str bytes, gufo_error *error);

/* ---- names ----------------------------------------------------------------------------------- */

typedef struct gufo_move {
    const char *from, *to; /* differ, and are in the same folder */
    uint64_t reserved[4];  /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_move;

/* Gives every file of a set its new name, all of them or none: until the set is complete under its new
 * names it is complete under the old ones.  The first file, without which a set does not open, comes last.
 * After an interruption the same call continues.  Links are renamed, not what they lead to.  Of `options`
 * (may be NULL) GUFO_SAVE_REPLACE, guard and allocator count.  On failure all names are as they were, or
 * the message says which are not; error->file is the path that it is about, which error->file_index is the
 * index of (GUFO_FILE_INPUT: the old one, GUFO_FILE_OUTPUT: the new one).  Signals that end the program
 * must not come meanwhile.
 *   GUFO_E_EXISTS    a file has the new name, without GUFO_SAVE_REPLACE
 *   GUFO_E_ARGUMENT  it is neither a regular file nor a link, or one of the guard, or one that has the
 *                    old name of another move, too: names are not passed on from file to file
 *   GUFO_E_IO, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_rename(const gufo_move *moves, size_t count,
                                 const gufo_save_options *options, gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
