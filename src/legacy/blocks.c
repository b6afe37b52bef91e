/* The blocks of 2023.
 *
 * Nearly all are scales, fifth bits and nibbles in this order:
 *
 *     d [m] [high bits of elements 0 to 31] nibbles
 *     element = (code - middle) * d   or   code * d + m
 *
 * What changed with the generations is the order of nibbles and the width of scales:
 *
 *     generation 0   byte i holds elements 2i (low) and 2i + 1 (high)   f32 d
 *     generation 1   byte i holds elements i and i + 16                 f32 d
 *     generation 2   the same                                           f16 d: today's blocks
 *
 * Q5_0 and Q5_1 had f16 scales from the beginning, and bit j of their high bits always was element
 * j's.  Numbers are computed in floats, a product and then a sum: the same bits as in the programs
 * of the time. */
#include "legacy/blocks.h"

#include "base/checked.h"
#include "base/error.h"
#include "codec/coding.h"
#include "codec/kernels.h"
#include "codec/half.h"

#include <inttypes.h>
#include <stddef.h>

enum { MOST_ELEMENTS = 32 };

/* ---- scales, fifth bits, nibbles ------------------------------------------------------------ */

typedef struct nibble_layout {
    uint32_t elements;
    uint32_t scale_bytes; /* 4: f32; 2: f16 */
    uint32_t scales;      /* 1: d; 2: d and m */
    uint32_t high_bytes;  /* 4: fifth bits; 0: none */
    bool pairs;           /* byte i holds elements 2i and 2i + 1 */
} nibble_layout;

static const nibble_layout q4_0_pairs = {32, 4, 1, 0, true};
static const nibble_layout q4_0_halves = {32, 4, 1, 0, false};
static const nibble_layout q4_1_pairs = {32, 4, 2, 0, true};
static const nibble_layout q4_1_halves = {32, 4, 2, 0, false};
static const nibble_layout q4_2_pairs = {16, 2, 1, 0, true};
static const nibble_layout q4_3_pairs = {16, 2, 2, 0, true};
static const nibble_layout q5_0_pairs = {32, 2, 1, 4, true};
static const nibble_layout q5_1_pairs = {32, 2, 2, 4, true};

static inline float load_single(const uint8_t *at)
{
    return float_from_bits(load_u32(at, HOST_IS_BIG_ENDIAN));
}

static inline float load_scale(const uint8_t *at, uint32_t bytes)
{
    return bytes == 4 ? load_single(at) : load_half(at);
}

/* A scale that today's blocks hold as binary16; false if it is not finite there. */
static inline bool store_scale(uint8_t *at, float scale)
{
    return float_to_bits(store_half(at, scale)) << 1 < 0x7f800000u << 1;
}

/* The nibbles as one byte per element. */
static inline __attribute__((always_inline)) void unpack_nibbles(const uint8_t *nibbles,
                                                                 uint32_t elements, bool pairs,
                                                                 uint8_t *codes)
{
    uint32_t bytes = elements / 2;

    for (uint32_t i = 0; i < bytes; i++)
        codes[pairs ? 2 * i : i] = nibbles[i] & 15;
    for (uint32_t i = 0; i < bytes; i++)
        codes[pairs ? 2 * i + 1 : i + bytes] = nibbles[i] >> 4;
}

/* Pairs of nibbles into today's order. */
static inline void split_nibbles(const uint8_t *pairs, uint8_t *halves)
{
    uint8_t codes[MOST_ELEMENTS];

    unpack_nibbles(pairs, MOST_ELEMENTS, true, codes);
    for (uint32_t i = 0; i < MOST_ELEMENTS / 2; i++)
        halves[i] = (uint8_t)(codes[i] | codes[i + MOST_ELEMENTS / 2] << 4);
}

/* Inlined into functions that know the layout, so that every loop has a constant length. */
static inline __attribute__((always_inline)) void decode_nibbles(nibble_layout l,
                                                                 const uint8_t *block,
                                                                 uint64_t count, float *values)
{
    uint32_t head = l.scale_bytes * l.scales, middle = l.scales == 2 ? 0 : l.high_bytes ? 16 : 8;
    uint8_t codes[MOST_ELEMENTS];

    for (uint64_t b = 0; b < count; b++, values += l.elements) {
        float d = load_scale(block, l.scale_bytes);
        float m = l.scales == 2 ? load_scale(block + l.scale_bytes, l.scale_bytes) : 0;
        uint32_t high = l.high_bytes ? load_u32(block + head, HOST_IS_BIG_ENDIAN) : 0;

        unpack_nibbles(block + head + l.high_bytes, l.elements, l.pairs, codes);
        for (uint32_t i = 0; l.high_bytes != 0 && i < l.elements; i++)
            codes[i] |= (uint8_t)((high >> i & 1u) << 4);
        for (uint32_t i = 0; i < l.elements; i++) {
            float product = (float)((int)codes[i] - (int)middle) * d;
            values[i] = l.scales == 2 ? product + m : product;
        }
        block += head + l.high_bytes + l.elements / 2;
    }
}

