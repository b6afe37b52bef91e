/* Names for a set: after a loss of power, a kill or a failure at any moment the old set is there,
 * the new one or none, and repeating the commit finishes it. */
#include "base/files/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/aside.h"
#include "support/disk.h"
#include "support/recording.h"

enum { FILES = 3, SHORT = 6 };

static const char *const names[FILES] = {"a-1", "a-2", "a-3"};
static const char *const olds[FILES] = {"old-1", "old-2", "old-3"};
static const char *const news[FILES] = {"new-1", "new-2", "new-3"};

/* What is there before; bit i: file i. */
typedef struct scene {
    folder work, rebuilt;
    unsigned old;
    bool replace;
    unsigned states, none;
} scene;

static path_text target(const folder *f, size_t i)
{
    return folder_path(f, names[i]);
}

static void make_old(const folder *f, unsigned which)
{
    for (size_t i = 0; i < FILES; i++)
        if (which >> i & 1)
            write_file(target(f, i).text, olds[i], SHORT);
}

static bool holds(const folder *f, size_t i, const char *text)
{
    size_t len;
    uint8_t *bytes = read_file(target(f, i).text, &len);
    bool same = text == NULL ? bytes == NULL
                             : bytes != NULL && len == SHORT && memcmp(bytes, text, SHORT) == 0;

    free(bytes);
    return same;
}

static bool all_new(const folder *f)
{
    return holds(f, 0, news[0]) && holds(f, 1, news[1]) && holds(f, 2, news[2]);
}

static bool all_old(const folder *f, unsigned which)
{
    bool same = true;

    for (size_t i = 0; i < FILES; i++)
        same = same && holds(f, i, which >> i & 1 ? olds[i] : NULL);
    return same;
}

/* Finds the targets and writes the temporary files. */
static gufo_status prepare(const folder *f, output files[FILES], bool replace, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t failed;

    for (size_t i = 0; i < FILES; i++)
        files[i] = (output){.fd = -1};
    for (size_t i = 0; i < FILES && status == GUFO_OK; i++) {
        status = output_find(&files[i], target(f, i).text, true, NULL, &default_allocator, error);
    }
    if (status == GUFO_OK)
        status = commit_check(files, FILES, &failed, error);
    if (status == GUFO_OK)
        status = commit_check_replace(files, FILES, replace, &failed, error);
    for (size_t i = 0; i < FILES && status == GUFO_OK; i++) {
        status = output_create(&files[i], 0, false, error);
        if (status == GUFO_OK)
            status = output_write(&files[i], 0, news[i], SHORT, error);
        if (status == GUFO_OK)
            status = output_close(&files[i], error);
    }
    return status;
}

static void discard(output files[FILES])
{
    for (size_t i = 0; i < FILES; i++)
        output_discard(&files[i]);
}

static gufo_status make_set(const folder *f, bool replace, gufo_error *error)
{
    output files[FILES];
    gufo_status status = prepare(f, files, replace, error);
    size_t failed;

    if (status == GUFO_OK)
        status = commit_set(files, FILES, &failed, error);
    discard(files);
    return status;
}

static void remove_temporaries(const folder *f)
{
    char command[600];

    snprintf(command, sizeof command, "rm -f %s/.gufo-*.tmp", f->path);
    check(system(command) == 0, "rm");
}

/* ---- power is lost -------------------------------------------------------------------------- */

