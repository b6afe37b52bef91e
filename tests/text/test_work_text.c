/* Texts on their way: what they make room for. */
#include "support/allocator.h"

#include "text/pipeline/steps/work_text.h"

/* One scratch serves pipelines that need origins, and others. */
static void test_origins_after_none(void **state)
{
    enum { MANY = 1000 };
    counter c;
    gufo_allocator allocator;
    work_text t = {.allocator = &allocator, .keeps_origins = true};

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    assert_true(work_text_reserve(&t, 1));
    t.keeps_origins = false;
    assert_true(work_text_reserve(&t, MANY));
    t.keeps_origins = true;
    assert_true(work_text_reserve(&t, MANY));
    assert_true(c.in_use >= MANY * (1 + sizeof *t.origins));
    work_text_free(&t);
    assert_int_equal(c.in_use, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_origins_after_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
