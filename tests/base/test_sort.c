/* Sorting of indices: any order of the input gives the same. */
#include "../support/builder.h"

#include "base/sort.h"

enum { COUNT = 300 };

static bool by_key(const void *owner, uint32_t a, uint32_t b)
{
    const uint64_t *keys = owner;

    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
}

/* Random keys, few of them different, for every length. */
static void test_lengths(void **state)
{
    uint64_t keys[COUNT] = {0}, seed = 42;
    uint32_t order[COUNT];

    (void)state;
    for (uint64_t count = 0; count < COUNT; count++) {
        bool seen[COUNT] = {false};

        for (uint64_t i = 0; i < count; i++) {
            keys[i] = random_next(&seed) % (1 + count / 2);
            order[i] = (uint32_t)(count - 1 - i);
        }
        sort_indices(order, count, by_key, keys);
        for (uint64_t i = 0; i < count; i++) {
            check(order[i] < count && !seen[order[i]], "%" PRIu64 " of %" PRIu64, i, count);
            seen[order[i]] = true;
            check(i == 0 || by_key(keys, order[i - 1], order[i]), "%" PRIu64 " of %" PRIu64, i,
                  count);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
