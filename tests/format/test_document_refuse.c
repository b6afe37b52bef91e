/* What a document refuses, and that a refusal changes nothing. */
#include "../support/document.h"

static gufo_document *new_document(uint32_t flags)
{
    return document_for((encoding){3, false}, flags);
}

/* The bytes that the document takes: unchanged by whatever was refused. */
static uint64_t bytes_of(gufo_document *d)
{
    gufo_error error = no_error();
    gufo_layout layout;

    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "layout");
    return layout.metadata_size;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    bool in_file; /* whether gufo_model_open accepts it, so that it can be copied */
    gufo_status status;
    const char *rule;
} bad_keys[] = {
    {"", false, GUFO_E_MALFORMED, "key-empty"},
    {"a\nb", false, GUFO_E_MALFORMED, "key-ascii"},
    {"\x7f", false, GUFO_E_MALFORMED, "key-ascii"},
    {"schl\xc3\xbcssel", false, GUFO_E_MALFORMED, "key-ascii"},
    {"with space", true, GUFO_E_MALFORMED, "key-charset"},
    {"a/b", true, GUFO_E_MALFORMED, "key-charset"},
    {"a\\b", true, GUFO_E_MALFORMED, "key-charset"},
    {"~", true, GUFO_E_MALFORMED, "key-charset"},
    {".", true, GUFO_E_MALFORMED, "key-segment"},
    {".a", true, GUFO_E_MALFORMED, "key-segment"},
    {"a.", true, GUFO_E_MALFORMED, "key-segment"},
    {"a..b", true, GUFO_E_MALFORMED, "key-segment"},
};

static void test_keys(void **state)
{
    gufo_document *strict = new_document(0), *as_read = new_document(GUFO_DOCUMENT_AS_READ);
    uint64_t expected = 24;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_keys); i++) {
        gufo_error error = no_error();
        gufo_status status = gufo_document_set_u8(strict, bad_keys[i].key, 1, &error);

        check_rule(status, bad_keys[i].status, &error, bad_keys[i].rule, bad_keys[i].key);
        error = no_error();
        status = gufo_document_set_u8(as_read, bad_keys[i].key, 1, &error);
        if (bad_keys[i].in_file) {
            check_ok(status, &error, "%s", bad_keys[i].key);
            expected += 8 + strlen(bad_keys[i].key) + 4 + 1;
        } else {
            check_rule(status, bad_keys[i].status, &error, bad_keys[i].rule, bad_keys[i].key);
        }
    }
    check_u64(bytes_of(strict), 24, "strict");
    check_u64(bytes_of(as_read), expected, "as read");
    gufo_document_free(strict);
    gufo_document_free(as_read);
}

static void test_good_keys(void **state)
{
    static const char *const keys[] = {
        "a",     "general.architecture",       "Upper.Case", "with-hyphen", "_",
        "0.1.2", "tokenizer.ggml.eot_token_id"};
    gufo_document *d = new_document(0);
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        check_ok(gufo_document_set_u8(d, keys[i], 1, &error), &error, "%s", keys[i]);
    gufo_document_free(d);
}

static void test_key_length(void **state)
{
    gufo_document *d = new_document(0);
    gufo_error error = no_error();
    char key[GUFO_MAX_KEY + 2];

    (void)state;
    memset(key, 'k', sizeof key);
    key[GUFO_MAX_KEY + 1] = '\0';
    check_rule(gufo_document_set_u8(d, key, 1, &error), GUFO_E_LIMIT, &error, "key-length",
               "65536");
    key[GUFO_MAX_KEY] = '\0';
    check_ok(gufo_document_set_u8(d, key, 1, &error), &error, "65535");
    check_u64(bytes_of(d), 24 + 8 + 65535 + 4 + 1, "65535");
    gufo_document_free(d);
}

static void test_duplicates(void **state)
{
    gufo_document *d = new_document(0);
    gufo_error error = no_error();
    const uint64_t dims[1] = {4};
    uint64_t expected = 24 + (8 + 1 + 4 + 8 + 4 + 8);
    gufo_status status;

    (void)state;
    check_ok(
        gufo_document_add_tensor(d, "a", gufo_element_type_by_id(GUFO_TYPE_F32), 1, dims, &error),
        &error, "tensor a");
    status =
        gufo_document_add_tensor(d, "a", gufo_element_type_by_id(GUFO_TYPE_F16), 1, dims, &error);
    check_rule(status, GUFO_E_MALFORMED, &error, "name-duplicate", "tensor a");
    check_u64(bytes_of(d), expected, "duplicates");
    gufo_document_free(d);
}

