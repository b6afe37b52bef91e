/* binary16 and bfloat16 numbers: every one of them, and rounding on both sides of every limit
 * between two neighbours, on every processor level. */
#include "../support/check.h"
#include "../support/codec.h"
#include "../support/shared.h"

#include "base/bytes.h"

#include <float.h>
#include <math.h>

enum { CODES = 65536, SIGN = 0x8000 };

static float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- a type of 16 bits ---------------------------------------------------------------------- */

typedef struct narrow_type {
    const char *name;
    uint16_t infinite;                /* the code; those above it are NaN */
    float (*value_of)(uint16_t code); /* of codes without sign up to the infinite one */
    uint16_t (*nan_of)(uint32_t bits);
} narrow_type;

/* As IEEE 754 defines it: 5 bits of exponent, 10 of mantissa. */
static float half_value(uint16_t code)
{
    int exponent = code >> 10, mantissa = code & 1023;

    if (exponent == 31)
        return INFINITY;
    return exponent == 0 ? ldexpf((float)mantissa, -24)
                         : ldexpf((float)(1024 + mantissa), exponent - 25);
}

/* One NaN with either sign. */
static uint16_t half_nan(uint32_t bits)
{
    return (uint16_t)(0x7e00u | (bits >> 16 & SIGN));
}

/* 8 bits of exponent, 7 of mantissa. */
static float bfloat_value(uint16_t code)
{
    int exponent = code >> 7, mantissa = code & 127;

    if (exponent == 255)
        return INFINITY;
    return exponent == 0 ? ldexpf((float)mantissa, -133)
                         : ldexpf((float)(128 + mantissa), exponent - 134);
}

/* The upper bits, quiet. */
static uint16_t bfloat_nan(uint32_t bits)
{
    return (uint16_t)(bits >> 16 | 0x40u);
}

static const narrow_type narrow_types[] = {
    {"F16", 0x7c00, half_value, half_nan},
    {"BF16", 0x7f80, bfloat_value, bfloat_nan},
};

/* ---- coding --------------------------------------------------------------------------------- */

/* Codes are those of this machine's byte order. */
static void narrow(const narrow_type *type, gufo_cpu cpu, const float *values, uint16_t *codes,
                   size_t count)
{
    encode_with(gufo_element_type_by_name(type->name), cpu, GUFO_EFFORT_REFERENCE, values, 1, count,
                NULL, codes);
    copy_numbers(codes, codes, count, sizeof *codes, HOST_IS_BIG_ENDIAN);
}

static void widen(const narrow_type *type, gufo_cpu cpu, const uint16_t *codes, float *values,
                  size_t count)
{
    static uint16_t little[CODES];

    copy_numbers(little, codes, count, sizeof *codes, HOST_IS_BIG_ENDIAN);
    assert_int_equal(gufo_decode(gufo_element_type_by_name(type->name), little, 1, count, values,
                                 &(gufo_run){.cpu = cpu}, NULL),
                     GUFO_OK);
}

static void for_each_level(void (*test)(const narrow_type *type, gufo_cpu cpu))
{
    for (size_t t = 0; t < COUNT_OF(narrow_types); t++)
        for (size_t l = 0; l < cpu_level_count(); l++)
            test(&narrow_types[t], cpu_level(l));
}

/* ---- every code ----------------------------------------------------------------------------- */

static void check_codes(const narrow_type *type, gufo_cpu cpu)
{
    static uint16_t codes[CODES], back[CODES];
    static float values[CODES];

    for (uint32_t i = 0; i < CODES; i++)
        codes[i] = (uint16_t)i;
    widen(type, cpu, codes, values, CODES);
    narrow(type, cpu, values, back, CODES);
    for (uint32_t i = 0; i < CODES; i++) {
        uint16_t magnitude = i & (SIGN - 1u);
        uint32_t sign = i >= SIGN ? 0x80000000u : 0, bits = bits_of_float(values[i]);
        uint16_t expected = (uint16_t)i;

        if (magnitude > type->infinite) {
            check(isnan(values[i]), "%s %04x at %s", type->name, i, gufo_cpu_name(cpu));
            expected = type->nan_of(bits);
        } else {
            check(bits == (bits_of_float(type->value_of(magnitude)) | sign), "%s %04x at %s is %a",
                  type->name, i, gufo_cpu_name(cpu), (double)values[i]);
        }
        check(back[i] == expected, "%s %04x at %s became %04x", type->name, i, gufo_cpu_name(cpu),
              back[i]);
    }
}

