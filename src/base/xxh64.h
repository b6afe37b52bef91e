/* XXH64, a hash that everyone computes alike (unlike base/hash.h): for names that files keep. */
#ifndef GUFO_BASE_XXH64_H
#define GUFO_BASE_XXH64_H

#include "gufo/base.h"

/* With seed 0.  No help against those who look for two texts with one hash. */
uint64_t xxh64_of(gufo_str text);

#endif
