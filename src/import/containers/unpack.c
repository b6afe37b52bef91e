/* Numbers of one byte: a float for each of them is exact. */
#include "import/containers/unpack.h"

#include <math.h>
#include <string.h>

/* Sign, `exponent` bits, `mantissa` bits. */
static float small_float(uint8_t byte, unsigned mantissa, int bias)
{
    unsigned exponent = (byte & 0x7fu) >> mantissa, rest = byte & ((1u << mantissa) - 1u);
    int low = 1 - bias - (int)mantissa; /* the power of two of the last bit of small numbers */
    double value = exponent == 0 ? ldexp((double)rest, low)
                                 : ldexp((double)(rest | 1u << mantissa), low + (int)exponent - 1);

    return (float)((byte & 0x80u) != 0 ? -value : value);
}

static float truth(uint8_t byte)
{
    return byte != 0 ? 1.0f : 0.0f;
}

static float whole(uint8_t byte)
{
    return (float)byte;
}

/* Without infinity: the largest magnitude is NaN. */
static float e4m3(uint8_t byte)
{
    return (byte & 0x7fu) == 0x7fu ? NAN : small_float(byte, 3, 7);
}

static float e5m2(uint8_t byte)
{
    if ((byte & 0x7cu) == 0x7cu && (byte & 3u) != 0)
        return NAN;
    if ((byte & 0x7cu) == 0x7cu)
        return (byte & 0x80u) != 0 ? -INFINITY : INFINITY;
    return small_float(byte, 2, 15);
}

/* Powers of two. */
static float e8m0(uint8_t byte)
{
    return byte == 0xff ? NAN : (float)ldexp(1, byte - 127);
}

/* The unpackers: each needs a function of its own, which the engine calls. */
static gufo_status unpack(float (*value)(uint8_t), const struct rows *r, const uint8_t *bytes,
                          uint64_t count, float *out)
{
    uint64_t numbers = count * r->columns;
    float table[256];

    for (unsigned i = 0; i < 256; i++)
        table[i] = value((uint8_t)i);
    for (uint64_t i = 0; i < numbers; i++)
        out[i] = table[bytes[i]];
    return GUFO_OK;
}

#define UNPACKER(name, value)                                                                      \
    static gufo_status name(const struct rows *r, const float *const *sides, const uint8_t *bytes, \
                            uint64_t first, uint64_t count, float *out, gufo_error *error)         \
    {                                                                                              \
        (void)sides, (void)first, (void)error;                                                     \
        return unpack(value, r, bytes, count, out);                                                \
    }

UNPACKER(unpack_truth, truth)
UNPACKER(unpack_whole, whole)
UNPACKER(unpack_e4m3, e4m3)
UNPACKER(unpack_e5m2, e5m2)
UNPACKER(unpack_e8m0, e8m0)

static const unpacker unpackers[] = {
    {"BOOL", unpack_truth},   {"U8", unpack_whole},     {"F8_E4M3", unpack_e4m3},
    {"F8_E5M2", unpack_e5m2}, {"F8_E8M0", unpack_e8m0},
};

const unpacker *unpack_find(const number_type *number)
{
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++)
        if (strcmp(unpackers[i].name, number->name) == 0)
            return &unpackers[i];
    return NULL;
}

gufo_status unpack_floats(const number_type *number, bool swapped, uint8_t *bytes, uint64_t count,
                          float *out, gufo_error *error)
{
    const gufo_element_type *type = number_element_type(number);
    const rows row = {.columns = count};
    gufo_status status = GUFO_OK;

    if (type == NULL)
        return unpack_find(number)->floats(&row, NULL, bytes, 0, 1, out, error);
    if (swapped && number->bits > 8)
        status = gufo_swap_blocks(type, bytes, count, error);
    return status == GUFO_OK ? gufo_decode(type, bytes, 1, count, out, GUFO_CPU_BEST, error)
                             : status;
}
