/* A folder that is read: it lists its names, and opens a file as a source.
 *
 * What reads a model's files does not know where these are: on disk, in memory, on another machine.  A kind
 * of folder is a table of three functions and what they need:
 *
 *     source_folder_disk("/models/m")  open, fstat, readdir; no name leads out of the folder (beneath.h)
 *     source_folder_memory(files)      files that were made, or fetched
 *     another kind                     its own table, which may ask one of these
 *
 * A folder is a value without resources of its own: its path and its state are lent and outlive it. */
#ifndef GUFO_BASE_SOURCE_FOLDER_H
#define GUFO_BASE_SOURCE_FOLDER_H

#include "base/buffer.h"
#include "gufo/base.h"

struct source; /* base/files/source.h */

typedef struct source_folder source_folder;

/* Gets a name, which lives during the call; anything but GUFO_OK ends the listing. */
typedef gufo_status source_folder_visit(void *context, gufo_str name, gufo_error *error);

/* Names may lead through folders: "sub/file".  All functions may be called from several threads at once. */
typedef struct source_folder_kind {
    /* Opens the file NAME; the caller closes the source, also after a failure. */
    gufo_status (*open)(const source_folder *folder, const char *name,
                        const gufo_allocator *allocator, struct source *out, gufo_error *error);
    /* Visits the names in the folder NAME ("." is this one) in any order; none where it does not exist. */
    gufo_status (*list)(const source_folder *folder, const char *name, source_folder_visit *visit,
                        void *context, gufo_error *error);
    /* Whether something has that name: a file, or a symlink, which may lead nowhere. */
    bool (*has)(const source_folder *folder, const char *name);
} source_folder_kind;

struct source_folder {
    const source_folder_kind *kind;
    gufo_str path;      /* stands before its names, in messages, too; empty: nothing does */
    const void *state;  /* of the kind */
    const char *called; /* what its reader knows it by; NULL: as its path is spelled */
    /* On disk: symlinks lead to any place. */
    bool follow;
    /* On disk: a name leads out of the folder.  Opens it all the same, or fails; without `out` the name is
     * that of a folder to list.  NULL: GUFO_E_MALFORMED. */
    gufo_status (*beyond)(const source_folder *folder, const char *name,
                          const gufo_allocator *allocator, struct source *out, gufo_error *error);
};

/* Opens regular files alone. */
source_folder source_folder_disk(gufo_str path);
/* Of files that the user names, which may be anywhere: their names are paths. */
extern const source_folder source_folder_anywhere;

typedef struct memory_file {
    const char *name;
    gufo_str bytes;
} memory_file;

typedef struct memory_files {
    const memory_file *list;
    size_t count;
} memory_files;

source_folder source_folder_memory(const memory_files *files);

/* Of a caller's folder, which is lent. */
source_folder source_folder_user(const gufo_folder *user, gufo_str path);

gufo_status source_folder_open(const source_folder *folder, const char *name,
                               const gufo_allocator *allocator, struct source *out,
                               gufo_error *error);
/* Appends the bytes of a file, at most `limit`; *found is false, with GUFO_OK, if it does not exist.  Errors
 * name the file.  GUFO_E_LIMIT: it has more. */
gufo_status source_folder_read(const source_folder *folder, const char *name, uint64_t limit,
                               buffer *out, bool *found, gufo_error *error);
gufo_status source_folder_list(const source_folder *folder, const char *name,
                               source_folder_visit *visit, void *context, gufo_error *error);
bool source_folder_has(const source_folder *folder, const char *name);

/* PATH/NAME; NULL without memory. */
char *source_folder_join(const source_folder *folder, const char *name,
                         const gufo_allocator *allocator);
/* Names that file in a failure that names none yet; NULL: the folder. */
void source_folder_fail_in(const source_folder *folder, const char *name, gufo_error *error);

/* Whether a name is that of a file in a folder, and of none elsewhere. */
bool is_plain_name(gufo_str name);

#endif
