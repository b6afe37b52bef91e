/* Good tensors: names, dims, sizes, places and data in every encoding. */
#include "../support/good.h"
#include "../support/openers.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct tensor_fact {
    const char *name;
    uint32_t type, n_dims;
    uint64_t dims[4];
    uint64_t elements, offset, size; /* offset from the data offset */
    int seed;                        /* of the pattern that is its data; -1: no data */
} tensor_fact;

static void check_tensor(const gufo_model *file, uint64_t index, const tensor_fact *fact,
                         const char *label)
{
    gufo_tensor tensor, found;
    gufo_error error = no_error();
    const uint8_t *data;

    check(gufo_model_tensor_at(file, index, &tensor), "%s, %s", label, fact->name);
    check_str(tensor.name, fact->name, "%s", label);
    check_u64(tensor.type, fact->type, "%s, %s", label, fact->name);
    check_u64(tensor.n_dims, fact->n_dims, "%s, %s", label, fact->name);
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        check_u64(tensor.dims[i], i < fact->n_dims ? fact->dims[i] : 1, "%s, %s", label,
                  fact->name);
    check_u64(tensor.elements, fact->elements, "%s, %s", label, fact->name);
    check_u64(tensor.offset, gufo_model_facts(file).data_offset + fact->offset, "%s, %s", label,
              fact->name);
    check_u64(tensor.size, fact->size, "%s, %s", label, fact->name);
    check_u64(tensor.available, fact->size, "%s, %s", label, fact->name);
    check(gufo_model_tensor_find(file, fact->name, &found) &&
              found.info_offset == tensor.info_offset,
          "%s, %s", label, fact->name);
    data = gufo_tensor_raw(file, &tensor);
    check(data != NULL || tensor.size == 0, "%s, %s", label, fact->name);
    for (uint64_t i = 0; i < tensor.size && fact->seed >= 0; i++) {
        uint8_t byte = 0;

        check_u64(data[i], pattern_byte((unsigned)fact->seed, (size_t)i), "%s, %s", label,
                  fact->name);
        check_ok(gufo_tensor_read_raw(file, &tensor, i, &byte, 1, &error), &error, "%s", label);
        check_u64(byte, data[i], "%s, %s", label, fact->name);
    }
}

static void check_tensors(const char *name, const tensor_fact *tensors, size_t count,
                          uint64_t data_size)
{
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = good_build_named(name, all_encodings[e]);
        const char *label = encoding_name(all_encodings[e]);
        gufo_model *file = open_built(&b, label);

        check_u64(gufo_model_tensor_count(file), count, "%s", label);
        check_u64(gufo_model_facts(file).claimed_tensors, count, "%s", label);
        check_u64(gufo_model_facts(file).data_size, data_size, "%s", label);
        check_u64(gufo_model_facts(file).data_offset % gufo_model_facts(file).alignment, 0, "%s",
                  label);
        check(gufo_model_facts(file).data_offset - gufo_model_facts(file).infos_end <
                  gufo_model_facts(file).alignment,
              "%s: data offset", label);
        for (size_t i = 0; i < count; i++)
            check_tensor(file, i, &tensors[i], label);
        gufo_model_free(file);
        builder_free(&b);
    }
}

static void test_dims(void **state)
{
    static const tensor_fact tensors[] = {
        {"scalar", GUFO_TYPE_F32, 0, {0}, 1, 0, 4, 0},
        {"vector", GUFO_TYPE_F16, 1, {5}, 5, 32, 10, 1},
        {"matrix", GUFO_TYPE_Q4_0, 2, {64, 3}, 192, 64, 108, 2},
        {"cube", GUFO_TYPE_I8, 3, {3, 5, 7}, 105, 192, 105, 3},
        {"four", GUFO_TYPE_I16, 4, {2, 3, 4, 5}, 120, 320, 240, 4},
    };

    (void)state;
    check_tensors("dims", tensors, COUNT_OF(tensors), 560);
}

