/* Element types whose blocks are interleaved over several rows, and decoding to doubles. */
#ifndef CODEC_INTERLEAVED_H
#define CODEC_INTERLEAVED_H

#include "gufo/codec.h"

typedef struct interleaved {
    uint32_t type;
    uint32_t plain;  /* the type that the blocks were made from */
    uint32_t rows;   /* that share one group of blocks */
    uint32_t chunk;  /* bytes of one row before those of the next follow */
    uint8_t flipped; /* bits of every code byte that are inverted */
} interleaved;

enum { INTERLEAVED_BLOCK_BYTES = 18 }; /* of one row */

/* The row of that type, or NULL. */
const interleaved *interleaved_find(uint32_t type);

/* Takes one group apart: block r becomes that of row r at out + r * stride. */
void interleaved_split(const interleaved *layout, const uint8_t *group, uint8_t *out,
                       uint64_t stride);

/* Decoding to doubles, for what measures: they hold every element type's numbers, except the last
 * bits of large I64. */
/* As gufo_decode, through `floats`, which has room for as many numbers. */
gufo_status decode_wide(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *floats, double *values, gufo_cpu cpu,
                        gufo_error *error);

#endif
