/* Runs that continue what an interrupted one has left without being asked to: where that is ours and of
 * the same plan, and nobody works on it. */
#include "plans.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "../support/recording.h"

enum { MANY = 1040, SOME = 16 };

static const uint32_t plain = GUFO_JOB_RESUMABLE | GUFO_JOB_CONTINUE, asked = GUFO_JOB_RESUME,
                      anew = GUFO_JOB_RESUMABLE | GUFO_JOB_CONTINUE | GUFO_JOB_REPLACE;

static path_text beside(const plan *p, const char *suffix)
{
    path_text path;

    snprintf(path.text, sizeof path.text, "%.400s%s", p->out[0].text, suffix);
    return path;
}

/* Leaves what a run leaves that is stopped at the end of unit `units`. */
static void interrupt(plan *p, uint64_t units)
{
    gufo_error error = no_error();

    p->stop_at = units;
    check_status(plan_run(p, anew, 2, 0, &error), GUFO_E_STOPPED, &error, "stop");
    p->stop_at = 0;
    check_u64(entry_count(p->f.path), 3 + p->targets, "parts and journal");
}

/* Whether a run would be refused, as gufo_job_check says. */
static gufo_status checked(plan *p, uint32_t flags, gufo_error *error)
{
    const gufo_job_options options = {.path = p->path.text, .flags = flags};
    gufo_job *job = plan_job(p, error);
    gufo_status status = gufo_job_check(job, &options, error);

    gufo_job_free(job);
    return status;
}

/* The run, and the check before it, refuse with `expected` and change nothing. */
static void check_refused(plan *p, uint32_t flags, gufo_status expected, gufo_file_role role,
                          const char *label)
{
    gufo_error error = no_error();
    size_t entries = entry_count(p->f.path);

    check_status(checked(p, flags, &error), expected, &error, "%s: check", label);
    check_u64(error.role, role, "%s: check: %s", label, error.message);
    error = no_error();
    check_status(plan_run(p, flags, 1, 0, &error), expected, &error, "%s", label);
    check_u64(error.role, role, "%s: %s", label, error.message);
    check_u64(p->calls, 0, "%s: work", label);
    check_u64(entry_count(p->f.path), entries, "%s: files", label);
}

static void check_continued(plan *p, uint64_t calls, const char *label)
{
    gufo_error error = no_error();

    check_ok(checked(p, plain, &error), &error, "%s: check", label);
    check_ok(plan_run(p, plain, 3, UINT64_C(64) << 20, &error), &error, "%s", label);
    check_u64(p->continued, calls, "%s: continued", label);
    plan_check(p, label);
    plan_remove_outputs(p);
}

static void test_after_every_unit(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone < 2; alone++) {
        plan p = plan_new(alone != 0, MANY);

        check_continued(&p, 0, "nothing is left");
        for (uint64_t units = 1; units <= p.units; units++) {
            interrupt(&p, units);
            check_continued(&p, 1, "continued");
            check(p.before > 0, "after %" PRIu64 " units nothing was done", units);
        }
        plan_end(&p);
    }
}

/* What a continued run has is kept as that of one that was asked for, whatever ends it. */
static void test_again_and_again(void **state)
{
    plan p = plan_new(false, MANY);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_STOPPED;
    unsigned runs = 0;

    (void)state;
    for (p.stop_at = 1; status == GUFO_E_STOPPED; runs++) {
        check(runs < 100, "no end");
        status = plan_run(&p, plain, 1, 0, &error);
        check_u64(p.continued, runs > 0, "run %u", runs);
    }
    check_ok(status, &error, "the last one");
    check_u64(runs, p.units + 1, "runs");
    plan_check(&p, "again and again");
    plan_end(&p);
}

static void test_replace_starts_over(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();

    (void)state;
    interrupt(&p, 4);
    check_ok(checked(&p, anew, &error), &error, "check");
    check_ok(plan_run(&p, anew, 1, 0, &error), &error, "anew");
    check_u64(p.continued, 0, "anew");
    plan_check(&p, "anew");
    plan_remove_outputs(&p);
    interrupt(&p, 4);
    check_ok(plan_run(&p, anew | asked, 1, 0, &error), &error, "asked");
    check_u64(p.continued, 1, "asked");
    plan_check(&p, "asked");
    plan_end(&p);
}

/* ---- what is not continued ------------------------------------------------------------------ */

