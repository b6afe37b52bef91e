/* However the bytes come in, the result is the same; and a source that fails makes open fail. */
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void compare_ways(const good_file *file, const builder *b, const char *label, void *context)
{
    char *expected[2] = {NULL, NULL}; /* without and with data */

    (void)file;
    (void)context;
    for (int w = 0; w < WAY_COUNT; w++) {
        bool data = way_has_data((way)w);
        char full[160], *dump;
        opened o;

        snprintf(full, sizeof full, "%s, %s", label, way_name((way)w));
        open_way(&o, (way)w, b->data, b->len, NULL);
        check(o.file != NULL, "%s: %s", full, o.error.message);
        check(gufo_model_has_data(o.file) == data, "%s", full);
        walk_file(o.file, w == WAY_MEMORY ? o.copy : NULL, b->len, full);
        if (w == WAY_MEMORY) {
            expected[0] = dump_file(o.file, DUMP_LAYOUT | DUMP_UNKNOWN_SIZE);
            expected[1] = dump_file(o.file, DUMP_LAYOUT | DUMP_UNKNOWN_SIZE | DUMP_DATA);
        }
        dump = dump_file(o.file, DUMP_LAYOUT | DUMP_UNKNOWN_SIZE | (data ? DUMP_DATA : 0u));
        check_same_dump(dump, expected[data ? 1 : 0], full);
        free(dump);
        close_way(&o);
        check_u64(o.source.bad, 0, "%s: reads outside the source", full);
        check_u64(o.source.closed, w == WAY_SOURCE ? 1 : 0, "%s", full);
    }
    free(expected[0]);
    free(expected[1]);
}

static void test_same_result(void **state)
{
    (void)state;
    good_for_each(compare_ways, NULL);
}

static void check_pointers(const good_file *file, const builder *b, const char *label,
                           void *context)
{
    (void)file;
    (void)context;
    for (int w = 0; w < WAY_COUNT; w++) {
        gufo_tensor tensor;
        opened o;

        open_way(&o, (way)w, b->data, b->len, NULL);
        check(o.file != NULL, "%s, %s", label, way_name((way)w));
        for (uint64_t i = 0; gufo_model_tensor_at(o.file, i, &tensor); i++) {
            const void *data = gufo_tensor_raw(o.file, &tensor);

            if (tensor.size > 0)
                check((data != NULL) == way_has_pointers((way)w), "%s, %s", label,
                      way_name((way)w));
            if (data != NULL)
                check(memcmp(data, b->data + tensor.offset, (size_t)tensor.size) == 0, "%s, %s",
                      label, way_name((way)w));
        }
        close_way(&o);
    }
}

static void test_data_pointers(void **state)
{
    (void)state;
    for (size_t i = 0; i < good_file_count; i++) {
        encoding e = {3, i % 2 == 1};
        builder b;

        if (!good_exists(&good_files[i], e))
            continue;
        b = good_build(&good_files[i], e);
        check_pointers(&good_files[i], &b, good_files[i].name, NULL);
        builder_free(&b);
    }
}

/* Every read of the source fails once: open fails with that error, and closes the source once. */
static void fail_each_read(const good_file *file, const builder *b, const char *label,
                           void *context)
{
    bool opens = false;

    (void)file;
    (void)context;
    for (size_t n = 1; !opens; n++) {
        test_source state;
        gufo_source source = source_over(&state, b->data, b->len);
        gufo_error error = no_error();
        gufo_model *opened_file;

        state.fail_at = n;
        opened_file = gufo_model_open_source(&source, NULL, &error);
        opens = opened_file != NULL;
        check(opens == (state.calls < n), "%s: read %zu failed unnoticed", label, n);
        if (!opens) {
            check_error_shape(&error, GUFO_E_IO, label);
            check_u64((unsigned)error.system, 5, "%s", label);
            check(error.rule == NULL, "%s: an I/O error breaks no rule", label);
        }
        gufo_model_free(opened_file);
        check_u64(state.closed, 1, "%s, read %zu", label, n);
        check_u64(state.bad, 0, "%s, read %zu", label, n);
        check(n < 100000, "%s: too many reads", label);
    }
}

