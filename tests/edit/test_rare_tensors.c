/* Copies of tensors with long rows, rows without a group, enormous numbers, types without layout, and
 * names that other formats do not take. */
#include "workshop.h"

static gufo_model *open_set(const char *path)
{
    gufo_error error = no_error();
    gufo_model *set = gufo_model_open(path, NULL, &error);

    check(set != NULL, "%s: %s", path, error.message);
    return set;
}

/* A model of one tensor that has random or no bytes; false where no file can have so many. */
static bool write_tensor(const char *path, bool big, uint32_t type, uint64_t columns, uint64_t rows,
                         uint64_t size, bool sparse)
{
    builder b = builder_new((encoding){3, big});
    const uint64_t dims[2] = {columns, rows};
    uint64_t data;

    builder_header(&b, 1, 0);
    builder_tensor(&b, "t", type, 2, dims, 0);
    builder_pad(&b, 32);
    data = b.len;
    if (!sparse)
        builder_pattern(&b, 1, (size_t)size);
    write_file(path, b.data, b.len);
    builder_free(&b);
    return !sparse || truncate(path, (off_t)(data + size)) == 0;
}

/* Decoding takes whole groups of rows: longer ones make larger units, too long ones are refused. */
static void test_long_rows(void **state)
{
    enum { LONG = 32 * 512, TOO_LONG = 512 * 1024 + 32, BLOCK = 8 * 18 };
    const gufo_element_type *type = gufo_element_type_by_id(GUFO_TYPE_Q4_0_8_8);
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.long"), out = folder_path(&b.f, "out.f32");
    gufo_error error = no_error();
    uint8_t *blocks, *made;
    gufo_tensor tensor;
    gufo_model *file;
    gufo_model *set;
    gufo_job *c;
    float *values = malloc(16 * (size_t)LONG * sizeof *values);
    size_t len;

    (void)state;
    (void)write_tensor(path.text, false, type->id, LONG, 16, 2 * LONG / 32 * BLOCK, false);
    set = open_set(path.text);
    c = gufo_job_extract(set, &(uint64_t){0}, 1,
                         &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                         &error);
    check_ok(run_job(c, out.text, false, NULL, &error), &error, "long");
    gufo_job_free(c);
    gufo_model_free(set);
    file = open_path(path.text);
    blocks = tensor_bytes(file, "t", &tensor);
    check_ok(gufo_decode(type, blocks, 16, LONG, values, &(gufo_run){.cpu = 0}, &error), &error,
             "decode");
    made = read_file(out.text, &len);
    check_u64(len, 16 * (size_t)LONG * sizeof *values, "size");
    for (size_t i = 0; i < 16 * (size_t)LONG; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        for (size_t byte = 0; byte < 4; byte++)
            check(made[4 * i + byte] == (uint8_t)(bits >> (8 * byte)), "number %zu", i);
    }
    gufo_model_free(file);
    free(blocks);
    free(made);
    free(values);
    (void)write_tensor(path.text, false, type->id, TOO_LONG, 8, TOO_LONG / 32 * BLOCK, true);
    set = open_set(path.text);
    check(gufo_job_extract(set, &(uint64_t){0}, 1,
                           &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                           &error) == NULL,
          "too long");
    check_u64(error.code, GUFO_E_LIMIT, "%s", error.message);
    gufo_model_free(set);
    workshop_end(&b);
}

/* Rows that do not fill their groups cannot be decoded, in no byte order. */
static void test_rows_without_group(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.rows"), out = folder_path(&b.f, "out.f32");

    (void)state;
    for (int big = 0; big < 2; big++) {
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;

        (void)write_tensor(path.text, big == 1, GUFO_TYPE_Q4_0_4_4, 32, 2, 36, false);
        set = open_set(path.text);
        c = gufo_job_extract(
            set, &(uint64_t){0}, 1,
            &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)}, &error);
        check(c == NULL || run_job(c, out.text, false, NULL, &error) != GUFO_OK, "big %d", big);
        check(error.code != GUFO_OK, "big %d", big);
        check_error_shape(&error, error.code, "rows");
        check(!file_exists(out.text), "nothing is left");
        gufo_job_free(c);
        gufo_model_free(set);
    }
    workshop_end(&b);
}

/* Numbers that are more than any file holds: in a file of an exbibyte, all hole. */
static void test_enormous(void **state)
{
    static const struct {
        unsigned bits; /* of the number of elements */
        const char *message;
    } rows[] = {{62, "the decoded tensor would be larger than any file can be"},
                {61, "the file would be larger than any file can be"}};
    const gufo_element_type *type = gufo_element_type_by_name("IQ1_S");
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.huge");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t blocks = (UINT64_C(1) << rows[i].bits) / type->block_elements;
        gufo_error error = no_error();
        gufo_model *set;

        if (!write_tensor(path.text, false, type->id, type->block_elements, blocks,

                          blocks * type->block_bytes, true)) {
            workshop_end(&b);

            skip();
        }
        set = gufo_model_open(path.text, NULL, &error);
        check(set != NULL, "%s", error.message);
        check(gufo_job_extract(
                  set, &(uint64_t){0}, 1,
                  &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                  &error) == NULL,
              "row %zu", i);
        check_u64(error.code, GUFO_E_RANGE, "%s", error.message);
        check_str(gufo_str_of(error.message), rows[i].message, "row %zu", i);
        gufo_model_free(set);
    }
    workshop_end(&b);
}