static inline __attribute__((always_inline)) uint64_t repack_nibbles(nibble_layout l,
                                                                     const uint8_t *block,
                                                                     uint64_t count, uint8_t *out)
{
    uint32_t head = l.scale_bytes * l.scales, new_head = 2 * l.scales;
    uint32_t nibble_bytes = l.elements / 2;

    for (uint64_t b = 0; b < count; b++) {
        bool fits = true;

        for (uint32_t i = 0; i < l.scales && l.scale_bytes == 4; i++)
            fits &= store_scale(out + 2 * i, load_single(block + 4 * i));
        if (!fits)
            return b;
        if (l.scale_bytes == 2)
            memcpy(out, block, head);
        block += head;
        out += new_head;
        memcpy(out, block, l.high_bytes);
        block += l.high_bytes;
        out += l.high_bytes;
        if (l.pairs)
            split_nibbles(block, out);
        else
            memcpy(out, block, nibble_bytes);
        block += nibble_bytes;
        out += nibble_bytes;
    }
    return count;
}

#define DECODER(layout)                                                               \
    static void decode_##layout(const uint8_t *blocks, uint64_t count, float *values) \
    {                                                                                 \
        decode_nibbles(layout, blocks, count, values);                                \
    }
#define BOTH_WAYS(layout)                                                                \
    DECODER(layout)                                                                      \
    static uint64_t repack_##layout(const uint8_t *blocks, uint64_t count, uint8_t *out) \
    {                                                                                    \
        return repack_nibbles(layout, blocks, count, out);                               \
    }

BOTH_WAYS(q4_0_pairs)
BOTH_WAYS(q4_0_halves)
BOTH_WAYS(q4_1_pairs)
BOTH_WAYS(q4_1_halves)
DECODER(q4_2_pairs)
DECODER(q4_3_pairs)
BOTH_WAYS(q5_0_pairs)
BOTH_WAYS(q5_1_pairs)

/* ---- the others ----------------------------------------------------------------------------- */

enum { Q8_0_BYTES = 36, Q8_0_NEW_BYTES = 34, Q8_0_CODES = 32, Q4_1_O_BYTES = 24 };

/* f32 d, 32 signed bytes. */
static void decode_q8_0(const uint8_t *block, uint64_t count, float *values)
{
    for (uint64_t b = 0; b < count; b++, block += Q8_0_BYTES, values += Q8_0_CODES) {
        float d = load_single(block);

        for (uint32_t i = 0; i < Q8_0_CODES; i++)
            values[i] = (float)(int8_t)block[4 + i] * d;
    }
}

static uint64_t repack_q8_0(const uint8_t *block, uint64_t count, uint8_t *out)
{
    for (uint64_t b = 0; b < count; b++, block += Q8_0_BYTES, out += Q8_0_NEW_BYTES) {
        if (!store_scale(out, load_single(block)))
            return b;
        memcpy(out + 2, block + 4, Q8_0_CODES);
    }
    return count;
}

/* f16 d, f16 m, u16 k, f16 o, pairs of nibbles: as Q4_3, but element k is o.  A k past the last
 * element replaces none. */
