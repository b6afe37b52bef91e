/* Programs that are asked: what they print, and that none is waited for. */
#include "support/check.h"

/* A program of its own: the command is not a library, and its files are taken in as they are. */
#define MACHINE_ASK_MS 200
#include "cli/core/machine/machine_ask.c"

static bool ask(const char *script, char *answer, size_t size)
{
    const char *const words[] = {"sh", "-c", script, NULL};

    return machine_ask(words, answer, size);
}

static void answers(void **state)
{
    char answer[64];

    (void)state;
    assert_true(ask("echo one; cat; echo two >&2", answer, sizeof answer));
    assert_string_equal(answer, "one\n");
    assert_true(ask("true", answer, sizeof answer));
    assert_string_equal(answer, "");
}

static void failures(void **state)
{
    static const char *const missing[] = {"gufo-no-such-program", NULL};
    char answer[64];

    (void)state;
    assert_false(ask("echo one; exit 1", answer, sizeof answer));
    assert_false(ask("kill -9 $$", answer, sizeof answer));
    assert_false(machine_ask(missing, answer, sizeof answer));
    /* It prints without end, prints nothing, or has closed its output and stays. */
    assert_false(ask("while :; do echo 1234567; done", answer, sizeof answer));
    assert_false(ask("exec sleep 60", answer, sizeof answer));
    assert_false(ask("exec >&-; exec sleep 60", answer, sizeof answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(failures)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
