/* What a lenient open tells of a damaged file, and what a writer makes of it. */
#include "support/builder.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/sink.h"

#include <fcntl.h>
#include <unistd.h>

#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})

static gufo_model *open_lenient(const builder *b)
{
    const gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_memory(b->data, b->len, &lenient, &error);

    check(file != NULL, "lenient: %s", error.message);
    return file;
}

static gufo_tensor tensor_named(const gufo_model *file, const char *name)
{
    gufo_tensor tensor;

    check(gufo_model_tensor_find(file, name, &tensor), "no tensor %s", name);
    return tensor;
}

/* Infos that are cut, or an alignment that makes no sense: where data begins is not known. */
static void test_unknown_offsets(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        builder b = builder_new((encoding){3, false});
        gufo_model *file;

        builder_header(&b, 2, 1);
        builder_kv_u32(&b, "general.alignment", cut ? 32 : 33);
        builder_tensor(&b, "a", GUFO_TYPE_F32, 1, DIMS(8), 32);
        builder_tensor(&b, "b", GUFO_TYPE_F32, 1, DIMS(8), 64);
        if (cut)
            b.len -= 4;
        else
            builder_zeros(&b, 200);
        file = open_lenient(&b);
        check(gufo_model_tensor_count(file) == (cut ? 1 : 2), "tensors");
        check_u64(tensor_named(file, "a").offset, GUFO_NO_OFFSET, "offset");
        check_u64(tensor_named(file, "a").size, 32, "size");
        check_u64(tensor_named(file, "a").available, 0, "available");
        check_u64(gufo_model_facts(file).data_offset, 0, "data offset");
        check_u64(gufo_model_facts(file).alignment, 32, "alignment");
        gufo_model_free(file);
        builder_free(&b);
    }
}

/* An offset that overflows belongs to that tensor alone. */
static void test_unreachable_offset(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_model *file;

    (void)state;
    builder_header(&b, 2, 0);
    builder_tensor(&b, "far", GUFO_TYPE_F32, 1, DIMS(8), UINT64_MAX - 31);
    builder_tensor(&b, "near", GUFO_TYPE_F32, 1, DIMS(8), 0);
    builder_pad(&b, 32);
    builder_zeros(&b, 32);
    file = open_lenient(&b);
    check_u64(tensor_named(file, "far").offset, GUFO_NO_OFFSET, "far");
    check_u64(tensor_named(file, "near").offset, gufo_model_facts(file).data_offset, "near");
    check_u64(tensor_named(file, "near").available, 32, "near");
    gufo_model_free(file);
    builder_free(&b);
}

/* The size of an unknown type reaches to the next higher offset, whether its bytes are there or
 * not. */
static void test_unknown_type_cut(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_model *file;
    gufo_tensor a;

    (void)state;
    builder_header(&b, 3, 0);
    builder_tensor(&b, "a", 57, 1, DIMS(8), 0);
    builder_tensor(&b, "b", GUFO_TYPE_F32, 1, DIMS(8), 64);
    builder_tensor(&b, "c", GUFO_TYPE_F32, 1, DIMS(8), 96);
    builder_pad(&b, 32);
    builder_zeros(&b, 40);
    file = open_lenient(&b);
    a = tensor_named(file, "a");
    check_u64(a.size, 64, "size");
    check_u64(a.available, 40, "available");
    check(strstr(gufo_model_damage(file)->message,
                 "0 of 3 tensors complete, at least 88 bytes missing") != NULL,
          "%s", gufo_model_damage(file)->message);
    gufo_model_free(file);
    builder_free(&b);
}

/* An empty tensor may lie where the padding of a cut tail would have ended. */
static void test_unknown_type_before_empty(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *file;

    (void)state;
    builder_header(&b, 2, 0);
    builder_tensor(&b, "a", 57, 1, DIMS(8), 0);
    builder_tensor(&b, "empty", GUFO_TYPE_F32, 1, DIMS(0), 64);
    builder_pad(&b, 32);
    builder_zeros(&b, 40);
    file = gufo_model_open_memory(b.data, b.len, NULL, &error);
    check(file != NULL, "%s", error.message);
    check_u64(tensor_named(file, "a").size, 40, "size");
    gufo_model_free(file);
    builder_free(&b);
}

/* More dims than are allowed: the next infos are read all the same. */
static void test_many_dims(void **state)
{
    builder b = builder_new((encoding){3, false});
    static const uint64_t dims[] = {1, 1, 1, 1, 1, 1};
    gufo_model *file;

    (void)state;
    builder_header(&b, 2, 0);
    builder_tensor(&b, "six", GUFO_TYPE_F32, 6, dims, 0);
    builder_tensor(&b, "one", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 64);
    file = open_lenient(&b);
    check_u64(gufo_model_tensor_count(file), 2, "tensors");
    check_u64(tensor_named(file, "six").n_dims, 4, "dims that are kept");
    check_u64(tensor_named(file, "six").available, 0, "cannot be used");
    check_u64(tensor_named(file, "one").available, 32, "can be used");
    gufo_model_free(file);
    builder_free(&b);
}