static void decode_q4_1_o(const uint8_t *block, uint64_t count, float *values)
{
    uint8_t codes[MOST_ELEMENTS];

    for (uint64_t b = 0; b < count; b++, block += Q4_1_O_BYTES, values += MOST_ELEMENTS) {
        float d = load_half(block), m = load_half(block + 2);
        uint16_t k = load_u16(block + 4, HOST_IS_BIG_ENDIAN);

        unpack_nibbles(block + 8, MOST_ELEMENTS, true, codes);
        for (uint32_t i = 0; i < MOST_ELEMENTS; i++)
            values[i] = (float)codes[i] * d + m;
        if (k < MOST_ELEMENTS)
            values[k] = load_half(block + 6);
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

enum { FIRST = 1, SECOND = 2, THIRD = 4, ALL = FIRST | SECOND | THIRD };

#define NO LEGACY_NO_ID

static const legacy_layout layouts[] = {
    {"F32", ALL, 0, 0, 1, 4, GUFO_TYPE_F32, true, NULL, NULL, 0},
    {"F16", ALL, 1, 1, 1, 2, GUFO_TYPE_F16, true, NULL, NULL, 0},
    {"Q4_0", FIRST, 2, 2, 32, 20, GUFO_TYPE_Q4_0, false, decode_q4_0_pairs, repack_q4_0_pairs, 1},
    {"Q4_0", SECOND, 2, 2, 32, 20, GUFO_TYPE_Q4_0, false, decode_q4_0_halves, repack_q4_0_halves,
     1},
    {"Q4_0", THIRD, 2, 2, 32, 18, GUFO_TYPE_Q4_0, true, NULL, NULL, 0},
    {"Q4_1", FIRST, 3, 3, 32, 24, GUFO_TYPE_Q4_1, false, decode_q4_1_pairs, repack_q4_1_pairs, 2},
    {"Q4_1", SECOND, 3, 3, 32, 24, GUFO_TYPE_Q4_1, false, decode_q4_1_halves, repack_q4_1_halves,
     2},
    {"Q4_1", THIRD, 3, 3, 32, 20, GUFO_TYPE_Q4_1, true, NULL, NULL, 0},
    {"Q4_2", FIRST, 4, 5, 16, 10, NO, false, decode_q4_2_pairs, NULL, 0},
    {"Q4_3", FIRST, 5, 6, 16, 12, NO, false, decode_q4_3_pairs, NULL, 0},
    {"Q5_0", FIRST, 6, 7, 32, 22, GUFO_TYPE_Q5_0, false, decode_q5_0_pairs, repack_q5_0_pairs, 0},
    {"Q5_0", SECOND | THIRD, 6, 7, 32, 22, GUFO_TYPE_Q5_0, true, NULL, NULL, 0},
    {"Q5_1", FIRST, 7, 8, 32, 24, GUFO_TYPE_Q5_1, false, decode_q5_1_pairs, repack_q5_1_pairs, 0},
    {"Q5_1", SECOND | THIRD, 7, 8, 32, 24, GUFO_TYPE_Q5_1, true, NULL, NULL, 0},
    {"Q8_0", FIRST | SECOND, 8, 9, 32, 36, GUFO_TYPE_Q8_0, false, decode_q8_0, repack_q8_0, 1},
    {"Q8_0", THIRD, 8, 9, 32, 34, GUFO_TYPE_Q8_0, true, NULL, NULL, 0},
    {"Q2_K", THIRD, 10, NO, 256, 84, GUFO_TYPE_Q2_K, true, NULL, NULL, 0},
    {"Q3_K", THIRD, 11, NO, 256, 110, GUFO_TYPE_Q3_K, true, NULL, NULL, 0},
    {"Q4_K", THIRD, 12, NO, 256, 144, GUFO_TYPE_Q4_K, true, NULL, NULL, 0},
    {"Q5_K", THIRD, 13, NO, 256, 176, GUFO_TYPE_Q5_K, true, NULL, NULL, 0},
    {"Q6_K", THIRD, 14, NO, 256, 210, GUFO_TYPE_Q6_K, true, NULL, NULL, 0},
    {"Q4_1_O", FIRST, NO, 4, 32, 24, NO, false, decode_q4_1_o, NULL, 0},
};

#undef NO

/* By the number at `offset` in the rows. */
static const legacy_layout *find(size_t offset, uint32_t id, unsigned generation)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && generation < 3; i++) {
        uint32_t row_id;

        memcpy(&row_id, (const char *)&layouts[i] + offset, sizeof row_id);
        if (row_id == id && id != LEGACY_NO_ID && layouts[i].generations >> generation & 1)
            return &layouts[i];
    }
    return NULL;
}

const legacy_layout *legacy_layout_find(uint32_t id, unsigned generation)
{
    return find(offsetof(legacy_layout, id), id, generation);
}

const legacy_layout *legacy_layout_find_rwkv(uint32_t id, unsigned generation)
{
    return find(offsetof(legacy_layout, rwkv), id, generation);
}

/* ---- whole blocks --------------------------------------------------------------------------- */

void legacy_decode(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks, float *out)
{
    if (layout->decode != NULL)
        layout->decode(bytes, blocks, out);
    else
        (void)coding_decode(gufo_element_type_by_id(layout->today), bytes, 1,
                            blocks * layout->block_length, out, GUFO_CPU_BEST, NULL);
}

/* The scale of a block that repacking refused. */
static float unfit_scale(const legacy_layout *layout, const uint8_t *block)
{
    uint8_t half[2];

    return store_scale(half, load_single(block)) && layout->single_scales > 1
               ? load_single(block + 4)
               : load_single(block);
}

