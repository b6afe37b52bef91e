/* What can be edited and where the result can go, and what the room that an edit leaves is for. */
#include "../support/disk.h"
#include "../support/edits.h"
#include "../support/edit.h"

#include "format/model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "model.gguf";

static gufo_edit *open_edit(const char *path)
{
    gufo_error error = no_error();
    gufo_edit *edit = gufo_edit_open(path, NULL, &error);

    check(edit != NULL, "%s", error.message);
    return edit;
}

static void set_u32(gufo_edit *edit, const char *key, uint32_t number)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = number};
    gufo_error error = no_error();

    check_ok(edit_set(edit, key, &value, &error), &error, "%s", key);
}

/* ---- what can be edited --------------------------------------------------------------------- */

static void make_nothing(const char *path)
{
    (void)path;
}

static void make_folder(const char *path)
{
    check(mkdir(path, 0700) == 0, "mkdir");
}

static void make_fifo(const char *path)
{
    check(mkfifo(path, 0600) == 0, "mkfifo");
}

static void make_device(const char *path)
{
    check(symlink("/dev/null", path) == 0, "symlink");
}

static void make_dangling(const char *path)
{
    check(symlink("nowhere", path) == 0, "symlink");
}

static void make_text(const char *path)
{
    write_file(path, "no model", 8);
}

static void test_refused_files(void **state)
{
    static const struct {
        const char *label;
        void (*make)(const char *path);
        gufo_status status;
        int system;
    } rows[] = {
        {"nothing", make_nothing, GUFO_E_IO, ENOENT},
        {"dangling symlink", make_dangling, GUFO_E_IO, ENOENT},
        {"folder", make_folder, GUFO_E_IO, EISDIR},
        {"FIFO", make_fifo, GUFO_E_ARGUMENT, 0},
        {"device", make_device, GUFO_E_ARGUMENT, 0},
        {"text", make_text, GUFO_E_NOT_GGUF, 0},
    };
    folder f = folder_new();
    path_text path = folder_path(&f, name);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();

        rows[i].make(path.text);
        check(gufo_edit_open(path.text, NULL, &error) == NULL, "%s", rows[i].label);
        check_error_shape(&error, rows[i].status, rows[i].label);
        check_u64(error.system, rows[i].system, "%s: %s", rows[i].label, error.message);
        check(!gufo_edit_pending(path.text), "%s", rows[i].label);
        (void)remove(path.text);
    }
    folder_remove(&f);
}

/* ---- where to ------------------------------------------------------------------------------- */

static void test_outputs(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), link = folder_path(&f, "link"),
              hard = folder_path(&f, "hard"), other = folder_path(&f, "other.gguf"),
              fifo = folder_path(&f, "fifo");
    const struct {
        const char *label, *output;
        gufo_status status;
        const char *message;
    } rows[] = {
        {"itself", path.text, GUFO_E_ARGUMENT, "the output is the input; it would be lost"},
        {"itself by a symlink", link.text, GUFO_E_ARGUMENT,
         "the output is the input; it would be lost"},
        {"itself by a hard link", hard.text, GUFO_E_ARGUMENT,
         "the output is the input; it would be lost"},
        {"another one", other.text, GUFO_E_EXISTS, "target exists already"},
        {"a folder", f.path, GUFO_E_EXISTS, "target exists and is not a regular file"},
        {"a FIFO", fifo.text, GUFO_E_EXISTS, "target exists and is not a regular file"},
        {"a device", "/dev/null", GUFO_E_EXISTS, "target exists and is not a regular file"},
    };
    uint8_t *before;
    size_t len;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    write_small_model(other.text, (encoding){3, false});
    make_fifo(fifo.text);
    before = read_file(path.text, &len);
    check(symlink(name, link.text) == 0 && linkat(AT_FDCWD, path.text, AT_FDCWD, hard.text, 0) == 0,
          "links");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (unsigned relaid = 0; relaid < 2; relaid++) {
            const gufo_edit_target target = {.output = rows[i].output,
                                             .replace = rows[i].output != other.text};
            gufo_edit *edit = open_edit(path.text);
            gufo_error error = no_error();

            set_u32(edit, relaid == 1 ? GUFO_ALIGNMENT_KEY : "answer", 64);
            check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), rows[i].status,
                         &error, "%s", rows[i].label);
            check_str(gufo_str_of(error.message), rows[i].message, "%s", rows[i].label);
            gufo_edit_free(edit);
            check_file(path.text, before, len, rows[i].label);
            check_file(other.text, before, len, rows[i].label);
            check_u64(entry_count(f.path), 5, "%s", rows[i].label);
        }
    }
    free(before);
    folder_remove(&f);
}