/* As many threads as their buffers leave room for; the bytes are the same. */
static void test_many_threads(void **state)
{
    enum { SIZE = 9 * 1024 * 1024 };
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.wide"), back = folder_path(&b.f, "out.back");
    static const gufo_byte_order orders[] = {GUFO_BIG_ENDIAN, GUFO_LITTLE_ENDIAN};
    const gufo_run options = {.threads = 1000};
    gufo_error error = no_error();
    gufo_model *set;
    gufo_job *c;

    (void)state;
    disk_without_help(true);
    (void)write_tensor(path.text, false, GUFO_TYPE_I8, SIZE, 1, SIZE, false);
    for (unsigned turn = 0; turn < 2; turn++) {
        set = open_set(turn == 0 ? path.text : b.out.text);
        c = plan_endian(set, &orders[turn], &error);
        check_ok(run_job(c, turn == 0 ? b.out.text : back.text, false, &options, &error), &error,
                 "turn %u", turn);
        gufo_job_free(c);
        gufo_model_free(set);
    }
    check(same_files(path.text, back.text), "there and back");
    disk_without_help(false);
    workshop_end(&b);
}

/* Those that had a number once, and lost it: their blocks are unknown. */
static void test_types_without_layout(void **state)
{
    static const uint32_t types[] = {4, 57}; /* Q4_2; none */
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.type");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_error error = no_error();
        gufo_model *set;

        (void)write_tensor(path.text, false, types[i], 32, 1, 32, false);
        set = gufo_model_open(path.text, NULL, &error);
        check(set != NULL, "%s", error.message);
        check(as_big(set, NULL, &error) == NULL, "type %" PRIu32, types[i]);
        check_u64(error.code, GUFO_E_TYPE, "%s", error.message);
        check(strstr(error.message, "whose layout is not known") != NULL, "%s", error.message);
        check(gufo_job_extract(
                  set, &(uint64_t){0}, 1,
                  &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                  &error) == NULL,
              "type %" PRIu32, types[i]);
        check_u64(error.code, GUFO_E_TYPE, "%s", error.message);
        gufo_model_free(set);
    }
    workshop_end(&b);
}

/* Whatever the order in which tensors are asked for, a safetensors file is the same. */
static void test_order(void **state)
{
    static const uint64_t orders[][6] = {
        {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}};
    workshop b = workshop_new();
    path_text again = folder_path(&b.f, "out.again");

    (void)state;
    for (size_t from_set = 0; from_set < 2; from_set++) {
        for (size_t i = 0; i < COUNT_OF(orders); i++) {
            const gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS};
            gufo_model *set = open_set(from_set == 1 ? b.first.text : b.in.text);
            gufo_error error = no_error();
            gufo_job *c = gufo_job_extract(set, orders[i], 6, &options, &error);

            check(c != NULL, "%s", error.message);
            check_ok(run_job(c, i == 0 ? b.out.text : again.text, true, NULL, &error), &error,
                     "order %zu", i);
            gufo_job_free(c);
            gufo_model_free(set);
            check(i == 0 || same_files(b.out.text, again.text), "order %zu", i);
        }
    }
    workshop_end(&b);
}

/* Names that JSON cannot hold as they are. */
static void test_odd_names(void **state)
{
    static const struct {
        const char *name, *json; /* NULL: cannot be written */
    } rows[] = {
        {"a\"b\\c", "{\"a\\\"b\\\\c\":{"},
        {"tab\there", "{\"tab\\u0009here\":{"},
        {"del\x7f", "{\"del\\u007f\":{"},
        {"\xc3\xa4", "{\"\xc3\xa4\":{"},
        {"__metadata__", NULL},
    };
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.names");
    const uint64_t dims[1] = {32};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS};
        builder file = builder_new((encoding){3, false});
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;

        builder_header(&file, 1, 0);
        builder_tensor(&file, rows[i].name, GUFO_TYPE_I8, 1, dims, 0);
        builder_pad(&file, 32);
        builder_pattern(&file, 1, 32);
        write_file(path.text, file.data, file.len);
        set = open_set(path.text);
        c = gufo_job_extract(set, &(uint64_t){0}, 1, &options, &error);
        check((c == NULL) == (rows[i].json == NULL), "%s", error.message);
        if (c == NULL)
            check_u64(error.code, GUFO_E_ARGUMENT, "%s", error.message);
        else {
            uint8_t *bytes;
            size_t len;

            check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "row %zu", i);
            bytes = read_file(b.out.text, &len);
            check(len > 80 && memcmp(bytes + 8, rows[i].json, strlen(rows[i].json)) == 0, "%.60s",
                  (const char *)bytes + 8);
            check(memcmp(bytes + len - 32, file.data + file.len - 32, 32) == 0, "data");
            free(bytes);
        }
        gufo_job_free(c);
        gufo_model_free(set);
        builder_free(&file);
        restore(&b);
    }
    workshop_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_rows_without_group),
        cmocka_unit_test(test_enormous),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_types_without_layout),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_odd_names),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