/* What no reader would accept is not written, even if it comes from a file. */
static void test_bools_are_not_copied(void **state)
{
    (void)state;
    for (int array = 0; array < 2; array++)
        for (uint32_t flags = 0; flags <= GUFO_DOCUMENT_AS_READ; flags++) {
            const gufo_document_options options = {.flags = flags};
            builder b = builder_new((encoding){3, false});
            gufo_document *d = gufo_document_new(&options, NULL);
            gufo_error error = no_error();
            gufo_model *file;
            gufo_status status;
            const void *header;
            size_t size;

            builder_header(&b, 0, 1);
            builder_key(&b, "b", array ? GUFO_VALUE_ARRAY : GUFO_VALUE_BOOL);
            if (array) {
                builder_u32(&b, GUFO_VALUE_BOOL);
                builder_u64(&b, 1);
            }
            builder_u8(&b, 2);
            file = open_lenient(&b);
            /* A single one is looked at when it is copied, elements when they are written. */
            status = gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error);
            check((status == GUFO_OK) == (array == 1), "copied");
            if (status == GUFO_OK)
                status = gufo_document_layout(d, NULL, NULL, &error);
            if (status == GUFO_OK)
                status = gufo_document_header(d, &header, &size, &error);
            check_status(status, GUFO_E_MALFORMED, &error, "bool");
            check(strcmp(error.rule->name, "bool-value") == 0, "%s", error.rule->name);
            gufo_document_free(d);
            gufo_model_free(file);
            builder_free(&b);
        }
}

/* A tensor whose dims make no sense is not copied as if they did. */
static void test_damaged_tensors_are_not_copied(void **state)
{
    static const uint64_t dims[] = {2, 2, 2, 2, 2};

    (void)state;
    for (uint32_t n_dims = 4; n_dims <= 5; n_dims++) {
        const gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ};
        builder b = builder_new((encoding){3, false});
        gufo_document *d = gufo_document_new(&options, NULL);
        gufo_error error = no_error();
        gufo_model *file;

        builder_header(&b, 1, 0);
        builder_tensor(&b, "t", GUFO_TYPE_F32, n_dims, dims, 0);
        builder_pad(&b, 32);
        builder_zeros(&b, 128);
        file = open_lenient(&b);
        check_u64(tensor_named(file, "t").elements, n_dims == 4 ? 16 : 0, "elements");
        check(tensor_named(file, "t").complete == (n_dims == 4), "complete");
        check_status(gufo_document_copy_tensors(d, file, NULL, NULL, NULL, &error),
                     n_dims == 4 ? GUFO_OK : GUFO_E_MALFORMED, &error, "%u dims", n_dims);
        gufo_document_free(d);
        gufo_model_free(file);
        builder_free(&b);
    }
}

/* Of two alignments neither is meant. */
static void test_two_alignments(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_model *file;

    (void)state;
    builder_header(&b, 1, 2);
    builder_kv_u32(&b, "general.alignment", 64);
    builder_kv_u32(&b, "general.alignment", 32);
    builder_tensor(&b, "t", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_pad(&b, 32);
    builder_zeros(&b, 64);
    file = open_lenient(&b);
    check(strcmp(gufo_model_damage(file)->rule->name, "key-duplicate") == 0, "rule");
    check_u64(tensor_named(file, "t").offset, GUFO_NO_OFFSET, "offset");
    gufo_model_free(file);
    builder_free(&b);
}

/* A file that is not a GGUF file is never taken for one, however little of it can be read. */
static void test_tiny_limits(void **state)
{
    uint8_t text[5000];

    (void)state;
    memset(text, 'x', sizeof text);
    for (uint64_t limit = 1; limit < 200; limit++) {
        const gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP, .max_unmapped = limit};
        gufo_error error = no_error();
        folder f = folder_new();
        path_text path = folder_path(&f, "text");

        write_file(path.text, text, sizeof text);
        assert_null(gufo_model_open(path.text, &options, &error));
        check_error_shape(&error, limit < 4 ? GUFO_E_LIMIT : GUFO_E_NOT_GGUF, "tiny limit");
        folder_remove(&f);
    }
}

/* A job has one output: a second one would be taken for complete. */
static void test_one_output(void **state)
{
    sink out = {.document = gufo_document_new(NULL, NULL)};
    gufo_error error = no_error();
    int null = open("/dev/null", O_WRONLY);

    (void)state;
    assert_true(null >= 0);
    check_ok(gufo_document_set_u8(out.document, "k", 1, &error), &error, "add");
    check_ok(sink_open_fd(&out, null, &error), &error, "first");
    check_status(sink_open_fd(&out, null, &error), GUFO_E_ARGUMENT, &error, "while open");
    check_ok(sink_finish(&out, &error), &error, "finish");
    check_status(sink_open_fd(&out, null, &error), GUFO_E_ARGUMENT, &error, "after it");
    check_status(sink_open(&out, "/tmp/never", true, &error), GUFO_E_ARGUMENT, &error, "after it");
    sink_free(&out);
    (void)close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_offsets),
        cmocka_unit_test(test_unreachable_offset),
        cmocka_unit_test(test_unknown_type_cut),
        cmocka_unit_test(test_unknown_type_before_empty),
        cmocka_unit_test(test_many_dims),
        cmocka_unit_test(test_bools_are_not_copied),
        cmocka_unit_test(test_one_output),
        cmocka_unit_test(test_damaged_tensors_are_not_copied),
        cmocka_unit_test(test_two_alignments),
        cmocka_unit_test(test_tiny_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