/* ---- values --------------------------------------------------------------------------------- */

static void test_text(void **state)
{
    gufo_document *d = new_document(0), *as_read = new_document(GUFO_DOCUMENT_AS_READ);
    const gufo_str raw[] = {{"\xff\xfe", 2}};
    const gufo_items tokens = {GUFO_VALUE_STRING, 1, raw};
    gufo_error error = no_error();
    gufo_status status = gufo_document_set_text(d, "t", "\xff", &error);

    (void)state;
    check_rule(status, GUFO_E_MALFORMED, &error, "string-utf8", "text");
    status = gufo_document_set_str(d, "t", (gufo_str){"ab\xe2\x82", 4}, &error);
    check_rule(status, GUFO_E_MALFORMED, &error, "string-utf8", "str");
    check_ok(gufo_document_set_text(as_read, "t", "\xff", &error), &error, "as read");
    check_ok(gufo_document_set_array(d, "tokens", &tokens, &error), &error, "raw tokens");
    check_u64(bytes_of(d), 24 + 8 + 6 + 4 + 4 + 8 + 8 + 2, "only the array");
    gufo_document_free(d);
    gufo_document_free(as_read);
}

static void test_depth(void **state)
{
    gufo_document *d = new_document(0);
    gufo_items levels[GUFO_MAX_DEPTH + 1];
    gufo_error error = no_error();
    uint8_t number = 1;

    (void)state;
    levels[GUFO_MAX_DEPTH] = (gufo_items){GUFO_VALUE_UINT8, 1, &number};
    for (int i = GUFO_MAX_DEPTH - 1; i >= 0; i--)
        levels[i] = (gufo_items){GUFO_VALUE_ARRAY, 1, &levels[i + 1]};
    check_rule(gufo_document_set_array(d, "deep", &levels[0], &error), GUFO_E_LIMIT, &error,
               "array-depth", "depth 17");
    check_ok(gufo_document_set_array(d, "deep", &levels[1], &error), &error, "depth 16");
    check_u64(bytes_of(d), 24 + 8 + 4 + 4 + 16 * 12 + 1, "depth 16");
    gufo_document_free(d);
}

static void test_value_types(void **state)
{
    gufo_document *d = new_document(0);
    const gufo_items items = {(gufo_value_type)13, 0, NULL};
    const gufo_items inner = {GUFO_VALUE_ARRAY, 1, &items};
    gufo_error error = no_error();

    (void)state;
    check(gufo_document_set_array(d, "a", &items, &error) != GUFO_OK, "type 13");
    check(gufo_document_set_array(d, "b", &inner, &error) != GUFO_OK, "type 13 inside");
    check_u64(bytes_of(d), 24, "nothing");
    gufo_document_free(d);
}

