/* A file of a server as a source of bytes: parts of it are fetched when they are read.
 *
 *     0          256 KiB                         head                                   size
 *     |== first =|== half as much as before ... =|     |== a tensor ==|
 *
 * The first request brings the first 256 KiB, and with them the size, the ETag and the place that redirects lead to.  A
 * header is walked without knowing its end: each further part has half as many bytes as there are before it
 * (at most 4 MiB), or what the walk expects (gufo_source.expect), so that no more than half of a header is fetched in vain.
 * Other bytes are fetched as they are asked for; those that are announced in larger parts, several at once. */
#ifndef REMOTE_RANGES_RANGES_H
#define REMOTE_RANGES_RANGES_H

#include "remote/http/http.h"

/* Opens the file at an address, of which the first part is fetched; *answer (may be NULL) is what the server says then,
 * after a failure, too.
 * The client outlives the source.  Errors: those of http_get; GUFO_E_IO too if nobody says how long the file is. */
gufo_status ranges_open(gufo_remote *remote, const char *url, gufo_source *out, http_answer *answer,
                        gufo_error *error);

#endif
