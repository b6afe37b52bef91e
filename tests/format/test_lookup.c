/* Finding keys and tensors by name among many, present and absent. */
#include "../support/openers.h"

#define MANY 100000

/* The name of number `i`: of many shapes and lengths, all different. */
static size_t make_name(char out[64], uint32_t i)
{
    static const char *const shapes[] = {"blk.%" PRIu32 ".attn_q.weight", "%" PRIu32,
                                         "a.very_long_prefix_that_all_share.%" PRIu32,
                                         "x%08" PRIX32, "%" PRIu32 ".tail"};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return (size_t)snprintf(out, 64, shapes[i % COUNT_OF(shapes)], i);
#pragma GCC diagnostic pop
}

static void test_many_keys(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_model *file;
    gufo_entry entry;
    char key[64];

    (void)state;
    builder_header(&b, 0, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        make_name(key, i);
        builder_kv_u32(&b, key, i);
    }
    file = open_built(&b, "many keys");
    check_u64(gufo_model_entry_count(file), MANY, "many keys");
    for (uint32_t i = 0; i < MANY; i++) {
        size_t len = make_name(key, i);

        check(gufo_model_find(file, key, &entry), "%s", key);
        check_u64(entry.value.as.u, i, "%s", key);
        check(gufo_model_entry_at(file, i, &entry), "%s", key);
        check_str(entry.key, key, "file order");
        check(gufo_model_find_str(file, (gufo_str){key, len}, &entry), "%s", key);
        check(!gufo_model_find_str(file, (gufo_str){key, len + 1}, &entry),
              "%s with its terminator", key);
        key[0] ^= 1; /* the same length, another first letter: absent, '1' and '0' apart */
        if (key[0] > '9')
            check(!gufo_model_find(file, key, &entry), "%s", key);
        snprintf(key, sizeof key, "absent.%" PRIu32, i);
        check(!gufo_model_find(file, key, &entry), "%s", key);
    }
    gufo_model_free(file);
    builder_free(&b);
}

static void test_many_tensors(void **state)
{
    builder b = builder_new((encoding){3, true});
    const uint64_t dims[1] = {0};
    gufo_model *file;
    gufo_tensor tensor;
    char name[64];

    (void)state;
    builder_header(&b, MANY, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        make_name(name, i);
        builder_tensor(&b, name, i % 2 ? GUFO_TYPE_F16 : GUFO_TYPE_F32, 1, dims, 0);
    }
    builder_pad(&b, 32);
    file = open_built(&b, "many tensors");
    check_u64(gufo_model_tensor_count(file), MANY, "many tensors");
    for (uint32_t i = 0; i < MANY; i++) {
        size_t len = make_name(name, i);

        check(gufo_model_tensor_find(file, name, &tensor), "%s", name);
        check_u64(tensor.type, i % 2 ? GUFO_TYPE_F16 : GUFO_TYPE_F32, "%s", name);
        check(gufo_model_tensor_at(file, i, &tensor), "%s", name);
        check_str(tensor.name, name, "file order");
        check(!gufo_model_tensor_find_str(file, (gufo_str){name, len - 1}, &tensor) ||
                  tensor.name.len == len - 1,
              "%s cut", name);
        snprintf(name, sizeof name, "absent.%" PRIu32, i);
        check(!gufo_model_tensor_find(file, name, &tensor), "%s", name);
    }
    gufo_model_free(file);
    builder_free(&b);
}

/* Bytes and length decide, nothing else: neither case nor a NUL nor a prefix. */
static void test_exactness(void **state)
{
    static const char *const keys[] = {
        "a", "A", "a.b", "a.b.c", "aa", "general.alignmen", "general.alignment_"};
    builder b = builder_new((encoding){2, false});
    gufo_model *file;
    gufo_entry entry;

    (void)state;
    builder_header(&b, 0, COUNT_OF(keys));
    for (uint32_t i = 0; i < COUNT_OF(keys); i++)
        builder_kv_u32(&b, keys[i], i);
    file = open_built(&b, "exactness");
    for (uint32_t i = 0; i < COUNT_OF(keys); i++) {
        check(gufo_model_find(file, keys[i], &entry), "%s", keys[i]);
        check_u64(entry.value.as.u, i, "%s", keys[i]);
    }
    check(!gufo_model_find_str(file, (gufo_str){"a\0", 2}, &entry), "a with a NUL");
    check(!gufo_model_find_str(file, (gufo_str){"a\0b", 3}, &entry), "a, NUL, b");
    check(!gufo_model_find_str(file, (gufo_str){NULL, 0}, &entry), "nothing");
    check(!gufo_model_find(file, "general.alignment", &entry), "general.alignment");
    check(!gufo_model_find(file, "a.", &entry), "a.");
    check_u64(gufo_model_facts(file).alignment, 32, "alignment");
    gufo_model_free(file);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_many_tensors),
        cmocka_unit_test(test_exactness),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
