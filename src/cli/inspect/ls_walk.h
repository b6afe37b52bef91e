/* Walking over folders that may be hostile. */
#ifndef CLI_INSPECT_LS_WALK_H
#define CLI_INSPECT_LS_WALK_H

#include <stdbool.h>

typedef struct walk walk;

struct walk {
    void *context; /* for the caller */
    bool recursive;
    /* Whether a file of this name is of interest: others are not even looked at. */
    bool (*wanted)(const char *name);
    /* A file that is, or a link that leads nowhere; `path` begins with that of the folder. */
    void (*found)(const walk *w, const char *path);
    /* A folder could not be read; after a report. */
    void (*failed)(const walk *w);
};

void walk_folder(const walk *w, const char *path);

#endif