/* The set is the old one, the new one or none; the same command makes the new one. */
static void see(void *context, const char *label)
{
    scene *s = context;
    gufo_error error = no_error();
    bool opens = file_exists(target(&s->rebuilt, 0).text);

    s->states++;
    s->none += !opens;
    if (opens)
        check(all_old(&s->rebuilt, s->old) || all_new(&s->rebuilt) ||
                  !holds(&s->rebuilt, 0, news[0]),
              "%s: a mixture", label);
    for (size_t i = 1; opens && i < FILES; i++)
        check(holds(&s->rebuilt, 0, olds[0]) ? !holds(&s->rebuilt, i, news[i])
                                             : holds(&s->rebuilt, i, news[i]),
              "%s: a mixture of %zu", label, i);
    remove_temporaries(&s->rebuilt);
    if (opens && holds(&s->rebuilt, 0, news[0]) && !s->replace)
        return; /* it is complete, and replacing was not requested */
    check_ok(make_set(&s->rebuilt, s->replace, &error), &error, "%s: again", label);
    check(all_new(&s->rebuilt), "%s: finished", label);
    check_u64(entry_count(s->rebuilt.path), FILES, "%s: nothing is aside", label);
}

static scene scene_new(unsigned old, bool replace)
{
    scene s = {.work = folder_new(), .rebuilt = folder_new(), .old = old, .replace = replace};

    disk_simulate(true);
    make_old(&s.work, old);
    return s;
}

static void scene_end(scene *s)
{
    disk_simulate(false);
    folder_remove(&s->work);
    folder_remove(&s->rebuilt);
}

static void lose_power(unsigned old, bool replace)
{
    scene s = scene_new(old, replace);
    gufo_error error = no_error();
    output files[FILES];
    size_t failed;
    recording *r;

    check_ok(prepare(&s.work, files, replace, &error), &error, "prepare");
    r = recording_start(s.work.path);
    check_ok(commit_set(files, FILES, &failed, &error), &error, "commit");
    recording_stop(r);
    check(all_new(&s.work), "the new set");
    check_u64(entry_count(s.work.path), FILES, "nothing else");
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ALL, s.rebuilt.path, see, &s);
    check(s.states > 25 && s.none > 10, "only %u states, %u without a set", s.states, s.none);
    recording_free(r);
    scene_end(&s);
}

static void test_power(void **state)
{
    (void)state;
    lose_power(0, false); /* nothing was there */
    lose_power(7, true);  /* an old set */
    lose_power(6, true);  /* without its first shard */
    lose_power(3, true);  /* without its last */
}

/* ---- failures ------------------------------------------------------------------------------- */

