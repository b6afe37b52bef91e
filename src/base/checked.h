/* Checked arithmetic.  A sum or product of numbers from a file goes through these helpers the first
 * time it is taken: hand-written checks are a common source of size bugs. */
#ifndef GUFO_BASE_CHECKED_H
#define GUFO_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* Each stores the result and returns true, or returns false if it does not fit. */
static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* The next multiple of `alignment` (not 0, not necessarily a power of two) from `value` on. */
static inline bool checked_align(uint64_t value, uint64_t alignment, uint64_t *out)
{
    uint64_t rest = value % alignment;

    return checked_add(value, rest == 0 ? 0 : alignment - rest, out);
}

/* The largest number that divides both; of 0 and a number, that number. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The smallest multiple of two numbers that are not 0. */
static inline bool checked_common_multiple(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t divisor = common_divisor(a, b);

    return divisor != 0 && checked_mul(a / divisor, b, out);
}

/* Whether [offset, offset + size) is inside [0, end). */
static inline bool range_inside(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset <= end && size <= end - offset;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* UINT64_MAX where the sum does not fit: for numbers that are only shown or compared. */
static inline uint64_t capped_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* `b` is not 0. */
static inline uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
