/* What open refuses in header and metadata: one row per fault, with rule, status and byte
 * offset. */
#include "../support/refused.h"

/* ---- header --------------------------------------------------------------------------------- */

static void test_magic(void **state)
{
    static const char *const magics[] = {"GGUX", "gguf", "FUGG", "\0GGU", "GGML", "    ", "GGU\0"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(magics); i++) {
        builder b = builder_new((encoding){3, false});

        builder_raw(&b, magics[i], 4);
        builder_u32(&b, 3);
        builder_u64(&b, 0);
        builder_u64(&b, 0);
        check_refused(&b, "magic", GUFO_E_NOT_GGUF, 0, magics[i]);
        builder_free(&b);
    }
}

static void test_version(void **state)
{
    static const uint32_t versions[] = {0,          4,          5,          255,        256,
                                        0x00030000, 0x00000300, 0x04000000, 0x03000003, 0xffffffff};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(versions) * 2; i++) {
        builder b = builder_new((encoding){3, i % 2 == 1});
        char label[32];

        snprintf(label, sizeof label, "version %" PRIx32, versions[i / 2]);
        builder_raw(&b, "GGUF", 4);
        builder_u32(&b, versions[i / 2]);
        builder_u64(&b, 0);
        builder_u64(&b, 0);
        check_refused(&b, "version", GUFO_E_VERSION, 4, label);
        builder_free(&b);
    }
}

/* Counts that no file holds; the largest are over the limit of the reader, whatever the file. */
static void check_claim(uint64_t tensors, uint64_t entries, const char *rule, gufo_status status)
{
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        encoding e = all_encodings[i];
        uint64_t width = e.version == 1 ? 4 : 8;
        builder b = builder_new(e);
        char label[96];

        if (e.version == 1 && (tensors > UINT32_MAX || entries > UINT32_MAX)) {
            builder_free(&b);
            continue;
        }
        snprintf(label, sizeof label, "%" PRIu64 " tensors, %" PRIu64 " entries, %s", tensors,
                 entries, encoding_name(e));
        builder_header(&b, tensors, entries);
        builder_kv_u8(&b, "a", 1);
        check_refused(&b, rule, status, tensors > 0 ? 8 : 8 + width, label);
        builder_free(&b);
    }
}