/* One call fails: all is as it was, or the new set is there. */
static void fail_once(unsigned old, bool replace)
{
    unsigned failed = 0;

    for (unsigned call = 0;; call++) {
        scene s = scene_new(old, replace);
        gufo_error error = no_error();
        output files[FILES];
        gufo_status status;
        size_t which;
        bool more;

        check_ok(prepare(&s.work, files, replace, &error), &error, "prepare");
        disk_fail_once(call, EIO);
        status = commit_set(files, FILES, &which, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        discard(files);
        failed += status != GUFO_OK;
        if (status != GUFO_OK)
            check_error_shape(&error, GUFO_E_IO, "commit");
        check(status == GUFO_OK ? all_new(&s.work) : all_old(&s.work, old),
              "call %u fails: neither old nor new", call);
        scene_end(&s);
        if (!more)
            break;
    }
    check(failed >= 5, "only %u failures", failed);
}

static void test_failures(void **state)
{
    (void)state;
    fail_once(0, false);
    fail_once(7, true);
    fail_once(6, true);
    fail_once(3, true);
}

/* Killed at each call, then repeated with each call failing: the old set comes back, all of it. */
static void kill_and_fail(unsigned old)
{
    unsigned back = 0;

    for (unsigned at = 0;; at++) {
        bool more = false;

        for (unsigned call = 0;; call++) {
            scene s = scene_new(old, true);
            gufo_error error = no_error();
            gufo_status status;
            output files[FILES];
            size_t which;
            bool reached;

            check_ok(prepare(&s.work, files, true, &error), &error, "prepare");
            disk_fail_from(at, EIO);
            status = commit_set(files, FILES, &which, &error);
            more = disk_call_count() > at && status != GUFO_OK;
            disk_fail_never();
            discard(files);
            remove_temporaries(&s.work);
            check_ok(prepare(&s.work, files, true, &error), &error, "again");
            disk_fail_once(call, EIO);
            status = commit_set(files, FILES, &which, &error);
            reached = disk_call_count() > call;
            disk_fail_never();
            discard(files);
            check(all_new(&s.work) || (status != GUFO_OK && all_old(&s.work, old)),
                  "killed at %u, call %u fails: neither old nor new", at, call);
            back += status != GUFO_OK;
            check_ok(make_set(&s.work, true, &error), &error, "the third time");
            check(all_new(&s.work), "killed at %u, call %u: finished", at, call);
            check_u64(entry_count(s.work.path), FILES, "nothing is left");
            scene_end(&s);
            if (!reached)
                break;
        }
        if (!more)
            break;
    }
    check(back > 50, "only %u failures", back);
}

static void test_killed(void **state)
{
    (void)state;
    kill_and_fail(7);
    kill_and_fail(3);
}

/* ---- what is aside --------------------------------------------------------------------------- */

static mode_t mode_of(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

/* A commit that replaces files of mode 0600 with second names stops at each call: its set can be
 * made again with `replace` alone, and has the rights of the old one. */
static void test_rights_and_links(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned at = 0, more = 1; more; at++) {
        scene s = scene_new(7, true);
        gufo_error error = no_error();
        output files[FILES];
        size_t which;
        bool aside;

        for (size_t i = 0; i < FILES; i++) {
            path_text second = folder_path(&s.rebuilt, i == 0 ? "a" : i == 1 ? "b" : "c");

            check(chmod(target(&s.work, i).text, 0600) == 0 &&
                      link(target(&s.work, i).text, second.text) == 0,
                  "link");
        }
        check_ok(prepare(&s.work, files, true, &error), &error, "prepare");
        disk_fail_from(at, EIO);
        more = commit_set(files, FILES, &which, &error) != GUFO_OK;
        disk_fail_never();
        discard(files);
        remove_temporaries(&s.work);
        aside = !file_exists(target(&s.work, 0).text);
        if (more) {
            check_status(make_set(&s.work, false, &error), GUFO_E_EXISTS, &error, "call %u", at);
            refused += aside && strstr(error.message, "aside") != NULL;
            check_ok(make_set(&s.work, true, &error), &error, "call %u: again", at);
        }
        check(all_new(&s.work), "call %u: finished", at);
        for (size_t i = 0; i < FILES; i++)
            check_u64(mode_of(target(&s.work, i).text), 0600, "call %u: rights of %zu", at, i);
        scene_end(&s);
    }
    check(refused > 5, "only %u times aside", refused);
}

/* ---- what was named before ------------------------------------------------------------------ */

/* A run that is resumed finds shards named; if it fails, they go back to where they can be
 * found. */
static void test_named(void **state)
{
    (void)state;
    for (unsigned call = 0;; call++) {
        scene s = scene_new(7, true);
        gufo_error error = no_error();
        output files[FILES];
        gufo_status status;
        size_t which;
        bool more;

        for (size_t i = 0; i < FILES; i++) {
            check(rename(target(&s.work, i).text, aside_of(target(&s.work, i).text).text) == 0,
                  "aside");
            check_ok(output_find(&files[i], target(&s.work, i).text, true, NULL, &default_allocator,
                                 &error),
                     &error, "find");
            files[i].keep = true;
            files[i].named = i > 0;
            files[i].temporary = output_beside(&files[i], ".part");
            write_file(i > 0 ? files[i].target : files[i].temporary, news[i], SHORT);
        }
        disk_fail_once(call, EIO);
        status = commit_set(files, FILES, &which, &error);
        more = disk_call_count() > call;
        disk_fail_never();
        check(status == GUFO_OK ? all_new(&s.work) : all_old(&s.work, 7), "call %u", call);
        for (size_t i = 0; i < FILES && status != GUFO_OK; i++)
            check_file(files[i].temporary, news[i], SHORT, "its data is not lost");
        discard(files);
        scene_end(&s);
        if (!more)
            break;
    }
}

/* ---- others at work ------------------------------------------------------------------------- */

/* A file that appears while the set is made is not replaced unless the caller asked for that. */
static void test_appeared(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        scene s = scene_new(0, false);
        gufo_error error = no_error();
        output files[FILES];
        size_t failed;

        check_ok(prepare(&s.work, files, false, &error), &error, "prepare");
        write_file(target(&s.work, i).text, olds[i], SHORT);
        check_status(commit_set(files, FILES, &failed, &error), GUFO_E_EXISTS, &error, "%zu", i);
        check_u64(failed, i, "which");
        check(all_old(&s.work, 1u << i), "%zu: it is there, and nothing else", i);
        discard(files);
        check_u64(entry_count(s.work.path), 1, "%zu: nothing is left", i);
        scene_end(&s);
    }
}

