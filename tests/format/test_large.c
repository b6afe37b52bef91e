/* Files beyond 4 and 8 GiB, where 32-bit numbers end.  They are sparse: only a few bytes exist.
 *
 *     infos | low: 4.3 GiB | after_4: 8 numbers | high: 4.2 GiB | after_8: 8 numbers |
 *
 * Machines with 32-bit addresses cannot map such files and read them instead. */
#include "../support/findings.h"
#include "../support/folder.h"
#include "../support/sink.h"

#include <fcntl.h>
#include <unistd.h>

#define MIB(n) (UINT64_C(n) << 20)
#define GIB(n) (UINT64_C(n) << 30)

/* In order of their data, as listed; sizes are multiples of the alignment. */
typedef struct large_tensor {
    const char *name;
    uint32_t type, n_dims;
    uint64_t dims[2];
    uint64_t offset, size;
} large_tensor;

static const large_tensor tensors[] = {
    {"low", GUFO_TYPE_F32, 2, {1 << 20, 1100}, 0, MIB(4400)},
    {"after_4", GUFO_TYPE_F32, 1, {8}, MIB(4400), 32},
    {"high", GUFO_TYPE_I8, 2, {1 << 20, 4300}, MIB(4400) + 32, MIB(4300)},
    {"after_8", GUFO_TYPE_F32, 1, {8}, MIB(8700) + 32, 32},
};

#define DATA_SIZE (MIB(8700) + 64)

/* Places in the file where bytes are; all others read as zeros. */
static const uint64_t marks[] = {GIB(2) - 4, GIB(4) - 4, MIB(4400) + 1024, GIB(8) - 4};

typedef struct large_file {
    folder folder;
    path_text path;
    uint64_t data_offset, size;
} large_file;

/* False if the file system has no room for such a file, or no idea of it. */
static bool put_at(int fd, uint64_t offset, unsigned seed, size_t len)
{
    uint8_t bytes[64];

    for (size_t i = 0; i < len; i++)
        bytes[i] = pattern_byte(seed, i);
    return pwrite(fd, bytes, len, (off_t)offset) == (ssize_t)len;
}

static bool write_large(const char *path, const builder *head, uint64_t data_offset)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool good = fd >= 0 && write(fd, head->data, head->len) == (ssize_t)head->len;

    for (size_t i = 0; good && i < COUNT_OF(marks); i++)
        good = put_at(fd, marks[i], (unsigned)i, 8);
    good = good && put_at(fd, data_offset + tensors[1].offset, 11, 32) &&
           put_at(fd, data_offset + tensors[3].offset, 13, 32);
    if (fd >= 0)
        close(fd);
    return good;
}

/* The part before the data.  `shard`: its number in a set of two, or -1. */
static builder build_head(encoding e, int shard)
{
    builder b = builder_new(e);
    char name[32];

    builder_header(&b, COUNT_OF(tensors), shard < 0 ? 1 : 4);
    builder_kv_str(&b, "general.architecture", "llama");
    if (shard >= 0) {
        builder_kv_u16(&b, "split.no", (uint16_t)shard);
        builder_kv_u16(&b, "split.count", 2);
        builder_kv_i32(&b, "split.tensors.count", 2 * COUNT_OF(tensors));
    }
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        snprintf(name, sizeof name, "%s%s", shard > 0 ? "more_" : "", tensors[i].name);
        builder_tensor(&b, name, tensors[i].type, tensors[i].n_dims, tensors[i].dims,
                       tensors[i].offset);
    }
    builder_pad(&b, 32);
    return b;
}

__attribute__((noreturn)) static void skip_large(folder *f)
{
    folder_remove(f);
    print_message("skipped: no sparse file of 9 GB can be made here\n");
    skip();
    abort();
}

/* Makes the file `name` in the folder, or skips the test. */
static large_file large_new(const folder *f, const char *name, encoding e, int shard)
{
    builder head = build_head(e, shard);
    large_file file = {*f, folder_path(f, name), head.len, head.len + DATA_SIZE};
    bool good = write_large(file.path.text, &head, head.len);

    builder_free(&head);
    if (!good)
        skip_large(&file.folder);
    return file;
}

