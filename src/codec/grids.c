/* The rows are facts of the format; scripts/make_codec_tables writes them. */
#include "codec/grids.h"

const uint64_t grid_iq1[GRID_IQ1_ROWS] = {
#include "codec/tables/iq1s.inc"
};

const uint64_t grid_iq2_xxs[GRID_IQ2_XXS_ROWS] = {
#include "codec/tables/iq2xxs.inc"
};

const uint64_t grid_iq2_xs[GRID_IQ2_XS_ROWS] = {
#include "codec/tables/iq2xs.inc"
};

const uint64_t grid_iq2_s[GRID_IQ2_S_ROWS] = {
#include "codec/tables/iq2s.inc"
};

const uint32_t grid_iq3_xxs[GRID_IQ3_XXS_ROWS] = {
#include "codec/tables/iq3xxs.inc"
};

const uint32_t grid_iq3_s[GRID_IQ3_S_ROWS] = {
#include "codec/tables/iq3s.inc"
};
