/* Renaming several files: all or none, whatever call of the disk fails. */
#include "support/disk.h"
#include "support/folder.h"
#include "support/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 3 };

typedef struct case_of_names {
    folder f;
    path_text from[FILES], to[FILES];
    gufo_move moves[FILES];
} case_of_names;

/* Three files of which each holds its name; `taken` of the new names are taken. */
static case_of_names begin(size_t taken)
{
    case_of_names c = {.f = folder_new()};
    char name[16];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "old%zu", i);
        c.from[i] = folder_path(&c.f, name);
        write_file(c.from[i].text, name, strlen(name));
        snprintf(name, sizeof name, "new%zu", i);
        c.to[i] = folder_path(&c.f, name);
        if (i < taken)
            write_file(c.to[i].text, name, strlen(name));
    }
    return c;
}

static gufo_status run(case_of_names *c, bool force, gufo_error *error)
{
    const gufo_save_options options = {.flags = force ? GUFO_SAVE_REPLACE : 0};

    for (size_t i = 0; i < FILES; i++)
        c->moves[i] = (gufo_move){.from = c->from[i].text, .to = c->to[i].text};
    gufo_status status = gufo_rename(c->moves, FILES, &options, error);

    check(status == GUFO_OK || error == NULL || error->file[0] != '\0',
          "a failure is about a file");
    return status;
}

/* Every file has its new name, and nothing else is there. */
static void check_renamed(const case_of_names *c, const char *label)
{
    char content[16];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(content, sizeof content, "old%zu", i);
        check_file(c->to[i].text, content, strlen(content), label);
        check(!file_exists(c->from[i].text), "%s: the old name is gone", label);
    }
    check_u64(entry_count(c->f.path), FILES, "%s", label);
}

/* All is as it was. */
static void check_untouched(const case_of_names *c, size_t taken, const char *label)
{
    char content[16];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(content, sizeof content, "old%zu", i);
        check_file(c->from[i].text, content, strlen(content), label);
        snprintf(content, sizeof content, "new%zu", i);
        if (i < taken)
            check_file(c->to[i].text, content, strlen(content), label);
    }
    check_u64(entry_count(c->f.path), FILES + taken, "%s", label);
}

static void test_rename(void **state)
{
    (void)state;
    for (size_t taken = 0; taken <= FILES; taken++) {
        case_of_names c = begin(taken);
        gufo_error error = no_error();

        if (taken > 0) {
            check_status(run(&c, false, &error), GUFO_E_EXISTS, &error, "%zu taken", taken);
            check_untouched(&c, taken, "without force");
        }
        check_ok(run(&c, true, &error), &error, "%zu taken", taken);
        check_renamed(&c, "renamed");
        folder_remove(&c.f);
    }
}

static void test_refused(void **state)
{
    case_of_names c = begin(0);
    gufo_error error = no_error();

    (void)state;
    assert_int_equal(mkdir(c.to[2].text, 0700), 0);
    check_status(run(&c, true, &error), GUFO_E_ARGUMENT, &error, "a folder is not replaced");
    assert_int_equal(rmdir(c.to[2].text), 0);
    check_untouched(&c, 0, "a folder");
    assert_int_equal(unlink(c.from[2].text), 0);
    check_status(run(&c, true, &error), GUFO_E_IO, &error, "a file is gone");
    check(file_exists(c.from[0].text) && file_exists(c.from[1].text), "the others are back");
    check_u64(entry_count(c.f.path), 2, "and nothing else");
    folder_remove(&c.f);
}

/* A new name is the old one of another move, or of a file that has one: files would be lost. */
static void test_passed_on(void **state)
{
    (void)state;
    for (size_t links = 0; links < 2; links++) {
        case_of_names c = begin(0);
        gufo_error error = no_error();

        c.to[1] = c.from[0];
        if (links == 1) { /* each of two names of a file would become the other one */
            assert_int_equal(unlink(c.from[0].text), 0);
            assert_int_equal(link(c.from[1].text, c.from[0].text), 0);
            c.to[0] = c.from[1];
        }
        check_status(run(&c, true, &error), GUFO_E_ARGUMENT, &error, "%zu links", links);
        check(strstr(error.message, "another old name") != NULL, "%s", error.message);
        check_u64(error.file_index, 1 - links, "%zu links", links);
        if (links == 0)
            check_untouched(&c, 0, "passed on");
        check_u64(entry_count(c.f.path), FILES, "%zu links", links);
        folder_remove(&c.f);
    }
}

