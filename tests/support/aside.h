/* Where a commit puts the file of a target aside. */
#ifndef TEST_SUPPORT_ASIDE_H
#define TEST_SUPPORT_ASIDE_H

#include "folder.h"

#include <inttypes.h>

#include "base/hash.h"

static inline path_text aside_of(const char *target)
{
    const char *name = strrchr(target, '/') + 1;
    path_text path;

    snprintf(path.text, sizeof path.text, "%.*s.gufo-%016" PRIx64 ".old", (int)(name - target),
             target, hash_text((hash_key){0, 0}, gufo_str_of(name)));
    return path;
}

#endif
