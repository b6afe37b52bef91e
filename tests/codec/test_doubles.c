/* Rows of doubles: every level does what plain loops do, to the bit. */
#include "../support/codec.h"

#include "codec/kernels.h"
#include "codec/half.h"

#include <math.h>

enum { MOST = 300 };

/* ---- products ------------------------------------------------------------------------------- */

typedef struct shape {
    uint64_t rows, columns, rank;
} shape;

static const shape shapes[] = {{1, 1, 1},   {9, 300, 16}, {4, 32, 1}, {5, 33, 64},
                               {8, 97, 65}, {3, 64, 200}, {7, 31, 3}, {6, 8, 129}};

static void fill(float *out, uint64_t count, number_source *numbers)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = next_weight(numbers);
}

static void add_plainly(double *values, const shape *s, const float *left, const float *right,
                        double number)
{
    for (uint64_t row = 0; row < s->rows; row++)
        for (uint64_t i = 0; i < s->columns; i++) {
            double sum = 0;

            for (uint64_t k = 0; k < s->rank; k++)
                sum += (double)left[row * s->rank + k] * (double)right[k * s->columns + i];
            values[row * s->columns + i] += number * sum;
        }
}

static void check_product(const shape *s, gufo_cpu cpu)
{
    static float left[9 * MOST], right[MOST * MOST];
    static double expected[9 * MOST], got[9 * MOST];
    number_source numbers = {s->rank};
    const low_rank_product p = {got, s->rows, s->columns, left, right, s->rank, 1.0 / 3};
    uint64_t count = s->rows * s->columns;

    fill(left, s->rows * s->rank, &numbers);
    fill(right, s->rank * s->columns, &numbers);
    for (uint64_t i = 0; i < count; i++)
        expected[i] = got[i] = (double)next_weight(&numbers);
    add_plainly(expected, s, left, right, 1.0 / 3);
    cpu_doubles(cpu)->add_product(&p);
    check(memcmp(got, expected, (size_t)count * sizeof *got) == 0, "%s: %d x %d of rank %d",
          gufo_cpu_name(cpu), (int)s->rows, (int)s->columns, (int)s->rank);
}

static void test_products(void **state)
{
    (void)state;
    for (size_t level = 0; level < cpu_level_count(); level++)
        for (size_t i = 0; i < COUNT_OF(shapes); i++)
            check_product(&shapes[i], cpu_level(level));
}

/* From floats to floats is the same as by doubles; numbers below the normal ones are among them. */
static void check_merged(const shape *s, bool to_odd, gufo_cpu cpu)
{
    static float left[9 * MOST], right[MOST * MOST], expected[9 * MOST], got[9 * MOST];
    static double doubles[9 * MOST];
    number_source numbers = {s->rank};
    const double_kernels *plain = cpu_doubles(GUFO_CPU_PORTABLE);
    low_rank_product p = {doubles, s->rows, s->columns, left, right, s->rank, 1.0 / 3};
    uint64_t count = s->rows * s->columns;

    fill(left, s->rows * s->rank, &numbers);
    fill(right, s->rank * s->columns, &numbers);
    fill(got, count, &numbers);
    for (uint64_t k = 0; k < s->rank; k++)
        left[k] = 0x1p-142f;
    for (uint64_t i = 0; i < s->columns; i += 3)
        got[i] = 0x1p-140f;
    plain->widen(got, count, doubles);
    add_plainly(doubles, s, left, right, p.number);
    if (to_odd)
        plain->round_odd(doubles, count);
    plain->narrow(doubles, count, expected);
    p.values = NULL;
    cpu_doubles(cpu)->merge_product(&p, got, to_odd);
    check_same_floats(got, expected, (size_t)count, "merged", gufo_cpu_name(cpu));
}

static void test_merging(void **state)
{
    (void)state;
    for (size_t level = 0; level < cpu_level_count(); level++)
        for (size_t i = 0; i < COUNT_OF(shapes); i++)
            for (int odd = 0; odd < 2; odd++)
                check_merged(&shapes[i], odd != 0, cpu_level(level));
}

/* ---- rounding ------------------------------------------------------------------------------- */

