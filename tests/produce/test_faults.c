/* Disks that fail at every call, memory that runs out at every request, and power that is lost at
 * any moment: nothing leaks, nothing half-written has a name, and old files are as they were. */
#include "plans.h"

#include <errno.h>

#include "../support/allocator.h"
#include "../support/aside.h"
#include "../support/recording.h"

enum { SOME = 16 };

static const uint32_t resumable[] = {0, GUFO_JOB_RESUMABLE, GUFO_JOB_RESUME};

/* ---- old files ------------------------------------------------------------------------------ */

static void write_olds(const plan *p)
{
    for (size_t i = 0; i < p->targets; i++)
        write_file(p->out[i].text, "old", 3);
}

static bool is_old(const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    bool old = bytes != NULL && len == 3 && memcmp(bytes, "old", 3) == 0;

    free(bytes);
    return old;
}

static void check_olds(const plan *p, const char *label)
{
    for (size_t i = 0; i < p->targets; i++)
        check(is_old(p->out[i].text), "%s: old file %zu", label, i);
}

static void clean(const plan *p)
{
    char command[600];

    snprintf(command, sizeof command, "rm -f %s/out* %s/.gufo-*", p->f.path, p->f.path);
    check(system(command) == 0, "rm");
}

/* ---- disks ---------------------------------------------------------------------------------- */

/* What must hold after a run in which call number `call` failed. */
static void check_outcome(const plan *p, uint32_t flags, gufo_status status,
                          const gufo_error *error, const char *label)
{
    if (status == GUFO_OK) {
        for (size_t i = 0; i < p->targets; i++)
            check_file(p->out[i].text, p->expected[i], p->size[i], label);
        return;
    }
    check_error_shape(error, GUFO_E_IO, label);
    check(error->role == GUFO_FILE_OUTPUT || error->role == GUFO_FILE_JOURNAL, "%s: role %d: %s",
          label, (int)error->role, error->message);
    check(error->file[0] != '\0', "%s: no file", label);
    check_olds(p, label);
    if ((flags & GUFO_JOB_RESUME) == 0)
        check_u64(entry_count(p->f.path), 2 + p->targets, "%s: something is left: %s", label,
                  error->message);
}

static void fail_each_call(bool alone, uint32_t flags, int failure, bool without_help)
{
    plan p = plan_new(alone, SOME);
    gufo_error error = no_error();
    unsigned calls, failed = 0;

    disk_without_help(without_help);
    disk_fail_never();
    check_ok(plan_run(&p, flags, 1, 0, &error), &error, "flags %u", flags);
    calls = disk_call_count();
    clean(&p);
    for (unsigned call = 0; call < calls; call++) {
        gufo_status status;
        char label[96];

        error = no_error();
        snprintf(label, sizeof label, "flags %u, call %u fails with %d", flags, call, failure);
        write_olds(&p);
        disk_fail_once(call, failure);
        status = plan_run(&p, flags | GUFO_JOB_REPLACE, 1, 0, &error);
        calls = disk_call_count() > calls ? disk_call_count() : calls;
        disk_fail_never();
        failed += status != GUFO_OK;
        check_outcome(&p, flags, status, &error, label);
        if (status != GUFO_OK && (flags & GUFO_JOB_RESUME) != 0) {
            check_ok(plan_run(&p, flags | GUFO_JOB_REPLACE, 1, 0, &error), &error, "%s: again",
                     label);
            plan_check(&p, label);
        }
        clean(&p);
    }
    check(failed > 10 * p.targets, "%u failures of %u calls", failed, calls);
    disk_without_help(false);
    plan_end(&p);
}

static void test_disk_fails(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (unsigned alone = 0; alone < 2; alone++)
        for (size_t i = 0; i < COUNT_OF(resumable); i++) {
            fail_each_call(alone != 0, resumable[i], ENOSPC, true);
            fail_each_call(alone != 0, resumable[i], EIO, false);
        }
    disk_without_sync(false);
}

