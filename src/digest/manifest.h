/* A manifest that has been read, as the files of this room see it. */
#ifndef DIGEST_MANIFEST_H
#define DIGEST_MANIFEST_H

#include "gufo/digest.h"

#include "base/buffer.h"

struct gufo_manifest {
    buffer room; /* of the lines */
    gufo_manifest_line *lines;
    uint64_t count;
    char *names; /* the text that was read, with escapes taken out in place */
};

#endif
