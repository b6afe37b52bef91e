/* Tensors by layer and role. */
#include "../support/allocator.h"
#include "../support/check.h"

static void test_role(void **state)
{
    static const struct {
        const char *name, *role;
        uint64_t layer;
    } rows[] = {
        {"blk.3.ffn_down.weight", "ffn_down", 3},
        {"blk.0.attn_q.bias", "attn_q.bias", 0},
        {"output.weight", "output", GUFO_NO_LAYER},
        {"blk.3", "blk.3", GUFO_NO_LAYER},
        {"blk..weight", "blk.", GUFO_NO_LAYER},
        {"blk.x.a.weight", "blk.x.a", GUFO_NO_LAYER},
        {"blk.18446744073709551616.a", "blk.18446744073709551616.a", GUFO_NO_LAYER},
        {"blk.1.", "", 1},
        {".weight", "", GUFO_NO_LAYER},
        {"", "", GUFO_NO_LAYER},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t layer = 77;

        check_str(gufo_tensor_role(gufo_str_of(rows[i].name), &layer), rows[i].role, "%s",
                  rows[i].name);
        check_u64(layer, rows[i].layer, "%s", rows[i].name);
    }
    check_str(gufo_tensor_role(gufo_str_of("blk.1.a"), NULL), "a", "without the layer");
}

static uint32_t add(gufo_layers *layers, const char *name, uint32_t item)
{
    gufo_error error;

    check_ok(gufo_layers_add(layers, gufo_str_of(name), &item, &error), &error, "%s", name);
    return item;
}

static void test_table(void **state)
{
    gufo_error error;
    gufo_layers *layers = gufo_layers_new(NULL, &error);
    gufo_str role;
    uint32_t item;

    (void)state;
    assert_non_null(layers);
    check_u64(gufo_layers_count(layers), 0, "empty");
    check_u64(add(layers, "blk.0.q.weight", 0), 0, "new");
    check_u64(add(layers, "output.weight", 1), 1, "new");
    check_u64(add(layers, "blk.2.k.weight", 2), 2, "new");
    check_u64(add(layers, "blk.0.q", 3), 0, "the place is taken");
    check_u64(add(layers, "blk.1024.q.weight", 4), 4, "left out");
    check_u64(gufo_layers_count(layers), 3, "layers");
    check_u64(gufo_layers_role_count(layers), 2, "roles");
    check_u64(gufo_layers_left_out(layers), 1, "left out");
    check_str(gufo_layers_role(layers, 1), "k", "role");
    check_str(gufo_layers_role(layers, 2), "", "past the last role");
    check(gufo_layers_at(layers, 2, 1, &item) && item == 2, "there");
    check(!gufo_layers_at(layers, 1, 1, NULL) && !gufo_layers_at(layers, 3, 0, NULL) &&
              !gufo_layers_at(layers, 0, 2, NULL),
          "not there");
    check(gufo_layers_other(layers, 0, &role, &item) && item == 1, "outside");
    check_str(role, "output", "outside");
    check(!gufo_layers_other(layers, 1, NULL, NULL), "past the last");
    gufo_layers_free(layers);
    gufo_layers_free(NULL);
}

static void test_limits(void **state)
{
    static char names[GUFO_MOST_ROLES + 2][24];
    gufo_error error;
    gufo_layers *layers = gufo_layers_new(NULL, &error);
    const gufo_layers_options later = {.reserved = {1}};

    (void)state;
    assert_non_null(layers);
    for (uint32_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(names[i], sizeof names[i], "blk.1.r%u", (unsigned)i);
        (void)add(layers, names[i], i);
        (void)add(layers, names[i] + 6, i); /* outside of layers */
    }
    check_u64(gufo_layers_role_count(layers), GUFO_MOST_ROLES, "roles");
    check_u64(gufo_layers_left_out(layers), 4, "left out");
    check(gufo_layers_other(layers, GUFO_MOST_ROLES - 1, NULL, NULL) &&
              !gufo_layers_other(layers, GUFO_MOST_ROLES, NULL, NULL),
          "others");
    gufo_layers_free(layers);
    check(gufo_layers_new(&later, &error) == NULL && error.code == GUFO_E_ARGUMENT, "reserved");
}

/* A failure leaves the table as it was. */
static void test_memory(void **state)
{
    counter c;
    gufo_allocator allocator;
    gufo_layers_options options = {.allocator = &allocator};
    gufo_layers *layers;
    gufo_error error;
    uint32_t item = 0;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = 1;
    check(gufo_layers_new(&options, &error) == NULL && error.code == GUFO_E_MEMORY, "new");
    c.fail_at = c.calls + 2;
    layers = gufo_layers_new(&options, &error);
    assert_non_null(layers);
    check(gufo_layers_add(layers, gufo_str_of("blk.0.a"), &item, &error) == GUFO_E_MEMORY, "add");
    check_u64(gufo_layers_count(layers), 0, "as it was");
    c.fail_at = 0;
    (void)add(layers, "blk.0.a", 0);
    gufo_layers_free(layers);
    check_u64(c.in_use, 0, "all is given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_role), cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
