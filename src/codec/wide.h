/* Decoding to doubles, for what measures: they hold every element type's numbers, except the last
 * bits of large I64. */
#ifndef CODEC_WIDE_H
#define CODEC_WIDE_H

#include "gufo/codec.h"

/* As gufo_decode, through `floats`, which has room for as many numbers. */
gufo_status decode_wide(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *floats, double *values, gufo_cpu cpu,
                        gufo_error *error);

#endif
