/* The parallel loop: whatever the threads do, the result is that of one thread.  And how many there are. */
#include "../support/allocator.h"
#include "../support/folder.h"

#include "base/memory.h"
#include "base/error.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

enum { PARTS = 3000 };

/* Of a build without threads (-DGUFO_THREADS=OFF) the loop has one form more. */
#ifdef GUFO_NO_THREADS
enum { HAS_THREADS = 0, REQUESTS = 1 };
#else
enum { HAS_THREADS = 1, REQUESTS = 3 }; /* of memory */
#endif

/* Work with a wanted failure or two. */
typedef struct job {
    uint64_t fail_at[2]; /* parts whose work fails; UINT64_MAX: none */
    uint64_t refuse_at;  /* part whose result is refused */
    atomic_uint_fast64_t begun;
    atomic_uint at_once, most_at_once;
    atomic_bool twice; /* two results were taken at once, or out of order */
    atomic_bool taking;
    uint64_t taken; /* parts */
    uint64_t next;  /* part to be taken */
    double sum;     /* depends on the order */
} job;

typedef struct part_result {
    uint64_t index, zero;
} part_result;

static gufo_status do_part(void *context, unsigned thread, uint64_t index, void *result,
                           gufo_error *error)
{
    job *j = context;
    part_result *r = result;
    unsigned now = atomic_fetch_add(&j->at_once, 1) + 1;

    (void)thread;
    if (now > atomic_load(&j->most_at_once))
        atomic_store(&j->most_at_once, now);
    atomic_fetch_add(&j->begun, 1);
    if (index % 97 == 0) { /* parts end in another order than they begin */
        struct timespec moment = {0, 100000};

        nanosleep(&moment, NULL);
    }
    r->zero = r->index;
    r->index = index;
    atomic_fetch_sub(&j->at_once, 1);
    if (index != j->fail_at[0] && index != j->fail_at[1])
        return GUFO_OK;
    error->code = GUFO_E_IO;
    snprintf(error->message, sizeof error->message, "part %" PRIu64, index);
    return GUFO_E_IO;
}

static gufo_status take_part(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const part_result *r = result;
    job *j = context;

    if (atomic_exchange(&j->taking, true) || index != j->next || r->index != index || r->zero != 0)
        atomic_store(&j->twice, true);
    j->next = index + 1;
    j->taken++;
    j->sum = j->sum / 3 + (double)index;
    atomic_store(&j->taking, false);
    if (index != j->refuse_at)
        return GUFO_OK;
    error->code = GUFO_E_STOPPED;
    return GUFO_E_STOPPED;
}

static job new_job(void)
{
    return (job){.fail_at = {UINT64_MAX, UINT64_MAX}, .refuse_at = UINT64_MAX};
}

static gufo_status run_job(job *j, unsigned threads, uint64_t begin, uint64_t end,
                           gufo_error *error)
{
    parallel_loop loop = {.begin = begin,
                          .end = end,
                          .threads = threads,
                          .result_size = sizeof(part_result),
                          .context = j,
                          .work = do_part,
                          .hand_over = take_part};

    j->next = begin;
    return parallel_run(&loop, &default_allocator, error);
}

static const unsigned thread_counts[] = {0, 1, 2, 3, 8, 50};

static void test_order(void **state)
{
    double expected = 0;

    (void)state;
    for (uint64_t i = 0; i < PARTS; i++)
        expected = expected / 3 + (double)i;
    for (size_t t = 0; t < COUNT_OF(thread_counts); t++) {
        gufo_error error = no_error();
        job j = new_job();

        check_ok(run_job(&j, thread_counts[t], 0, PARTS, &error), &error, "%u", thread_counts[t]);
        check_u64(j.taken, PARTS, "%u threads", thread_counts[t]);
        check_u64(atomic_load(&j.begun), PARTS, "%u threads", thread_counts[t]);
        check(!atomic_load(&j.twice), "%u threads: order", thread_counts[t]);
        check(j.sum == expected, "%u threads: %g, not %g", thread_counts[t], j.sum, expected);
        check(atomic_load(&j.most_at_once) <= (thread_counts[t] == 0 ? 1 : thread_counts[t]),
              "%u threads: more at once", thread_counts[t]);
    }
}

