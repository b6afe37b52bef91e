/* Whatever open accepts can be written again, and what a writer wrote is what was read. */
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"

#include <fcntl.h>
#include <unistd.h>

static gufo_writer *plan_copy(const gufo_model *file, encoding e, const char *label)
{
    gufo_writer_options options = {.version = (uint32_t)e.version,
                                   .byte_order = e.big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN,
                                   .flags = GUFO_WRITER_AS_READ};
    gufo_error error = no_error();
    gufo_writer *w = gufo_writer_new(&options, &error);

    check(w != NULL, "%s: %s", label, error.message);
    check_ok(gufo_writer_copy_metadata(w, file, &error), &error, "%s: metadata", label);
    check_ok(gufo_writer_copy_tensors(w, file, &error), &error, "%s: tensors", label);
    return w;
}

/* One tensor as a whole, the next one through this program, piece by piece. */
static void copy_data(gufo_writer *w, const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint8_t piece[100];

    for (uint64_t i = 0; gufo_tensor_at(file, i, &tensor); i++) {
        if (i % 2 == 0)
            check_ok(gufo_writer_copy_data(w, i, 0, file, &tensor, tensor.size, &error), &error,
                     "%s", label);
        for (uint64_t at = i % 2 == 0 ? tensor.size : 0; at < tensor.size;) {
            uint64_t left = tensor.size - at;
            size_t size = left < sizeof piece ? (size_t)left : sizeof piece;

            check_ok(gufo_tensor_read_raw(file, &tensor, at, piece, size, &error), &error, "%s",
                     label);
            check_ok(gufo_writer_write(w, i, at, piece, size, &error), &error, "%s", label);
            at += size;
        }
    }
}

static void write_copy(const gufo_model *file, encoding e, const char *path, const char *label)
{
    gufo_writer *w = plan_copy(file, e, label);
    gufo_error error = no_error();

    check_ok(gufo_writer_open_path(w, path, true, &error), &error, "%s", label);
    copy_data(w, file, label);
    check_ok(gufo_writer_finish(w, &error), &error, "%s", label);
    gufo_writer_free(w);
}

/* The same through a descriptor: nothing is synced, which takes most of the time otherwise. */
static void stream_copy(const gufo_model *file, encoding e, const char *path, const char *label)
{
    gufo_writer *w = plan_copy(file, e, label);
    gufo_error error = no_error();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    check_ok(gufo_writer_open_fd(w, fd, &error), &error, "%s", label);
    copy_data(w, file, label);
    check_ok(gufo_writer_finish(w, &error), &error, "%s", label);
    gufo_writer_free(w);
    close(fd);
}

static void check_same_content(const gufo_model *file, const char *path, const char *label)
{
    gufo_error error = no_error();
    gufo_model *copy = gufo_open(path, NULL, &error);
    char *got, *expected;

    check(copy != NULL, "%s: the copy does not open: %s", label, error.message);
    got = dump_file(copy, DUMP_DATA);
    expected = dump_file(file, DUMP_DATA);
    check_same_dump(got, expected, label);
    free(got);
    free(expected);
    gufo_close(copy);
}

/* In its own encoding, a file without oddities of layout comes back byte for byte. */
static void copy_same(const good_file *good, const builder *b, const char *label, void *context)
{
    const char *path = context;
    encoding e = b->encoding;
    gufo_model *file = open_built(b, label);

    if (e.version == 1)
        e.version = 3;
    if (b->encoding.version == 3)
        write_copy(file, e, path, label);
    else
        stream_copy(file, e, path, label);
    if ((good->flags & GOOD_CANONICAL) && b->encoding.version != 1)
        check_file(path, b->data, b->len, label);
    check_same_content(file, path, label);
    gufo_close(file);
}

static void test_same_encoding(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "copy.gguf");

    (void)state;
    good_for_each(copy_same, path.text);
    folder_remove(&f);
}

