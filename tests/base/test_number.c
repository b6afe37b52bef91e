/* Shortest numbers: known texts, and for random bit patterns that the text reads back, that no
 * decimal with fewer digits does, and that no other with as many digits is nearer.  The judges are
 * printf and strtod, which round exactly. */
#include "../support/check.h"
#include "../support/pace.h"

#include <locale.h>
#include <math.h>

#include "base/number.h"

/* Of random numbers: printf and strtod take long. */
static unsigned patterns(void)
{
    return all_some_or_few(20000, 2000, 200);
}

/* ---- known texts ---------------------------------------------------------------------------- */

static void known_f32(void **state)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.0f, "0"},
        {-0.0f, "-0.0"},
        {1.0f, "1"},
        {-1.0f, "-1"},
        {0.1f, "0.1"},
        {-0.25f, "-0.25"},
        {0.3f, "0.3"},
        {1e-5f, "0.00001"},
        {1e-6f, "1e-6"},
        {1.5e-7f, "1.5e-7"},
        {10000.0f, "10000"},
        {16777216.0f, "16777216"},
        {16777218.0f, "16777218"},
        {1e15f, "1000000000000000"},
        {1e16f, "1e16"},
        {123456792.0f, "123456790"},
        {3.14159274f, "3.1415927"},
        {3.40282347e38f, "3.4028235e38"},
        {1.17549435e-38f, "1.1754944e-38"},
        {1.40129846e-45f, "1e-45"},
        {0x1p-126f - 0x1p-149f, "1.1754942e-38"},
        {0x1p90f, "1.2379401e27"},
        {9.8607613e-32f, "9.8607613e-32"}, /* 2^-103 */
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    char text[GUFO_NUMBER_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gufo_number_f32(text, cases[i].value), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void known_f64(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {-0.0, "-0.0"},
        {0.30000000000000004, "0.30000000000000004"},
        {(double)0.1f, "0.10000000149011612"},
        {1e15, "1000000000000000"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740992.0, "9007199254740992"},
        {1e16, "1e16"},
        {1e23, "1e23"},
        {123456789012345.67, "123456789012345.67"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
        {1.5e-323, "1.5e-323"},
        {0x1p-44, "5.684341886080802e-14"}, /* the closest with 16 digits does not read back */
        {0x1p-24, "5.960464477539063e-8"},
        {1.0 / 3, "0.3333333333333333"},
    };
    char text[GUFO_NUMBER_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gufo_number_f64(text, cases[i].value), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void known_integers(void **state)
{
    char text[GUFO_NUMBER_SIZE];

    (void)state;
    assert_int_equal(gufo_number_u64(text, 0), 1);
    assert_string_equal(text, "0");
    assert_int_equal(gufo_number_u64(text, UINT64_MAX), 20);
    assert_string_equal(text, "18446744073709551615");
    assert_int_equal(gufo_number_i64(text, INT64_MIN), 20);
    assert_string_equal(text, "-9223372036854775808");
    assert_int_equal(gufo_number_i64(text, INT64_MAX), 19);
    assert_string_equal(text, "9223372036854775807");
}

/* ---- random bit patterns -------------------------------------------------------------------- */

static bool reads_as(const char *text, double value, bool single)
{
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* The digits of a number without sign, point, exponent and zeros at either end. */
static size_t significant_digits(const char *text, char *digits)
{
    size_t count = 0;

    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

/* Neither the nearest decimal with `digits` digits nor those beside it read back as `value`. */
static void check_none_reads_back(double value, int digits, bool single)
{
    char text[64];
    int exponent;

    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) - (digits - 1);
    *strchr(text, 'e') = '\0';
    char *point = strchr(text, '.');

    if (point != NULL)
        memmove(point, point + 1, strlen(point));
    long long nearest = strtoll(text, NULL, 10);

    for (long long candidate = nearest - 1; candidate <= nearest + 1; candidate++) {
        snprintf(text, sizeof text, "%llde%d", candidate, exponent);
        if (reads_as(text, value, single))
            fail_msg("%.17g has the shorter text %s", value, text);
    }
}

static void check_number(double value, bool single)
{
    char text[GUFO_NUMBER_SIZE], digits[64], nearest[64];
    size_t len = single ? gufo_number_f32(text, (float)value) : gufo_number_f64(text, value);

    assert_int_equal(len, strlen(text));
    assert_true(len < GUFO_NUMBER_SIZE);
    if (!reads_as(text, value, single))
        fail_msg("%.17g was written as %s", value, text);
    int count = (int)significant_digits(text, digits);

    if (value == 0)
        return;
    if (count > 1)
        check_none_reads_back(fabs(value), count - 1, single);
    snprintf(nearest, sizeof nearest, "%.*e", count - 1, value);
    if (reads_as(nearest, value, single)) {
        char wanted[64];

        significant_digits(*nearest == '-' ? nearest + 1 : nearest, wanted);
        assert_string_equal(digits, wanted);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void check_bits_f32(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        check_number((double)value, true);
}

static void check_bits_f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        check_number(value, false);
}

static void random_f32(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15u;

    (void)state;
    for (unsigned i = patterns(); i-- > 0;)
        check_bits_f32((uint32_t)(next_random(&seed) >> 32));
}

static void random_f64(void **state)
{
    uint64_t seed = 0xd1b54a32d192ed03u;

    (void)state;
    for (unsigned i = patterns(); i-- > 0;)
        check_bits_f64(next_random(&seed));
}

/* Of a size that is usual for weights and scores, where the fast way works. */
static void random_moderate(void **state)
{
    uint64_t seed = 0x2545f4914f6cdd1du;

    (void)state;
    for (unsigned i = patterns(); i-- > 0;) {
        uint64_t bits = next_random(&seed);
        int exponent = (int)(bits % 80) - 20;
        double value = ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent);

        check_number(value, false);
        check_number((double)(float)value, true);
    }
}

/* Every power of two and its neighbours: where the distance to the neighbours changes. */
static void powers_of_two(void **state)
{
    (void)state;
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t step = 0; step < 3; step++)
            check_bits_f32((exponent << 23) + step - (exponent > 0));
    for (uint64_t exponent = 0; exponent < 2047; exponent++)
        for (uint64_t step = 0; step < 3; step++)
            check_bits_f64((exponent << 52) + step - (exponent > 0));
}

/* Decimals with few digits are what people write: they come back as they were. */
static void short_decimals(void **state)
{
    char text[GUFO_NUMBER_SIZE], digits[64];

    (void)state;
    for (int mantissa = 1; mantissa < 1000; mantissa++) {
        for (int exponent = -30; exponent <= 30; exponent++) {
            char source[32], wanted[64];

            snprintf(source, sizeof source, "%de%d", mantissa, exponent);
            significant_digits(source, wanted);
            gufo_number_f32(text, strtof(source, NULL));
            significant_digits(text, digits);
            assert_string_equal(digits, wanted);
            gufo_number_f64(text, strtod(source, NULL));
            significant_digits(text, digits);
            assert_string_equal(digits, wanted);
        }
    }
}

/* A locale with another decimal point changes nothing. */
static void other_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    char text[GUFO_NUMBER_SIZE];
    bool found = false;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    gufo_number_f64(text, 1e-300 / 3);
    assert_string_equal(text, "3.3333333333333334e-301");
    gufo_number_f32(text, 0.5f);
    assert_string_equal(text, "0.5");
    setlocale(LC_NUMERIC, "C");
}

static void test_shortest(void **state)
{
    static const struct {
        double value;
        const char *digits;
        int exponent;
    } rows[] = {{0, "0", 0},
                {-0.0, "0", 0},
                {1, "1", 0},
                {1200, "12", 3},
                {-1.5e-7, "15", -7},
                {0.1, "1", -1},
                {5e-324, "5", -324},
                {1e23, "1", 23},
                {0x1p-1022, "22250738585072014", -308},
                {0x1p53, "9007199254740992", 15}};
    char digits[GUFO_NUMBER_SIZE];
    int exponent;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_u64(number_shortest(rows[i].value, digits, &exponent), strlen(rows[i].digits), "%s",
                  rows[i].digits);
        assert_string_equal(digits, rows[i].digits);
        check(exponent == rows[i].exponent, "%s: %d", rows[i].digits, exponent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_f32),      cmocka_unit_test(known_f64),
        cmocka_unit_test(known_integers), cmocka_unit_test(random_f32),
        cmocka_unit_test(random_f64),     cmocka_unit_test(random_moderate),
        cmocka_unit_test(powers_of_two),  cmocka_unit_test(short_decimals),
        cmocka_unit_test(other_locale),   cmocka_unit_test(test_shortest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
