/* pack-quantized of compressed-tensors: numbers by the rules of the format, the blocks that hold them,
 * and what is refused. */
#include "packed_integers.h"

enum { WEIGHT, SCALES, SHAPE, ZEROS, ORDER };

static integers numbers;

static void add_shape(packed_case *c, const char *dtype, uint64_t rows, uint64_t columns)
{
    uint8_t sizes[16] = {0};
    size_t width = strcmp(dtype, "I64") == 0 ? 8 : 4;

    for (size_t i = 0; i < width; i++) {
        sizes[i] = (uint8_t)(rows >> 8 * i);
        sizes[width + i] = (uint8_t)(columns >> 8 * i);
    }
    packed_part(c, SHAPE, dtype, 1, (uint64_t[]){2}, sizes);
}

/* Zeros are stored unless all are the middle. */
static void pack(packed_case *c, const integers *n)
{
    const integer_shape *s = &n->shape;
    uint32_t width = (s->columns + n->per - 1) / n->per, height = (s->rows + n->per - 1) / n->per;
    uint8_t *weight = calloc((size_t)s->rows * width, 4);
    uint8_t *zeros = calloc((size_t)height * n->groups, 4);
    uint8_t *scales = calloc((size_t)s->rows * n->groups, 4), order[4 * INTEGER_COLUMNS];

    for (uint32_t row = 0; row < s->rows; row++) {
        for (uint32_t i = 0; i < s->columns; i++)
            put_number(weight, (size_t)row * width + i / n->per, i % n->per, s->bits,
                       n->codes[row * s->columns + i]);
        for (uint32_t g = 0; g < n->groups; g++) {
            put_number(zeros, (size_t)(row / n->per) * n->groups + g, row % n->per, s->bits,
                       (unsigned)n->zeros[row * n->groups + g]);
            put_scale(scales, (size_t)row * n->groups + g, s->dtype,
                      n->scale_bits[row * n->groups + g]);
        }
    }
    for (uint32_t i = 0; i < s->columns; i++)
        put_word(order, i, n->order[i]);
    packed_new(c, &packed_int);
    c->weight.settings = (packed_settings){
        .bits = s->bits, .group = s->group, .symmetric = s->zero == 1 << (s->bits - 1)};
    packed_part(c, WEIGHT, "I32", 2, (uint64_t[]){s->rows, width}, weight);
    packed_part(c, SCALES, s->dtype, 2, (uint64_t[]){s->rows, n->groups}, scales);
    add_shape(c, "I64", s->rows, s->columns);
    if (!c->weight.settings.symmetric)
        packed_part(c, ZEROS, "I32", 2, (uint64_t[]){height, n->groups}, zeros);
    if (s->order != NO_ORDER)
        packed_part(c, ORDER, "I32", 1, (uint64_t[]){s->columns}, order);
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
        {"symmetric", {96, 576, 4, 64, 8, "F16", false, NO_ORDER}, "Q4_0"},
        {"BF16", {96, 576, 4, 64, 8, "BF16", false, NO_ORDER}, "Q4_0"},
        {"any zeros", {61, 256, 4, 128, -1, "BF16", false, NO_ORDER}, NULL},
        {"zeros 4", {61, 256, 4, 128, 4, "BF16", false, NO_ORDER}, "Q4_1"},
        {"a whole row", {5, 128, 4, 128, 8, "F16", false, NO_ORDER}, "Q4_0"},
        {"order", {5, 128, 4, 32, 8, "F16", false, BLOCK_ORDER}, "Q4_0"},
        {"any order", {5, 128, 4, 32, -1, "F16", false, ANY_ORDER}, NULL},
        {"a last word", {7, 66, 4, 33, 8, "F16", false, NO_ORDER}, NULL},
        {"two bits", {7, 66, 2, 33, -1, "F16", false, NO_ORDER}, NULL},
        {"three bits", {23, 96, 3, 32, 4, "F16", false, NO_ORDER}, "Q4_0"},
        {"three bits, any zeros", {23, 95, 3, 19, -1, "F16", false, NO_ORDER}, NULL},
        {"five bits", {7, 64, 5, 32, 16, "F16", false, NO_ORDER}, "Q8_0"},
        {"six bits", {7, 64, 6, 32, -1, "F16", false, NO_ORDER}, "Q8_0"},
        {"seven bits", {7, 64, 7, 64, 64, "F32", false, NO_ORDER}, NULL},
        {"eight bits", {17, 128, 8, 32, 128, "F16", false, NO_ORDER}, "Q8_0"},
        {"eight bits, any zeros", {17, 130, 8, 65, -1, "F16", false, NO_ORDER}, NULL},
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

static const integer_shape good = {16, 64, 4, 64, 8, "F16", false, NO_ORDER};

/* One scale for a row may have no axis of its own, groups of 0 columns mean rows, and the shape may
 * have 32 bits. */
static void test_other_spellings(void **state)
{
    packed_case c;
    uint8_t scales[32];

    (void)state;
    make_integers(&numbers, &good);
    pack(&c, &numbers);
    memcpy(scales, c.bytes.data + c.tensors[SCALES].offset, sizeof scales);
    packed_part(&c, SCALES, "F16", 1, (uint64_t[]){16}, scales);
    add_shape(&c, "I32", 16, 64);
    c.weight.settings.group = 0;
    check_packed(&c, "Q4_0", numbers.expected, "other spellings");
    packed_done(&c);
}

static void test_bad_sizes(void **state)
{
    static const struct {
        uint64_t rows, columns;
        const char *text;
    } rows[] = {
        {16, 65, "[16, 8], but [16, 9]"},
        {17, 64, "[16, 8], but [17, 8]"},
        {0, 64, "but [0, 8]"},
        {16, 0, "but [16, 0]"},
        {UINT64_MAX, 64, "but [18446744073709551615, 8]"},
        {16, UINT64_MAX, ".weight_packed has shape [16, 8]"},
        {16, 60, "groups of 64 columns do not divide rows of 60"},
    };

    (void)state;
    make_integers(&numbers, &good);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &numbers);
        add_shape(&c, "I64", rows[i].rows, rows[i].columns);
        check_not_opened(&c, GUFO_E_MALFORMED, rows[i].text);
    }
}

