/* LoRA adapters before GGUF (GGLA): tensors, names, scales, and what is refused. */
#include <string.h>

#include "gufo/check.h"
#include "gufo/import.h"
#include "support/folder.h"

/* A matrix of `rows` rows of `columns` numbers: 1, 2, 3 ... */
typedef struct matrix {
    const char *name;
    uint32_t columns, rows;
} matrix;

static void put_matrix(builder *b, const matrix *m, uint32_t type)
{
    builder_u32(b, 2);
    builder_u32(b, (uint32_t)strlen(m->name));
    builder_u32(b, type);
    builder_u32(b, m->columns);
    builder_u32(b, m->rows);
    builder_raw(b, m->name, strlen(m->name));
    builder_pad(b, 32);
    for (uint32_t i = 0; i < m->columns * m->rows; i++)
        builder_f32(b, (float)i + 1);
}

static builder adapter_bytes(int32_t rank, int32_t alpha, const matrix *list, size_t count)
{
    builder b = builder_new((encoding){3, false});

    builder_raw(&b, "algg", 4);
    builder_u32(&b, 1);
    builder_u32(&b, (uint32_t)rank);
    builder_u32(&b, (uint32_t)alpha);
    for (size_t i = 0; i < count && list[i].name != NULL; i++)
        put_matrix(&b, &list[i], 0);
    return b;
}

/* Opens a file with these bytes, which are freed. */
static gufo_import *open_bytes(const folder *f, builder *b, size_t size, const char *arch,
                               gufo_error *error)
{
    path_text path = folder_path(f, "lora.bin");
    const gufo_legacy_options options = {.arch = arch};

    write_file(path.text, b->data, size);
    builder_free(b);
    return gufo_import_legacy(path.text, &options, error);
}

static void check_numbers(const gufo_import *import, const char *name, uint64_t columns,
                          uint64_t rows, const float *expected)
{
    const gufo_model *model = gufo_import_model(import);
    gufo_error error = no_error();
    float numbers[64];
    gufo_tensor t;

    check(gufo_model_tensor_find(model, name, &t), "no %s", name);
    check_u64(t.dims[0], columns, "%s", name);
    check_u64(t.dims[1], rows, "%s", name);
    check_ok(gufo_tensor_decode(model, &t, 0, rows, numbers, NULL, &error), &error, "%s", name);
    assert_memory_equal(numbers, expected, (size_t)(columns * rows) * sizeof *numbers);
}

#define HALF_A                                     \
    {                                              \
        "layers.1.attention.wq.weight.loraA", 2, 3 \
    }
#define HALF_B                                     \
    {                                              \
        "layers.1.attention.wq.weight.loraB", 2, 4 \
    }

static const matrix list[] = {
    HALF_A,
    HALF_B,
    {"blk.0.ffn_up.weight.loraB", 4, 2},
    {"blk.0.ffn_up.weight.loraA", 4, 3},
    {"token_embd.weight.loraA", 2, 3},
    {"token_embd.weight.loraB", 2, 5},
};

/* A is the other way round in GGUF; where a rank is not that of the first pair B makes up for it. */
static void test_tensors(void **state)
{
    static const float a[] = {1, 3, 5, 2, 4, 6}, b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                       b_of_rank_4[] = {2, 4, 6, 8, 10, 12, 14, 16},
                       a_of_rank_4[] = {1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12};
    folder f = folder_new();
    builder bytes = adapter_bytes(8, 6, list, COUNT_OF(list));
    gufo_error error = no_error();
    gufo_import *import = open_bytes(&f, &bytes, bytes.len, NULL, &error);
    gufo_entry entry;

    (void)state;
    check(import != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(gufo_import_model(import)), 6, "tensors");
    check_numbers(import, "blk.1.attn_q.weight.lora_a", 3, 2, a);
    check_numbers(import, "blk.1.attn_q.weight.lora_b", 2, 4, b);
    check_numbers(import, "blk.0.ffn_up.weight.lora_a", 3, 4, a_of_rank_4);
    check_numbers(import, "blk.0.ffn_up.weight.lora_b", 4, 2, b_of_rank_4);
    check_numbers(import, "token_embd.weight.lora_a", 2, 5, b);
    check_numbers(import, "token_embd.weight.lora_b", 2, 3, b);
    /* 6 / 8 for all pairs: readers divide by 2, the rank of the first. */
    check(gufo_model_find(gufo_import_model(import), "adapter.lora.alpha", &entry) &&
              entry.value.as.f == 1.5,
          "alpha");
    check(strstr(gufo_import_describe(import).doubt, "attn_q") != NULL, "doubt");
    gufo_import_free(import);
    folder_remove(&f);
}

static void count_assumed(void *context, const gufo_finding *finding)
{
    *(unsigned *)context += strcmp(finding->rule->id, "M431") == 0;
}

