/* Chosen rows of pieces: what the hook sees are those rows, whichever way a piece is made, with few bands
 * or many, and on any number of threads. */
#include "../support/check.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "produce/produce.h"

#include <math.h>

enum { ROWS = 60, COLUMNS = 64, PIECES = 3, MOST = 8 };

static float numbers[ROWS * COLUMNS];
static uint8_t bytes[sizeof numbers], factor_bytes[ROWS * sizeof(float)];

/* ---- hooks ---------------------------------------------------------------------------------- */

/* What was seen of a sample by each of two results. */
typedef struct seen_rows {
    double sum[2];
    uint64_t first, count;
} seen_rows;

static gufo_status importance(void *context, uint64_t number, uint64_t slice, float *out,
                              gufo_error *error)
{
    (void)context, (void)number, (void)error;
    for (unsigned i = 0; i < COLUMNS; i++)
        out[i] = (float)(slice + 2);
    return GUFO_OK;
}

static gufo_status measure(void *context, const measured_rows *seen, void *result,
                           gufo_error *error)
{
    seen_rows *out = result;

    (void)context, (void)error;
    out->first = out->count == 0 ? seen->row : out->first;
    out->count += seen->count;
    for (uint64_t i = 0; i < seen->count * seen->columns; i++)
        out->sum[seen->made] +=
            (double)seen->values[i] * (seen->importance != NULL ? (double)seen->importance[0] : 1);
    return GUFO_OK;
}

/* ---- a job ---------------------------------------------------------------------------------- */