gufo_status legacy_repack(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                          uint8_t *out, gufo_error *error)
{
    if (layout->same_bytes) {
        memcpy(out, bytes, (size_t)(blocks * layout->block_bytes));
        return GUFO_OK;
    }
    uint64_t done = layout->repack(bytes, blocks, out);
    if (done == blocks)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE,
                  "block %" PRIu64 " has the scale %g, which %s does not hold today", done,
                  (double)unfit_scale(layout, bytes + done * layout->block_bytes), layout->name);
}

/* ---- what is lost --------------------------------------------------------------------------- */

enum {
    PART = 2048, /* elements: whole blocks of every layout, and all copies fit the nearest cache */
    LANES = 16,
};

/* Bits of a magnitude are in the order of magnitudes; those of infinities and NaN follow. */
static inline int32_t magnitude_bits(float value)
{
    return (int32_t)(float_to_bits(value) & 0x7fffffffu);
}

static inline int32_t worse(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Lanes, because compilers take no maximum along an array in vectors. */
static int32_t worst_difference(const float *a, const float *b, uint64_t count)
{
    int32_t worst[LANES] = {0};
    uint64_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            worst[k] = worse(worst[k], magnitude_bits(a[i + k] - b[i + k]));
    for (; i < count; i++)
        worst[0] = worse(worst[0], magnitude_bits(a[i] - b[i]));
    for (uint32_t k = 1; k < LANES; k++)
        worst[0] = worse(worst[0], worst[k]);
    return worst[0];
}

static void add_differences(const float *old, const float *new, uint64_t count, legacy_loss *loss)
{
    int32_t worst = worst_difference(old, new, count);
    float change = float_from_bits((uint32_t)worst);

    if (worst >= 0x7f800000)
        loss->overflows = true;
    else if (change > loss->max_abs_err)
        loss->max_abs_err = change;
    loss->inexact |= worst != 0;
}

static uint64_t count_odd_scales(const legacy_layout *layout, const uint8_t *block, uint64_t blocks)
{
    uint64_t odd = 0;

    for (uint64_t b = 0; b < blocks; b++, block += layout->block_bytes)
        for (uint32_t i = 0; i < layout->single_scales; i++) {
            float scale = load_single(block + 4 * i), size = scale < 0 ? -scale : scale;
            odd += !(size == 0 || (size >= 1e-8f && size <= 1e3f));
        }
    return odd;
}

static void add_blocks(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                       legacy_loss *loss)
{
    loss->blocks += blocks;
    loss->odd_scales += count_odd_scales(layout, bytes, blocks);
}

/* Today's blocks are never larger than PART floats. */
static void measure_same_name(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                              const float *old, legacy_loss *loss)
{
    uint8_t repacked[PART * sizeof(float)];
    float values[PART];
    uint64_t count = blocks * layout->block_length;

    add_blocks(layout, bytes, blocks, loss);
    if (layout->repack == NULL || layout->single_scales == 0)
        return; /* the same numbers, or no such type */
    if (layout->repack(bytes, blocks, repacked) < blocks) {
        loss->overflows = loss->inexact = true;
        return;
    }
    (void)coding_decode(gufo_element_type_by_id(layout->today), repacked, 1, count, values,
                        GUFO_CPU_BEST, NULL);
    add_differences(old, values, count, loss);
}

static void measure_f16(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                        const float *old, legacy_loss *loss)
{
    const coder *f16 = &cpu_kernels(GUFO_CPU_BEST)[GUFO_TYPE_F16];
    uint8_t halves[2 * PART];
    float values[PART];
    uint64_t count = blocks * layout->block_length;

    add_blocks(layout, bytes, blocks, loss);
    f16->encode(&(encode_row){.values = old, .columns = count}, halves);
    f16->decode(halves, count, values);
    add_differences(old, values, count, loss);
}

void legacy_measure(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                    legacy_loss *same_name, legacy_loss *f16)
{
    uint64_t most = PART / layout->block_length;
    float values[PART];

    while (blocks != 0) {
        uint64_t part = smaller(blocks, most);

        legacy_decode(layout, bytes, part, values);
        if (same_name != NULL)
            measure_same_name(layout, bytes, part, values, same_name);
        if (f16 != NULL)
            measure_f16(layout, bytes, part, values, f16);
        bytes += part * layout->block_bytes;
        blocks -= part;
    }
}

void legacy_loss_add(legacy_loss *loss, const legacy_loss *other)
{
    loss->blocks += other->blocks;
    loss->odd_scales += other->odd_scales;
    loss->overflows |= other->overflows;
    loss->inexact |= other->inexact;
    if (other->max_abs_err > loss->max_abs_err)
        loss->max_abs_err = other->max_abs_err;
}
