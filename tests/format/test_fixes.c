/* Lists of fixes: each once, no rivals, all of them made.  Lists of findings: copies, the worst first. */
#include "../support/allocator.h"
#include "../support/check.h"

static gufo_fix rename_of(const char *key, const char *to)
{
    return (gufo_fix){.kind = GUFO_FIX_RENAME,
                      .certain = true,
                      .key = gufo_str_of(key),
                      .value = {.type = GUFO_VALUE_STRING, .as.str = gufo_str_of(to)}};
}

static gufo_fix fix_of(gufo_fix_kind kind, const char *key, uint64_t number)
{
    return (gufo_fix){.kind = kind,
                      .certain = true,
                      .key = gufo_str_of(key),
                      .value = {.type = GUFO_VALUE_UINT32, .as.u = number}};
}

static void add(gufo_fixes *fixes, gufo_fix fix)
{
    const gufo_finding finding = {.fix = fix};

    gufo_fixes_add(fixes, &finding);
}

static void test_fixes(void **state)
{
    gufo_fix proposal = fix_of(GUFO_FIX_SET, "p", 1);
    gufo_document *d = gufo_document_new(NULL, NULL);
    gufo_fixes *fixes = gufo_fixes_new(NULL, NULL);
    char key[] = "gone";
    gufo_document_entry entry;
    bool rewrite = false;
    gufo_error error;
    gufo_fix fix;

    (void)state;
    assert_non_null(d);
    assert_non_null(fixes);
    check_ok(gufo_document_set_u32(d, "gone", 1, &error), &error, "set");
    check_ok(gufo_document_set_u32(d, "old", 2, &error), &error, "set");
    proposal.certain = false;
    add(fixes, proposal);
    add(fixes, (gufo_fix){.kind = GUFO_FIX_NONE, .certain = true});
    add(fixes, fix_of(GUFO_FIX_REMOVE, key, 0));
    add(fixes, fix_of(GUFO_FIX_REMOVE, "gone", 0));
    add(fixes, fix_of(GUFO_FIX_REWRITE, "padding", 0));
    add(fixes, fix_of(GUFO_FIX_REWRITE, "gap", 0));
    add(fixes, rename_of("old", "new"));
    add(fixes, rename_of("a", "b"));
    add(fixes, rename_of("c", "b")); /* which of them is right? */
    add(fixes, fix_of(GUFO_FIX_SET, "set", 7));
    memset(key, 'x', sizeof key - 1); /* texts are copied */
    check_ok(gufo_fixes_settle(fixes, &error), &error, "settle");
    check_u64(gufo_fixes_count(fixes), 4, "each once, without the rivals");
    assert_true(gufo_fixes_at(fixes, 0, &fix));
    check_str(fix.key, "gone", "a copy");
    assert_false(gufo_fixes_at(fixes, 4, &fix));
    check_ok(gufo_fixes_apply(fixes, d, &rewrite, &error), &error, "apply");
    assert_true(rewrite);
    assert_false(gufo_document_find(d, "gone", NULL));
    assert_true(gufo_document_find(d, "new", NULL));
    assert_true(gufo_document_find(d, "set", &entry));
    check_u64(entry.value.as.u, 7, "set");
    check_status(gufo_fixes_apply(fixes, d, NULL, &error), GUFO_E_NOT_FOUND, &error, "again");
    gufo_fixes_free(fixes);
    gufo_fixes_free(NULL);
    gufo_document_free(d);
}

static void test_rest(void **state)
{
    char message[GUFO_FINDINGS_REST_SIZE];
    const gufo_fixes_options wrong = {.reserved = {1}};
    gufo_error error;

    (void)state;
    assert_false(gufo_findings_rest(GUFO_FINDINGS_OF_A_RULE, message));
    assert_true(gufo_findings_rest(GUFO_FINDINGS_OF_A_RULE + 1234, message));
    assert_non_null(strstr(message, "1,234"));
    assert_null(gufo_fixes_new(&wrong, &error));
    assert_int_equal(error.code, GUFO_E_ARGUMENT);
}

/* ---- findings ------------------------------------------------------------------------------- */

