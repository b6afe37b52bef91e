/* Looking for numbers that are none. */
#include "gufo/codec.h"

#include "codec/half.h"

/* Parts are looked through without a branch per number; only one with a find is looked at again. */
enum { PART = 256 };

static uint32_t is_nonfinite(float value)
{
    return (float_to_bits(value) & 0x7f800000u) == 0x7f800000u;
}

static bool all_finite(const float *values, uint64_t count)
{
    uint32_t found = 0;

    for (uint64_t i = 0; i < count; i++)
        found |= is_nonfinite(values[i]);
    return found == 0;
}

uint64_t gufo_first_nonfinite(const float *values, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += PART) {
        uint64_t part = count - at < PART ? count - at : PART;
        if (all_finite(values + at, part))
            continue;
        while (is_nonfinite(values[at]) == 0)
            at++;
        return at;
    }
    return count;
}
