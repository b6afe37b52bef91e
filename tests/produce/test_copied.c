/* Whatever open accepts can be written again, and what was written is what was read. */
#include "support/document.h"
#include "support/good.h"
#include "support/openers.h"
#include "support/sink.h"
#include "support/walk.h"

#include <fcntl.h>
#include <unistd.h>

/* How a copy is encoded, and whether the library copies the data or is given it. */
typedef struct copy_way {
    encoding e;
    bool given;
} copy_way;

static void name_tensors(gufo_document *d, const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_tensor t;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &t); i++)
        check_ok(
            gufo_document_add_raw_tensor_str(d, t.name, t.type, t.n_dims, t.dims, t.size, &error),
            &error, "%s", label);
}

/* The description of a copy; NULL where bytes would have to be swapped and cannot be. */
static gufo_document *plan_copy(const gufo_model *file, copy_way how, const char *label)
{
    gufo_document *d = document_for(how.e, GUFO_DOCUMENT_AS_READ);
    gufo_error error = no_error();
    gufo_status status = GUFO_OK;

    check_ok(gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error), &error, "%s: metadata",
             label);
    if (how.given)
        name_tensors(d, file, label);
    else
        status = gufo_document_copy_tensors(d, file, NULL, NULL, NULL, &error);
    if (status == GUFO_OK)
        return d;
    check_status(status, GUFO_E_TYPE, &error, "%s: tensors", label);
    check(how.e.big != (gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN), "%s", label);
    gufo_document_free(d);
    return NULL;
}

/* Piece by piece. */
static void give_data(gufo_job *job, const gufo_model *file, const char *label)
{
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint8_t piece[100];

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++)
        for (uint64_t at = 0; at < tensor.size;) {
            uint64_t left = tensor.size - at;
            size_t size = left < sizeof piece ? (size_t)left : sizeof piece;

            check_ok(gufo_tensor_read_raw(file, &tensor, at, piece, size, &error), &error, "%s",
                     label);
            check_ok(gufo_job_write(job, 0, i, at, piece, size, &error), &error, "%s", label);
            at += size;
        }
}

/* False where there is no copy. */
static bool write_copy(const gufo_model *file, copy_way how, const char *path, const char *label)
{
    gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_document *d = plan_copy(file, how, label);
    gufo_error error = no_error();
    gufo_job *job;

    if (d == NULL)
        return false;
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(job != NULL, "%s: %s", label, error.message);
    if (how.given) {
        check_ok(gufo_job_open(job, &options, &error), &error, "%s", label);
        give_data(job, file, label);
        check_ok(gufo_job_finish(job, NULL, &error), &error, "%s", label);
    } else {
        check_ok(gufo_job_run(job, &options, NULL, &error), &error, "%s", label);
    }
    gufo_job_free(job);
    gufo_document_free(d);
    return true;
}

/* The same through a descriptor. */
static bool stream_copy(const gufo_model *file, copy_way how, const char *path, const char *label)
{
    gufo_document *d = plan_copy(file, how, label);
    gufo_error error = no_error();
    gufo_job *job;
    int fd;

    if (d == NULL)
        return false;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(job != NULL && fd >= 0, "%s: %s", label, error.message);
    if (how.given) {
        check_ok(gufo_job_open_fd(job, fd, &error), &error, "%s", label);
        give_data(job, file, label);
        check_ok(gufo_job_finish(job, NULL, &error), &error, "%s", label);
    } else {
        check_ok(gufo_job_stream(job, fd, NULL, &error), &error, "%s", label);
    }
    gufo_job_free(job);
    gufo_document_free(d);
    close(fd);
    return true;
}

static void check_same_content(const gufo_model *file, const char *path, const char *label)
{
    gufo_error error = no_error();
    gufo_model *copy = gufo_model_open(path, NULL, &error);
    char *got, *expected;

    check(copy != NULL, "%s: the copy does not open: %s", label, error.message);
    got = dump_file(copy, DUMP_DATA);
    expected = dump_file(file, DUMP_DATA);
    check_same_dump(got, expected, label);
    free(got);
    free(expected);
    gufo_model_free(copy);
}

