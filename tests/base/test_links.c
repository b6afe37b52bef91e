/* Outputs through symlinks: only those that nobody else can have planted are followed, and only to
 * the file that they open. */
#include "base/files/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
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
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
