/* Rules about adapters: each has a file that breaks it, and nothing else. */
#include "../models.h"

enum { RANK = 4, COLUMNS = 64, ROWS = 32 };

static void add_pair(model *m, const char *base, uint64_t columns, uint64_t rank, uint64_t rows)
{
    char name[GUFO_MAX_NAME + 1];

    snprintf(name, sizeof name, "%s.lora_a", base);
    model_add(m, name, 2, columns, rank);
    snprintf(name, sizeof name, "%s.lora_b", base);
    model_add(m, name, 2, rank, rows);
}

static model adapter(void)
{
    model m = model_new("llama");

    model_text(&m, "general.type", "adapter");
    model_text(&m, "adapter.type", "lora");
    model_f32(&m, "adapter.lora.alpha", 16);
    add_pair(&m, "blk.0.attn_q.weight", COLUMNS, RANK, ROWS);
    add_pair(&m, "blk.17.ffn_down.weight", COLUMNS, RANK + 1, ROWS);
    model_add(&m, "blk.0.attn_norm.weight", 1, COLUMNS, 1);
    return m;
}

/* ---- one fault each ------------------------------------------------------------------------- */

static void no_type(model *m)
{
    model_drop_key(m, "adapter.type");
}

static void no_alpha(model *m)
{
    model_drop_key(m, "adapter.lora.alpha");
}

static void no_a(model *m)
{
    model_drop(m, "blk.0.attn_q.weight.lora_a");
}

static void no_b(model *m)
{
    model_drop(m, "blk.17.ffn_down.weight.lora_b");
}

static void other_rank(model *m)
{
    model_find(m, "blk.0.attn_q.weight.lora_b")->dims[0] = RANK + 1;
}

static void more_matrices(model *m)
{
    model_tensor *t = model_find(m, "blk.0.attn_q.weight.lora_a");

    t->n_dims = 3;
    t->dims[2] = 2;
}

static void whole_tensor(model *m)
{
    model_add(m, "blk.0.attn_k.weight", 2, COLUMNS, ROWS);
}

static void base_unknown(model *m)
{
    add_pair(m, "model.layers.0.q_proj.weight", COLUMNS, RANK, ROWS);
}

static void no_rank(model *m)
{
    model_find(m, "blk.0.attn_q.weight.lora_a")->dims[1] = 0;
    model_find(m, "blk.0.attn_q.weight.lora_b")->dims[0] = 0;
}

static void whole_numbers(model *m)
{
    model_find(m, "blk.0.attn_q.weight.lora_b")->type = GUFO_TYPE_I32;
}

static void dora(model *m)
{
    model_add(m, "blk.0.attn_q.weight.lora_magnitude_vector", 1, ROWS, 1);
}

static const rule_row rows[] = {
    {"M401", "no type", adapter, no_type, "adapter.type", 0, NULL},
    {"M401", "other type", adapter, NULL, "adapter.type", 0, "adapter.type string ia3"},
    {"M402", "no alpha", adapter, no_alpha, "adapter.lora.alpha", 0, NULL},
    {"M403", "infinite", adapter, NULL, "adapter.lora.alpha", 0, "adapter.lora.alpha float32 -inf"},
    {"M403", "NaN", adapter, NULL, "adapter.lora.alpha", 0, "adapter.lora.alpha float32 nan"},
    {"M404", "no a", adapter, no_a, "blk.0.attn_q.weight.lora_b", 0, NULL},
    {"M404", "no b", adapter, no_b, "blk.17.ffn_down.weight.lora_a", 0, NULL},
    {"M405", "rank", adapter, other_rank, "blk.0.attn_q.weight.lora_a", 0, NULL},
    {"M405", "matrices", adapter, more_matrices, "blk.0.attn_q.weight.lora_a", 0, NULL},
    {"M406", "whole tensor", adapter, whole_tensor, "blk.0.attn_k.weight", 0, NULL},
    {"M407", "base", adapter, base_unknown, "model.layers.0.q_proj.weight.lora_a", 0, NULL},
    {"M408", "rank 0", adapter, no_rank, "blk.0.attn_q.weight.lora_a", 0, NULL},
    {"M409", "numbers", adapter, whole_numbers, "blk.0.attn_q.weight.lora_b", 0, NULL},
    {"M410", "DoRA", adapter, dora, "blk.0.attn_q.weight.lora_magnitude_vector", 0, NULL},
};

static void test_rules(void **state)
{
    (void)state;
    check_rule_rows(rows, COUNT_OF(rows), "M40");
}

/* ---- what is not a fault -------------------------------------------------------------------- */

/* A and B of the embedding are the other way round. */
static void embedding(model *m)
{
    model_add(m, "token_embd.weight.lora_a", 2, RANK, 320);
    model_add(m, "token_embd.weight.lora_b", 2, RANK, COLUMNS);
}

static void experts(model *m)
{
    add_pair(m, "blk.1.ffn_up_exps.weight", COLUMNS, RANK, ROWS);
    for (size_t i = m->tensor_count - 2; i < m->tensor_count; i++) {
        m->tensors[i].n_dims = 3;
        m->tensors[i].dims[2] = 8;
    }
}

static void other_architecture(model *m)
{
    model_text(m, "general.architecture", "unheardof");
    base_unknown(m);
}

static void test_no_faults(void **state)
{
    static void (*const changes[])(model *) = {embedding, experts, other_architecture};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        char label[32];
        model m = adapter();

        changes[i](&m);
        snprintf(label, sizeof label, "change %zu", i);
        check_clean(&m, label);
        model_free(&m);
    }
}

/* The other one of a pair may be in another shard. */
static void test_single_shard(void **state)
{
    const gufo_check_options single = {.level = GUFO_LEVEL_MODEL, .single = true};
    model m = adapter();
    findings found;

    (void)state;
    no_a(&m);
    found = model_check(&m, &single);
    check_u64(found.count, 0, "single");
    findings_free(&found);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_no_faults),
        cmocka_unit_test(test_single_shard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
