/* Runs that are interrupted and resumed: whatever has stopped them and whatever was left, the same
 * bytes and results come out, or nothing is touched. */
#include "plans.h"

#include "../support/pace.h"

#include <sys/stat.h>

/* Many: two units of each piece that is made, the second one short. */
enum { MANY = 1040, SOME = 16 };

static const uint32_t keep = GUFO_JOB_RESUMABLE, again = GUFO_JOB_RESUME;

static path_text beside(const plan *p, size_t target, const char *suffix)
{
    path_text path;

    snprintf(path.text, sizeof path.text, "%.400s%s", p->out[target].text, suffix);
    return path;
}

static path_text journal_of(const plan *p)
{
    return beside(p, 0, ".part.journal");
}

/* Leaves what a run leaves that is stopped at the end of unit `units`. */
static void interrupt(plan *p, uint64_t units)
{
    gufo_error error = no_error();

    p->stop_at = units;
    check_status(plan_run(p, keep | GUFO_JOB_REPLACE, 2, 0, &error), GUFO_E_STOPPED, &error,
                 "stop");
    p->stop_at = 0;
    check_u64(entry_count(p->f.path), 3 + p->targets, "parts and journal");
}

/* A stopped run continues with other threads and memory. */
static void check_resumed(plan *p, const measured *results, const char *label)
{
    gufo_error error = no_error();

    check_ok(plan_run(p, again, 3, UINT64_C(64) << 20, &error), &error, "%s", label);
    plan_check(p, label);
    check(results == NULL || memcmp(results, p->results, sizeof p->results) == 0, "%s: results",
          label);
    plan_remove_outputs(p);
}

static void test_stop_after_every_unit(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone < 2; alone++) {
        plan p = plan_new(alone != 0, MANY);
        measured results[PIECES];
        gufo_error error = no_error();

        check_ok(plan_run(&p, keep, 2, 0, &error), &error, "whole");
        plan_check(&p, "whole");
        plan_remove_outputs(&p);
        memcpy(results, p.results, sizeof results);
        check(p.units > 6, "%" PRIu64 " units", p.units);
        for (uint64_t units = 1; units <= p.units; units++) {
            interrupt(&p, units);
            check_resumed(&p, results, "resumed");
            check_u64(p.done, p.total, "progress of what was stopped after %" PRIu64, units);
        }
        plan_end(&p);
    }
}

/* One unit at a time. */
static void test_stop_again_and_again(void **state)
{
    plan p = plan_new(false, MANY);
    gufo_error error = no_error();
    gufo_status status = GUFO_E_STOPPED;
    unsigned runs = 0;

    (void)state;
    for (p.stop_at = 1; status == GUFO_E_STOPPED; runs++) {
        check(runs < 100, "no end");
        status = plan_run(&p, again, 1, 0, &error);
        if (status == GUFO_E_STOPPED)
            check_u64(p.calls, 1, "units of run %u", runs);
    }
    check_ok(status, &error, "the last one");
    check_u64(runs, p.units + 1, "runs");
    plan_check(&p, "again and again");
    plan_end(&p);
}

/* ---- journals ------------------------------------------------------------------------------- */

static void test_torn_journal(void **state)
{
    plan p = plan_new(false, SOME);
    path_text path = journal_of(&p);
    size_t len;

    (void)state;
    interrupt(&p, 4);
    uint8_t *bytes = read_file(path.text, &len);
    check(len > 64, "%zu bytes", len);
    free(bytes);
    for (size_t cut = 0; cut <= len; cut += cut < 60 ? all_some_or_few(1, 5, 5) : 1) {
        interrupt(&p, 4);
        check(truncate(path.text, (off_t)cut) == 0, "truncate");
        if (cut < 64) { /* what was left is not believed, and not removed either */
            gufo_error error = no_error();

            check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_EXISTS, &error, "cut at %zu",
                         cut);
            check_ok(plan_run(&p, again | GUFO_JOB_REPLACE, 1, 0, &error), &error, "cut at %zu",
                     cut);
            plan_check(&p, "cut");
            plan_remove_outputs(&p);
        } else {
            check_resumed(&p, NULL, "torn");
        }
    }
    plan_end(&p);
}