static void test_ranges(void **state)
{
    static const uint64_t ranges[][2] = {
        {0, 0}, {5, 5}, {5, 3}, {0, 1}, {7, 8}, {10, 13}, {UINT64_MAX - 3, UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        uint64_t begin = ranges[i][0], end = ranges[i][1];
        gufo_error error = no_error();
        job j = new_job();

        check_ok(run_job(&j, 4, begin, end, &error), &error, "range %zu", i);
        check_u64(j.taken, end > begin ? end - begin : 0, "range %zu", i);
        check(!atomic_load(&j.twice), "range %zu: order", i);
    }
}

/* Of two failures the first one counts, and everything before it is passed on. */
static void test_failures(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT_OF(thread_counts); t++) {
        gufo_error error = no_error();
        job j = new_job();

        j.fail_at[0] = 1200;
        j.fail_at[1] = 1201;
        check_status(run_job(&j, thread_counts[t], 0, PARTS, &error), GUFO_E_IO, &error, "%u",
                     thread_counts[t]);
        check(strcmp(error.message, "part 1200") == 0, "%s", error.message);
        check_u64(j.taken, 1200, "%u threads", thread_counts[t]);
        check(!atomic_load(&j.twice), "%u threads: order", thread_counts[t]);
        check(atomic_load(&j.begun) < PARTS, "%u threads went on", thread_counts[t]);
    }
}

/* Refusing a result stops the loop, too; a later failure of work does not hide it. */
static void test_refusal(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT_OF(thread_counts); t++) {
        gufo_error error = no_error();
        job j = new_job();

        j.refuse_at = 700;
        j.fail_at[0] = 705;
        check_status(run_job(&j, thread_counts[t], 0, PARTS, &error), GUFO_E_STOPPED, &error, "%u",
                     thread_counts[t]);
        check_u64(j.taken, 701, "%u threads", thread_counts[t]);
    }
}

static gufo_status only_count(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    (void)thread, (void)index, (void)result, (void)error;
    atomic_fetch_add((atomic_uint_fast64_t *)context, 1);
    return GUFO_OK;
}

static void test_without_results(void **state)
{
    atomic_uint_fast64_t count = 0;
    parallel_loop loop = {.end = PARTS, .threads = 4, .context = &count, .work = only_count};
    gufo_error error = no_error();

    (void)state;
    check_ok(parallel_run(&loop, &default_allocator, &error), &error, "loop");
    check_u64(atomic_load(&count), PARTS, "parts");
}

/* What is passed on and what is dropped is all that succeeded, and nothing is both. */
typedef struct kept {
    atomic_uint_fast64_t made, dropped;
    uint64_t passed;
} kept;

static gufo_status make_one(void *context, unsigned thread, uint64_t index, void *result,
                            gufo_error *error)
{
    kept *k = context;

    (void)thread;
    if (index == 40)
        return refuse(error, GUFO_E_RANGE, "forty");
    *(uint64_t *)result = index + 1;
    atomic_fetch_add(&k->made, 1);
    return GUFO_OK;
}

static gufo_status pass_one(void *context, uint64_t index, const void *result, gufo_error *error)
{
    kept *k = context;

    (void)error;
    check_u64(*(const uint64_t *)result, index + 1, "result");
    k->passed++;
    return GUFO_OK;
}

static void drop_one(void *context, void *result)
{
    kept *k = context;

    check(*(uint64_t *)result > 41, "only results behind the failure are dropped");
    atomic_fetch_add(&k->dropped, 1);
}

