/* Coding as the rooms above call it: on the thread that calls, because they share their work out themselves. */
#ifndef CODEC_CODING_H
#define CODEC_CODING_H

#include "gufo/codec.h"

/* As gufo_decode. */
gufo_status coding_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                          uint64_t columns, float *values, gufo_cpu cpu, gufo_error *error);

/* The same to doubles, for what measures: they hold every element type's numbers, except the last bits of
 * large I64.  `floats` has room for as many numbers. */
gufo_status decode_wide(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *floats, double *values, gufo_cpu cpu,
                        gufo_error *error);

/* As gufo_encoder_encode. */
gufo_status coding_encode(const gufo_encoder *encoder, const float *values, uint64_t rows,
                          uint64_t columns, const float *importance, void *blocks,
                          gufo_error *error);

#endif
