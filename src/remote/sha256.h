/* SHA-256, by libcrypto: of what is downloaded, and of what becomes a blob. */
#ifndef REMOTE_SHA256_H
#define REMOTE_SHA256_H

#include "gufo/base.h"

enum { SHA256_SIZE = 32, SHA256_HEX = 64 };

/* {0} is none; closed with sha256_close, also after a failure. */
typedef struct sha256 {
    void *state; /* of libcrypto */
} sha256;

/* Fail as libcrypto does: without memory, or where a rule of the system forbids the algorithm. */
gufo_status sha256_open(sha256 *hash, gufo_error *error);
gufo_status sha256_add(sha256 *hash, const void *data, size_t size, gufo_error *error);
/* Ends; sha256_open may follow.  Writes the digest in hexadecimal, lower case, terminated. */
gufo_status sha256_finish(sha256 *hash, char hex[SHA256_HEX + 1], gufo_error *error);
void sha256_close(sha256 *hash);

/* All of it for bytes in memory. */
gufo_status sha256_of(gufo_str bytes, char hex[SHA256_HEX + 1], gufo_error *error);

#endif
