/* Places of tensors as text, and what estimates know of an architecture, in words. */
#include "../support/check.h"

static gufo_status join_rule(void *context, const gufo_place_rule *rule, gufo_error *error)
{
    char *out = context, name[GUFO_PLACE_SIZE];
    size_t len = strlen(out);

    (void)error;
    snprintf(out + len, 200 - len, "%.*s %s|", (int)rule->pattern.len, rule->pattern.data,
             gufo_place_name(rule->place, name));
    return rule->pattern.len > 0 && rule->pattern.data[0] == '!' ? GUFO_E_STOPPED : GUFO_OK;
}

static void test_rules(void **state)
{
    static const struct {
        const char *text, *rules;
    } good[] = {{"", ""},
                {"a=CPU", "a CPU|"},
                {"a=CPU,", "a CPU|"},
                {"blk\\.[0-9]=DEV0,(?=x)=b=DEV15,=CPU", "blk\\.[0-9] DEV0|(?=x)=b DEV15| CPU|"}};
    static const struct {
        const char *text;
        uint64_t offset;
    } bad[] = {{"a", 0},       {"a=", 0},           {"a=DEV", 0},
               {"a=DEV16", 0}, {"a=cpu", 0},        {"a=DEV1x", 0},
               {",a=CPU", 0},  {"a=CPU,,b=CPU", 6}, {"a=CPU,b=DEV99999999999999999999", 6}};
    gufo_error error = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        char out[200] = "";

        check_ok(gufo_place_rules_read(gufo_str_of(good[i].text), join_rule, out, &error), &error,
                 "%s", good[i].text);
        check(strcmp(out, good[i].rules) == 0, "%s: %s", good[i].text, out);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char out[200] = "";

        check(gufo_place_rules_read(gufo_str_of(bad[i].text), join_rule, out, &error) ==
                  GUFO_E_MALFORMED,
              "%s", bad[i].text);
        check_error_shape(&error, GUFO_E_MALFORMED, bad[i].text);
        check_u64(error.offset, bad[i].offset, "%s", bad[i].text);
    }
}

/* What the caller returns ends the reading. */
static void test_stop(void **state)
{
    char out[200] = "";

    (void)state;
    check(gufo_place_rules_read(gufo_str_of("!=CPU,b=CPU"), join_rule, out, NULL) == GUFO_E_STOPPED,
          "stopped");
    check(strcmp(out, "! CPU|") == 0, "%s", out);
}

typedef struct sentences {
    size_t count, most;
    bool has_cache;
} sentences;

static bool count_sentence(void *context, const char *sentence)
{
    sentences *s = context;

    s->has_cache |= strcmp(sentence, "a cache in all layers") == 0;
    return ++s->count < s->most;
}

/* Every architecture with a rule has words for it, and fewer where the caller stops. */
static void test_explain(void **state)
{
    const gufo_arch_info *arch;
    sentences none = {.most = SIZE_MAX}, llama = {.most = SIZE_MAX}, first = {.most = 1};
    size_t known = 0;

    (void)state;
    for (size_t i = 0; (arch = gufo_arch_at(i)) != NULL; i++) {
        sentences s = {.most = SIZE_MAX};

        if (!gufo_estimate_explain(arch->id, count_sentence, &s))
            continue;
        check(s.count >= 2, "%s has %zu sentences", arch->id, s.count);
        known++;
    }
    check(known > 100, "%zu architectures", known);
    assert_false(gufo_estimate_explain("no such", count_sentence, &none));
    check_u64(none.count, 0, "unknown");
    assert_true(gufo_estimate_explain("llama", count_sentence, &llama));
    assert_true(llama.has_cache);
    assert_true(gufo_estimate_explain("llama", count_sentence, &first));
    check_u64(first.count, 1, "stopped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_explain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
