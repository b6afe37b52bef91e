/* The type table: one row per element type id that ever had a name (gufo/element_types.def). */
#include "gufo/codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "codec/half.h"
#include "codec/interleaved.h"

static const gufo_element_type element_types[] = {
#define NONE 0
#define DECODED GUFO_ELEMENT_DECODES
#define CODED (GUFO_ELEMENT_DECODES | GUFO_ELEMENT_ENCODES)
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) \
    [id] = {id, #name, elements, bytes, (flags) | (coding)},
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};

enum { ELEMENT_TYPE_COUNT = sizeof element_types / sizeof *element_types };

enum {
    ELEMENT_TYPE_ROWS = 0
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) +1
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};

_Static_assert((int)ELEMENT_TYPE_ROWS == (int)ELEMENT_TYPE_COUNT, "an id is the index of its row");

size_t gufo_element_type_count(void)
{
    return ELEMENT_TYPE_COUNT;
}

const gufo_element_type *gufo_element_type_at(size_t index)
{
    return index < ELEMENT_TYPE_COUNT ? &element_types[index] : NULL;
}

const gufo_element_type *gufo_element_type_by_id(uint32_t id)
{
    return gufo_element_type_at(id);
}

const gufo_element_type *gufo_element_type_by_name(const char *name)
{
    for (size_t i = 0; i < ELEMENT_TYPE_COUNT; i++)
        if (strcmp(element_types[i].name, name) == 0)
            return &element_types[i];
    return NULL;
}

gufo_status gufo_element_row_size(const gufo_element_type *type, uint64_t elements, uint64_t *bytes,
                                  gufo_error *error)
{
    if (type->block_elements == 0)
        return refuse(error, GUFO_E_TYPE, "the layout of %s is not known", type->name);
    if (elements % type->block_elements != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s elements do not fill blocks of %" PRIu32 " of %s",
                      GROUPED(elements), type->block_elements, type->name);
    if (!checked_mul(elements / type->block_elements, type->block_bytes, bytes))
        return refuse(error, GUFO_E_RANGE, "%s elements of %s do not fit into 64 bits of bytes",
                      GROUPED(elements), type->name);
    return GUFO_OK;
}

/* The byte order of blocks.  Codes are bytes whatever the order; scales and words of several bytes
 * turn, each in its width. */

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

/* Interleaved blocks: Q4_0 and IQ4_NL, merged over 4 or 8 rows for processors that multiply so many
 * rows at once.  Files hold them no more; models of their time do.
 *
 *     group of R rows    d[R]  | chunk of row 0 | chunk of row 1 | ... | row R-1 | row 0 | ...
 *                        2 R   |    16 R bytes: each row's 16 code bytes in chunks of 4 or 8
 *
 * As many bytes as the R blocks they were made from, so that a group is taken apart into those. */

enum { SCALE_BYTES = 2, CODE_BYTES = INTERLEAVED_BLOCK_BYTES - SCALE_BYTES };

static const interleaved merged[] = {
    {GUFO_TYPE_Q4_0_4_4, GUFO_TYPE_Q4_0, 4, 4, 0x88},
    {GUFO_TYPE_Q4_0_4_8, GUFO_TYPE_Q4_0, 4, 8, 0x88},
    {GUFO_TYPE_Q4_0_8_8, GUFO_TYPE_Q4_0, 8, 8, 0x88},
    {GUFO_TYPE_IQ4_NL_4_4, GUFO_TYPE_IQ4_NL, 4, 4, 0},
};

const interleaved *interleaved_find(uint32_t type)
{
    for (size_t i = 0; i < sizeof merged / sizeof *merged; i++)
        if (merged[i].type == type)
            return &merged[i];
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

/* ---- looking for numbers that are none ---------------------------------------------------------- */

/* Parts are looked through without a branch per number; only one with a find is looked at again. */
enum { PART = 256 };

static uint32_t is_nonfinite(float value)
{
    return (float_to_bits(value) & 0x7f800000u) == 0x7f800000u;
}

static bool all_finite(const float *values, uint64_t count)
{
    uint32_t found = 0;

    for (uint64_t i = 0; i < count; i++)
        found |= is_nonfinite(values[i]);
    return found == 0;
}

uint64_t gufo_first_nonfinite(const float *values, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += PART) {
        uint64_t part = count - at < PART ? count - at : PART;
        if (all_finite(values + at, part))
            continue;
        while (is_nonfinite(values[at]) == 0)
            at++;
        return at;
    }
    return count;
}
