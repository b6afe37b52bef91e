/* The table of rules: stable ids, names that the documentation uses, and words for everything. */
#include "../support/check.h"

/* Ids never change their meaning: this list only grows. */
static const struct {
    const char *id, *name;
    gufo_severity severity;
    bool fatal;
} known[] = {
    {"G101", "magic", GUFO_ERROR, true},
    {"G102", "version", GUFO_ERROR, true},
    {"G103", "header-truncated", GUFO_ERROR, true},
    {"G104", "metadata-count", GUFO_ERROR, true},
    {"G105", "tensor-count", GUFO_ERROR, true},
    {"G106", "count-limit", GUFO_ERROR, true},
    {"G201", "metadata-truncated", GUFO_ERROR, true},
    {"G202", "key-empty", GUFO_ERROR, true},
    {"G203", "key-length", GUFO_ERROR, true},
    {"G204", "key-ascii", GUFO_ERROR, true},
    {"G205", "key-duplicate", GUFO_ERROR, true},
    {"G206", "value-type", GUFO_ERROR, true},
    {"G207", "array-type", GUFO_ERROR, true},
    {"G208", "array-depth", GUFO_ERROR, true},
    {"G209", "bool-value", GUFO_ERROR, true},
    {"G210", "alignment-type", GUFO_ERROR, true},
    {"G211", "alignment-value", GUFO_ERROR, true},
    {"G301", "infos-truncated", GUFO_ERROR, true},
    {"G302", "name-length", GUFO_ERROR, true},
    {"G303", "name-nul", GUFO_ERROR, true},
    {"G304", "name-duplicate", GUFO_ERROR, true},
    {"G305", "dims-count", GUFO_ERROR, true},
    {"G306", "dims-overflow", GUFO_ERROR, true},
    {"G307", "row-blocks", GUFO_ERROR, true},
    {"G308", "offset-alignment", GUFO_ERROR, true},
    {"G309", "data-truncated", GUFO_ERROR, true},
    {"G310", "data-overlap", GUFO_ERROR, true},
    {"G401", "string-utf8", GUFO_ERROR, false},
    {"G402", "name-utf8", GUFO_ERROR, false},
    {"G403", "key-charset", GUFO_ERROR, false},
    {"G404", "key-segment", GUFO_ERROR, false},
    {"G405", "type-removed", GUFO_ERROR, false},
    {"G501", "array-utf8", GUFO_WARNING, false},
    {"G502", "key-case", GUFO_WARNING, false},
    {"G503", "padding-nonzero", GUFO_WARNING, false},
    {"G504", "data-gap", GUFO_WARNING, false},
    {"G505", "data-order", GUFO_WARNING, false},
    {"G506", "trailing-bytes", GUFO_WARNING, false},
    {"G507", "alignment-unusual", GUFO_WARNING, false},
    {"G508", "tensor-empty", GUFO_WARNING, false},
    {"G509", "split-keys", GUFO_WARNING, false},
    {"G510", "architecture-missing", GUFO_WARNING, false},
    {"G511", "quantization-version-missing", GUFO_WARNING, false},
    {"G512", "version-old", GUFO_WARNING, false},
    {"G513", "type-unknown", GUFO_WARNING, false},
    {"G514", "name-empty", GUFO_WARNING, false},
    {"G517", "data-zero", GUFO_WARNING, false},
    {"G601", "compat-ggml", GUFO_INFO, false},
    {"G801", "data-nonfinite", GUFO_ERROR, false},
    {"G802", "scale-nonfinite", GUFO_ERROR, false},
    {"G803", "data-unchecked", GUFO_INFO, false},
    {"G804", "data-missing", GUFO_ERROR, false},
};

static void test_known_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const gufo_rule *rule = gufo_rule_by_id(known[i].id);

        check(rule != NULL, "%s", known[i].id);
        check(strcmp(rule->name, known[i].name) == 0, "%s is %s", known[i].id, rule->name);
        check(gufo_rule_by_id(known[i].name) == rule, "%s", known[i].name);
        check(rule->severity == known[i].severity, "%s", known[i].name);
        check(rule->fatal == known[i].fatal, "%s", known[i].name);
    }
}

static void check_words(const char *text, const char *id)
{
    check(text != NULL && text[0] != '\0', "%s: no words", id);
    for (; *text != '\0'; text++)
        check((unsigned char)*text >= 0x20 && *text != 0x7f, "%s: control character", id);
}

static void test_every_rule(void **state)
{
    (void)state;
    const gufo_rule *rule;
    size_t count = 0;

    for (; (rule = gufo_rule_at(count)) != NULL; count++) {
        size_t i = count;

        check_words(rule->id, "id");
        check_words(rule->name, rule->id);
        check_words(rule->clause, rule->id);
        check_words(rule->summary, rule->id);
        check(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(rule->name),
              "%s", rule->name);
        check(!rule->fatal || (rule->severity == GUFO_ERROR && rule->status != GUFO_OK), "%s",
              rule->name);
        for (size_t k = 0; k < i; k++) {
            check(strcmp(rule->id, gufo_rule_at(k)->id) != 0, "%s twice", rule->id);
            check(strcmp(rule->name, gufo_rule_at(k)->name) != 0, "%s twice", rule->name);
        }
    }
    check(count >= COUNT_OF(known), "%zu rules", count);
    assert_null(gufo_rule_at(SIZE_MAX));
    assert_null(gufo_rule_by_id("G999"));
    assert_null(gufo_rule_by_id(""));
}

static void test_severities(void **state)
{
    (void)state;
    assert_string_equal(gufo_severity_name(GUFO_INFO), "info");
    assert_string_equal(gufo_severity_name(GUFO_WARNING), "warning");
    assert_string_equal(gufo_severity_name(GUFO_ERROR), "error");
    assert_string_equal(gufo_fix_name(GUFO_FIX_NONE), "none");
    assert_string_equal(gufo_fix_name(GUFO_FIX_RENAME_TENSOR), "rename_tensor");
    assert_string_equal(gufo_fix_name((gufo_fix_kind)99), "unknown");
    assert_int_equal(gufo_fix_part_of(GUFO_FIX_REMOVE), GUFO_FIX_PART_KEY);
    assert_int_equal(gufo_fix_part_of(GUFO_FIX_RETYPE), GUFO_FIX_PART_TYPE);
    assert_int_equal(gufo_fix_part_of((gufo_fix_kind)99), GUFO_FIX_PART_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_rules),
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_severities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