static void check_pattern(const void *data, unsigned seed, size_t len, const char *label)
{
    for (size_t i = 0; i < len; i++)
        check_u64(((const uint8_t *)data)[i], pattern_byte(seed, i), "%s, byte %zu", label, i);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void check_infos(const gufo_model *file, const large_file *large, const char *label)
{
    gufo_tensor tensor;

    check_u64(gufo_model_facts(file).size, large->size, "%s", label);
    check_u64(gufo_model_facts(file).data_offset, large->data_offset, "%s", label);
    check_u64(gufo_model_facts(file).data_size, DATA_SIZE, "%s", label);
    check_u64(gufo_model_tensor_count(file), COUNT_OF(tensors), "%s", label);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        check(gufo_model_tensor_at(file, i, &tensor), "%s, %zu", label, i);
        check_str(tensor.name, tensors[i].name, "%s", label);
        check_u64(tensor.offset, large->data_offset + tensors[i].offset, "%s, %zu", label, i);
        check_u64(tensor.size, tensors[i].size, "%s, %zu", label, i);
        check_u64(tensor.available, tensors[i].size, "%s, %zu", label, i);
    }
}

/* Marks by their place in the file, and by that in the tensor that they lie in. */
static void check_marks(const gufo_model *file, const char *label)
{
    uint8_t bytes[8];
    gufo_tensor tensor;
    gufo_error error = no_error();

    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        check(gufo_model_tensor_find(file, marks[i] < MIB(4400) ? "low" : "high", &tensor), "%s",
              label);
        check_ok(gufo_model_read_raw(file, marks[i], bytes, sizeof bytes, &error), &error,
                 "%s, mark %zu", label, i);
        check_pattern(bytes, (unsigned)i, sizeof bytes, label);
        memset(bytes, 0, sizeof bytes);
        check_ok(gufo_tensor_read_raw(file, &tensor, marks[i] - tensor.offset, bytes, sizeof bytes,
                                      &error),
                 &error, "%s, mark %zu", label, i);
        check_pattern(bytes, (unsigned)i, sizeof bytes, label);
    }
}

static void check_small(const gufo_model *file, const char *name, unsigned seed, bool mapped,
                        const char *label)
{
    uint8_t bytes[32];
    gufo_tensor tensor;
    gufo_error error = no_error();
    const void *data;

    check(gufo_model_tensor_find(file, name, &tensor), "%s, %s", label, name);
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, bytes, sizeof bytes, &error), &error, "%s",
             label);
    check_pattern(bytes, seed, sizeof bytes, label);
    check_status(gufo_tensor_read_raw(file, &tensor, 1, bytes, sizeof bytes, &error), GUFO_E_RANGE,
                 &error, "%s", label);
    data = gufo_tensor_raw(file, &tensor);
    check((data != NULL) == mapped, "%s, %s", label, name);
    if (data != NULL)
        check_pattern(data, seed, sizeof bytes, label);
}

static void check_large(const gufo_model *file, const large_file *large, bool mapped,
                        const char *label)
{
    check_infos(file, large, label);
    check_marks(file, label);
    check_small(file, "after_4", 11, mapped, label);
    check_small(file, "after_8", 13, mapped, label);
}

static void test_open(void **state)
{
    static const uint32_t flags[] = {0, GUFO_OPEN_NO_MAP, GUFO_OPEN_LENIENT};

    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        folder f = folder_new();
        large_file large = large_new(&f, "large.gguf", all_encodings[e], -1);

        for (size_t i = 0; i < COUNT_OF(flags); i++) {
            gufo_open_options options = {.flags = flags[i]};
            gufo_error error = no_error();
            gufo_model *file = gufo_model_open(large.path.text, &options, &error);

            check(file != NULL, "%s: %s", encoding_name(all_encodings[e]), error.message);
            check_large(file, &large, flags[i] != GUFO_OPEN_NO_MAP && SIZE_MAX > UINT32_MAX,
                        encoding_name(all_encodings[e]));
            gufo_model_free(file);
        }
        folder_remove(&f);
    }
}

