/* The libraries that the room was built with. */
#ifndef GUFO_DIGEST_BUILT_IN_H
#define GUFO_DIGEST_BUILT_IN_H

#include <stddef.h>

enum { DIGEST_LIBRARIES = 3 };

/* The name of a library, and its version: NULL if the room was built without it. */
typedef struct digest_library {
    const char *name, *version;
} digest_library;

digest_library digest_library_at(size_t index);

#endif
