/* Shapes that are kept once. */
#include "../support/allocator.h"
#include "../support/check.h"

#include "format/file/records.h"

enum { AXES = 4, MANY = 1000 };

static const uint64_t *share(shape_table *t, uint64_t first, uint64_t second,
                             const gufo_allocator *a)
{
    const uint64_t shape[AXES] = {first, second, 1, 1};

    return shapes_share(t, shape, a);
}

static void test_kept_once(void **state)
{
    shape_table t = {.list.size = AXES * sizeof(uint64_t)};
    const uint64_t *kept[MANY];
    gufo_allocator a;
    counter count;

    (void)state;
    counter_init(&count);
    a = counter_allocator(&count);
    for (uint64_t i = 0; i < MANY; i++)
        kept[i] = share(&t, i, UINT64_MAX - i, &a);
    for (uint64_t i = 0; i < MANY; i++) {
        check(share(&t, i, UINT64_MAX - i, &a) == kept[i], "%" PRIu64 " again", i);
        check(kept[i][0] == i && kept[i][1] == UINT64_MAX - i && kept[i][3] == 1, "%" PRIu64, i);
    }
    check_u64(t.list.count, MANY, "shapes");
    shapes_free(&t, &a);
    check_u64(count.in_use, 0, "bytes that are left");
}

static void test_without_memory(void **state)
{
    bool is_kept = false;

    (void)state;
    for (size_t fail_at = 1; !is_kept; fail_at++) {
        shape_table t = {.list.size = AXES * sizeof(uint64_t)};
        gufo_allocator a;
        counter count;

        counter_init(&count);
        count.fail_at = fail_at;
        a = counter_allocator(&count);
        is_kept = share(&t, 2, 3, &a) != NULL;
        check(is_kept == (count.denied == 0), "request %zu", fail_at);
        check_u64(t.list.count, is_kept, "shapes");
        shapes_free(&t, &a);
        check_u64(count.in_use, 0, "bytes that are left");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_once),
                                       cmocka_unit_test(test_without_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
