/* Interleaved blocks: Q4_0 and IQ4_NL, merged over 4 or 8 rows for processors that multiply so many
 * rows at once.  Files hold them no more; models of their time do.
 *
 *     group of R rows    d[R]  | chunk of row 0 | chunk of row 1 | ... | row R-1 | row 0 | ...
 *                        2 R   |    16 R bytes: each row's 16 code bytes in chunks of 4 or 8
 *
 * As many bytes as the R blocks they were made from, so that a group is taken apart into those. */
#include "codec/interleaved.h"

#include <string.h>

enum { SCALE_BYTES = 2, CODE_BYTES = INTERLEAVED_BLOCK_BYTES - SCALE_BYTES };

static const interleaved layouts[] = {
    {GUFO_TYPE_Q4_0_4_4, GUFO_TYPE_Q4_0, 4, 4, 0x88},
    {GUFO_TYPE_Q4_0_4_8, GUFO_TYPE_Q4_0, 4, 8, 0x88},
    {GUFO_TYPE_Q4_0_8_8, GUFO_TYPE_Q4_0, 8, 8, 0x88},
    {GUFO_TYPE_IQ4_NL_4_4, GUFO_TYPE_IQ4_NL, 4, 4, 0},
};

const interleaved *interleaved_find(uint32_t type)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].type == type)
            return &layouts[i];
    return NULL;
}

void interleaved_split(const interleaved *layout, const uint8_t *group, uint8_t *out,
                       uint64_t stride)
{
    const uint8_t *codes = group + (size_t)SCALE_BYTES * layout->rows;

    for (uint32_t r = 0; r < layout->rows; r++) {
        uint8_t *block = out + r * stride;
        memcpy(block, group + (size_t)SCALE_BYTES * r, SCALE_BYTES);
        for (uint32_t i = 0; i < CODE_BYTES; i++) {
            uint32_t chunk = i / layout->chunk * layout->rows + r;
            uint8_t code = codes[chunk * layout->chunk + i % layout->chunk];
            block[SCALE_BYTES + i] = code ^ layout->flipped;
        }
    }
}
