/* Numbers that are anywhere: tensors of PyTorch with strides, big-endian ones, views that are cut and joined,
 * and reading a few rows of large ones. */
#include "base/memory.h"
#include "import/architectures/plan/plan.h"
#include "tensor_case.h"

enum { NUMBERS = 1 << 20, MOST = 1 << 20 };

/* A file whose number i is value(i), as 16 bits. */
static uint8_t numbers[2 * NUMBERS];
static checkpoint_file file;
static const checkpoint one_file = {.files = &file, .file_count = 1};

static unsigned value(uint64_t i)
{
    return (unsigned)(i * 40503 >> 3) & 0xffffu;
}

static int make_file(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++) {
        numbers[2 * i] = (uint8_t)value(i);
        numbers[2 * i + 1] = (uint8_t)(value(i) >> 8);
    }
    source_open_memory(&file.source, numbers, sizeof numbers);
    file.path = (char *)"numbers";
    return 0;
}

/* The shape is good until the next call. */
static checkpoint_tensor strided(uint32_t n_dims, const uint64_t *shape, const uint64_t *stride,
                                 uint64_t first)
{
    static uint64_t whole[CHECKPOINT_MAX_DIMS];
    checkpoint_tensor t = {.name = gufo_str_of("a"),
                           .number = number_by_name(gufo_str_of("F16")),
                           .n_dims = (uint8_t)n_dims,
                           .shape = whole,
                           .strides = stride,
                           .offset = 2 * first,
                           .elements = 1};

    for (uint32_t i = 0; i < CHECKPOINT_MAX_DIMS; i++) {
        whole[i] = i < n_dims ? shape[i] : 1;
        t.elements *= whole[i];
    }
    return t;
}

#define ZERO UINT32_MAX

static unsigned value_of(uint32_t number)
{
    return number == ZERO ? 0 : value(number);
}

/* Reads rows of a view in all ways to divide them, and compares with `expected`. */
static void check_view_numbers(const view *v, uint64_t columns, const uint32_t *expected,
                               const char *label)
{
    gathering *g = gather_new(v, columns);
    const rows all = {.read = gather_rows,
                      .context = g,
                      .row_bytes = 2 * columns,
                      .count = v->numbers / columns,
                      .columns = columns};
    gufo_error error = no_error();

    for (uint64_t step = 1; step <= all.count; step = step < 3 ? step + 1 : 5 * step + 2)
        for (uint64_t row = 0; row < all.count; row += step) {
            uint64_t count = all.count - row < step ? all.count - row : step;
            uint8_t *out = malloc((size_t)(count * all.row_bytes));

            check_ok(gather_rows(&all, row, count, out, &error), &error, "%s", label);
            for (uint64_t i = 0; i < count * columns; i++)
                check_u64(out[2 * i] | (unsigned)out[2 * i + 1] << 8,
                          value_of(expected[row * columns + i]),
                          "%s: %u rows from %u on, number %u", label, (unsigned)count,
                          (unsigned)row, (unsigned)i);
            free(out);
        }
    mem_free(mem_allocator(NULL), g);
}

static void test_strides(void **state)
{
    static const struct {
        const char *label;
        uint32_t n_dims;
        uint64_t shape[4], stride[4], first;
    } tensors[] = {
        {"contiguous", 2, {6, 5}, {5, 1}, 7},
        {"transposed", 2, {6, 5}, {1, 6}, 0},
        {"every second", 2, {6, 5}, {20, 2}, 3},
        {"far apart", 2, {3, 4}, {900, 7}, 11},
        {"three axes", 3, {3, 4, 5}, {1, 3, 12}, 2},
        {"four axes", 4, {2, 3, 2, 4}, {500, 1, 40, 5}, 1},
        {"one row again and again", 2, {4, 5}, {0, 1}, 9},
        {"longer than one reading", 2, {600, 1000}, {1000, 1}, 5},
        {"longer than one reading, every second", 2, {500, 800}, {1600, 2}, 1},
        {"columns of a large matrix", 2, {7, 500}, {2, 2000}, 1},
    };

    (void)state;
    for (size_t k = 0; k < COUNT_OF(tensors); k++) {
        uint32_t n = tensors[k].n_dims;
        checkpoint_tensor t = strided(n, tensors[k].shape, tensors[k].stride, tensors[k].first);
        static uint32_t expected[MOST];
        view v;
        gufo_error error = no_error();

        for (uint64_t i = 0; i < t.elements; i++) {
            uint64_t rest = i, at = tensors[k].first;

            for (uint32_t d = n; d > 0; d--) {
                at += rest % t.shape[d - 1] * t.strides[d - 1];
                rest /= t.shape[d - 1];
            }
            expected[i] = (uint32_t)at;
        }
        check_ok(view_open(&v, &one_file, &t, mem_allocator(NULL), &error), &error, "%s",
                 tensors[k].label);
        check_view_numbers(&v, t.shape[n - 1], expected, tensors[k].label);
        if (t.elements < 1000)
            check_view_numbers(&v, 1, expected, tensors[k].label);
        view_free(&v);
    }
}