/* What is refused before it begins has opened nothing, and closes nothing. */
static void test_descriptors(void **state)
{
    case_of_names c = begin(1);
    gufo_error error = no_error();
    int fd = open("/dev/null", O_RDONLY);

    (void)state;
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    check_status(run(&c, false, &error), GUFO_E_EXISTS, &error, "taken");
    check(fcntl(STDIN_FILENO, F_GETFD) >= 0, "standard input is open");
    if (fd != STDIN_FILENO)
        (void)close(fd);
    folder_remove(&c.f);
}

/* A link is renamed, not what it points to; a second name of the file itself is not in the way. */
static void test_links(void **state)
{
    case_of_names c = begin(0);
    gufo_error error = no_error();
    struct stat info;

    (void)state;
    assert_int_equal(unlink(c.from[0].text), 0);
    assert_int_equal(symlink("nowhere", c.from[0].text), 0);
    assert_int_equal(link(c.from[1].text, c.to[1].text), 0);
    check_ok(run(&c, false, &error), &error, "its own second name");
    check(lstat(c.to[0].text, &info) == 0 && S_ISLNK(info.st_mode), "the link");
    check_file(c.to[1].text, "old1", 4, "the file with two names");
    check_u64(entry_count(c.f.path), FILES, "no other names");
    folder_remove(&c.f);
}

/* Each call of the disk fails once.  Only what is put aside can be left, and only when all files
 * have their new names. */
static void fail_each_call(size_t taken, int failure)
{
    bool done = false;

    for (unsigned call = 0; !done; call++) {
        case_of_names c = begin(taken);
        gufo_error error = no_error();

        check(call < 100, "it ends");
        disk_fail_once(call, failure);
        gufo_status status = run(&c, true, &error);

        done = disk_call_count() <= call;
        disk_fail_never();
        if (status != GUFO_OK)
            check_untouched(&c, taken, error.message);
        for (size_t i = 0; i < FILES && status == GUFO_OK; i++)
            check(file_exists(c.to[i].text) && !file_exists(c.from[i].text), "call %u", call);
        folder_remove(&c.f);
    }
}

static void test_faults(void **state)
{
    (void)state;
    fail_each_call(0, EIO);
    fail_each_call(2, EIO);
    fail_each_call(2, EEXIST);
}

/* File systems without hard links: names are given by rename alone. */
static void test_without_links(void **state)
{
    (void)state;
    fail_each_call(0, EPERM);
    fail_each_call(2, EOPNOTSUPP);
}

/* Nothing works any more in the middle: every file is still there, and the message says where. */
static void test_stranded(void **state)
{
    (void)state;
    for (unsigned call = 0; call < 32; call++) {
        case_of_names c = begin(2);
        gufo_error error = no_error();
        bool told = call % 2 == 0; /* the caller need not want to know */

        disk_fail_from(call / 2, EIO);
        gufo_status status = run(&c, true, told ? &error : NULL);

        disk_fail_never();
        check(entry_count(c.f.path) >= FILES, "call %u", call);
        if (status != GUFO_OK) {
            check(entry_count(c.f.path) >= FILES + 2, "call %u: nothing is lost", call);
            check(!told || call < 4 || strstr(error.message, "the file is now") != NULL ||
                      strstr(error.message, "/.gufo-") != NULL,
                  "%u: %s", call, error.message);
        }
        folder_remove(&c.f);
    }
}

/* ---- power is lost -------------------------------------------------------------------------- */

typedef struct loss {
    folder rebuilt;
    size_t taken;
    unsigned olds, news, none; /* states in which the one or the other opens */
} loss;

