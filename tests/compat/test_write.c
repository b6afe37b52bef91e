/* Writing through the documented C API: three ways, the same bytes, and those of our own writer. */
#include "../support/disk.h"
#include "../support/document.h"
#include "../support/process.h"
#include "../support/sink.h"
#include "compat.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TENSORS = 3 };

/* A context with all kinds of entries and three tensors, whose data is in `pool`. */
static struct gguf_context *model(struct ggml_context **pool)
{
    static const struct {
        const char *name;
        enum ggml_type type;
        int64_t ne[2];
    } shapes[TENSORS] = {
        {"token_embd.weight", GGML_TYPE_F32, {5, 3}},
        {"blk.0.attn_q.weight", GGML_TYPE_Q4_K, {512, 2}},
        {"output_norm.weight", GGML_TYPE_I8, {7, 1}},
    };
    struct gguf_context *ctx = gguf_init_empty();

    gguf_set_val_str(ctx, "general.architecture", "llama");
    gguf_set_val_u32(ctx, "general.quantization_version", 2);
    gguf_set_val_f32(ctx, "llama.rope.freq_base", 10000.0f);
    gguf_set_val_bool(ctx, "tokenizer.ggml.add_bos_token", true);
    gguf_set_arr_str(ctx, "tokenizer.ggml.tokens", (const char *[]){"a", "", "bcd"}, 3);
    gguf_set_arr_data(ctx, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, (float[]){0, -1, 2.5f}, 3);
    *pool = ggml_init((struct ggml_init_params){.mem_size = 16384});
    for (unsigned i = 0; i < TENSORS; i++) {
        struct ggml_tensor *t = ggml_new_tensor(*pool, shapes[i].type, 2, shapes[i].ne);

        ggml_set_name(t, shapes[i].name);
        for (size_t j = 0; j < ggml_nbytes(t); j++)
            ((uint8_t *)t->data)[j] = pattern_byte(i, j);
        gguf_add_tensor(ctx, t);
    }
    return ctx;
}

/* The same with a document of libgufo. */
static uint8_t *written_by_gufo(const folder *f, struct ggml_context *pool, size_t *len)
{
    path_text path = folder_path(f, "gufo.gguf");
    sink out = {.document = document_for(native(), 0)};
    gufo_document *d = out.document;
    gufo_error error = no_error();
    const gufo_str tokens[] = {{"a", 1}, {"", 0}, {"bcd", 3}};
    uint64_t i = 0;

    check_ok(gufo_document_set_text(d, "general.architecture", "llama", &error), &error, "plan");
    check_ok(gufo_document_set_u32(d, "general.quantization_version", 2, &error), &error, "plan");
    check_ok(gufo_document_set_f32(d, "llama.rope.freq_base", 10000, &error), &error, "plan");
    check_ok(gufo_document_set_bool(d, "tokenizer.ggml.add_bos_token", true, &error), &error,
             "plan");
    check_ok(gufo_document_set_array(d, "tokenizer.ggml.tokens",
                                     &(gufo_items){GUFO_VALUE_STRING, 3, tokens}, &error),
             &error, "plan");
    check_ok(gufo_document_set_array(d, "tokenizer.ggml.scores",
                                     &(gufo_items){GUFO_VALUE_FLOAT32, 3, (float[]){0, -1, 2.5f}},
                                     &error),
             &error, "plan");
    for (struct ggml_tensor *t = ggml_get_first_tensor(pool); t != NULL;
         t = ggml_get_next_tensor(pool, t))
        check_ok(gufo_document_add_tensor(d, t->name, gufo_element_type_by_id((uint32_t)t->type),
                                          (uint32_t)ggml_n_dims(t), (const uint64_t *)t->ne,
                                          &error),
                 &error, "plan");
    check_ok(sink_open(&out, path.text, true, &error), &error, "open");
    for (struct ggml_tensor *t = ggml_get_first_tensor(pool); t != NULL;
         t = ggml_get_next_tensor(pool, t))
        check_ok(sink_write(&out, i++, 0, t->data, ggml_nbytes(t), &error), &error, "data");
    check_ok(sink_finish(&out, &error), &error, "finish");
    sink_free(&out);
    return read_file(path.text, len);
}

/* ---- the ways ------------------------------------------------------------------------------- */

/* Data of all tensors, padded, from the current position on. */
static void append_data(FILE *file, struct ggml_context *pool)
{
    static const char zeros[32];

    for (struct ggml_tensor *t = ggml_get_first_tensor(pool); t != NULL;
         t = ggml_get_next_tensor(pool, t)) {
        size_t size = ggml_nbytes(t), padding = GGML_PAD(size, (size_t)32) - size;

        check_u64(fwrite(t->data, 1, size, file), size, "data");
        check_u64(fwrite(zeros, 1, padding, file), padding, "padding");
    }
}

static void at_once(const struct gguf_context *ctx, struct ggml_context *pool, const char *path)
{
    (void)pool;
    check(gguf_write_to_file(ctx, path, false), "%s", last_log);
}

