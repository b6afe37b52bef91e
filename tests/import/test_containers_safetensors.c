/* Files of safetensors: what is read, and how damaged ones are refused: with a sentence and a place,
 * and with little memory. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/safetensors_maker.h"
#include "place.h"

#include <inttypes.h>

#include "import/containers/checkpoint.h"

static folder place;
static path_text path;

static int make_folder(void **state)
{
    (void)folders_in_memory(state);
    place = folder_new();
    path = folder_path(&place, "model.safetensors");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

static checkpoint opened(void)
{
    gufo_error error;
    checkpoint c;

    if (checkpoint_open(&c, PLACE_AT(path.text), NULL, NULL, &error) != GUFO_OK)
        fail_msg("byte %" PRIu64 ": %s", error.offset, error.message);
    return c;
}

/* ---- good files ----------------------------------------------------------------------------- */

static void test_tensors(void **state)
{
    static const uint8_t bytes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const safetensor tensors[] = {
        {"b.weight", "BF16", 2, {2, 3}, bytes},
        {"a", "F32", 0, {0}, NULL},
        {"\\u00e9\\/\\ud83d\\ude00", "I8", 3, {3, 1, 2}, NULL},
        {"empty", "F64", 2, {7, 0}, NULL},
    };
    uint64_t strides[CHECKPOINT_MAX_DIMS];
    checkpoint c;
    uint8_t read[12];

    (void)state;
    safetensors_write(path.text, tensors, 4);
    c = opened();
    assert_string_equal(c.container, "safetensors");
    check_str(c.folder.path, place.path, "folder");
    assert_int_equal(c.tensor_count, 4);
    assert_string_equal(checkpoint_recognise(PLACE_AT(path.text)), "safetensors");

    /* In the order of their names. */
    assert_true(gufo_str_equal(c.tensors[0].name, gufo_str_of("a")));
    assert_int_equal(c.tensors[0].n_dims, 0);
    assert_int_equal(c.tensors[0].elements, 1);
    assert_true(gufo_str_equal(c.tensors[3].name, gufo_str_of("\xc3\xa9/\xf0\x9f\x98\x80")));
    checkpoint_tensor_strides(&c.tensors[3], strides);
    assert_int_equal(strides[0], 2);
    assert_int_equal(strides[1], 2);
    assert_int_equal(c.tensors[2].elements, 0);
    assert_int_equal(checkpoint_tensor_size(&c.tensors[2]), 0);

    const checkpoint_tensor *b = checkpoint_find(&c, gufo_str_of("b.weight"));
    assert_ptr_equal(b, &c.tensors[1]);
    assert_string_equal(b->number->name, "BF16");
    assert_string_equal(number_element_type(b->number)->name, "BF16");
    assert_true(b->strides == NULL && !b->swapped);
    assert_int_equal(b->shape[0], 2);
    assert_int_equal(b->shape[1], 3);
    assert_int_equal(b->shape[2], 1);
    assert_int_equal(b->offset, c.files[0].head);
    assert_int_equal(
        source_read(&c.files[0].source, b->offset, read, (size_t)checkpoint_tensor_size(b), NULL),
        GUFO_OK);
    assert_memory_equal(read, bytes, sizeof bytes);
    assert_null(checkpoint_find(&c, gufo_str_of("c")));
    checkpoint_close(&c);
}

/* Every element type has its size, and those of GGUF with the same bytes. */
static void test_element_types(void **state)
{
    checkpoint c;

    (void)state;
    for (size_t i = 0; number_at(i) != NULL; i++) {
        const number_type *number = number_at(i);
        const gufo_element_type *type = number_element_type(number);
        char header[128];

        (void)snprintf(header, sizeof header,
                       "{\"a\":{\"dtype\":\"%s\",\"shape\":[4],\"data_offsets\":[0,%" PRIu32 "]}}",
                       number->name, number->bits / 2);
        safetensors_write_raw(path.text, header, number->bits / 2);
        c = opened();
        assert_ptr_equal(c.tensors[0].number, number);
        assert_int_equal(checkpoint_tensor_size(&c.tensors[0]), number->bits / 2);
        if (type != NULL)
            assert_int_equal(type->block_bytes * 8, number->bits);
        checkpoint_close(&c);
    }
}

