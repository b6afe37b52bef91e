/* The table of element types against literal facts, and the sizes of rows. */
#include "../support/check.h"

enum { PLAIN = 0, QUANT = GUFO_ELEMENT_QUANTIZED, GONE = GUFO_ELEMENT_REMOVED };

typedef struct type_fact {
    uint32_t id;
    const char *name;
    uint32_t elements, bytes;
    uint32_t flags; /* of the reference's table: removed ids say so, the others whether quantized */
} type_fact;

/* Elements and bytes per block as the format defines them; 31 to 33 and 36 were interleavings of
 * Q4_0 and IQ4_NL with the same number of bytes, the layout of 4, 5, 37 and 38 is not known. */
static const type_fact facts[] = {
    {0, "F32", 1, 4, PLAIN},
    {1, "F16", 1, 2, PLAIN},
    {2, "Q4_0", 32, 18, QUANT},
    {3, "Q4_1", 32, 20, QUANT},
    {4, "Q4_2", 0, 0, QUANT | GONE},
    {5, "Q4_3", 0, 0, QUANT | GONE},
    {6, "Q5_0", 32, 22, QUANT},
    {7, "Q5_1", 32, 24, QUANT},
    {8, "Q8_0", 32, 34, QUANT},
    {9, "Q8_1", 32, 36, QUANT},
    {10, "Q2_K", 256, 84, QUANT},
    {11, "Q3_K", 256, 110, QUANT},
    {12, "Q4_K", 256, 144, QUANT},
    {13, "Q5_K", 256, 176, QUANT},
    {14, "Q6_K", 256, 210, QUANT},
    {15, "Q8_K", 256, 292, QUANT},
    {16, "IQ2_XXS", 256, 66, QUANT},
    {17, "IQ2_XS", 256, 74, QUANT},
    {18, "IQ3_XXS", 256, 98, QUANT},
    {19, "IQ1_S", 256, 50, QUANT},
    {20, "IQ4_NL", 32, 18, QUANT},
    {21, "IQ3_S", 256, 110, QUANT},
    {22, "IQ2_S", 256, 82, QUANT},
    {23, "IQ4_XS", 256, 136, QUANT},
    {24, "I8", 1, 1, PLAIN},
    {25, "I16", 1, 2, PLAIN},
    {26, "I32", 1, 4, PLAIN},
    {27, "I64", 1, 8, PLAIN},
    {28, "F64", 1, 8, PLAIN},
    {29, "IQ1_M", 256, 56, QUANT},
    {30, "BF16", 1, 2, PLAIN},
    {31, "Q4_0_4_4", 32, 18, QUANT | GONE},
    {32, "Q4_0_4_8", 32, 18, QUANT | GONE},
    {33, "Q4_0_8_8", 32, 18, QUANT | GONE},
    {34, "TQ1_0", 256, 54, QUANT},
    {35, "TQ2_0", 256, 66, QUANT},
    {36, "IQ4_NL_4_4", 32, 18, QUANT | GONE},
    {37, "IQ4_NL_4_8", 0, 0, QUANT | GONE},
    {38, "IQ4_NL_8_8", 0, 0, QUANT | GONE},
    {39, "MXFP4", 32, 17, QUANT},
    {40, "NVFP4", 64, 36, QUANT},
    {41, "Q1_0", 128, 18, QUANT},
    {42, "Q2_0", 64, 18, QUANT},
};

/* Encoders that weigh columns by importance, and those that cannot do without. */
static const char *const weighing[] = {"Q4_0",   "Q4_1",    "Q5_0",    "Q5_1",  "Q2_K",
                                       "Q3_K",   "Q4_K",    "Q5_K",    "Q6_K",  "IQ1_S",
                                       "IQ1_M",  "IQ2_XXS", "IQ2_XS",  "IQ2_S", "IQ3_S",
                                       "IQ4_NL", "IQ4_XS",  "IQ3_XXS", "MXFP4", "NVFP4"};
static const char *const needing[] = {"IQ1_S", "IQ2_XXS", "IQ2_XS"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static uint32_t expected_flags(const type_fact *fact)
{
    uint32_t flags = fact->flags;

    if (fact->bytes != 0)
        flags |= GUFO_ELEMENT_DECODES;
    if ((fact->flags & GONE) == 0)
        flags |= GUFO_ELEMENT_ENCODES;
    if (is_among(fact->name, weighing, COUNT_OF(weighing)))
        flags |= GUFO_ELEMENT_WEIGHS;
    if (is_among(fact->name, needing, COUNT_OF(needing)))
        flags |= GUFO_ELEMENT_NEEDS_IMPORTANCE;
    return flags;
}

static void check_same_type(const gufo_element_type *type, const type_fact *fact)
{
    check(type != NULL, "%s", fact->name);
    check_u64(type->id, fact->id, "%s", fact->name);
    check(strcmp(type->name, fact->name) == 0, "%s is called %s", fact->name, type->name);
    check_u64(type->block_elements, fact->elements, "%s", fact->name);
    check_u64(type->block_bytes, fact->bytes, "%s", fact->name);
    check_u64(type->flags, expected_flags(fact), "%s", fact->name);
}

static void test_table(void **state)
{
    (void)state;
    check_u64(gufo_element_type_count(), COUNT_OF(facts), "types");
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        check_same_type(gufo_element_type_at(i), &facts[i]);
        check_same_type(gufo_element_type_by_id(facts[i].id), &facts[i]);
        check_same_type(gufo_element_type_by_name(facts[i].name), &facts[i]);
    }
    assert_null(gufo_element_type_at(COUNT_OF(facts)));
    assert_null(gufo_element_type_at(SIZE_MAX));
}

