/* GGUF of version 1 and 2 becomes version 3: every key and every byte stays, in both byte orders;
 * interleaved types that were removed become those that they were made from; version 3 needs
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "gufo/import.h"
#include "support/folder.h"
#include "support/parts.h"

/* The whole file, with rows of a tensor of some type. */
static builder model_bytes(encoding e, uint32_t type, size_t size)
{
    builder b = builder_new(e);

    builder_header(&b, 2, 3);
    builder_key(&b, "general.architecture", GUFO_VALUE_STRING);
    builder_str(&b, "llama");
    builder_kv_u32(&b, "a.number", 7);
    builder_kv_i32(&b, "a.negative", -7);
    builder_tensor(&b, "plain", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 0);
    builder_tensor(&b, "blocks", type, 2, (uint64_t[]){64, 8}, 32);
    builder_pad(&b, 32);
    for (int i = 0; i < 8; i++)
        builder_f32(&b, (float)i);
    for (size_t i = 0; i < size; i++)
        builder_u8(&b, (uint8_t)(i * 37 % 101));
    builder_pad(&b, 32);
    return b;
}

static gufo_import *migrate(const char *in, const char *out)
{
    gufo_error error = no_error();
    gufo_import *import = gufo_import_legacy(in, NULL, &error);
    gufo_job_options options = {.path = out};
    gufo_job *whole, *parted;

    check(import != NULL, "%s", error.message);
    whole = gufo_import_job(import, &error);
    parted = gufo_import_job(import, &error);
    check_parts(whole, parted, &options, out);
    gufo_job_free(whole);
    gufo_job_free(parted);
    return import;
}

static gufo_model *open_model(const char *path)
{
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open(path, NULL, &error);

    check(model != NULL, "%s", error.message);
    return model;
}

static void check_numbers(const gufo_model *a, const gufo_model *b)
{
    gufo_tensor of_a, of_b;

    for (uint64_t i = 0; gufo_model_tensor_at(a, i, &of_a); i++) {
        size_t size = (size_t)of_a.elements * sizeof(float);
        float *in_a = malloc(size), *in_b = malloc(size);

        assert_true(gufo_model_tensor_at(b, i, &of_b));
        check_view(of_b.name, of_a.name, "name of tensor %u", (unsigned)i);
        assert_int_equal(
            gufo_tensor_decode(a, &of_a, 0, of_a.elements / of_a.dims[0], in_a, NULL, NULL),
            GUFO_OK);
        assert_int_equal(
            gufo_tensor_decode(b, &of_b, 0, of_b.elements / of_b.dims[0], in_b, NULL, NULL),
            GUFO_OK);
        assert_memory_equal(in_a, in_b, size);
        free(in_a);
        free(in_b);
    }
}

/* The model of its own has the numbers and the types that the job writes. */
static void check_taken(gufo_import *import, const gufo_model *written)
{
    gufo_error error = no_error();
    gufo_model *taken = gufo_import_take_model(import, "taken", &error);
    gufo_tensor a, b;
    uint8_t one[36], other[36]; /* two blocks */

    check(taken != NULL, "%s", error.message);
    check_numbers(written, taken);
    assert_true(gufo_model_tensor_find(written, "blocks", &a) &&
                gufo_model_tensor_find(taken, "blocks", &b));
    assert_int_equal(a.type, b.type);
    for (uint64_t row = 0; row < 8; row++) {
        check_ok(gufo_tensor_read_rows(written, &a, row, 1, one, &error), &error, "written");
        check_ok(gufo_tensor_read_rows(taken, &b, row, 1, other, &error), &error, "taken");
        assert_memory_equal(one, other, sizeof one);
    }
    gufo_model_free(taken);
}

static void test_every_encoding(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        encoding e = all_encodings[i];
        builder b = model_bytes(e, GUFO_TYPE_Q4_0, 8 * 2 * 18);
        gufo_import *import;
        gufo_model *old, *new;

        if (e.version < 3) {
            write_file(in.text, b.data, b.len);
            import = migrate(in.text, out.text);
            assert_int_equal(gufo_import_describe(import).version, e.version);
            old = open_model(in.text);
            new = open_model(out.text);
            assert_int_equal(gufo_model_facts(new).version, 3);
            assert_int_equal(gufo_model_facts(new).byte_order, gufo_model_facts(old).byte_order);
            assert_int_equal(gufo_model_entry_count(new), gufo_model_entry_count(old));
            assert_int_equal(gufo_import_describe(import).origin, GUFO_IMPORT_GGUF);
            check_numbers(old, new);
            check_taken(import, new);
            gufo_model_free(old);
            gufo_model_free(new);
            remove(out.text);
        }
        builder_free(&b);
    }
    folder_remove(&f);
}

static void test_removed_types(void **state)
{
    static const struct {
        uint32_t old, new;
        size_t size;
    } rows[] = {{31, GUFO_TYPE_Q4_0, 8 * 2 * 18},
                {32, GUFO_TYPE_Q4_0, 8 * 2 * 18},
                {33, GUFO_TYPE_Q4_0, 8 * 2 * 18},
                {36, GUFO_TYPE_IQ4_NL, 8 * 2 * 18}};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = model_bytes((encoding){2, false}, rows[i].old, rows[i].size);
        gufo_import *import;
        gufo_import_tensor shown;
        gufo_model *old, *new;
        gufo_tensor tensor;

        write_file(in.text, b.data, b.len);
        import = migrate(in.text, out.text);
        assert_true(gufo_import_tensor_at(import, 1, &shown));
        assert_int_equal(shown.to->id, rows[i].new);
        assert_true(shown.exact);
        old = open_model(in.text);
        new = open_model(out.text);
        assert_true(gufo_model_tensor_find(new, "blocks", &tensor));
        assert_int_equal(tensor.type, rows[i].new);
        check_numbers(old, new);
        check_taken(import, new);
        gufo_model_free(old);
        gufo_model_free(new);
        remove(out.text);
        builder_free(&b);
    }
    folder_remove(&f);
}

static void test_version_3_is_refused(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf");
    builder b = model_bytes((encoding){3, false}, GUFO_TYPE_Q4_0, 8 * 2 * 18);
    gufo_error error = no_error();

    (void)state;
    write_file(in.text, b.data, b.len);
    assert_null(gufo_import_legacy(in.text, NULL, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "version 3");
    assert_non_null(strstr(error.message, "needs no migration"));
    builder_free(&b);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_encoding),
        cmocka_unit_test(test_removed_types),
        cmocka_unit_test(test_version_3_is_refused),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
