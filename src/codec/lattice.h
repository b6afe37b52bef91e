/* The lattices of the IQ1, IQ2 and IQ3 types: the code vectors that exist, and for those that do
 * not the ones nearest to them.
 *
 * A code vector is a group's codes, the levels of a grid counted from 0, side by side in one
 * number: 8 codes of 2 bits, or 4 of 3 bits.  Element 0 is lowest.
 *
 *     15                      0      11              0
 *     +--+--+--+--+--+--+--+--+      +---+---+---+---+
 *     |c7|c6|c5|c4|c3|c2|c1|c0|      | c3| c2| c1| c0|
 *     +--+--+--+--+--+--+--+--+      +---+---+---+---+
 */
#ifndef CODEC_LATTICE_H
#define CODEC_LATTICE_H

#include "gufo/codec.h"

#include <stdint.h>

/* Lists of candidates begin at multiples of so many, and are filled up with their first one:
 * whatever the lanes of a kernel, it may read whole vectors. */
enum { LATTICE_LANES = 16 };

/* What `places` says of a code vector: its row in the grid, or OFF_GRID and the list of its
 * candidates. */
enum { LATTICE_COUNT_BITS = 12 };
#define LATTICE_OFF_GRID 0x80000000u

typedef struct lattice {
    uint32_t *places;     /* by code vector */
    uint16_t *candidates; /* code vectors: nearest first, then by row */
    uint16_t *rows;       /* code vectors of the grid, in order */
    uint32_t row_count;   /* a multiple of LATTICE_LANES */
    uint32_t bits;        /* of a code */
} lattice;

/* The candidates of a code vector that is off the grid, and their number. */
static inline const uint16_t *lattice_candidates(const lattice *l, uint32_t place)
{
    uint32_t list = (place & ~LATTICE_OFF_GRID) >> LATTICE_COUNT_BITS;

    return l->candidates + (size_t)list * LATTICE_LANES;
}

static inline uint32_t lattice_candidate_count(uint32_t place)
{
    return place & ((1u << LATTICE_COUNT_BITS) - 1);
}

/* Makes the lattice of an element type into *out; NULL for a type that has none. */
gufo_status lattice_new(uint32_t type, const gufo_allocator *allocator, lattice **out,
                        gufo_error *error);
/* NULL is allowed. */
void lattice_free(lattice *l, const gufo_allocator *allocator);

/* The grids of the IQ1, IQ2 and IQ3 types: the vectors of 8 or 4 elements that can be stored, by
 * their index.  Byte e of a row is element e: a magnitude, or -1, 0, 1 (IQ1). */
enum {
    GRID_IQ1_ROWS = 2048, /* IQ1_S and IQ1_M */
    GRID_IQ2_XXS_ROWS = 256,
    GRID_IQ2_XS_ROWS = 512,
    GRID_IQ2_S_ROWS = 1024,
    GRID_IQ3_XXS_ROWS = 256,
    GRID_IQ3_S_ROWS = 512,
};

extern const uint64_t grid_iq1[GRID_IQ1_ROWS];
extern const uint64_t grid_iq2_xxs[GRID_IQ2_XXS_ROWS];
extern const uint64_t grid_iq2_xs[GRID_IQ2_XS_ROWS];
extern const uint64_t grid_iq2_s[GRID_IQ2_S_ROWS];
extern const uint32_t grid_iq3_xxs[GRID_IQ3_XXS_ROWS];
extern const uint32_t grid_iq3_s[GRID_IQ3_S_ROWS];

#endif
