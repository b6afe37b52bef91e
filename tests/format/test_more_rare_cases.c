/* Cases that files and callers hardly ever come with, one each: values of the wrong kind under
 * known keys, files that end inside the padding before the data, counts that no memory could
 * hold. */
#include "../support/findings.h"
#include "../support/folder.h"
#include "../support/walk.h"
#include "../support/sink.h"

#include "base/files/output.h"
#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- checking ------------------------------------------------------------------------------- */

/* All findings of a file in memory, which must open. */
static void check_built(const builder *b, findings *found, const char *label)
{
    gufo_error error = no_error();
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_model *file = gufo_open_memory(b->data, b->len, &just_this, &error);

    check(file != NULL, "%s: %s", label, error.message);
    findings_init(found);
    check_ok(gufo_model_check(file, findings_add, found, &error), &error, "%s", label);
    gufo_close(file);
}

static void test_architecture_is_no_name(void **state)
{
    (void)state;
    for (int text = 0; text < 2; text++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 0, 1);
        if (text)
            builder_kv_str(&b, "general.architecture", "");
        else
            builder_kv_u32(&b, "general.architecture", 1);
        check_built(&b, &found, "architecture");
        check_u64(findings_of(&found, "architecture-missing"), 1, "architecture");
        check_u64(findings_get(&found, "architecture-missing", 0)->offset, b.len - (text ? 0 : 4),
                  "architecture");
        findings_free(&found);
        builder_free(&b);
    }
}

/* An importance matrix needs no architecture; a model does. */
static void test_architecture_of_imatrix(void **state)
{
    static const struct {
        const char *type;
        uint64_t missing;
    } rows[] = {{"imatrix", 0}, {"model", 1}, {"imatri", 1}, {"", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 0, 1);
        builder_kv_str(&b, "general.type", rows[i].type);
        check_built(&b, &found, rows[i].type);
        check_u64(findings_of(&found, "architecture-missing"), rows[i].missing, "%s", rows[i].type);
        findings_free(&found);
        builder_free(&b);
    }
}

/* A set of one shard has all tensors; one of several may have fewer than the total, not more. */
static void test_split_total(void **state)
{
    static const struct {
        uint16_t count;
        int32_t total;
        bool good;
    } rows[] = {{1, 1, true}, {1, 2, false}, {1, 0, false},
                {2, 1, true}, {2, 2, true},  {2, 0, false}};
    const uint64_t dims[1] = {32};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 1, 4);
        builder_kv_str(&b, "general.architecture", "llama");
        builder_kv_u16(&b, "split.no", 0);
        builder_kv_u16(&b, "split.count", rows[i].count);
        builder_kv_i32(&b, "split.tensors.count", rows[i].total);
        builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 32);
        check_built(&b, &found, "split");
        check_u64(findings_of(&found, "split-keys"), rows[i].good ? 0 : 1, "row %zu", i);
        check_u64(found.count, rows[i].good ? 0 : 1, "row %zu", i);
        findings_free(&found);
        builder_free(&b);
    }
}

/* Without elements there is no data, and the file may end where the padding would begin, or inside
 * it.  ggml wants all of it. */
static void test_ends_before_data(void **state)
{
    const uint64_t dims[1] = {0};
    builder b = builder_new((encoding){3, false});
    size_t infos_end;

    (void)state;
    builder_header(&b, 1, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_tensor(&b, "none", GUFO_TYPE_F32, 1, dims, 0);
    infos_end = b.len;
    check(infos_end % 32 != 0, "there is padding");
    builder_pad(&b, 32);
    for (size_t len = infos_end; len <= b.len; len++) {
        builder cut = b;
        findings found;

        cut.len = len;
        check_built(&cut, &found, "no data");
        check_u64(findings_of(&found, "compat-ggml"), len < b.len, "%zu bytes", len);
        check_u64(findings_of(&found, "tensor-empty"), 1, "%zu bytes", len);
        check_u64(found.count, 1 + (len < b.len), "%zu bytes", len);
        if (len < b.len)
            check_u64(findings_get(&found, "compat-ggml", 0)->offset, len, "%zu bytes", len);
        findings_free(&found);
    }
    builder_free(&b);
}

/* A tensor without bytes may have any offset; ggml requires it where the next one would be. */
static void test_empty_tensor_elsewhere(void **state)
{
    static const struct {
        uint64_t offsets[3];
        size_t refused;
    } rows[] = {{{0, 0, 64}, 0}, {{0, 0, 32}, 1}, {{32, 0, 64}, 1}, {{64, 0, 0}, 2}};
    const uint64_t none[1] = {0}, some[1] = {40};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 3, 1);
        builder_kv_str(&b, "general.architecture", "llama");
        builder_tensor(&b, "before", GUFO_TYPE_F32, 1, none, rows[i].offsets[0]);
        builder_tensor(&b, "some", GUFO_TYPE_I8, 1, some, rows[i].offsets[1]);
        builder_tensor(&b, "behind", GUFO_TYPE_F32, 1, none, rows[i].offsets[2]);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 40);
        builder_pad(&b, 32);
        check_built(&b, &found, "empty tensors");
        check_u64(findings_of(&found, "compat-ggml"), rows[i].refused, "row %zu", i);
        check_u64(findings_of(&found, "tensor-empty"), 2, "row %zu", i);
        findings_free(&found);
        builder_free(&b);
    }
}