/* Nothing works any more: there is still nothing half-written under the names. */
static void test_disk_dies(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (size_t i = 0; i < COUNT_OF(resumable); i++) {
        plan p = plan_new(true, SOME);
        gufo_status status = GUFO_E_IO;

        for (unsigned call = 0; status != GUFO_OK; call++) {
            gufo_error error = no_error();

            write_olds(&p);
            disk_fail_from(call, EIO);
            status = plan_run(&p, resumable[i] | GUFO_JOB_REPLACE, 1, 0, &error);
            disk_fail_never();
            if (status != GUFO_OK)
                check_olds(&p, "dead");
            else
                check_file(p.out[0].text, p.expected[0], p.size[0], "dead");
            if (status != GUFO_OK && (resumable[i] & GUFO_JOB_RESUME) != 0)
                check_ok(plan_run(&p, resumable[i] | GUFO_JOB_REPLACE, 1, 0, &error), &error,
                         "again after call %u", call);
            clean(&p);
        }
        plan_end(&p);
    }
    disk_without_sync(false);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lack_memory(bool alone, uint32_t flags)
{
    plan p = plan_new(alone, SOME);
    gufo_status status = GUFO_E_MEMORY;
    counter c;
    gufo_allocator a;

    counter_init(&c);
    a = counter_allocator(&c);
    p.allocator = &a;
    for (size_t at = 1; status != GUFO_OK; at++) {
        gufo_error error = no_error();

        write_olds(&p);
        c.calls = c.denied = 0;
        c.fail_at = at;
        check(fcntl(0, F_GETFD) != -1, "standard input was closed");
        status = plan_run(&p, flags | GUFO_JOB_REPLACE, 1, 0, &error);
        c.fail_at = 0;
        check_u64(c.in_use, 0, "request %zu leaks", at);
        if (status == GUFO_OK) {
            check(c.denied == 0 || at > 10, "request %zu was not needed", at);
            plan_check(&p, "enough memory");
        } else {
            check_error_shape(&error, GUFO_E_MEMORY, "memory");
            check_olds(&p, "memory");
            if ((flags & GUFO_JOB_RESUME) == 0)
                check_u64(entry_count(p.f.path), 2 + p.targets, "request %zu: something is left",
                          at);
            else
                check_ok(plan_run(&p, flags | GUFO_JOB_REPLACE, 1, 0, &error), &error, "again");
        }
        clean(&p);
        check(at < 1000, "no end");
    }
    plan_end(&p);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    disk_without_sync(true);
    for (unsigned alone = 0; alone < 2; alone++)
        for (size_t i = 0; i < COUNT_OF(resumable); i++)
            lack_memory(alone != 0, resumable[i]);
    disk_without_sync(false);
}

/* A stream leaks nothing either. */
static void test_memory_of_a_stream(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_status status = GUFO_E_MEMORY;
    counter c;
    gufo_allocator a;

    (void)state;
    counter_init(&c);
    a = counter_allocator(&c);
    p.allocator = &a;
    for (size_t at = 1; status != GUFO_OK; at++) {
        const gufo_run one = {.threads = 1};
        int fd = open("/dev/null", O_WRONLY);
        gufo_error error = no_error();
        gufo_job *job;

        c.calls = 0;
        c.fail_at = at;
        job = plan_job(&p, &error);
        status = job != NULL ? gufo_job_stream(job, fd, &one, &error) : error.code;
        gufo_job_free(job);
        c.fail_at = 0;
        (void)close(fd);
        check_u64(c.in_use, 0, "request %zu leaks", at);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "%s", error.message);
        check(at < 1000, "no end");
    }
    plan_end(&p);
}

/* ---- power ---------------------------------------------------------------------------------- */

typedef struct scene {
    plan p;
    folder rebuilt;
    uint32_t flags;
    unsigned states, none;
} scene;

static path_text rebuilt_path(const scene *s, size_t target)
{
    return folder_path(&s->rebuilt, strrchr(s->p.out[target].text, '/') + 1);
}

static bool all_new(const scene *s)
{
    bool same = true;

    for (size_t i = 0; i < s->p.targets && same; i++) {
        size_t len;
        uint8_t *found = read_file(rebuilt_path(s, i).text, &len);

        same = found != NULL && len == s->p.size[i] && memcmp(found, s->p.expected[i], len) == 0;
        free(found);
    }
    return same;
}

/* All old, all new, or one is missing: whoever opens the set finds no mixture. */
static void check_no_mixture(scene *s, const char *label)
{
    size_t there = 0, old = 0;

    for (size_t i = 0; i < s->p.targets; i++) {
        there += file_exists(rebuilt_path(s, i).text);
        old += is_old(rebuilt_path(s, i).text);
    }
    s->states++;
    s->none += there < s->p.targets;
    check(there < s->p.targets || old == s->p.targets || all_new(s), "%s: a mixture", label);
}

static void see(void *context, const char *label)
{
    scene *s = context;
    plan *p = &s->p;
    path_text path = p->path;
    gufo_error error = no_error();
    gufo_status status;

    check_no_mixture(s, label);
    p->path = rebuilt_path(s, 0);
    status = plan_run(p, s->flags | GUFO_JOB_REPLACE, 1, 0, &error);
    /* A journal whose first bytes have not reached the disk is not believed: it is replaced by
     * hand. */
    if (status == GUFO_E_ARGUMENT && (s->flags & GUFO_JOB_RESUME) != 0 &&
        error.role == GUFO_FILE_JOURNAL)
        status = plan_run(p, GUFO_JOB_RESUMABLE | GUFO_JOB_REPLACE, 1, 0, &error);
    p->path = path;
    check_ok(status, &error, "%s: again", label);
    check(all_new(s), "%s: finished", label);
    for (size_t i = 0; i < p->targets; i++)
        check(!file_exists(aside_of(rebuilt_path(s, i).text).text), "%s: aside", label);
}

static void lose_power(bool alone, uint32_t flags)
{
    scene s = {.p = plan_new(alone, SOME), .rebuilt = folder_new(), .flags = flags};
    gufo_error error = no_error();
    recording *r;

    disk_simulate(true);
    write_olds(&s.p);
    r = recording_start(s.p.f.path);
    check_ok(plan_run(&s.p, flags | GUFO_JOB_REPLACE, 1, 0, &error), &error, "run");
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
    check(s.states > 20, "only %u states", s.states);
    check(alone ? s.none == 0 : s.none > 5, "%u states without a set", s.none);
    recording_free(r);
    disk_simulate(false);
    folder_remove(&s.rebuilt);
    plan_end(&s.p);
}

static void test_power(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone < 2; alone++)
        for (size_t i = 0; i < COUNT_OF(resumable); i++)
            lose_power(alone != 0, resumable[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_fails),      cmocka_unit_test(test_disk_dies),
        cmocka_unit_test(test_memory_runs_out), cmocka_unit_test(test_memory_of_a_stream),
        cmocka_unit_test(test_power),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