static void test_codes(void **state)
{
    (void)state;
    for_each_level(check_codes);
}

/* ---- every limit ---------------------------------------------------------------------------- */

/* Halfway between a code and the next one, as if exponents had no end. */
static float limit_above(const narrow_type *type, uint16_t code)
{
    double low = (double)type->value_of(code), high = (double)type->value_of(code + 1);

    if (isinf(high))
        high = 2 * low - (double)type->value_of(code - 1);
    return (float)((low + high) / 2); /* exact */
}

static void check_limits(const narrow_type *type, gufo_cpu cpu)
{
    enum { EACH = 6 };
    static float values[EACH * SIGN];
    static uint16_t codes[EACH * SIGN];
    size_t count = 0;

    for (uint16_t code = 0; code < type->infinite; code++) {
        float limit = limit_above(type, code);
        const float around[] = {nextafterf(limit, 0), limit, nextafterf(limit, INFINITY)};
        for (size_t i = 0; i < COUNT_OF(around); i++) {
            values[count++] = around[i];
            values[count++] = -around[i];
        }
    }
    narrow(type, cpu, values, codes, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t code = (uint32_t)(i / EACH), place = (uint32_t)(i / 2 % 3),
                 sign = i % 2 ? SIGN : 0;
        uint32_t expected = place == 0 ? code : place == 2 ? code + 1 : code + (code & 1);
        check(codes[i] == (expected | sign), "%s at %s: %a became %04x, expected %04x", type->name,
              gufo_cpu_name(cpu), (double)values[i], codes[i], expected | sign);
    }
}

static void test_limits(void **state)
{
    (void)state;
    for_each_level(check_limits);
}

/* ---- what is out of range ------------------------------------------------------------------- */

static void check_extremes(const narrow_type *type, gufo_cpu cpu)
{
    static const uint32_t nans[] = {0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc12345, 0x7fffffff,
                                    0xff800001, 0xffc00000, 0xffdeadbf, 0xffffffff};
    const float values[] = {FLT_MAX, INFINITY, -FLT_MAX, -INFINITY};
    uint16_t codes[COUNT_OF(nans)];
    float nan_values[COUNT_OF(nans)];

    narrow(type, cpu, values, codes, COUNT_OF(values));
    for (size_t i = 0; i < COUNT_OF(values); i++)
        check(codes[i] == (type->infinite | (i >= 2 ? SIGN : 0)), "%s at %s: %a became %04x",
              type->name, gufo_cpu_name(cpu), (double)values[i], codes[i]);
    for (size_t i = 0; i < COUNT_OF(nans); i++)
        nan_values[i] = float_of_bits(nans[i]);
    narrow(type, cpu, nan_values, codes, COUNT_OF(nans));
    for (size_t i = 0; i < COUNT_OF(nans); i++)
        check(codes[i] == type->nan_of(nans[i]), "%s at %s: NaN %08x became %04x", type->name,
              gufo_cpu_name(cpu), nans[i], codes[i]);
}

static void test_extremes(void **state)
{
    (void)state;
    for_each_level(check_extremes);
}

/* ---- reference vectors ---------------------------------------------------------------------- */

static void *read_conversion(const char *name)
{
    path_text path = path_join(need_shared("data/codec/vectors/conv").text, name);
    size_t len;

    return read_file(path.text, &len);
}

static void check_vector(const narrow_type *type, gufo_cpu cpu)
{
    enum { COUNT = 4096 };
    char coded[32], decoded[32];
    uint16_t codes[COUNT];
    float values[COUNT];

    snprintf(coded, sizeof coded, "special.%s.q", type->name);
    snprintf(decoded, sizeof decoded, "special.%s.q.dq.f32", type->name);
    float *input = read_conversion("special.f32"), *widened = read_conversion(decoded);
    uint16_t *expected = read_conversion(coded);
    floats_from_little_endian(input, COUNT);
    floats_from_little_endian(widened, COUNT);
    copy_numbers(expected, expected, COUNT, sizeof *expected, HOST_IS_BIG_ENDIAN);
    narrow(type, cpu, input, codes, COUNT);
    widen(type, cpu, codes, values, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        check(codes[i] == expected[i], "%s at %s: %a became %04x, expected %04x", type->name,
              gufo_cpu_name(cpu), (double)input[i], codes[i], expected[i]);
    check_same_floats(values, widened, COUNT, type->name, gufo_cpu_name(cpu));
    free(input);
    free(widened);
    free(expected);
}

static void test_vectors(void **state)
{
    (void)state;
    for_each_level(check_vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