static void test_dropping(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        kept k = {0};
        const parallel_loop loop = {.end = PARTS,
                                    .threads = threads,
                                    .result_size = sizeof(uint64_t),
                                    .context = &k,
                                    .work = make_one,
                                    .hand_over = pass_one,
                                    .drop = drop_one};
        gufo_error error = no_error();

        check_status(parallel_run(&loop, &default_allocator, &error), GUFO_E_RANGE, &error,
                     "%u threads", threads);
        check_u64(k.passed, 40, "%u threads", threads);
        check_u64(atomic_load(&k.made), k.passed + atomic_load(&k.dropped), "%u threads", threads);
    }
}

static void test_without_memory(void **state)
{
    counter c;

    (void)state;
    for (size_t fail_at = 1; fail_at <= REQUESTS; fail_at++) {
        atomic_uint_fast64_t count = 0;
        parallel_loop loop = {
            .end = PARTS, .threads = 4, .result_size = 8, .context = &count, .work = only_count};
        gufo_error error = no_error();

        counter_init(&c);
        c.fail_at = fail_at;
        gufo_allocator allocator = counter_allocator(&c);

        check_status(parallel_run(&loop, &allocator, &error), GUFO_E_MEMORY, &error, "request %zu",
                     fail_at);
        check_u64(c.in_use, 0, "request %zu: leak", fail_at);
        check_u64(atomic_load(&count), 0, "request %zu: work", fail_at);
    }
}

/* ---- processors ----------------------------------------------------------------------------- */

/* Lets this thread run on one processor, and on all that it could run on again. */
static void use_one(bool one)
{
#ifdef __linux__
    static cpu_set_t all[64], first[64];

    if (one) {
        size_t number = 0;

        check(sched_getaffinity(0, sizeof all, all) == 0, "affinity");
        while (!CPU_ISSET_S(number, sizeof all, all))
            number++;
        CPU_SET_S(number, sizeof first, first);
    }
    check(sched_setaffinity(0, sizeof all, one ? first : all) == 0, "affinity");
#else
    (void)one;
#endif
}

static unsigned online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : (unsigned)count;
}

static void test_processors_of_thread(void **state)
{
    (void)state;
    check(processors_usable("/nowhere") <= online(), "more than there are");
#ifdef __linux__
    use_one(true);
    check_u64(processors_usable("/nowhere"), 1, "affinity to one");
    check_u64(thread_count(0), 1, "the default");
    use_one(false);
#endif
    check(thread_count(0) >= 1, "none");
    check_u64(thread_count(7), HAS_THREADS ? 7 : 1, "asked for");
}

/* Files of a folder, and what a process can use with them. */
typedef struct group_row {
    const char *label, *own;
    struct {
        const char *path, *text;
    } files[5];
    unsigned most; /* 0: all that there are */
} group_row;

