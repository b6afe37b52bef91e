/* GPTQ: numbers by the rules of the format, the blocks that hold them, and what is refused. */
#include "packed_integers.h"

enum { WEIGHT, ZEROS, SCALES, ORDER };

static integers numbers;

/* The parts of `n`, packed number by number. */
static void pack(packed_case *c, const integers *n)
{
    const integer_shape *s = &n->shape;
    uint32_t height = s->columns / n->per, width = s->rows / n->per;
    uint8_t *weight = calloc((size_t)height * s->rows, 4);
    uint8_t *zeros = calloc((size_t)n->groups * width, 4);
    uint8_t *scales = calloc((size_t)n->groups * s->rows, 4), order[4 * INTEGER_COLUMNS];

    for (uint32_t row = 0; row < s->rows; row++) {
        for (uint32_t i = 0; i < s->columns; i++)
            put_number(weight, (size_t)(i / n->per) * s->rows + row, i % n->per, s->bits,
                       n->codes[row * s->columns + i]);
        for (uint32_t g = 0; g < n->groups; g++) {
            put_number(zeros, (size_t)g * width + row / n->per, row % n->per, s->bits,
                       (unsigned)(n->zeros[row * n->groups + g] - (s->plus_one ? 1 : 0)));
            put_scale(scales, (size_t)g * s->rows + row, s->dtype,
                      n->scale_bits[row * n->groups + g]);
        }
    }
    for (uint32_t i = 0; i < s->columns; i++)
        put_word(order, i, n->order[i]);
    packed_new(c, &packed_gptq);
    c->weight.settings =
        (packed_settings){.bits = s->bits, .group = s->group, .zero_plus_one = s->plus_one};
    packed_part(c, WEIGHT, "I32", 2, (uint64_t[]){height, s->rows}, weight);
    packed_part(c, ZEROS, "I32", 2, (uint64_t[]){n->groups, width}, zeros);
    packed_part(c, SCALES, s->dtype, 2, (uint64_t[]){n->groups, s->rows}, scales);
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
        {"symmetric", {64, 256, 4, 128, 8, "F16", true, SAME_ORDER}, "Q4_0"},
        {"version 2", {64, 256, 4, 32, 8, "F16", false, SAME_ORDER}, "Q4_0"},
        {"without order", {40, 64, 4, 32, 8, "F16", true, NO_ORDER}, "Q4_0"},
        {"zeros 4", {16, 128, 4, 64, 4, "F16", true, NO_ORDER}, "Q4_1"},
        {"zeros 16", {16, 128, 4, 64, 16, "F16", true, NO_ORDER}, "Q4_1"},
        {"zeros 0", {16, 128, 4, 64, 0, "F16", false, NO_ORDER}, "Q4_1"},
        {"zeros 7", {16, 128, 4, 64, 7, "F16", false, NO_ORDER}, NULL},
        {"any zeros", {96, 576, 4, 64, -1, "F16", true, SAME_ORDER}, NULL},
        {"one group", {8, 64, 4, 64, 8, "F16", true, SAME_ORDER}, "Q4_0"},
        {"small groups", {8, 64, 4, 16, 8, "F16", true, SAME_ORDER}, NULL},
        {"odd columns", {8, 40, 4, 40, 8, "F16", true, SAME_ORDER}, NULL},
        {"blocks in order", {24, 256, 4, 64, 8, "F16", true, BLOCK_ORDER}, "Q4_0"},
        {"any order", {24, 256, 4, 64, 8, "F16", true, ANY_ORDER}, NULL},
        {"any order, any zeros", {24, 256, 4, 64, -1, "F16", true, ANY_ORDER}, NULL},
        {"scales of BF16", {8, 64, 4, 32, 8, "BF16", true, NO_ORDER}, "Q4_0"},
        {"scales of F32", {8, 64, 4, 32, 8, "F32", true, NO_ORDER}, NULL},
        {"eight bits", {32, 128, 8, 64, 128, "F16", true, SAME_ORDER}, "Q8_0"},
        {"eight bits, any zeros", {32, 128, 8, 64, -1, "F16", true, SAME_ORDER}, NULL},
        {"two bits", {32, 128, 2, 64, 2, "F16", true, SAME_ORDER}, "Q4_0"},
        {"two bits, any zeros", {32, 128, 2, 32, -1, "F16", true, SAME_ORDER}, "Q4_0"},
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

/* More rows than are read at once for their type, and more words than a tile has. */
static void test_large(void **state)
{
    enum { ROWS = 8200, COLUMNS = 64, GROUPS = 4 };
    const size_t words = (size_t)ROWS * COLUMNS / 8;
    uint8_t *weight = malloc(words * 4), *scales = malloc((size_t)ROWS * GROUPS * 2);
    float *floats = malloc((size_t)ROWS * COLUMNS * sizeof *floats);
    packed_case c;
    uint64_t random = 3;

    (void)state;
    for (size_t i = 0; i < words * 4; i++)
        weight[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < (size_t)ROWS * GROUPS; i++) {
        scales[2 * i] = (uint8_t)random_next(&random);
        scales[2 * i + 1] = 0x20;
    }
    packed_new(&c, &packed_gptq);
    c.weight.settings = (packed_settings){.bits = 4, .group = COLUMNS / GROUPS};
    packed_part(&c, WEIGHT, "I32", 2, (uint64_t[]){COLUMNS / 8, ROWS}, weight);
    packed_part(&c, ZEROS, "I32", 2, (uint64_t[]){GROUPS, ROWS / 8}, NULL);
    packed_part(&c, SCALES, "F16", 2, (uint64_t[]){GROUPS, ROWS}, scales);
    check_ok(packed_open(&c), &c.error, "opens");
    check_ok(packed_find_type(&c), &c.error, "type");
    check_ok(c.weight.kind->floats(&c.weight, 0, ROWS, floats, &c.error), &c.error, "floats");
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        size_t row = i / COLUMNS, column = i % COLUMNS, word = column / 8 * ROWS + row;
        size_t scale = column / 16 * ROWS + row;
        unsigned code = (unsigned)weight[4 * word + column % 8 / 2] >> 4 * (column % 2) & 15u;

        if (floats[i] != float_of("F16", (uint16_t)(0x2000 | scales[2 * scale])) * (float)code)
            fail_msg("row %u, column %u", (unsigned)row, (unsigned)column);
    }
    packed_done(&c);
    free(weight);
    free(scales);
    free(floats);
}