static void test_zero_dims(void **state)
{
    static const tensor_fact tensors[] = {
        {"none", GUFO_TYPE_F32, 1, {0}, 0, 0, 0, -1},
        {"none.rows", GUFO_TYPE_Q8_0, 2, {32, 0}, 0, 0, 0, -1},
        {"some", GUFO_TYPE_F32, 2, {2, 2}, 4, 0, 16, 1},
        {"none.row", GUFO_TYPE_F64, 2, {0, 1000}, 0, 32, 0, -1},
        {"more", GUFO_TYPE_F32, 1, {8}, 8, 32, 32, 2},
        {"none.last", GUFO_TYPE_F32, 4, {1, 0, 0, 1}, 0, 64, 0, -1},
    };

    (void)state;
    check_tensors("zero dims", tensors, COUNT_OF(tensors), 64);
}

static void test_names(void **state)
{
    static const tensor_fact tensors[] = {
        {"a", GUFO_TYPE_F32, 1, {8}, 8, 0, 32, 0},
        {GOOD_LONG_NAME, GUFO_TYPE_F32, 1, {8}, 8, 32, 32, 1},
        {"gr\xc3\xbc\xc3\x9f", GUFO_TYPE_F32, 1, {8}, 8, 64, 32, 2},
        {"\xff\xfe", GUFO_TYPE_F32, 1, {8}, 8, 96, 32, 3},
        {"", GUFO_TYPE_F32, 1, {8}, 8, 128, 32, 4},
        {"with space \x1b[31m", GUFO_TYPE_F32, 1, {8}, 8, 160, 32, 5},
        {"general.architecture", GUFO_TYPE_F32, 1, {8}, 8, 192, 32, 6},
    };

    (void)state;
    assert_int_equal(strlen(GOOD_LONG_NAME), 64);
    check_tensors("names", tensors, COUNT_OF(tensors), 224);
}

static void test_scattered(void **state)
{
    static const tensor_fact tensors[] = {
        {"third", GUFO_TYPE_F32, 1, {4}, 4, 128, 16, 1},
        {"first", GUFO_TYPE_F32, 1, {4}, 4, 0, 16, 2},
        {"second", GUFO_TYPE_F32, 1, {4}, 4, 32, 16, 3},
    };

    (void)state;
    check_tensors("scattered", tensors, COUNT_OF(tensors), 144);
}

static void test_unpadded_tail(void **state)
{
    static const tensor_fact tensors[] = {
        {"a", GUFO_TYPE_F32, 1, {3}, 3, 0, 12, 1},
        {"b", GUFO_TYPE_I8, 1, {5}, 5, 32, 5, 2},
    };

    (void)state;
    check_tensors("unpadded tail", tensors, COUNT_OF(tensors), 37);
}

static void test_alignments(void **state)
{
    static const uint32_t alignments[] = {1, 2, 4, 8, 16, 24, 32, 40, 64, 4096};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(alignments); i++) {
        uint64_t a = alignments[i], step = (12 + a - 1) / a * a;
        const tensor_fact tensors[] = {
            {"a", GUFO_TYPE_F32, 1, {3}, 3, 0, 12, 0},
            {"b", GUFO_TYPE_F32, 1, {3}, 3, step, 12, 1},
            {"c", GUFO_TYPE_F32, 1, {3}, 3, 2 * step, 12, 2},
        };
        char name[32];

        snprintf(name, sizeof name, "alignment %" PRIu32, alignments[i]);
        check_tensors(name, tensors, COUNT_OF(tensors), 2 * step + 12);
    }
}

