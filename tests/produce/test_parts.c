/* Jobs in parts: whoever makes them, and in whatever order, the bytes and results of one run come out. */
#include "plans.h"
#include "support/parts.h"

/* Many: several units of each piece that is made. */
enum { MANY = 4100, SOME = 16 };

static void test_all_kinds_of_pieces(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone < 2; alone++)
        for (unsigned many = 0; many < 2; many++) {
            plan p = plan_new(alone != 0, many != 0 ? MANY : SOME);
            const gufo_job_options outputs = {.path = p.path.text};
            gufo_error error = no_error();
            gufo_job *whole = plan_job(&p, &error), *parted = plan_job(&p, &error);

            check_parts(whole, parted, &outputs, alone ? "alone" : "two targets");
            plan_check(&p, "whole");
            gufo_job_free(whole);
            gufo_job_free(parted);
            plan_end(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_pieces),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