static void test_counts(void **state)
{
    static const struct {
        uint64_t count;
        bool over_limit;
    } rows[] = {
        {2, false},
        {100, false},
        {1000000, false},
        {GUFO_MAX_COUNT, false},
        {(uint64_t)GUFO_MAX_COUNT + 1, true},
        {UINT32_MAX, true},
        {UINT64_C(1) << 60, true},
        {UINT64_C(0x1000000000000001), true},
        {INT64_MAX, true},
        {UINT64_C(1) << 63, true},
        {UINT64_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_status status = rows[i].over_limit ? GUFO_E_LIMIT : GUFO_E_TRUNCATED;

        check_claim(rows[i].count, 0, rows[i].over_limit ? "count-limit" : "tensor-count", status);
        check_claim(0, rows[i].count, rows[i].over_limit ? "count-limit" : "metadata-count",
                    status);
    }
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* A file with a good entry and then a key of `len` bytes. */
static builder file_with_key(encoding e, const void *key, size_t len)
{
    builder b = builder_new(e);

    builder_header(&b, 0, 2);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_mark(&b);
    builder_strn(&b, key, len);
    builder_u32(&b, GUFO_VALUE_UINT8);
    builder_u8(&b, 1);
    return b;
}

static void test_keys(void **state)
{
    static const struct {
        const char *label, *key;
        size_t len;
        const char *rule;
    } rows[] = {
        {"empty", "", 0, "key-empty"},
        {"NUL inside", "a\0b", 3, "key-ascii"},
        {"NUL in front", "\0ab", 3, "key-ascii"},
        {"two NULs at the end", "ab\0\0", 4, "key-ascii"},
        {"alignment and NUL", "general.alignment\0x", 19, "key-ascii"},
        {"newline", "a\nb", 3, "key-ascii"},
        {"escape", "\x1b[31m", 5, "key-ascii"},
        {"tab", "a\t", 2, "key-ascii"},
        {"last control character", "\x1f", 1, "key-ascii"},
        {"DEL", "a\x7f", 2, "key-ascii"},
        {"UTF-8", "schl\xc3\xbcssel", 10, "key-ascii"},
        {"0x80", "\x80", 1, "key-ascii"},
        {"0xff", "a.\xff", 3, "key-ascii"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            builder b = file_with_key(all_encodings[e], rows[i].key, rows[i].len);

            check_refused_at_mark(&b, rows[i].rule, GUFO_E_MALFORMED, rows[i].label);
            builder_free(&b);
        }
}

/* A counted NUL is taken away before anything is checked, in version 1 only. */
static void test_key_with_counted_nul(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = file_with_key(all_encodings[e], "a\0", 2);
        builder only_nul = file_with_key(all_encodings[e], "\0", 1);
        gufo_entry entry;

        if (all_encodings[e].version == 1) {
            gufo_model *file = gufo_model_open_memory(b.data, b.len, NULL, NULL);

            assert_non_null(file);
            check(gufo_model_find(file, "a", &entry), "counted NUL");
            gufo_model_free(file);
            check_refused_at_mark(&only_nul, "key-empty", GUFO_E_MALFORMED, "only a NUL");
        } else {
            check_refused_at_mark(&b, "key-ascii", GUFO_E_MALFORMED, "NUL at the end");
            check_refused_at_mark(&only_nul, "key-ascii", GUFO_E_MALFORMED, "only a NUL");
        }
        builder_free(&b);
        builder_free(&only_nul);
    }
}

static void test_duplicate_keys(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = builder_new(all_encodings[e]);

        builder_header(&b, 0, 4);
        builder_kv_u32(&b, "x", 1);
        builder_kv_u32(&b, "a.key", 1);
        builder_kv_u32(&b, "y", 1);
        builder_mark(&b);
        builder_kv_str(&b, "a.key", "another type");
        check_refused_at_mark(&b, "key-duplicate", GUFO_E_MALFORMED,
                              encoding_name(all_encodings[e]));
        builder_free(&b);
    }
}

/* Two spellings of one key: with and without the counted NUL. */
static void test_duplicate_by_counted_nul(void **state)
{
    builder b = builder_new((encoding){1, false});

    (void)state;
    builder_header(&b, 0, 2);
    builder_kv_u32(&b, "general.alignment", 32);
    builder_mark(&b);
    builder_strn(&b, "general.alignment", 18);
    builder_u32(&b, GUFO_VALUE_UINT32);
    builder_u32(&b, 64);
    check_refused_at_mark(&b, "key-duplicate", GUFO_E_MALFORMED, "counted NUL");
    builder_free(&b);
}

/* ---- types ---------------------------------------------------------------------------------- */

static const uint32_t no_types[] = {13, 14, 255, 256, 0x7fffffff, 0x80000000, UINT32_MAX};

static void test_value_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_types); i++)
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            builder b = builder_new(all_encodings[e]);

            builder_header(&b, 0, 2);
            builder_kv_u8(&b, "good", 1);
            builder_str(&b, "bad");
            builder_mark(&b);
            builder_u32(&b, no_types[i]);
            builder_zeros(&b, 64);
            check_refused_at_mark(&b, "value-type", GUFO_E_MALFORMED, "value type");
            builder_free(&b);
        }
}

/* `depth` 1: the type of an array's elements; 2 and more: that of an array inside it. */
static void test_array_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(no_types) * GUFO_MAX_DEPTH; i++)
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            builder b = builder_new(all_encodings[e]);
            size_t depth = 1 + i % GUFO_MAX_DEPTH;

            builder_header(&b, 0, 1);
            builder_key(&b, "list", GUFO_VALUE_ARRAY);
            for (size_t d = 1; d < depth; d++)
                builder_array(&b, GUFO_VALUE_ARRAY, 1);
            builder_mark(&b);
            builder_array(&b, no_types[i / GUFO_MAX_DEPTH], i % 2);
            builder_zeros(&b, 64);
            check_refused_at_mark(&b, "array-type", GUFO_E_MALFORMED, "element type");
            builder_free(&b);
        }
}

/* ---- bools ---------------------------------------------------------------------------------- */

