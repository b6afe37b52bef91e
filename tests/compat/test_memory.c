/* Lack of memory at every allocation in turn: nothing aborts, leaks or is half done.
 *
 * A program of its own: the linker sends malloc, calloc and realloc of everything that is linked in
 * through the functions below (--wrap). */
#include "compat.h"

static size_t allocations, fail_at; /* fail_at 0: none fails */

static bool fails(void)
{
    return ++allocations == fail_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return size > 0 && fails() ? NULL : __real_realloc(block, size);
}

static void start(size_t failing)
{
    allocations = 0;
    fail_at = failing;
}

/* Whether the failing allocation was reached; none fails from now on. */
static bool reached(void)
{
    bool was = fail_at > 0 && allocations >= fail_at;

    fail_at = 0;
    return was;
}

static void test_reading(void **state)
{
    builder b = small_model();
    bool more = true;
    size_t at;

    (void)state;
    capture_log();
    for (at = 1; more; at++) {
        struct ggml_context *tensors = NULL;
        struct gguf_context *ctx;

        start(at);
        ctx = read_bytes(&b, &tensors, false);
        more = reached();
        check(ctx != NULL || more, "allocation %zu: %s", at, last_log);
        check((tensors == NULL) == (ctx == NULL), "allocation %zu", at);
        check(ctx == NULL || gguf_find_key(ctx, "general.name") == 1, "allocation %zu", at);
        gguf_free(ctx);
        ggml_free(tensors);
    }
    check(at > 15, "there are many: %zu", at);
    builder_free(&b);
}

/* One change of a context that must be done as a whole or not at all. */
typedef void change(struct gguf_context *ctx, const struct gguf_context *other);

static void replace_text(struct gguf_context *ctx, const struct gguf_context *other)
{
    (void)other;
    gguf_set_val_str(ctx, "a", "new");
}

static void add_array(struct gguf_context *ctx, const struct gguf_context *other)
{
    (void)other;
    gguf_set_arr_str(ctx, "z", (const char *[]){"x", "y"}, 2);
}

static void take_all(struct gguf_context *ctx, const struct gguf_context *other)
{
    gguf_set_kv(ctx, other);
}

static void add_tensor(struct gguf_context *ctx, const struct gguf_context *other)
{
    struct ggml_tensor t = {.type = GGML_TYPE_I8, .ne = {3, 1, 1, 1}, .nb = {1, 3, 3, 3}};

    (void)other;
    gguf_add_tensor(ctx, ggml_set_name(&t, "t"));
}

static struct gguf_context *with_keys(unsigned from, unsigned count)
{
    struct gguf_context *ctx = gguf_init_empty();

    gguf_set_val_str(ctx, "a", "old");
    for (unsigned i = from; i < from + count; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "key.%u", i);
        gguf_set_val_u32(ctx, key, i);
    }
    return ctx;
}

static void what_is_taken_from_an_incomplete_one_is_incomplete(void **state)
{
    struct gguf_context *other = with_keys(0, 1), *ctx = with_keys(10, 1);

    (void)state;
    start(1);
    gguf_set_val_str(other, "lost", "for lack of memory");
    assert_true(reached());
    gguf_set_kv(ctx, other);
    check(!gguf_write_to_file(ctx, "/dev/null", true), "a key is missing");
    gguf_free(other);
    gguf_free(ctx);
}

static void check_change(change *make, const char *label)
{
    struct gguf_context *other = with_keys(10, 20);
    bool more = true;

    for (size_t at = 1; more; at++) {
        struct gguf_context *ctx = with_keys(0, 15);
        int64_t keys = gguf_get_n_kv(ctx), tensors = gguf_get_n_tensors(ctx);
        bool incomplete, unchanged;

        start(at);
        make(ctx, other);
        more = reached();
        incomplete = gguf_get_meta_size(ctx) == 0;
        unchanged = gguf_get_n_kv(ctx) == keys && gguf_get_n_tensors(ctx) == tensors &&
                    strcmp(gguf_get_val_str(ctx, gguf_find_key(ctx, "a")), "old") == 0;
        check(!incomplete || more, "%s: allocation %zu", label, at);
        check(!incomplete || unchanged, "%s: allocation %zu left half", label, at);
        if (incomplete)
            check(!gguf_write_to_file(ctx, "/dev/null", true), "%s: cannot be written", label);
        gguf_free(ctx);
    }
    gguf_free(other);
}

static void test_changing(void **state)
{
    static const struct {
        const char *label;
        change *make;
    } rows[] = {{"replace_text", replace_text},
                {"add_array", add_array},
                {"take_all", take_all},
                {"add_tensor", add_tensor}};

    (void)state;
    capture_log();
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_change(rows[i].make, rows[i].label);
}

static void test_writing(void **state)
{
    struct gguf_context *ctx = with_keys(0, 40);
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf");
    bool more = true;
    size_t size = gguf_get_meta_size(ctx);

    (void)state;
    for (size_t at = 1; more; at++) {
        bool done;

        capture_log();
        start(at);
        done = gguf_write_to_file(ctx, path.text, true);
        more = reached();
        check(done || more, "allocation %zu", at);
        check(done || strstr(last_log, "memory") != NULL, "allocation %zu: %s", at, last_log);
        check(entry_count(f.path) <= 1, "allocation %zu: nothing else is left", at);
    }
    check(size > 0, "it can be written");
    start(1);
    check_u64(gguf_get_meta_size(ctx), 0, "without memory");
    start(0);
    gguf_free(ctx);
    start(1);
    assert_null(gguf_init_empty());
    start(1);
    assert_null(ggml_init((struct ggml_init_params){.mem_size = 16}));
    start(2);
    assert_null(ggml_init((struct ggml_init_params){.mem_size = 16}));
    start(0);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_from_an_incomplete_one_is_incomplete),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_changing),
        cmocka_unit_test(test_writing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