/* Into every other encoding that can be written, and back again. */
static void copy_around(const good_file *good, const builder *b, const char *label, void *context)
{
    const char *path = ((const char *const *)context)[0];
    gufo_model *file = open_built(b, label);

    for (size_t i = 2; i < ENCODING_COUNT; i++) {
        gufo_model *copy;
        char full[160];

        snprintf(full, sizeof full, "%s, as %s", label, encoding_name(all_encodings[i]));
        stream_copy(file, all_encodings[i], path, full);
        check_same_content(file, path, full);
        if ((good->flags & GOOD_CANONICAL) && b->encoding.version != 1) {
            const char *back = ((const char *const *)context)[1];

            copy = gufo_open(path, NULL, NULL);
            check(copy != NULL, "%s", full);
            stream_copy(copy, b->encoding, back, full);
            gufo_close(copy);
            check_file(back, b->data, b->len, full);
        }
    }
    gufo_close(file);
}

static void test_other_encodings(void **state)
{
    folder f = folder_new();
    path_text there = folder_path(&f, "there.gguf"), back = folder_path(&f, "back.gguf");
    const char *paths[] = {there.text, back.text};

    (void)state;
    good_for_each(copy_around, paths);
    folder_remove(&f);
}

/* A copy may grow: entries and tensors before and after those that are copied. */
static void test_copy_and_add(void **state)
{
    builder b = good_build_named("alignment 64", (encoding){3, false});
    gufo_model *file = open_built(&b, "source"), *copy;
    gufo_writer *w = gufo_writer_new(NULL, NULL);
    const uint64_t dims[1] = {2};
    gufo_error error = no_error();
    gufo_layout layout;
    gufo_entry entry;
    gufo_tensor tensor;
    size_t size;

    (void)state;
    check_ok(gufo_writer_add_u8(w, "first", 1, &error), &error, "first");
    check_ok(gufo_writer_copy_metadata(w, file, &error), &error, "metadata");
    check_ok(gufo_writer_add_u8(w, "last", 2, &error), &error, "last");
    check_ok(gufo_writer_copy_tensors(w, file, &error), &error, "tensors");
    check_ok(gufo_writer_add_tensor(w, gufo_str_of("new"), GUFO_TYPE_F32, 1, dims, 0, &error),
             &error, "new");
    check_status(gufo_writer_copy_metadata(w, file, &error), GUFO_E_MALFORMED, &error, "twice");
    check_ok(gufo_writer_layout(w, &layout, &error), &error, "layout");
    check_u64(layout.alignment, 64, "the alignment comes along");
    check_u64(layout.tensor_count, 4, "tensors");
    copy = gufo_open_memory(gufo_writer_header(w, &size), (size_t)layout.data_offset,
                            &(gufo_open_options){.flags = GUFO_OPEN_LENIENT}, &error);
    check(copy != NULL, "%s", error.message);
    check_u64(gufo_metadata_count(copy), 4, "entries");
    check(gufo_metadata_at(copy, 0, &entry) && entry.value.as.u == 1, "first");
    check(gufo_metadata_at(copy, 3, &entry) && entry.value.as.u == 2, "last");
    check(gufo_tensor_at(copy, 3, &tensor), "new");
    check_str(tensor.name, "new", "new");
    gufo_close(copy);
    gufo_close(file);
    gufo_writer_free(w);
    builder_free(&b);
}

/* Without AS_READ, what breaks the rules for new content is refused. */
static void test_strict_copy(void **state)
{
    static const char *const files[] = {"odd keys", "strings", "alignment 24", "alignment 4"};
    static const char *const with_tensors[] = {"names", "unknown types", "all types"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        builder b = good_build_named(files[i], (encoding){3, false});
        gufo_model *file = open_built(&b, files[i]);
        gufo_writer *w = gufo_writer_new(NULL, NULL);
        gufo_error error = no_error();

        check_status(gufo_writer_copy_metadata(w, file, &error), GUFO_E_MALFORMED, &error, "%s",
                     files[i]);
        gufo_writer_free(w);
        gufo_close(file);
        builder_free(&b);
    }
    for (size_t i = 0; i < COUNT_OF(with_tensors); i++) {
        builder b = good_build_named(with_tensors[i], (encoding){3, false});
        gufo_model *file = open_built(&b, with_tensors[i]);
        gufo_writer *w = gufo_writer_new(NULL, NULL);
        gufo_error error = no_error();

        check_status(gufo_writer_copy_tensors(w, file, &error), GUFO_E_MALFORMED, &error, "%s",
                     with_tensors[i]);
        gufo_writer_free(w);
        gufo_close(file);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_encoding),
        cmocka_unit_test(test_other_encodings),
        cmocka_unit_test(test_copy_and_add),
        cmocka_unit_test(test_strict_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