/* A mark with any wrong byte ends the journal; a wrong header is refused. */
static void test_spoilt_journal(void **state)
{
    plan p = plan_new(false, SOME);
    path_text path = journal_of(&p);
    size_t len = 65;

    (void)state;
    for (size_t at = 0; at < len; at += at < 60 ? all_some_or_few(1, 5, 5) : 1) {
        uint8_t *bytes;
        gufo_error error = no_error();

        interrupt(&p, 4);
        bytes = read_file(path.text, &len);
        bytes[at] ^= 0x10;
        write_file(path.text, bytes, len);
        if (at < 64) {
            check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "byte %zu",
                         at);
            check_u64(error.role, GUFO_FILE_JOURNAL, "byte %zu", at);
            assert_string_equal(error.file, path.text);
            check_file(path.text, bytes, len, "the journal stays");
            check_u64(entry_count(p.f.path), 3 + p.targets, "nothing is removed");
        } else {
            check_resumed(&p, NULL, "spoilt");
        }
        free(bytes);
    }
    plan_end(&p);
}

static void test_no_journal(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();
    char other[200] = "notes";

    (void)state;
    write_file(journal_of(&p).text, other, sizeof other);
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "other");
    check(strstr(error.message, "this is not a journal") != NULL, "%s", error.message);
    check_file(journal_of(&p).text, other, sizeof other, "other");
    check_status(plan_run(&p, keep, 1, 0, &error), GUFO_E_EXISTS, &error, "other, kept");
    check_u64(error.role, GUFO_FILE_JOURNAL, "role");
    check_ok(plan_run(&p, keep | GUFO_JOB_REPLACE, 1, 0, &error), &error, "replaced");
    plan_check(&p, "replaced");
    plan_end(&p);
}

/* A file that is too short for a journal, and does not begin like one, is not removed. */
static void test_short_file(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();

    (void)state;
    write_file(journal_of(&p).text, "notes", 5);
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "notes");
    check_file(journal_of(&p).text, "notes", 5, "notes");
    plan_end(&p);
}

/* ---- other plans ---------------------------------------------------------------------------- */

static void test_other_plans(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000}};

    (void)state;
    interrupt(&p, 4);
    p.identity = 1;
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "options");
    check(strstr(error.message, "other options") != NULL, "%s", error.message);
    p.identity = 0;
    p.rows -= 2; /* of the pieces, not of the inputs */
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "pieces");
    p.rows += 2;
    check(utimensat(AT_FDCWD, p.in[1].text, times, 0) == 0, "utimensat");
    plan_close(&p);
    plan_open(&p);
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "inputs");
    check(strstr(error.message, "another input") != NULL, "%s", error.message);
    check_u64(entry_count(p.f.path), 3 + p.targets, "nothing is removed");
    plan_end(&p);
}

/* ---- .part files ---------------------------------------------------------------------------- */

static void test_spoilt_parts(void **state)
{
    (void)state;
    for (size_t target = 0; target < TARGETS; target++)
        for (unsigned how = 0; how < 5; how++) {
            plan p = plan_new(false, SOME);
            path_text part = beside(&p, target, ".part");
            gufo_error error = no_error();

            interrupt(&p, 4);
            if (how == 0)
                check(unlink(part.text) == 0, "unlink");
            else if (how == 1)
                check(truncate(part.text, 100) == 0, "truncate");
            else if (how == 2)
                check(truncate(part.text, (off_t)p.size[target] + 1) == 0, "truncate");
            else if (how == 3) /* it has another name */
                check(link(part.text, folder_path(&p.f, "second").text) == 0, "link");
            else if (chown(part.text, 12345, (gid_t)-1) != 0)
                skip();
            check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_ARGUMENT, &error, "part %u",
                         how);
            check_u64(error.role, GUFO_FILE_OUTPUT, "part %u", how);
            check_u64(error.file_index, target, "part %u", how);
            check(file_exists(journal_of(&p).text), "the journal stays");
            check_u64(file_exists(part.text), how != 0, "the part stays");
            plan_end(&p);
        }
}

/* A .part file of another run, before which a new journal was laid: nothing of it may come
 * through. */
