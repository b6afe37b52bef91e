/* Where rows are drawn.
 *
 * A line is halved again and again.  The sample of level L is one place in each of the 2^L parts, and the
 * same one that the halves below it would choose:
 *
 *     level 1    | . . . . . x . . | . . x . . . . . |
 *     level 2    | . . x . | . x . . | . . x . | . . . x |       the old ones, and one of each
 *     level 3    | . x | x . | . x | ...                         half that had none
 *
 * So a larger sample contains the smaller one, places are spread over the line, and no period of the rows
 * (the heads of an attention, interleaved gates) meets a period of the sample.  Which half is chosen is a
 * hash of the part's number and of the tensor's name. */
#include "quant/losses/losses.h"

enum { PLACE_BITS = 53 };

static bool second_half(uint64_t seed, unsigned level, uint64_t part)
{
    uint64_t x = seed + (UINT64_C(1) << level) + part;

    /* splitmix64 (Steele, Lea and Flood 2014) */
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((x ^ x >> 31) & 1) != 0;
}

double part_place(uint64_t seed, unsigned level, uint64_t part)
{
    for (; level < PLACE_BITS; level++)
        part = 2 * part + second_half(seed, level, part);
    return (double)part / (double)(UINT64_C(1) << PLACE_BITS);
}

bool part_is_old(uint64_t seed, unsigned level, uint64_t part)
{
    return level > 0 && second_half(seed, level - 1, part / 2) == (part % 2 != 0);
}
