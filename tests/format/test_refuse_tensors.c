/* What open refuses in tensor infos and data: one row per fault, with rule, status and offset. */
#include "../support/refused.h"

#define DIMS(...)   \
    {               \
        __VA_ARGS__ \
    }

/* A tensor info with given parts, and the offset of each part. */
typedef struct info {
    const char *name;
    uint32_t type, n_dims;
    uint64_t dims[GUFO_MAX_DIMS];
    uint64_t offset;
} info;

typedef struct info_places {
    uint64_t start, n_dims, offset;
} info_places;

static info_places add_info(builder *b, const info *t)
{
    info_places places;
    size_t width = b->encoding.version == 1 ? 4 : 8;

    places.start = b->len;
    places.n_dims = b->len + width + strlen(t->name);
    builder_tensor(b, t->name, t->type, t->n_dims, t->dims, t->offset);
    places.offset = b->len - 8;
    return places;
}

static bool dims_fit(const info *t, encoding e)
{
    for (uint32_t i = 0; i < t->n_dims; i++)
        if (e.version == 1 && t->dims[i] > UINT32_MAX)
            return false;
    return true;
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    static const struct {
        const char *label, *name;
        size_t len;
    } rows[] = {
        {"NUL inside", "a\0b", 3},
        {"NUL in front", "\0a", 2},
        {"two NULs at the end", "a\0\0", 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        const uint64_t dims[1] = {0};

        builder_header(&b, 1, 1);
        builder_kv_u8(&b, "a", 1);
        builder_mark(&b);
        builder_tensorn(&b, rows[i / ENCODING_COUNT].name, rows[i / ENCODING_COUNT].len,
                        GUFO_TYPE_F32, 1, dims, 0);
        builder_pad(&b, 32);
        check_refused_at_mark(&b, "name-nul", GUFO_E_MALFORMED, rows[i / ENCODING_COUNT].label);
        builder_free(&b);
    }
}

static void test_name_with_counted_nul(void **state)
{
    const uint64_t dims[1] = {0};

    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = builder_new(all_encodings[e]);

        builder_header(&b, 1, 0);
        builder_mark(&b);
        builder_tensorn(&b, "a", 2, GUFO_TYPE_F32, 1, dims, 0);
        builder_pad(&b, 32);
        if (all_encodings[e].version == 1) {
            gufo_model *file = gufo_model_open_memory(b.data, b.len, NULL, NULL);
            gufo_tensor tensor;

            assert_non_null(file);
            assert_true(gufo_model_tensor_find(file, "a", &tensor));
            gufo_model_free(file);
        } else {
            check_refused_at_mark(&b, "name-nul", GUFO_E_MALFORMED, "NUL at the end");
        }
        builder_free(&b);
    }
}

static void test_duplicate_names(void **state)
{
    const uint64_t dims[1] = {8};

    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = builder_new(all_encodings[e]);

        builder_header(&b, 3, 0);
        builder_tensor(&b, "token_embd.weight", GUFO_TYPE_F32, 1, dims, 0);
        builder_tensor(&b, "other", GUFO_TYPE_F32, 1, dims, 32);
        builder_mark(&b);
        builder_tensor(&b, "token_embd.weight", GUFO_TYPE_F16, 1, dims, 64);
        builder_pad(&b, 32);
        builder_zeros(&b, 96);
        check_refused_at_mark(&b, "name-duplicate", GUFO_E_MALFORMED,
                              encoding_name(all_encodings[e]));
        builder_free(&b);
    }
}

static void test_name_lengths(void **state)
{
    static const uint64_t lengths[] = {41,        1000,           UINT32_MAX, UINT64_C(1) << 60,
                                       INT64_MAX, UINT64_MAX - 7, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        builder b = builder_new(e);

        builder_header(&b, 1, 0);
        builder_mark(&b);
        builder_length(&b, lengths[i / ENCODING_COUNT]);
        builder_fill(&b, 'n', 40);
        if (e.version != 1 || lengths[i / ENCODING_COUNT] <= UINT32_MAX)
            check_refused_at_mark(&b, "infos-truncated", GUFO_E_TRUNCATED, "name length");
        builder_free(&b);
    }
}

/* ---- dims ----------------------------------------------------------------------------------- */

static void test_dims_count(void **state)
{
    static const uint32_t counts[] = {5, 6, 8, 9, 255, 256, 0x7fffffff, 0x80000000, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);

        builder_header(&b, 1, 0);
        builder_str(&b, "a");
        builder_mark(&b);
        builder_u32(&b, counts[i / ENCODING_COUNT]);
        for (int d = 0; d < 9; d++)
            builder_length(&b, 1);
        builder_u32(&b, GUFO_TYPE_F32);
        builder_u64(&b, 0);
        builder_pad(&b, 32);
        builder_zeros(&b, 32);
        check_refused_at_mark(&b, "dims-count", GUFO_E_LIMIT, "dims count");
        builder_free(&b);
    }
}

