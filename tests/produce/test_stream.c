/* A job to a pipe: the bytes of the file, with all gaps. */
#include "plans.h"

#include "../support/pace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

enum { MANY = 4096, SOME = 64 };

/* Reads a pipe to its end, or only its first `limit` bytes. */
typedef struct reader {
    int fd;
    uint8_t *bytes;
    size_t len, limit;
    pthread_t thread;
} reader;

static void *read_all(void *argument)
{
    reader *r = argument;
    ssize_t n = 1;

    while (n > 0 && r->len < r->limit) {
        size_t step = r->limit - r->len < 65536 ? r->limit - r->len : 65536;

        r->bytes = realloc(r->bytes, r->len + step);
        n = read(r->fd, r->bytes + r->len, step);
        r->len += n > 0 ? (size_t)n : 0;
    }
    (void)close(r->fd);
    return NULL;
}

/* Streams the plan into a pipe of which `limit` bytes are read; *r is what came. */
static gufo_status stream(plan *p, unsigned threads, uint64_t memory, size_t limit, reader *r,
                          gufo_error *error)
{
    const gufo_run how = plan_how(p, threads, memory);
    gufo_job *job = plan_job(p, error);
    gufo_status status;
    int ends[2];

    assert_non_null(job);
    assert_int_equal(pipe(ends), 0);
    *r = (reader){.fd = ends[0], .limit = limit};
    assert_int_equal(pthread_create(&r->thread, NULL, read_all, r), 0);
    status = gufo_job_stream(job, ends[1], &how, error);
    (void)close(ends[1]);
    (void)pthread_join(r->thread, NULL);
    plan_take_results(p, job);
    gufo_job_free(job);
    return status;
}

static void test_same_bytes(void **state)
{
    plan p = plan_new(true, MANY);
    measured first[PIECES];

    (void)state;
    for (unsigned run = 0; run < 8; run += all_some_or_few(1, 3, 3)) {
        gufo_error error = no_error();
        reader r;

        check_ok(stream(&p, run % 4 + 1, UINT64_C(48) << (20 + run / 4 * 2), SIZE_MAX, &r, &error),
                 &error, "run %u", run);
        check_u64(r.len, p.size[0], "run %u", run);
        check(memcmp(r.bytes, p.expected[0], r.len) == 0, "run %u", run);
        check_u64(p.done, p.total, "run %u", run);
        if (run == 0)
            memcpy(first, p.results, sizeof first);
        check(memcmp(first, p.results, sizeof first) == 0, "run %u: results", run);
        free(r.bytes);
    }
    plan_check_nothing(&p, "stream");
    plan_end(&p);
}

static void test_closed_pipe(void **state)
{
    plan p = plan_new(true, MANY);
    gufo_error error = no_error();
    reader r;

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    check_status(stream(&p, 2, 0, 100000, &r, &error), GUFO_E_IO, &error, "closed");
    check_u64(error.system, EPIPE, "reason");
    check_u64(error.role, GUFO_FILE_OUTPUT, "role");
    check(memcmp(r.bytes, p.expected[0], 100000) == 0, "what came");
    free(r.bytes);
    plan_end(&p);
}

static void test_stopped(void **state)
{
    plan p = plan_new(true, MANY);
    gufo_error error = no_error();
    reader r;

    (void)state;
    for (p.stop_at = 1; p.stop_at < 6; p.stop_at++) {
        check_status(stream(&p, 3, 0, SIZE_MAX, &r, &error), GUFO_E_STOPPED, &error, "stopped");
        check(r.len < p.size[0] && memcmp(r.bytes, p.expected[0], r.len) == 0, "what came");
        free(r.bytes);
    }
    plan_end(&p);
}

static void test_refused(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    reader r;

    (void)state;
    check_status(stream(&p, 1, 0, SIZE_MAX, &r, &error), GUFO_E_ARGUMENT, &error, "two files");
    check_u64(r.len, 0, "bytes");
    free(r.bytes);
    plan_end(&p);
}

/* What a file takes in any order. */
static void test_wrong_order(void **state)
{
    gufo_error error = no_error();
    uint8_t bytes[8] = {0};
    counted from;
    gufo_job *job;

    (void)state;
    counted_open(&from, bytes, sizeof bytes);
    job = new_job(&from.source, 8);
    check_ok(job_add_move(job, 0, 0, 4, 0, 4, gufo_str_of("late"), &error), &error, "second half");
    check_ok(job_add_move(job, 0, 4, 4, 0, 0, gufo_str_of("early"), &error), &error, "first half");
    assert_ptr_equal(job_planned(job, GUFO_OK, &error), job);
    check_status(gufo_job_stream(job, -1, NULL, &error), GUFO_E_ARGUMENT, &error, "order");
    check(strstr(error.message, "\"early\"") != NULL, "%s", error.message);
    gufo_job_free(job);
    source_close(&from.source);
}

static void test_short_input(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();
    reader r;

    (void)state;
    check(truncate(p.in[1].text, 2000) == 0, "truncate");
    check(stream(&p, 2, 0, SIZE_MAX, &r, &error) != GUFO_OK, "truncated");
    check_u64(error.role, GUFO_FILE_INPUT, "role");
    check_u64(error.file_index, 1, "index");
    free(r.bytes);
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),  cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_stopped),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_wrong_order), cmocka_unit_test(test_short_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
