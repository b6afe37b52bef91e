/* Columns that become rows: of numbers and blocks, of stacks, in both byte orders, into several
 * types at once; the bytes do not depend on threads and memory, and each byte of the source is read
 * once. */
#include "produce/jobs.h"
#include "../support/pace.h"

typedef struct turn {
    const gufo_element_type *type;
    uint64_t rows, columns, slices; /* of the source */
    bool swapped;
} turn;

static uint64_t row_size(const gufo_element_type *type, uint64_t columns)
{
    uint64_t size = 0;

    assert_int_equal(gufo_element_row_size(type, columns, &size, NULL), GUFO_OK);
    return size;
}

/* Random blocks whose scales are moderate: what random weights encode to. */
static uint8_t *make_source(const turn *t, number_source *numbers)
{
    uint64_t count = t->slices * t->rows * t->columns;
    float *values = malloc((size_t)count * sizeof *values);
    uint8_t *blocks = malloc((size_t)(t->slices * t->rows * row_size(t->type, t->columns)));

    for (uint64_t i = 0; i < count; i++)
        values[i] = next_weight(numbers) * (t->type->id == GUFO_TYPE_I8 ? 1000.0f : 1.0f);
    encode_with(t->type, GUFO_CPU_BEST, GUFO_EFFORT_REFERENCE, values, t->slices * t->rows,
                t->columns, NULL, blocks);
    free(values);
    return blocks;
}

/* The transposed floats, by two loops. */
static float *expect(const turn *t, const uint8_t *blocks)
{
    uint64_t matrix = t->rows * t->columns, count = t->slices * matrix;
    float *values = malloc((size_t)count * sizeof *values),
          *out = malloc((size_t)count * sizeof *out);

    assert_int_equal(
        gufo_decode(t->type, blocks, t->slices * t->rows, t->columns, values, NULL, NULL), GUFO_OK);
    for (uint64_t s = 0; s < t->slices; s++)
        for (uint64_t r = 0; r < t->rows; r++)
            for (uint64_t c = 0; c < t->columns; c++)
                out[s * matrix + c * t->rows + r] = values[s * matrix + r * t->columns + c];
    free(values);
    return out;
}

static void check_turn(const turn *t, unsigned threads, uint64_t memory)
{
    number_source numbers = {t->rows};
    uint8_t *blocks = make_source(t, &numbers), *got;
    float *expected = expect(t, blocks);
    uint64_t size = t->slices * t->rows * row_size(t->type, t->columns);
    uint64_t count = t->slices * t->rows * t->columns;
    bool plain = t->type->block_elements == 1;
    counted from;

    if (t->swapped)
        assert_int_equal(gufo_swap_blocks(t->type, blocks, size / t->type->block_bytes, NULL),
                         GUFO_OK);
    counted_open(&from, blocks, size);
    rows r = {.source = &from.source,
              .row_bytes = row_size(t->type, t->columns),
              .count = t->slices * t->rows,
              .columns = t->columns,
              .type = t->type,
              .swapped = t->swapped};
    segment all = {.count = {r.count, 1, 1}, .stride = {1, 0, 0}};
    made results[] = {
        {.row_bytes = 4 * t->rows, .type = gufo_element_type_by_id(GUFO_TYPE_F32), .encode = true},
        {.place = 4 * count,
         .row_bytes = 2 * t->rows,
         .type = gufo_element_type_by_id(GUFO_TYPE_F16),
         .encode = true,
         .swap = true},
        {.place = 6 * count, .row_bytes = t->type->block_bytes * t->rows, .type = t->type},
    };
    piece p = {.how = PIECE_MAKE,
               .sources = &r,
               .segments = &all,
               .made = results,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = plain ? 3 : 2,
               .transpose = true,
               .columns = t->rows,
               .slices = t->slices,
               .slice_rows = t->columns};
    gufo_job *job = new_job(&from.source, 6 * count + (plain ? t->type->block_bytes * count : 0));
    uint16_t *as_halves = malloc((size_t)count * 2);
    uint8_t *as_stored = malloc((size_t)(count * t->type->block_bytes) + 1);

    add_piece(job, &p);
    got = run_job(job, threads, memory);
    assert_int_equal(from.read, size);
    floats_from_little_endian(got, (size_t)count);
    check_same_floats((const float *)(const void *)got, expected, count, t->type->name, "floats");
    encode_with(gufo_element_type_by_id(GUFO_TYPE_F16), GUFO_CPU_BEST, GUFO_EFFORT_REFERENCE,
                expected, 1, count, NULL, as_halves);
    assert_int_equal(
        gufo_swap_blocks(gufo_element_type_by_id(GUFO_TYPE_F16), as_halves, count, NULL), GUFO_OK);
    assert_memory_equal(got + 4 * count, as_halves, (size_t)count * 2);
    if (plain) {
        encode_with(t->type, GUFO_CPU_BEST, GUFO_EFFORT_REFERENCE, expected, 1, count, NULL,
                    as_stored);
        assert_memory_equal(got + 6 * count, as_stored, (size_t)(count * t->type->block_bytes));
    }
    free(as_stored);
    free(as_halves);
    free(got);
    gufo_job_free(job);
    source_close(&from.source);
    free(expected);
    free(blocks);
}

static void test_types(void **state)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_F16,  GUFO_TYPE_BF16, GUFO_TYPE_F64,
                                     GUFO_TYPE_I8,  GUFO_TYPE_Q8_0, GUFO_TYPE_Q4_K};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned swapped = 0; swapped < 2; swapped++) {
            const gufo_element_type *type = gufo_element_type_by_id(types[i]);
            const turn t = {type, 70, type->block_elements == 1 ? 33 : 3 * type->block_elements, 2,
                            swapped == 1};

            check_turn(&t, 1 + swapped, 0);
        }
}

static void test_memory_and_threads(void **state)
{
    const turn wide = {gufo_element_type_by_id(GUFO_TYPE_F16), 3000, 1100, 1, false};
    const turn tall = {gufo_element_type_by_id(GUFO_TYPE_F32), 5, 300000, 1, false};

    (void)state;
    skip_if_emulated();
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (uint64_t memory = UINT64_C(12) << 20; memory <= UINT64_C(192) << 20; memory *= 4) {
            check_turn(&wide, threads, memory * (threads > 1 ? 3 : 1));
            check_turn(&tall, threads, memory * (threads > 1 ? 3 : 1));
        }
}

/* Neither a band nor anything else fits. */
static void test_too_little_memory(void **state)
{
    uint8_t bytes[4096] = {0};
    const gufo_run run = {.threads = 1, .memory = 1};
    gufo_error error;
    uint8_t *out;
    counted from;

    (void)state;
    counted_open(&from, bytes, sizeof bytes);
    rows r = rows_of_floats(&from.source, 32, 32);
    segment all = {.count = {32, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = 128, .type = r.type};
    piece p = {.how = PIECE_MAKE,
               .name = gufo_str_of("w"),
               .sources = &r,
               .segments = &all,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = 1,
               .transpose = true,
               .columns = 32,
               .slices = 1,
               .slice_rows = 32};
    gufo_job *job = new_job(&from.source, sizeof bytes);

    add_piece(job, &p);
    assert_int_equal(try_job(job, &run, &out, &error), GUFO_E_LIMIT);
    assert_non_null(strstr(error.message, "\"w\""));
    free(out);
    gufo_job_free(job);
    source_close(&from.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_memory_and_threads),
        cmocka_unit_test(test_too_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
