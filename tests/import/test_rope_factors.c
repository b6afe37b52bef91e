/* Rotary factors of Llama 3.1, all steps of which are rounded to F32, are the same with every C library, with
 * fused multiplication and without.  `pow` has more inputs than can be tried: these are the bases that models
 * have, and all sizes of heads. */
#include "../support/check.h"

#include "base/hash.h"
#include "codec/half.h"
#include "import/architectures/operations/operation.h"

#include "base/bytes.h"

enum { LARGEST_HEAD = 512 };

static uint64_t digest_of_base(float base)
{
    uint64_t digest = 0;

    for (uint64_t size = 2; size <= LARGEST_HEAD; size += 2) {
        /* Nearly all waves are between short and long ones, so that their factors have all steps. */
        const llama3_ropes ropes = {.base = base,
                                    .factor = 8,
                                    .low = 0x1p-24f,
                                    .high = 0x1p13f,
                                    .context = 8192,
                                    .size = (float)size};
        uint32_t bits[LARGEST_HEAD / 2];

        for (uint64_t i = 0; i < size / 2; i++)
            store_u32(&bits[i], float_to_bits(llama3_factor(&ropes, i)), bytes_swapped(false));
        hash_chain(&digest, bits, (size_t)(size / 2) * sizeof *bits);
    }
    return digest;
}

static void test_digests(void **state)
{
    static const struct {
        float base;
        uint64_t digest;
    } bases[] = {
        {100, UINT64_C(0x7b632800cf754363)},    {1000, UINT64_C(0xb3c17456ec0f65c7)},
        {10000, UINT64_C(0x7b2ee82f1e4f708d)},  {10000.5f, UINT64_C(0x747c0ca4b5b4ff87)},
        {25000, UINT64_C(0x5b8c5cb92ebdcb8d)},  {32000, UINT64_C(0x805cd3e2902b8839)},
        {50000, UINT64_C(0x3f57c9bd414e2a83)},  {100000, UINT64_C(0x74f5c25a92862b54)},
        {150000, UINT64_C(0x2e085f5f5e275856)}, {160000, UINT64_C(0xae1b491221750020)},
        {250000, UINT64_C(0xa450e018efbc631d)}, {500000, UINT64_C(0xd26ff36e3f1beb16)},
        {640000, UINT64_C(0xd2fe709708b2ab4d)}, {1e6f, UINT64_C(0x619af3d5f19d97f9)},
        {1.5e6f, UINT64_C(0xda964732e0be311b)}, {2e6f, UINT64_C(0x62ee6343a972362a)},
        {5e6f, UINT64_C(0xb6e56a02476a040a)},   {8e6f, UINT64_C(0x2915b0a4bb61b076)},
        {1e7f, UINT64_C(0x0e93a3cc09736512)},   {1e8f, UINT64_C(0x8a3286568eab3bf1)},
        {1e9f, UINT64_C(0xce6b60935984903c)},   {1e10f, UINT64_C(0x3ead22070e05c382)},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bases); i++)
        check_u64(digest_of_base(bases[i].base), bases[i].digest, "base %g", (double)bases[i].base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
