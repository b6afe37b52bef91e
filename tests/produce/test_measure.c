/* Hooks see everything, and what they add up does not depend on threads and memory. */
#include "plans.h"
#include "../support/pace.h"

enum { MANY = 2080, SOME = 64 };

static gufo_status run_once(const plan *p, gufo_job *job, unsigned threads, gufo_error *error)
{
    const gufo_job_options options = {.path = p->path.text};
    const gufo_run how = {.threads = threads};

    return gufo_job_run(job, &options, &how, error);
}

static void test_results(void **state)
{
    plan p = plan_new(false, MANY);
    measured alone[PIECES];
    gufo_error error = no_error();

    (void)state;
    check_ok(plan_run(&p, 0, 1, 0, &error), &error, "run");
    memcpy(alone, p.results, sizeof alone);
    check_u64(alone[5].rows, MANY, "rows of both slices");
    for (unsigned threads = 2; threads <= all_or_few(4, 2); threads++) {
        plan_remove_outputs(&p);
        check_ok(plan_run(&p, 0, threads, UINT64_C(40) << 20, &error), &error, "%u", threads);
        check(memcmp(alone, p.results, sizeof alone) == 0, "%u threads", threads);
    }
    plan_end(&p);
}

static gufo_status one_factor(void *context, uint64_t number, uint64_t slice, float *out,
                              gufo_error *error)
{
    uint64_t *calls = context;

    (void)number, (void)error;
    __atomic_fetch_add(&calls[slice], 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < COLUMNS; i++)
        out[i] = 1;
    return GUFO_OK;
}

/* Each slice gets its own importance, whichever thread works on it. */
static void test_importance_of_slices(void **state)
{
    plan p = plan_new(false, MANY);

    (void)state;
    skip_if_emulated();
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        gufo_error error = no_error();
        uint64_t calls[2] = {0};
        gufo_job *job = plan_job(&p, &error);

        assert_non_null(job);
        job->hooks.importance = one_factor;
        job->hooks.context = calls;
        check_ok(run_once(&p, job, threads, &error), &error, "%u threads", threads);
        check(calls[0] >= 1 && calls[0] <= threads && calls[1] >= 1 && calls[1] <= threads,
              "%" PRIu64 " and %" PRIu64 " calls of %u threads", calls[0], calls[1], threads);
        gufo_job_free(job);
        plan_remove_outputs(&p);
    }
    plan_end(&p);
}

static gufo_status refuse_importance(void *context, uint64_t number, uint64_t slice, float *out,
                                     gufo_error *error)
{
    (void)context, (void)number, (void)out;
    return slice == 1 ? fail_with(error, GUFO_E_MALFORMED, GUFO_NO_OFFSET, "no importance")
                      : give_importance(NULL, number, slice, out, error);
}

static void test_failures(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    gufo_job *job = plan_job(&p, &error);

    (void)state;
    assert_non_null(job);
    job->hooks.importance = refuse_importance;
    check_status(run_once(&p, job, 0, &error), GUFO_E_MALFORMED, &error, "importance");
    check_status(run_once(&p, job, 0, &error), GUFO_E_ARGUMENT, &error, "twice");
    gufo_job_free(job);
    plan_check_nothing(&p, "failures");
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_importance_of_slices),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
