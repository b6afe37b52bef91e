/* Interleaved blocks: Q4_0 and IQ4_NL, merged over 4 or 8 rows for processors that multiply so many
 * rows at once.  Files hold them no more; models of their time do.
 *
 *     group of R rows    d[R]  | chunk of row 0 | chunk of row 1 | ... | row R-1 | row 0 | ...
 *                        2 R   |    16 R bytes: each row's 16 code bytes in chunks of 4 or 8
 *
 * As many bytes as the R blocks they were made from, so that a group is taken apart into those. */
#include "codec/interleaved.h"

#include "codec/coding.h"

#include "base/checked.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

enum { SCALE_BYTES = 2, CODE_BYTES = 16, BLOCK_BYTES = SCALE_BYTES + CODE_BYTES };

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

gufo_status gufo_repack(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, void *out, const gufo_element_type **repacked,
                        gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    uint64_t row_size, bytes;

    if (layout == NULL)
        return fail_with(error, GUFO_E_TYPE, GUFO_NO_OFFSET, "%s is not interleaved", type->name);
    gufo_status status = coded_size(type, rows, columns, &bytes, error);
    if (status != GUFO_OK)
        return status;
    row_size = rows == 0 ? 0 : bytes / rows;
    const uint8_t *group = blocks;
    for (uint64_t row = 0; row < rows; row += layout->rows) {
        uint8_t *at = (uint8_t *)out + row * row_size;
        for (uint64_t done = 0; done < row_size; done += BLOCK_BYTES) {
            interleaved_split(layout, group, at + done, row_size);
            group += (size_t)BLOCK_BYTES * layout->rows;
        }
    }
    if (repacked != NULL)
        *repacked = gufo_element_type_by_id(layout->plain);
    return GUFO_OK;
}