/* An output of which an edit is pending is not replaced: its journal would be of another file. */
static void test_pending_output(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), other = folder_path(&f, "other.gguf");
    const gufo_edit_target target = {.output = other.text, .replace = true};
    gufo_error error = no_error();
    gufo_edit *edit;
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    write_small_model(other.text, (encoding){3, false});
    disk_fail_from(9, EIO);
    check(edit_name(other.text, NAME_FITS, NULL, NULL, &recover, &error) != GUFO_OK, "interrupted");
    disk_fail_never();
    check(recover, "half done");
    edit = open_edit(path.text);
    set_u32(edit, "answer", 64);
    check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "pending");
    check(strstr(error.message, "recover it first") != NULL, "%s", error.message);
    gufo_edit_free(edit);
    check_ok(gufo_edit_recover(other.text, NULL, NULL, &error), &error, "recover");
    edit = open_edit(path.text);
    set_u32(edit, "answer", 64);
    check_ok(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), &error,
             "then it is replaced");
    check_status(gufo_edit_apply(edit, &target, NULL, NULL, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "twice");
    gufo_edit_free(edit);
    disk_simulate(false);
    folder_remove(&f);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_edit_target target = {.reserve = GUFO_MAX_RESERVE + 1,
                               .in_place = GUFO_EDIT_IN_PLACE_NEVER};
    gufo_error error = no_error();
    gufo_edit_plan plan;
    gufo_edit *edit;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    edit = open_edit(path.text);
    check_status(gufo_edit_plan_for(edit, &target, &plan, &error), GUFO_E_ARGUMENT, &error,
                 "reserve");
    check_str(gufo_str_of(error.message), "at most 64 MiB can be reserved for later edits",
              "message");
    target.reserve = GUFO_MAX_RESERVE;
    check_ok(gufo_edit_plan_for(edit, &target, &plan, &error), &error, "the most");
    check(plan.padding >= GUFO_MAX_RESERVE, "%" PRIu64, plan.padding);
    gufo_edit_free(edit);
    check_str(gufo_str_of(gufo_edit_way_name(GUFO_EDIT_INSERT)), "insert", "name");
    check_str(gufo_str_of(gufo_edit_way_name(GUFO_EDIT_NOTHING)), "nothing", "name");
    assert_null(gufo_edit_way_name((gufo_edit_way)99));
    folder_remove(&f);
}

/* A file that ends with its metadata: there is no room, and nothing that could be moved away. */
static void test_without_data(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    const gufo_edit_target always = {.in_place = GUFO_EDIT_IN_PLACE_ALWAYS};
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_edit_plan plan;
    gufo_edit *edit;
    gufo_model *file;
    uint64_t answer;

    (void)state;
    builder_header(&b, 0, 1);
    builder_kv_u32(&b, "answer", 42);
    write_file(path.text, b.data, b.len);
    check(b.len % 32 != 0, "it ends before the place of data");
    edit = open_edit(path.text);
    set_u32(edit, "answer", 43);
    check_status(gufo_edit_plan_for(edit, &always, &plan, &error), GUFO_E_ARGUMENT, &error,
                 "in place");
    check(strstr(error.message, "the file ends before its tensor data begins") != NULL, "%s",
          error.message);
    check_ok(gufo_edit_apply(edit, NULL, NULL, &plan, NULL, &error), &error, "anew");
    check_u64(plan.way, GUFO_EDIT_REWRITE, "way");
    gufo_edit_free(edit);
    file = gufo_model_open(path.text, NULL, &error);
    check_ok(gufo_model_get_u64(file, "answer", &answer, &error), &error, "answer");
    check_u64(answer, 43, "answer");
    gufo_model_free(file);
    builder_free(&b);
    folder_remove(&f);
}