static void test_bools(void **state)
{
    static const uint8_t bad[] = {2, 3, 0x7f, 0x80, 0xff};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);

        builder_header(&b, 0, 2);
        builder_key(&b, "flag", GUFO_VALUE_BOOL);
        builder_mark(&b);
        builder_u8(&b, bad[i / ENCODING_COUNT]);
        builder_kv_u8(&b, "after", 1);
        check_refused_at_mark(&b, "bool-value", GUFO_E_MALFORMED, "bool");
        builder_free(&b);
    }
}

static void test_bools_in_arrays(void **state)
{
    static const size_t places[] = {0, 1, 50, 99};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(places) * ENCODING_COUNT * 2; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        size_t place = places[i / ENCODING_COUNT / 2];

        builder_header(&b, 0, 1);
        builder_key(&b, "flags", GUFO_VALUE_ARRAY);
        if (i / ENCODING_COUNT % 2 == 1)
            builder_array(&b, GUFO_VALUE_ARRAY, 1);
        builder_array(&b, GUFO_VALUE_BOOL, 100);
        builder_fill(&b, 1, place);
        builder_mark(&b);
        builder_u8(&b, 2);
        builder_fill(&b, 0, 99 - place);
        check_refused_at_mark(&b, "bool-value", GUFO_E_MALFORMED, "bool in an array");
        builder_free(&b);
    }
}

/* ---- lengths -------------------------------------------------------------------------------- */

/* Lengths that are longer than what is left; the true number of bytes left is 40. */
static const uint64_t long_lengths[] = {41,
                                        42,
                                        1000,
                                        UINT32_MAX - 3,
                                        UINT32_MAX,
                                        UINT64_C(1) << 32,
                                        UINT64_C(1) << 60,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        UINT64_MAX - 8,
                                        UINT64_MAX};

static bool fits_version(uint64_t length, encoding e)
{
    return e.version != 1 || length <= UINT32_MAX;
}

static void test_string_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(long_lengths) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        builder b = builder_new(e);

        builder_header(&b, 0, 1);
        builder_key(&b, "text", GUFO_VALUE_STRING);
        builder_mark(&b);
        builder_length(&b, long_lengths[i / ENCODING_COUNT]);
        builder_zeros(&b, 40);
        if (fits_version(long_lengths[i / ENCODING_COUNT], e))
            check_refused_at_mark(&b, "metadata-truncated", GUFO_E_TRUNCATED, "string length");
        builder_free(&b);
    }
}

static void test_key_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(long_lengths) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        builder b = builder_new(e);

        builder_header(&b, 0, 1);
        builder_mark(&b);
        builder_length(&b, long_lengths[i / ENCODING_COUNT]);
        builder_fill(&b, 'k', 40);
        if (fits_version(long_lengths[i / ENCODING_COUNT], e))
            check_refused_at_mark(&b, "metadata-truncated", GUFO_E_TRUNCATED, "key length");
        builder_free(&b);
    }
}

static void test_strings_in_arrays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(long_lengths) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        builder b = builder_new(e);

        builder_header(&b, 0, 1);
        builder_kv_array(&b, "list", GUFO_VALUE_STRING, 3);
        builder_str(&b, "first");
        builder_mark(&b);
        builder_length(&b, long_lengths[i / ENCODING_COUNT]);
        builder_zeros(&b, 40);
        if (fits_version(long_lengths[i / ENCODING_COUNT], e))
            check_refused_at_mark(&b, "metadata-truncated", GUFO_E_TRUNCATED, "string in array");
        builder_free(&b);
    }
}

/* Counts of elements that do not fit into 40 bytes, among them those whose product with the size of
 * an element wraps to something small. */
