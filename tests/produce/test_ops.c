/* Operations on rows: in double, rounded once; tables beside the rows; packings of other
 * formats. */
#include <math.h>

#include "base/bytes.h"
#include "produce/jobs.h"

enum { ROWS = 300, COLUMNS = 96, RANK = 5, COUNT = ROWS * COLUMNS };

typedef struct tables {
    float base[COUNT], left[ROWS * RANK], right[RANK * COLUMNS], row[COLUMNS];
    counted all;
} tables;

/* Every table is in one source, `base` first. */
static rows table_at(const tables *t, const float *table, uint64_t count, uint64_t columns)
{
    rows r = rows_of_floats(&t->all.source, count, columns);

    r.offset = (uint64_t)((const uint8_t *)table - (const uint8_t *)t->base);
    r.swapped = HOST_IS_BIG_ENDIAN; /* floats of this machine */
    return r;
}

static int open_tables(void **state)
{
    tables *t = calloc(1, sizeof *t);
    number_source numbers = {3};

    assert_non_null(t);
    for (size_t i = 0; i < COUNT; i++)
        t->base[i] = next_weight(&numbers) * 50;
    for (size_t i = 0; i < ROWS * RANK; i++)
        t->left[i] = next_weight(&numbers) * 30;
    for (size_t i = 0; i < RANK * COLUMNS; i++)
        t->right[i] = next_weight(&numbers) * 30;
    for (size_t i = 0; i < COLUMNS; i++)
        t->row[i] = next_weight(&numbers) + 1;
    counted_open(&t->all, t->base, offsetof(tables, all));
    *state = t;
    return 0;
}

static int close_tables(void **state)
{
    tables *t = *state;

    source_close(&t->all.source);
    free(t);
    return 0;
}