/* Bytes that are left over, more than the alignment takes and fewer than the key gufo.padding. */
static void test_odd_room(void **state)
{
    enum { ALIGNMENT = 8, SMALLEST = 32 };
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {8};
    size_t odd = 0;

    (void)state;
    disk_simulate(true);
    builder_header(&b, 1, 2);
    builder_kv_u32(&b, "general.alignment", ALIGNMENT);
    builder_kv_str(&b, "text", "0123456789012345678901234567890123456789012345678901234567890123");
    builder_tensor(&b, "t", GUFO_TYPE_I8, 1, dims, 0);
    builder_mark(&b);
    builder_pad(&b, ALIGNMENT);
    builder_pattern(&b, 1, 8);
    for (size_t shorter = 0; shorter < 64; shorter++) {
        const gufo_value text = {.type = GUFO_VALUE_STRING,
                                 .as.str = {"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                                            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
                                            64 - shorter}};
        gufo_error error = no_error();
        gufo_edit_plan plan;
        gufo_edit *edit;
        gufo_model *file;
        gufo_str found;
        uint64_t left;
        char reason[160];
        bool fits;

        write_file(path.text, b.data, b.len);
        edit = open_edit(path.text);
        check_ok(edit_set(edit, "text", &text, &error), &error, "set");
        check_ok(gufo_edit_apply(edit, NULL, NULL, &plan, NULL, &error), &error, "%zu", shorter);
        gufo_edit_free(edit);
        left = plan.old_data_offset - (b.mark - shorter);
        file = gufo_model_open(path.text, NULL, &error);
        check_ok(gufo_model_get_str(file, "text", &found, &error), &error, "%zu", shorter);
        check_u64(found.len, 64 - shorter, "%zu", shorter);
        gufo_model_free(file);
        fits = left < ALIGNMENT || left >= SMALLEST;
        odd += !fits;
        check_u64(plan.way, fits ? GUFO_EDIT_OVERWRITE : GUFO_EDIT_INSERT, "%zu", shorter);
        snprintf(reason, sizeof reason,
                 "%" PRIu64 " bytes would be left over, too few for gufo.padding", left);
        check_str(gufo_str_of(plan.not_overwritten), fits ? "" : reason, "%zu", shorter);
    }
    check_u64(odd, SMALLEST - ALIGNMENT, "edits that leave too few");
    builder_free(&b);
    disk_simulate(false);
    folder_remove(&f);
}

/* Edits with no_padding: `length` of the name, and the way that is used. */
static void edit_without_padding(const char *path, size_t length, gufo_edit_way way,
                                 const char *not_overwritten)
{
    const gufo_edit_target target = {.no_padding = true};
    gufo_error error = no_error();
    gufo_edit_plan plan;
    gufo_model *file;
    bool recover;

    check_ok(edit_name(path, length, &target, &plan, &recover, &error), &error, "%zu", length);
    check_u64(plan.way, way, "way for %zu", length);
    check_u64(plan.padding, 0, "padding");
    check(strstr(plan.not_overwritten, not_overwritten) != NULL, "%s", plan.not_overwritten);
    file = gufo_model_open(path, NULL, &error);
    check(file != NULL, "%s", error.message);
    check(!gufo_model_find(file, GUFO_PADDING_KEY, NULL), "padding after %zu", length);
    check(gufo_model_facts(file).data_offset - gufo_model_facts(file).infos_end <
              gufo_model_facts(file).alignment,
          "room");
    gufo_model_free(file);
}