/* The file does not say the architecture: what is assumed is said; what is given is not assumed. */
static void test_assumed(void **state)
{
    static const char *const archs[] = {NULL, "llama"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(archs); i++) {
        folder f = folder_new();
        builder bytes = adapter_bytes(8, 6, list, COUNT_OF(list));
        gufo_error error = no_error();
        gufo_import *import = open_bytes(&f, &bytes, bytes.len, archs[i], &error);
        gufo_import_setting setting;
        bool is_assumed = false;
        unsigned found = 0;

        check(import != NULL, "%s", error.message);
        for (uint64_t k = 0; gufo_import_setting_at(import, k, &setting); k++)
            is_assumed |= setting.origin == GUFO_SETTING_ASSUMED &&
                          gufo_str_equal(setting.key, gufo_str_of("general.architecture"));
        check(is_assumed == (archs[i] == NULL), "setting %zu", i);
        check(gufo_model_find(gufo_import_model(import), "gufo.assumed", NULL) ==
                  (archs[i] == NULL),
              "key %zu", i);
        check_ok(gufo_model_check_content(gufo_import_model(import), NULL, count_assumed, &found,
                                          &error),
                 &error, "check");
        check_u64(found, archs[i] == NULL, "M431");
        gufo_import_free(import);
        folder_remove(&f);
    }
}

static void test_refused(void **state)
{
    static const struct {
        matrix list[3];
        const char *arch;
        int32_t rank, alpha;
        gufo_status status;
        const char *message;
    } rows[] = {
        {{HALF_A, HALF_B}, NULL, 0, 4, GUFO_E_MALFORMED, "the rank is 0"},
        {{HALF_A, HALF_B}, NULL, -1, 4, GUFO_E_MALFORMED, "the rank is -1"},
        {{HALF_A, HALF_B}, NULL, 2, 0, GUFO_E_MALFORMED, "alpha is 0"},
        {{{NULL, 0, 0}}, NULL, 2, 4, GUFO_E_NOT_FOUND, "no pairs"},
        {{HALF_A}, NULL, 2, 4, GUFO_E_MALFORMED, "no other half"},
        {{HALF_A, {"layers.1.attention.wq.weight.loraB", 3, 4}},
         NULL,
         2,
         4,
         GUFO_E_MALFORMED,
         "has rank 3, but its other half"},
        {{HALF_A, HALF_B, HALF_B}, NULL, 2, 4, GUFO_E_MALFORMED, "two tensors are called"},
        {{HALF_A, HALF_B, {"layers.1.attention.wq.weight", 3, 4}},
         NULL,
         2,
         4,
         GUFO_E_TYPE,
         "neither half"},
        {{{"layers.1.nothing.weight.loraA", 2, 3}, {"layers.1.nothing.weight.loraB", 2, 4}},
         NULL,
         2,
         4,
         GUFO_E_TYPE,
         "no rule for tensor"},
        {{{"a.loraA", 0, 3}}, NULL, 2, 4, GUFO_E_MALFORMED, "a dimension has 0"},
        {{HALF_A, HALF_B}, "nothing", 2, 4, GUFO_E_ARGUMENT, "no rules"},
    };
    folder f = folder_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = adapter_bytes(rows[i].rank, rows[i].alpha, rows[i].list, 3);
        gufo_error error = no_error();

        check(open_bytes(&f, &b, b.len, rows[i].arch, &error) == NULL, "%s", rows[i].message);
        check(error.code == rows[i].status && strstr(error.message, rows[i].message) != NULL,
              "%s: %s (%d)", rows[i].message, error.message, (int)error.code);
    }
    folder_remove(&f);
}

/* Every beginning of a file is refused, but for those that end with a pair. */
static void test_cut(void **state)
{
    builder all = adapter_bytes(2, 4, list, 2);
    const size_t whole = all.len;
    folder f = folder_new();

    (void)state;
    builder_free(&all);
    for (size_t size = 8; size < whole; size++) {
        builder b = adapter_bytes(2, 4, list, 2);
        gufo_error error = no_error();

        check(open_bytes(&f, &b, size, NULL, &error) == NULL, "%zu bytes", size);
        check(error.code == GUFO_E_TRUNCATED || error.code == GUFO_E_MALFORMED ||
                  error.code == GUFO_E_NOT_FOUND,
              "%zu bytes: %s", size, error.message);
    }
    folder_remove(&f);
}

static void test_types(void **state)
{
    folder f = folder_new();
    builder b = adapter_bytes(2, 4, NULL, 0);
    gufo_error error = no_error();

    (void)state;
    put_matrix(&b, &list[0], 2);
    check(open_bytes(&f, &b, b.len, NULL, &error) == NULL && error.code == GUFO_E_MALFORMED &&
              strstr(error.message, "type 2") != NULL,
          "%s", error.message);
    b = adapter_bytes(2, 4, NULL, 0);
    b.data[4] = 2;
    check(open_bytes(&f, &b, b.len, NULL, &error) == NULL && error.code == GUFO_E_VERSION, "%s",
          error.message);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_assumed),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_cut), cmocka_unit_test(test_types)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