/* Runs `ops` over the base into floats. */
static gufo_status operate(const tables *t, row_op *ops, uint32_t count, float **out,
                           gufo_error *error)
{
    const gufo_run run = {.threads = 3};
    rows base = table_at(t, t->base, ROWS, COLUMNS);
    segment all = {.count = {ROWS, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = COLUMNS * 4, .type = base.type, .encode = true};
    piece p = {.how = PIECE_MAKE,
               .name = gufo_str_of("w"),
               .sources = &base,
               .segments = &all,
               .ops = ops,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_ops = count,
               .n_made = 1,
               .columns = COLUMNS,
               .slices = 1,
               .slice_rows = ROWS};
    gufo_job *job = new_job(&t->all.source, sizeof t->base);
    gufo_status status = job_add_piece(job, &p, error);
    uint8_t *bytes = NULL;

    if (status == GUFO_OK)
        status = try_job(job, &run, &bytes, error);
    if (status == GUFO_OK)
        floats_from_little_endian(bytes, COUNT);
    *out = (float *)(void *)bytes;
    gufo_job_free(job);
    return status;
}

typedef double expected_fn(const tables *t, uint64_t row, uint64_t column);

static void check_op(const tables *t, row_op *ops, uint32_t count, expected_fn *expected)
{
    gufo_error error;
    float *got;

    if (operate(t, ops, count, &got, &error) != GUFO_OK)
        fail_msg("%s", error.message);
    for (uint64_t i = 0; i < COUNT; i++) {
        float want = (float)expected(t, i / COLUMNS, i % COLUMNS);

        if (memcmp(&got[i], &want, sizeof want) != 0)
            fail_msg("number %d is %a, not %a", (int)i, (double)got[i], (double)want);
    }
    free(got);
}

static double base_at(const tables *t, uint64_t row, uint64_t column)
{
    return (double)t->base[row * COLUMNS + column];
}

static double plus_one(const tables *t, uint64_t row, uint64_t column)
{
    return base_at(t, row, column) + 1;
}

static double plus_row(const tables *t, uint64_t row, uint64_t column)
{
    return base_at(t, row, column) + 0.3 * (double)t->row[column];
}

static double times_row(const tables *t, uint64_t row, uint64_t column)
{
    return base_at(t, row, column) * (-2.5 * (double)t->row[column]);
}

static double negative_exponential(const tables *t, uint64_t row, uint64_t column)
{
    return -exp(base_at(t, row, column));
}

static double plus_product(const tables *t, uint64_t row, uint64_t column)
{
    double sum = 0;

    for (uint64_t k = 0; k < RANK; k++)
        sum += (double)t->left[row * RANK + k] * (double)t->right[k * COLUMNS + column];
    return base_at(t, row, column) + 0.0625 * sum;
}

/* A stack of RANK matrices, each with one row of the right factor. */
static double plus_own_product(const tables *t, uint64_t row, uint64_t column)
{
    uint64_t matrix = row / (ROWS / RANK);

    return base_at(t, row, column) +
           3 * ((double)t->left[row] * (double)t->right[matrix * COLUMNS + column]);
}

static double times_own(const tables *t, uint64_t row, uint64_t column)
{
    return base_at(t, row, column) * (2 * (double)t->left[row]);
}

/* Rounded between the operations, too. */
static double rounded_twice(const tables *t, uint64_t row, uint64_t column)
{
    return (double)(float)(base_at(t, row, column) * (1.0 / 3)) * 3;
}

static double one_of_three(const tables *t, uint64_t row, uint64_t column)
{
    double nearest = rint((double)(float)(base_at(t, row, column) * 1.25));

    return (nearest > 1 ? 1 : nearest < -1 ? -1 : nearest) / 1.25;
}

/* Several operations are rounded once, after the last one. */
static double all_of_them(const tables *t, uint64_t row, uint64_t column)
{
    return -exp(plus_product(t, row, column) * (1.0 / 3)) + 1;
}

static void test_each(void **state)
{
    const tables *t = *state;
    const rows row = table_at(t, t->row, 1, COLUMNS);
    const rows left = table_at(t, t->left, ROWS, RANK),
               right = table_at(t, t->right, RANK, COLUMNS);
    row_op add = {&row_op_add, {NULL}, 1}, add_row = {&row_op_add, {&row}, 0.3};
    row_op scale = {&row_op_scale, {&row}, -2.5}, exponential = {&row_op_neg_exp, {NULL}, 0};
    row_op product = {&row_op_product, {&left, &right}, 0.0625};
    row_op several[] = {product, {&row_op_scale, {NULL}, 1.0 / 3}, exponential, add};
    const rows own = table_at(t, t->left, ROWS, 1);
    row_op scale_rows = {&row_op_scale_rows, {&own}, 2}, ternary = {&row_op_ternary, {NULL}, 1.25};
    row_op stack = {&row_op_product, {&own, &right}, 3};
    row_op rounded[] = {{&row_op_scale, {NULL}, 1.0 / 3},
                        {&row_op_round_f32, {NULL}, 0},
                        {&row_op_scale, {NULL}, 3}};

    check_op(t, &add, 1, plus_one);
    check_op(t, &add_row, 1, plus_row);
    check_op(t, &scale, 1, times_row);
    check_op(t, &exponential, 1, negative_exponential);
    check_op(t, &product, 1, plus_product);
    check_op(t, several, 4, all_of_them);
    check_op(t, &stack, 1, plus_own_product);
    check_op(t, &scale_rows, 1, times_own);
    check_op(t, &ternary, 1, one_of_three);
    check_op(t, rounded, 3, rounded_twice);
}

/* Undoing gives numbers from which the operation makes the same ones again. */
static void test_undone(void **state)
{
    static const struct {
        const row_op_kind *forward, *back, *round;
        double number;
    } ways[] = {
        {&row_op_add, &row_op_subtract, &row_op_round_f32, 0.2f},
        {&row_op_scale, &row_op_divide, &row_op_round_f32, 0.7f},
        {&row_op_neg_exp, &row_op_log_neg, &row_op_round_f32, 0},
        {&row_op_add, &row_op_subtract_f16, &row_op_round_f16, 0.2f},
        {&row_op_scale, &row_op_divide_f16, &row_op_round_f16, 0.7f},
        {&row_op_neg_exp, &row_op_log_neg_f16, &row_op_round_f16, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int n = -400; n <= 400; n++) {
            const row_op forward = {.kind = ways[i].forward, .number = ways[i].number};
            const row_op back = {.kind = ways[i].back, .number = ways[i].number};
            double value = n / 97.0, wanted;
            op_row row = {.values = &value, .columns = 1};

            ways[i].round->apply(&forward, NULL, &row);
            forward.kind->apply(&forward, NULL, &row);
            ways[i].round->apply(&forward, NULL, &row);
            wanted = value;
            back.kind->apply(&back, NULL, &row);
            forward.kind->apply(&forward, NULL, &row);
            ways[i].round->apply(&forward, NULL, &row);
            check(value == wanted, "%s of %d: %.9g instead of %.9g", back.kind->name, n, value,
                  wanted);
        }
}

/* Tables that do not fit are refused when planning. */
static void test_bad_tables(void **state)
{
    tables *t = *state;
    rows wrong = table_at(t, t->left, ROWS, RANK), right = table_at(t, t->right, RANK, COLUMNS);
    rows short_left = table_at(t, t->left, ROWS - 1, RANK), pairs = table_at(t, t->left, ROWS, 2);
    row_op bad[] = {{&row_op_add, {&wrong}, 1},
                    {&row_op_product, {&short_left, &right}, 1},
                    {&row_op_product, {&wrong}, 1},
                    {&row_op_product, {&pairs, &right}, 1},
                    {&row_op_scale_rows, {&right}, 1}};
    gufo_error error;
    float *got;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(operate(t, &bad[i], 1, &got, &error), GUFO_E_ARGUMENT);
}

/* A made-up packing: bytes with one scale for each row, kept in a table beside. */
static gufo_status unpack_scaled(const struct rows *r, const float *const *sides,
                                 const uint8_t *bytes, uint64_t first, uint64_t count, float *out,
                                 gufo_error *error)
{
    (void)error;
    for (uint64_t i = 0; i < count * r->columns; i++)
        out[i] = (float)bytes[i] * sides[0][first + i / r->columns];
    return GUFO_OK;
}

static void test_unpacker(void **state)
{
    static const unpacker scaled = {"scaled bytes", unpack_scaled};
    const tables *t = *state;
    const rows scales = table_at(t, t->left, ROWS, 1);
    rows packed = {.source = &t->all.source,
                   .row_bytes = COLUMNS,
                   .count = ROWS,
                   .columns = COLUMNS,
                   .unpack = &scaled,
                   .side = {&scales}};
    /* Every second row: those of the table follow their own. */
    segment half = {.first = 1, .count = {ROWS / 2, 1, 1}, .stride = {2, 0, 0}};
    made result = {
        .row_bytes = COLUMNS * 4, .type = gufo_element_type_by_id(GUFO_TYPE_F32), .encode = true};
    piece p = {.how = PIECE_MAKE,
               .sources = &packed,
               .segments = &half,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = 1,
               .columns = COLUMNS,
               .slices = 1,
               .slice_rows = ROWS / 2};
    gufo_job *job = new_job(&t->all.source, ROWS / 2 * COLUMNS * 4);
    const uint8_t *bytes = (const uint8_t *)t->base;
    const float *got;
    uint8_t *out;

    add_piece(job, &p);
    out = run_job(job, 2, 0);
    floats_from_little_endian(out, ROWS / 2 * COLUMNS);
    got = (const float *)(void *)out;
    for (uint64_t i = 0; i < ROWS / 2 * COLUMNS; i++) {
        uint64_t row = 2 * (i / COLUMNS) + 1;

        assert_true(got[i] == (float)bytes[row * COLUMNS + i % COLUMNS] * t->left[row]);
    }
    free(out);
    gufo_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each, open_tables, close_tables),
        cmocka_unit_test(test_undone),
        cmocka_unit_test_setup_teardown(test_bad_tables, open_tables, close_tables),
        cmocka_unit_test_setup_teardown(test_unpacker, open_tables, close_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
