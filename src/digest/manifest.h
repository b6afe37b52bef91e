/* A manifest that has been read, as the files of this room see it. */
#ifndef DIGEST_MANIFEST_H
#define DIGEST_MANIFEST_H

#include "gufo/digest.h"

struct gufo_manifest {
    gufo_manifest_line *lines;
    uint64_t count, capacity;
    char *names; /* the text that was read, with escapes taken out in place */
    const gufo_allocator *allocator;
};

#endif