static void test_constants(void **state)
{
    (void)state;
    assert_int_equal(GUFO_TYPE_F32, 0);
    assert_int_equal(GUFO_TYPE_Q4_K, 12);
    assert_int_equal(GUFO_TYPE_BF16, 30);
    assert_int_equal(GUFO_TYPE_Q2_0, 42);
}

static void test_unknown(void **state)
{
    static const uint32_t ids[] = {43, 44, 57, 255, 256, 0x7fffffff, 0x80000000, UINT32_MAX};
    static const char *const names[] = {"", "f32", "F3", "F321", "Q4_k", "Q4_K_M", "type 57"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        check(gufo_element_type_by_id(ids[i]) == NULL, "id %" PRIu32, ids[i]);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check(gufo_element_type_by_name(names[i]) == NULL, "name %s", names[i]);
}

static void test_row_sizes(void **state)
{
    static const uint64_t blocks[] = {0, 1, 2, 3, 1000, UINT64_C(1) << 32};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        uint64_t bytes = 0;

        for (size_t n = 0; n < COUNT_OF(blocks) && facts[i].bytes > 0; n++) {
            check_ok(gufo_element_row_size(type, blocks[n] * facts[i].elements, &bytes, NULL), NULL,
                     "%s", facts[i].name);
            check_u64(bytes, blocks[n] * facts[i].bytes, "%s", facts[i].name);
        }
        if (facts[i].bytes == 0)
            check_status(gufo_element_row_size(type, 0, &bytes, NULL), GUFO_E_TYPE, NULL, "%s",
                         facts[i].name);
    }
}

static void test_partial_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        uint64_t bytes, elements = facts[i].elements;
        const uint64_t odd[] = {1, elements - 1, elements + 1, elements * 3 - 1};

        for (size_t n = 0; n < COUNT_OF(odd) && elements > 1; n++)
            check_status(gufo_element_row_size(gufo_element_type_at(i), odd[n], &bytes, NULL),
                         GUFO_E_ARGUMENT, NULL, "%s of %" PRIu64, facts[i].name, odd[n]);
    }
}

static void test_overflow(void **state)
{
    static const struct {
        const char *name;
        uint64_t elements;
        gufo_status status;
        uint64_t bytes;
    } rows[] = {
        {"I8", UINT64_MAX, GUFO_OK, UINT64_MAX},
        {"F16", UINT64_MAX / 2, GUFO_OK, UINT64_MAX - 1},
        {"F16", UINT64_MAX / 2 + 1, GUFO_E_RANGE, 0},
        {"F32", UINT64_C(1) << 62, GUFO_E_RANGE, 0},
        {"F32", (UINT64_C(1) << 62) - 1, GUFO_OK, UINT64_MAX - 3},
        {"F64", UINT64_C(1) << 61, GUFO_E_RANGE, 0},
        {"F64", UINT64_MAX, GUFO_E_RANGE, 0},
        {"Q8_0", UINT64_MAX - 31, GUFO_E_RANGE, 0},
        {"Q8_1", UINT64_MAX - 31, GUFO_E_RANGE, 0},
        {"Q4_0", UINT64_MAX - 31, GUFO_OK, (UINT64_MAX / 32) * 18},
        {"Q8_K", UINT64_MAX - 255, GUFO_E_RANGE, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_element_type *type = gufo_element_type_by_name(rows[i].name);
        uint64_t bytes = 0;

        check_status(gufo_element_row_size(type, rows[i].elements, &bytes, NULL), rows[i].status,
                     NULL, "%s, %" PRIu64, rows[i].name, rows[i].elements);
        if (rows[i].status == GUFO_OK)
            check_u64(bytes, rows[i].bytes, "%s, %" PRIu64, rows[i].name, rows[i].elements);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_constants),
        cmocka_unit_test(test_unknown),        cmocka_unit_test(test_row_sizes),
        cmocka_unit_test(test_partial_blocks), cmocka_unit_test(test_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
