/* Files that are downloaded together, and named together: one, or the shards of a set. */
#ifndef REMOTE_FETCH_FETCH_H
#define REMOTE_FETCH_FETCH_H

#include "gufo/run.h"
#include "remote/fetch/download.h"

/* Fetches them, and calls the functions of `options` (remote.h).  The error names the file that it is about: that
 * of the server by its address, or the output by its path. */
gufo_status fetch_files(gufo_remote *remote, const fetch_file *files, size_t count,
                        const gufo_fetch_options *options, const gufo_run *run, bool *mismatch,
                        gufo_error *error);

#endif
