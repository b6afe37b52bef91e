/* The arithmetic of parts: every expected time is worked out by hand. */
#include "support/check.h"

#include <math.h>

/* A program of its own: the command is not a library, and its file is taken in as it is. */
#include "cli/parts/advice.c"

/* 100 parts take 1000 core-seconds. */
#define WORK .core_seconds = 1000, .cores = 1

static const struct {
    const char *what;
    advice_run run;
    uint64_t workers, parts;
    double seconds;
    advice_limit limit;
} cases[] = {
    {"nothing to do", {.cores = 1}, 10, 100, 0, ADVICE_ENCODE},
    {"one worker", {WORK}, 1, 100, 1000, ADVICE_ENCODE},
    {"equal workers", {WORK}, 10, 100, 100, ADVICE_ENCODE},
    {"34 rounds", {WORK}, 3, 100, 340, ADVICE_ENCODE},
    {"34 rounds of shares", {WORK, .fixed = true}, 3, 100, 340, ADVICE_ENCODE},
    {"more workers than parts", {WORK}, 1000, 100, 10, ADVICE_ENCODE},
    {"the link is slower", {WORK, .read_bytes = 5000, .read_rate = 1}, 10, 100, 500, ADVICE_LINK},
    {"writing is slower", {WORK, .write_bytes = 3000, .write_rate = 1}, 10, 100, 300, ADVICE_LINK},
    {"a shared server", {WORK, .read_bytes = 5000, .read_cap = 10}, 10, 100, 500, ADVICE_SHARED},
    {"its disks",
     {WORK, .read_bytes = 2000, .write_bytes = 2000, .read_cap = 10, .write_cap = 10,
      .both_cap = 10},
     10,
     100,
     400,
     ADVICE_SHARED},
    {"a unit more", {WORK, .part_core_seconds = 1}, 10, 100, 110, ADVICE_ENCODE},
    {"a unit more on two cores",
     {WORK, .part_core_seconds = 1, .core_cap = 2},
     4,
     100,
     550,
     ADVICE_CORES},
    {"two cores for four processes", {WORK, .core_cap = 2}, 4, 100, 500, ADVICE_CORES},
    /* 1000 operations of 1 ms for each part, 5 in flight at most. */
    {"operations",
     {WORK, .part_operations = 1000, .operation_time = 0.001},
     10,
     100,
     110,
     ADVICE_ENCODE},
    {"the metadata server",
     {WORK, .part_operations = 1000, .operation_cap = 100},
     10,
     100,
     1000 + 50,
     ADVICE_OPERATIONS},
    {"files to open",
     {WORK, .start_operations = 500, .operation_cap = 100},
     10,
     100,
     100 + 50,
     ADVICE_ENCODE},
    /* Copied in 20 s, worked on 10 s, copied out 10 s, for each part. */
    {"staged",
     {WORK, .staged = true, .read_bytes = 2000, .read_rate = 1, .write_bytes = 1000,
      .write_rate = 1},
     10,
     100,
     400,
     ADVICE_LINK},
    {"staged, a slow disk",
     {WORK, .staged = true, .read_bytes = 2000, .disk_rate = 1},
     10,
     100,
     200,
     ADVICE_LINK},
    {"staged, a shared server",
     {WORK, .staged = true, .read_bytes = 2000, .read_rate = 10, .read_cap = 10},
     10,
     100,
     200 + 100,
     ADVICE_SHARED},
    /* 100 bytes for each of 12 parts: ten workers get 1 byte per second each, the last two as much as they
     * can take. */
    {"staged, a short last round",
     {WORK, .staged = true, .read_bytes = 1200, .read_rate = 5, .read_cap = 10},
     10,
     12,
     100 + 20 + 2 * 1000.0 / 12,
     ADVICE_SHARED},
    /* Nine make 18 parts in 20 s, the slow one makes one: 100 parts are begun after 100 s, when nine fast
     * and one slow worker ask for the last 5. */
    {"a slow share",
     {WORK, .slow_share = 0.1, .slow_factor = 2, .fixed = true},
     10,
     100,
     200,
     ADVICE_ENCODE},
    {"a slow worker", {WORK, .slow_share = 0.1, .slow_factor = 2}, 10, 100, 115, ADVICE_ENCODE},
    {"all are slow", {WORK, .slow_share = 1, .slow_factor = 2}, 10, 100, 200, ADVICE_ENCODE},
    {"start, plan, reservation, commit",
     {WORK, .start = 1, .plan = 2, .reserve = 4, .commit = 8, .commit_part = 0.16},
     10,
     100,
     100 + 31,
     ADVICE_ENCODE},
    {"mostly begin", {WORK, .start = 200}, 10, 100, 300, ADVICE_BEGIN},
    {"launched one by one", {WORK, .launch_rate = 1}, 10, 100, 100 + 4.5, ADVICE_ENCODE},
    {"launched shares", {WORK, .launch_rate = 1, .fixed = true}, 10, 100, 100 + 9, ADVICE_ENCODE},
    /* 1000 s of work and one worker more every 20 s: ten of them work when it ends. */
    {"few are launched in time", {WORK, .launch_rate = 0.05}, 1000, 1000, 100 + 90, ADVICE_ENCODE},
};

