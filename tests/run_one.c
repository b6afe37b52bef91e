/* Runs the tests of one file: `test_ROOM NAME`.  Which files are in a program, cmake/tests.cmake decides:
 * TEST_LIST has a line TEST(ROOM, NAME) for each. */
#include <stdio.h>
#include <string.h>

#define TEST(room, name) int room##_##name##_main(void);
#include TEST_LIST
#undef TEST

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
#define TEST(room, name) {#name, room##_##name##_main},
#include TEST_LIST
#undef TEST
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(argv[1], tests[i].name) == 0)
            return tests[i].run();
    (void)fprintf(stderr, "usage: %s NAME, one of\n", argv[0]);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        (void)fprintf(stderr, "    %s\n", tests[i].name);
    return 2;
}
