/* Whether a file beside ours is ours: also where a server gives what we make to another user.
 *
 * A program of its own: who we are is said here. */
#include "../support/check.h"
#include "../support/folder.h"

#include "base/files/output.h"
#include "base/files/trust.h"
#include "base/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who we are; all files that we make belong to `owner`. */
static uid_t us, owner;

uid_t geteuid(void)
{
    return us;
}

static const uid_t stranger = 12345;

static struct stat facts(const char *path)
{
    struct stat info;

    check(lstat(path, &info) == 0, "%s", path);
    owner = us = info.st_uid;
    return info;
}

static void check_trust(const char *path, const struct stat *info, unsigned wanted,
                        const char *expected, const char *label)
{
    const char *obstacle = trust_own(path, info, wanted);

    check(expected == NULL ? obstacle == NULL : obstacle != NULL && strcmp(obstacle, expected) == 0,
          "%s, %u: %s", label, wanted, obstacle != NULL ? obstacle : "trusted");
}

static const char foreign[] = "it belongs to another user";
static const char linked[] = "it has other hard links";
static const char open_to_others[] = "other users may write to it";

static void test_own(void **state)
{
    static const struct {
        const char *label;
        mode_t mode;
        nlink_t links;
        const char *expected[4]; /* for each `wanted` */
    } rows[] = {
        {"a file", S_IFREG | 0644, 1, {0}},
        {"of two names", S_IFREG | 0644, 2, {NULL, linked, NULL, linked}},
        {"open to a group", S_IFREG | 0664, 1, {NULL, NULL, open_to_others, open_to_others}},
        {"open to all", S_IFREG | 0646, 1, {NULL, NULL, open_to_others, open_to_others}},
        {"open, of two names", S_IFREG | 0666, 2, {NULL, linked, open_to_others, linked}},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, "file");
    struct stat info;

    (void)state;
    write_file(path.text, "", 0);
    info = facts(path.text);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (unsigned wanted = 0; wanted < 4; wanted++) {
            info.st_mode = rows[i].mode;
            info.st_nlink = rows[i].links;
            check_trust(path.text, &info, wanted, rows[i].expected[wanted], rows[i].label);
        }
    info.st_mode = S_IFIFO | 0600;
    check_trust(path.text, &info, 0, "it is not a regular file", "a pipe");
    folder_remove(&f);
}

/* We are root, and the server makes all that we make another user's: ours is what has that user, and what
 * a stranger has put there has not. */
static void test_given_to_another(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "file"), none = folder_path(&f, "none/file");
    path_text named = folder_path(&f, "link"), other_folder = folder_path(&f, "folder");
    struct stat info, other;
    char too_long[PATH_MAX];

    (void)state;
    write_file(path.text, "", 0);
    other = info = facts(path.text);
    us = owner + 1;
    check_trust(path.text, &info, 3, NULL, "what we have made");
    info.st_nlink = 2;
    check_trust(path.text, &info, TRUST_ONE_NAME, linked, "the other conditions");
    other.st_uid = stranger;
    check_trust(path.text, &other, 0, foreign, "a stranger's");
    check(trust_aside(path.text, &info, stranger) == NULL, "aside: what we have made");
    check(trust_aside(path.text, &other, us) != NULL, "aside: a stranger's");
    check(trust_aside(path.text, &other, stranger) == NULL, "aside: the folder's owner's");
    other = info;
    other.st_dev++;
    check_trust(path.text, &other, 0, foreign, "in another file system");
    check_trust(none.text, &info, 0, foreign, "in a folder where nothing can be made");
    memset(too_long, 'x', sizeof too_long);
    too_long[sizeof too_long - 2] = '/';
    too_long[sizeof too_long - 1] = '\0';
    check_trust(too_long, &info, 0, foreign, "too long a path");
    check(symlink("file", named.text) == 0 && lstat(named.text, &info) == 0, "link");
    check_trust(named.text, &info, 0, "it is not a regular file", "a link");
    check(mkdir(other_folder.text, 0700) == 0 && stat(other_folder.text, &info) == 0, "folder");
    check(trust_is_ours(other_folder.text, &info), "a folder that we have made");
    info.st_uid = stranger;
    check(!trust_is_ours(other_folder.text, &info), "a stranger's folder");
    check(rmdir(other_folder.text) == 0, "folder");
    check_u64(entry_count(f.path), 2, "files in the folder");
    us = owner;
    folder_remove(&f);
}

/* What an interrupted run has left there is continued. */
static void test_part_is_given_to_another(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf"), part = folder_path(&f, "model.gguf.part");
    gufo_error error = no_error();
    output o;

    (void)state;
    write_file(part.text, "begun", 5);
    (void)facts(part.text);
    us = owner + 1;
    check_ok(output_find(&o, path.text, false, NULL, &default_allocator, &error), &error, "find");
    check_ok(output_open_part(&o, true, 5, false, &error), &error, "open again");
    check_file(part.text, "begun", 5, "its bytes");
    check_u64(entry_count(f.path), 1, "files in the folder");
    output_discard(&o);
    us = owner;
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_given_to_another),
        cmocka_unit_test(test_part_is_given_to_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