static gufo_status read_descriptor(void *context, uint64_t offset, void *buffer, size_t size,
                                   gufo_error *error)
{
    const int *fd = context;

    (void)error;
    return pread(*fd, buffer, size, (off_t)offset) == (ssize_t)size ? GUFO_OK : GUFO_E_IO;
}

static void test_source(void **state)
{
    folder f = folder_new();
    large_file large = large_new(&f, "large.gguf", (encoding){3, false}, -1);
    int fd = open(large.path.text, O_RDONLY);
    gufo_source source = {.context = &fd, .size = large.size, .read = read_descriptor};
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_source(&source, NULL, &error);

    (void)state;
    check(file != NULL, "%s", error.message);
    check_large(file, &large, false, "source");
    gufo_model_free(file);
    close(fd);
    folder_remove(&f);
}

/* ---- faults beyond 4 GiB -------------------------------------------------------------------- */

static void check_findings(const large_file *large, const char *rule, uint64_t offset)
{
    findings found;
    gufo_error error = no_error();
    const kept_finding *first;

    findings_init(&found);
    check_ok(validate_file(large->path.text, NULL, findings_add, &found, &error), &error, "%s",
             rule);
    check_u64(findings_of(&found, rule), 1, "%s", rule);
    /* All but a few bytes of the file is a hole. */
    check_u64(found.count - findings_of(&found, "data-zero"), 1, "%s", rule);
    first = findings_get(&found, rule, 0);
    check(first != NULL, "%s", rule);
    check_u64(first->offset, offset, "%s", rule);
    findings_free(&found);
}

static void check_cut(const large_file *large, uint64_t size, uint64_t available[4])
{
    gufo_open_options options = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    gufo_model *file;
    gufo_tensor tensor;

    check(truncate(large->path.text, (off_t)size) == 0, "%" PRIu64, size);
    check(gufo_model_open(large->path.text, NULL, &error) == NULL, "%" PRIu64, size);
    check_u64(error.code, GUFO_E_TRUNCATED, "%s", error.message);
    check_u64(error.offset, size, "%s", error.message);
    check_findings(large, "data-truncated", size);
    file = gufo_model_open(large->path.text, &options, &error);
    check(file != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        check(gufo_model_tensor_at(file, i, &tensor), "%zu", i);
        check_u64(tensor.size, tensors[i].size, "%zu", i);
        check_u64(tensor.available, available[i], "%zu", i);
    }
    gufo_model_free(file);
}

static void test_truncated(void **state)
{
    folder f = folder_new();
    large_file large = large_new(&f, "large.gguf", (encoding){3, false}, -1);
    uint64_t at = large.data_offset;

    (void)state;
    check(truncate(large.path.text, (off_t)large.size + 5) == 0, "longer");
    check_findings(&large, "trailing-bytes", large.size);
    check_cut(&large, large.size - 1, (uint64_t[]){MIB(4400), 32, MIB(4300), 31});
    check_cut(&large, GIB(8), (uint64_t[]){MIB(4400), 32, GIB(8) - at - MIB(4400) - 32, 0});
    check_cut(&large, GIB(4) + 1, (uint64_t[]){GIB(4) + 1 - at, 0, 0, 0});
    check_cut(&large, GIB(4), (uint64_t[]){GIB(4) - at, 0, 0, 0});
    folder_remove(&f);
}

