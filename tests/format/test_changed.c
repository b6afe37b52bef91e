/* Files that somebody else truncates or overwrites while they are open. */
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct fixture {
    folder f;
    path_text path;
    builder b;
} fixture;

/* A vocabulary with nested arrays and two tensors, in a file. */
static fixture fixture_new(void)
{
    fixture x;
    const uint64_t dims[1] = {1000};

    x.f = folder_new();
    x.path = folder_path(&x.f, "file.gguf");
    x.b = builder_new((encoding){3, false});
    builder_header(&x.b, 2, 4);
    builder_kv_str(&x.b, "general.architecture", "llama");
    builder_kv_array(&x.b, "tokens", GUFO_VALUE_STRING, 500);
    for (int i = 0; i < 500; i++)
        builder_strn(&x.b, "abcdefgh", (size_t)i % 9);
    builder_kv_array(&x.b, "nested", GUFO_VALUE_ARRAY, 100);
    for (int i = 0; i < 100; i++) {
        builder_array(&x.b, GUFO_VALUE_ARRAY, 2);
        builder_array(&x.b, GUFO_VALUE_STRING, 1);
        builder_str(&x.b, "deep");
        builder_array(&x.b, GUFO_VALUE_UINT32, 2);
        builder_u64(&x.b, 5);
    }
    builder_kv_array(&x.b, "bools", GUFO_VALUE_BOOL, 64);
    builder_fill(&x.b, 1, 64);
    builder_tensor(&x.b, "a", GUFO_TYPE_F32, 1, dims, 0);
    builder_tensor(&x.b, "b", GUFO_TYPE_F32, 1, dims, 4000);
    builder_pad(&x.b, 32);
    builder_pattern(&x.b, 1, 8000);
    write_file(x.path.text, x.b.data, x.b.len);
    return x;
}

static void fixture_free(fixture *x)
{
    folder_remove(&x->f);
    builder_free(&x->b);
}

static gufo_model *open_fixture(const fixture *x, unsigned flags)
{
    gufo_open_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open(x->path.text, &options, &error);

    check(file != NULL, "%s", error.message);
    return file;
}

/* Changes bytes in place: the file stays the same file. */
static void overwrite(const fixture *x, uint64_t at, const void *data, size_t len)
{
    int fd = open(x->path.text, O_WRONLY);

    check(fd >= 0 && pwrite(fd, data, len, (off_t)at) == (ssize_t)len, "test file");
    close(fd);
}

static void check_read_fails(const gufo_model *file, const char *name)
{
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint8_t data[4000];
    gufo_status status;

    check(gufo_model_tensor_find(file, name, &tensor), "%s", name);
    status = gufo_tensor_read_raw(file, &tensor, 0, data, sizeof data, &error);
    check(status == GUFO_E_TRUNCATED || status == GUFO_E_IO || status == GUFO_E_CHANGED, "%s: %s",
          name, gufo_status_name(status));
    check_error_shape(&error, status, name);
}

/* Without a map, metadata is as it was, and only data is missing. */
static void test_truncated_unmapped(void **state)
{
    (void)state;
    for (off_t left = 0; left <= 8000; left += 4000) {
        fixture x = fixture_new();
        gufo_model *file = open_fixture(&x, GUFO_OPEN_NO_MAP);
        gufo_model *memory = open_built(&x.b, "memory");
        char *got, *expected;

        check(truncate(x.path.text, left) == 0, "test file");
        got = dump_file(file, DUMP_LAYOUT);
        expected = dump_file(memory, DUMP_LAYOUT);
        check_same_dump(got, expected, "truncated");
        check_read_fails(file, "a");
        check_read_fails(file, "b");
        free(got);
        free(expected);
        gufo_model_free(file);
        gufo_model_free(memory);
        fixture_free(&x);
    }
}

/* Of a mapped file, data is read with pread: what is gone is an error, not a signal. */
static void test_truncated_mapped(void **state)
{
    fixture x = fixture_new();
    gufo_model *file = open_fixture(&x, 0);
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint64_t infos_end = gufo_model_facts(file).infos_end;
    uint8_t data[4000];

    (void)state;
    check(gufo_model_tensor_find(file, "a", &tensor), "a");
    check(truncate(x.path.text, (off_t)(tensor.offset + 4000)) == 0, "test file");
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, data, sizeof data, &error), &error, "a");
    check_read_fails(file, "b");
    check(truncate(x.path.text, (off_t)infos_end) == 0, "test file");
    check_read_fails(file, "a");
    check_read_fails(file, "b");
    gufo_model_free(file);
    fixture_free(&x);
}

/* Overwritten without a map: everything that is metadata stays as it was read. */
static void test_overwritten_unmapped(void **state)
{
    fixture x = fixture_new();
    gufo_model *file = open_fixture(&x, GUFO_OPEN_NO_MAP);
    gufo_model *memory = open_built(&x.b, "memory");
    uint8_t *dirt = malloc(x.b.len);
    char *got, *expected;

    (void)state;
    assert_non_null(dirt);
    memset(dirt, 0xff, x.b.len);
    overwrite(&x, 0, dirt, x.b.len);
    got = dump_file(file, DUMP_LAYOUT);
    expected = dump_file(memory, DUMP_LAYOUT);
    check_same_dump(got, expected, "overwritten");
    walk_file(file, NULL, 0, "overwritten");
    free(got);
    free(expected);
    free(dirt);
    gufo_model_free(file);
    gufo_model_free(memory);
    fixture_free(&x);
}

