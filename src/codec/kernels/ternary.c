/* TQ1_0 and TQ2_0: 256 elements that are -d, 0 or d.
 *
 *             0                     32         48   52   54
 *     TQ1_0   | five trits a byte   | five     |four| d  |
 *
 *             0                                     64   66
 *     TQ2_0   | four codes of two bits a byte       | d  |
 *
 *     x = (trit - 1) * d
 *
 * Elements that share a byte are as far apart as the run of bytes is long: those of byte j in a run
 * of n bytes are j, j + n, j + 2 n ...  The runs of TQ1_0 have 32, 16 and 4 bytes, those of TQ2_0
 * 32 and 32.
 *
 * The trits of a byte are the digits of a fraction to base 3, byte / 256, rounded up: three times
 * the byte has the first trit above its eight bits, and in them the rest. */
#include "codec/kernels/block.h"

enum { ELEMENTS = 256, RUN = 32, HALF = RUN / 2 };

/* ---- TQ1_0 ---------------------------------------------------------------------------------- */

enum { TQ1_SCALE = 52, TQ1_BYTES = 54, TAIL = 48, TAIL_BYTES = 4, TAIL_TRITS = 4 };

/* The runs except the tail, which is shorter than the lanes. */
static const struct {
    size_t at, bytes, element;
} runs[] = {{0, 32, 0}, {32, 16, 160}};

enum { RUNS = sizeof runs / sizeof *runs, TRITS = 5, TAIL_ELEMENT = 240 };

/* What the lowest two bits of each lane say. */
static inline floats trit_values(ints trits, floats scale)
{
    static const float values[4] = {-1, 0, 1, 0};

    return lookup4(values, trits) * scale;
}

/* The trits of LANES bytes of the first run and of as many HALF bytes later: two bytes, 16 bits
 * apart, share an int. */
static inline void decode_first(const uint8_t *bytes, floats scale, float *values)
{
    ints rest = bytes_load(bytes) | shift_left(bytes_load(bytes + HALF), 16);

    for (int n = 0; n < TRITS; n++, values += RUN) {
        ints tripled = rest + rest + rest;
        floats_store(values, trit_values(shift_right(tripled, 8), scale));
        floats_store(values + HALF, trit_values(shift_right(tripled, 24), scale));
        rest = tripled & 0x00ff00ff;
    }
}

static inline void decode_second(const uint8_t *bytes, floats scale, float *values)
{
    ints rest = bytes_load(bytes);

    for (int n = 0; n < TRITS; n++, values += HALF) {
        ints tripled = rest + rest + rest;
        floats_store(values, trit_values(shift_right(tripled, 8), scale));
        rest = tripled & 255;
    }
}

/* The tail is shorter than the lanes: a lane for each of its elements begins with the trits before
 * its own cut off. */
static inline void decode_tail(const uint8_t *bytes, floats scale, float *values)
{
    static const int32_t first_bit[] = {0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24};
    static const int32_t power[] = {1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27};
    unsigned_ints all = (unsigned_ints)ints_of((int32_t)load_u32(bytes, HOST_IS_BIG_ENDIAN));

    for (size_t j = 0; j < TAIL_BYTES * TAIL_TRITS; j += LANES) {
        ints byte = (ints)(all >> (unsigned_ints)ints_load(first_bit + j)) & 255;
        ints rest = byte * ints_load(power + j) & 255;
        floats_store(values + j, trit_values(shift_right(rest + rest + rest, 8), scale));
    }
}

static void decode_tq1_0(const uint8_t *restrict block, float *restrict values)
{
    floats scale = floats_of(load_half(block + TQ1_SCALE));

    for (size_t j = 0; j < HALF; j += LANES)
        decode_first(block + j, scale, values + j);
    for (size_t j = 0; j < HALF; j += LANES)
        decode_second(block + runs[1].at + j, scale, values + runs[1].element + j);
    decode_tail(block + TAIL, scale, values + TAIL_ELEMENT);
}

