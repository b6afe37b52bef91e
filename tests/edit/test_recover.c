/* What recovery does with journals and files that do not go together. */
#define _GNU_SOURCE /* flock */

#include "../support/allocator.h"
#include "../support/disk.h"
#include "../support/edits.h"
#include "../support/edit.h"

#include "base/files/pending.h"
#include "base/bytes.h"
#include "base/files/output.h"
#include "base/hash.h"
#include "format/model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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
        file = gufo_model_open(path, NULL, &error);
        gufo_model_free(file);
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
        check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_CHANGED, &error,
                     "flipped");
        check_file(path.text, before, len, "nothing is written");
        check(file_exists(journal_of(path.text).text), "the journal stays");
        free(before);
        interrupt_edit(path.text, lengths[i], half);
        write_file(path.text, "other", 5);
        check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_CHANGED, &error,
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
    check_ok(gufo_edit_recover(link.text, NULL, &recovery, &error), &error, "through a symlink");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NEW, "recovery");
    check(!gufo_edit_pending(path.text), "pending");
    check_ok(gufo_edit_recover(path.text, NULL, &recovery, &error), &error, "again");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NOTHING, "recovery");
    folder_remove(&f);
}

/* A journal as edits make it: private. */
static void write_journal(const char *path, const void *bytes, size_t len)
{
    write_file(path, bytes, len);
    assert_int_equal(chmod(path, 0600), 0);
}

/* A journal that is cut short, or damaged behind the word that it begins with, was never complete:
 * the file has not changed. */
static void test_torn_journal(void **state)
{
    enum { WORD = 8 };
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
        write_journal(journal.text, bytes, cut);
        check(!gufo_edit_pending(path.text), "cut at %zu: pending", cut);
        check_ok(gufo_edit_recover(path.text, NULL, &recovery, &error), &error, "cut at %zu", cut);
        check_u64(recovery, GUFO_EDIT_RECOVERED_OLD, "cut at %zu", cut);
        bytes[cut] ^= 1;
        write_journal(journal.text, bytes, len);
        check(!gufo_edit_pending(path.text), "flipped at %zu: pending", cut);
        check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "flipped at %zu", cut);
        bytes[cut] ^= 1;
        check(file_exists(journal.text) == (cut < WORD), "%zu: the journal is left", cut);
        (void)unlink(journal.text);
    }
    check_file(path.text, old, old_len, "untouched");
    free(bytes);
    free(old);
    folder_remove(&f);
}

/* Files that never were journals belong to somebody else: they stay, and edits go round them. */
static void test_no_journal(void **state)
{
    static const uint8_t zeros[100];
    static const struct {
        const char *label;
        const void *bytes;
        size_t len;
        mode_t mode;
        bool removed;
    } rows[] = {
        {"notes", "my notes", 8, 0644, false},
        {"private notes", "my notes", 8, 0600, false},
        {"a long text",
         "a text that is longer than the head of a journal, so that all of its bytes are there", 84,
         0600, false},
        {"nothing", "", 0, 0644, false},
        {"zeros", zeros, sizeof zeros, 0644, false},
        {"a beginning that anybody may read", "GUFO", 4, 0644, false},
        {"a journal without a byte", "", 0, 0600, true},
        {"a journal of zeros", zeros, sizeof zeros, 0600, true},
        {"the beginning of one", "GUFO", 4, 0600, true},
        {"the word alone", "GUFO-EDJ", 8, 0644, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        folder f = folder_new();
        path_text path = folder_path(&f, name), journal = journal_of(path.text);
        gufo_edit_recovery recovery;
        gufo_error error = no_error();
        bool recover;

        write_small_model(path.text, (encoding){3, false});
        write_file(journal.text, rows[i].bytes, rows[i].len);
        assert_int_equal(chmod(journal.text, rows[i].mode), 0);
        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_SETTLED, "%s", rows[i].label);
        check_ok(gufo_edit_recover(path.text, NULL, &recovery, &error), &error, "%s",
                 rows[i].label);
        check_u64(recovery, rows[i].removed ? GUFO_EDIT_RECOVERED_OLD : GUFO_EDIT_RECOVERED_NOTHING,
                  "%s", rows[i].label);
        check(file_exists(journal.text) == !rows[i].removed, "%s", rows[i].label);
        check_ok(edit_name(path.text, NAME_FITS, NULL, NULL, &recover, &error), &error, "%s",
                 rows[i].label);
        if (!rows[i].removed)
            check_file(journal.text, rows[i].bytes, rows[i].len, rows[i].label);
        folder_remove(&f);
    }
}

