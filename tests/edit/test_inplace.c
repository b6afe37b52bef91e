/* Which way an edit takes, the obstacles to the first two, and what a failing disk leaves. */
#include "../support/disk.h"
#include "../support/edits.h"
#include "../support/edit.h"
#include "../support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "model.gguf";

/* ---- ways ----------------------------------------------------------------------------------- */

/* The tensors of a file, and what the edit should have left alone. */
static void check_content(const char *path, size_t name_len, const char *label)
{
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open(path, NULL, &error);
    gufo_tensor tensor;
    uint64_t answer;
    gufo_str text;

    check(file != NULL, "%s: %s", label, error.message);
    check_ok(gufo_model_get_str(file, "general.name", &text, &error), &error, "%s", label);
    check_u64(text.len, name_len, "%s: length of the name", label);
    check_ok(gufo_model_get_u64(file, "answer", &answer, &error), &error, "%s", label);
    check_u64(answer, 42, "%s", label);
    check_u64(gufo_model_tensor_count(file), 2, "%s", label);
    for (unsigned i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        const uint8_t *data = gufo_tensor_raw(file, &tensor);

        for (size_t at = 0; at < tensor.size; at++)
            check(data[at] == pattern_byte(i, at), "%s: tensor %u byte %zu", label, i, at);
    }
    gufo_model_free(file);
}

static void test_ways(void **state)
{
    static const struct {
        const char *label;
        gufo_edit_target target;
        size_t name_len;
        gufo_edit_way way;
        uint64_t moved; /* the beginning of the data */
    } rows[] = {
        {"fits", {0}, NAME_FITS, GUFO_EDIT_OVERWRITE, 0},
        {"grows", {0}, NAME_GROWS, GUFO_EDIT_INSERT, 4096},
        {"grows far", {0}, 20000, GUFO_EDIT_INSERT, 5 * 4096},
        {"with a reserve", {.reserve = 10000}, NAME_GROWS, GUFO_EDIT_INSERT, 4 * 4096},
        {"new file", {.in_place = GUFO_EDIT_IN_PLACE_NEVER}, 2000, GUFO_EDIT_REWRITE, 0},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, name);

    (void)state;
    disk_simulate(true);
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            gufo_error error = no_error();
            gufo_edit_plan plan;
            bool recover;

            write_small_model(path.text, all_encodings[e]);
            check_ok(
                edit_name(path.text, rows[i].name_len, &rows[i].target, &plan, &recover, &error),
                &error, "%s", rows[i].label);
            check_u64(plan.way, rows[i].way, "%s", rows[i].label);
            if (all_encodings[e].version > 1) /* version 1 grows by itself */
                check_u64(plan.data_offset - plan.old_data_offset, rows[i].moved, "%s",
                          rows[i].label);
            check_content(path.text, rows[i].name_len, rows[i].label);
            check_u64(entry_count(f.path), 1, "%s: files in the folder", rows[i].label);
        }
    }
    disk_simulate(false);
    folder_remove(&f);
}

/* Room that one edit has left over, the next one takes back: the file ends where it began. */
static void test_padding_comes_and_goes(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    const gufo_edit_target rewrite = {.in_place = GUFO_EDIT_IN_PLACE_NEVER};
    gufo_error error = no_error();
    gufo_edit_plan plan;
    uint8_t *before, *after;
    size_t before_len, after_len;
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    check_ok(edit_name(path.text, 2000, &rewrite, &plan, &recover, &error), &error, "before");
    before = read_file(path.text, &before_len);
    for (size_t length = 10; length < 9000; length += 613) {
        check_ok(edit_name(path.text, length, NULL, &plan, &recover, &error), &error, "%zu",
                 length);
        check_content(path.text, length, "between");
    }
    check(plan.padding > 0, "there is padding");
    check_ok(edit_name(path.text, 2000, &rewrite, &plan, &recover, &error), &error, "after");
    after = read_file(path.text, &after_len);
    check_u64(after_len, before_len, "size");
    check(memcmp(before, after, before_len) == 0, "the same bytes");
    free(before);
    free(after);
    disk_simulate(false);
    folder_remove(&f);
}

/* Nothing changed: nothing is written. */
static void test_nothing(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    gufo_edit_plan plan;
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    check_ok(edit_name(path.text, NAME_FITS, NULL, &plan, &recover, &error), &error, "once");
    disk_fail_from(1, EIO); /* all but opening */
    check_ok(edit_name(path.text, NAME_FITS, NULL, &plan, &recover, &error), &error, "twice");
    disk_fail_never();
    check_u64(plan.way, GUFO_EDIT_NOTHING, "way");
    disk_simulate(false);
    folder_remove(&f);
}

/* ---- obstacles ------------------------------------------------------------------------------ */

typedef struct obstacle {
    const char *label;
    void (*raise)(const folder *f, int *fd, void **mapping);
    const char *reason;
} obstacle;

static void raise_nothing(const folder *f, int *fd, void **mapping)
{
    (void)f, (void)fd, (void)mapping;
}

