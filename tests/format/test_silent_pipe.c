/* Pipes that send nothing, or no more: opening is stopped all the same. */
#include "../support/folder.h"

#include <sys/stat.h>
#include <unistd.h>

static bool stop(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return false;
}

static const gufo_run stopped = {.progress = stop};
static const gufo_open_options options = {.run = &stopped};

static void test_descriptor(void **state)
{
    static const char *const sent[] = {"", "GGUF\3"};
    int ends[2];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sent); i++) {
        gufo_error error = no_error();

        check(pipe(ends) == 0, "pipe");
        check(write(ends[1], sent[i], strlen(sent[i])) == (ssize_t)strlen(sent[i]), "pipe");
        check(gufo_model_open_fd(ends[0], &options, &error) == NULL, "%s", sent[i]);
        check_error_shape(&error, GUFO_E_STOPPED, sent[i]);
        close(ends[0]);
        close(ends[1]);
    }
}

/* Nobody writes to it at all. */
static void test_path(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "pipe.gguf");
    gufo_error error = no_error();

    (void)state;
    assert_int_equal(mkfifo(path.text, 0600), 0);
    check(gufo_model_open(path.text, &options, &error) == NULL, "a pipe without a writer");
    check_error_shape(&error, GUFO_E_STOPPED, "a pipe without a writer");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