static void test_old_part_behind_new_journal(void **state)
{
    plan p = plan_new(false, SOME);

    (void)state;
    for (size_t longer = 0; longer < 2; longer++) {
        uint8_t *rubbish = malloc(p.size[0] + longer);

        interrupt(&p, 1);
        check(truncate(journal_of(&p).text, 64) == 0, "truncate");
        memset(rubbish, 0xee, p.size[0] + longer);
        write_file(beside(&p, 0, ".part").text, rubbish, p.size[0] + longer);
        check(unlink(beside(&p, 1, ".part").text) == 0, "unlink");
        check_resumed(&p, NULL, "rubbish");
        free(rubbish);
    }
    plan_end(&p);
}

/* What is not ours is in the way: nobody is advised to replace it, and nobody does. */
static void test_strangers(void **state)
{
    static const char *const suffixes[] = {".part", ".part.journal"};

    (void)state;
    for (unsigned n = 0; n < 16; n++) {
        const unsigned how = n / 4;
        const uint32_t flags = n % 2 == 0 ? keep : keep | GUFO_JOB_REPLACE;
        plan p = plan_new(true, SOME);
        path_text path = beside(&p, 0, suffixes[n / 2 % 2]);
        gufo_error error = no_error();
        struct stat before, after;

        if (how == 0)
            check(mkdir(path.text, 0755) == 0, "folder");
        else if (how == 1)
            check(mkfifo(path.text, 0644) == 0, "pipe");
        else if (how == 2)
            check(symlink("nowhere", path.text) == 0, "link");
        else
            write_file(path.text, "mine", 4);
        if (how == 3 && chown(path.text, 12345, (gid_t)-1) != 0) {
            print_message("only root can make files of another user\n");
            plan_end(&p);
            break;
        }
        check(lstat(path.text, &before) == 0, "before");
        check_status(plan_run(&p, flags, 1, 0, &error), GUFO_E_ARGUMENT, &error, "stranger %u", n);
        check(strstr(error.message, "cannot be replaced") != NULL, "%u: %s", n, error.message);
        check(lstat(path.text, &after) == 0 && after.st_ino == before.st_ino, "%u: gone", n);
        check_u64(entry_count(p.f.path), 3, "%u: files", n);
        plan_end(&p);
    }
}

static void test_part_without_journal(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();
    path_text part = beside(&p, 0, ".part");

    (void)state;
    write_file(part.text, "mine", 4);
    check_status(plan_run(&p, keep, 1, 0, &error), GUFO_E_EXISTS, &error, "resumable");
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_EXISTS, &error, "resume");
    check_file(part.text, "mine", 4, "part");
    check_u64(entry_count(p.f.path), 3, "no journal");
    check_ok(plan_run(&p, 0, 1, 0, &error), &error, "otherwise");
    plan_end(&p);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* All data is complete, and some of the files have got their names. */
static void test_complete(void **state)
{
    plan p = plan_new(true, SOME);
    gufo_error error = no_error();

    (void)state;
    write_file(p.out[0].text, "old", 3);
    p.stop_at = 1;
    check_status(plan_run(&p, again | GUFO_JOB_REPLACE, 1, 0, &error), GUFO_E_STOPPED, &error,
                 "stop");
    p.stop_at = 0;
    check_file(p.out[0].text, "old", 3, "old");
    check_status(plan_run(&p, again, 1, 0, &error), GUFO_E_EXISTS, &error, "kept");
    check_file(p.out[0].text, "old", 3, "old");
    check_u64(entry_count(p.f.path), 5, "part and journal");
    check_ok(plan_run(&p, again | GUFO_JOB_REPLACE, 1, 0, &error), &error, "replaced");
    plan_check(&p, "replaced");
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_after_every_unit),
        cmocka_unit_test(test_stop_again_and_again),
        cmocka_unit_test(test_torn_journal),
        cmocka_unit_test(test_spoilt_journal),
        cmocka_unit_test(test_no_journal),
        cmocka_unit_test(test_short_file),
        cmocka_unit_test(test_other_plans),
        cmocka_unit_test(test_spoilt_parts),
        cmocka_unit_test(test_old_part_behind_new_journal),
        cmocka_unit_test(test_part_without_journal),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_complete),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
