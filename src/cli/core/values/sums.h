/* Numbers that are only shown or compared. */
#ifndef CLI_CORE_VALUES_SUMS_H
#define CLI_CORE_VALUES_SUMS_H

#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* UINT64_MAX where the sum does not fit. */
static inline uint64_t capped_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