/* The error is optional. */
static void test_no_error_wanted(void **state)
{
    findings found;

    (void)state;
    findings_init(&found);
    check_u64(validate_file("/nonexistent/file.gguf", NULL, findings_add, &found, NULL), GUFO_E_IO,
              "validate");
    check_u64(validate_fd(-1, NULL, findings_add, &found, NULL), GUFO_E_IO, "validate_fd");
    check_u64(found.count, 0, "findings");
    check(gufo_open("/nonexistent/file.gguf", NULL, NULL) == NULL, "open");
    check(gufo_open_fd(-1, NULL, NULL) == NULL, "open_fd");
    check(gufo_open_memory("GGUF", 4, NULL, NULL) == NULL, "open_memory");
    check(gufo_open("/nonexistent/file.gguf", NULL, NULL) == NULL, "set_open");
    findings_free(&found);
}

/* A source need not have anything to close, whatever becomes of it. */
static gufo_status no_bytes(void *context, uint64_t offset, void *buffer, size_t size,
                            gufo_error *error)
{
    (void)context, (void)offset, (void)error;
    memset(buffer, 0, size);
    return GUFO_OK;
}

static void *no_memory(void *context, void *block, size_t size)
{
    (void)context, (void)block, (void)size;
    return NULL;
}

static void test_source_without_close(void **state)
{
    static const gufo_source source = {.size = 100, .read = no_bytes};
    static const gufo_allocator allocator = {no_memory, NULL};
    gufo_open_options options = {.allocator = &allocator};
    gufo_error error = no_error();

    (void)state;
    check(gufo_open_source(&source, &options, &error) == NULL, "no memory");
    check_u64(error.code, GUFO_E_MEMORY, "no memory");
    check(gufo_open_source(&source, NULL, &error) == NULL, "zeros");
    check_u64(error.code, GUFO_E_NOT_GGUF, "zeros");
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_document *new_document(void)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    check(d != NULL, "%s", error.message);
    return d;
}

static void test_no_such_type(void **state)
{
    gufo_document *d = new_document();
    gufo_value value = {.type = (gufo_value_type)GUFO_VALUE_TYPE_COUNT, .as = {.u = 1}};
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_document_set(d, gufo_str_of("key"), &value, &error), GUFO_E_ARGUMENT, &error,
                 "value");
    check_error_shape(&error, GUFO_E_ARGUMENT, "value");
    gufo_document_free(d);
}

/* Elements are not looked at before there is room for them. */
static void test_endless_items(void **state)
{
    static const uint64_t numbers[1] = {1};
    static const uint64_t counts[] = {UINT64_MAX, UINT64_C(1) << 61, (UINT64_C(1) << 61) - 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        gufo_document *d = new_document();
        gufo_items items = {GUFO_VALUE_UINT64, counts[i], numbers};
        gufo_error error = no_error();
        gufo_layout layout;

        check_status(gufo_document_set_array(d, "numbers", &items, &error), GUFO_E_MEMORY, &error,
                     "%" PRIu64, counts[i]);
        check_ok(gufo_document_layout(d, NULL, &layout, &error), &error,
                 "what failed left nothing behind");
        check_u64(layout.metadata_size, 24, "what failed left nothing behind");
        gufo_document_free(d);
    }
}

