/* Numbers of F16 in double. */
#ifndef GUFO_PRODUCE_NEAREST_HALF_H
#define GUFO_PRODUCE_NEAREST_HALF_H

#include <math.h>

/* The distance of numbers of F16 that have the exponent of this one, which is not 0. */
static inline double half_unit(double value)
{
    int exponent;

    (void)frexp(value, &exponent);
    return ldexp(1, exponent - 11 < -24 ? -24 : exponent - 11);
}

/* The nearest number of F16, ties to even.  Numbers of one exponent are multiples of 2^(exponent - 11),
 * the smallest ones of 2^-24. */
static inline double nearest_half(double value)
{
    if (!isfinite(value) || value == 0)
        return value;
    value = rint(value / half_unit(value)) * half_unit(value);
    return fabs(value) > 65504 ? copysign(HUGE_VAL, value) : value;
}

#endif