/* Two errors with a warning between them, then many of one rule of the format.  `text` changes afterwards. */
static void add_findings(gufo_finding_list *list, char *text)
{
    const gufo_rule *error = gufo_rule_by_id("G205"), *warning = gufo_rule_by_id("M213");
    gufo_finding finding = {.rule = error, .offset = 1, .subject = gufo_str_of(text)};

    finding.message = text;
    finding.hint = text;
    finding.fix = rename_of(text, text);
    gufo_finding_list_add(list, &finding);
    for (uint64_t i = 0; i < GUFO_FINDINGS_OF_A_RULE + 5; i++)
        gufo_finding_list_add(
            list, &(gufo_finding){.rule = warning, .offset = i, .message = "as often as it comes"});
    for (uint64_t i = 0; i < GUFO_FINDINGS_OF_A_RULE + 5; i++)
        gufo_finding_list_add(list,
                              &(gufo_finding){.rule = error, .offset = 2 + i, .message = "x"});
    memset(text, '?', strlen(text));
}

static void test_findings(void **state)
{
    gufo_finding_list *list = gufo_finding_list_new(NULL, NULL);
    char text[] = "a text of the file";
    gufo_error error;
    gufo_finding f;

    (void)state;
    assert_non_null(list);
    add_findings(list, text);
    check_ok(gufo_finding_list_sort(list, &error), &error, "sort");
    check_u64(gufo_finding_list_count(list), 2 * GUFO_FINDINGS_OF_A_RULE + 6, "with a sentence");
    assert_true(gufo_finding_list_at(list, 0, &f));
    check_str(f.subject, "a text of the file", "a copy");
    check_str(gufo_str_of(f.message), "a text of the file", "a copy");
    check_str(gufo_str_of(f.hint), "a text of the file", "a copy");
    check_str(f.fix.key, "a text of the file", "a copy");
    check_str(f.fix.value.as.str, "a text of the file", "a copy");
    for (uint64_t i = 0; i < GUFO_FINDINGS_OF_A_RULE; i++) {
        assert_true(gufo_finding_list_at(list, i, &f));
        check_u64(f.offset, i + 1, "in their order");
        assert_int_equal(f.rule->severity, GUFO_ERROR);
    }
    assert_true(gufo_finding_list_at(list, GUFO_FINDINGS_OF_A_RULE, &f));
    assert_non_null(strstr(f.message, "6 more findings"));
    assert_true(gufo_finding_list_at(list, GUFO_FINDINGS_OF_A_RULE + 1, &f));
    assert_int_equal(f.rule->severity, GUFO_WARNING);
    assert_false(gufo_finding_list_at(list, gufo_finding_list_count(list), &f));
    gufo_finding_list_free(list);
    gufo_finding_list_free(NULL);
}

static void test_every_finding(void **state)
{
    const gufo_finding_list_options every = {.every = true}, wrong = {.reserved = {0, 1}};
    gufo_finding_list *list = gufo_finding_list_new(&every, NULL);
    char text[] = "x";
    gufo_error error;

    (void)state;
    assert_non_null(list);
    check_ok(gufo_finding_list_sort(list, &error), &error, "nothing to sort");
    check_u64(gufo_finding_list_count(list), 0, "empty");
    add_findings(list, text);
    check_ok(gufo_finding_list_sort(list, &error), &error, "sort");
    check_u64(gufo_finding_list_count(list), 2 * GUFO_FINDINGS_OF_A_RULE + 11, "all");
    gufo_finding_list_free(list);
    assert_null(gufo_finding_list_new(&wrong, &error));
    assert_int_equal(error.code, GUFO_E_ARGUMENT);
}

/* Without memory at any call the list says so, and frees what it has. */
static void test_findings_without_memory(void **state)
{
    bool done = false;

    (void)state;
    for (unsigned long at = 1; !done; at++) {
        counter c;
        const gufo_allocator allocator = counter_allocator(&c);
        const gufo_finding_list_options options = {.allocator = &allocator};
        gufo_finding_list *list;
        gufo_error error;
        char text[] = "x";

        counter_init(&c);
        c.fail_at = at;
        list = gufo_finding_list_new(&options, &error);
        if (list != NULL) {
            add_findings(list, text);
            done = gufo_finding_list_sort(list, &error) == GUFO_OK;
            if (!done)
                assert_int_equal(error.code, GUFO_E_MEMORY);
        }
        gufo_finding_list_free(list);
        check_u64(c.in_use, 0, "everything is freed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixes),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_every_finding),
        cmocka_unit_test(test_findings_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