static void test_alignment(void **state)
{
    static const struct {
        uint32_t value;
        bool strict, as_read;
    } rows[] = {{0, false, false},      {1, false, true},        {2, false, true},
                {4, false, true},       {7, false, false},       {8, true, true},
                {12, false, false},     {16, true, true},        {24, true, true},
                {32, true, true},       {33, false, false},      {40, true, true},
                {64, true, true},       {1 << 24, true, true},   {(1 << 24) + 8, false, true},
                {1 << 25, false, true}, {1u << 31, false, true}, {UINT32_MAX, false, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) {
        bool as_read = i % 2 == 1, good = as_read ? rows[i / 2].as_read : rows[i / 2].strict;
        gufo_document *d = new_document(as_read ? GUFO_DOCUMENT_AS_READ : 0);
        gufo_error error = no_error();
        gufo_status status =
            gufo_document_set_u32(d, "general.alignment", rows[i / 2].value, &error);
        gufo_layout layout;

        if (good)
            check_ok(status, &error, "alignment %" PRIu32, rows[i / 2].value);
        else
            check_rule(status, GUFO_E_MALFORMED, &error, "alignment-value", "alignment");
        status = gufo_document_layout(d, NULL, &layout, &error);
        if (good && rows[i / 2].value > GUFO_MAX_ALIGNMENT) {
            check_status(status, GUFO_E_RANGE, &error, "no model has so much padding");
        } else {
            check_ok(status, &error, "alignment");
            check_u64(layout.alignment, good ? rows[i / 2].value : 32, "alignment");
        }
        gufo_document_free(d);
    }
}

static void test_alignment_type(void **state)
{
    gufo_document *d = new_document(GUFO_DOCUMENT_AS_READ);
    const uint32_t number = 32;
    const gufo_items items = {GUFO_VALUE_UINT32, 1, &number};
    const char *key = "general.alignment";
    gufo_error error = no_error();

    (void)state;
    check_rule(gufo_document_set_u64(d, key, 32, &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "u64");
    check_rule(gufo_document_set_i32(d, key, 32, &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "i32");
    check_rule(gufo_document_set_text(d, key, "32", &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "text");
    check_rule(gufo_document_set_array(d, key, &items, &error), GUFO_E_MALFORMED, &error,
               "alignment-type", "array");
    check_u64(bytes_of(d), 24, "nothing");
    gufo_document_free(d);
}

/* ---- tensors -------------------------------------------------------------------------------- */

#define NAME65 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

typedef struct tensor_row {
    const char *label;
    gufo_str name;
    uint32_t type, n_dims;
    uint64_t dims[4], size;
    gufo_status strict, as_read;
    const char *rule; /* of the refusals */
} tensor_row;

static const tensor_row bad_tensors[] = {
    {"empty name", {"", 0}, GUFO_TYPE_F32, 1, {4}, 0, GUFO_E_MALFORMED, GUFO_OK, "name-empty"},
    {"65 bytes", {NAME65, 65}, GUFO_TYPE_F32, 1, {4}, 0, GUFO_E_LIMIT, GUFO_E_LIMIT, "name-length"},
    {"NUL", {"a\0b", 3}, GUFO_TYPE_F32, 1, {4}, 0, GUFO_E_MALFORMED, GUFO_E_MALFORMED, "name-nul"},
    {"NUL last",
     {"a\0", 2},
     GUFO_TYPE_F32,
     1,
     {4},
     0,
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "name-nul"},
    {"not UTF-8", {"\xff", 1}, GUFO_TYPE_F32, 1, {4}, 0, GUFO_E_MALFORMED, GUFO_OK, "name-utf8"},
    {"5 dims",
     {"a", 1},
     GUFO_TYPE_F32,
     5,
     {1, 1, 1, 1},
     0,
     GUFO_E_LIMIT,
     GUFO_E_LIMIT,
     "dims-count"},
    {"rows",
     {"b", 1},
     GUFO_TYPE_Q4_0,
     2,
     {33, 32},
     0,
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "row-blocks"},
    {"product",
     {"c", 1},
     GUFO_TYPE_I8,
     2,
     {UINT64_C(1) << 32, UINT64_C(1) << 32},
     0,
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "dims-overflow"},
    {"bytes",
     {"d", 1},
     GUFO_TYPE_F32,
     1,
     {UINT64_C(1) << 62},
     0,
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "dims-overflow"},
    {"hidden by zero",
     {"e", 1},
     GUFO_TYPE_I8,
     3,
     {UINT64_C(1) << 32, 0, UINT64_C(1) << 32},
     0,
     GUFO_E_MALFORMED,
     GUFO_E_MALFORMED,
     "dims-overflow"},
    {"removed",
     {"f", 1},
     GUFO_TYPE_Q4_0_4_4,
     1,
     {32},
     0,
     GUFO_E_MALFORMED,
     GUFO_OK,
     "type-removed"},
    {"removed, with size", {"g", 1}, 4, 1, {32}, 20, GUFO_E_MALFORMED, GUFO_OK, "type-removed"},
};

static void test_tensors(void **state)
{
    gufo_document *strict = new_document(0), *as_read = new_document(GUFO_DOCUMENT_AS_READ);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_tensors); i++) {
        const tensor_row *r = &bad_tensors[i];

        for (int n = 0; n < 2; n++) {
            gufo_error error = no_error();
            gufo_status expected = n == 0 ? r->strict : r->as_read;
            uint64_t dims[5] = {r->dims[0], r->dims[1], r->dims[2], r->dims[3], 1};
            gufo_status status =
                n == 0 ? gufo_document_add_tensor_str(strict, r->name,
                                                      gufo_element_type_by_id(r->type), r->n_dims,
                                                      dims, &error)
                       : gufo_document_add_raw_tensor_str(as_read, r->name, r->type, r->n_dims,
                                                          dims, r->size, &error);

            if (expected == GUFO_OK)
                check_ok(status, &error, "%s", r->label);
            else
                check_rule(status, expected, &error, r->rule, r->label);
        }
    }
    check_u64(bytes_of(strict), 24, "nothing was added");
    gufo_document_free(strict);
    gufo_document_free(as_read);
}

/* A size must be given for what has no layout, and must be right for what has one. */
static void test_sizes(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t dim, size;
        bool good;
    } rows[] = {
        {57, 7, 0, false},
        {57, 7, 1, true},
        {57, 7, 1000, true},
        {UINT32_MAX, 7, 5, true},
        {GUFO_TYPE_F32, 4, 0, true},
        {GUFO_TYPE_F32, 4, 16, true},
        {GUFO_TYPE_F32, 4, 15, false},
        {GUFO_TYPE_F32, 4, 17, false},
        {GUFO_TYPE_F32, 0, 1, false},
        {GUFO_TYPE_Q8_0, 64, 68, true},
        {GUFO_TYPE_Q8_0, 64, 64, false},
        {57, 7, UINT64_MAX, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_document *d = new_document(0);
        gufo_error error = no_error();
        gufo_layout layout;
        gufo_status status = gufo_document_add_raw_tensor(d, "t", rows[i].type, 1, &rows[i].dim,
                                                          rows[i].size, &error);

        if (status == GUFO_OK) /* what is too large may also show in the layout */
            status = gufo_document_layout(d, NULL, &layout, &error);
        check((status == GUFO_OK) == rows[i].good, "row %zu: %s", i, error.message);
        gufo_document_free(d);
    }
}

/* Sizes that fit one by one, but not together. */
static void test_sum_overflow(void **state)
{
    gufo_document *d = new_document(0);
    gufo_error error = no_error();
    const uint64_t dims[1] = {INT64_MAX};
    gufo_status status = GUFO_OK;
    gufo_layout layout;
    char name[16];

    (void)state;
    for (int i = 0; i < 3 && status == GUFO_OK; i++) {
        snprintf(name, sizeof name, "t%d", i);
        status = gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims,
                                          &error);
    }
    if (status == GUFO_OK)
        status = gufo_document_layout(d, NULL, &layout, &error);
    check(status != GUFO_OK, "three times 2^63 bytes");
    check_error_shape(&error, status, "sum");
    gufo_document_free(d);
}

/* A number that its type cannot hold is refused, not cut. */
static void test_numbers_do_not_fit(void **state)
{
    static const struct {
        gufo_value value;
        gufo_status expected;
    } numbers[] = {
        {{GUFO_VALUE_UINT8, {.u = 255}}, GUFO_OK},
        {{GUFO_VALUE_UINT8, {.u = 256}}, GUFO_E_RANGE},
        {{GUFO_VALUE_UINT16, {.u = 65536}}, GUFO_E_RANGE},
        {{GUFO_VALUE_UINT32, {.u = UINT32_MAX}}, GUFO_OK},
        {{GUFO_VALUE_UINT32, {.u = 1ull << 32}}, GUFO_E_RANGE},
        {{GUFO_VALUE_UINT64, {.u = UINT64_MAX}}, GUFO_OK},
        {{GUFO_VALUE_INT8, {.i = -128}}, GUFO_OK},
        {{GUFO_VALUE_INT8, {.i = -129}}, GUFO_E_RANGE},
        {{GUFO_VALUE_INT8, {.i = 128}}, GUFO_E_RANGE},
        {{GUFO_VALUE_INT16, {.i = 32768}}, GUFO_E_RANGE},
        {{GUFO_VALUE_INT32, {.i = INT32_MIN}}, GUFO_OK},
        {{GUFO_VALUE_INT32, {.i = (int64_t)INT32_MIN - 1}}, GUFO_E_RANGE},
        {{GUFO_VALUE_INT64, {.i = INT64_MIN}}, GUFO_OK},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        gufo_document *d = new_document(0);
        gufo_error error = no_error();

        check_status(gufo_document_set(d, "k", &numbers[i].value, &error), numbers[i].expected,
                     &error, "number %zu", i);
        gufo_document_free(d);
    }
}

/* ---- endless numbers --------------------------------------------------------------------------- */

static void test_no_such_type(void **state)
{
    gufo_document *d = new_document(0);
    gufo_value value = {.type = (gufo_value_type)GUFO_VALUE_TYPE_COUNT, .as = {.u = 1}};
    gufo_error error = no_error();

    (void)state;
    check_status(gufo_document_set(d, "key", &value, &error), GUFO_E_ARGUMENT, &error, "value");
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
        gufo_document *d = new_document(0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_do_not_fit),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_good_keys),
        cmocka_unit_test(test_key_length),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_value_types),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_alignment_type),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sum_overflow),
        cmocka_unit_test(test_no_such_type),
        cmocka_unit_test(test_endless_items),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