/* The nearest number with `bits` bits that is a multiple of 2^least, ties to even. */
static double nearest(double value, int bits, int least, double largest)
{
    int exponent;
    double unit, rounded;

    if (value == 0 || !isfinite(value))
        return value;
    (void)frexp(value, &exponent);
    unit = ldexp(1, exponent - bits < least ? least : exponent - bits);
    rounded = rint(value / unit) * unit;
    return fabs(rounded) > largest ? copysign(HUGE_VAL, value) : rounded;
}

static double as_bf16(float value)
{
    uint32_t bits = float_to_bits(value);

    return (double)float_from_bits((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

static void check_rounded(double value, double odd, gufo_cpu cpu)
{
    float narrow;

    cpu_doubles(cpu)->narrow(&odd, 1, &narrow);
    check((double)narrow == odd, "%s: %a is not a float", gufo_cpu_name(cpu), odd);
    check((double)half_to_float(half_from_float(narrow)) == nearest(value, 11, -24, 65504),
          "%s: %a to F16", gufo_cpu_name(cpu), value);
    check(as_bf16(narrow) == nearest(value, 8, -133, 0x1.fep127), "%s: %a to BF16",
          gufo_cpu_name(cpu), value);
}

/* Around every place where a nearest float would be halfway between two narrower numbers. */
static size_t add_around(double *values, double middle)
{
    static const double steps[] = {0, 0x1p-52, -0x1p-52, 0x1p-30, -0x1p-30, 0x1p-23, 0x1p-24};
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        values[count++] = middle * (1 + steps[i]);
        values[count++] = -middle * (1 + steps[i]);
    }
    return count;
}

static void test_rounding_to_odd(void **state)
{
    static const double middles[] = {0x1.002p0,  0x1.006p3,   0x1.01p5,   0x1.03p-20, 0x1.8p-25,
                                     0x1p-25,    0x1.8p-24,   0x1.ffep15, 0x1.ffp127, 0x1p-134,
                                     0x1.8p-133, 0x1p-149,    0x1.8p-140, 0x1p-200,   0x1.4p-130,
                                     0,          0x1.feap126, 0x1.fffp15};
    enum { ALL = COUNT_OF(middles) * 14 };
    double values[ALL], odd[ALL];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(middles); i++)
        count += add_around(values + count, middles[i]);
    for (size_t level = 0; level < cpu_level_count(); level++) {
        gufo_cpu cpu = cpu_level(level);

        memcpy(odd, values, sizeof odd);
        cpu_doubles(cpu)->round_odd(odd, count);
        for (size_t i = 0; i < count; i++)
            check_rounded(values[i], odd[i], cpu);
    }
}

/* Long runs of usual numbers, and what no rounding changes. */
static void test_rounding_runs(void **state)
{
    static double values[MOST], odd[MOST];
    number_source numbers = {5};

    (void)state;
    for (size_t i = 0; i < MOST; i++)
        values[i] = (double)next_weight(&numbers) * (1 + (double)next_weight(&numbers) * 0x1p-20);
    for (size_t level = 0; level < cpu_level_count(); level++) {
        gufo_cpu cpu = cpu_level(level);

        memcpy(odd, values, sizeof odd);
        odd[130] = HUGE_VAL;
        odd[131] = (double)NAN;
        cpu_doubles(cpu)->round_odd(odd, MOST);
        for (size_t i = 0; i < MOST; i++)
            if (i != 130 && i != 131)
                check_rounded(values[i], odd[i], cpu);
        check(odd[130] == HUGE_VAL && isnan(odd[131]), "%s", gufo_cpu_name(cpu));
    }
}

static void test_floats(void **state)
{
    float floats[MOST], back[MOST];
    double wide[MOST];
    number_source numbers = {9};

    (void)state;
    fill(floats, MOST, &numbers);
    for (size_t level = 0; level < cpu_level_count(); level++) {
        const double_kernels *kernels = cpu_doubles(cpu_level(level));

        kernels->widen(floats, MOST - 1, wide);
        for (size_t i = 0; i < MOST - 1; i++)
            check(wide[i] == (double)floats[i], "number %zu", i);
        kernels->narrow(wide, MOST - 1, back);
        check_same_floats(back, floats, MOST - 1, "back", gufo_cpu_name(cpu_level(level)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_rounding_to_odd), cmocka_unit_test(test_rounding_runs),
        cmocka_unit_test(test_floats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
