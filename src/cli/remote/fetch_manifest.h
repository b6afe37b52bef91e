/* Comparing files that were fetched with a manifest, before they get their names. */
#ifndef CLI_REMOTE_FETCH_MANIFEST_H
#define CLI_REMOTE_FETCH_MANIFEST_H

#include <stdbool.h>

#include "gufo/digest.h"
#include "gufo/remote.h"

/* {0} is none. */
typedef struct fetch_manifest {
    const char *path;
    gufo_str text;
    gufo_manifest *lines;
    bool differs; /* what was fetched is not what it says */
} fetch_manifest;

/* Reads it; nothing to do for NULL.  Returns the exit code. */
int fetch_manifest_read(fetch_manifest *m, const char *path);
/* For gufo_fetch_options.check. */
gufo_status fetch_manifest_check(fetch_manifest *m, const gufo_fetched *files, size_t count,
                                 gufo_error *error);
void fetch_manifest_free(fetch_manifest *m);

#endif