/* Whatever order the header has. */
static void test_order(void **state)
{
    static const char *const headers[] = {
        "{\"x\":{\"data_offsets\":[4,8],\"shape\":[1],\"dtype\":\"F32\"},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}      ",
        "{ \"b\" : { \"dtype\" : \"U8\" , \"shape\" : [ 4 ] , \"data_offsets\" : [ 0 , 4 ] } ,\n"
        "\"__metadata__\":{}, \"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}\t\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        safetensors_write_raw(path.text, headers[i], 8);
        checkpoint c = opened();

        assert_int_equal(c.tensor_count, 2);
        assert_int_equal(c.tensors[0].offset, 8 + strlen(headers[i]));
        assert_int_equal(c.tensors[1].offset, 8 + strlen(headers[i]) + 4);
        checkpoint_close(&c);
    }
    safetensors_write_raw(path.text, "{}", 0);
    checkpoint c = opened();
    assert_int_equal(c.tensor_count, 0);
    checkpoint_close(&c);
}

/* ---- damaged files -------------------------------------------------------------------------- */

#define A(shape, begin, end) \
    "\"a\":{\"dtype\":\"F16\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"
#define B(begin, end) "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" begin "," end "]}"

/* Each has 8 bytes of data. */
static const struct damaged {
    const char *header;
    gufo_status status;
    uint64_t offset; /* in the header; 1000 and more: in the data */
    const char *part;
} damaged[] = {
    {"", GUFO_E_MALFORMED, 0, "begin with '{'"},
    {" {}", GUFO_E_MALFORMED, 0, "begin with '{'"},
    {"[]", GUFO_E_MALFORMED, 0, "begin with '{'"},
    {"{", GUFO_E_TRUNCATED, 1, "a string is expected"},
    {"{\"a\"", GUFO_E_TRUNCATED, 4, "':' is expected"},
    {"{" A("2,2", "0", "8") "} x", GUFO_E_MALFORMED, 57, "follows"},
    {"{" A("2,2", "0", "8") ",}", GUFO_E_MALFORMED, 56, "a string"},
    {"{" A("2,2", "0", "8") "," A("0", "8", "8") "}", GUFO_E_MALFORMED, 57, "two tensors"},
    {"{" A("4", "0", "8") ",\"\\u0061\":{\"dtype\":\"F16\",\"shape\":[0],\"data_offsets\":[8,8]}}",
     GUFO_E_MALFORMED, 55, "two tensors"},
    {"{" A("2,2", "0", "6") "}", GUFO_E_MALFORMED, 49, "takes 8"},
    {"{" A("2,3", "0", "12") "}", GUFO_E_TRUNCATED, 49, "only 8 bytes"},
    {"{" A("2,2", "8", "0") "}", GUFO_E_MALFORMED, 49, "before it begins"},
    {"{" A("2", "0", "4") "," B("3", "7") "}", GUFO_E_MALFORMED, 1003, "overlap"},
    {"{" A("2", "0", "4") "," B("0", "4") "}", GUFO_E_MALFORMED, 1000, "overlap"},
    {"{" A("1", "0", "2") "," B("4", "8") "}", GUFO_E_MALFORMED, 1002, "2 bytes before"},
    {"{" A("2", "4", "8") "}", GUFO_E_MALFORMED, 1000, "4 bytes before"},
    {"{" A("2", "0", "4") "}", GUFO_E_MALFORMED, 1004, "4 bytes at the end"},
    {"{}", GUFO_E_MALFORMED, 1000, "8 bytes at the end"},
    {"{" A("-4", "0", "8") "}", GUFO_E_MALFORMED, 29, "not negative"},
    {"{" A("4.0", "0", "8") "}", GUFO_E_MALFORMED, 29, "whole"},
    {"{" A("4e0", "0", "8") "}", GUFO_E_MALFORMED, 29, "whole"},
    {"{" A("04", "0", "8") "}", GUFO_E_MALFORMED, 29, "whole"},
    {"{" A("18446744073709551616", "0", "8") "}", GUFO_E_RANGE, 29, "64 bits"},
    {"{" A("4294967296,4294967296", "0", "8") "}", GUFO_E_RANGE, 28, "64 bits"},
    {"{" A("9223372036854775808", "0", "8") "}", GUFO_E_RANGE, 28, "64 bits"},
    {"{" A("1,1,1,1,1,1,1,1,4", "0", "8") "}", GUFO_E_LIMIT, 45, "dimensions"},
    {"{\"a\":{\"dtype\":\"F17\",\"shape\":[4],\"data_offsets\":[0,8]}}", GUFO_E_TYPE, 14, "F17"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[5],\"data_offsets\":[0,2]}}", GUFO_E_MALFORMED, 27,
     "whole bytes"},
    {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4]}}", GUFO_E_MALFORMED, 5, "no field \"data_offsets\""},
    {"{\"a\":{\"dtype\":\"F16\",\"dtype\":\"F16\"}}", GUFO_E_MALFORMED, 20, "twice"},
    {"{\"a\":{\"dtype\":\"F16\",\"strides\":[1]}}", GUFO_E_MALFORMED, 20, "\"strides\""},
    {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,4,8]}}", GUFO_E_MALFORMED, 51,
     "']'"},
    {"{\"a\":[]}", GUFO_E_MALFORMED, 5, "'{'"},
    {"{\"__metadata__\":{\"format\":1}}", GUFO_E_MALFORMED, 26, "a string"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", GUFO_E_MALFORMED, 19, "twice"},
    {"{\"\\ud800\":{}}", GUFO_E_MALFORMED, 2, "surrogate"},
    {"{\"\\ud800\\u0041\":{}}", GUFO_E_MALFORMED, 2, "surrogate"},
    {"{\"\\x\":{}}", GUFO_E_MALFORMED, 2, "escape"},
    {"{\"\\u00g0\":{}}", GUFO_E_MALFORMED, 2, "escape"},
    {"{\"\xff\":{}}", GUFO_E_MALFORMED, 2, "UTF-8"},
    {"{\"\n\":{}}", GUFO_E_MALFORMED, 2, "control"},
    {"{\"abc", GUFO_E_TRUNCATED, 5, "end of a string"},
    {"{\"abc\\", GUFO_E_TRUNCATED, 6, "escape"},
};

