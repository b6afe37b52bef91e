/* Options of the room: fields that a later version may give a meaning must be zero today. */
#include "gufo/quant.h"

#include "support/check.h"

static void check_refused(const char *name, const gufo_error *error)
{
    check(error->code == GUFO_E_ARGUMENT && strstr(error->message, name) != NULL, "%s: %s", name,
          error->message);
}

static void test_reserved(void **state)
{
    const gufo_recipe_options recipe = {.reserved = {1}};
    const gufo_imatrix_options imatrix = {.reserved = {0, 1}};
    const gufo_imatrix_merge_options merge = {.reserved = {0, 0, 1}};
    const gufo_quantize_options quantize = {.reserved = {0, 1}};
    const gufo_imatrix *none[1] = {NULL};
    const gufo_recipe_model model = {.layers = 0};
    gufo_error error = {0};

    (void)state;
    check(gufo_recipe_choose(&recipe, &model, NULL, 0, NULL, &error) == GUFO_E_ARGUMENT, "recipe");
    check_refused("gufo_recipe_options", &error);
    check(gufo_imatrix_open("none", &imatrix, &error) == NULL, "imatrix");
    check_refused("gufo_imatrix_options", &error);
    check(gufo_imatrix_open_memory("", 0, &imatrix, &error) == NULL, "imatrix");
    check_refused("gufo_imatrix_options", &error);
    check(gufo_imatrix_merge(none, 1, &merge, &error) == NULL, "merge");
    check_refused("gufo_imatrix_merge_options", &error);
    check(gufo_quantizer_new(NULL, &quantize, &error) == NULL, "quantize");
    check(error.code == GUFO_E_ARGUMENT, "%s", error.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reserved)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