static void check_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        advice_time time = advice_predict(&cases[i].run, cases[i].workers, cases[i].parts);

        check(fabs(time.seconds - cases[i].seconds) < 1e-6, "%s: %g s", cases[i].what,
              time.seconds);
        check_u64(time.limit, cases[i].limit, "%s", cases[i].what);
    }
}

/* A failure costs the restart and half of what no log has; with 0.001 failures in all, nobody waits. */
static void check_failures(void **state)
{
    advice_run run = {WORK, .fail_every = 1e6, .restart = 60, .log_every = 10, .silence = 120};
    advice_time one = advice_predict(&run, 1, 100), ten = advice_predict(&run, 10, 100);

    (void)state;
    check(one.work > 1000 + 0.065 && one.work < 1000.3, "%g s", one.work);
    check(ten.work > 100.0065 && ten.work < 100.2, "%g s", ten.work);

    /* A worker fails ten times in 1000 s. */
    run.fail_every = 100;
    run.fixed = true;
    assert_true(fabs(advice_predict(&run, 1, 100).work - (1000 + 10 * 65)) < 1);
    /* Ten workers, each once on average: the unluckiest of them two to four times. */
    ten = advice_predict(&run, 10, 100);
    check(ten.work > 100 + 2 * 65 && ten.work < 100 + 4 * 65, "%g s", ten.work);
    /* Without shares somebody surely fails at the end, and all wait until its log is silent. */
    run.fixed = false;
    run.restart = run.log_every = 0;
    run.fail_every = 1e-3;
    assert_true(fabs(advice_predict(&run, 10, 100).work - (100 + 120 + 5)) < 1);
}

static void check_advice(void **state)
{
    /* One machine reads all that the server gives. */
    const advice_run nfs = {.read_bytes = 1e12,
                            .core_seconds = 7500,
                            .cores = 64,
                            .read_rate = 1.1e9,
                            .read_cap = 1.17e9};
    const advice_run wide = {.read_bytes = 1e12,
                             .core_seconds = 78000,
                             .cores = 64,
                             .read_rate = 5e9,
                             .read_cap = 1e11,
                             .start = 5};
    advice a = advice_choose(&nfs, 1000);
    advice_run shards = wide;

    (void)state;
    assert_true(a.one_is_enough && a.workers == 1 && a.parts == 64);
    assert_true(a.best.seconds == a.alone.seconds && a.best.limit == ADVICE_LINK);

    /* More workers than those that read 100 GB/s would not be used half. */
    a = advice_choose(&wide, 1000);
    assert_true(!a.one_is_enough && a.workers >= 64 && a.workers <= 256);
    assert_true(a.parts >= a.workers && a.best.seconds < a.alone.seconds / 32);
    assert_int_equal(advice_choose(&wide, 4).workers, 4);

    shards.most_parts = 20;
    a = advice_choose(&shards, 1000);
    check(a.workers > 1 && a.workers <= 20 && a.parts == 20, "%d workers, %d parts", (int)a.workers,
          (int)a.parts);
}

/* Where some workers are slow, finer parts keep the others from waiting. */
static void check_finer(void **state)
{
    const advice_run slow = {WORK, .slow_share = 0.02, .slow_factor = 2};
    advice a = advice_choose(&slow, 64);

    (void)state;
    assert_int_equal(a.workers, 64);
    check(a.parts >= 256, "%d parts", (int)a.parts);
    assert_true(advice_predict(&slow, 64, 64).seconds > 1.5 * a.best.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_times),
        cmocka_unit_test(check_failures),
        cmocka_unit_test(check_advice),
        cmocka_unit_test(check_finer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
