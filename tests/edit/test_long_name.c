/* Files whose names leave no room for ".gufo-journal": they are recovered (there is nothing to
 * recover) and rewritten, and never edited in place. */
#include "../support/edit.h"

static path_text long_path(const folder *f)
{
    char name[256];

    memset(name, 'n', 255);
    memcpy(name + 250, ".gguf", sizeof ".gguf");
    return folder_path(f, name);
}

static void test_rewrite(void **state)
{
    folder f = folder_new();
    path_text path = long_path(&f);
    gufo_error error = no_error();
    gufo_edit_plan plan;
    bool recover;
    gufo_str name;
    gufo_model *model;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    check_ok(edit_name(path.text, NAME_FITS, NULL, &plan, &recover, &error), &error, "edit");
    check_u64(plan.way, GUFO_EDIT_REWRITE, "way");
    check(strstr(plan.not_overwritten, "too long for a journal") != NULL, "%s",
          plan.not_overwritten);
    check(strstr(plan.not_inserted, "too long for a journal") != NULL, "%s", plan.not_inserted);
    model = gufo_model_open(path.text, NULL, &error);
    check(model != NULL, "%s", error.message);
    check_ok(gufo_model_get_str(model, "general.name", &name, &error), &error, "name");
    check_u64(name.len, NAME_FITS, "name");
    gufo_model_free(model);
    check_u64(entry_count(f.path), 1, "files");
    folder_remove(&f);
}

static void test_in_place(void **state)
{
    const gufo_edit_target target = {.in_place = GUFO_EDIT_IN_PLACE_ALWAYS};
    folder f = folder_new();
    path_text path = long_path(&f);
    gufo_error error = no_error();
    bool recover;

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    check_status(edit_name(path.text, NAME_FITS, &target, NULL, &recover, &error), GUFO_E_ARGUMENT,
                 &error, "in place");
    check(strstr(error.message, "too long for a journal") != NULL, "%s", error.message);
    folder_remove(&f);
}

static void test_recover(void **state)
{
    folder f = folder_new();
    path_text path = long_path(&f);
    gufo_edit_recovery recovery;
    gufo_error error = no_error();

    (void)state;
    write_small_model(path.text, (encoding){3, false});
    check_u64(gufo_edit_pending(path.text), 0, "pending");
    check_ok(gufo_edit_recover(path.text, NULL, &recovery, &error), &error, "recover");
    check_u64(recovery, GUFO_EDIT_RECOVERED_NOTHING, "recover");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_recover),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