static gufo_status add_piece(gufo_job *job, const source *from, piece *p)
{
    static source factors;
    rows numbers_rows = {.source = from,
                         .row_bytes = COLUMNS * sizeof(float),
                         .count = ROWS,
                         .columns = COLUMNS,
                         .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    rows table = {.source = &factors,
                  .row_bytes = sizeof(float),
                  .count = ROWS,
                  .columns = 1,
                  .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
    segment all = {.count = {ROWS, 1, 1}, .stride = {1, 0, 0}};
    row_op scale = {.kind = &row_op_scale_rows, .side = {&table}, .number = 1};

    source_open_memory(&factors, factor_bytes, sizeof factor_bytes);
    p->how = PIECE_MAKE;
    p->sources = &numbers_rows;
    p->segments = &all;
    p->n_sources = p->n_segments = 1;
    p->ops = &scale;
    return job_add_piece(job, p, NULL);
}

/* One that is simple, with importance in two slices; one with a table; one that is transposed. */
static gufo_job *job_of(const source *from)
{
    made results[2] = {{.target = NO_TARGET,
                        .row_bytes = COLUMNS / 32 * 34,
                        .type = gufo_element_type_by_id(GUFO_TYPE_Q8_0),
                        .encode = true,
                        .measure = true,
                        .weighted = true},
                       {.target = NO_TARGET,
                        .row_bytes = COLUMNS * sizeof(float),
                        .type = gufo_element_type_by_id(GUFO_TYPE_F32),
                        .encode = true,
                        .measure = true}};
    piece pieces[PIECES] = {
        {.made = results, .n_made = 2, .columns = COLUMNS, .slices = 2, .slice_rows = ROWS / 2},
        {.made = results + 1,
         .n_made = 1,
         .n_ops = 1,
         .columns = COLUMNS,
         .slices = 1,
         .slice_rows = ROWS},
        {.made = results + 1,
         .n_made = 1,
         .transpose = true,
         .columns = ROWS,
         .slices = 1,
         .slice_rows = COLUMNS}};
    gufo_job *job = job_new(NULL, NULL);
    gufo_status status = GUFO_OK;
    gufo_error error = no_error();
    uint32_t number;

    check(job != NULL, "memory");
    job->hooks =
        (job_hooks){.importance = importance, .measure = measure, .result_size = sizeof(seen_rows)};
    job->memory = UINT64_C(64) << 20;
    status = job_add_input(job, &(job_input){.name = "numbers", .source = from}, &number, &error);
    for (size_t i = 0; i < PIECES && status == GUFO_OK; i++) {
        if (pieces[i].transpose)
            results[1].row_bytes = ROWS * sizeof(float);
        status = add_piece(job, from, &pieces[i]);
    }
    job = job_planned(job, status, &error);
    check(job != NULL, "%s", error.message);
    return job;
}

/* ---- rounds --------------------------------------------------------------------------------- */

typedef struct rounds {
    unsigned round;
    uint64_t taken;
} rounds;

static const job_sample samples[2][MOST] = {
    {{0, 3, 1, 0},
     {0, 17, 2, 2},
     {0, 59, 1, 1},
     {1, 0, 1, 0},
     {1, 58, 2, 0},
     {2, 5, 1, 0},
     {2, 6, 1, 0},
     {2, 63, 1, 0}},
    {{0, 0, 30, 0}, {0, 30, 30, 0}, {1, 30, 1, 0}, {2, 0, 1, 0}, {2, 40, 8, 0}},
};
static const uint64_t counts[2] = {8, 5};

static gufo_status next(void *context, const job_sample **list, uint64_t *count, gufo_error *error)
{
    rounds *r = context;

    (void)error;
    *count = r->round < 2 ? counts[r->round] : 0;
    *list = r->round < 2 ? samples[r->round] : NULL;
    r->round++;
    r->taken = 0;
    return GUFO_OK;
}

static double sum_of(const job_sample *s)
{
    double sum = 0;

    for (uint64_t row = s->row; row < s->row + s->count; row++)
        for (uint64_t i = 0; i < (s->piece == 2 ? ROWS : COLUMNS); i++)
            sum += s->piece == 2   ? (double)numbers[i * COLUMNS + row]
                   : s->piece == 1 ? (double)numbers[row * COLUMNS + i] * (double)(row + 1)
                                   : (double)numbers[row * COLUMNS + i];
    return sum;
}

static gufo_status take(void *context, uint64_t index, const void *result, gufo_error *error)
{
    rounds *r = context;
    const job_sample *s = &samples[r->round - 1][index];
    const seen_rows *seen = result;
    double sum = sum_of(s), weight = s->row / (ROWS / 2) == 0 ? 2 : 3;

    (void)error;
    check_u64(index, r->taken++, "in order");
    check_u64(seen->first, s->row, "sample %d", (int)index);
    if (s->piece > 0) {
        check_u64(seen->count, s->count, "sample %d", (int)index);
        check(seen->sum[0] == sum, "sample %d: %g, %g", (int)index, seen->sum[0], sum);
        return GUFO_OK;
    }
    check_u64(seen->count, s->count * (s->skipped == 0 ? 2 : 1), "sample %d", (int)index);
    check(seen->sum[0] == (s->skipped == 1 ? 0 : weight * sum), "sample %d", (int)index);
    check(seen->sum[1] == (s->skipped == 2 ? 0 : sum), "sample %d", (int)index);
    return GUFO_OK;
}

static bool is_inside(void *context, uint64_t done, uint64_t total)
{
    uint64_t *last = context;
    bool rises = done >= *last && done <= total;

    *last = done;
    return rises;
}

static void test_rounds(void **state)
{
    static const unsigned threads[] = {1, 2, 5};
    source from;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        numbers[i] = (float)(i * 7 % 1009) - 300;
    copy_numbers(bytes, numbers, COUNT_OF(numbers), sizeof *numbers, bytes_swapped(false));
    for (size_t i = 0; i < ROWS; i++) {
        float factor = (float)(i + 1);

        copy_numbers(factor_bytes + i * sizeof factor, &factor, 1, sizeof factor,
                     bytes_swapped(false));
    }
    source_open_memory(&from, bytes, sizeof bytes);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        gufo_job *job = job_of(&from);
        uint64_t last = 0;
        const gufo_run run = {
            .threads = threads[i], .progress = is_inside, .progress_context = &last};
        rounds r = {0};
        const job_sampler sampler = {.context = &r, .next = next, .take = take};
        gufo_error error = no_error();

        check_ok(job_measure_samples(job, &run, &sampler, &error), &error, "first");
        check_u64(r.round, 3, "rounds");
        r = (rounds){0};
        last = 0;
        check_ok(job_measure_samples(job, &run, &sampler, &error), &error, "again");
        gufo_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