static void test_unknown_types(void **state)
{
    static const tensor_fact tensors[] = {
        {"known", GUFO_TYPE_F32, 1, {8}, 8, 0, 32, 99},
        {"type.57", 57, 2, {7, 3}, 21, 32, 64, 0},
        {"type.4", 4, 2, {7, 3}, 21, 96, 64, 1},
        {"type.5", 5, 2, {7, 3}, 21, 160, 64, 2},
        {"type.37", 37, 2, {7, 3}, 21, 224, 64, 3},
        {"type.38", 38, 2, {7, 3}, 21, 288, 64, 4},
        {"type.4294967295", UINT32_MAX, 2, {7, 3}, 21, 352, 64, 5},
        {"type.43", 43, 2, {7, 3}, 21, 416, 96, -1},
    };
    builder b = good_build_named("unknown types", all_encodings[0]);
    gufo_model *file = open_built(&b, "unknown types");
    gufo_tensor tensor;

    (void)state;
    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++)
        check(tensor.size_known == (i == 0), "tensor %" PRIu64, i);
    gufo_model_free(file);
    builder_free(&b);
    check_tensors("unknown types", tensors, COUNT_OF(tensors), 512);
}

/* An unknown type reaches to the next higher offset wherever that tensor is in the list, and to the
 * end of the file if nothing follows it. */
static void test_unknown_out_of_order(void **state)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {4};
    gufo_model *file;
    gufo_tensor tensor;

    (void)state;
    builder_header(&b, 3, 0);
    builder_tensor(&b, "last", 99, 1, dims, 96);
    builder_tensor(&b, "known", GUFO_TYPE_F32, 1, dims, 64);
    builder_tensor(&b, "first", 98, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 96 + 7);
    file = open_built(&b, "unknown types");
    check(gufo_model_tensor_find(file, "first", &tensor) && !tensor.size_known, "first");
    check_u64(tensor.size, 64, "first");
    check(gufo_model_tensor_find(file, "last", &tensor) && !tensor.size_known, "last");
    check_u64(tensor.size, 7, "last");
    check(gufo_model_tensor_find(file, "known", &tensor) && tensor.size_known, "known");
    check_u64(tensor.size, 16, "known");
    gufo_model_free(file);
    builder_free(&b);
}

/* Two blocks of each type that has a layout, 31 to 33 and 36 among them. */
static void test_all_types(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = good_build_named("all types", all_encodings[e]);
        const char *label = encoding_name(all_encodings[e]);
        gufo_model *file = open_built(&b, label);
        gufo_tensor tensor;
        uint64_t count = 0;

        for (; gufo_model_tensor_at(file, count, &tensor); count++) {
            const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

            check(tensor.size_known, "%s, %s", label, type->name);
            check_u64(tensor.size, 2 * (uint64_t)type->block_bytes, "%s, %s", label, type->name);
            check_u64(tensor.elements, 2 * (uint64_t)type->block_elements, "%s", type->name);
        }
        check_u64(count, 43 - 4, "%s", label);
        gufo_model_free(file);
        builder_free(&b);
    }
}

/* The data of a file of 4 GiB, nearly all of it a hole: nothing needs memory or time for that. */
static void check_alignment(uint32_t alignment)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "aligned.gguf");
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {2};
    gufo_error error = no_error();
    gufo_model *file;
    gufo_tensor tensor;
    float data[2];
    int fd;

    builder_header(&b, 1, 1);
    builder_kv_u32(&b, "general.alignment", alignment);
    builder_tensor(&b, "a", GUFO_TYPE_F32, 1, dims, 0);
    write_file(path.text, b.data, b.len);
    fd = open(path.text, O_RDWR);
    check(pwrite(fd, "\1\2\3\4\5\6\7\10", 8, alignment) == 8, "test file");
    close(fd);
    file = gufo_model_open(path.text, NULL, &error);
    check(file != NULL, "%s", error.message);
    check_u64(gufo_model_facts(file).data_offset, alignment, "data offset");
    check(gufo_model_tensor_at(file, 0, &tensor), "tensor");
    check_u64(tensor.offset, alignment, "offset");
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, data, 8, &error), &error, "data");
    assert_memory_equal(data, "\1\2\3\4\5\6\7\10", 8);
    gufo_model_free(file);
    folder_remove(&f);
    builder_free(&b);
}

static void test_large_alignments(void **state)
{
    (void)state;
    check_alignment(GUFO_MAX_ALIGNMENT);
    check_alignment(1u << 31);
    check_alignment(UINT32_MAX - 7);
}

