/* The keyed hash: journals and names of files hold it, so that it must be the same on every
 * machine. */
#include "support/check.h"

#include "base/hash.h"

/* SipHash-1-3 of the bytes 0, 1, 2 ..., as many as the index says, with the key 0, 1 ... 15. */
static const uint64_t hashes[] = {
    0xabac0158050fc4dc, 0xc9f49bf37d57ca93, 0x82cb9b024dc7d44d, 0x8bf80ab8e7ddf7fb,
    0xcf75576088d38328, 0xdef9d52f49533b67, 0xc50d2b50c59f22a7, 0xd3927d989bb11140,
    0x369095118d299a8e, 0x25a48eb36c063de4, 0x79de85ee92ff097f, 0x70c118c1f94dc352,
    0x78a384b157b4d9a2, 0x306f760c1229ffa7, 0x605aa111c0f95d34, 0xd320d86d2a519956,
    0xcc4fdd1a7d908b66, 0x9cf2689063dbd80c, 0x8ffc389cb473e63e, 0xf21f9de58d297d1c,
    0xc0dc2f46a6cce040, 0xb992abfe2b45f844, 0x7ffe7b9ba320872e, 0x525a0e7fdae6c123,
};

static void test_known_hashes(void **state)
{
    const hash_key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    char bytes[COUNT_OF(hashes)];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        check_u64(hash_text(key, (gufo_str){bytes, i}), hashes[i], "%zu bytes", i);
        bytes[i] = (char)i;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_hashes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
