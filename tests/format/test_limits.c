/* Every limit at one below, exactly, and one above. */
#include "../support/refused.h"

#include "../support/openers.h"
#include "../support/walk.h"

/* Builds a file whose limited quantity is `n`, the mark at the fault if there is one. */
typedef void build_fn(builder *b, uint64_t n);

typedef struct limit_row {
    const char *name;
    build_fn *build;
    uint64_t limit;
    const char *rule;
    gufo_status status;
} limit_row;

static void build_depth(builder *b, uint64_t n)
{
    builder_header(b, 0, 2);
    builder_key(b, "deep", GUFO_VALUE_ARRAY);
    for (uint64_t depth = 1; depth < n; depth++)
        builder_array(b, GUFO_VALUE_ARRAY, 1);
    builder_mark(b);
    builder_array(b, GUFO_VALUE_UINT8, 1);
    builder_u8(b, 1);
    builder_kv_u8(b, "after", 1);
}

static void build_key(builder *b, uint64_t n)
{
    builder_header(b, 0, 2);
    builder_kv_u8(b, "before", 1);
    builder_mark(b);
    builder_length(b, n);
    builder_fill(b, 'k', (size_t)n);
    builder_u32(b, GUFO_VALUE_UINT8);
    builder_u8(b, 1);
}

static void build_name(builder *b, uint64_t n)
{
    const uint64_t dims[1] = {0};
    char name[256];

    memset(name, 'n', sizeof name);
    builder_header(b, 1, 0);
    builder_mark(b);
    builder_tensorn(b, name, (size_t)n, GUFO_TYPE_F32, 1, dims, 0);
    builder_pad(b, 32);
}

static void build_dims(builder *b, uint64_t n)
{
    const uint64_t dims[5] = {1, 1, 1, 1, 1};

    builder_header(b, 1, 0);
    builder_str(b, "a");
    builder_mark(b);
    b->len -= 1 + (b->encoding.version == 1 ? 4u : 8u);
    builder_tensor(b, "a", GUFO_TYPE_I8, (uint32_t)n, dims, 0);
    builder_pad(b, 32);
    builder_zeros(b, 32);
}

static const limit_row limits[] = {
    {"depth", build_depth, 16, "array-depth", GUFO_E_LIMIT},
    {"key", build_key, 65535, "key-length", GUFO_E_LIMIT},
    {"name", build_name, 64, "name-length", GUFO_E_LIMIT},
    {"dims", build_dims, 4, "dims-count", GUFO_E_LIMIT},
};

static void check_limit(const limit_row *row, encoding e, int step)
{
    builder b = builder_new(e);
    char label[64];

    snprintf(label, sizeof label, "%s %+d, %s", row->name, step, encoding_name(e));
    row->build(&b, step < 0 ? row->limit - 1 : row->limit + (unsigned)step);
    if (step > 0) {
        if (strcmp(row->name, "key") != 0) /* a key of 64 KiB needs more than a small file does */
            check_refused_at_mark(&b, row->rule, row->status, label);
    } else {
        uint8_t *copy = builder_exact_copy(&b, b.len);
        gufo_error error = no_error();
        gufo_model *file = gufo_model_open_memory(copy, b.len, NULL, &error);

        check(file != NULL, "%s: %s", label, error.message);
        walk_file(file, copy, b.len, label);
        gufo_model_free(file);
        free(copy);
    }
    builder_free(&b);
}

static void test_format_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        for (size_t e = 0; e < ENCODING_COUNT; e++)
            for (int step = -1; step <= 1; step++)
                check_limit(&limits[i], all_encodings[e], step);
}

static void test_constants(void **state)
{
    (void)state;
    assert_int_equal(GUFO_MAX_DEPTH, 16);
    assert_int_equal(GUFO_MAX_KEY, 65535);
    assert_int_equal(GUFO_MAX_NAME, 64);
    assert_int_equal(GUFO_MAX_DIMS, 4);
    assert_int_equal(GUFO_MAX_ALIGNMENT, 1 << 24);
    assert_int_equal(GUFO_DEFAULT_ALIGNMENT, 32);
    assert_int_equal(GUFO_MAX_TEXTS, 1 << 26);
}

/* The key of 65536 bytes, and in version 1 one more for the NUL that is counted. */
static void test_long_keys(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        for (size_t len = GUFO_MAX_KEY; len <= GUFO_MAX_KEY + 2u; len++) {
            bool counts = all_encodings[e].version == 1;
            builder b = builder_new(all_encodings[e]);
            gufo_error error = no_error();
            gufo_model *file;

            build_key(&b, len);
            if (counts)
                b.data[b.len - 6] = '\0';
            file = gufo_model_open_memory(b.data, b.len, NULL, &error);
            if (len <= GUFO_MAX_KEY + (counts ? 1u : 0u)) {
                check(file != NULL, "key of %zu bytes: %s", len, error.message);
            } else {
                check(file == NULL, "key of %zu bytes", len);
                check_error_shape(&error, GUFO_E_LIMIT, "long key");
                check(strcmp(error.rule->name, "key-length") == 0, "%s", error.rule->name);
                check_u64(error.offset, b.mark, "long key");
            }
            gufo_model_free(file);
            builder_free(&b);
        }
    }
}