static void test_array_counts(void **state)
{
    static const uint64_t counts[] = {41,
                                      1000,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_C(1) << 60,
                                      UINT64_C(1) << 61,
                                      (UINT64_C(1) << 61) + 1,
                                      UINT64_C(1) << 62,
                                      (UINT64_C(1) << 62) + 2,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      (UINT64_C(1) << 63) + 4,
                                      UINT64_MAX};

    (void)state;
    for (uint32_t type = 0; type < GUFO_VALUE_TYPE_COUNT; type++) {
        if (gufo_value_type_size((gufo_value_type)type) == 0)
            continue;
        for (size_t i = 0; i < COUNT_OF(counts) * ENCODING_COUNT; i++) {
            encoding e = all_encodings[i % ENCODING_COUNT];
            builder b = builder_new(e);

            builder_header(&b, 0, 1);
            builder_kv_array(&b, "list", type, counts[i / ENCODING_COUNT]);
            builder_mark(&b);
            builder_zeros(&b, 40);
            if (fits_version(counts[i / ENCODING_COUNT], e))
                check_refused_at_mark(&b, "metadata-truncated", GUFO_E_TRUNCATED, "array count");
            builder_free(&b);
        }
    }
}

/* Arrays of strings and of arrays that end in the middle: the fault is where the next one began. */
static void test_array_counts_of_others(void **state)
{
    static const uint64_t counts[] = {4, 1000, UINT64_C(1) << 60, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts) * ENCODING_COUNT * 2; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        uint64_t count = counts[i / ENCODING_COUNT / 2];
        bool arrays = i / ENCODING_COUNT % 2 == 1;
        builder b = builder_new(e);

        builder_header(&b, 0, 1);
        builder_kv_array(&b, "list", arrays ? GUFO_VALUE_ARRAY : GUFO_VALUE_STRING, count);
        for (int n = 0; n < 3; n++)
            if (arrays)
                builder_array(&b, GUFO_VALUE_UINT8, 0);
            else
                builder_str(&b, "abc");
        builder_mark(&b);
        if (fits_version(count, e))
            check_refused_at_mark(&b, "metadata-truncated", GUFO_E_TRUNCATED, "array count");
        builder_free(&b);
    }
}

/* ---- alignment ------------------------------------------------------------------------------ */

static void test_alignment_values(void **state)
{
    static const uint32_t bad[] = {
        0, 3, 5, 6, 7, 9, 10, 12, 20, 33, 36, (1 << 24) + 1, (1u << 31) + 4, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        char label[48];

        snprintf(label, sizeof label, "alignment %" PRIu32, bad[i / ENCODING_COUNT]);
        builder_header(&b, 0, 2);
        builder_kv_u8(&b, "before", 1);
        builder_key(&b, "general.alignment", GUFO_VALUE_UINT32);
        builder_mark(&b);
        builder_u32(&b, bad[i / ENCODING_COUNT]);
        check_refused_at_mark(&b, "alignment-value", GUFO_E_MALFORMED, label);
        builder_free(&b);
    }
}

static void test_alignment_types(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < GUFO_VALUE_TYPE_COUNT; type++)
        for (size_t e = 0; e < ENCODING_COUNT && type != GUFO_VALUE_UINT32; e++) {
            builder b = builder_new(all_encodings[e]);
            char label[48];

            snprintf(label, sizeof label, "alignment of type %" PRIu32, type);
            builder_header(&b, 0, 1);
            builder_mark(&b);
            builder_key(&b, "general.alignment", type);
            if (type == GUFO_VALUE_STRING)
                builder_str(&b, "32");
            else if (type == GUFO_VALUE_ARRAY)
                builder_array(&b, GUFO_VALUE_UINT32, 0);
            else
                builder_number(&b, type == GUFO_VALUE_BOOL ? 1 : 32,
                               gufo_value_type_size((gufo_value_type)type));
            check_refused_at_mark(&b, "alignment-type", GUFO_E_MALFORMED, label);
            builder_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_magic),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_key_with_counted_nul),
        cmocka_unit_test(test_duplicate_keys),
        cmocka_unit_test(test_duplicate_by_counted_nul),
        cmocka_unit_test(test_value_types),
        cmocka_unit_test(test_array_types),
        cmocka_unit_test(test_bools),
        cmocka_unit_test(test_bools_in_arrays),
        cmocka_unit_test(test_string_lengths),
        cmocka_unit_test(test_key_lengths),
        cmocka_unit_test(test_strings_in_arrays),
        cmocka_unit_test(test_array_counts),
        cmocka_unit_test(test_array_counts_of_others),
        cmocka_unit_test(test_alignment_values),
        cmocka_unit_test(test_alignment_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