/* The reader of a stream goes away between data and padding. */
static void test_stream_padding_fails(void **state)
{
    const uint64_t dims[1] = {4};
    sink out = {.document = new_document()};
    gufo_error error = no_error();
    int ends[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    check(pipe(ends) == 0, "pipe");
    check_ok(gufo_document_add_tensor(out.document, gufo_str_of("a"),
                                      gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims, &error),
             &error, "a");
    check_ok(gufo_document_add_tensor(out.document, gufo_str_of("b"),
                                      gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims, &error),
             &error, "b");
    check_ok(sink_open_fd(&out, ends[1], &error), &error, "open");
    check_ok(sink_write(&out, 0, 0, "data", 4, &error), &error, "a");
    close(ends[0]);
    check_status(sink_write(&out, 1, 0, "data", 4, &error), GUFO_E_IO, &error, "b");
    check_u64((unsigned)error.system, EPIPE, "b");
    sink_free(&out);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
}

/* A target that cannot even be looked at. */
static void test_target_behind_a_file(void **state)
{
    folder f = folder_new();
    path_text file = folder_path(&f, "file"), target = path_join(file.text, "out.gguf");
    sink out = {.document = new_document()};
    gufo_error error = no_error();

    (void)state;
    write_file(file.text, "text", 4);
    check_status(sink_open(&out, target.text, true, &error), GUFO_E_IO, &error, "target");
    check_u64((unsigned)error.system, ENOTDIR, "target");
    sink_free(&out);
    check_file(file.text, "text", 4, "target");
    check_u64(entry_count(f.path), 1, "nothing is left");
    folder_remove(&f);
}

static void test_output_sizes(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out");
    gufo_error error = no_error();
    output o;

    (void)state;
    check_status(output_open(&o, path.text, false, UINT64_MAX, NULL, &default_allocator, &error),
                 GUFO_E_IO, &error, "endless");
    check_u64((unsigned)error.system, EFBIG, "endless");
    check_u64(entry_count(f.path), 0, "endless");
    check_ok(output_open(&o, path.text, false, 0, NULL, &default_allocator, &error), &error,
             "empty");
    check_ok(output_commit(&o, &error), &error, "empty");
    check_file(path.text, "", 0, "empty");
    folder_remove(&f);
}

/* ---- sets ----------------------------------------------------------------------------------- */

static void write_shard(const folder *f, uint16_t number, const char *first, const char *second)
{
    char name[64];
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {32};

    snprintf(name, sizeof name, "m-0000%d-of-00002.gguf", number + 1);
    builder_header(&b, 2, 3);
    builder_kv_u16(&b, "split.no", number);
    builder_kv_u16(&b, "split.count", 2);
    builder_kv_i32(&b, "split.tensors.count", 4);
    builder_tensor(&b, first, GUFO_TYPE_I8, 1, dims, 0);
    builder_tensor(&b, second, GUFO_TYPE_I8, 1, dims, 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 64);
    write_file(folder_path(f, name).text, b.data, b.len);
    builder_free(&b);
}

/* A name twice within one shard is that file's fault, which a lenient open reports and accepts;
 * twice in two shards it is the set's, which no open accepts. */
static void test_lenient_set(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "m-00001-of-00002.gguf");
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    gufo_tensor tensor;
    gufo_model *set;

    (void)state;
    write_shard(&f, 0, "a", "a");
    write_shard(&f, 1, "b", "c");
    check(gufo_open(path.text, NULL, &error) == NULL, "strict");
    check(error.rule != NULL && strcmp(error.rule->name, "name-duplicate") == 0, "strict");
    set = gufo_open(path.text, &lenient, &error);
    check(set != NULL, "%s", error.message);
    check_u64(gufo_tensor_count(set), 4, "lenient");
    check(gufo_tensor_find(set, "c", &tensor), "c");
    check_u64(tensor.shard, 1, "c");
    gufo_close(set);
    write_shard(&f, 1, "b", "a");
    check(gufo_open(path.text, &lenient, &error) == NULL, "two shards");
    check_u64(error.code, GUFO_E_SHARDS, "two shards");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_architecture_is_no_name),
        cmocka_unit_test(test_architecture_of_imatrix),
        cmocka_unit_test(test_split_total),
        cmocka_unit_test(test_ends_before_data),
        cmocka_unit_test(test_empty_tensor_elsewhere),
        cmocka_unit_test(test_no_error_wanted),
        cmocka_unit_test(test_source_without_close),
        cmocka_unit_test(test_no_such_type),
        cmocka_unit_test(test_endless_items),
        cmocka_unit_test(test_stream_padding_fails),
        cmocka_unit_test(test_target_behind_a_file),
        cmocka_unit_test(test_output_sizes),
        cmocka_unit_test(test_lenient_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
