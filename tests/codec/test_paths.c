/* Every processor level gives the same bytes as plain C: for good values, for values that no model
 * should hold, and for rows that do not fill the lanes. */
#include "../support/check.h"
#include "../support/codec.h"
#include "../support/pace.h"

#include <float.h>
#include <math.h>

/* ---- inputs --------------------------------------------------------------------------------- */

static float usual(number_source *source, uint64_t i)
{
    (void)i;
    return next_weight(source);
}

/* Mostly zero, with whole sub-blocks of zeros and of -0. */
static float sparse(number_source *source, uint64_t i)
{
    float v = next_weight(source);

    return i / 16 % 3 != 0 ? 0 : i / 32 % 5 == 0 ? -0.0f : next_number(source) % 8 == 0 ? v : 0;
}

static float constant(number_source *source, uint64_t i)
{
    (void)source;
    return i / 256 % 2 == 0 ? 0.125f : -0.7f;
}

/* Magnitudes and ties that codes meet exactly. */
static float whole_numbers(number_source *source, uint64_t i)
{
    (void)i;
    return (float)((int)(next_number(source) % 33) - 16) * 0.5f;
}

static float outliers(number_source *source, uint64_t i)
{
    float v = next_weight(source);

    return i % 97 == 5 ? v * 30000 : v;
}

static float largest_half(number_source *source, uint64_t i)
{
    (void)i;
    return (float)((int)(next_number(source) % 131009) - 65504);
}

static float subnormal_half(number_source *source, uint64_t i)
{
    (void)i;
    return next_weight(source) * 0x1p-20f;
}

static float subnormal(number_source *source, uint64_t i)
{
    (void)i;
    return next_weight(source) * 0x1p-126f;
}

static float huge(number_source *source, uint64_t i)
{
    (void)i;
    return next_weight(source) * 0x1p126f;
}

static float any_finite(number_source *source, uint64_t i)
{
    uint32_t bits = (uint32_t)next_number(source);
    float v;

    (void)i;
    memcpy(&v, &bits, sizeof v);
    return isfinite(v) ? v : 1.0f;
}

static float nonfinite(number_source *source, uint64_t i)
{
    static const float values[] = {INFINITY, -INFINITY, NAN, -NAN, FLT_MAX};
    float v = next_weight(source);

    return i % 41 == 7 ? values[next_number(source) % COUNT_OF(values)] : v;
}

/* Importance: as measured, and with columns that were never used. */
static float measured(number_source *source, uint64_t i)
{
    float v = next_weight(source) * 50;

    return i / 32 % 4 == 3 ? 0 : v * v + 0x1p-20f;
}

/* What nobody measures: nearly all columns without importance, others infinite, NaN, negative. */
static float strange(number_source *source, uint64_t i)
{
    static const float values[] = {INFINITY, NAN, -1, FLT_MAX, FLT_TRUE_MIN, -0.0f};
    float v = measured(source, i);

    if (i / 256 % 2 == 0)
        return i % 13 == 3 ? v : 0;
    return i % 41 == 7 ? values[next_number(source) % COUNT_OF(values)] : v;
}

typedef float number_maker(number_source *source, uint64_t i);

static const struct {
    const char *name;
    number_maker *value, *importance;
} inputs[] = {
    {"usual", usual, measured},
    {"sparse", sparse, measured},
    {"constant", constant, strange},
    {"whole numbers", whole_numbers, measured},
    {"outliers", outliers, strange},
    {"largest half", largest_half, measured},
    {"subnormal half", subnormal_half, measured},
    {"subnormal", subnormal, measured},
    {"huge", huge, measured},
    {"any finite", any_finite, strange},
    {"infinite and NaN", nonfinite, measured},
};

/* ---- encoding ------------------------------------------------------------------------------- */

enum { MOST = 19 * 256 };

typedef struct shape {
    uint64_t rows, blocks; /* blocks of a row */
} shape;

/* Fewer than the lanes, more, a few times their number. */
static const shape shapes[] = {{1, 1}, {3, 3}, {2, 9}, {1, 19}};

static void check_encoding(const gufo_element_type *type, const char *input, const shape *s,
                           const float *values, const float *importance)
{
    static uint8_t expected[MOST * 8], got[MOST * 8];
    uint64_t columns = s->blocks * type->block_elements;
    size_t bytes = (size_t)(s->rows * s->blocks * type->block_bytes);

    if (importance == NULL && (type->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) != 0)
        return;
    for (int effort = GUFO_EFFORT_REFERENCE; effort <= GUFO_EFFORT_HIGH; effort++) {
        for (size_t l = 0; l < cpu_level_count(); l++) {
            uint8_t *out = l == 0 ? expected : got;
            encode_with(type, cpu_level(l), (gufo_effort)effort, values, s->rows, columns,
                        importance, out);
            check(memcmp(out, expected, bytes) == 0,
                  "%s, %s, %" PRIu64 " x %" PRIu64 "%s%s, %s: %s", type->name, input, s->rows,
                  columns, importance != NULL ? ", importance" : "",
                  effort == GUFO_EFFORT_HIGH ? ", high" : "", gufo_cpu_name(cpu_level(l)),
                  first_difference(type, out, expected, bytes).text);
        }
    }
}

static void check_type(const gufo_element_type *type, size_t input)
{
    static float values[MOST], importance[MOST];
    number_source source = {input + 1000u * type->id};
    const size_t step = all_some_or_few(1, 4, 4);

    for (size_t s = input % step; s < COUNT_OF(shapes); s += step) {
        uint64_t count = shapes[s].rows * shapes[s].blocks * type->block_elements;
        for (uint64_t i = 0; i < count; i++) {
            values[i] = inputs[input].value(&source, i);
            importance[i] = inputs[input].importance(&source, i);
        }
        check_encoding(type, inputs[input].name, &shapes[s], values, NULL);
        check_encoding(type, inputs[input].name, &shapes[s], values, importance);
    }
}

static void test_encode(void **state)
{
    (void)state;
    for (size_t t = 0; t < gufo_element_type_count(); t++)
        for (size_t i = 0; i < COUNT_OF(inputs); i++)
            if ((gufo_element_type_at(t)->flags & GUFO_ELEMENT_ENCODES) != 0)
                check_type(gufo_element_type_at(t), i);
}

/* ---- decoding ------------------------------------------------------------------------------- */

static void check_decoding(const gufo_element_type *type, uint64_t blocks)
{
    static uint8_t bytes[MOST * 8];
    static float expected[MOST], got[MOST];
    number_source source = {type->id};

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)next_number(&source);
    for (size_t l = 0; l < cpu_level_count(); l++) {
        float *out = l == 0 ? expected : got;
        assert_int_equal(gufo_decode(type, bytes, 8, blocks * type->block_elements / 8, out,
                                     &(gufo_run){.cpu = cpu_level(l)}, NULL),
                         GUFO_OK);
        check_same_floats(out, expected, blocks * type->block_elements, type->name,
                          gufo_cpu_name(cpu_level(l)));
    }
}

static void test_decode(void **state)
{
    (void)state;
    for (size_t t = 0; t < gufo_element_type_count(); t++)
        if ((gufo_element_type_at(t)->flags & GUFO_ELEMENT_DECODES) != 0)
            for (uint64_t blocks = 8; blocks <= 16; blocks += 8)
                check_decoding(gufo_element_type_at(t), blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_decode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