/* ---- bad input ------------------------------------------------------------------------------ */

static const integer_shape good = {16, 64, 4, 32, 8, "F16", true, SAME_ORDER};

static void test_shapes(void **state)
{
    static const struct {
        uint32_t part, n_dims;
        const char *dtype;
        uint64_t shape[3];
        gufo_status code;
        const char *text;
    } rows[] = {
        {WEIGHT, 2, "F32", {8, 16}, GUFO_E_TYPE, ".qweight has type F32"},
        {WEIGHT, 1, "I32", {8}, GUFO_E_MALFORMED, ".qweight has shape [8]"},
        {WEIGHT, 3, "I32", {1, 8, 16}, GUFO_E_MALFORMED, ".qweight has shape [1, 8, 16]"},
        {WEIGHT, 2, "I32", {0, 16}, GUFO_E_MALFORMED, "no numbers"},
        {WEIGHT, 2, "I32", {8, 0}, GUFO_E_MALFORMED, "no numbers"},
        {WEIGHT, 2, "I32", {UINT64_MAX, 0}, GUFO_E_MALFORMED, "no numbers"},
        {WEIGHT, 2, "I32", {8, 17}, GUFO_E_MALFORMED, "17 outputs do not fill words"},
        {WEIGHT,
         2,
         "I32",
         {9, 16},
         GUFO_E_MALFORMED,
         "groups of 32 columns do not divide rows of 72"},
        {WEIGHT, 2, "I32", {16, 16}, GUFO_E_MALFORMED, ".qzeros has shape [2, 2], but [4, 2]"},
        {ZEROS, 2, "I32", {2, 3}, GUFO_E_MALFORMED, ".qzeros has shape [2, 3]"},
        {ZEROS, 2, "I64", {2, 2}, GUFO_E_TYPE, ".qzeros has type I64"},
        {SCALES, 2, "F16", {16, 2}, GUFO_E_MALFORMED, ".scales has shape [16, 2], but [2, 16]"},
        {SCALES, 2, "F64", {2, 16}, GUFO_E_TYPE, ".scales has type F64"},
        {SCALES, 2, "F8_E8M0", {2, 16}, GUFO_E_TYPE, ".scales has type F8_E8M0"},
        {SCALES, 2, "I32", {2, 16}, GUFO_E_TYPE, ".scales has type I32"},
        {ORDER, 1, "I32", {63}, GUFO_E_MALFORMED, ".g_idx has shape [63], but [64]"},
        {ORDER, 1, "I64", {64}, GUFO_E_TYPE, ".g_idx has type I64"},
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

static void test_settings(void **state)
{
    static const struct {
        uint32_t bits;
        uint64_t group;
        gufo_status code;
        const char *text;
    } rows[] = {
        {3, 32, GUFO_E_TYPE, "weights of 3 bits"},
        {0, 32, GUFO_E_TYPE, "weights of 0 bits"},
        {16, 32, GUFO_E_TYPE, "weights of 16 bits"},
        {UINT32_MAX, 32, GUFO_E_TYPE, "bits are not converted"},
        {4, 48, GUFO_E_MALFORMED, "groups of 48 columns do not divide rows of 64"},
        {4, 128, GUFO_E_MALFORMED, "groups of 128 columns do not divide rows of 64"},
        {4, UINT64_MAX, GUFO_E_MALFORMED, "do not divide rows of 64"},
        {4, 0, GUFO_E_MALFORMED, ".qzeros has shape [2, 2], but [1, 2]"},
        {8, 32, GUFO_E_MALFORMED, ".qzeros has shape [2, 2], but [1, 4]"},
    };

    (void)state;
    make_integers(&numbers, &good);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;

        pack(&c, &numbers);
        c.weight.settings.bits = rows[i].bits;
        c.weight.settings.group = rows[i].group;
        check_not_opened(&c, rows[i].code, rows[i].text);
    }
}

static void test_strides(void **state)
{
    static const uint64_t strides[] = {1, 1};
    packed_case c;

    (void)state;
    make_integers(&numbers, &good);
    pack(&c, &numbers);
    c.tensors[WEIGHT].strides = strides;
    check_not_opened(&c, GUFO_E_TYPE, "do not follow each other");
}

/* Scales that are not numbers are found when the type is looked for, and when rows are read. */
static void test_scales(void **state)
{
    static const struct {
        uint16_t bits;
        const char *text;
    } rows[] = {{0x7c00, "infinite"}, {0xfc00, "infinite"}, {0x7e00, "NaN"}, {0x7c01, "NaN"}};

    (void)state;
    make_integers(&numbers, &good);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        packed_case c;
        size_t at = 2 * (16 + 5); /* group 1 of row 5 */

        pack(&c, &numbers);
        put_scale(c.bytes.data + c.tensors[SCALES].offset, 16 + 5, "F16", rows[i].bits);
        check_ok(packed_open(&c), &c.error, "opens");
        check_not_read(&c, SCALES, at, rows[i].text);
        check_status(packed_find_type(&c), GUFO_E_MALFORMED, &c.error, "the type");
        check_u64(c.error.offset, c.tensors[SCALES].offset + at, "the type");
        packed_done(&c);
    }
}

