#include "codec.h"

#include "base/bytes.h"

#include <math.h>

static const gufo_cpu all_levels[] = {GUFO_CPU_PORTABLE, GUFO_CPU_AVX2, GUFO_CPU_AVX512,
                                      GUFO_CPU_NEON};

size_t cpu_level_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(all_levels); i++)
        count += gufo_cpu_available(all_levels[i]);
    return count;
}

gufo_cpu cpu_level(size_t index)
{
    for (size_t i = 0; i < COUNT_OF(all_levels); i++)
        if (gufo_cpu_available(all_levels[i]) && index-- == 0)
            return all_levels[i];
    return GUFO_CPU_BEST;
}

void floats_from_little_endian(void *values, size_t count)
{
    copy_numbers(values, values, count, sizeof(float), HOST_IS_BIG_ENDIAN);
}

void encode_with(const gufo_element_type *type, gufo_cpu cpu, gufo_effort effort,
                 const float *values, uint64_t rows, uint64_t columns, const float *importance,
                 void *blocks)
{
    /* Making the tables of some types takes longer than the test: encoders are kept. */
    static gufo_encoder *encoders[64][GUFO_CPU_NEON + 1][GUFO_EFFORT_HIGH + 1];
    gufo_encoder **encoder = &encoders[type->id][cpu][effort];
    gufo_encoder_options options = {.cpu = cpu, .effort = effort};
    gufo_error error = no_error();

    if (*encoder == NULL)
        *encoder = gufo_encoder_new(type, &options, &error);
    check(*encoder != NULL, "%s: %s", type->name, error.message);
    check_ok(gufo_encoder_encode(*encoder, values, rows, columns, importance, blocks, NULL, &error),
             &error, "%s", type->name);
}

double weighted_rmse(const float *expected, const float *got, const float *importance,
                     uint64_t rows, uint64_t columns)
{
    double sum = 0, weights = 0;

    for (uint64_t i = 0; i < rows * columns; i++) {
        double weight = importance != NULL ? importance[i % columns] : 1;
        double e = (double)got[i] - (double)expected[i];
        sum += weight * e * e;
        weights += weight;
    }
    return sqrt(sum / weights);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void check_same_floats(const float *got, const float *expected, uint64_t count, const char *name,
                       const char *level)
{
    for (uint64_t i = 0; i < count; i++) {
        if (isnan(got[i]) && isnan(expected[i]))
            continue;
        check(bits_of(got[i]) == bits_of(expected[i]),
              "%s %s: element %" PRIu64 " is %a, expected %a", name, level, i, (double)got[i],
              (double)expected[i]);
    }
}

difference_text first_difference(const gufo_element_type *type, const uint8_t *a, const uint8_t *b,
                                 size_t bytes)
{
    difference_text out = {"equal"};
    size_t blocks = 0, first = bytes;

    for (size_t at = 0; at < bytes; at += type->block_bytes)
        blocks += memcmp(a + at, b + at, type->block_bytes) != 0;
    for (size_t at = bytes; at-- > 0;)
        if (a[at] != b[at])
            first = at;
    if (blocks > 0)
        snprintf(out.text, sizeof out.text,
                 "%zu of %zu blocks differ, first block %zu at its byte %zu: %02x and %02x", blocks,
                 bytes / type->block_bytes, first / type->block_bytes, first % type->block_bytes,
                 a[first], b[first]);
    return out;
}
