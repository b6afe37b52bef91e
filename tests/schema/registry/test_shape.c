/* Shapes in terms of keys: what is computed, and what has no answer. */
#include "../../support/check.h"

typedef struct known_value {
    const char *name;
    uint64_t value;
} known_value;

static const known_value values[] = {
    {"embedding_length", 4096},    {"head_count", 32},  {"key_length", 128},      {"zero", 0},
    {"two_63", UINT64_C(1) << 63}, {"max", UINT64_MAX}, {"ssm.inner_size", 8192}, {"x2", 5},
};

/* Per-layer values: those of block n are n + 1. */
static bool lookup(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    size_t *calls = context;

    ++*calls;
    if (gufo_str_equal(name, gufo_str_of("per_layer"))) {
        *out = block + 1;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(values); i++)
        if (gufo_str_equal(name, gufo_str_of(values[i].name))) {
            *out = values[i].value;
            return true;
        }
    return false;
}

static unsigned evaluate(const char *shape, uint64_t block, uint64_t dims[4])
{
    size_t calls = 0;

    return gufo_shape_evaluate(shape, block, lookup, &calls, dims);
}

static void test_answers(void **state)
{
    static const struct {
        const char *shape;
        unsigned count;
        uint64_t dims[4];
    } rows[] = {
        {"embedding_length", 1, {4096}},
        {"embedding_length,head_count*key_length", 2, {4096, 4096}},
        {"1,2,3,4", 4, {1, 2, 3, 4}},
        {"2+3*4", 1, {14}},
        {"2*3+4", 1, {10}},
        {"(2+3)*4", 1, {20}},
        {"2*(3+4)*5-1", 1, {69}},
        {"12/4/3", 1, {1}},
        {"12/(4/2)", 1, {6}},
        {"2*6/4", 1, {3}},
        {"10-3-2", 1, {5}},
        {"10-(3-2)", 1, {9}},
        {"((((((7))))))", 1, {7}},
        {"(((1+1)*(1+1)))", 1, {4}},
        {"zero", 1, {0}},
        {"zero/3", 1, {0}},
        {"5-5", 1, {0}},
        {"ssm.inner_size,x2", 2, {8192, 5}},
        {"max-1+1", 1, {UINT64_MAX}},
        {"18446744073709551615", 1, {UINT64_MAX}},
        {"two_63+(two_63-1)", 1, {UINT64_MAX}},
        {"007", 1, {7}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t dims[4] = {0};

        check_u64(evaluate(rows[i].shape, 0, dims), rows[i].count, "%s", rows[i].shape);
        for (unsigned j = 0; j < rows[i].count; j++)
            check_u64(dims[j], rows[i].dims[j], "%s: %u", rows[i].shape, j);
    }
}

static void test_no_answer(void **state)
{
    static const char *const rows[] = {
        "",
        "-",
        ",",
        "1,",
        ",1",
        "1,,2",
        "1,2,3,4,5",
        "+",
        "1+",
        "+1",
        "*2",
        "1*",
        "1**2",
        "1 2",
        "1 + 2",
        "(1",
        "1)",
        "()",
        "(,)",
        "(1,2)",
        "2(3)",
        "(2)3",
        "(2)(3)",
        "x2 x2",
        "unknown",
        "embedding_length,unknown",
        "1.5",
        "Upper",
        "?",
        "\xff",
        "2x",
        /* not a number of 64 bits, at some step */
        "max+1",
        "max*2",
        "two_63*2",
        "two_63+two_63",
        "18446744073709551616",
        "max*max",
        "1-2",
        "1-2+5",
        "zero-1",
        "5/0",
        "5/zero",
        "7/2",
        "0/0",
        "(max+1)-1",
        "2*(1-2)",
        /* deeper than tables need */
        "((((((((1))))))))",
        "((((((((((((((((((((((((",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t dims[4];

        check_u64(evaluate(rows[i], 0, dims), 0, "\"%s\"", rows[i]);
    }
}

/* The number of the block gets to the caller. */
static void test_blocks(void **state)
{
    uint64_t dims[4];

    (void)state;
    for (uint64_t block = 0; block < 3; block++) {
        check_u64(evaluate("10*per_layer,head_count", block, dims), 2, "%" PRIu64, block);
        check_u64(dims[0], 10 * (block + 1), "%" PRIu64, block);
    }
    check_u64(evaluate("per_layer", UINT64_MAX - 1, dims), 1, "the last block but one");
    check_u64(dims[0], UINT64_MAX, "the last block but one");
}

/* Random text of the right characters: it ends, within bounds, and what it says is repeatable. */
static void test_random(void **state)
{
    static const char alphabet[] = "0129+-*/(),,xz_.2";
    uint64_t random = 1, answered = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[13] = {0};
        uint64_t dims[4] = {0}, again[4] = {0};
        unsigned count;

        for (size_t j = 0; j < sizeof text - 1; j++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            text[j] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
            if ((random >> 60) == 0)
                break;
        }
        count = evaluate(text, 0, dims);
        check(count <= 4, "%s", text);
        check_u64(evaluate(text, 0, again), count, "%s", text);
        check(memcmp(dims, again, count * sizeof *dims) == 0, "%s", text);
        answered += count > 0;
    }
    check(answered > 100, "%" PRIu64, answered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
