/* Disks that fail at every call of workers, of a commit and of what removes the plan, and memory that runs out at every
 * request: nothing gets its name half-made, nothing leaks, and the work can be finished with the bytes of one run. */
#include "../support/allocator.h"
#include "../support/aside.h"
#include "../support/disk.h"
#include "../support/pace.h"
#include "../support/shared_work.h"

#include "produce/parts/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 40}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {256, 40}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 40}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const char *const types[] = {"Q8_0", "COPY"};
static const char *const part_names[] = {"0.gguf.part", "1.gguf.part"};

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

/* ---- steps ---------------------------------------------------------------------------------- */

typedef enum step { FIRST_WORKER, SECOND_WORKER, COMMIT, CLEAN, STEPS } step;

static const char *const step_names[] = {"the first worker", "the second worker", "the commit",
                                         "removing the plan"};

static gufo_status run_step(shared_work *p, step s, gufo_error *error)
{
    static const gufo_run run = {.threads = 1};
    const gufo_part part = {.worker = (uint64_t)s, .workers = 2};
    gufo_status status;
    uint64_t missing = 0;
    bool done = true;

    if (s == CLEAN)
        status = gufo_plan_clean(p->out[0].text, &done, error);
    else if (s == COMMIT)
        status = shared_commit(p, &missing, error);
    else
        status = shared_run(p, &part, &run, NULL, error);
    done = done || !file_exists(p->parts.text);
    check(status != GUFO_OK || (missing == 0 && done), "%s: parts are missing", step_names[s]);
    return status;
}

/* Does all from a step on; whoever was to make the plan and could not say so is gone for long. */
static void finish(shared_work *p, step from, const char *label)
{
    if (!file_exists(path_join(p->parts.text, "plan").text))
        shared_age(path_join(p->parts.text, "maker").text);
    for (step s = from; s < STEPS; s++) {
        gufo_error error = no_error();

        check_ok(run_step(p, s, &error), &error, "%s: then %s", label, step_names[s]);
    }
    check(shared_is_done(p), "%s: other bytes", label);
    check(!file_exists(p->parts.text), "%s: the plan is left", label);
    for (size_t i = 0; i < p->count; i++)
        check(unlink(p->out[i].text) == 0, "unlink");
    check_u64(entry_count(p->f.path), 1 + p->count, "%s: something is left", label);
}

static void begin(shared_work *p, step until)
{
    gufo_error error = no_error();

    for (step s = FIRST_WORKER; s < until; s++)
        check_ok(run_step(p, s, &error), &error, "%s", step_names[s]);
}

/* After a failure nothing has its name, unless all files have. */
static void check_failure(const shared_work *p, step s, const gufo_error *error, gufo_status code,
                          const char *label)
{
    check_error_shape(error, code, label);
    check(code != GUFO_E_IO || error->file[0] != '\0', "%s: no file: %s", label, error->message);
    check(s == CLEAN || !file_exists(p->out[0].text) || shared_is_done(p), "%s: half a set", label);
}

/* What a commit could not remove is harmless: second names of files, and what it has put aside. */
static void remove_seconds(const shared_work *p)
{
    for (size_t i = 0; i < p->count; i++) {
        (void)unlink(folder_path(&p->f, part_names[i]).text);
        (void)unlink(aside_of(p->out[i].text).text);
    }
}

/* ---- disks ---------------------------------------------------------------------------------- */

static void fail_each_call(step s, int failure, bool for_good)
{
    shared_work p = work_new();
    unsigned failed = 0;
    bool more = true;

    for (unsigned call = 0; more; call++) {
        gufo_error error = no_error();
        gufo_status status;
        char label[96];

        snprintf(label, sizeof label, "%s: call %u fails with %d", step_names[s], call, failure);
        begin(&p, s);
        if (for_good)
            disk_fail_from(call, failure);
        else
            disk_fail_once(call, failure);
        status = run_step(&p, s, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        failed += status != GUFO_OK;
        if (status != GUFO_OK)
            check_failure(&p, s, &error, GUFO_E_IO, label);
        else if (s == COMMIT)
            remove_seconds(&p);
        finish(&p, status == GUFO_OK ? s + 1 : s, label);
    }
    check(failed > 5, "only %u failures", failed);
    shared_work_end(&p);
}

static void test_disk_fails(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (step s = FIRST_WORKER; s < STEPS; s++)
        fail_each_call(s, s % 2 == 0 ? ENOSPC : EIO, false);
    disk_without_sync(false);
}

static void test_disk_goes_away(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (step s = FIRST_WORKER; s < STEPS; s++)
        fail_each_call(s, EIO, true);
    disk_without_sync(false);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lack_memory(step s)
{
    shared_work p = work_new();
    gufo_status status = GUFO_E_MEMORY;
    const size_t pace = all_some_or_few(1, 3, 20);

    begin(&p, s);
    for (size_t at = 1; status != GUFO_OK; at += pace) {
        gufo_error error = no_error();
        gufo_allocator a;
        char label[64];
        counter c;

        counter_init(&c);
        c.fail_at = at;
        a = counter_allocator(&c);
        p.options.allocator = &a;
        snprintf(label, sizeof label, "%s: request %zu", step_names[s], at);
        status = run_step(&p, s, &error);
        p.options.allocator = NULL;
        check_u64(c.in_use, 0, "%s: leak", label);
        if (status != GUFO_OK)
            check_failure(&p, s, &error, GUFO_E_MEMORY, label);
        check(at < 2000, "no end");
    }
    finish(&p, s, "memory");
    shared_work_end(&p);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (step s = FIRST_WORKER; s <= COMMIT; s++)
        lack_memory(s);
    disk_without_sync(false);
}

/* ---- signs of life -------------------------------------------------------------------------- */

typedef struct sync_count {
    int fd;
    unsigned count;
} sync_count;

static void count_syncs(void *context, const disk_call *call)
{
    sync_count *c = context;

    c->count += call->kind == DISK_SYNC && call->fd == c->fd;
}

/* A client of NFS keeps what is not synced for itself, while others wait for it. */
static void test_beats_are_synced(void **state)
{
    shared_work p = work_new();
    gufo_error error = no_error();
    sync_count seen = {0};
    gufo_plan *plan;
    part_log log;
    logs of;
    bool taken;

    (void)state;
    shared_run_well(&p, 1, 2, "second");
    plan = gufo_plan_open(p.out[0].text, &error);
    check(plan != NULL, "%s", error.message);
    of = plan_logs(plan, p.parts.text);
    check_ok(log_create(&log, &of, 0, 1, 0, &taken, &error), &error, "create");
    seen.fd = log.fd;
    disk_observe(count_syncs, &seen);
    check_ok(log_beat(&log, &error), &error, "beat");
    disk_observe(NULL, NULL);
    check_u64(seen.count, 1, "syncs");
    log_close(&log);
    gufo_plan_free(plan);
    shared_work_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beats_are_synced),
        cmocka_unit_test(test_disk_fails),
        cmocka_unit_test(test_disk_goes_away),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