/* The allocator of the options is the only one, and a failure of it changes nothing. */
static void test_allocator(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    counter c;
    gufo_allocator allocator;
    const gufo_edit_options options = {.allocator = &allocator};
    gufo_edit_recovery recovery;
    gufo_error error = no_error();
    uint8_t *half;
    size_t len;

    (void)state;
    (void)find_half_done(path.text, NAME_GROWS);
    half = read_file(path.text, &len);
    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = 1;
    check_status(gufo_edit_recover(path.text, &options, NULL, &error), GUFO_E_MEMORY, &error,
                 "without memory");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, path.text) == 0, "%s", error.file);
    check_u64(error.file_index, 0, "index");
    check_file(path.text, half, len, "without memory");
    check(file_exists(journal_of(path.text).text), "the journal stays");
    c.fail_at = 0;
    check_ok(gufo_edit_recover(path.text, &options, &recovery, &error), &error, "with memory");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NEW, "with memory");
    check(c.calls > 1 && c.largest > NAME_GROWS, "%zu requests", c.calls);
    check_u64(c.in_use, 0, "leak");
    free(half);
    folder_remove(&f);
}

/* Whatever fails names the file. */
static void test_errors_name_the_file(void **state)
{
    static const gufo_edit_options later = {.reserved = {1}},
                                   flags = {.flags = GUFO_EDIT_READ_ONLY, .reserved = {0}};
    folder f = folder_new();
    path_text path = folder_path(&f, name), none = folder_path(&f, "none");
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_edit_recover(none.text, NULL, NULL, &error), GUFO_E_IO, &error, "none");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, none.text) == 0, "%s", error.file);
    (void)find_half_done(path.text, NAME_GROWS);
    flip_byte(path.text, 1000);
    error = no_error();
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_CHANGED, &error,
                 "flipped");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, path.text) == 0, "%s", error.file);
    error = no_error();
    check(gufo_edit_open(path.text, NULL, &error) == NULL, "pending");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, path.text) == 0, "%s", error.file);
    check_status(gufo_edit_recover(NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error, "no path");
    check_status(gufo_edit_recover(path.text, &later, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "reserved");
    check_status(gufo_edit_recover(path.text, &flags, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "flags");
    check_u64(gufo_edit_pending(NULL), GUFO_EDIT_STATE_SETTLED, "no path");
    folder_remove(&f);
}

/* ---- strangers ------------------------------------------------------------------------------ */

/* What another user, or a link, might have put where the journal is; `make` is given the path of a
 * genuine one, which is half of an edit. */
typedef struct stranger {
    const char *label;
    void (*make)(const char *journal);
    bool needs_root;
    const char *obstacle;
} stranger;

static void give_away(const char *journal)
{
    check(chown(journal, 65534, 65534) == 0, "chown");
}

static void let_others_write(const char *journal)
{
    check(chmod(journal, 0622) == 0, "chmod");
}

static void link_elsewhere(const char *journal)
{
    path_text other;

    snprintf(other.text, sizeof other.text, "%.500s.other", journal);
    check(link(journal, other.text) == 0, "link");
}

static void make_symlink(const char *journal)
{
    path_text other;

    snprintf(other.text, sizeof other.text, "%.500s.other", journal);
    check(rename(journal, other.text) == 0 && symlink(other.text, journal) == 0, "symlink");
}

/* Only a journal of the owner's, root's or our own counts; nothing else changes the file or keeps
 * anybody from reading it. */
static void test_strangers(void **state)
{
    static const stranger strangers[] = {
        {"another user's", give_away, true, "it belongs to another user"},
        {"open to others", let_others_write, false, "other users may write to it"},
        {"of two names", link_elsewhere, false, "it has other hard links"},
        {"a symlink", make_symlink, false, "it is a symlink"},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    unsigned half = find_half_done(path.text, NAME_FITS);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(strangers); i++) {
        gufo_error error = no_error();
        gufo_edit_recovery recovery;
        path_text other;
        uint8_t *before;
        size_t len;

        if (strangers[i].needs_root && geteuid() != 0) {
            print_message("files of another user: only tested as root\n");
            continue;
        }
        interrupt_edit(path.text, NAME_FITS, half);
        before = read_file(path.text, &len);
        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_INTERRUPTED, "a genuine one");
        strangers[i].make(journal.text);
        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_SETTLED, "%s", strangers[i].label);
        check_status(gufo_edit_recover(path.text, NULL, &recovery, &error), GUFO_E_ARGUMENT, &error,
                     "%s", strangers[i].label);
        check(strstr(error.message, strangers[i].obstacle) != NULL, "%s: %s", strangers[i].label,
              error.message);
        check_file(path.text, before, len, "untouched");
        check(file_exists(journal.text), "%s: it is left alone", strangers[i].label);
        snprintf(other.text, sizeof other.text, "%.500s.other", journal.text);
        (void)unlink(other.text);
        free(before);
    }
    folder_remove(&f);
}

