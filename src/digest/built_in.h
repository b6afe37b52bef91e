/* The libraries that the room was built with. */
#ifndef GUFO_DIGEST_BUILT_IN_H
#define GUFO_DIGEST_BUILT_IN_H

#include <stddef.h>

enum { DIGEST_LIBRARIES = 3 };

/* Its name, and its version, which is NULL if the room was built without it. */
typedef struct digest_library {
    const char *name, *version;
} digest_library;

digest_library digest_library_at(size_t index);

#endif
