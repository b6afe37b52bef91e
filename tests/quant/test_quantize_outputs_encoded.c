/* Outputs of small models in every encoding, whose bytes must not change. */
#include "outputs.h"

static bool is_mine(const char *name)
{
    return strstr(name, "-endian ") != NULL && strncmp(name, "interleaved ", 12) != 0;
}

static void test_small(void **state)
{
    (void)state;
    expect_encodings("small", tensors, COUNT_OF(tensors));
}

static void test_packed(void **state)
{
    (void)state;
    expect_encodings("packed", packed_tensors, COUNT_OF(packed_tensors));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_all_were_made),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