static void raise_link(const folder *f, int *fd, void **mapping)
{
    (void)fd, (void)mapping;
    check(link(folder_path(f, name).text, folder_path(f, "other").text) == 0, "link");
}

static void raise_symlink(const folder *f, int *fd, void **mapping)
{
    (void)fd, (void)mapping;
    check(rename(folder_path(f, name).text, folder_path(f, "blob").text) == 0, "rename");
    check(symlink("blob", folder_path(f, name).text) == 0, "symlink");
}

static void raise_reader(const folder *f, int *fd, void **mapping)
{
    (void)mapping;
    *fd = open(folder_path(f, name).text, O_RDONLY);
}

static void raise_mapping(const folder *f, int *fd, void **mapping)
{
    raise_reader(f, fd, mapping);
    *mapping = mmap(NULL, 4096, PROT_READ, MAP_SHARED, *fd, 0);
    check(*mapping != MAP_FAILED, "mmap");
    close(*fd);
    *fd = -1;
}

static const obstacle obstacles[] = {
    {"nothing", raise_nothing, NULL},
    {"hard link", raise_link, "hard links"},
    {"symlink", raise_symlink, "symlink"},
    {"open", raise_reader, "open or mapped"},
    {"mapped", raise_mapping, "open or mapped"},
};

static void meet_obstacle(const obstacle *o, gufo_edit_in_place in_place)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    const gufo_edit_target target = {.in_place = in_place};
    gufo_error error = no_error();
    gufo_edit_plan plan;
    struct stat before, after;
    void *mapping = NULL;
    int fd = -1;
    bool recover, goes = o->reason == NULL || in_place == GUFO_EDIT_IN_PLACE_ALWAYS;

    write_small_model(path.text, (encoding){3, false});
    o->raise(&f, &fd, &mapping);
    check(stat(path.text, &before) == 0, "stat");
    check_ok(edit_name(path.text, NAME_FITS, &target, &plan, &recover, &error), &error, "%s",
             o->label);
    check(stat(path.text, &after) == 0, "stat");
    check_u64(plan.way, goes ? GUFO_EDIT_OVERWRITE : GUFO_EDIT_REWRITE, "%s", o->label);
    check((before.st_ino == after.st_ino) == goes, "%s: the same file or not", o->label);
    if (o->reason != NULL)
        check(strstr(goes ? plan.warning : plan.not_overwritten, o->reason) != NULL, "%s: %s, %s",
              o->label, plan.warning, plan.not_overwritten);
    check_content(path.text, NAME_FITS, o->label);
    if (mapping != NULL)
        munmap(mapping, 4096);
    if (fd >= 0)
        close(fd);
    folder_remove(&f);
}

/* With the leases of the system. */
static void test_obstacles(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    bool leases;
    int fd;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    fd = open(path.text, O_RDWR);
    leases = disk_lease(fd, true) == 0;
    close(fd);
    folder_remove(&f);
    if (!leases)
        skip();
    for (size_t i = 0; i < COUNT_OF(obstacles); i++) {
        meet_obstacle(&obstacles[i], GUFO_EDIT_IN_PLACE_IF_SAFE);
        meet_obstacle(&obstacles[i], GUFO_EDIT_IN_PLACE_ALWAYS);
    }
}

/* A symlink's target is replaced, not the link. */
static void test_symlink_stays(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    struct stat info;
    bool recover;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    raise_symlink(&f, NULL, NULL);
    check_ok(edit_name(path.text, NAME_FITS, NULL, NULL, &recover, &error), &error, "edit");
    check(lstat(path.text, &info) == 0 && S_ISLNK(info.st_mode), "still a symlink");
    check_content(folder_path(&f, "blob").text, NAME_FITS, "its target");
    folder_remove(&f);
}

/* Where blocks cannot be inserted, a new file is made, unless that is forbidden. */
static void test_no_insert(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    const gufo_edit_target always = {.in_place = GUFO_EDIT_IN_PLACE_ALWAYS};
    gufo_error error = no_error();
    gufo_edit_plan plan;
    bool recover;

    (void)state;
    disk_simulate(true);
    disk_without_help(true);
    write_small_model(path.text, (encoding){3, false});
    check_status(edit_name(path.text, NAME_GROWS, &always, &plan, &recover, &error),
                 GUFO_E_ARGUMENT, &error, "always");
    check_content(path.text, 2000, "untouched");
    check_ok(edit_name(path.text, NAME_GROWS, NULL, &plan, &recover, &error), &error, "if safe");
    check_u64(plan.way, GUFO_EDIT_REWRITE, "way");
    check(strstr(plan.not_inserted, "cannot insert") != NULL, "%s", plan.not_inserted);
    check_content(path.text, NAME_GROWS, "rewritten");
    disk_without_help(false);
    disk_simulate(false);
    folder_remove(&f);
}

/* ---- others --------------------------------------------------------------------------------- */

