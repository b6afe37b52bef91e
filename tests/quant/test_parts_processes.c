/* Workers and commits as processes of their own: at once, racing to make the plan, and killed at any moment.  The bytes
 * are those of one run. */
#include "../support/pace.h"
#include "../support/shared_work.h"

#include "base/checked.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CHILDREN = 8 };

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 40}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {256, 40}},
    {"blk.0.attn_k.weight", GUFO_TYPE_F16, 2, {256, 40}},
    {"blk.0.attn_v.weight", GUFO_TYPE_F16, 2, {256, 40}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F16, 2, {256, 40}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 40}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const char *const types[] = {"Q8_0", "COPY"};

static shared_work work_new(void)
{
    const test_model model = {.encoding = {3, false},
                              .metadata = add_metadata,
                              .entries = 1,
                              .tensors = tensors,
                              .tensor_count = COUNT_OF(tensors)};
    shared_work p = shared_work_new(&model, types, COUNT_OF(types));

    shared_alone(&p);
    return p;
}

/* ---- children ------------------------------------------------------------------------------- */

/* What a child does: a share of parts, or the commit. */
typedef struct task {
    shared_work *work;
    gufo_part part;
    bool commits;
} task;

/* Exits with the status; of a commit that misses parts with one that does not exist. */
static int do_task(const task *t)
{
    static const gufo_run run = {.threads = 1};
    gufo_error error = no_error();
    uint64_t missing = 0;
    gufo_status status = t->commits ? shared_commit(t->work, &missing, &error)
                                    : shared_run(t->work, &t->part, &run, NULL, &error);

    return missing > 0 ? 100 : (int)status;
}

static pid_t start(const task *t)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    check(child >= 0, "fork");
    if (child == 0)
        _exit(do_task(t));
    return child;
}

static int end_of(pid_t child)
{
    int state = 0;

    check(waitpid(child, &state, 0) == child, "waitpid");
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

/* Starts the same task several times, and waits; all of them have to succeed. */
static void run_at_once(const task *t, unsigned count, const char *label)
{
    pid_t children[MOST_CHILDREN];

    for (unsigned i = 0; i < count; i++)
        children[i] = start(t);
    for (unsigned i = 0; i < count; i++) {
        int end = end_of(children[i]);

        check(end == GUFO_OK, "%s: worker %u ends with %d", label, i, end);
    }
}

/* ---- at once -------------------------------------------------------------------------------- */

/* One of them makes the plan; the others wait for it. */
static void test_next_at_once(void **state)
{
    shared_work p = work_new();
    const task next = {.work = &p, .part = {.next = true}};

    (void)state;
    for (unsigned i = 0; i < all_or_few(4, 1); i++) {
        run_at_once(&next, MOST_CHILDREN, "next");
        shared_finish(&p, "next");
    }
    shared_work_end(&p);
}

static void test_one_share_at_once(void **state)
{
    shared_work p = work_new();
    const task all = {.work = &p, .part = {.workers = 1}};

    (void)state;
    run_at_once(&all, all_or_few(MOST_CHILDREN, 2), "one share");
    shared_finish(&p, "one share");
    shared_work_end(&p);
}

/* One succeeds; another one sees that it works, or that all is done. */
static void test_commits_at_once(void **state)
{
    shared_work p = work_new();
    const task commit = {.work = &p, .commits = true};

    (void)state;
    for (unsigned i = 0; i < all_or_few(10, 1); i++) {
        pid_t first, second;
        int ends[2];

        shared_run_well(&p, 0, 1, "all");
        first = start(&commit);
        second = start(&commit);
        ends[0] = end_of(first);
        ends[1] = end_of(second);
        check((ends[0] == GUFO_OK && (ends[1] == GUFO_OK || ends[1] == GUFO_E_IO)) ||
                  (ends[1] == GUFO_OK && ends[0] == GUFO_E_IO),
              "%d and %d", ends[0], ends[1]);
        shared_finish(&p, "two commits");
    }
    shared_work_end(&p);
}

/* ---- killed --------------------------------------------------------------------------------- */

typedef struct killing {
    shared_work work;
    uint64_t random;
    uint64_t nanoseconds; /* that all parts take */
    unsigned kills, of_commits;
} killing;

static uint64_t next_random(killing *k)
{
    k->random = k->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return k->random >> 33;
}

static uint64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Who makes the plan takes over at once from one that was killed. */
static void forget_maker(const killing *k)
{
    if (!file_exists(path_join(k->work.parts.text, "plan").text))
        shared_age(path_join(k->work.parts.text, "maker").text);
}

static bool kill_one(killing *k, const task *t)
{
    /* A commit takes less time than all parts. */
    const uint64_t most = k->nanoseconds / (t->commits ? 4 : 1);
    const struct timespec wait = {.tv_nsec = (long)(next_random(k) % (most + 1))};
    pid_t child;
    int end;

    forget_maker(k);
    child = start(t);
    (void)nanosleep(&wait, NULL);
    check(kill(child, SIGKILL) == 0, "kill");
    end = end_of(child);
    check(end == 128 + SIGKILL || end == GUFO_OK || (t->commits && end == 100), "ends with %d",
          end);
    return end == 128 + SIGKILL;
}

/* Kills workers of one number, finishes with another, and kills the commit. */
static void kill_some(killing *k)
{
    const uint64_t workers = next_random(k) % 5 + 1, others = next_random(k) % 4 + 1;
    const task commit = {.work = &k->work, .commits = true};
    bool killed = true;

    for (unsigned i = 0; i < 6; i++) {
        const task t = {.work = &k->work,
                        .part = {.worker = next_random(k) % workers,
                                 .workers = workers,
                                 .next = next_random(k) % 4 == 0}};

        k->kills += kill_one(k, &t);
    }
    forget_maker(k);
    for (uint64_t i = 0; i < others; i++)
        shared_run_well(&k->work, i, others, "others");
    for (unsigned i = 0; i < 8 && killed; i++) {
        killed = kill_one(k, &commit);
        k->kills += killed;
        k->of_commits += killed;
    }
    shared_finish(&k->work, "killed");
}

static void test_killed(void **state)
{
    killing k = {.work = work_new(), .random = 20261127};
    const unsigned enough = all_some_or_few(200, 40, 6);
    uint64_t begin = now();
    const task all = {.work = &k.work, .part = {.workers = 1}};

    (void)state;
    run_at_once(&all, 1, "measured");
    k.nanoseconds = smaller(now() - begin, 900000000);
    shared_finish(&k.work, "measured");
    for (unsigned rounds = 0; k.kills < enough || k.of_commits <= enough / 20; rounds++) {
        check(rounds < 10 * enough, "only %u kills, %u of commits", k.kills, k.of_commits);
        kill_some(&k);
    }
    shared_work_end(&k.work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_at_once),
        cmocka_unit_test(test_one_share_at_once),
        cmocka_unit_test(test_commits_at_once),
        cmocka_unit_test(test_killed),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