/* A journal of the file's owner counts for everybody: root recovers the files of users. */
static void test_owner(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();

    (void)state;
    if (geteuid() != 0) {
        print_message("files of another user: only tested as root\n");
    } else {
        interrupt_edit(path.text, NAME_FITS, find_half_done(path.text, NAME_FITS));
        check(chown(path.text, 65534, 65534) == 0, "chown");
        give_away(journal_of(path.text).text);
        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_INTERRUPTED, "the owner's");
        check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "the owner's");
    }
    folder_remove(&f);
}

/* Recovery would write through every name of the file. */
static void test_hard_links(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), other = folder_path(&f, "other");
    gufo_error error = no_error();
    uint8_t *before;
    size_t len;

    (void)state;
    interrupt_edit(path.text, NAME_FITS, find_half_done(path.text, NAME_FITS));
    check(link(path.text, other.text) == 0, "link");
    before = read_file(path.text, &len);
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "two names");
    check(strstr(error.message, "2 hard links") != NULL, "%s", error.message);
    check_file(other.text, before, len, "untouched");
    check(unlink(other.text) == 0, "unlink");
    check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "one name");
    free(before);
    folder_remove(&f);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* A journal of gigabytes that takes no room on disk: only its sizes are looked at. */
static void test_sparse_journal(void **state)
{
    const uint64_t huge = UINT64_C(4) << 40;
    pending_head head = {.file_size = huge, .old_size = huge, .new_size = huge};
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    uint8_t bytes[PENDING_HEAD_SIZE];
    gufo_error error = no_error();

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    pending_encode(&head, bytes);
    write_file(journal.text, bytes, sizeof bytes);
    check(truncate(journal.text, (off_t)(2 * huge + sizeof bytes)) == 0, "truncate");
    check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_INTERRUPTED, "of another file");
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_CHANGED, &error, "sizes");
    check(file_exists(journal.text), "it stays");
    /* Headers that shrink, and a file that grows past all bounds, are not edits. */
    for (unsigned i = 0; i < 2; i++) {
        head = i == 0 ? (pending_head){.file_size = 100, .inserted = UINT64_MAX - 7, .old_size = 16}
                      : (pending_head){.file_size = INT64_MAX, .inserted = 8, .old_size = 8};
        head.new_size = head.old_size + head.inserted;
        pending_encode(&head, bytes);
        write_file(journal.text, bytes, sizeof bytes);
        check(truncate(journal.text, (off_t)(sizeof bytes + head.old_size + head.new_size)) == 0,
              "truncate");
        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_SETTLED, "numbers %u", i);
    }
    folder_remove(&f);
}

/* ---- others at work ------------------------------------------------------------------------- */

static void test_live(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    int fd;

    (void)state;
    interrupt_edit(path.text, NAME_FITS, find_half_done(path.text, NAME_FITS));
    fd = open(path.text, O_RDONLY);
    check(fd >= 0 && flock(fd, LOCK_EX) == 0, "flock");
    check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_LIVE, "somebody has the lock");
    check(gufo_edit_open(path.text, &(gufo_edit_options){.flags = GUFO_EDIT_READ_ONLY}, &error) ==
              NULL,
          "to be read");
    check(strstr(error.message, "is being edited") != NULL, "%s", error.message);
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_IO, &error, "locked");
    check(close(fd) == 0, "close");
    check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_INTERRUPTED, "nobody has it");
    folder_remove(&f);
}