static void to_file_ptr(const struct gguf_context *ctx, struct ggml_context *pool, const char *path)
{
    FILE *file = fopen(path, "wb");

    (void)pool;
    check(gguf_write_to_file_ptr(ctx, file, false), "%s", last_log);
    check_u64(fclose(file), 0, "closing");
}

static void metadata_first(const struct gguf_context *ctx, struct ggml_context *pool,
                           const char *path)
{
    FILE *file;

    check(gguf_write_to_file(ctx, path, true), "%s", last_log);
    file = fopen(path, "ab");
    append_data(file, pool);
    check_u64(fclose(file), 0, "closing");
}

static void data_first(const struct gguf_context *ctx, struct ggml_context *pool, const char *path)
{
    size_t size = gguf_get_meta_size(ctx);
    FILE *file = fopen(path, "wb");
    void *data = malloc(size);

    assert_non_null(data);
    check_u64(fseek(file, (long)size, SEEK_SET), 0, "seeking");
    append_data(file, pool);
    gguf_get_meta_data(ctx, data);
    rewind(file);
    check_u64(fwrite(data, 1, size, file), size, "metadata");
    check_u64(fclose(file), 0, "closing");
    free(data);
}

static void test_ways(void **state)
{
    static const struct {
        const char *label;
        void (*write)(const struct gguf_context *ctx, struct ggml_context *pool, const char *path);
    } ways[] = {{"at once", at_once},
                {"to a FILE", to_file_ptr},
                {"metadata first", metadata_first},
                {"data first", data_first}};
    folder f = folder_new();
    struct ggml_context *pool;
    struct gguf_context *ctx = model(&pool);
    size_t len;
    uint8_t *expected = written_by_gufo(&f, pool, &len);

    (void)state;
    capture_log();
    assert_non_null(expected);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        path_text path = folder_path(&f, "compat.gguf");

        ways[i].write(ctx, pool, path.text);
        check_file(path.text, expected, len, ways[i].label);
    }
    free(expected);
    gguf_free(ctx);
    ggml_free(pool);
    folder_remove(&f);
}

/* What was read is written again as it was, and version 2 stays version 2. */
static void test_round_trip(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        builder b = small_model();
        folder f = folder_new();
        path_text path = folder_path(&f, "again.gguf");
        struct ggml_context *tensors = NULL;
        struct gguf_context *ctx;

        b.data[native().big ? 7 : 4] = (uint8_t)version;
        ctx = read_bytes(&b, &tensors, false);
        assert_non_null(ctx);
        check_u64(gguf_get_meta_size(ctx), gguf_get_data_offset(ctx), "metadata");
        gguf_set_tensor_data(ctx, "x", ggml_get_tensor(tensors, "x")->data);
        gguf_set_tensor_data(ctx, "y", ggml_get_tensor(tensors, "y")->data);
        check(gguf_write_to_file(ctx, path.text, false), "version %d", version);
        check_file(path.text, b.data, b.len, "again");
        gguf_free(ctx);
        ggml_free(tensors);
        folder_remove(&f);
        builder_free(&b);
    }
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void test_set_tensor_type(void **state)
{
    struct ggml_context *pool;
    struct gguf_context *ctx = model(&pool);

    (void)state;
    check_u64(gguf_get_tensor_offset(ctx, 1), 64, "60 bytes, padded");
    check_u64(gguf_get_tensor_offset(ctx, 2), 64 + 576, "four blocks of 144");
    gguf_set_tensor_type(ctx, "blk.0.attn_q.weight", GGML_TYPE_Q8_0);
    check_u64(gguf_get_tensor_type(ctx, 1), GGML_TYPE_Q8_0, "type");
    check_u64(gguf_get_tensor_size(ctx, 1), 32 * 34, "size");
    check_u64(gguf_get_tensor_offset(ctx, 1), 64, "its place stays");
    check_u64(gguf_get_tensor_offset(ctx, 2), 64 + 1088, "those behind move");
    gguf_set_tensor_type(ctx, "token_embd.weight", GGML_TYPE_F16);
    check_u64(gguf_get_tensor_offset(ctx, 1), 32, "30 bytes, padded");
    check_u64(gguf_get_tensor_offset(ctx, 2), 32 + 1088, "those behind move");
    check_u64(gguf_get_tensor_ne(ctx, 1)[0], 512, "the shape stays");
    gguf_free(ctx);
    ggml_free(pool);
}

