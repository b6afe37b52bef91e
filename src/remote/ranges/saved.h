/* Headers of files of servers that were read before, in a folder on disk: the next time the server is asked whether
 * the file is still the same one (If-None-Match), and nothing is fetched.
 *
 * The name of a file there is the sha256 of the address without its query, which may be a secret.  Only files that are ours and
 * that nobody else may write to count, and no link is followed. */
#ifndef REMOTE_RANGES_SAVED_H
#define REMOTE_RANGES_SAVED_H

#include "remote/ranges/chunks.h"

typedef struct saved_head {
    http_version version;
    chunk *chunk; /* the first bytes; NULL: none are known */
} saved_head;

bool saved_is_used(const gufo_remote *remote);
/* What is known of an address; nothing, after any failure. */
void saved_read(gufo_remote *remote, const char *url, saved_head *out);
/* Keeps it; failures are not important. */
void saved_write(gufo_remote *remote, const char *url, const http_version *version,
                 const uint8_t *bytes, size_t size);

#endif
