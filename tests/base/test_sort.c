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

/* Records of an odd size, with their number in them: none is lost, none torn. */
typedef struct record {
    uint8_t key, number[2];
} record;

static bool is_before(const void *a, const void *b)
{
    return ((const record *)a)->key < ((const record *)b)->key;
}

static void test_records(void **state)
{
    record records[COUNT];
    uint64_t seed = 7;

    (void)state;
    for (size_t count = 0; count < COUNT; count++) {
        uint8_t keys[COUNT];
        bool seen[COUNT] = {false};

        for (size_t i = 0; i < count; i++) {
            keys[i] = (uint8_t)(random_next(&seed) % (1 + count / 3));
            records[i] = (record){keys[i], {(uint8_t)(i & 0xff), (uint8_t)(i >> 8)}};
        }
        sort_items(records, count, sizeof *records, is_before);
        for (size_t i = 0; i < count; i++) {
            size_t number = records[i].number[0] + 256U * records[i].number[1];

            check(number < count && !seen[number] && keys[number] == records[i].key, "%zu of %zu",
                  i, count);
            seen[number] = true;
            check(i == 0 || !is_before(&records[i], &records[i - 1]), "%zu of %zu", i, count);
        }
    }
    sort_items(NULL, 0, sizeof *records, is_before);
}

static bool number_is_before(const void *numbers, size_t row, const void *wanted)
{
    return ((const unsigned *)numbers)[row] < *(const unsigned *)wanted;
}

static void test_first_row(void **state)
{
    static const unsigned numbers[] = {1, 3, 3, 5};

    (void)state;
    for (size_t count = 0; count <= COUNT_OF(numbers); count++)
        for (unsigned wanted = 0; wanted < 7; wanted++) {
            size_t row = 0;

            while (row < count && numbers[row] < wanted)
                row++;
            check_u64(first_row_from(numbers, count, number_is_before, &wanted), row, "%u of %zu",
                      wanted, count);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths),
                                       cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_first_row)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