static void check_damaged(const struct damaged *row)
{
    uint64_t offset =
        row->offset < 1000 ? 8 + row->offset : 8 + strlen(row->header) + row->offset - 1000;
    gufo_allocator allocator;
    gufo_error error = {0};
    counter count;
    checkpoint c;

    counter_init(&count);
    allocator = counter_allocator(&count);
    safetensors_write_raw(path.text, row->header, 8);
    if (checkpoint_open(&c, PLACE_AT(path.text), NULL, &allocator, &error) != row->status ||
        error.offset != offset || strstr(error.message, row->part) == NULL)
        fail_msg("%s: status %d, byte %" PRIu64 ": %s", row->header, (int)error.code,
                 error.offset - 8, error.message);
    assert_string_equal(error.file, path.text);
    checkpoint_close(&c);
    assert_int_equal(count.in_use, 0);
    assert_true(count.peak < 64 * 1024);
}

static void test_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        check_damaged(&damaged[i]);
}

/* The length in front of the header. */
static void test_lengths(void **state)
{
    static const struct {
        uint64_t length;
        gufo_status status;
    } rows[] = {
        {3, GUFO_E_TRUNCATED},      {100000000, GUFO_E_TRUNCATED}, {100000001, GUFO_E_LIMIT},
        {UINT64_MAX, GUFO_E_LIMIT}, {0, GUFO_E_MALFORMED},         {1, GUFO_E_TRUNCATED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error;
        checkpoint c;

        builder_u64(&b, rows[i].length);
        builder_raw(&b, "{}", 2);
        write_file(path.text, b.data, b.len);
        builder_free(&b);
        assert_int_equal(checkpoint_open(&c, PLACE_AT(path.text), NULL, NULL, &error),
                         rows[i].status);
        checkpoint_close(&c);
    }
    for (size_t len = 0; len < 8; len++) {
        gufo_error error;
        checkpoint c;

        write_file(path.text, "\0\0\0\0\0\0\0\0", len);
        assert_int_equal(checkpoint_open(&c, PLACE_AT(path.text), NULL, NULL, &error),
                         GUFO_E_TRUNCATED);
        assert_int_equal(error.offset, len);
        checkpoint_close(&c);
    }
}

/* Memory that fails at any request is reported and all of it given back. */
static void test_without_memory(void **state)
{
    const safetensor tensors[] = {{"b", "F16", 1, {4}, NULL}, {"a", "F32", 0, {0}, NULL}};
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    safetensors_write(path.text, tensors, 2);
    for (size_t i = 1; status == GUFO_E_MEMORY; i++) {
        gufo_allocator allocator;
        counter count;
        checkpoint c;

        counter_init(&count);
        count.fail_at = i;
        allocator = counter_allocator(&count);
        status = checkpoint_open(&c, PLACE_AT(path.text), NULL, &allocator, NULL);
        checkpoint_close(&c);
        assert_int_equal(count.in_use, 0);
        assert_true(status == GUFO_OK || i < 50);
    }
    assert_int_equal(status, GUFO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_element_types),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
