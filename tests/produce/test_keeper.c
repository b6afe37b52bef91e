/* The keeper by itself: it saves what it receives, or reports why it cannot. */
#include "../support/allocator.h"
#include "../support/folder.h"

#include "base/memory.h"
#include "produce/run/run.h"

#include <fcntl.h>

/* A failure to save is reported as soon as it is known, and always after that. */
static void test_keeper_remembers(void **state)
{
    gufo_job job = {.allocator = default_allocator};
    char *paths[] = {"out.gguf"};
    targets t = {.job = &job, .paths = paths, .lock = PTHREAD_MUTEX_INITIALIZER};
    journal j = {.fd = open("/dev/full", O_RDWR | O_CLOEXEC), .path = "/dev/full"};
    const keeper_sink kept = keeper_to_journal(&j);
    journal_mark mark = {.piece = 3, .units_done = 1};
    gufo_error error = no_error();
    keeper k;

    (void)state;
    if (j.fd < 0)
        skip();
    keeper_start(&k, &t, &kept, true);
    check_ok(keeper_save(&k, &error), &error, "nothing to save");
    check_ok(keeper_note(&k, &mark, 1, &error), &error, "noted");
    keeper_stop(&k);
    keeper_stop(&k);
    check_status(keeper_save(&k, &error), GUFO_E_IO, &error, "saved");
    check_status(keeper_note(&k, &mark, 1, &error), GUFO_E_IO, &error, "noted again");
    check_status(keeper_save(&k, NULL), GUFO_E_IO, &error, "saved again");
    keeper_free(&k);
    journal_close(&j, true);
}

/* Marks of many tensors between two saves. */
static void test_keeper_grows(void **state)
{
    counter c;
    gufo_job job = {0};
    targets t = {.job = &job};
    journal_mark mark = {0};
    gufo_error error = no_error();
    journal j = {.fd = -1};
    const keeper_sink kept = keeper_to_journal(&j);
    keeper k;

    (void)state;
    counter_init(&c);
    job.allocator = counter_allocator(&c);
    c.fail_at = 9; /* marks and results have had 8, 24, 56 and 120 places */
    keeper_start(&k, &t, &kept, true);
    for (mark.piece = 0; mark.piece < 120; mark.piece++)
        check_ok(keeper_note(&k, &mark, 1, &error), &error, "mark");
    check_status(keeper_note(&k, &mark, 1, &error), GUFO_E_MEMORY, &error, "one more");
    check_u64(k.count, 120, "marks");
    keeper_free(&k);
    check_u64(c.in_use, 0, "leak");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeper_remembers),
        cmocka_unit_test(test_keeper_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
