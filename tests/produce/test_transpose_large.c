/* A transpose of 50,000 x 4,000 halves within 64 MiB: each byte of the source is read once. */
#include "produce/jobs.h"
#include "../support/pace.h"

/* 400 MB that are never in memory: what the source would hold follows from the offset. */
static uint64_t byte_at(uint64_t offset)
{
    return offset * UINT64_C(0x9E3779B97F4A7C15) >> 56;
}

static gufo_status generate(void *context, uint64_t offset, void *buffer, size_t size,
                            gufo_error *error)
{
    uint8_t *to = buffer;

    (void)error;
    __atomic_fetch_add((uint64_t *)context, size, __ATOMIC_RELAXED);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)byte_at(offset + i);
    return GUFO_OK;
}

static void test_large(void **state)
{
    enum { ROWS = 50000, COLUMNS = 4000 };
    uint64_t read = 0, size = (uint64_t)ROWS * COLUMNS * 2;
    const gufo_source user = {.context = &read, .size = size, .read = generate};
    const gufo_element_type *half = gufo_element_type_by_id(GUFO_TYPE_F16);
    segment all = {.count = {ROWS, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = ROWS * 2, .type = half};
    const gufo_run run = {.threads = 2, .memory = UINT64_C(64) << 20};
    char name[] = "/tmp/gufo-job-XXXXXX";
    int files[1] = {-1};
    gufo_error error;
    gufo_job *job;
    source from;
    work w;

    (void)state;
    if (all_some_or_few(1, 0, 0) == 0)
        skip();
    source_open_user(&from, &user, 0, &default_allocator);
    rows r = {
        .source = &from, .row_bytes = COLUMNS * 2, .count = ROWS, .columns = COLUMNS, .type = half};
    piece p = {.how = PIECE_MAKE,
               .sources = &r,
               .segments = &all,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = 1,
               .transpose = true,
               .columns = ROWS,
               .slices = 1,
               .slice_rows = COLUMNS};
    job = new_job(&from, size);
    add_piece(job, &p);
    files[0] = mkstemp(name);
    assert_true(files[0] >= 0);
    assert_int_equal(unlink(name), 0);
    assert_ptr_equal(job_planned(job, GUFO_OK, &error), job);
    assert_int_equal(work_begin(&w, job, &run, false, &error), GUFO_OK);
    w.files = files;
    assert_int_equal(units_run(&w, 0, job->unit_count, &error), GUFO_OK);
    work_end(&w);
    assert_int_equal(read, size);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t row = i * 7919 % COLUMNS, column = i * 104729 % ROWS,
                 at = (column * COLUMNS + row) * 2;
        uint8_t got[2];

        assert_int_equal(pread(files[0], got, 2, (off_t)((row * ROWS + column) * 2)), 2);
        assert_int_equal(got[0], (uint8_t)byte_at(at));
        assert_int_equal(got[1], (uint8_t)byte_at(at + 1));
    }
    (void)close(files[0]);
    gufo_job_free(job);
    source_close(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