/* A head of another version, whose numbers mean something else. */
static void test_other_version(void **state)
{
    enum { AT_VERSION = 8, AT_CHECK = 64 };
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    uint8_t bytes[200] = {0};
    gufo_error error = no_error();

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    pending_encode(&(pending_head){.file_size = 7}, bytes);
    bytes[AT_VERSION]++;
    store_u64(bytes + AT_CHECK,
              hash_text((hash_key){0, 0}, (gufo_str){(const char *)bytes, AT_CHECK}),
              bytes_swapped(false));
    write_journal(journal.text, bytes, sizeof bytes);
    check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_INTERRUPTED, "state");
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "recover");
    check(strstr(error.message, "another version of gufo") != NULL, "%s", error.message);
    check(gufo_edit_open(path.text, NULL, &error) == NULL, "edit");
    check(strstr(error.message, "recover it first") != NULL, "%s", error.message);
    check(file_exists(journal.text), "it stays");
    folder_remove(&f);
}

/* ---- whose failure it is -------------------------------------------------------------------- */

static void test_blame(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), out = folder_path(&f, "out.gguf");
    const gufo_edit_options options = {.flags = GUFO_EDIT_READ_ONLY};
    gufo_edit_target target = {.output = out.text};
    const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = 43};
    gufo_error error = no_error();
    gufo_edit *edit;
    size_t len;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    free(read_file(path.text, &len));
    edit = gufo_edit_open(path.text, &options, &error);
    check(edit != NULL, "%s", error.message);
    check_ok(edit_set(edit, "answer", &value, &error), &error, "set");
    check(truncate(path.text, (off_t)len - 8) == 0, "truncate");
    check(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error) != GUFO_OK, "truncated");
    check(error.role == GUFO_FILE_INPUT && strcmp(error.file, path.text) == 0, "%s: %s", error.file,
          error.message);
    check(!file_exists(out.text), "nothing is left");
    gufo_edit_free(edit);
    folder_remove(&f);
}

/* ---- journals of others ------------------------------------------------------------------------ */

static void make_folder(const char *path)
{
    check(mkdir(path, 0700) == 0, "mkdir");
}

static void make_fifo(const char *path)
{
    check(mkfifo(path, 0600) == 0, "mkfifo");
}

static void bad_journal_folder(const char *path)
{
    make_folder(path);
}

static void bad_journal_fifo(const char *path)
{
    make_fifo(path);
}

static void bad_journal_link(const char *path)
{
    check(symlink("/dev/null", path) == 0, "symlink");
}

/* What cannot be a journal says nothing about the file: it is read and may be edited, but recovery
 * names the obstacle and removes nothing. */
static void test_foreign_journals(void **state)
{
    static void (*const makers[])(const char *) = {bad_journal_folder, bad_journal_fifo,
                                                   bad_journal_link};
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    uint8_t *before;
    size_t len;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    before = read_file(path.text, &len);
    for (size_t i = 0; i < COUNT_OF(makers); i++) {
        gufo_edit_recovery recovery;
        gufo_error error = no_error();

        makers[i](journal.text);
        gufo_edit *edit = gufo_edit_open(path.text, NULL, &error);

        check_u64(gufo_edit_pending(path.text), GUFO_EDIT_STATE_SETTLED, "maker %zu", i);
        check(edit != NULL, "maker %zu: %s", i, error.message);
        gufo_edit_free(edit);
        check_status(gufo_edit_recover(path.text, NULL, &recovery, &error), GUFO_E_ARGUMENT, &error,
                     "maker %zu", i);
        check(strstr(error.message, "is not accepted as the journal") != NULL, "%s", error.message);
        check_u64(recovery, GUFO_EDIT_RECOVERED_NOTHING, "maker %zu", i);
        check_file(path.text, before, len, "untouched");
        check(remove(journal.text) == 0, "maker %zu: it is still there", i);
    }
    check_status(gufo_edit_recover(folder_path(&f, "none").text, NULL, NULL, &(gufo_error){0}),
                 GUFO_E_IO, NULL, "no file");
    free(before);
    folder_remove(&f);
}