/* Parts of a transposed tensor, swapped and joined along both axes. */
static void test_parts(void **state)
{
    static const uint64_t shape[] = {4, 6}, stride[] = {6, 1};
    checkpoint_tensor t = strided(2, shape, stride, 100);
    static uint32_t expected[64];
    view v, part;
    gufo_error error = no_error();

    (void)state;
    check_ok(view_open(&v, &one_file, &t, mem_allocator(NULL), &error), &error, "open");
    check_ok(view_swap(&v, 0, 1, &error), &error, "swap"); /* 6, 4 */
    check_ok(view_copy(&part, &v, &error), &error, "copy");
    check_ok(view_slice(&part, 0, 1, 2, 3, &error), &error, "rows 1 and 4");
    check_ok(view_append(&v, &part, 0, &error), &error, "8, 4");
    view_free(&part);
    check_ok(view_copy(&part, &v, &error), &error, "copy");
    check_ok(view_slice(&part, 1, 0, 2, 2, &error), &error, "columns 0 and 2");
    check_ok(view_append(&v, &part, 1, &error), &error, "8, 6");
    for (uint32_t row = 0; row < 8; row++)
        for (uint32_t column = 0; column < 6; column++) {
            uint32_t from_row = row < 6 ? row : row == 6 ? 1 : 4;
            uint32_t from_column = column < 4 ? column : 2 * (column - 4);

            expected[row * 6 + column] = 100 + from_column * 6 + from_row;
        }
    check_u64(v.shape[0], 8, "rows");
    check_u64(v.shape[1], 6, "columns");
    check_view_numbers(&v, 6, expected, "joined");
    check_status(view_slice(&v, 1, 5, 2, 1, &error), GUFO_E_ARGUMENT, &error, "past the end");
    check_status(view_slice(&v, 1, 0, UINT64_MAX, UINT64_MAX, &error), GUFO_E_ARGUMENT, &error,
                 "far past the end");
    check_status(view_append(&v, &part, 0, &error), GUFO_E_ARGUMENT, &error, "8, 6 and 8, 2");
    check_ok(view_append_zeros(&v, 1, &error), &error, "zeros");
    memset(expected + 48, 0xff, 6 * sizeof *expected);
    check_view_numbers(&v, 6, expected, "zeros");
    view_free(&part);
    view_free(&v);
}

/* Parts of 3, 2 and 1 rows of 2 as entries of 4 numbers: the second spans two parts. */
static void test_entries_in_two_parts(void **state)
{
    static const uint64_t heights[] = {3, 2, 1}, pairs[] = {3, 4}, stride[] = {2, 1};
    view v = {0}, part;
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(heights); i++) {
        const uint64_t shape[] = {heights[i], 2};
        checkpoint_tensor t = strided(2, shape, stride, 100 * i);

        check_ok(view_open(i == 0 ? &v : &part, &one_file, &t, mem_allocator(NULL), &error), &error,
                 "open");
        if (i == 0)
            continue;
        check_ok(view_append(&v, &part, 0, &error), &error, "append");
        view_free(&part);
    }
    check_ok(view_reshape(&v, 2, pairs, &error), &error, "reshape");
    check_status(view_slice(&v, 0, 1, 1, 1, &error), GUFO_E_ARGUMENT, &error, "in two parts");
    view_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_entries_in_two_parts),
    };

    return cmocka_run_group_tests(tests, make_file, NULL);
}