static void test_failing_source(void **state)
{
    (void)state;
    good_for_each(fail_each_read, NULL);
}

/* A lenient open reads damaged files, not broken machines: an I/O error stays one. */
static void test_failing_source_lenient(void **state)
{
    builder b = good_build_named("sampler", (encoding){3, false});
    gufo_open_options options = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    test_source source_state;
    gufo_source source = source_over(&source_state, b.data, b.len);

    (void)state;
    source_state.fail_at = 1;
    assert_null(gufo_model_open_source(&source, &options, &error));
    check_error_shape(&error, GUFO_E_IO, "lenient");
    check_u64(source_state.closed, 1, "lenient");
    builder_free(&b);
}

static void test_failing_data(void **state)
{
    builder b = good_build_named("dims", (encoding){3, false});
    test_source source_state;
    gufo_source source = source_over(&source_state, b.data, b.len);
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_source(&source, NULL, &error);
    gufo_tensor tensor;
    uint8_t data[4];

    (void)state;
    check(file != NULL, "%s", error.message);
    check(gufo_model_tensor_at(file, 0, &tensor), "tensor");
    source_state.fail_at = source_state.calls + 1;
    check_status(gufo_tensor_read_raw(file, &tensor, 0, data, 4, &error), GUFO_E_IO, &error,
                 "data");
    source_state.fail_at = source_state.calls + 1;
    check_status(gufo_model_read_raw(file, tensor.offset, data, 4, &error), GUFO_E_IO, &error,
                 "file");
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, data, 4, &error), &error, "data again");
    gufo_model_free(file);
    builder_free(&b);
}

static void test_no_close(void **state)
{
    builder b = good_build_named("dims", (encoding){3, false});
    test_source source_state;
    gufo_source source = source_over(&source_state, b.data, b.len);
    gufo_error error = no_error();
    gufo_model *file;

    (void)state;
    source.close = NULL;
    file = gufo_model_open_source(&source, NULL, &error);
    check(file != NULL, "%s", error.message);
    gufo_model_free(file);
    source.size = 10;
    assert_null(gufo_model_open_source(&source, NULL, &error));
    builder_free(&b);
    gufo_model_free(NULL);
}

/* A reader that fails without a word. */
static gufo_status silent_failure(void *context, uint64_t offset, void *buffer, size_t size,
                                  gufo_error *error)
{
    (void)context, (void)offset, (void)buffer, (void)size, (void)error;
    return GUFO_E_CHANGED;
}

static void test_silent_source(void **state)
{
    const gufo_source source = {.size = 1000, .read = silent_failure};
    gufo_error error = no_error();

    (void)state;
    assert_null(gufo_model_open_source(&source, NULL, &error));
    check_error_shape(&error, GUFO_E_CHANGED, "silent");
    assert_null(gufo_model_open_source(&source, NULL, NULL));
}

static void test_file_read(void **state)
{
    builder b = good_build_named("sampler", (encoding){3, true});

    (void)state;
    for (int w = 0; w < WAY_COUNT; w++) {
        const char *label = way_name((way)w);
        gufo_error error = no_error();
        uint8_t bytes[64];
        opened o;

        open_way(&o, (way)w, b.data, b.len, NULL);
        if (!gufo_model_has_data(o.file)) {
            close_way(&o);
            continue;
        }
        check_ok(gufo_model_read_raw(o.file, 3, bytes, 64, &error), &error, "%s", label);
        assert_memory_equal(bytes, b.data + 3, 64);
        check_ok(gufo_model_read_raw(o.file, b.len - 5, bytes, 5, &error), &error, "%s", label);
        assert_memory_equal(bytes, b.data + b.len - 5, 5);
        check(gufo_model_read_raw(o.file, b.len - 5, bytes, 6, &error) != GUFO_OK,
              "%s: past the end", label);
        check(gufo_model_read_raw(o.file, UINT64_MAX, bytes, 6, NULL) != GUFO_OK,
              "%s: past the end", label);
        close_way(&o);
    }
    builder_free(&b);
}