/* Overwritten under a map: arrays stay inside their bytes, and end or say that they changed. */
static void test_overwritten_mapped(void **state)
{
    uint64_t random = UINT64_C(0x1234567890abcdef);

    (void)state;
    for (int round = 0; round < 200; round++) {
        fixture x = fixture_new();
        gufo_model *file = open_fixture(&x, 0);
        size_t metadata = (size_t)gufo_model_facts(file).infos_end;

        for (int n = 0; n < 1 + round / 10; n++) {
            uint64_t at = 24 + random_next(&random) % (metadata - 32), bits = random_next(&random);
            uint8_t dirt[8];

            memcpy(dirt, &bits, sizeof dirt);
            if (round % 3 == 0)
                memset(dirt, round % 2 ? 0xff : 0, sizeof dirt);
            overwrite(&x, at, dirt, sizeof dirt);
        }
        walk_unsteady(file);
        gufo_model_free(file);
        fixture_free(&x);
    }
}

/* Overwritten in the middle of a walk. */
static void test_overwritten_while_walking(void **state)
{
    fixture x = fixture_new();
    gufo_model *file = open_fixture(&x, 0);
    gufo_error error = no_error();
    gufo_array tokens;
    gufo_entry entry;
    gufo_array_iter iter;
    gufo_value value;
    uint64_t seen = 0;

    (void)state;
    check_ok(gufo_model_get_array(file, "tokens", GUFO_VALUE_STRING, &tokens, &error), &error,
             "tokens");
    iter = gufo_array_start(&tokens);
    while (seen < 100 && gufo_array_next(&iter, &value))
        seen++;
    check_u64(seen, 100, "first elements");
    check(gufo_model_find(file, "tokens", &entry), "tokens");
    overwrite(&x, entry.value_offset + iter.position, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
    check(!gufo_array_next(&iter, &value), "a length of 2^63-1");
    check(iter.changed, "the array does not say that it changed");
    check(!gufo_array_next(&iter, &value), "goes on after a change");
    check_status(gufo_array_at(&tokens, 400, &value, &error), GUFO_E_CHANGED, &error,
                 "element 400");
    check_error_shape(&error, GUFO_E_CHANGED, "element 400");
    gufo_model_free(file);
    fixture_free(&x);
}

/* A document that copies from a file that changed notices, or gives something that can be read. */
static void test_copy_of_changed(void **state)
{
    uint64_t random = 42;

    (void)state;
    for (int round = 0; round < 100; round++) {
        fixture x = fixture_new();
        gufo_model *file = open_fixture(&x, 0), *copy;
        gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ};
        gufo_document *d = gufo_document_new(&options, NULL);
        gufo_error error = no_error();
        size_t metadata = (size_t)gufo_model_facts(file).infos_end, size;
        const void *header;

        assert_non_null(d);
        for (int n = 0; n < 4; n++) {
            uint64_t at = 24 + random_next(&random) % (metadata - 32), bits = random_next(&random);

            overwrite(&x, at, &bits, 1 + (size_t)round % 8);
        }
        if (gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error) != GUFO_OK ||
            gufo_document_layout(d, NULL, NULL, &error) != GUFO_OK ||
            gufo_document_header(d, &header, &size, &error) != GUFO_OK) {
            check(error.code != GUFO_OK && error.message[0] != '\0', "an error without words");
        } else {
            copy = gufo_model_open_memory(header, size, NULL, &error);
            check(copy != NULL, "round %d: wrote what cannot be read: %s", round, error.message);
            gufo_model_free(copy);
        }
        gufo_document_free(d);
        gufo_model_free(file);
        fixture_free(&x);
    }
}

/* Replacing a file by renaming another over it changes nothing for who has it open. */
static void test_replaced(void **state)
{
    fixture x = fixture_new();
    gufo_model *file = open_fixture(&x, 0);
    path_text other = folder_path(&x.f, "other");
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint8_t data[4000];

    (void)state;
    write_file(other.text, "nothing", 7);
    check(rename(other.text, x.path.text) == 0, "test file");
    walk_file(file, NULL, 0, "replaced");
    check(gufo_model_tensor_find(file, "a", &tensor), "a");
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, data, sizeof data, &error), &error, "a");
    check(data[17] == pattern_byte(1, 17), "data of the old file");
    gufo_model_free(file);
    fixture_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_unmapped),
        cmocka_unit_test(test_truncated_mapped),
        cmocka_unit_test(test_overwritten_unmapped),
        cmocka_unit_test(test_overwritten_mapped),
        cmocka_unit_test(test_overwritten_while_walking),
        cmocka_unit_test(test_copy_of_changed),
        cmocka_unit_test(test_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