static void test_other_plan(void **state)
{
    plan p = plan_new(false, SOME);
    size_t len;

    (void)state;
    interrupt(&p, 4);
    uint8_t *bytes = read_file(beside(&p, ".part.journal").text, &len);
    p.identity = 1;
    check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_JOURNAL, "options");
    p.identity = 0;
    p.rows -= 2;
    check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_JOURNAL, "pieces");
    p.rows += 2;
    check_file(beside(&p, ".part.journal").text, bytes, len, "the journal");
    bytes[50] ^= 1;
    write_file(beside(&p, ".part.journal").text, bytes, len);
    check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_JOURNAL, "spoilt");
    bytes[50] ^= 1;
    write_file(beside(&p, ".part.journal").text, bytes, len);
    check_continued(&p, 1, "the same plan");
    free(bytes);
    plan_end(&p);
}

static void test_missing_part(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();

    (void)state;
    interrupt(&p, 4);
    check(unlink(beside(&p, ".part").text) == 0, "unlink");
    check_status(plan_run(&p, plain, 1, 0, &error), GUFO_E_EXISTS, &error, "no part");
    check_u64(error.role, GUFO_FILE_JOURNAL, "%s", error.message);
    check(file_exists(beside(&p, ".part.journal").text), "the journal stays");
    check_status(plan_run(&p, asked, 1, 0, &error), GUFO_E_ARGUMENT, &error, "no part, asked");
    plan_end(&p);
}

/* A journal that others can have written is not believed, and one that they own not even replaced. */
static void test_journals_of_others(void **state)
{
    static const mode_t modes[] = {0620, 0602};
    plan p = plan_new(true, SOME);
    path_text path = beside(&p, ".part.journal");
    gufo_error error = no_error();

    (void)state;
    interrupt(&p, 4);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        check(chmod(path.text, modes[i]) == 0, "chmod");
        check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_JOURNAL, "writable");
        check_status(plan_run(&p, asked, 1, 0, &error), GUFO_E_ARGUMENT, &error, "writable, asked");
        check(strstr(error.message, "other users may write to it") != NULL, "%s", error.message);
    }
    check(chmod(path.text, 0600) == 0, "chmod");
    check(link(path.text, folder_path(&p.f, "second").text) == 0, "link");
    check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_JOURNAL, "two names");
    check(unlink(folder_path(&p.f, "second").text) == 0, "unlink");
    if (chown(path.text, 12345, (gid_t)-1) == 0) {
        check_status(plan_run(&p, plain, 1, 0, &error), GUFO_E_ARGUMENT, &error, "owner");
        check(strstr(error.message, "it belongs to another user") != NULL, "%s", error.message);
        check(chown(path.text, geteuid(), (gid_t)-1) == 0, "chown");
    }
    check_continued(&p, 1, "ours");
    plan_end(&p);
}

/* A journal is written for its owner alone, whatever the umask is. */
static void test_umask(void **state)
{
    plan p = plan_new(true, SOME);
    mode_t before = umask(0);
    struct stat info;

    (void)state;
    interrupt(&p, 4);
    check(stat(beside(&p, ".part.journal").text, &info) == 0, "stat");
    check_u64(info.st_mode & 0777, 0644, "mode");
    check_continued(&p, 1, "umask");
    (void)umask(before);
    plan_end(&p);
}

static void test_existing_output(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();

    (void)state;
    write_file(p.out[0].text, "old", 3);
    check_refused(&p, plain, GUFO_E_EXISTS, GUFO_FILE_OUTPUT, "without a journal");
    check(unlink(p.out[0].text) == 0, "unlink");
    interrupt(&p, 4);
    write_file(p.out[0].text, "old", 3);
    check_status(plan_run(&p, plain, 1, 0, &error), GUFO_E_EXISTS, &error, "with one");
    check_u64(error.role, GUFO_FILE_OUTPUT, "%s", error.message);
    check_file(p.out[0].text, "old", 3, "old");
    check(unlink(p.out[0].text) == 0, "unlink");
    check_continued(&p, 1, "gone");
    plan_end(&p);
}

/* ---- at the same time ----------------------------------------------------------------------- */

/* A run whose journal is locked is working, and nothing else writes its files. */
static void test_locked(void **state)
{
    static const uint32_t flags[] = {GUFO_JOB_RESUMABLE | GUFO_JOB_CONTINUE, GUFO_JOB_RESUME,
                                     GUFO_JOB_RESUMABLE | GUFO_JOB_REPLACE};
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    int fd;

    (void)state;
    interrupt(&p, 4);
    fd = open(beside(&p, ".part.journal").text, O_RDWR | O_CLOEXEC);
    check(fd >= 0 && flock(fd, LOCK_EX) == 0, "lock");
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        check_status(plan_run(&p, flags[i], 1, 0, &error), GUFO_E_IO, &error, "case %zu", i);
        check(strstr(error.message, "another process is working on it") != NULL, "%s",
              error.message);
        check_u64(error.role, GUFO_FILE_JOURNAL, "case %zu", i);
        check_u64(entry_count(p.f.path), 3 + p.targets, "case %zu: files", i);
    }
    check_refused(&p, plain, GUFO_E_IO, GUFO_FILE_JOURNAL, "checked");
    (void)close(fd);
    check_continued(&p, 1, "released");
    plan_end(&p);
}

