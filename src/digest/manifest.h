/* A manifest that has been read, as the files of this room see it. */
#ifndef DIGEST_MANIFEST_H
#define DIGEST_MANIFEST_H

#include "gufo/digest.h"

#include "base/buffer.h"

/* Lines of one kind. */
typedef struct manifest_lines {
    buffer room; /* of the lines */
    gufo_manifest_line *lines;
    uint64_t count;
} manifest_lines;

struct gufo_manifest {
    manifest_lines data;  /* about tensors and their data */
    manifest_lines files; /* about all bytes of a file */
    char *names;          /* the text that was read, with escapes taken out in place */
};

#endif
