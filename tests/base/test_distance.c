/* The distance of names: suggestions compare names that are as near as the nearest so far. */
#include "support/check.h"

#include "base/text.h"

static const struct {
    const char *a, *b;
    size_t distance;
} pairs[] = {
    {"", "", 0},           {"show", "show", 0},      {"", "abc", 3},      {"show", "shwo", 1},
    {"show", "shows", 1},  {"get", "gte", 1},        {"list", "lost", 1}, {"model-x", "model-a", 1},
    {"quite", "quiet", 1}, {"kitten", "sitting", 3},
};

static void test_distances(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        gufo_str a = gufo_str_of(pairs[i].a), b = gufo_str_of(pairs[i].b);

        check_u64(gufo_text_distance(a, b, 100), pairs[i].distance, "%s, %s", pairs[i].a,
                  pairs[i].b);
        check_u64(gufo_text_distance(b, a, 100), pairs[i].distance, "%s, %s", pairs[i].b,
                  pairs[i].a);
    }
}

static void test_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        gufo_str a = gufo_str_of(pairs[i].a), b = gufo_str_of(pairs[i].b);
        size_t distance = pairs[i].distance;

        check_u64(gufo_text_distance(a, b, distance), distance, "%s, at the limit", pairs[i].b);
        if (distance > 0)
            check(gufo_text_distance(a, b, distance - 1) > distance - 1, "%s, past it", pairs[i].b);
    }
}

/* Texts that are too long to compare are not near, whatever the limit. */
static void test_long(void **state)
{
    static const char zeros[129], ones[129] = {1};

    (void)state;
    check(gufo_text_distance((gufo_str){zeros, 129}, (gufo_str){ones, 129}, SIZE_MAX) > 129,
          "without a limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances),
                                       cmocka_unit_test(test_limit), cmocka_unit_test(test_long)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