static const group_row group_rows[] = {
    {"a limit", "0::/a/b\n", {{"a/b/cpu.max", "100000 100000\n"}}, 1},
    {"a part of one", "0::/a/b\n", {{"a/b/cpu.max", "1000 100000\n"}}, 1},
    {"none of one", "0::/a/b\n", {{"a/b/cpu.max", "0 100000\n"}}, 1},
    {"without a limit", "0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}}, 0},
    {"rounded up", "0::/a/b\n", {{"a/b/cpu.max", "100001 100000\n"}}, 2},
    {"more than there are", "0::/a/b\n", {{"a/b/cpu.max", "18446744073709551615 1\n"}}, 0},
    {"the smallest, further up",
     "0::/a/b/c\n",
     {{"a/b/c/cpu.max", "300000 100000"}, {"a/b/cpu.max", "max 100000"}, {"a/cpu.max", "9 10"}},
     1},
    {"the root of a container", "0::/\n", {{"cpu.max", "50000 100000\n"}}, 1},
    {"not there, but the root", "0::/docker/1\n", {{"cpu.max", "50000 100000\n"}}, 1},
    {"beside", "0::/a\n", {{"b/cpu.max", "50000 100000\n"}, {"a/b/cpu.max", "5 10\n"}}, 0},
    {"version 1",
     "7:memory:/m\n3:cpu,cpuacct:/a/b\n0::/\n",
     {{"cpu,cpuacct/a/b/cpu.cfs_quota_us", "100000\n"},
      {"cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n"}},
     1},
    {"version 1, further up",
     "3:cpu:/a/b\n",
     {{"cpu/a/b/cpu.cfs_quota_us", "-1\n"},
      {"cpu/a/b/cpu.cfs_period_us", "100000\n"},
      {"cpu/cpu.cfs_quota_us", "20000\n"},
      {"cpu/cpu.cfs_period_us", "100000\n"}},
     1},
    {"version 1, no limit",
     "3:cpu:/\n",
     {{"cpu/cpu.cfs_quota_us", "-1\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     0},
    {"version 1, without a period", "3:cpu:/\n", {{"cpu/cpu.cfs_quota_us", "100\n"}}, 0},
    {"another controller",
     "3:cpuset:/\n",
     {{"cpuset/cpu.cfs_quota_us", "1\n"}, {"cpuset/cpu.cfs_period_us", "10\n"}},
     0},
    {"both versions", "3:cpu:/\n0::/u\n", {{"u/cpu.max", "1 10\n"}}, 1},
    {"a period of zero", "0::/\n", {{"cpu.max", "1 0\n"}}, 0},
    {"a negative quota", "0::/\n", {{"cpu.max", "-1 100000\n"}}, 0},
    {"too large a number", "0::/\n", {{"cpu.max", "1 99999999999999999999\n"}}, 0},
    {"one number", "0::/\n", {{"cpu.max", "1\n"}}, 0},
    {"other text", "0::/\n", {{"cpu.max", "1 10 x\n"}}, 0},
    {"an empty file", "0::/\n", {{"cpu.max", ""}}, 0},
    {"a folder", "0::/\n", {{"cpu.max/file", ""}}, 0},
    {"lines of something else", ":\n::\n0:\n0::a\n\n", {{"cpu.max", "1 10\n"}}, 0},
    {"no lines", "", {{"cpu.max", "1 10\n"}}, 0},
};

/* With the folders that it is in. */
static void write_below(const folder *f, const char *beginning, const char *name, const char *text)
{
    path_text path = folder_path(f, beginning);

    strcat(path.text, name);
    for (char *at = path.text + strlen(f->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path.text, 0700);
        *at = '/';
    }
    write_file(path.text, text, strlen(text));
}

static void test_processors_of_groups(void **state)
{
    unsigned all = processors_usable("/nowhere");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(group_rows); i++) {
        const group_row *row = &group_rows[i];
        folder f = folder_new();
        unsigned most = row->most == 0 || row->most > all ? all : row->most;

        write_below(&f, "proc/self/cgroup", "", row->own);
        for (size_t k = 0; k < COUNT_OF(row->files) && row->files[k].path != NULL; k++)
            write_below(&f, "sys/fs/cgroup/", row->files[k].path, row->files[k].text);
        check_u64(processors_usable(f.path), most, "%s", row->label);
        folder_remove(&f);
    }
}

/* A name that is longer than a path limits nothing; of very many lines the first ones count. */
static void test_processors_of_long_groups(void **state)
{
    unsigned all = processors_usable("/nowhere");
    folder f = folder_new();
    size_t size = 100000;
    char *text = malloc(size + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', size);
    text[size] = '\0';
    memcpy(text, "0::/", 4);
    write_below(&f, "sys/fs/cgroup/", "cpu.max", "1 10");
    write_below(&f, "proc/self/cgroup", "", text);
    check_u64(processors_usable(f.path), all, "a long name");
    for (size_t i = 4; i < size; i += 4)
        memcpy(text + i, "\n1:a", 4);
    write_below(&f, "proc/self/cgroup", "", text);
    check_u64(processors_usable(f.path), 1, "many lines");
    free(text);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_without_results),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_processors_of_thread),
        cmocka_unit_test(test_processors_of_groups),
        cmocka_unit_test(test_processors_of_long_groups),
        cmocka_unit_test(test_dropping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
