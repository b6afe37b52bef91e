/* Whole numbers of 128 bits, for products of two of 64: not every machine that gufo runs on has
 * them.  Results must fit, except where a comment says more. */
#ifndef GUFO_BASE_WIDE_H
#define GUFO_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wide {
    uint64_t high, low;
} wide;

static inline wide wide_product(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)middle;

    return (wide){a_high * b_high + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static inline wide wide_sum(wide a, wide b)
{
    uint64_t low = a.low + b.low;

    return (wide){a.high + b.high + (low < a.low), low};
}

/* `b` is not larger than `a`. */
static inline wide wide_difference(wide a, wide b)
{
    return (wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

/* Whether a < b. */
static inline bool wide_less(wide a, wide b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* How many bits the number takes: 0 for 0. */
static inline unsigned wide_bits(wide a)
{
    unsigned bits = 0;

    for (uint64_t rest = a.high != 0 ? a.high : a.low; rest != 0; rest >>= 1)
        bits++;
    return a.high != 0 ? bits + 64 : bits;
}

/* The number divided by 2^bits (less than 128) and rounded down; UINT64_MAX for more than that. */
static inline uint64_t wide_shifted(wide a, unsigned bits)
{
    if (bits >= 64)
        return a.high >> (bits - 64);
    if (a.high >> bits != 0)
        return UINT64_MAX;
    return bits == 0 ? a.low : a.low >> bits | a.high << (64 - bits);
}

/* The number times 2^bits (less than 64). */
static inline wide wide_scaled(wide a, unsigned bits)
{
    return (wide){bits == 0 ? a.high : a.high << bits | a.low >> (64 - bits), a.low << bits};
}

/* The number divided by `b` and rounded down.  `b` is below 2^63 and larger than a.high, so that the
 * result fits. */
static inline uint64_t wide_quotient(wide a, uint64_t b)
{
    uint64_t rest = a.high, quotient = 0;

    for (unsigned bit = 64; bit-- > 0;) {
        rest = rest << 1 | (a.low >> bit & 1);
        quotient = quotient << 1 | (rest >= b);
        rest -= rest >= b ? b : 0;
    }
    return quotient;
}

#endif
