/* The grids of the IQ1, IQ2 and IQ3 types: the vectors of 8 or 4 elements that can be stored, by
 * their index.  Byte e of a row is element e: a magnitude, or -1, 0, 1 (IQ1). */
#ifndef CODEC_GRIDS_H
#define CODEC_GRIDS_H

#include <stdint.h>

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