/* ---- strangers ------------------------------------------------------------------------------ */

static void check_refused(const folder *f, const char *sentence)
{
    gufo_error error = no_error();

    check_status(make_set(f, true, &error), GUFO_E_ARGUMENT, &error, "%s", sentence);
    check(strstr(error.message, sentence) != NULL, "%s", error.message);
    check(all_old(f, 7), "%s: untouched", sentence);
}

static void test_strangers(void **state)
{
    folder f = folder_new();
    path_text aside = aside_of(target(&f, 1).text), other = folder_path(&f, "other");
    gufo_error error = no_error();

    (void)state;
    make_old(&f, 7);
    write_file(other.text, "other", 6);
    check(mkdir(aside.text, 0700) == 0, "mkdir");
    check_refused(&f, "it is not a regular file");
    check(rmdir(aside.text) == 0, "rmdir");
    if (geteuid() == 0) {
        write_file(aside.text, "planted", 7);
        check(chown(aside.text, 65534, 65534) == 0, "chown");
        check_refused(&f, "it belongs to another user");
        check_file(aside.text, "planted", 7, "left alone");
        check(unlink(aside.text) == 0, "unlink");
        check(chown(target(&f, 2).text, 65534, 65534) == 0, "chown");
        check_refused(&f, "it belongs to another user");
        check(chown(target(&f, 2).text, 0, 0) == 0, "chown");
    } else {
        print_message("files of another user: only tested as root\n");
    }
    /* What a complete commit has left is ours, and goes. */
    write_file(aside.text, "old", 3);
    check_ok(make_set(&f, true, &error), &error, "rubbish");
    check(all_new(&f) && !file_exists(aside.text), "rubbish is removed");
    /* Links of ours are removed, not followed. */
    check(symlink("other", aside.text) == 0, "symlink");
    check_ok(make_set(&f, true, &error), &error, "symlink");
    check(link(other.text, aside.text) == 0, "link");
    check_ok(make_set(&f, true, &error), &error, "link");
    check_file(other.text, "other", 6, "the other file");
    folder_remove(&f);
}

/* ---- the same file -------------------------------------------------------------------------- */

static void test_same(void **state)
{
    folder f = folder_new();
    path_text real = folder_path(&f, "real");
    gufo_error error = no_error();

    (void)state;
    for (unsigned exists = 0; exists < 2; exists++) {
        if (exists)
            write_file(real.text, "real", 4);
        check(symlink("real", target(&f, 0).text) == 0, "symlink");
        check(symlink(real.text, target(&f, 2).text) == 0, "symlink");
        check_status(make_set(&f, true, &error), GUFO_E_ARGUMENT, &error, "two links");
        check(strstr(error.message, "are the same file") != NULL, "%s", error.message);
        check(file_exists(real.text) == (exists == 1), "untouched");
        check(unlink(target(&f, 0).text) == 0 && unlink(target(&f, 2).text) == 0, "unlink");
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_killed),   cmocka_unit_test(test_named),
        cmocka_unit_test(test_appeared), cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_same),     cmocka_unit_test(test_rights_and_links),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
