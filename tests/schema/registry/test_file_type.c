/* Names of file types, against literal facts. */
#include "../../support/check.h"
#include "schema/registry/tables.h"

static void test_names(void **state)
{
    static const struct {
        uint64_t number;
        const char *name;
    } rows[] = {
        {0, "F32"},     {1, "F16"},     {2, "Q4_0"},    {3, "Q4_1"},
        {7, "Q8_0"},    {10, "Q2_K"},   {12, "Q3_K_M"}, {14, "Q4_K_S"},
        {15, "Q4_K_M"}, {17, "Q5_K_M"}, {18, "Q6_K"},   {19, "IQ2_XXS"},
        {25, "IQ4_NL"}, {30, "IQ4_XS"}, {32, "BF16"},   {38, "MXFP4_MOE"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_str(gufo_str_of(gufo_file_type_by_id(rows[i].number)->name), rows[i].name, "%" PRIu64,
                  rows[i].number);
}

/* Names are given to a first range of numbers, all different, and to none above. */
static void test_range(void **state)
{
    uint64_t known = 0;

    (void)state;
    while (gufo_file_type_by_id(known) != NULL)
        known++;
    check(known > 38 && known < 1000, "%" PRIu64, known);
    for (uint64_t i = 0; i < known; i++)
        for (uint64_t j = 0; j < i; j++)
            check(strcmp(gufo_file_type_by_id(i)->name, gufo_file_type_by_id(j)->name) != 0,
                  "%" PRIu64, i);
    check(gufo_file_type_by_id(1000) == NULL, "1000");
    check(gufo_file_type_by_id(UINT64_C(1) << 32) == NULL, "2^32: no number is cut to 32 bits");
    check(gufo_file_type_by_id(UINT64_MAX) == NULL, "2^64 - 1");
}

/* The table by number, by name and by place. */
static void test_table(void **state)
{
    const gufo_file_type *type = gufo_file_type_by_name("IQ2_M");

    (void)state;
    check(type != NULL && type->id == 29 && type->base_type == GUFO_TYPE_IQ2_S, "IQ2_M");
    check(gufo_file_type_by_id(29) == type, "29");
    check(type->flags == 0, "it can be made");
    check(gufo_file_type_by_id(33)->flags & GUFO_FILE_TYPE_REMOVED, "Q4_0_4_4");
    check(gufo_file_type_by_id(39)->flags == GUFO_FILE_TYPE_NOT_MADE, "NVFP4");
    check(gufo_file_type_by_id(UINT64_C(29) + (UINT64_C(1) << 32)) == NULL, "more than 32 bits");
    check(gufo_file_type_by_name("iq2_m") == NULL && gufo_file_type_by_name("") == NULL, "exact");
    for (size_t i = 0; i < schema_file_type_count(); i++)
        check(gufo_file_type_at(i) == gufo_file_type_by_id(i), "%zu", i);
    check(gufo_file_type_at(schema_file_type_count()) == NULL, "past the end");
}

/* Names of element types as people write them. */
static void test_element_type_names(void **state)
{
    static const struct {
        const char *name;
        int64_t type; /* -1: none */
    } rows[] = {{"Q4_K", GUFO_TYPE_Q4_K},
                {"q4k", GUFO_TYPE_Q4_K},
                {"Q4-k", GUFO_TYPE_Q4_K},
                {"ggml_type_q4_K", GUFO_TYPE_Q4_K},
                {"F16", GUFO_TYPE_F16},
                {"MOSTLY_F16", -1},
                {"Q4_K_M", -1},
                {"Q4", -1},
                {"", -1},
                {"GGML_TYPE_", -1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_element_type *type = gufo_element_type_meant(gufo_str_of(rows[i].name));

        check(type != NULL ? type->id == rows[i].type : rows[i].type < 0, "%s", rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element_type_names),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