/* Whether the files of a set that begin with `name` are there, and hold what those of `content`
 * did. */
static bool is_whole(const folder *f, const char *name, const char *content)
{
    bool whole = true;

    for (size_t i = 0; i < FILES && whole; i++) {
        char path[16], expected[16];
        size_t len;
        uint8_t *found;

        snprintf(path, sizeof path, "%s%zu", name, i);
        snprintf(expected, sizeof expected, "%s%zu", content, i);
        found = read_file(folder_path(f, path).text, &len);
        whole = found != NULL && len == strlen(expected) && memcmp(found, expected, len) == 0;
        free(found);
    }
    return whole;
}

/* As readers see it: a set opens by its first file, and only with all others. */
static bool opens(const folder *f, const char *name)
{
    bool there = true;
    char path[16];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s%zu", name, i);
        there = there && file_exists(folder_path(f, path).text);
    }
    return there;
}

/* Whether some file of the folder holds this. */
static bool is_somewhere(const folder *f, const char *content)
{
    static const char *const prefixes[] = {"old", "new"};
    bool found = false;

    for (size_t i = 0; i < FILES * COUNT_OF(prefixes) && !found; i++) {
        char path[16];
        size_t len;
        uint8_t *bytes;

        snprintf(path, sizeof path, "%s%zu", prefixes[i / FILES], i % FILES);
        bytes = read_file(folder_path(f, path).text, &len);
        found = bytes != NULL && len == strlen(content) && memcmp(bytes, content, len) == 0;
        free(bytes);
    }
    return found;
}

/* The same command finishes what was interrupted, and leaves nothing that was put aside. */
static void run_again(const loss *l, const char *label)
{
    case_of_names c = {.f = l->rebuilt};
    gufo_error error = no_error();
    char name[16];

    for (size_t i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "old%zu", i);
        c.from[i] = folder_path(&c.f, name);
        snprintf(name, sizeof name, "new%zu", i);
        c.to[i] = folder_path(&c.f, name);
    }
    check_ok(run(&c, true, &error), &error, "%s: again", label);
    check_renamed(&c, label);
}

static void see(void *context, const char *label)
{
    loss *l = context;
    const folder *f = &l->rebuilt;
    bool old_opens = opens(f, "old"), new_opens = opens(f, "new");

    check(!old_opens || is_whole(f, "old", "old"), "%s: a mixture under the old names", label);
    check(!new_opens || is_whole(f, "new", "old") ||
              (l->taken == FILES && is_whole(f, "new", "new")),
          "%s: a mixture under the new names", label);
    for (size_t i = 0; i < FILES; i++) {
        char content[16];

        snprintf(content, sizeof content, "old%zu", i);
        check(is_somewhere(f, content), "%s: %s has no name", label, content);
    }
    l->olds += old_opens;
    l->news += new_opens && is_whole(f, "new", "old");
    l->none += !old_opens && !new_opens;
    if (old_opens)
        run_again(l, label);
}

static void lose_power(size_t taken)
{
    case_of_names c = begin(taken);
    loss l = {.rebuilt = folder_new(), .taken = taken};
    recording *r = recording_start(c.f.path);
    gufo_error error = no_error();

    check_ok(run(&c, taken > 0, &error), &error, "%zu taken", taken);
    recording_stop(r);
    check_renamed(&c, "recorded");
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ALL, l.rebuilt.path, see, &l);
    check(l.olds > 0 && l.news > 0 && l.none == 0, "%u old, %u new, %u none", l.olds, l.news,
          l.none);
    recording_free(r);
    folder_remove(&l.rebuilt);
    folder_remove(&c.f);
}

static void test_power(void **state)
{
    (void)state;
    disk_simulate(true);
    lose_power(0);
    lose_power(2);
    lose_power(FILES);
    disk_simulate(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rename),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_passed_on),     cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_links),         cmocka_unit_test(test_faults),
        cmocka_unit_test(test_without_links), cmocka_unit_test(test_stranded),
        cmocka_unit_test(test_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
