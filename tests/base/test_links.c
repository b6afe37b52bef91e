/* Outputs through symlinks: only those that nobody else can have planted are followed, and only to
 * the file that they open. */
#include "base/files/output.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/trust.h"
#include "base/memory.h"
#include "support/disk.h"
#include "support/folder.h"

static gufo_status find(const char *path, gufo_error *error)
{
    output o;
    gufo_status status = output_find(&o, path, true, NULL, &default_allocator, error);

    if (status == GUFO_OK)
        output_discard(&o);
    return status;
}

/* The kernel's rule for protected_symlinks, whether it is switched on or not. */
static void test_owners(void **state)
{
    enum { LINK_OWNER = 12345, FOLDER_OWNER = 12346 };
    static const struct {
        const char *label;
        uid_t folder, link;
        mode_t mode;
        gufo_status status;
    } rows[] = {
        {"our own", FOLDER_OWNER, 0, 01777, GUFO_OK},
        {"the folder's owner's", FOLDER_OWNER, FOLDER_OWNER, 01777, GUFO_OK},
        {"another user's", FOLDER_OWNER, LINK_OWNER, 01777, GUFO_E_ARGUMENT},
        {"another user's in our folder", 0, LINK_OWNER, 01777, GUFO_E_ARGUMENT},
        {"not sticky", FOLDER_OWNER, LINK_OWNER, 0777, GUFO_OK},
        {"not for everybody", FOLDER_OWNER, LINK_OWNER, 01775, GUFO_OK},
    };

    (void)state;
    if (geteuid() != 0) {
        print_message("only root can make links of another user\n");
        skip();
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f = folder_new();
        path_text shared = folder_path(&f, "shared"), aim = folder_path(&f, "aim");
        path_text first = folder_path(&f, "first"), link = path_join(shared.text, "link");
        gufo_error error = no_error();

        write_file(aim.text, "aim", 3);
        check(mkdir(shared.text, 0700) == 0 && chmod(shared.text, rows[i].mode) == 0 &&
                  chown(shared.text, rows[i].folder, 0) == 0,
              "folder");
        check(symlink(aim.text, link.text) == 0 && lchown(link.text, rows[i].link, 0) == 0, "link");
        check(symlink(link.text, first.text) == 0, "a link to it");
        check_status(find(link.text, &error), rows[i].status, &error, "%s", rows[i].label);
        check_status(find(first.text, &error), rows[i].status, &error, "%s, by another link",
                     rows[i].label);
        check(unlink(aim.text) == 0, "aim"); /* where nothing is yet */
        check_status(find(link.text, &error), rows[i].status, &error, "%s, new", rows[i].label);
        folder_remove(&f);
    }
}

/* The same for folders on the way, however it is spelled. */
static void test_folders(void **state)
{
    enum { LINK_OWNER = 12345, FOLDER_OWNER = 12346 };
    static const char *const ways[] = {"shared/link/out",
                                       "./shared//link/out",
                                       "shared/./link/../aim/out",
                                       "shared/../shared/link/out",
                                       "through/out",
                                       "shared/link/sub/../out",
                                       "shared/real/../link/out",
                                       "file"};
    static const struct {
        const char *label;
        uid_t link;
        mode_t mode;
        gufo_status status;
    } rows[] = {
        {"our own", 0, 01777, GUFO_OK},
        {"the folder's owner's", FOLDER_OWNER, 01777, GUFO_OK},
        {"another user's", LINK_OWNER, 01777, GUFO_E_ARGUMENT},
        {"not sticky", LINK_OWNER, 0777, GUFO_OK},
    };

    (void)state;
    if (geteuid() != 0) {
        print_message("only root can make links of another user\n");
        skip();
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f = folder_new();
        path_text shared = folder_path(&f, "shared"), link = path_join(shared.text, "link");
        gufo_error error = no_error();

        check(mkdir(shared.text, 0700) == 0 && mkdir(folder_path(&f, "aim").text, 0700) == 0 &&
                  mkdir(folder_path(&f, "aim/sub").text, 0700) == 0 &&
                  mkdir(folder_path(&f, "shared/real").text, 0700) == 0 &&
                  chmod(shared.text, rows[i].mode) == 0 && chown(shared.text, FOLDER_OWNER, 0) == 0,
              "folders");
        check(symlink("../aim", link.text) == 0 && lchown(link.text, rows[i].link, 0) == 0 &&
                  symlink("shared/link", folder_path(&f, "through").text) == 0 &&
                  symlink("shared/link/out", folder_path(&f, "file").text) == 0,
              "links");
        for (size_t way = 0; way < COUNT_OF(ways); way++) {
            check_status(find(folder_path(&f, ways[way]).text, &error), rows[i].status, &error,
                         "%s: %s", rows[i].label, ways[way]);
            if (rows[i].status != GUFO_OK)
                check(strstr(error.message, "a folder of the target is another user's symlink") !=
                          NULL,
                      "%s", error.message);
        }
        check_ok(find(folder_path(&f, "shared/real/out").text, &error), &error, "a folder");
        check_u64(entry_count(folder_path(&f, "aim").text), 1, "nothing is made");
        folder_remove(&f);
    }
}