enum { AT_CHECK = 64, HEAD_SIZE = 72 };

static void put_check(uint8_t *journal)
{
    store_u64(journal + AT_CHECK,
              hash_text((hash_key){2, 0}, (gufo_str){(const char *)journal, AT_CHECK}),
              bytes_swapped(false));
}

/* Journals whose own check is right and whose numbers cannot be: none of them is one. */
static void test_numbers_of_journals(void **state)
{
    static const struct {
        const char *label;
        size_t at;
        uint64_t add;
    } rows[] = {
        {"form", 8, 1},         {"file smaller than its header", 16, UINT64_MAX << 12},
        {"inserted", 24, 4096}, {"old size", 32, 1},
        {"new size", 40, 1},    {"sizes that overflow", 40, UINT64_MAX - 4096},
        {"old check", 48, 1},   {"new check", 56, 1},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    gufo_error error = no_error();
    uint8_t *bytes, *half;
    size_t len, half_len;
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    disk_fail_from(9, EIO);
    check(edit_name(path.text, NAME_FITS, NULL, NULL, &recover, &error) != GUFO_OK, "interrupted");
    disk_fail_never();
    check(recover && gufo_edit_pending(path.text), "half done");
    bytes = read_file(journal.text, &len);
    half = read_file(path.text, &half_len);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t *damaged = malloc(len);
        gufo_edit_recovery recovery;

        memcpy(damaged, bytes, len);
        store_u64(damaged + rows[i].at,
                  load_u64(damaged + rows[i].at, bytes_swapped(false)) + rows[i].add,
                  bytes_swapped(false));
        put_check(damaged);
        write_file(journal.text, damaged, len);
        check(!gufo_edit_pending(path.text), "%s", rows[i].label);
        check_ok(gufo_edit_recover(path.text, NULL, &recovery, &error), &error, "%s",
                 rows[i].label);
        check_u64(recovery, GUFO_EDIT_RECOVERED_OLD, "%s", rows[i].label);
        check(!file_exists(journal.text), "%s: it is removed", rows[i].label);
        check_file(path.text, half, half_len, rows[i].label);
        free(damaged);
    }
    put_check(bytes);
    write_file(journal.text, bytes, len);
    check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "the right one");
    check(!gufo_edit_pending(path.text), "done");
    free(bytes);
    free(half);
    disk_simulate(false);
    folder_remove(&f);
}

/* A file that can only be read cannot be recovered, and says so. */
static void test_read_only_recovery(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    disk_fail_from(9, EIO);
    (void)edit_name(path.text, NAME_FITS, NULL, NULL, &recover, &error);
    disk_fail_once(0, EROFS);
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_IO, &error, "read only");
    disk_fail_never();
    check(strncmp(error.message, "cannot open for writing", 23) == 0, "%s", error.message);
    check(gufo_edit_pending(path.text), "the journal stays");
    check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "writable again");
    disk_simulate(false);
    folder_remove(&f);
}

/* A journal that is cut while it is read, or a file that ends early, is not a reason to write. */
static void test_cut_file(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), journal = journal_of(path.text);
    gufo_error error = no_error();
    struct stat info;
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    disk_fail_from(9, EIO);
    (void)edit_name(path.text, NAME_FITS, NULL, NULL, &recover, &error);
    disk_fail_never();
    check(stat(path.text, &info) == 0 && truncate(path.text, info.st_size - 1) == 0, "truncate");
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_E_CHANGED, &error, "cut");
    check(file_exists(journal.text), "the journal stays");
    disk_simulate(false);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_file),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_torn_journal),
        cmocka_unit_test(test_no_journal),
        cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_errors_name_the_file),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_hard_links),
        cmocka_unit_test(test_sparse_journal),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_blame),
        cmocka_unit_test(test_foreign_journals),
        cmocka_unit_test(test_numbers_of_journals),
        cmocka_unit_test(test_read_only_recovery),
        cmocka_unit_test(test_cut_file),
    };

    disk_simulate(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
