/* Lists of fixes: each once, no rivals, all of them made. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixes), cmocka_unit_test(test_rest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