BLOCK_DECODER(TQ1_0, ELEMENTS, TQ1_BYTES, decode_tq1_0)

/* The trits of LANES elements, as floats. */
static inline floats trits_of(const float *x, floats inverse)
{
    return floats_from(round_away(clamp(floats_load(x) * inverse, -1, 1)) + 1);
}

/* 3^5 trits in 2^8 values: the quotient is far enough from the next whole number to be cut off. */
static inline void encode_trits(const float *x, size_t stride, int trits, floats inverse,
                                uint8_t *bytes)
{
    floats number = floats_of(0);

    for (int n = 0; n < TRITS; n++) {
        number = number * floats_of(3);
        if (n < trits)
            number = number + trits_of(x + (size_t)n * stride, inverse);
    }
    bytes_store(bytes, ints_from((number * floats_of(256) + floats_of(242)) / floats_of(243)));
}

static void encode_tq1_0(const float *x, uint8_t *block)
{
    enum { PAD = 16 };
    float scale = block_largest(x, ELEMENTS);
    floats inverse = floats_of(inverse_of(scale));
    float tail[TAIL_BYTES * TAIL_TRITS + PAD] = {0};
    uint8_t tail_bytes[PAD];

    for (size_t r = 0; r < RUNS; r++)
        for (size_t j = 0; j < runs[r].bytes; j += LANES)
            encode_trits(x + runs[r].element + j, runs[r].bytes, TRITS, inverse,
                         block + runs[r].at + j);
    memcpy(tail, x + TAIL_ELEMENT, TAIL_BYTES * TAIL_TRITS * sizeof *tail);
    for (size_t j = 0; j < TAIL_BYTES; j += LANES)
        encode_trits(tail + j, TAIL_BYTES, TAIL_TRITS, inverse, tail_bytes + j);
    memcpy(block + TAIL, tail_bytes, TAIL_BYTES);
    store_half(block + TQ1_SCALE, scale);
}

BLOCK_ENCODER(TQ1_0, ELEMENTS, TQ1_BYTES, encode_tq1_0)

/* ---- TQ2_0 ---------------------------------------------------------------------------------- */

enum { TQ2_SCALE = 64, TQ2_BYTES = 66, TQ2_PER_BYTE = 4 };

static void decode_tq2_0(const uint8_t *block, float *values)
{
    floats scale = floats_of(load_half(block + TQ2_SCALE));

    for (size_t at = 0; at < TQ2_SCALE; at += RUN, values += RUN * TQ2_PER_BYTE)
        for (size_t j = 0; j < RUN; j += LANES) {
            ints bytes = bytes_load(block + at + j);
            for (int n = 0; n < TQ2_PER_BYTE; n++)
                floats_store(values + n * RUN + j,
                             floats_from((shift_right(bytes, 2 * n) & 3) - 1) * scale);
        }
}

BLOCK_DECODER(TQ2_0, ELEMENTS, TQ2_BYTES, decode_tq2_0)

static void encode_tq2_0(const float *x, uint8_t *block)
{
    float scale = block_largest(x, ELEMENTS);
    floats inverse = floats_of(inverse_of(scale));

    for (size_t at = 0; at < TQ2_SCALE; at += RUN, x += RUN * TQ2_PER_BYTE)
        for (size_t j = 0; j < RUN; j += LANES) {
            ints bytes = ints_of(0);
            for (int n = 0; n < TQ2_PER_BYTE; n++) {
                floats scaled = floats_load(x + n * RUN + j) * inverse;
                bytes = bytes | shift_left(round_away(clamp(scaled, -1, 1)) + 1, 2 * n);
            }
            bytes_store(block + at + j, bytes);
        }
    store_half(block + TQ2_SCALE, scale);
}

BLOCK_ENCODER(TQ2_0, ELEMENTS, TQ2_BYTES, encode_tq2_0)
