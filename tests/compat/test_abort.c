/* Where the documented C API aborts: wrong use, with a message; and where it does not. */
#include "../support/process.h"
#include "compat.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gguf_context *model(void)
{
    struct gguf_context *ctx = gguf_init_empty();

    gguf_set_val_u32(ctx, "number", 1);
    gguf_set_val_str(ctx, "text", "x");
    gguf_set_arr_data(ctx, "numbers", GGUF_TYPE_UINT32, (uint32_t[]){1, 2}, 2);
    gguf_set_arr_str(ctx, "texts", (const char *[]){"x", "y"}, 2);
    return ctx;
}

static struct ggml_tensor tensor(const char *name)
{
    struct ggml_tensor t = {.type = GGML_TYPE_F32, .ne = {3, 1, 1, 1}, .nb = {4, 12, 12, 12}};

    return *ggml_set_name(&t, name);
}

static void wrong_id(struct gguf_context *ctx)
{
    (void)gguf_get_key(ctx, 4);
}

static void negative_id(struct gguf_context *ctx)
{
    (void)gguf_get_kv_type(ctx, gguf_find_key(ctx, "absent"));
}

static void wrong_type(struct gguf_context *ctx)
{
    (void)gguf_get_val_i32(ctx, 0);
}

static void wrong_width(struct gguf_context *ctx)
{
    (void)gguf_get_val_u64(ctx, 0);
}

static void number_as_text(struct gguf_context *ctx)
{
    (void)gguf_get_val_str(ctx, 0);
}

static void text_as_data(struct gguf_context *ctx)
{
    (void)gguf_get_val_data(ctx, 1);
}

static void array_as_value(struct gguf_context *ctx)
{
    (void)gguf_get_val_u32(ctx, 2);
}

static void array_as_data(struct gguf_context *ctx)
{
    (void)gguf_get_val_data(ctx, 2);
}

static void type_of_no_array(struct gguf_context *ctx)
{
    (void)gguf_get_arr_type(ctx, 0);
}

static void texts_as_data(struct gguf_context *ctx)
{
    (void)gguf_get_arr_data(ctx, 3);
}

static void numbers_as_texts(struct gguf_context *ctx)
{
    (void)gguf_get_arr_str(ctx, 2, 0);
}

static void empty_key(struct gguf_context *ctx)
{
    gguf_set_val_u8(ctx, "", 1);
}

static void array_of_arrays(struct gguf_context *ctx)
{
    gguf_set_arr_data(ctx, "a", GGUF_TYPE_ARRAY, NULL, 0);
}

static void null_text(struct gguf_context *ctx)
{
    gguf_set_val_str(ctx, "a", NULL);
}

static void alignment_type(struct gguf_context *ctx)
{
    gguf_set_val_u64(ctx, "general.alignment", 32);
}

static void alignment_array(struct gguf_context *ctx)
{
    gguf_set_arr_data(ctx, "general.alignment", GGUF_TYPE_UINT32, (uint32_t[]){32}, 1);
}

static void alignment_text(struct gguf_context *ctx)
{
    gguf_set_val_str(ctx, "general.alignment", "32");
}

static void alignment_value(struct gguf_context *ctx)
{
    gguf_set_val_u32(ctx, "general.alignment", 48);
}

static void wrong_tensor_id(struct gguf_context *ctx)
{
    (void)gguf_get_tensor_size(ctx, 0);
}

static void tensor_twice(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    gguf_add_tensor(ctx, &t);
    gguf_add_tensor(ctx, &t);
}

static void type_of_no_tensor(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    t.type = (enum ggml_type)4;
    gguf_add_tensor(ctx, &t);
}

static void type_beyond_all(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    t.type = GGML_TYPE_COUNT;
    gguf_add_tensor(ctx, &t);
}

static void endless_name(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    memset(t.name, 'x', sizeof t.name);
    gguf_add_tensor(ctx, &t);
}

static void unknown_tensor_type(struct gguf_context *ctx)
{
    gguf_set_tensor_type(ctx, "absent", GGML_TYPE_F32);
}

static void unknown_tensor_data(struct gguf_context *ctx)
{
    gguf_set_tensor_data(ctx, "absent", "");
}

static void rows_without_blocks(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    gguf_add_tensor(ctx, &t);
    gguf_set_tensor_type(ctx, "t", GGML_TYPE_Q4_0);
}

static void removed_type(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    gguf_add_tensor(ctx, &t);
    gguf_set_tensor_type(ctx, "t", (enum ggml_type)4);
}

static void no_data(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    gguf_add_tensor(ctx, &t);
    (void)gguf_write_to_file(ctx, "/dev/null", false);
}

static void not_contiguous(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");
    float values[8] = {0};

    t.data = values;
    t.nb[0] = 8;
    gguf_add_tensor(ctx, &t);
    (void)gguf_write_to_file(ctx, "/dev/null", false);
}

static void no_file(struct gguf_context *ctx)
{
    (void)gguf_write_to_file_ptr(ctx, NULL, true);
}

