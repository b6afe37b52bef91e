/* One hash that grows while bytes come in. */
#ifndef DIGEST_ALGORITHM_H
#define DIGEST_ALGORITHM_H

#include "gufo/digest.h"

typedef struct hasher {
    gufo_digest_algorithm algorithm;
    void *state; /* of the library that does the work */
} hasher;

/* Begins.  GUFO_E_TYPE if the algorithm is not available. */
gufo_status hasher_open(hasher *h, gufo_digest_algorithm algorithm, gufo_error *error);
gufo_status hasher_add(hasher *h, const void *data, size_t size, gufo_error *error);
/* Ends, and begins again with nothing.  `digest` has GUFO_DIGEST_SIZE bytes. */
gufo_status hasher_finish(hasher *h, uint8_t *digest, gufo_error *error);
/* Releases it; nothing to do for one that is all zeros. */
void hasher_close(hasher *h);

/* As gufo_digest_by_name. */
bool algorithm_named(gufo_str name, gufo_digest_algorithm *id);

#endif