typedef struct rival {
    plan *p;
    uint32_t flags;
    gufo_status status;
    unsigned calls;
} rival;

/* Another run, at a moment of ours: it must not get hold of the same files. */
static void begin_rival(void *context, const disk_call *call)
{
    rival *r = context;
    uint64_t stop_at = r->p->stop_at;
    gufo_error error = no_error();

    if (call->kind != DISK_CREATE || strstr(call->path, ".journal") == NULL)
        return;
    disk_observe(NULL, NULL);
    r->calls++;
    r->p->stop_at = 2;
    r->status = plan_run(r->p, r->flags, 1, 0, &error);
    r->p->stop_at = stop_at;
}

/* Between the making of a journal and its lock a rival may take it for one that a crash has left: then
 * the rival works, and we do not. */
static void test_made_and_not_locked_yet(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    rival r = {.p = &p, .flags = plain};

    (void)state;
    disk_observe(begin_rival, &r);
    check_status(plan_run(&p, plain, 1, 0, &error), GUFO_E_IO, &error, "ours");
    disk_observe(NULL, NULL);
    check(strstr(error.message, "another process is working on it") != NULL, "%s", error.message);
    check_u64(r.calls, 1, "rivals");
    check_u64(r.status, GUFO_E_STOPPED, "the rival's");
    check_u64(entry_count(p.f.path), 3 + p.targets, "the rival's files stay");
    check_continued(&p, 1, "the rival's");
    plan_end(&p);
}

/* ---- power ---------------------------------------------------------------------------------- */

typedef struct scene {
    plan p;
    folder rebuilt;
    unsigned finished, refused;
} scene;

static bool is_new(const scene *s, size_t target)
{
    path_text path = folder_path(&s->rebuilt, strrchr(s->p.out[target].text, '/') + 1);
    size_t len;
    uint8_t *found = read_file(path.text, &len);
    bool same =
        found != NULL && len == s->p.size[target] && memcmp(found, s->p.expected[target], len) == 0;

    free(found);
    return same;
}

/* Whatever a loss of power has left, the same command makes the file, or refuses. */
static void see(void *context, const char *label)
{
    scene *s = context;
    path_text path = s->p.path;
    gufo_error error = no_error();
    gufo_status status;

    s->p.path = folder_path(&s->rebuilt, strrchr(path.text, '/') + 1);
    status = plan_run(&s->p, plain, 1, 0, &error);
    if (status != GUFO_OK) {
        check_status(status, GUFO_E_EXISTS, &error, "%s", label);
        check_ok(plan_run(&s->p, anew, 1, 0, &error), &error, "%s: replaced", label);
    }
    s->p.path = path;
    s->finished += status == GUFO_OK;
    s->refused += status != GUFO_OK;
    check(is_new(s, 0), "%s: finished", label);
}

static void test_power(void **state)
{
    scene s = {.p = plan_new(true, SOME), .rebuilt = folder_new()};
    gufo_error error = no_error();
    recording *r;

    (void)state;
    disk_simulate(true);
    r = recording_start(s.p.f.path);
    check_ok(plan_run(&s.p, plain, 1, 0, &error), &error, "run");
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
    check(s.finished > 20, "only %u states are finished, %u are refused", s.finished, s.refused);
    recording_free(r);
    disk_simulate(false);
    folder_remove(&s.rebuilt);
    plan_end(&s.p);
}

/* ---- wrong usage ---------------------------------------------------------------------------- */

static void test_flags(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();

    (void)state;
    check_status(plan_run(&p, GUFO_JOB_CONTINUE, 1, 0, &error), GUFO_E_ARGUMENT, &error, "alone");
    check(strstr(error.message, "GUFO_JOB_CONTINUE needs GUFO_JOB_RESUMABLE") != NULL, "%s",
          error.message);
    plan_check_nothing(&p, "alone");
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_every_unit),
        cmocka_unit_test(test_again_and_again),
        cmocka_unit_test(test_replace_starts_over),
        cmocka_unit_test(test_other_plan),
        cmocka_unit_test(test_missing_part),
        cmocka_unit_test(test_journals_of_others),
        cmocka_unit_test(test_umask),
        cmocka_unit_test(test_existing_output),
        cmocka_unit_test(test_locked),
        cmocka_unit_test(test_made_and_not_locked_yet),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_flags),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