static void full_pool(struct gguf_context *ctx)
{
    struct ggml_context *pool =
        ggml_init((struct ggml_init_params){.mem_size = ggml_tensor_overhead() + 16});

    (void)ctx;
    (void)ggml_new_tensor_1d(pool, GGML_TYPE_I8, 17);
}

static void type_past_the_end(struct gguf_context *ctx)
{
    (void)ctx;
    (void)ggml_type_size(GGML_TYPE_COUNT);
}

static void other_data(struct gguf_context *ctx)
{
    struct ggml_tensor t = tensor("t");

    (void)ctx;
    t.type = GGML_TYPE_I32;
    (void)ggml_get_data_f32(&t);
}

/* Runs `misuse` in a child and returns what it printed to stderr; *status is how it ended. */
static void run_misuse(void (*misuse)(struct gguf_context *ctx), char *said, size_t size,
                       int *status)
{
    int ends[2];
    pid_t child;
    size_t len = 0;
    ssize_t got;

    check_u64(pipe(ends), 0, "pipe");
    child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        struct gguf_context *ctx;

        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGABRT, SIG_DFL); /* cmocka and sanitizers may have taken it */
        (void)dup2(ends[1], STDERR_FILENO);
        ctx = model();
        misuse(ctx);
        gguf_free(ctx);
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], said + len, size - 1 - len)) > 0)
        len += (size_t)got;
    said[len] = '\0';
    close(ends[0]);
    check(waitpid(child, status, 0) == child, "waitpid");
}

static void test_aborts(void **state)
{
    static const struct {
        const char *said;
        void (*misuse)(struct gguf_context *ctx);
    } rows[] = {
        {"key id 4 does not exist; there are 4 keys", wrong_id},
        {"key id -1 does not exist", negative_id},
        {"key \"number\" holds type u32, not i32", wrong_type},
        {"key \"number\" holds type u32, not u64", wrong_width},
        {"key \"number\" holds type u32, not str", number_as_text},
        {"key \"text\" holds strings", text_as_data},
        {"key \"numbers\" holds an array of 2 elements", array_as_value},
        {"key \"numbers\" holds an array of 2 elements", array_as_data},
        {"key \"number\" holds type u32, not an array", type_of_no_array},
        {"key \"texts\" holds strings", texts_as_data},
        {"key \"numbers\" holds type u32, not strings", numbers_as_texts},
        {"a key must not be empty", empty_key},
        {"key \"a\" cannot be set to an array of type 9", array_of_arrays},
        {"string 0 for key \"a\" is NULL", null_text},
        {"general.alignment must be of type u32", alignment_type},
        {"general.alignment must be of type u32", alignment_array},
        {"general.alignment must be of type u32", alignment_text},
        {"general.alignment must be a power of two, not 48", alignment_value},
        {"tensor id 0 does not exist; there are 0 tensors", wrong_tensor_id},
        {"tensor \"t\" exists already", tensor_twice},
        {"tensor \"t\" has type 4, which does not exist", type_of_no_tensor},
        {"tensor \"t\" has type 43, which does not exist", type_beyond_all},
        {"the name of a tensor has no terminator", endless_name},
        {"there is no tensor \"absent\"", unknown_tensor_type},
        {"there is no tensor \"absent\"", unknown_tensor_data},
        {"rows of tensor \"t\" have 3 elements", rows_without_blocks},
        {"which do not fill blocks of 0", removed_type},
        {"tensor \"t\" has no data", no_data},
        {"tensor \"t\" is not contiguous", not_contiguous},
        {"file != NULL", no_file},
        {"is full", full_pool},
        {"type 43 does not exist", type_past_the_end},
        {"tensor->type == GGML_TYPE_F32", other_data},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char said[1024];
        int status;

        run_misuse(rows[i].misuse, said, sizeof said, &status);
        check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "row %zu: status %d", i, status);
        check(strstr(said, rows[i].said) != NULL, "row %zu: %s", i, said);
    }
}

/* ---- what is not wrong use ------------------------------------------------------------------- */

static void nothing_wrong(struct gguf_context *ctx)
{
    (void)gguf_find_key(ctx, "");
    (void)gguf_find_tensor(ctx, "absent");
    (void)gguf_remove_key(ctx, "absent");
    (void)gguf_get_arr_str(ctx, 3, 2);
    (void)gguf_get_arr_str(ctx, 1, 0);
    (void)gguf_get_arr_data(ctx, 0);
    (void)gguf_get_arr_n(ctx, 0);
    (void)ggml_type_name(GGML_TYPE_COUNT);
    (void)ggml_type_size((enum ggml_type)4);
    gguf_set_val_u32(ctx, "general.alignment", 1);
    ggml_free(NULL);
    ggml_reset(NULL);
}

static void test_does_not_abort(void **state)
{
    char said[1024];
    int status;

    (void)state;
    run_misuse(nothing_wrong, said, sizeof said, &status);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: %s", status, said);
    check(said[0] == '\0', "%s", said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aborts),
        cmocka_unit_test(test_does_not_abort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
