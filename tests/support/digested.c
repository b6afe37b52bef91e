/* Inputs, which are made with integer arithmetic, and what coding makes of them. */
#include "digested.h"

#include "base/bytes.h"

#include <math.h>

enum { ROWS = 6, COLUMNS = 1024, COUNT = ROWS * COLUMNS };

uint64_t next_number(number_source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15u; /* SplitMix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

float next_weight(number_source *source)
{
    int64_t sum = 0;

    for (int i = 0; i < 3; i++) {
        uint64_t four = next_number(source);
        for (int j = 0; j < 4; j++, four >>= 16)
            sum += (int64_t)(four & 0xffff) - 0x8000;
    }
    return (float)(sum >> 4) * 0x1p-17f;
}

/* Rows of usual weights; of weights with outliers; of multiples of 1/8; mostly zero; of binary16
 * subnormals; of the whole range of binary16. */
static void make_values(float *values)
{
    number_source source = {42};

    for (size_t i = 0; i < COUNT; i++) {
        float v = next_weight(&source);
        uint64_t r = next_number(&source);
        const float kinds[ROWS] = {v,
                                   r % 61 == 0 ? v * 40 : v,
                                   (float)((int)(r % 17) - 8) * 0.125f,
                                   r % 8 == 0 && i / 64 % 3 != 0 ? v : 0,
                                   v * 0x1p-18f,
                                   (float)((int)(r % 131009) - 65504)};
        values[i] = kinds[i / COLUMNS];
    }
}

static void make_importance(float *importance)
{
    number_source source = {43};

    for (size_t i = 0; i < COLUMNS; i++) {
        float v = next_weight(&source) * 50;
        importance[i] = v * v + 0x1p-10f;
    }
}

static void make_blocks(uint8_t *blocks, size_t size)
{
    number_source source = {44};

    for (size_t i = 0; i < size; i++)
        blocks[i] = (uint8_t)next_number(&source);
}

/* NaN is one pattern: which one a processor makes differs. */
static size_t decode_random(const gufo_element_type *type, gufo_cpu cpu, uint8_t *out)
{
    enum { BLOCK_ROWS = 8 };
    static uint8_t blocks[COUNT * 8];
    static float values[COUNT * 2];
    uint64_t columns = COUNT / BLOCK_ROWS, count = BLOCK_ROWS * columns;

    make_blocks(blocks, sizeof blocks);
    if (gufo_decode(type, blocks, BLOCK_ROWS, columns, values, &(gufo_run){.cpu = cpu}, NULL) !=
        GUFO_OK)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store_u32(out + 4 * i, isnan(values[i]) ? 0x7fc00000u : bits, HOST_IS_BIG_ENDIAN);
    }
    return (size_t)count * sizeof(float);
}

/* Making the tables of some types takes longer than the test: encoders are kept. */
static gufo_encoder *encoder_for(const gufo_element_type *type, gufo_cpu cpu, gufo_effort effort)
{
    static gufo_encoder *encoders[64][GUFO_CPU_NEON + 1][GUFO_EFFORT_HIGH + 1];
    gufo_encoder **encoder = &encoders[type->id][cpu][effort];
    gufo_encoder_options options = {.cpu = cpu, .effort = effort};

    if (*encoder == NULL)
        *encoder = gufo_encoder_new(type, &options, NULL);
    return *encoder;
}

static size_t encode_values(const gufo_element_type *type, bool weighs, gufo_effort effort,
                            gufo_cpu cpu, uint8_t *out)
{
    static float values[COUNT], importance[COLUMNS];
    gufo_encoder *encoder = encoder_for(type, cpu, effort);
    uint64_t row_size;

    make_values(values);
    make_importance(importance);
    if (encoder == NULL ||
        gufo_encoder_encode(encoder, values, ROWS, COLUMNS, weighs ? importance : NULL, out, NULL,
                            NULL) != GUFO_OK ||
        gufo_element_row_size(type, COLUMNS, &row_size, NULL) != GUFO_OK)
        return 0;
    return (size_t)(ROWS * row_size);
}

const char *digested_mode_name(digested_mode mode)
{
    static const char *const names[DIGESTED_MODES] = {"decode", "plain", "importance"};

    return names[mode];
}

bool digested_exists(const gufo_element_type *type, digested_mode mode, gufo_effort effort)
{
    if (mode == DIGESTED_DECODE)
        return (type->flags & GUFO_ELEMENT_DECODES) != 0 && effort == GUFO_EFFORT_REFERENCE;
    if ((type->flags & GUFO_ELEMENT_ENCODES) == 0)
        return false;
    return mode == DIGESTED_PLAIN ? (type->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) == 0
                                  : (type->flags & GUFO_ELEMENT_WEIGHS) != 0;
}

size_t digested_bytes(const gufo_element_type *type, digested_mode mode, gufo_effort effort,
                      gufo_cpu cpu, uint8_t out[DIGESTED_ROOM])
{
    return mode == DIGESTED_DECODE
               ? decode_random(type, cpu, out)
               : encode_values(type, mode == DIGESTED_IMPORTANCE, effort, cpu, out);
}
