/* Files that a program writes: all of one or nothing, and none that is still needed.  test_rename.c
 * is about names. */
#include "../support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/disk.h"
#include "../support/folder.h"

static const gufo_str old_bytes = {"old", 3}, new_bytes = {"new!", 4};

static int quiet_disk(void **state)
{
    (void)state;
    disk_without_sync(true);
    return 0;
}

static void check_holds(const folder *f, const char *name, gufo_str bytes, const char *label)
{
    check_file(folder_path(f, name).text, bytes.data, bytes.len, label);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void test_save(void **state)
{
    static const gufo_save_options force = {.flags = GUFO_SAVE_REPLACE};
    static const gufo_save_options secret = {.flags = GUFO_SAVE_REPLACE | GUFO_SAVE_PRIVATE};
    folder f = folder_new();
    path_text path = folder_path(&f, "file"), link = folder_path(&f, "link");
    gufo_error error;
    struct stat info;

    (void)state;
    check_ok(gufo_save(path.text, old_bytes, NULL, &error), &error, "new");
    check_status(gufo_save(path.text, new_bytes, NULL, &error), GUFO_E_EXISTS, &error, "again");
    check_holds(&f, "file", old_bytes, "refused");
    assert_int_equal(chmod(path.text, 0640), 0);
    assert_int_equal(symlink("file", link.text), 0);
    check_ok(gufo_save(link.text, new_bytes, &force, &error), &error, "through a link");
    check_holds(&f, "file", new_bytes, "the target of the link");
    assert_int_equal(stat(path.text, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    check_ok(gufo_save(path.text, old_bytes, &secret, &error), &error, "private");
    assert_int_equal(stat(path.text, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    check_u64(entry_count(f.path), 2, "nothing is left");
    check_status(gufo_save(folder_path(&f, "no/file").text, new_bytes, NULL, &error), GUFO_E_IO,
                 &error, "no folder");
    assert_int_equal(error.system, ENOENT);
    folder_remove(&f);
}

static void note_mode(void *context, const disk_call *call)
{
    mode_t *mode = context;
    struct stat info;

    if (call->kind == DISK_CREATE && fstat(call->fd, &info) == 0)
        *mode = info.st_mode & 0777;
}

/* At no moment can others open a secret: not even a moment before it has bytes. */
static void test_save_private(void **state)
{
    static const gufo_save_options secret = {.flags = GUFO_SAVE_PRIVATE};
    folder f = folder_new();
    mode_t created = 0777, before = umask(0);
    gufo_error error;
    gufo_status status;

    (void)state;
    disk_observe(note_mode, &created);
    status = gufo_save(folder_path(&f, "file").text, new_bytes, &secret, &error);
    disk_observe(NULL, NULL);
    (void)umask(before);
    check_ok(status, &error, "private");
    assert_int_equal(created, 0600);
    folder_remove(&f);
}

static void test_save_fails(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "file");
    gufo_save_options force = {.flags = GUFO_SAVE_REPLACE};
    gufo_error error;
    unsigned call = 0;

    (void)state;
    check_ok(gufo_save(path.text, old_bytes, NULL, &error), &error, "before");
    for (gufo_status status = GUFO_E_IO; status != GUFO_OK; call++) {
        disk_fail_once(call, EIO);
        status = gufo_save(path.text, new_bytes, &force, &error);
        disk_fail_never();
        check_holds(&f, "file", status == GUFO_OK ? new_bytes : old_bytes, "whole");
    }
    assert_true(call > 3);
    force.flags = 4;
    check_status(gufo_save(path.text, new_bytes, &force, &error), GUFO_E_ARGUMENT, &error, "flags");
    force = (gufo_save_options){.reserved = {1}};
    check_status(gufo_save_check(path.text, &force, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "reserved");
    check_status(gufo_rename(NULL, 0, &force, &error), GUFO_E_ARGUMENT, &error, "reserved");
    folder_remove(&f);
}

static void test_guard(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b"), c = folder_path(&f, "c");
    const char *const paths[] = {a.text, NULL, c.text};
    gufo_guard guard = {0};
    gufo_save_options options = {.flags = GUFO_SAVE_REPLACE, .guard = &guard};
    gufo_text target = {0};
    gufo_error error;

    (void)state;
    write_file(a.text, "old", 3);
    assert_int_equal(link(a.text, b.text), 0);
    assert_false(gufo_guard_has(NULL, b.text));
    check_ok(gufo_guard_add_paths(&guard, paths, COUNT_OF(paths), &error), &error, "add");
    assert_true(gufo_guard_has(&guard, b.text)); /* another name of the file */
    check_status(gufo_save(b.text, new_bytes, &options, &error), GUFO_E_ARGUMENT, &error, "hard");
    check_ok(gufo_guard_add_output(&guard, c.text, &error), &error, "an output");
    check_status(gufo_save_check(c.text, &options, NULL, &error), GUFO_E_ARGUMENT, &error, "same");
    gufo_guard_free(&guard);
    check_ok(gufo_save_check(c.text, &options, &target, &error), &error, "freed");
    check_str(((gufo_str){target.data, target.len}), c.text, "target");
    gufo_text_free(&target);
    folder_remove(&f);
}

/* Files and places come in any order, and each is found among the others. */
static void test_guard_many(void **state)
{
    enum { MANY = 32 };
    folder f = folder_new();
    gufo_guard guard = {0};
    const gufo_save_options options = {.flags = GUFO_SAVE_REPLACE, .guard = &guard};
    gufo_error error;
    char name[16];

    (void)state;
    for (size_t i = 0; i < 2 * MANY; i++) {
        snprintf(name, sizeof name, "%zu", i);
        if (i % 2 == 0)
            write_file(folder_path(&f, name).text, "old", 3);
    }
    for (size_t i = 0; i < MANY; i++) { /* the first half of them, in no order */
        snprintf(name, sizeof name, "%zu", i * 13 % MANY);
        check_ok(gufo_guard_add_output(&guard, folder_path(&f, name).text, &error), &error, "%s",
                 name);
    }
    for (size_t i = 0; i < 2 * MANY; i++) {
        snprintf(name, sizeof name, "%zu", i);
        check_status(gufo_save_check(folder_path(&f, name).text, &options, NULL, &error),
                     i < MANY ? GUFO_E_ARGUMENT : GUFO_OK, &error, "%s", name);
    }
    gufo_guard_free(&guard);
    folder_remove(&f);
}

static void test_stream(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "file");
    gufo_error error;
    int fd;

    (void)state;
    write_file(path.text, "old", 3);
    assert_int_equal(gufo_stream_open(path.text, &error), -1);
    assert_int_equal(error.code, GUFO_E_CHANGED);
    assert_int_equal(gufo_stream_open(folder_path(&f, "none").text, &error), -1);
    assert_int_equal(error.code, GUFO_E_IO);
    fd = gufo_stream_open("/dev/null", &error);
    assert_true(fd >= 0);
    check_ok(gufo_stream_write(fd, new_bytes, &error), &error, "write");
    assert_int_equal(close(fd), 0);
    folder_remove(&f);
}

/* ---- names ------------------------------------------------------------------------------------ */

enum { FILES = 3 };

static const char *const froms[FILES] = {"old-1", "old-2", "old-3"};
static const char *const tos[FILES] = {"new-1", "new-2", "new-3"};

typedef struct set {
    path_text from[FILES], to[FILES];
    gufo_move moves[FILES];
} set;

static void make_set(set *s, const folder *f)
{
    for (size_t i = 0; i < FILES; i++) {
        s->from[i] = folder_path(f, froms[i]);
        s->to[i] = folder_path(f, tos[i]);
        s->moves[i] = (gufo_move){.from = s->from[i].text, .to = s->to[i].text};
        write_file(s->from[i].text, froms[i], strlen(froms[i]));
    }
}

static void check_set(const folder *f, const char *const *names, const char *label)
{
    for (size_t i = 0; i < FILES; i++)
        check_holds(f, names[i], gufo_str_of(froms[i]), label);
}

/* Another file has the last of the new names. */
static void test_rename_guarded(void **state)
{
    gufo_guard guard = {0};
    gufo_save_options options = {.guard = &guard};
    folder f = folder_new();
    gufo_error error;
    const char *last;
    set s;

    (void)state;
    make_set(&s, &f);
    last = s.to[FILES - 1].text;
    write_file(last, "old", 3);
    check_status(gufo_rename(s.moves, FILES, &options, &error), GUFO_E_EXISTS, &error, "exists");
    check_str(gufo_str_of(error.file), last, "which");
    check_u64(error.role, GUFO_FILE_OUTPUT, "the new name");
    check_u64(error.file_index, FILES - 1, "which");
    check_set(&f, froms, "refused");
    options.flags = GUFO_SAVE_REPLACE;
    check_ok(gufo_guard_add_paths(&guard, &last, 1, &error), &error, "guard");
    check_status(gufo_rename(s.moves, FILES, &options, &error), GUFO_E_ARGUMENT, &error, "guarded");
    check_set(&f, froms, "guarded");
    gufo_guard_free(&guard);
    check_ok(gufo_rename(s.moves, FILES, &options, &error), &error, "replaced");
    check_set(&f, tos, "replaced");
    check_u64(entry_count(f.path), FILES, "nothing is put aside");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save),          cmocka_unit_test(test_save_private),
        cmocka_unit_test(test_save_fails),    cmocka_unit_test(test_guard),
        cmocka_unit_test(test_guard_many),    cmocka_unit_test(test_stream),
        cmocka_unit_test(test_rename_guarded)};

    return cmocka_run_group_tests(tests, quiet_disk, NULL);
}