/* Empty tensors and trailing dimensions of 1. */
static void test_odd_shapes(void **state)
{
    struct gguf_context *ctx = gguf_init_empty(), *again;
    struct ggml_context *pool = ggml_init((struct ggml_init_params){.mem_size = 8192}), *tensors;
    builder b = {0};

    (void)state;
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_2d(pool, GGML_TYPE_F32, 0, 4), "empty"));
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_4d(pool, GGML_TYPE_I8, 9, 1, 0, 1), "void"));
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_1d(pool, GGML_TYPE_I8, 1), "scalar"));
    *(int8_t *)ggml_get_tensor(pool, "scalar")->data = 42;
    gguf_add_tensor(ctx, ggml_set_name(ggml_new_tensor_4d(pool, GGML_TYPE_I8, 2, 1, 3, 1), "cube"));
    memset(ggml_get_tensor(pool, "cube")->data, 7, 6);
    folder f = folder_new();
    path_text path = folder_path(&f, "odd.gguf");
    check(gguf_write_to_file(ctx, path.text, false), "%s", last_log);
    b.data = read_file(path.text, &b.len);
    again = read_bytes(&b, &tensors, false);
    check(again != NULL, "%s", last_log);
    check_u64(gguf_get_tensor_size(again, 0), 0, "empty");
    check_u64(gguf_get_tensor_ne(again, 0)[1], 4, "empty");
    check_u64(gguf_get_tensor_ne(again, 1)[2], 0, "a 0 among ones");
    check_u64(gguf_get_tensor_offset(again, 2), 0, "the place of the empty ones");
    check_u64(gguf_get_tensor_ne(again, 3)[2], 3, "cube");
    check(*(int8_t *)ggml_get_tensor(tensors, "scalar")->data == 42, "scalar");
    gguf_free(again);
    ggml_free(tensors);
    gguf_free(ctx);
    ggml_free(pool);
    free(b.data);
    folder_remove(&f);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The old file stays until the new one is complete, and its mode is kept. */
static void test_replaces(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf");
    struct gguf_context *ctx = gguf_init_empty();
    struct stat info;
    FILE *old;
    char text[8] = "";

    (void)state;
    write_file(path.text, "before", 6);
    check_u64(chmod(path.text, 0640), 0, "mode");
    old = fopen(path.text, "rb");
    check(gguf_write_to_file(ctx, path.text, true), "writing");
    check_u64(fread(text, 1, 6, old), 6, "whoever has the old file open");
    check(strcmp(text, "before") == 0, "sees it");
    fclose(old);
    check_u64(stat(path.text, &info), 0, "stat");
    check_u64(info.st_mode & 0777, 0640, "mode");
    check_u64(info.st_size, gguf_get_meta_size(ctx), "size");
    check_u64(entry_count(f.path), 1, "nothing else is left");
    gguf_free(ctx);
    folder_remove(&f);
}

static void test_fails(void **state)
{
    static const char *const paths[] = {"/nonexistent/model.gguf", "/dev/full", "/"};
    struct gguf_context *ctx = gguf_init_empty();
    FILE *full = fopen("/dev/full", "wb");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        capture_log();
        check(!gguf_write_to_file(ctx, paths[i], true), "%s", paths[i]);
        check(strstr(last_log, paths[i]) != NULL && log_lines == 1, "%s: %s", paths[i], last_log);
    }
    if (full != NULL) {
        (void)setvbuf(full, NULL, _IONBF, 0);
        capture_log();
        check(!gguf_write_to_file_ptr(ctx, full, true), "a full device");
        check(strstr(last_log, "No space left") != NULL, "%s", last_log);
        fclose(full);
    }
    gguf_free(ctx);
}

/* Where no temporary file can be made, the old file stays, unless the reason is the folder. */
static void test_keeps_the_old(void **state)
{
    static const struct {
        int failure;
        bool in_place;
    } rows[] = {{ENOSPC, false}, {EIO, false},  {EDQUOT, false}, {ENOMEM, false},
                {EACCES, true},  {EROFS, true}, {EPERM, true}};
    struct gguf_context *ctx = gguf_init_empty();
    folder f = folder_new();
    path_text path = folder_path(&f, "model.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t len;
        uint8_t *bytes;

        write_file(path.text, "before", 6);
        capture_log();
        disk_fail_once(0, rows[i].failure);
        check(gguf_write_to_file(ctx, path.text, true) == rows[i].in_place, "row %zu: %s", i,
              last_log);
        disk_fail_never();
        bytes = read_file(path.text, &len);
        if (rows[i].in_place)
            check(len == gguf_get_meta_size(ctx) && memcmp(bytes, "GGUF", 4) == 0, "row %zu", i);
        else
            check(len == 6 && memcmp(bytes, "before", 6) == 0 && log_lines == 1, "row %zu: %s", i,
                  last_log);
        free(bytes);
        check_u64(entry_count(f.path), 1, "row %zu: nothing else is left", i);
    }
    gguf_free(ctx);
    folder_remove(&f);
}

/* A pipe is written as it is. */
static void test_pipe(void **state)
{
    struct gguf_context *ctx = gguf_init_empty();
    char path[32];
    uint8_t bytes[64];
    int ends[2];

    (void)state;
    check_u64(pipe(ends), 0, "pipe");
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    check(gguf_write_to_file(ctx, path, true), "%s", last_log);
    close(ends[1]);
    check_u64(read(ends[0], bytes, sizeof bytes), 32, "header and padding");
    check(memcmp(bytes, "GGUF", 4) == 0, "magic");
    close(ends[0]);
    gguf_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_set_tensor_type),
        cmocka_unit_test(test_odd_shapes),
        cmocka_unit_test(test_replaces),
        cmocka_unit_test(test_fails),
        cmocka_unit_test(test_keeps_the_old),
        cmocka_unit_test(test_pipe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
