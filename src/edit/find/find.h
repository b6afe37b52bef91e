/* Models on this machine: what the files of this room share.
 *
 *     folders.c  a walk over folders that may be hostile     ->  files
 *     caches.c   the caches of other programs                ->  files
 *     read.c     files  ->  models, with what their headers say */
#ifndef EDIT_FIND_FIND_H
#define EDIT_FIND_FIND_H

#include "gufo/find.h"

#include <sys/stat.h>

/* At first a file, then a model: for a set, the first shard. */
typedef struct found_file {
    char *path;
    char *tag;         /* the name that a cache gives it; NULL: none */
    const char *cache; /* NULL: none */
    bool named;        /* by the caller, not found in a folder */
    bool guessed;      /* perhaps not a model: then it is left out */
    bool folder;       /* a model of a training framework */
    bool is_long;      /* its metadata may take much memory */

    size_t prefix_len;      /* of the path before "-00001-of-00002.gguf" */
    uint32_t number, count; /* 0: the path is not that of a shard */
    dev_t devices[2];       /* of the first and the last file; inodes are 0 if they are missing */
    ino_t inodes[2];

    bool left_out; /* another shard or link of one that is there, or not a model */
    char *title, *architecture;
    const char *quantization;
    uint64_t parameters, size, context;
    int64_t date;
    gufo_error *fault;
} found_file;

struct gufo_find {
    gufo_allocator allocator;
    gufo_find_options options;
    found_file *files;
    uint64_t count, room;
    bool is_read; /* then `count` files are models in order */
};

/* Adds a file; the path is copied. */
gufo_status find_add_file(gufo_find *find, const char *path, found_file **out, gufo_error *error);
void find_clear(gufo_find *find);
/* The texts one behind the other, at most up to the first that is NULL; NULL without memory.  Freed with
 * mem_free. */
char *find_text(const gufo_find *find, const char *const texts[], size_t count);
#define FIND_TEXT(find, ...)                            \
    find_text(find, (const char *const[]){__VA_ARGS__}, \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- folders -------------------------------------------------------------------------------- */

typedef struct find_walk find_walk;
struct find_walk {
    gufo_find *find;
    bool recursive;
    /* Whether a file of this name is of interest: the walk ignores others. */
    bool (*wanted)(const char *name);
    /* A file that is, or a link that leads nowhere; `path` begins with that of the folder. */
    gufo_status (*found)(const find_walk *w, const char *path, gufo_error *error);
    /* The folder itself, and each that is entered; NULL: nothing happens. */
    gufo_status (*enters)(const find_walk *w, const char *path, gufo_error *error);
    const char *origin; /* for `found` */
};

gufo_status find_walk_folder(const find_walk *w, const char *path, gufo_error *error);
/* Adds the models in a folder and those in it, which are in a cache. */
gufo_status find_add_cache(gufo_find *find, const char *path, const char *cache, gufo_error *error);
/* Whether the text is "sha256", the mark and 64 digits: nothing that could be a path. */
bool find_is_digest(const char *text, char mark);

/* Opens a file, if it is a regular one: never waits for a pipe or a device.  The descriptor, or -1
 * with errno. */
int find_open_regular(const char *path, struct stat *status);

#endif