static void test_locked(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    gufo_edit *first, *second;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    first = gufo_edit_open(path.text, NULL, &error);
    check(first != NULL, "%s", error.message);
    second = gufo_edit_open(path.text, NULL, &error);
    check(second == NULL, "two edits at once");
    check_u64(error.code, GUFO_E_IO, "%s", error.message);
    check_u64(error.system, EBUSY, "%s", error.message);
    check_status(gufo_edit_recover(path.text, NULL, NULL, &error), GUFO_OK, &error,
                 "nothing to recover");
    gufo_edit_free(first);
    second = gufo_edit_open(path.text, NULL, &error);
    check(second != NULL, "%s", error.message);
    gufo_edit_free(second);
    folder_remove(&f);
}

/* Changed by others after it was opened: nothing is written. */
static void test_changed_meanwhile(void **state)
{
    static const gufo_edit_in_place ways[] = {GUFO_EDIT_IN_PLACE_IF_SAFE, GUFO_EDIT_IN_PLACE_NEVER};
    folder f = folder_new();
    path_text path = folder_path(&f, name);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const gufo_edit_target target = {.in_place = ways[i]};
        const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = 1};
        struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
        gufo_error error = no_error();
        gufo_edit *edit;

        write_small_model(path.text, (encoding){3, false});
        edit = gufo_edit_open(path.text, NULL, &error);
        check(edit != NULL, "%s", error.message);
        check_ok(edit_set(edit, "answer", &value, &error), &error, "set");
        check(utimensat(AT_FDCWD, path.text, times, 0) == 0, "utimensat");
        check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), GUFO_E_CHANGED,
                     &error, "apply");
        gufo_edit_free(edit);
        check_content(path.text, 2000, "untouched");
        check_u64(entry_count(f.path), 1, "nothing is left");
    }
    folder_remove(&f);
}

/* ---- a failing disk ------------------------------------------------------------------------- */

/* After a failure: the old file and nothing else, or a journal that recovery is asked for. */
static void check_after_failure(const folder *f, bool recover, bool cleaned, const char *label)
{
    path_text path = folder_path(f, name);
    gufo_error error = no_error();

    if (recover) {
        check(gufo_edit_pending(path.text), "%s: to be recovered, but nothing is pending", label);
        check_ok(gufo_edit_recover(path.text, NULL, NULL, &error), &error, "%s", label);
    } else
        check_content(path.text, 2000, label);
    if (cleaned)
        check_u64(entry_count(f->path), 1, "%s: files in the folder", label);
    check(!gufo_edit_pending(path.text), "%s: still pending", label);
}

typedef void set_failure(unsigned call, int failure);

/* Lets each call fail in turn, until there are none left. */
static void fail_every_call(gufo_edit_in_place in_place, size_t name_len, gufo_edit_way way,
                            set_failure *set, int failure)
{
    const gufo_edit_target target = {.in_place = in_place};
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    unsigned calls = UINT32_MAX, failed = 0;
    gufo_edit_plan plan = {.way = GUFO_EDIT_NOTHING};

    /* One call more each time, until there is none left to fail. */
    for (unsigned call = 0; call <= calls; call++) {
        gufo_error error = no_error();
        gufo_status status;
        char label[64];
        bool recover;

        /* With one that is left, however little of it, nothing is done in place any more. */
        (void)unlink(journal_of(path.text).text);
        write_small_model(path.text, (encoding){3, false});
        snprintf(label, sizeof label, "way %d, call %u, errno %d", (int)in_place, call, failure);
        set(call, failure);
        status = edit_name(path.text, name_len, &target, &plan, &recover, &error);
        calls = disk_call_count() > call ? UINT32_MAX : 0;
        disk_fail_never();
        if (status != GUFO_OK)
            /* What cannot be removed stays. */
            check_after_failure(&f, recover, set == disk_fail_once, label);
        else
            check_content(path.text, name_len, label);
        failed += status != GUFO_OK;
    }
    check(failed >= 3, "only %u calls failed", failed);
    check_u64(plan.way, way, "the way when none failed");
    folder_remove(&f);
}

static void test_failing_disk(void **state)
{
    static const int failures[] = {ENOSPC, EIO};
    static set_failure *const ways[] = {disk_fail_from, disk_fail_once};

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        for (size_t k = 0; k < COUNT_OF(ways); k++) {
            fail_every_call(GUFO_EDIT_IN_PLACE_IF_SAFE, NAME_FITS, GUFO_EDIT_OVERWRITE, ways[k],
                            failures[i]);
            fail_every_call(GUFO_EDIT_IN_PLACE_IF_SAFE, NAME_GROWS, GUFO_EDIT_INSERT, ways[k],
                            failures[i]);
            fail_every_call(GUFO_EDIT_IN_PLACE_ALWAYS, NAME_GROWS, GUFO_EDIT_INSERT, ways[k],
                            failures[i]);
            fail_every_call(GUFO_EDIT_IN_PLACE_NEVER, NAME_GROWS, GUFO_EDIT_REWRITE, ways[k],
                            failures[i]);
        }
    }
    disk_simulate(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),          cmocka_unit_test(test_padding_comes_and_goes),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_obstacles),
        cmocka_unit_test(test_symlink_stays), cmocka_unit_test(test_no_insert),
        cmocka_unit_test(test_locked),        cmocka_unit_test(test_changed_meanwhile),
        cmocka_unit_test(test_failing_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
