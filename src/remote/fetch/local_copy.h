/* A file that is on this machine already, in the cache of another program. */
#ifndef REMOTE_FETCH_LOCAL_COPY_H
#define REMOTE_FETCH_LOCAL_COPY_H

#include "remote/fetch/download.h"

/* As download_begin, for a file that has `local`: all its bytes are there then, by the kernel where it can share or copy
 * them. */
gufo_status local_copy_begin(download *d, gufo_error *error);

#endif
