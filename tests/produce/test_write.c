/* A file in one call: data that the caller has, and tensors of a model. */
#include "support/folder.h"
#include "support/check.h"

#include "gufo/format.h"
#include "gufo/produce.h"

enum { COUNT = 4 };

static const float numbers[COUNT] = {1, 2, 3, 4};

static gufo_document *one_tensor(void)
{
    const uint64_t dims[] = {COUNT};
    gufo_document *d = gufo_document_new(NULL, NULL);

    assert_non_null(d);
    assert_int_equal(
        gufo_document_add_tensor(d, "a", gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, NULL),
        GUFO_OK);
    return d;
}

static gufo_status write_to(gufo_document *d, const char *path, uint32_t flags, const void *data,
                            gufo_error *error)
{
    const void *const list[] = {data, NULL};

    return gufo_write(d, path, flags, list, NULL, error);
}

static void test_data(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf"), copy = folder_path(&f, "b.gguf");
    gufo_document *d = one_tensor();
    gufo_error error = no_error();
    gufo_model *model;
    gufo_tensor tensor;
    float read[COUNT];

    (void)state;
    check_ok(write_to(d, path.text, 0, numbers, &error), &error, "written");
    gufo_document_free(d);
    model = gufo_model_open(path.text, NULL, &error);
    assert_non_null(model);

    /* Of a model: with its tensor, and another one that is given. */
    d = gufo_document_from(model, NULL, &error);
    assert_non_null(d);
    check_ok(gufo_write(d, copy.text, 0, NULL, NULL, &error), &error, "moved");
    gufo_document_free(d);
    gufo_model_free(model);
    model = gufo_model_open(copy.text, NULL, &error);
    assert_non_null(model);
    assert_true(gufo_model_tensor_at(model, 0, &tensor));
    check_ok(gufo_tensor_read_raw(model, &tensor, 0, read, sizeof read, &error), &error, "read");
    assert_memory_equal(read, numbers, sizeof read);
    gufo_model_free(model);
    folder_remove(&f);
}

static void test_failures(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf");
    gufo_document *d = one_tensor();
    gufo_error error = no_error();

    (void)state;
    check_status(write_to(d, path.text, 0, NULL, &error), GUFO_E_ARGUMENT, &error, "no data");
    check(strstr(error.message, "\"a\"") != NULL, "%s", error.message);
    check(!file_exists(path.text), "nothing is left");
    check_ok(write_to(d, path.text, 0, numbers, &error), &error, "written");
    check_status(write_to(d, path.text, 0, numbers, &error), GUFO_E_EXISTS, &error, "it exists");
    check_ok(write_to(d, path.text, GUFO_JOB_REPLACE, numbers, &error), &error, "replaced");
    gufo_document_free(d);
    folder_remove(&f);
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
    uint64_t *seen = context;

    seen[0] = done;
    seen[1] = total;
    return false;
}

static void test_progress(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf");
    gufo_document *d = one_tensor();
    uint64_t seen[2] = {0, 0};
    const gufo_run run = {.progress = stop, .progress_context = seen};
    const void *const list[] = {numbers};
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_write(d, path.text, 0, list, &run, &error), GUFO_E_STOPPED, &error,
                 "stopped");
    assert_int_equal(seen[0], sizeof numbers);
    assert_int_equal(seen[1], sizeof numbers);
    check(!file_exists(path.text), "nothing is left");
    gufo_document_free(d);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