static void test_system_errors(void **state)
{
    folder f = folder_new();
    path_text missing = folder_path(&f, "missing.gguf");
    gufo_error error = no_error();

    (void)state;
    assert_null(gufo_model_open(missing.text, NULL, &error));
    check_error_shape(&error, GUFO_E_IO, "missing file");
    check_u64((unsigned)error.system, ENOENT, "missing file");
    error = no_error();
    assert_null(gufo_model_open(f.path, NULL, &error));
    check_error_shape(&error, GUFO_E_IO, "folder");
    error = no_error();
    assert_null(gufo_model_open_fd(-1, NULL, &error));
    check_error_shape(&error, GUFO_E_IO, "no descriptor");
    check_u64((unsigned)error.system, EBADF, "no descriptor");
    assert_null(gufo_model_open(missing.text, NULL, NULL));
    folder_remove(&f);
}

/* Reading needs no right to write, neither to the file nor to the folder. */
static int read_as_nobody(void *context)
{
    const char *path = context;
    gufo_model *file;
    bool good;

    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        return CHILD_SKIP;
    if (access(path, W_OK) == 0 && open(path, O_RDWR) >= 0)
        return CHILD_SKIP;
    file = gufo_model_open(path, NULL, NULL);
    good = file != NULL && gufo_model_tensor_count(file) == 3;
    gufo_model_free(file);
    return good ? 0 : 1;
}

static void test_read_only(void **state)
{
    builder b = good_build_named("sampler", (encoding){3, false});
    folder f = folder_new();
    path_text path = folder_path(&f, "file.gguf");
    int result;

    (void)state;
    write_file(path.text, b.data, b.len);
    chmod(path.text, 0444);
    chmod(f.path, 0555);
    result = run_in_child(read_as_nobody, path.text);
    folder_remove(&f);
    builder_free(&b);
    if (result == CHILD_SKIP) {
        print_message("skipped: no file is read-only here\n");
        skip();
    }
    assert_int_equal(result, 0);
}

/* What is kept in memory of a source that cannot be mapped has a limit of its own. */
static void test_max_unmapped(void **state)
{
    builder b = builder_new((encoding){3, false});
    static const way unmapped[] = {WAY_SOURCE, WAY_PIPE, WAY_PATH_NO_MAP};

    (void)state;
    builder_header(&b, 0, 1);
    builder_kv_array(&b, "big", GUFO_VALUE_UINT8, 100000);
    builder_zeros(&b, 100000);
    for (size_t i = 0; i < COUNT_OF(unmapped); i++) {
        const char *label = way_name(unmapped[i]);
        gufo_open_options options = {.max_unmapped = b.len};
        opened o;

        open_way(&o, unmapped[i], b.data, b.len, &options);
        check(o.file != NULL, "%s: %s", label, o.error.message);
        close_way(&o);
        options.max_unmapped = b.len - 1;
        open_way(&o, unmapped[i], b.data, b.len, &options);
        check(o.file == NULL, "%s: over the limit", label);
        check_error_shape(&o.error, GUFO_E_LIMIT, label);
        close_way(&o);
    }
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_result),    cmocka_unit_test(test_data_pointers),
        cmocka_unit_test(test_failing_source), cmocka_unit_test(test_failing_source_lenient),
        cmocka_unit_test(test_failing_data),   cmocka_unit_test(test_no_close),
        cmocka_unit_test(test_silent_source),  cmocka_unit_test(test_file_read),
        cmocka_unit_test(test_system_errors),  cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_max_unmapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