/* Names likewise: 65 bytes in version 1 are 64 and the NUL. */
static void test_name_with_counted_nul(void **state)
{
    builder b = builder_new((encoding){1, false});
    const uint64_t dims[1] = {0};
    gufo_model *file;
    gufo_tensor tensor;
    char name[65];

    (void)state;
    memset(name, 'n', 64);
    name[64] = '\0';
    builder_header(&b, 1, 0);
    builder_tensorn(&b, name, 65, GUFO_TYPE_F32, 1, dims, 0);
    builder_pad(&b, 32);
    file = open_built(&b, "65 bytes");
    check(gufo_model_tensor_find(file, name, &tensor), "65 bytes");
    check_u64(tensor.name.len, 64, "65 bytes");
    gufo_model_free(file);
    builder_free(&b);
}

/* ---- limits of the options ------------------------------------------------------------------ */

static builder file_with_counts(encoding e, uint64_t tensors, uint64_t entries)
{
    builder b = builder_new(e);
    const uint64_t dims[1] = {0};
    char name[32];

    builder_header(&b, tensors, entries);
    for (uint64_t i = 0; i < entries; i++) {
        snprintf(name, sizeof name, "k%" PRIu64, i);
        builder_kv_u8(&b, name, 1);
    }
    for (uint64_t i = 0; i < tensors; i++) {
        snprintf(name, sizeof name, "t%" PRIu64, i);
        builder_tensor(&b, name, GUFO_TYPE_F32, 1, dims, 0);
    }
    builder_pad(&b, 32);
    return b;
}

static void check_option(const builder *b, gufo_open_options options, bool opens, uint64_t offset)
{
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_memory(b->data, b->len, &options, &error);

    check((file != NULL) == opens, "%s", error.message);
    if (!opens) {
        check_error_shape(&error, GUFO_E_LIMIT, "option");
        check(error.rule != NULL && strcmp(error.rule->name, "count-limit") == 0, "option");
        check_u64(error.offset, offset, "option");
    }
    gufo_model_free(file);
}

static void test_option_limits(void **state)
{
    static const uint64_t counts[] = {1, 2, 10};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        uint64_t limit = counts[i / ENCODING_COUNT];

        for (uint64_t n = limit - 1; n <= limit + 1; n++) {
            builder b = file_with_counts(e, 0, n);

            check_option(&b, (gufo_open_options){.max_metadata = limit}, n <= limit,
                         e.version == 1 ? 12 : 16);
            check_option(&b, (gufo_open_options){.max_tensors = limit}, true, 0);
            builder_free(&b);
            b = file_with_counts(e, n, 0);
            check_option(&b, (gufo_open_options){.max_tensors = limit}, n <= limit, 8);
            check_option(&b, (gufo_open_options){.max_metadata = limit}, true, 0);
            builder_free(&b);
        }
    }
}

/* Two keys: an array of two strings, and one of an array of three strings, the last one at `*last`. */
static builder file_with_texts(encoding e, uint64_t *last)
{
    builder b = builder_new(e);

    builder_header(&b, 0, 2);
    builder_kv_array(&b, "a", GUFO_VALUE_STRING, 2);
    builder_length(&b, 0);
    builder_length(&b, 0);
    builder_kv_array(&b, "b", GUFO_VALUE_ARRAY, 1);
    builder_array(&b, GUFO_VALUE_STRING, 3);
    builder_length(&b, 0);
    builder_length(&b, 0);
    *last = b.len;
    builder_length(&b, 0);
    builder_pad(&b, 32);
    return b;
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        uint64_t last;
        builder b = file_with_texts(all_encodings[i], &last);

        check_option(&b, (gufo_open_options){.max_texts = 6}, true, 0);
        check_option(&b, (gufo_open_options){.max_texts = 5}, false, last);
        builder_free(&b);
    }
}

/* A limit of the caller cannot be above that of the library. */
static void test_no_limit_is_the_library(void **state)
{
    builder b = builder_new((encoding){3, false});

    (void)state;
    builder_header(&b, 0, (uint64_t)GUFO_MAX_COUNT + 1);
    check_option(&b, (gufo_open_options){.max_metadata = UINT64_MAX}, false, 16);
    check_option(&b, (gufo_open_options){0}, false, 16);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_format_limits),
        cmocka_unit_test(test_long_keys),     cmocka_unit_test(test_name_with_counted_nul),
        cmocka_unit_test(test_option_limits), cmocka_unit_test(test_no_limit_is_the_library),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