/* More than 4 GiB: offsets and sizes beyond 32 bits, in a file that is one hole. */
static void test_beyond_32_bits(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "large.gguf");
    builder b = builder_new((encoding){3, false});
    const uint64_t first[2] = {1 << 20, 1200}, second[1] = {8};
    const uint64_t size = UINT64_C(1200) << 22;
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP};
    gufo_error error = no_error();
    gufo_model *file;
    gufo_tensor tensor;
    uint8_t data[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    int fd;

    (void)state;
    builder_header(&b, 2, 0);
    builder_tensor(&b, "first", GUFO_TYPE_F32, 2, first, 0);
    builder_tensor(&b, "second", GUFO_TYPE_I8, 1, second, size);
    builder_pad(&b, 32);
    write_file(path.text, b.data, b.len);
    fd = open(path.text, O_RDWR);
    if (pwrite(fd, "\1\2\3\4\5\6\7\10", 8, (off_t)(b.len + size)) != 8) {
        close(fd);
        folder_remove(&f);
        builder_free(&b);
        print_message("skipped: no sparse file of 5 GB here\n");
        skip();
    }
    close(fd);
    file = gufo_model_open(path.text, &options, &error);
    check(file != NULL, "%s", error.message);
    check(gufo_model_tensor_find(file, "second", &tensor), "second");
    check_u64(tensor.offset, b.len + size, "second");
    check_ok(gufo_tensor_read_raw(file, &tensor, 0, data, 8, &error), &error, "second");
    assert_memory_equal(data, "\1\2\3\4\5\6\7\10", 8);
    check(gufo_model_tensor_find(file, "first", &tensor), "first");
    check_u64(tensor.size, size, "first");
    check_ok(gufo_tensor_read_raw(file, &tensor, size - 8, data, 8, &error), &error, "first");
    assert_memory_equal(data, "\0\0\0\0\0\0\0\0", 8);
    gufo_model_free(file);
    folder_remove(&f);
    builder_free(&b);
}

static void test_read_ranges(void **state)
{
    static const struct {
        uint64_t offset;
        size_t size;
        bool inside;
    } rows[] = {
        {0, 0, true},           {0, 12, true},
        {12, 0, true},          {11, 1, true},
        {0, 13, false},         {12, 1, false},
        {13, 0, false},         {5, 8, false},
        {UINT64_MAX, 1, false}, {UINT64_MAX - 3, 8, false},
        {1, SIZE_MAX, false},
    };

    (void)state;
    for (int w = 0; w < WAY_COUNT; w++) {
        builder b = good_build_named("unpadded tail", (encoding){3, false});
        opened o;
        gufo_error error = no_error();
        gufo_tensor tensor;
        uint8_t data[16];

        open_way(&o, (way)w, b.data, b.len, NULL);
        check(o.file != NULL, "%s: %s", way_name((way)w), o.error.message);
        check(gufo_model_tensor_at(o.file, 0, &tensor), "%s", way_name((way)w));
        check_u64(tensor.size, 12, "%s", way_name((way)w));
        for (size_t i = 0; i < COUNT_OF(rows) && way_has_data((way)w); i++)
            check_status(
                gufo_tensor_read_raw(o.file, &tensor, rows[i].offset, data, rows[i].size, &error),
                rows[i].inside ? GUFO_OK : GUFO_E_RANGE, &error, "%s, row %zu", way_name((way)w),
                i);
        if (!way_has_data((way)w))
            check_status(gufo_tensor_read_raw(o.file, &tensor, 0, data, 1, &error), GUFO_E_ARGUMENT,
                         &error, "%s", way_name((way)w));
        close_way(&o);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dims),           cmocka_unit_test(test_zero_dims),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_unpadded_tail),  cmocka_unit_test(test_alignments),
        cmocka_unit_test(test_unknown_types),  cmocka_unit_test(test_unknown_out_of_order),
        cmocka_unit_test(test_all_types),      cmocka_unit_test(test_large_alignments),
        cmocka_unit_test(test_beyond_32_bits), cmocka_unit_test(test_read_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
