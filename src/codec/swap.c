/* The byte order of blocks.  Codes are bytes whatever the order; scales and words of several bytes
 * turn, each in its width. */
#include "gufo/codec.h"

#include "base/bytes.h"
#include "base/error.h"

#include <inttypes.h>

/* `count` numbers of `width` bytes, `stride` apart, from `offset` on. */
typedef struct field {
    uint16_t offset;
    uint8_t width, count, stride;
} field;

enum { MOST_FIELDS = 2 };

typedef struct block_fields {
    uint32_t blocks; /* that share the fields: more than one if they are interleaved */
    field fields[MOST_FIELDS];
} block_fields;

/* By type.  Those that are missing are one number each, or hold bytes only. */
static const block_fields layouts[] = {
    [GUFO_TYPE_Q4_0] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_Q4_1] = {1, {{0, 2, 2, 2}}},
    [GUFO_TYPE_Q5_0] = {1, {{0, 2, 1, 2}, {2, 4, 1, 4}}},
    [GUFO_TYPE_Q5_1] = {1, {{0, 2, 2, 2}, {4, 4, 1, 4}}},
    [GUFO_TYPE_Q8_0] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_Q8_1] = {1, {{0, 2, 2, 2}}},
    [GUFO_TYPE_Q2_K] = {1, {{80, 2, 2, 2}}},
    [GUFO_TYPE_Q3_K] = {1, {{108, 2, 1, 2}}},
    [GUFO_TYPE_Q4_K] = {1, {{0, 2, 2, 2}}},
    [GUFO_TYPE_Q5_K] = {1, {{0, 2, 2, 2}}},
    [GUFO_TYPE_Q6_K] = {1, {{208, 2, 1, 2}}},
    [GUFO_TYPE_Q8_K] = {1, {{0, 4, 1, 4}, {260, 2, 16, 2}}},
    [GUFO_TYPE_IQ2_XXS] = {1, {{0, 2, 1, 2}, {6, 4, 8, 8}}},
    [GUFO_TYPE_IQ2_XS] = {1, {{0, 2, 33, 2}}},
    [GUFO_TYPE_IQ3_XXS] = {1, {{0, 2, 1, 2}, {66, 4, 8, 4}}},
    [GUFO_TYPE_IQ1_S] = {1, {{0, 2, 1, 2}, {34, 2, 8, 2}}},
    [GUFO_TYPE_IQ4_NL] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_IQ3_S] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_IQ2_S] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_IQ4_XS] = {1, {{0, 2, 2, 2}}},
    [GUFO_TYPE_IQ1_M] = {1, {{48, 2, 4, 2}}},
    [GUFO_TYPE_Q4_0_4_4] = {4, {{0, 2, 4, 2}}},
    [GUFO_TYPE_Q4_0_4_8] = {4, {{0, 2, 4, 2}}},
    [GUFO_TYPE_Q4_0_8_8] = {8, {{0, 2, 8, 2}}},
    [GUFO_TYPE_IQ4_NL_4_4] = {4, {{0, 2, 4, 2}}},
    [GUFO_TYPE_TQ1_0] = {1, {{52, 2, 1, 2}}},
    [GUFO_TYPE_TQ2_0] = {1, {{64, 2, 1, 2}}},
    [GUFO_TYPE_Q1_0] = {1, {{0, 2, 1, 2}}},
    [GUFO_TYPE_Q2_0] = {1, {{0, 2, 1, 2}}},
};

enum { LAYOUT_COUNT = sizeof layouts / sizeof *layouts };

static void swap_field(uint8_t *block, const field *f)
{
    uint8_t *at = block + f->offset;

    for (uint32_t i = 0; i < f->count; i++, at += f->stride)
        copy_numbers(at, at, 1, f->width, true);
}

gufo_status gufo_swap_blocks(const gufo_element_type *type, void *blocks, uint64_t count,
                             gufo_error *error)
{
    const block_fields *layout = &layouts[type->id < LAYOUT_COUNT ? type->id : 0];
    uint8_t *block = blocks;

    if (type->block_elements == 0)
        return refuse(error, GUFO_E_TYPE, "the layout of %s is not known", type->name);
    if (type->block_elements == 1 && type->block_bytes > 1) {
        copy_numbers(blocks, blocks, count, type->block_bytes, true);
        return GUFO_OK;
    }
    if (layout->blocks == 0)
        return GUFO_OK;
    if (count % layout->blocks != 0)
        return refuse(error, GUFO_E_ARGUMENT, "blocks of %s come in groups of %u, not %" PRIu64,
                      type->name, (unsigned)layout->blocks, count);
    for (uint64_t i = 0; i < count; i += layout->blocks)
        for (size_t f = 0; f < MOST_FIELDS; f++)
            swap_field(block + i * type->block_bytes, &layout->fields[f]);
    return GUFO_OK;
}