/* Without padding only the ways count that leave no room, and room that is there goes. */
static void test_no_padding(void **state)
{
    const gufo_edit_target both = {.no_padding = true, .reserve = 1};
    gufo_edit_plan plan;
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    bool recover;

    (void)state;
    disk_simulate(true);
    write_small_model(path.text, (encoding){3, false});
    edit_without_padding(path.text, NAME_FITS, GUFO_EDIT_REWRITE, "which gufo.padding would fill");
    edit_without_padding(path.text, NAME_FITS, GUFO_EDIT_NOTHING, "");
    edit_without_padding(path.text, NAME_GROWS, GUFO_EDIT_REWRITE, "too long");
    edit_without_padding(path.text, NAME_GROWS - 1, GUFO_EDIT_OVERWRITE, "");
    check_ok(edit_name(path.text, NAME_FITS, NULL, &plan, &recover, &error), &error,
             "with padding");
    check(plan.way == GUFO_EDIT_OVERWRITE && plan.padding > 0, "padding");
    edit_without_padding(path.text, NAME_FITS, GUFO_EDIT_REWRITE, "would be left over");
    check_status(edit_name(path.text, 1, &both, &plan, &recover, &error), GUFO_E_ARGUMENT, &error,
                 "room that is and is not left");
    disk_simulate(false);
    folder_remove(&f);
}

/* A reserve that is smaller than the key gufo.padding, beside an alignment that is smaller still:
 * the data moves on until there is room for the key. */
static void test_small_reserve(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    const uint64_t dims[1] = {8};

    (void)state;
    for (uint64_t reserve = 0; reserve < 50; reserve++) {
        const gufo_edit_target target = {.in_place = GUFO_EDIT_IN_PLACE_NEVER, .reserve = reserve};
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();
        gufo_edit_plan plan;
        gufo_edit *edit;
        gufo_model *file;
        gufo_tensor tensor;

        builder_header(&b, 1, 1);
        builder_kv_u32(&b, "general.alignment", 8);
        builder_tensor(&b, "t", GUFO_TYPE_I8, 1, dims, 0);
        builder_pad(&b, 8);
        builder_pattern(&b, 1, 8);
        write_file(path.text, b.data, b.len);
        edit = open_edit(path.text);
        check_ok(gufo_edit_apply(edit, &target, NULL, &plan, NULL, &error), &error, "%" PRIu64,
                 reserve);
        gufo_edit_free(edit);
        check(plan.padding == 0 ? reserve < 8 : plan.padding >= 32 && plan.padding >= reserve,
              "%" PRIu64 " for %" PRIu64, plan.padding, reserve);
        file = gufo_model_open(path.text, NULL, &error);
        check(file != NULL, "%s", error.message);
        check_u64(gufo_model_facts(file).size, plan.file_size, "size");
        check(gufo_model_tensor_find(file, "t", &tensor), "tensor");
        check(memcmp(gufo_tensor_raw(file, &tensor), b.data + b.len - 8, 8) == 0, "its bytes");
        gufo_model_free(file);
        builder_free(&b);
    }
    folder_remove(&f);
}

static bool is_any(void *context, gufo_str key)
{
    (void)context, (void)key;
    return true;
}

/* A key gufo.padding that no edit has made, because it is not a string, is kept like any other. */
static void test_foreign_padding(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *other;
    gufo_edit *edit;
    uint64_t copied, value;

    (void)state;
    builder_header(&b, 0, 2);
    builder_kv_u32(&b, GUFO_PADDING_KEY, 7);
    builder_kv_u32(&b, "answer", 42);
    builder_pad(&b, 32);
    write_file(path.text, b.data, b.len);
    edit = open_edit(path.text);
    set_u32(edit, "answer", 43);
    check_ok(gufo_edit_apply(edit, NULL, NULL, NULL, NULL, &error), &error, "edit");
    gufo_edit_free(edit);
    other = gufo_model_open(path.text, NULL, &error);
    check(other != NULL, "%s", error.message);
    check_ok(gufo_model_get_u64(other, GUFO_PADDING_KEY, &value, &error), &error, "kept");
    check_u64(value, 7, "kept");
    write_small_model(folder_path(&f, "b").text, (encoding){3, false});
    edit = open_edit(folder_path(&f, "b").text);
    check_ok(edit_copy(edit, other, is_any, NULL, &copied, &error), &error, "copy");
    check_u64(copied, 2, "copied");
    gufo_edit_free(edit);
    gufo_model_free(other);
    builder_free(&b);
    folder_remove(&f);
}

