/* The allocator of llama.cpp, without memory: where its tensors would be, and how much they take. */
#ifndef ESTIMATE_ARENA_H
#define ESTIMATE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARENA_HOLES = 64 };

typedef struct hole {
    uint64_t offset, size;
} hole;

typedef struct arena {
    hole holes[ARENA_HOLES]; /* by offset; what follows `end` is free, too */
    size_t count;
    uint64_t end, peak;
    bool is_too_large;
} arena;

/* The smallest hole that is large enough, the last one of that size, or the end. */
hole arena_take(arena *a, uint64_t bytes);
void arena_release(arena *a, hole freed);

#endif