/* Products, byte sizes and strides that leave 63 bits, also where a zero would hide it. */
static void test_dims_overflow(void **state)
{
    static const info rows[] = {
        {"2^32 x 2^32", GUFO_TYPE_I8, 2, DIMS(UINT64_C(1) << 32, UINT64_C(1) << 32), 0},
        {"2^16 four times", GUFO_TYPE_I8, 4, DIMS(1 << 16, 1 << 16, 1 << 16, 1 << 16), 0},
        {"(2^32-1) squared, twice", GUFO_TYPE_I8, 4,
         DIMS(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX), 0},
        {"INT64_MAX x 2", GUFO_TYPE_I8, 2, DIMS(INT64_MAX, 2), 0},
        {"2 x INT64_MAX", GUFO_TYPE_I8, 2, DIMS(2, INT64_MAX), 0},
        {"2^63", GUFO_TYPE_I8, 1, DIMS(UINT64_C(1) << 63), 0},
        {"2^64-1", GUFO_TYPE_I8, 1, DIMS(UINT64_MAX), 0},
        {"2^64-1 x 2^64-1", GUFO_TYPE_I8, 2, DIMS(UINT64_MAX, UINT64_MAX), 0},
        {"2^63 x 0", GUFO_TYPE_I8, 2, DIMS(UINT64_C(1) << 63, 0), 0},
        {"0 x 2^63", GUFO_TYPE_I8, 2, DIMS(0, UINT64_C(1) << 63), 0},
        {"2^32 x 2^32 x 0", GUFO_TYPE_I8, 3, DIMS(UINT64_C(1) << 32, UINT64_C(1) << 32, 0), 0},
        {"0 x 2^32 x 2^32", GUFO_TYPE_I8, 3, DIMS(0, UINT64_C(1) << 32, UINT64_C(1) << 32), 0},
        {"2^16 x 0 x 2^31 x 2^31", GUFO_TYPE_I8, 4, DIMS(1 << 16, 0, 1u << 31, 1u << 31), 0},
        {"2^62 of 4 bytes", GUFO_TYPE_F32, 1, DIMS(UINT64_C(1) << 62), 0},
        {"2^61 of 4 bytes", GUFO_TYPE_F32, 1, DIMS(UINT64_C(1) << 61), 0},
        {"2^62 of 2 bytes", GUFO_TYPE_F16, 1, DIMS(UINT64_C(1) << 62), 0},
        {"2^60 of 8 bytes", GUFO_TYPE_F64, 1, DIMS(UINT64_C(1) << 60), 0},
        {"2^62-1 of 4 bytes, padding wraps", GUFO_TYPE_F32, 1, DIMS((UINT64_C(1) << 62) - 1), 0},
        {"2^61-1 of 8 bytes, padding wraps", GUFO_TYPE_I64, 1, DIMS((UINT64_C(1) << 61) - 1), 0},
        {"2^61 of 4 bytes x 0", GUFO_TYPE_F32, 2, DIMS(UINT64_C(1) << 61, 0), 0},
        {"2^31 x 2^31 of 8 bytes", GUFO_TYPE_F64, 2, DIMS(1u << 31, 1u << 31), 0},
        {"2^31 x 2^31 x 0 of 8 bytes", GUFO_TYPE_F64, 3, DIMS(1u << 31, 1u << 31, 0), 0},
        {"blocks of 292 bytes", GUFO_TYPE_Q8_K, 1, DIMS(INT64_MAX - 255), 0},
        {"elements of an unknown type", 57, 2, DIMS(UINT64_C(1) << 32, UINT64_C(1) << 32), 0},
        {"elements of a removed type", 4, 1, DIMS(UINT64_MAX), 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        const info *row = &rows[i / ENCODING_COUNT];
        builder b = builder_new(e);
        info_places places;

        builder_header(&b, 1, 0);
        places = add_info(&b, row);
        builder_pad(&b, 32);
        builder_zeros(&b, 64);
        if (dims_fit(row, e))
            check_refused(&b, "dims-overflow", GUFO_E_MALFORMED, places.n_dims, row->name);
        builder_free(&b);
    }
}

static void test_row_blocks(void **state)
{
    static const info rows[] = {
        {"Q4_0 of 31", GUFO_TYPE_Q4_0, 1, DIMS(31), 0},
        {"Q4_0 of 33", GUFO_TYPE_Q4_0, 1, DIMS(33), 0},
        {"Q4_0 of 1", GUFO_TYPE_Q4_0, 1, DIMS(1), 0},
        {"Q4_0 of 16 x 2", GUFO_TYPE_Q4_0, 2, DIMS(16, 2), 0},
        {"Q4_0 of 48 x 2", GUFO_TYPE_Q4_0, 2, DIMS(48, 2), 0},
        {"Q4_0 without dims", GUFO_TYPE_Q4_0, 0, DIMS(0), 0},
        {"Q4_K of 128", GUFO_TYPE_Q4_K, 1, DIMS(128), 0},
        {"Q4_K of 257", GUFO_TYPE_Q4_K, 1, DIMS(257), 0},
        {"NVFP4 of 32", GUFO_TYPE_NVFP4, 1, DIMS(32), 0},
        {"Q1_0 of 64", GUFO_TYPE_Q1_0, 1, DIMS(64), 0},
        {"Q2_0 of 32", GUFO_TYPE_Q2_0, 1, DIMS(32), 0},
        {"Q4_0_4_4 of 16", GUFO_TYPE_Q4_0_4_4, 1, DIMS(16), 0},
        {"Q8_0 of 31 x 0", GUFO_TYPE_Q8_0, 2, DIMS(31, 0), 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        info_places places;

        builder_header(&b, 1, 0);
        places = add_info(&b, &rows[i / ENCODING_COUNT]);
        builder_pad(&b, 32);
        builder_zeros(&b, 512);
        check_refused(&b, "row-blocks", GUFO_E_MALFORMED, places.n_dims,
                      rows[i / ENCODING_COUNT].name);
        builder_free(&b);
    }
}

/* ---- offsets and data ----------------------------------------------------------------------- */

static void test_offset_alignment(void **state)
{
    static const struct {
        uint32_t alignment;
        uint64_t offset;
    } rows[] = {{32, 1},
                {32, 16},
                {32, 33},
                {64, 32},
                {8, 4},
                {24, 8},
                {24, 32},
                {40, 64},
                {2, 1},
                {32, UINT64_MAX},
                {32, UINT64_MAX - 30}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        const uint64_t dims[1] = {4};
        char label[64];

        snprintf(label, sizeof label, "alignment %" PRIu32 ", offset %" PRIu64,
                 rows[i / ENCODING_COUNT].alignment, rows[i / ENCODING_COUNT].offset);
        builder_header(&b, 2, 1);
        builder_kv_u32(&b, "general.alignment", rows[i / ENCODING_COUNT].alignment);
        builder_tensor(&b, "good", GUFO_TYPE_F32, 1, dims, 240);
        builder_tensor(&b, "bad", GUFO_TYPE_F32, 1, dims, rows[i / ENCODING_COUNT].offset);
        b.mark = b.len - 8;
        builder_pad(&b, rows[i / ENCODING_COUNT].alignment);
        builder_zeros(&b, 512);
        if (240 % rows[i / ENCODING_COUNT].alignment == 0)
            check_refused_at_mark(&b, "offset-alignment", GUFO_E_MALFORMED, label);
        builder_free(&b);
    }
}

/* `mark` is the end of the file: what is missing begins there. */
static void test_data_past_the_end(void **state)
{
    static const info rows[] = {
        {"one byte short", GUFO_TYPE_I8, 1, DIMS(65), 0},
        {"twice as long", GUFO_TYPE_F32, 1, DIMS(32), 0},
        {"begins at the end", GUFO_TYPE_I8, 1, DIMS(1), 64},
        {"begins behind the end", GUFO_TYPE_I8, 1, DIMS(1), 96},
        {"far behind the end", GUFO_TYPE_I8, 1, DIMS(1), UINT64_C(1) << 40},
        {"huge", GUFO_TYPE_F32, 2, DIMS(1 << 20, 1 << 20), 0},
        {"largest", GUFO_TYPE_I8, 1, DIMS(INT64_MAX), 0},
        {"largest row of blocks", GUFO_TYPE_Q4_0, 1, DIMS(INT64_MAX - 31), 0},
        {"unknown type behind the end", 57, 1, DIMS(1), 96},
        {"unknown type at the end", 57, 1, DIMS(1), 64},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        encoding e = all_encodings[i % ENCODING_COUNT];
        builder b = builder_new(e);

        builder_header(&b, 1, 0);
        (void)add_info(&b, &rows[i / ENCODING_COUNT]);
        builder_pad(&b, 32);
        builder_zeros(&b, 64);
        if (dims_fit(&rows[i / ENCODING_COUNT], e))
            check_refused(&b, "data-truncated", GUFO_E_TRUNCATED, b.len,
                          rows[i / ENCODING_COUNT].name);
        builder_free(&b);
    }
}

/* Sums that leave 64 bits: the fault is the offset itself. */
static void test_offsets_that_wrap(void **state)
{
    static const info rows[] = {
        {"offset 2^64-32", GUFO_TYPE_I8, 1, DIMS(64), UINT64_MAX - 31},
        {"offset 2^64-64", GUFO_TYPE_I8, 1, DIMS(1), UINT64_MAX - 63},
        {"end wraps", GUFO_TYPE_I8, 1, DIMS(1 << 20), UINT64_MAX - (1 << 20) + 1},
        {"no bytes, offset wraps", GUFO_TYPE_I8, 1, DIMS(0), UINT64_MAX - 31},
        {"unknown type", 57, 1, DIMS(1), UINT64_MAX - 31},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        info_places places;

        builder_header(&b, 1, 0);
        places = add_info(&b, &rows[i / ENCODING_COUNT]);
        builder_pad(&b, 32);
        builder_zeros(&b, 64);
        check_refused(&b, "data-truncated", GUFO_E_TRUNCATED, places.offset,
                      rows[i / ENCODING_COUNT].name);
        builder_free(&b);
    }
}

/* No data at all behind the infos, not even padding. */
static void test_no_data(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        builder b = builder_new(all_encodings[e]);
        const uint64_t dims[1] = {1};

        builder_header(&b, 1, 0);
        builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
        check_refused(&b, "data-truncated", GUFO_E_TRUNCATED, b.len, "no data");
        builder_free(&b);
    }
}

static void test_overlaps(void **state)
{
    static const struct {
        const char *label;
        info a, b;
        int faulty; /* the one that begins inside the other */
    } rows[] = {
        {"same place", {"a", GUFO_TYPE_F32, 1, {8}, 0}, {"b", GUFO_TYPE_F32, 1, {8}, 0}, 1},
        {"last byte", {"a", GUFO_TYPE_I8, 1, {33}, 0}, {"b", GUFO_TYPE_I8, 1, {1}, 32}, 1},
        {"out of order", {"a", GUFO_TYPE_F32, 1, {8}, 32}, {"b", GUFO_TYPE_I8, 1, {40}, 0}, 0},
        {"one inside the other",
         {"a", GUFO_TYPE_I8, 1, {200}, 0},
         {"b", GUFO_TYPE_I8, 1, {1}, 96},
         1},
        {"scalar on a scalar",
         {"a", GUFO_TYPE_F32, 0, {0}, 32},
         {"b", GUFO_TYPE_F32, 0, {0}, 32},
         1},
        {"known on unknown", {"a", 57, 1, {8}, 0}, {"b", GUFO_TYPE_F32, 1, {8}, 0}, 1},
        {"unknown on unknown", {"a", 57, 1, {8}, 32}, {"b", 58, 1, {8}, 32}, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * ENCODING_COUNT; i++) {
        builder b = builder_new(all_encodings[i % ENCODING_COUNT]);
        info_places first, second;

        builder_header(&b, 2, 0);
        first = add_info(&b, &rows[i / ENCODING_COUNT].a);
        second = add_info(&b, &rows[i / ENCODING_COUNT].b);
        builder_pad(&b, 32);
        builder_zeros(&b, 256);
        check_refused(&b, "data-overlap", GUFO_E_MALFORMED,
                      rows[i / ENCODING_COUNT].faulty == 0 ? first.offset : second.offset,
                      rows[i / ENCODING_COUNT].label);
        builder_free(&b);
    }
}

/* A third tensor overlaps the first although the second is between their beginnings. */
static void test_overlap_over_another(void **state)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t large[1] = {100}, none[1] = {0}, small[1] = {1};

    (void)state;
    builder_header(&b, 3, 0);
    builder_tensor(&b, "large", GUFO_TYPE_I8, 1, large, 0);
    builder_tensor(&b, "none", GUFO_TYPE_I8, 1, none, 64);
    builder_tensor(&b, "small", GUFO_TYPE_I8, 1, small, 96);
    b.mark = b.len - 8;
    builder_pad(&b, 32);
    builder_zeros(&b, 128);
    check_refused_at_mark(&b, "data-overlap", GUFO_E_MALFORMED, "over another");
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_name_with_counted_nul),
        cmocka_unit_test(test_duplicate_names),
        cmocka_unit_test(test_name_lengths),
        cmocka_unit_test(test_dims_count),
        cmocka_unit_test(test_dims_overflow),
        cmocka_unit_test(test_row_blocks),
        cmocka_unit_test(test_offset_alignment),
        cmocka_unit_test(test_data_past_the_end),
        cmocka_unit_test(test_offsets_that_wrap),
        cmocka_unit_test(test_no_data),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_overlap_over_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
