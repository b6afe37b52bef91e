/* gufo ls: what its parts share.
 *
 *     ls_find.c    folders, arguments, caches of other programs  ->  files
 *     ls_read.c    files  ->  models, with what their headers say
 *     ls.c         models  ->  a table, JSON, or a command for each */
#ifndef CLI_INSPECT_LS_H
#define CLI_INSPECT_LS_H

#include "cli/core/options/options.h"

#include "gufo/base.h"

#include <sys/stat.h>
#include <time.h>

typedef enum ls_order {
    LS_BY_NAME,
    LS_BY_SIZE,
    LS_BY_DATE,
    LS_BY_PARAMETERS,
    LS_BY_CONTEXT,
} ls_order;

typedef struct ls_options {
    command_input base;
    bool recursive, caches;
    ls_order order;
} ls_options;

/* The fault of a model. */
typedef struct ls_fault {
    char *file; /* NULL: the one that is listed */
    char *message;
    uint64_t offset; /* GUFO_NO_OFFSET: nowhere in it */
} ls_fault;

/* At first a file, then a model: for a set, the first shard. */
typedef struct ls_file {
    char *path;
    char *tag;         /* the name that a cache gives it; NULL: none */
    const char *cache; /* NULL: none */
    bool named;        /* by an argument, not found in a folder */
    bool guessed;      /* perhaps not a model: then it is not listed */
    bool folder;       /* a model of a training framework */
    bool is_long;      /* its metadata may take much memory */

    size_t prefix_len;      /* of the path before "-00001-of-00002.gguf" */
    uint32_t number, count; /* 0: the path is not that of a shard */
    uint64_t rank;          /* the order of files */
    dev_t devices[2];       /* of the first and the last file; inodes are 0 if they are missing */
    ino_t inodes[2];

    bool left_out;             /* not shown: another shard or link of one that is, or not a model */
    char *name, *architecture; /* NULL: the file does not say */
    const char *quantization;  /* NULL without tensors */
    uint64_t parameters, size, context; /* 0: unknown; `size` of all shards */
    time_t date;
    ls_fault fault; /* message NULL: it is sound */
} ls_file;

typedef struct ls_files {
    ls_file *items;
    size_t count;
    size_t shown; /* once sorted, the first ones are shown, not the others */
    bool failed;  /* something could not be read, after a report */
} ls_files;

/* ---- finding -------------------------------------------------------------------------------- */

/* A walk over folders that may be hostile. */
typedef struct ls_walk ls_walk;
struct ls_walk {
    ls_files *files; /* failed: a folder could not be read; after a report */
    bool recursive;
    /* Whether a file of this name is of interest: the walk ignores others. */
    bool (*wanted)(const char *name);
    /* A file that is, or a link that leads nowhere; `path` begins with that of the folder. */
    void (*found)(const ls_walk *w, const char *path);
    /* The folder itself, and each that is entered; NULL: nothing happens. */
    void (*enters)(const ls_walk *w, const char *path);
    const char *origin; /* for `found` */
};

/* Adds an argument: a file, or the models of a folder. */
void ls_add_argument(ls_files *files, const char *path, bool recursive);
/* Adds the models in the caches of other programs. */
void ls_add_caches(ls_files *files);
void ls_free(ls_files *files);

/* ---- reading -------------------------------------------------------------------------------- */

/* Makes models of the files, and reads their headers with `threads` threads (0: all cores). */
void ls_read(ls_files *files, unsigned threads);

/* Opens a file, if it is a regular one: never waits for a pipe or a device.  The descriptor, or -1
 * with errno. */
int ls_open_regular(const char *path, struct stat *status);

/* ---- writing -------------------------------------------------------------------------------- */

/* ---- each ----------------------------------------------------------------------------------- */

/* Whether a path is a folder of models, not a model. */
bool ls_is_folder(const char *path);
/* Calls `one` for each model in a folder, by name, of a set for the first shard; returns the worst code,
 * CODE_NO after a report if there is none. */
int ls_each(const char *folder, void *context, int (*one)(void *context, const char *path));

/* ---- the whole ------------------------------------------------------------------------------ */

/* Lists the files that were added, and frees them.  Without any, a warning ends with `elsewhere`.
 * Returns the exit code. */
int ls_list(ls_files *files, const shared_options *shared, ls_order order, const char *elsewhere);

#endif