/* In its own encoding, a file without oddities of layout comes back byte for byte. */
static void copy_same(const good_file *good, const builder *b, const char *label, void *context)
{
    const char *path = context;
    encoding e = b->encoding;
    gufo_model *file = open_built(b, label);

    if (e.version == 1)
        e.version = 3;
    for (unsigned i = 0; i < 2; i++) {
        copy_way how = {e, i == 1};

        if (b->encoding.version == 3)
            check(write_copy(file, how, path, label), "%s", label);
        else
            check(stream_copy(file, how, path, label), "%s", label);
        if ((good->flags & GOOD_CANONICAL) && b->encoding.version != 1)
            check_file(path, b->data, b->len, label);
        check_same_content(file, path, label);
    }
    gufo_model_free(file);
}

static void test_same_encoding(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "copy.gguf");

    (void)state;
    good_for_each(copy_same, path.text);
    folder_remove(&f);
}

/* Back into the encoding that a file had. */
static void copy_back(const good_file *good, const builder *b, bool given, const char *const *paths,
                      const char *label)
{
    gufo_error error = no_error();
    gufo_model *copy;

    if (!(good->flags & GOOD_CANONICAL) || b->encoding.version == 1)
        return;
    copy = gufo_model_open(paths[0], NULL, &error);
    check(copy != NULL, "%s: %s", label, error.message);
    check(stream_copy(copy, (copy_way){b->encoding, given}, paths[1], label), "%s", label);
    gufo_model_free(copy);
    check_file(paths[1], b->data, b->len, label);
}

/* Into every other encoding that can be written, and back again. */
static void copy_around(const good_file *good, const builder *b, const char *label, void *context)
{
    const char *const *paths = context;
    gufo_model *file = open_built(b, label);

    for (size_t i = 2 * 2; i < 2 * ENCODING_COUNT; i++) {
        copy_way how = {all_encodings[i / 2], i % 2 == 1};
        char full[160];

        snprintf(full, sizeof full, "%s, as %s, %s", label, encoding_name(how.e),
                 how.given ? "given" : "copied");
        if (!stream_copy(file, how, paths[0], full))
            continue;
        if (how.given || how.e.big == b->encoding.big)
            check_same_content(file, paths[0], full);
        copy_back(good, b, how.given, paths, full);
    }
    gufo_model_free(file);
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
    gufo_document *d = gufo_document_new(NULL, NULL);
    const uint64_t dims[1] = {2};
    gufo_error error = no_error();
    gufo_layout layout;
    gufo_entry entry;
    gufo_tensor tensor;
    size_t size;

    (void)state;
    check_ok(gufo_document_set_u8(d, "first", 1, &error), &error, "first");
    check_ok(gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error), &error, "metadata");
    check_ok(gufo_document_set_u8(d, "last", 2, &error), &error, "last");
    check_ok(gufo_document_copy_tensors(d, file, NULL, NULL, NULL, &error), &error, "tensors");
    check_ok(
        gufo_document_add_tensor(d, "new", gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, &error),
        &error, "new");
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "layout");
    check_u64(layout.alignment, 64, "the alignment comes along");
    check_u64(layout.tensor_count, 4, "tensors");
    copy = gufo_model_open_memory(document_header(d, &size), (size_t)layout.data_offset,
                                  &(gufo_open_options){.flags = GUFO_OPEN_LENIENT}, &error);
    check(copy != NULL, "%s", error.message);
    check_u64(gufo_model_entry_count(copy), 4, "entries");
    check(gufo_model_entry_at(copy, 0, &entry) && entry.value.as.u == 1, "first");
    check(gufo_model_entry_at(copy, 3, &entry) && entry.value.as.u == 2, "last");
    check(gufo_model_tensor_at(copy, 3, &tensor), "new");
    check_str(tensor.name, "new", "new");
    gufo_model_free(copy);
    gufo_model_free(file);
    gufo_document_free(d);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_encoding),
        cmocka_unit_test(test_other_encodings),
        cmocka_unit_test(test_copy_and_add),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