static void test_bad_parts(void **state)
{
    static const struct {
        uint32_t part, n_dims;
        const char *dtype;
        uint64_t shape[2];
        gufo_status code;
        const char *text;
    } rows[] = {
        {WEIGHT, 2, "I8", {16, 8}, GUFO_E_TYPE, ".weight_packed has type I8"},
        {WEIGHT, 2, "I32", {8, 16}, GUFO_E_MALFORMED, ".weight_packed has shape [8, 16]"},
        {SCALES, 2, "F16", {16, 2}, GUFO_E_MALFORMED, ".weight_scale has shape [16, 2]"},
        {SCALES, 0, "F16", {0}, GUFO_E_MALFORMED, ".weight_scale has shape []"},
        {SHAPE, 1, "I64", {3}, GUFO_E_MALFORMED, ".weight_shape has shape [3], but [2]"},
        {SHAPE, 1, "F32", {2}, GUFO_E_TYPE, ".weight_shape has type F32"},
        {ZEROS, 2, "I32", {16, 1}, GUFO_E_MALFORMED, ".weight_zero_point has shape [16, 1]"},
        {ORDER, 1, "I32", {16}, GUFO_E_MALFORMED, ".weight_g_idx has shape [16]"},
    };

    (void)state;
    make_integers(&numbers, &good);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &numbers);
        packed_part(&c, rows[i].part, rows[i].dtype, rows[i].n_dims, rows[i].shape, NULL);
        check_not_opened(&c, rows[i].code, rows[i].text);
    }
}

static void test_bad_settings(void **state)
{
    packed_case c;

    (void)state;
    make_integers(&numbers, &good);
    for (uint32_t bits = 0; bits < 40; bits = bits == 1 ? 9 : bits + 1) {
        pack(&c, &numbers);
        c.weight.settings.bits = bits;
        check_not_opened(&c, GUFO_E_TYPE, "bits are not converted");
    }
    pack(&c, &numbers);
    c.weight.settings.symmetric = false;
    check_not_opened(&c, GUFO_E_MALFORMED, "no .weight_zero_point");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_other_spellings),
        cmocka_unit_test(test_bad_sizes),    cmocka_unit_test(test_bad_parts),
        cmocka_unit_test(test_bad_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
