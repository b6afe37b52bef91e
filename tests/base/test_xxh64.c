/* XXH64: results of the xxhsum program. */
#include "../support/check.h"

#include "base/hash.h"

static void test_known_results(void **state)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } rows[] = {
        {0, UINT64_C(0xef46db3751d8e999)},   {1, UINT64_C(0x8a4127811b21e730)},
        {3, UINT64_C(0xb6e6c910c2fd373a)},   {4, UINT64_C(0x22eda2cf6af4c124)},
        {7, UINT64_C(0x34084d91a233a751)},   {8, UINT64_C(0xc6f1803a5e0b3222)},
        {13, UINT64_C(0xdfced2d95e03c38e)},  {31, UINT64_C(0x6ab1c40e29f50073)},
        {32, UINT64_C(0x5a0756fbe9ecd3d1)},  {33, UINT64_C(0xdc50cdc37bb9c183)},
        {39, UINT64_C(0xe6b392c5985d77ab)},  {44, UINT64_C(0x122aca1412911665)},
        {63, UINT64_C(0x10dd94885c71894a)},  {64, UINT64_C(0x90083da9cdb9d795)},
        {71, UINT64_C(0x0f2038704bd83a47)},  {100, UINT64_C(0xd248bfc5208b0b16)},
        {255, UINT64_C(0x5da8139d7acf3995)},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7 + 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_u64(xxh64_of((gufo_str){text, rows[i].len}), rows[i].hash, "%zu bytes", rows[i].len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