/* A scale of zero is one of zeros. */
static void test_zero_scales(void **state)
{
    for (unsigned order = SAME_ORDER; order <= BLOCK_ORDER; order++) {
        integer_shape shape = good;
        packed_case c;
        uint8_t *bytes;

        (void)state;
        shape.order = order;
        make_integers(&numbers, &shape);
        pack(&c, &numbers);
        bytes = c.bytes.data;
        put_scale(bytes + c.tensors[SCALES].offset, 5, "F16", 0x8000);
        check_ok(packed_open(&c), &c.error, "opens");
        check_not_read(&c, SCALES, 10, "zero");
        for (size_t i = 0; i < 64; i++) /* of group 0, of row 5 */
            if (numbers.order[i] == 0) {
                size_t byte = (size_t)c.tensors[WEIGHT].offset + 4 * (i / 8 * 16 + 5) + i % 8 / 2;

                bytes[byte] = (uint8_t)((bytes[byte] & (i % 2 == 0 ? 0xf0 : 0x0f)) |
                                        (i % 2 == 0 ? 0x08 : 0x80));
                numbers.expected[5 * 64 + i] = -0.0f;
            }
        check_packed(&c, "Q4_0", numbers.expected, "zeros");
        packed_done(&c);
    }
}

static void test_order(void **state)
{
    packed_case c;

    (void)state;
    make_integers(&numbers, &good);
    pack(&c, &numbers);
    put_word(c.bytes.data + c.tensors[ORDER].offset, 9, 2);
    check_ok(packed_open(&c), &c.error, "opens");
    check_not_read(&c, ORDER, 36, "column 9 has group 2 of 2");
    put_word(c.bytes.data + c.tensors[ORDER].offset, 9, UINT32_MAX);
    check_not_read(&c, ORDER, 36, "column 9 has group 4294967295 of 2");
    check_status(packed_find_type(&c), GUFO_E_MALFORMED, &c.error, "the type");
    for (size_t i = 0; i < 64; i++) /* never set: as if it was missing */
        put_word(c.bytes.data + c.tensors[ORDER].offset, i, UINT32_MAX);
    check_packed(&c, "Q4_0", numbers.expected, "unset");
    packed_done(&c);
}

/* Parts of files of PyTorch may be big-endian. */
static void test_big_endian(void **state)
{
    packed_case c;

    (void)state;
    make_integers(&numbers, &good);
    pack(&c, &numbers);
    for (unsigned part = 0; part < 4; part++) {
        checkpoint_tensor *t = &c.tensors[part];
        size_t width = part == SCALES ? 2 : 4;

        t->swapped = true;
        for (uint64_t at = t->offset; at < t->offset + checkpoint_tensor_size(t); at += width)
            for (size_t i = 0; i < width / 2; i++) {
                uint8_t byte = c.bytes.data[at + i];

                c.bytes.data[at + i] = c.bytes.data[at + width - 1 - i];
                c.bytes.data[at + width - 1 - i] = byte;
            }
    }
    check_packed(&c, "Q4_0", numbers.expected, "big-endian");
    packed_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_shapes),      cmocka_unit_test(test_settings),
        cmocka_unit_test(test_strides),     cmocka_unit_test(test_scales),
        cmocka_unit_test(test_zero_scales), cmocka_unit_test(test_order),
        cmocka_unit_test(test_big_endian),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
