/* Problems of allocation: random ones, and their optima by trying everything. */
#ifndef TEST_QUANT_ALLOCATE_CASES_H
#define TEST_QUANT_ALLOCATE_CASES_H

#include "support/check.h"

enum { CASE_GROUPS = 1024, CASE_OPTIONS = 16384 };

typedef struct allocate_case {
    gufo_allocate_group groups[CASE_GROUPS];
    gufo_allocate_option options[CASE_OPTIONS];
    size_t count, option_count;
    uint64_t least, most; /* bytes of the smallest and of the largest options */
    uint64_t random;
    size_t choice[CASE_GROUPS];
} allocate_case;

/* A number below `limit`, which is not 0; the same everywhere. */
static inline uint64_t case_random(allocate_case *c, uint64_t limit)
{
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (c->random >> 31) % limit;
}

static inline void case_clear(allocate_case *c)
{
    c->count = c->option_count = 0;
    c->least = c->most = 0;
}

/* Begins a group; options are added to the last one. */
static inline gufo_allocate_group *case_group(allocate_case *c)
{
    gufo_allocate_group *group = &c->groups[c->count++];

    *group = (gufo_allocate_group){.options = &c->options[c->option_count]};
    return group;
}

static inline void case_option(allocate_case *c, uint64_t bytes, double loss)
{
    c->options[c->option_count++] = (gufo_allocate_option){.bytes = bytes, .loss = loss};
    c->groups[c->count - 1].count++;
}

/* Adds up the smallest and the largest options of all groups. */
static inline void case_add_up(allocate_case *c)
{
    c->least = c->most = 0;
    for (size_t g = 0; g < c->count; g++) {
        const gufo_allocate_group *group = &c->groups[g];
        uint64_t least = UINT64_MAX, most = 0;

        for (size_t i = 0; i < group->count; i++) {
            uint64_t bytes = group->options[i].bytes;

            if (group->is_fixed && i != group->fixed)
                continue;
            least = bytes < least ? bytes : least;
            most = bytes > most ? bytes : most;
        }
        c->least += least;
        c->most += most;
    }
}

#endif
