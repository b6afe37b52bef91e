/* What recovery does with journals and files that do not go together. */
#include "../support/disk.h"
#include "../support/edit.h"

#include <errno.h>
#include <unistd.h>

static const char name[] = "model.gguf";

/* Leaves the file and the journal of an edit that stopped before call `calls`. */
static void interrupt_edit(const char *path, size_t name_len, unsigned calls)
{
    gufo_error error = no_error();
    bool recover;

    (void)unlink(journal_of(path).text);
    write_small_model(path, (encoding){3, false});
    disk_fail_from(calls, EIO);
    check(edit_name(path, name_len, NULL, NULL, &recover, &error) != GUFO_OK, "edit");
    disk_fail_never();
}

/* The first call after which half of the edit is on disk. */
static unsigned find_half_done(const char *path, size_t name_len)
{
    for (unsigned calls = 1; calls < 40; calls++) {
        gufo_error error = no_error();
        gufo_model *file;

        interrupt_edit(path, name_len, calls);
        file = gufo_open(path, NULL, &error);
        gufo_close(file);
        if (file == NULL)
            return calls;
    }
    check(false, "the edit is never half done");
    return 0;
}

static void flip_byte(const char *path, size_t at)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);

    bytes[at] ^= 0x55;
    write_file(path, bytes, len);
    free(bytes);
}

/* A byte that the edit cannot have written: nothing is done, and the journal stays. */
static void test_changed_file(void **state)
{
    static const size_t lengths[] = {NAME_FITS, NAME_GROWS};
    folder f = folder_new();
    path_text path = folder_path(&f, name);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        unsigned half = find_half_done(path.text, lengths[i]);
        gufo_error error = no_error();
        uint8_t *before;
        size_t len;

        check(gufo_edit_pending(path.text), "pending");
        flip_byte(path.text, 1000);
        before = read_file(path.text, &len);
        check_status(gufo_edit_recover(path.text, NULL, &error), GUFO_E_CHANGED, &error, "flipped");
        check_file(path.text, before, len, "nothing is written");
        check(file_exists(journal_of(path.text).text), "the journal stays");
        free(before);
        interrupt_edit(path.text, lengths[i], half);
        write_file(path.text, "other", 5);
        check_status(gufo_edit_recover(path.text, NULL, &error), GUFO_E_CHANGED, &error,
                     "replaced");
        check_file(path.text, "other", 5, "nothing is written");
    }
    folder_remove(&f);
}

/* While it is pending, no edit begins. */
static void test_pending(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), link = folder_path(&f, "link");
    gufo_edit_recovery recovery;
    gufo_error error = no_error();

    (void)state;
    (void)find_half_done(path.text, NAME_GROWS);
    check(gufo_edit_open(path.text, NULL, &error) == NULL, "opened");
    check_u64(error.code, GUFO_E_ARGUMENT, "%s", error.message);
    check(symlink(name, link.text) == 0, "symlink");
    check(gufo_edit_pending(link.text), "through a symlink");
    check_ok(gufo_edit_recover(link.text, &recovery, &error), &error, "through a symlink");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NEW, "recovery");
    check(!gufo_edit_pending(path.text), "pending");
    check_ok(gufo_edit_recover(path.text, &recovery, &error), &error, "again");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NOTHING, "recovery");
    folder_remove(&f);
}

/* A journal that is cut short or damaged anywhere is none: it was never complete, so the file has not
 * changed. */
static void test_torn_journal(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    gufo_edit_recovery recovery;
    gufo_error error = no_error();
    uint8_t *bytes, *old;
    size_t len, old_len;

    (void)state;
    (void)find_half_done(path.text, NAME_GROWS);
    bytes = read_file(journal.text, &len);
    (void)unlink(journal.text);
    write_small_model(path.text, (encoding){3, false});
    old = read_file(path.text, &old_len);
    for (size_t cut = 0; cut < len; cut += cut < 100 ? 1 : 331) {
        write_file(journal.text, bytes, cut);
        check(!gufo_edit_pending(path.text), "cut at %zu: pending", cut);
        check_ok(gufo_edit_recover(path.text, &recovery, &error), &error, "cut at %zu", cut);
        check_u64(recovery, GUFO_EDIT_RECOVERED_OLD, "cut at %zu", cut);
        bytes[cut] ^= 1;
        write_file(journal.text, bytes, len);
        check(!gufo_edit_pending(path.text), "flipped at %zu: pending", cut);
        check_ok(gufo_edit_recover(path.text, NULL, &error), &error, "flipped at %zu", cut);
        bytes[cut] ^= 1;
        check(!file_exists(journal.text), "%zu: the journal is left", cut);
    }
    check_file(path.text, old, old_len, "untouched");
    free(bytes);
    free(old);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_file),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_torn_journal),
    };

    disk_simulate(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