/* A tensor of unknown type reaches to the next one, however far that is. */
static void test_unknown_type(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "large.gguf");
    builder head = builder_new((encoding){3, false});
    const uint64_t dims[1] = {32};
    gufo_error error = no_error();
    gufo_model *file;
    gufo_tensor tensor;
    bool written;

    (void)state;
    builder_header(&head, 2, 0);
    builder_tensor(&head, "unknown", 1000, 1, dims, 0);
    builder_tensor(&head, "last", GUFO_TYPE_I8, 1, dims, tensors[3].offset);
    builder_pad(&head, 32);
    written = write_large(path.text, &head, head.len);
    builder_free(&head);
    if (!written)
        skip_large(&f);
    file = gufo_model_open(path.text, NULL, &error);
    check(file != NULL, "%s", error.message);
    check(gufo_model_tensor_find(file, "unknown", &tensor) && !tensor.size_known, "unknown");
    check_u64(tensor.size, tensors[3].offset, "unknown");
    check_small(file, "last", 13, SIZE_MAX > UINT32_MAX, "unknown");
    gufo_model_free(file);
    folder_remove(&f);
}

/* ---- sets and plans ------------------------------------------------------------------------- */

static void test_set(void **state)
{
    folder f = folder_new();
    large_file first = large_new(&f, "m-00001-of-00002.gguf", (encoding){3, false}, 0);
    large_file second = large_new(&f, "m-00002-of-00002.gguf", (encoding){3, false}, 1);
    gufo_error error = no_error();
    gufo_model *set = gufo_model_open(first.path.text, NULL, &error);
    gufo_tensor tensor;
    uint64_t total = 0;

    (void)state;
    check(set != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(set), 2 * COUNT_OF(tensors), "set");
    for (uint64_t i = 0; gufo_model_tensor_at(set, i, &tensor); i++)
        total += tensor.size;
    check_u64(total, 2 * DATA_SIZE, "set");
    check(gufo_model_tensor_find(set, "more_after_8", &tensor), "set");
    check_u64(tensor.shard, 1, "set");
    check_u64(tensor.offset, second.data_offset + tensors[3].offset, "set");
    gufo_model_free(set);
    folder_remove(&f);
}

static gufo_document *plan_large(void)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    check(d != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        check_ok(gufo_document_add_tensor(d, tensors[i].name,
                                          gufo_element_type_by_id(tensors[i].type),
                                          tensors[i].n_dims, tensors[i].dims, &error),
                 &error, "%s", tensors[i].name);
    return d;
}

static void test_plan(void **state)
{
    gufo_document *d = plan_large();
    gufo_layout layout;
    gufo_error error = no_error();
    uint64_t offset, size;
    size_t header;

    (void)state;
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "plan");
    check_u64(layout.file_size, layout.data_offset + DATA_SIZE, "plan");
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        check(tensor_place(d, i, &offset, &size), "%zu", i);
        check_u64(offset, layout.data_offset + tensors[i].offset, "%zu", i);
        check_u64(size, tensors[i].size, "%zu", i);
    }
    check(document_header(d, &header) != NULL, "plan");
    check_u64(header, layout.data_offset, "plan");
    gufo_document_free(d);
}

/* What was planned is what is read: the header of a plan before data of that size. */
static void test_plan_opens(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "planned.gguf");
    gufo_document *d = plan_large();
    gufo_layout layout;
    gufo_error error = no_error();
    builder head = builder_new((encoding){3, false});
    large_file large = {.folder = f, .path = path};
    const void *bytes;
    gufo_model *file;
    size_t size;
    bool written;

    (void)state;
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "plan");
    bytes = document_header(d, &size);
    check(bytes != NULL, "plan");
    builder_raw(&head, bytes, size);
    large.data_offset = layout.data_offset;
    large.size = layout.file_size;
    written = write_large(path.text, &head, head.len);
    builder_free(&head);
    gufo_document_free(d);
    if (!written)
        skip_large(&f);
    file = gufo_model_open(path.text, NULL, &error);
    check(file != NULL, "%s", error.message);
    check_large(file, &large, SIZE_MAX > UINT32_MAX, "planned");
    gufo_model_free(file);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_open),       cmocka_unit_test(test_source),
        cmocka_unit_test(test_truncated),  cmocka_unit_test(test_unknown_type),
        cmocka_unit_test(test_set),        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_opens),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