/* An alignment that no reader takes is refused before anything is written. */
static void test_bad_alignment(void **state)
{
    static const uint32_t bad[] = {0, 1, 12, 1u << 25};
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    uint8_t *before;
    size_t len;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    before = read_file(path.text, &len);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const gufo_value value = {.type = GUFO_VALUE_UINT32, .as.u = bad[i]};
        gufo_edit *edit = open_edit(path.text);
        gufo_error error = no_error();
        gufo_status status = edit_set(edit, GUFO_ALIGNMENT_KEY, &value, &error);

        if (status == GUFO_OK)
            status = gufo_edit_apply(edit, NULL, NULL, NULL, NULL, &error);
        check(status != GUFO_OK, "alignment %" PRIu32, bad[i]);
        check_error_shape(&error, status, "alignment");
        gufo_edit_free(edit);
        check_file(path.text, before, len, "untouched");
    }
    free(before);
    folder_remove(&f);
}

/* A name that stays as it is. */
static void test_same_names(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name);
    gufo_error error = no_error();
    gufo_edit_plan plan;
    gufo_edit *edit;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    edit = open_edit(path.text);
    check_ok(edit_rename(edit, "answer", "answer", &error), &error, "key");
    check_ok(edit_rename_tensor(edit, "a", "a", &error), &error, "tensor");
    check_ok(gufo_edit_apply(edit, NULL, NULL, &plan, NULL, &error), &error, "apply");
    check_u64(plan.way, GUFO_EDIT_NOTHING, "way");
    gufo_edit_free(edit);
    folder_remove(&f);
}

/* ---- streams -------------------------------------------------------------------------------- */

typedef struct stop {
    unsigned calls, at;
} stop;

static bool stop_at(void *context, uint64_t done, uint64_t total)
{
    stop *s = context;

    check(done <= total, "%" PRIu64 " of %" PRIu64, done, total);
    return ++s->calls != s->at;
}

/* A stream is stopped, or its receiver is full: with the old places of tensors and with new
 * ones. */
static void test_streams(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, name), out = folder_path(&f, "out");

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    for (unsigned relaid = 0; relaid < 2; relaid++) {
        for (unsigned at = 0; at < 3; at++) {
            stop s = {.at = at == 1 ? 1 : 0};
            const gufo_run run = {.progress = stop_at, .progress_context = &s};
            int fd = open(at == 2 ? "/dev/full" : out.text, O_CREAT | O_WRONLY | O_TRUNC, 0600);
            gufo_edit *edit = open_edit(path.text);
            gufo_error error = no_error();

            set_u32(edit, relaid == 1 ? GUFO_ALIGNMENT_KEY : "answer", 64);
            check_status(gufo_edit_stream(edit, fd, NULL, at == 0 ? NULL : &run, &error),
                         at == 0   ? GUFO_OK
                         : at == 1 ? GUFO_E_STOPPED
                                   : GUFO_E_IO,
                         &error, "relaid %u, %u", relaid, at);
            if (at == 0) {
                gufo_model *file = gufo_model_open(out.text, NULL, &error);

                check(file != NULL, "%s", error.message);
                check_u64(gufo_model_facts(file).alignment, relaid == 1 ? 64 : 32, "alignment");
                gufo_model_free(file);
            }
            if (at == 2)
                check_u64(error.system, ENOSPC, "%s", error.message);
            gufo_edit_free(edit);
            (void)close(fd);
        }
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_files),   cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_pending_output),  cmocka_unit_test(test_limits),
        cmocka_unit_test(test_without_data),    cmocka_unit_test(test_odd_room),
        cmocka_unit_test(test_no_padding),      cmocka_unit_test(test_small_reserve),
        cmocka_unit_test(test_foreign_padding), cmocka_unit_test(test_bad_alignment),
        cmocka_unit_test(test_same_names),      cmocka_unit_test(test_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
