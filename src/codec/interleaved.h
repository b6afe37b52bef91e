/* Element types whose blocks are interleaved over several rows. */
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

#endif
