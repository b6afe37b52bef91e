/* AWQ: numbers by the rules of its version GEMM, the blocks that hold them, and what is refused. */
#include "packed_integers.h"

enum { WEIGHT, ZEROS, SCALES };

/* The outputs of the numbers in a word, the lowest bits first. */
static const uint32_t outputs[8] = {0, 2, 4, 6, 1, 3, 5, 7};

static integers numbers;

/* Where output `row` is among the numbers of its word. */
static uint32_t place_of(uint32_t row)
{
    uint32_t place = 0;

    while (outputs[place] != row % 8)
        place++;
    return place;
}

static void pack(packed_case *c, const integers *n)
{
    const integer_shape *s = &n->shape;
    uint32_t width = s->rows / 8;
    uint8_t *weight = calloc((size_t)s->columns * width, 4);
    uint8_t *zeros = calloc((size_t)n->groups * width, 4);
    uint8_t *scales = calloc((size_t)n->groups * s->rows, 4);

    for (uint32_t row = 0; row < s->rows; row++) {
        for (uint32_t i = 0; i < s->columns; i++)
            put_number(weight, (size_t)i * width + row / 8, place_of(row), 4,
                       n->codes[row * s->columns + i]);
        for (uint32_t g = 0; g < n->groups; g++) {
            put_number(zeros, (size_t)g * width + row / 8, place_of(row), 4,
                       (unsigned)n->zeros[row * n->groups + g]);
            put_scale(scales, (size_t)g * s->rows + row, s->dtype,
                      n->scale_bits[row * n->groups + g]);
        }
    }
    packed_new(c, &packed_awq);
    c->weight.settings = (packed_settings){.bits = 4, .group = s->group};
    packed_part(c, WEIGHT, "I32", 2, (uint64_t[]){s->columns, width}, weight);
    packed_part(c, ZEROS, "I32", 2, (uint64_t[]){n->groups, width}, zeros);
    packed_part(c, SCALES, s->dtype, 2, (uint64_t[]){n->groups, s->rows}, scales);
    free(weight);
    free(zeros);
    free(scales);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *label;
        integer_shape shape;
        const char *type;
    } rows[] = {
        {"any zeros", {96, 576, 4, 64, -1, "F16", false, NO_ORDER}, NULL},
        {"zeros 8", {64, 256, 4, 128, 8, "F16", false, NO_ORDER}, "Q4_0"},
        {"zeros 2", {64, 256, 4, 32, 2, "F16", false, NO_ORDER}, "Q4_1"},
        {"one word", {8, 64, 4, 64, 8, "F16", false, NO_ORDER}, "Q4_0"},
        {"odd columns", {8, 33, 4, 11, -1, "BF16", false, NO_ORDER}, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        make_integers(&numbers, &rows[i].shape);
        pack(&c, &numbers);
        check_packed(&c, rows[i].type, numbers.expected, rows[i].label);
        packed_done(&c);
    }
}

static void test_bad(void **state)
{
    static const integer_shape good = {16, 64, 4, 32, 8, "F16", false, NO_ORDER};
    static const struct {
        uint32_t part, n_dims;
        const char *dtype;
        uint64_t shape[2];
        uint32_t bits, group;
        gufo_status code;
        const char *text;
    } rows[] = {
        {WEIGHT, 2, "F32", {64, 2}, 4, 32, GUFO_E_TYPE, ".qweight has type F32"},
        {WEIGHT, 2, "I32", {64, 2}, 8, 32, GUFO_E_TYPE, "weights of 8 bits"},
        {WEIGHT, 2, "I32", {64, 2}, 4, 24, GUFO_E_MALFORMED, "groups of 24 columns do not divide"},
        {WEIGHT, 2, "I32", {64, 0}, 4, 32, GUFO_E_MALFORMED, "no numbers"},
        {WEIGHT,
         2,
         "I32",
         {64, 3},
         4,
         32,
         GUFO_E_MALFORMED,
         ".qzeros has shape [2, 2], but [2, 3]"},
        {ZEROS, 1, "I32", {4}, 4, 32, GUFO_E_MALFORMED, ".qzeros has shape [4]"},
        {SCALES, 2, "F16", {2, 2}, 4, 32, GUFO_E_MALFORMED, ".scales has shape [2, 2]"},
    };

    (void)state;
    make_integers(&numbers, &good);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &numbers);
        packed_part(&c, rows[i].part, rows[i].dtype, rows[i].n_dims, rows[i].shape, NULL);
        c.weight.settings.bits = rows[i].bits;
        c.weight.settings.group = rows[i].group;
        check_not_opened(&c, rows[i].code, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_bad)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