/* From here: paths without a slash at their beginning, and up from where we are. */
static void test_relative_folders(void **state)
{
    static const char *const ways[] = {"out",           "./out",
                                       "../shared/out", "../../../../../../../../tmp/out",
                                       "link/out",      "link/../../shared/link/out",
                                       "nothing/out",   "loop/out"};
    folder f = folder_new();
    path_text shared = folder_path(&f, "shared");
    char before[PATH_MAX], long_path[2 * PATH_MAX];

    (void)state;
    check(getcwd(before, sizeof before) != NULL && mkdir(shared.text, 0700) == 0 &&
              chmod(shared.text, 01777) == 0 && chdir(shared.text) == 0 &&
              mkdir("real", 0700) == 0 && symlink("real", "link") == 0 &&
              symlink("loop", "loop") == 0,
          "folders");
    for (size_t way = 0; way < COUNT_OF(ways); way++)
        check(!way_is_planted(ways[way]), "%s", ways[way]);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    for (size_t i = 100; i < sizeof long_path - 1; i += 100)
        long_path[i] = '/';
    check(!way_is_planted(long_path), "too long");
    if (lchown("link", 12345, (gid_t)-1) == 0) {
        check(way_is_planted("link/out") && way_is_planted("../shared/link/out"), "planted");
        check(!way_is_planted("real/out") && !way_is_planted("link"), "the last name");
    }
    check(chdir(before) == 0, "%s", before);
    folder_remove(&f);
}

/* Right after a file was made in it, another user exchanges the folder for a symlink. */
static void exchange(void *context, const disk_call *call)
{
    const folder *f = context;

    if (call->kind != DISK_CREATE)
        return;
    disk_observe(NULL, NULL);
    check(rename(folder_path(f, "shared/theirs").text, folder_path(f, "shared/moved").text) == 0 &&
              symlink("../aim", folder_path(f, "shared/theirs").text) == 0,
          "exchanged");
}

static void test_exchanged_folder(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "shared/theirs/out");
    gufo_error error = no_error();
    output o;

    (void)state;
    check(mkdir(folder_path(&f, "shared").text, 0700) == 0 &&
              mkdir(folder_path(&f, "shared/theirs").text, 0700) == 0 &&
              mkdir(folder_path(&f, "aim").text, 0700) == 0,
          "folders");
    disk_observe(exchange, &f);
    check_status(output_open(&o, path.text, true, 10, NULL, &default_allocator, &error),
                 GUFO_E_CHANGED, &error, "exchanged");
    check_u64(entry_count(folder_path(&f, "aim").text), 0, "nothing is made there");
    folder_remove(&f);
}

/* /dev/fd of a file that was removed: its text names another one, or none. */
static void test_removed(void **state)
{
    folder f = folder_new();
    path_text kept = folder_path(&f, "kept"), gone = folder_path(&f, "gone"),
              stand_in = folder_path(&f, "gone (deleted)");
    gufo_error error = no_error();
    char path[64];
    int fds[2];

    (void)state;
    write_file(kept.text, "kept", 4);
    write_file(gone.text, "gone", 4);
    fds[0] = open(kept.text, O_RDWR);
    fds[1] = open(gone.text, O_RDWR);
    check(fds[0] >= 0 && fds[1] >= 0 && unlink(gone.text) == 0, "files");
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    if (access(path, F_OK) != 0) {
        print_message("there is no /dev/fd\n");
        skip();
    }
    check_ok(find(path, &error), &error, "a file with a name");
    snprintf(path, sizeof path, "/dev/fd/%d", fds[1]);
    check_status(find(path, &error), GUFO_E_ARGUMENT, &error, "removed");
    check_u64(entry_count(f.path), 1, "nothing is made");
    write_file(stand_in.text, "other", 5);
    check_status(find(path, &error), GUFO_E_ARGUMENT, &error, "another file of that text");
    check_file(stand_in.text, "other", 5, "other");
    (void)close(fds[0]);
    (void)close(fds[1]);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owners),           cmocka_unit_test(test_folders),
        cmocka_unit_test(test_relative_folders), cmocka_unit_test(test_exchanged_folder),
        cmocka_unit_test(test_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
