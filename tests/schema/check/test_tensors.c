/* Rules about the tensors of a model: each has a file that breaks it, and nothing else. */
#include "../models.h"

/* ---- one fault each ------------------------------------------------------------------------- */

static void no_norm_at_end(model *m)
{
    model_drop(m, "output_norm.weight");
}

static void no_value_in_block(model *m)
{
    model_drop(m, "blk.1.attn_v.weight");
}

static void drop_block(model *m, const char *prefix)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->tensor_count; i++)
        if (strncmp(m->tensors[i].name, prefix, strlen(prefix)) != 0)
            m->tensors[kept++] = m->tensors[i];
    check(kept < m->tensor_count, "%s", prefix);
    m->tensor_count = kept;
}

static void gap(model *m)
{
    drop_block(m, "blk.0.");
}

static void too_few_blocks(model *m)
{
    drop_block(m, "blk.1.");
}

static void no_blocks(model *m)
{
    drop_block(m, "blk.");
}

static void leading_zero(model *m)
{
    model_rename(m, "blk.1.attn_q.weight", "blk.01.attn_q.weight");
}

static void doubled_block(model *m)
{
    model_add(m, "blk.001.attn_q.weight", 2, TINY_EMBEDDING, TINY_EMBEDDING);
}

static void block_too_many(model *m)
{
    tiny_block(m, TINY_BLOCKS);
}

static void block_number_too_large(model *m)
{
    model_add(m, "blk.99999999999999999999.ffn_norm.weight", 1, TINY_EMBEDDING, 1);
}

static model unknown_architecture(void)
{
    model m = tiny_llama();

    model_text(&m, "general.architecture", "unheardof");
    model_u32(&m, "unheardof.block_count", TINY_BLOCKS);
    model_add(&m, "blk.1.novelty.weight", 2, 3, 5);
    return m;
}

static void misspelt(model *m)
{
    model_add(m, "blk.1.atn_sub_nrm.weight", 1, 64, 1);
}

static void other_suffix(model *m)
{
    model_add(m, "blk.1.attn_q.weights", 1, 64, 1);
}

static void of_another_architecture(model *m)
{
    model_add(m, "blk.0.ssm_a", 2, 16, 64);
}

static void more_columns(model *m)
{
    model_find(m, "blk.1.ffn_gate.weight")->dims[0] = TINY_EMBEDDING + 1;
}

static void transposed(model *m)
{
    model_tensor *t = model_find(m, "blk.0.ffn_down.weight");

    t->dims[0] = TINY_EMBEDDING;
    t->dims[1] = TINY_FEED_FORWARD;
}

static void long_bias(model *m)
{
    model_add(m, "blk.0.attn_k.bias", 1, TINY_KEYS + 1, 1);
}

static void embedding_of_other_columns(model *m)
{
    model_find(m, "token_embd.weight")->dims[0] = TINY_VOCABULARY;
}

/* What every qwen2 has: biases for queries, keys and values. */
static model qwen2(void)
{
    model m = tiny_llama();

    model_text(&m, "general.architecture", "qwen2");
    for (size_t i = 0; i < m.key_count; i++)
        if (strncmp(m.keys[i].key, "llama.", 6) == 0) {
            char name[128];

            snprintf(name, sizeof name, "qwen2.%.100s", m.keys[i].key + 6);
            memcpy(m.keys[i].key, name, sizeof name);
        }
    model_add(&m, "blk.0.attn_q.bias", 1, TINY_EMBEDDING, 1);
    model_add(&m, "blk.0.attn_k.bias", 1, TINY_KEYS, 1);
    return m;
}

static void fewer_rows(model *m)
{
    model_find(m, "token_embd.weight")->dims[1] = TINY_VOCABULARY - 1;
}

static void more_rows(model *m)
{
    model_find(m, "output.weight")->dims[1] = 64;
}

static void quantized_norm(model *m)
{
    model_find(m, "blk.0.attn_norm.weight")->type = GUFO_TYPE_Q8_0;
}

static void quantized_bias(model *m)
{
    model_add(m, "blk.0.attn_q.bias", 1, TINY_EMBEDDING, 1)->type = GUFO_TYPE_Q4_0;
}

static void embedding_of_integers(model *m)
{
    model_find(m, "token_embd.weight")->type = GUFO_TYPE_I32;
}

/* A model of another architecture, with these keys renamed. */
static model renamed(const char *architecture)
{
    model m = tiny_llama();

    model_text(&m, "general.architecture", architecture);
    for (size_t i = 0; i < m.key_count; i++)
        if (strncmp(m.keys[i].key, "llama.", 6) == 0) {
            char name[128];

            snprintf(name, sizeof name, "%s.%.100s", architecture, m.keys[i].key + 6);
            memcpy(m.keys[i].key, name, sizeof name);
        }
    return m;
}

/* The second of two blocks has experts. */
static model with_dense(void)
{
    model m = renamed("glm4moe");

    model_drop(&m, "blk.0.ffn_norm.weight");
    model_drop(&m, "blk.1.ffn_norm.weight");
    model_drop(&m, "blk.1.ffn_gate.weight");
    model_drop(&m, "blk.1.ffn_up.weight");
    model_drop(&m, "blk.1.ffn_down.weight");
    model_add(&m, "blk.1.ffn_gate_inp.weight", 2, TINY_EMBEDDING, 4);
    model_keys(&m, "glm4moe.expert_count uint32 4; glm4moe.expert_used_count uint32 2; "
                   "glm4moe.expert_feed_forward_length uint32 32; "
                   "glm4moe.expert_shared_count uint32 1; "
                   "glm4moe.expert_gating_func uint32 1; "
                   "glm4moe.leading_dense_block_count uint32 1");
    return m;
}

/* The second of two blocks predicts another token. */
static model predicting(void)
{
    model m = with_dense();

    model_keys(&m, "glm4moe.nextn_predict_layers uint32 1");
    model_add(&m, "blk.1.nextn.eh_proj.weight", 2, 2 * TINY_EMBEDDING, TINY_EMBEDDING);
    return m;
}

static void more_dense(model *m)
{
    model_u32(m, "glm4moe.leading_dense_block_count", 2);
}

static void more_predicting(model *m)
{
    model_u32(m, "glm4moe.nextn_predict_layers", 2);
}

static void shared_expert(model *m)
{
    model_add(m, "blk.0.ffn_up_shexp.weight", 2, TINY_EMBEDDING, 32);
}

static const rule_row rows[] = {
    {"M301", "norm", tiny_llama, no_norm_at_end, "output_norm.weight", 0, NULL},
    {"M301", "in a block", tiny_llama, no_value_in_block, "blk.1.attn_v.weight", 0, NULL},
    {"M302", "gap", tiny_llama, gap, "blk.0", 0, NULL},
    {"M302", "too few", tiny_llama, too_few_blocks, "blk.1", 0, NULL},
    {"M302", "more said", tiny_llama, NULL, "blk.2", 0,
     "llama.block_count uint64 9223372036854775808"},
    {"M302", "none", tiny_llama, no_blocks, "blk.0", 0, NULL},
    {"M303", "leading zero", tiny_llama, leading_zero, "blk.01.attn_q.weight", 0, NULL},
    {"M303", "doubled", tiny_llama, doubled_block, "blk.001.attn_q.weight", 0, NULL},
    {"M304", "too many", tiny_llama, block_too_many, "blk.2", 0, NULL},
    {"M304", "too large", tiny_llama, block_number_too_large, NULL, 0, NULL},
    {"M305", "gap", unknown_architecture, gap, "blk.0", 0, NULL},
    {"M305", "too many", unknown_architecture, block_too_many, "blk.2", 0, NULL},
    {"M306", "misspelt", tiny_llama, misspelt, "blk.1.atn_sub_nrm.weight", 0, NULL},
    {"M306", "suffix", tiny_llama, other_suffix, "blk.1.attn_q.weights", 0, NULL},
    {"M307", "foreign", tiny_llama, of_another_architecture, "blk.0.ssm_a", 0, NULL},
    {"M308", "columns", tiny_llama, more_columns, "blk.1.ffn_gate.weight", 0, NULL},
    {"M308", "transposed", tiny_llama, transposed, "blk.0.ffn_down.weight", 0, NULL},
    {"M308", "bias", tiny_llama, long_bias, "blk.0.attn_k.bias", 0, NULL},
    {"M308", "embedding", tiny_llama, embedding_of_other_columns, "token_embd.weight", 0, NULL},
    {"M308", "no feed-forward part", tiny_llama, NULL, NULL, 3,
     "llama.feed_forward_length uint32[] 96 0"},
    {"M309", "columns", qwen2, more_columns, "blk.1.ffn_gate.weight", 0, NULL},
    {"M310", "embedding", tiny_llama, fewer_rows, "token_embd.weight", 0, NULL},
    {"M309", "embedding of another architecture", qwen2, fewer_rows, "token_embd.weight", 0, NULL},
    {"M311", "output", tiny_llama, more_rows, "output.weight", 0, NULL},
    {"M312", "norm", tiny_llama, quantized_norm, "blk.0.attn_norm.weight", 0, NULL},
    {"M312", "bias", tiny_llama, quantized_bias, "blk.0.attn_q.bias", 0, NULL},
    {"M313", "integers", tiny_llama, embedding_of_integers, "token_embd.weight", 0, NULL},
    {"M314", "shared expert", tiny_llama, shared_expert, "llama.expert_shared_feed_forward_length",
     0, NULL},
    {"M315", "more", with_dense, more_dense, "glm4moe.leading_dense_block_count", 0, NULL},
    {"M316", "more", predicting, more_predicting, "glm4moe.nextn_predict_layers", 0, NULL},
    {"M317", "no heads", tiny_llama, NULL, "llama.attention.head_count_kv", 0,
     "llama.attention.head_count_kv uint32[] 2 0"},
};

static void test_rules(void **state)
{
    (void)state;
    check_rule_rows(rows, COUNT_OF(rows), "M3");
}

/* ---- what is not a fault -------------------------------------------------------------------- */

static void tied(model *m)
{
    model_drop(m, "output.weight");
}

static void with_experts(model *m)
{
    static const struct {
        const char *dense, *experts;
    } names[] = {{"blk.1.ffn_gate.weight", "blk.1.ffn_gate_exps.weight"},
                 {"blk.1.ffn_up.weight", "blk.1.ffn_up_exps.weight"},
                 {"blk.1.ffn_down.weight", "blk.1.ffn_down_exps.weight"}};

    model_u32(m, "llama.expert_count", 8);
    model_u32(m, "llama.expert_used_count", 2);
    model_add(m, "blk.1.ffn_gate_inp.weight", 2, TINY_EMBEDDING, 8);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        model_tensor *t = model_find(m, names[i].dense);

        model_rename(m, names[i].dense, names[i].experts);
        t->n_dims = 3;
        t->dims[2] = 8;
    }
}

/* Files of early 2024 have each expert on its own. */
static void with_single_experts(model *m)
{
    static const char *const parts[] = {"gate", "up", "down"};

    model_u32(m, "llama.expert_count", 2);
    model_u32(m, "llama.expert_used_count", 1);
    model_add(m, "blk.1.ffn_gate_inp.weight", 2, TINY_EMBEDDING, 2);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        char name[64], second[64];
        model_tensor *t;

        snprintf(name, sizeof name, "blk.1.ffn_%s.weight", parts[i]);
        t = model_find(m, name);
        snprintf(second, sizeof second, "blk.1.ffn_%s.1.weight", parts[i]);
        model_add(m, second, 2, t->dims[0], t->dims[1]);
        snprintf(second, sizeof second, "blk.1.ffn_%s.0.weight", parts[i]);
        model_rename(m, name, second);
    }
}

static void fused(model *m)
{
    model_drop(m, "blk.0.attn_k.weight");
    model_drop(m, "blk.0.attn_v.weight");
    model_rename(m, "blk.0.attn_q.weight", "blk.0.attn_qkv.weight");
    model_find(m, "blk.0.attn_qkv.weight")->dims[1] = TINY_EMBEDDING + 2 * TINY_KEYS;
}

/* Each block may be as wide as it likes. */
static void lists(model *m)
{
    model_list(m, "llama.feed_forward_length", 2, (uint32_t[]){TINY_FEED_FORWARD, 32});
    model_find(m, "blk.1.ffn_gate.weight")->dims[1] = 32;
    model_find(m, "blk.1.ffn_up.weight")->dims[1] = 32;
    model_find(m, "blk.1.ffn_down.weight")->dims[0] = 32;
}

static void predicting_block(model *m)
{
    tiny_block(m, TINY_BLOCKS);
    model_u32(m, "llama.nextn_predict_layers", 1);
}

static void predicting_block_left_out(model *m)
{
    model_u32(m, "llama.block_count", TINY_BLOCKS + 1);
    model_u32(m, "llama.nextn_predict_layers", 1);
}

static void predicting_block_alone(model *m)
{
    model_u32(m, "llama.nextn_predict_layers", 1);
    drop_block(m, "blk.0.");
}

static void sorted_by_name(model *m)
{
    for (size_t i = 0, j = m->tensor_count - 1; i < j; i++, j--) {
        model_tensor moved = m->tensors[i];

        m->tensors[i] = m->tensors[j];
        m->tensors[j] = moved;
    }
}

static void quantized(model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        if (m->tensors[i].n_dims == 2)
            m->tensors[i].type = GUFO_TYPE_Q8_0;
}

static void one_more_dimension(model *m)
{
    model_find(m, "blk.0.attn_norm.weight")->n_dims = 2;
}

static void without_vocabulary(model *m)
{
    model_drop_key(m, "llama.vocab_size");
}

static void with_scales(model *m)
{
    model_add(m, "blk.0.attn_q.scale", 1, 1, 1);
    model_add(m, "rope_freqs.weight", 1, 8, 1);
}

static void test_no_faults(void **state)
{
    static const struct {
        const char *label;
        void (*change)(model *m);
    } cases[] = {
        {"tied output", tied},
        {"experts", with_experts},
        {"single experts", with_single_experts},
        {"fused projection", fused},
        {"lists", lists},
        {"predicting block", predicting_block},
        {"predicting block left out", predicting_block_left_out},
        {"predicting block alone", predicting_block_alone},
        {"order", sorted_by_name},
        {"quantized", quantized},
        {"one more dimension", one_more_dimension},
        {"no vocabulary", without_vocabulary},
        {"scales", with_scales},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = tiny_llama();

        cases[i].change(&m);
        check_clean(&m, cases[i].label);
        model_free(&m);
    }
}

/* ---- blocks that are meant to be empty ------------------------------------------------------ */

static void test_empty_blocks(void **state)
{
    model m = tiny_llama();
    findings found;

    (void)state;
    drop_block(&m, "blk.1.");
    model_list(&m, "llama.attention.head_count", 2, (uint32_t[]){4, 0});
    model_list(&m, "llama.attention.head_count_kv", 2, (uint32_t[]){2, 0});
    model_list(&m, "llama.feed_forward_length", 2, (uint32_t[]){TINY_FEED_FORWARD, 0});
    check_clean(&m, "empty");
    model_list(&m, "llama.feed_forward_length", 2, (uint32_t[]){TINY_FEED_FORWARD, 1});
    found = model_check(&m, &model_level);
    check_u64(findings_of(&found, "block-missing"), 1, "not empty");
    check_u64(found.count, 1, "not empty");
    findings_free(&found);
    model_free(&m);
}

/* ---- parts of a model ----------------------------------------------------------------------- */

/* What is not in one shard may be in another; what is there is judged. */
static void test_single_shard(void **state)
{
    const gufo_check_options single = {.level = GUFO_LEVEL_MODEL, .single = true};
    model m = tiny_llama();
    findings found;

    (void)state;
    drop_block(&m, "blk.0.");
    model_drop(&m, "output_norm.weight");
    model_drop(&m, "blk.1.attn_q.weight");
    found = model_check(&m, &single);
    check_u64(found.count, 0, "missing");
    findings_free(&found);
    more_columns(&m);
    found = model_check(&m, &single);
    check_u64(findings_of(&found, "tensor-shape"), 1, "shape");
    check_u64(found.count, 1, "shape");
    findings_free(&found);
    model_free(&m);
}

static void test_no_architecture(void **state)
{
    model m = tiny_llama();

    (void)state;
    model_drop_key(&m, "general.architecture");
    check_clean(&m, "no architecture");
    model_free(&m);
}

/* ---- many ----------------------------------------------------------------------------------- */

/* Each rule reports 20 findings, and then how many more there are. */
static void test_limit(void **state)
{
    model m = tiny_llama();
    findings found;

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        char name[64];

        snprintf(name, sizeof name, "blk.0.novelty_%u.weight", i);
        model_add(&m, name, 1, 4, 1);
    }
    found = model_check(&m, &model_level);
    check_u64(findings_of(&found, "tensor-unknown"), 21, "unknown");
    check_u64(found.count, 21, "all");
    check(strncmp(found.items[20].message, "80 more ", 8) == 0, "%s", found.items[20].message);
    findings_free(&found);
    model_free(&m);
}

static void test_thousand_blocks(void **state)
{
    const unsigned blocks = 1000;
    model m = tiny_llama();

    (void)state;
    for (unsigned i = TINY_BLOCKS; i < blocks; i++)
        tiny_block(&m, i);
    model_u32(&m, "llama.block_count", blocks);
    check_clean(&m, "a thousand");
    model_free(&m);
}

/* Each tensor names a block far away; the blocks between are reported as ranges. */
static void test_scattered_blocks(void **state)
{
    model m = tiny_llama();
    findings found;

    (void)state;
    model_u64(&m, "llama.block_count", UINT64_MAX);
    for (uint64_t i = 1; i < 200; i++) {
        char name[64];

        snprintf(name, sizeof name, "blk.%" PRIu64 ".attn_norm.weight",
                 i * UINT64_C(90071992547409));
        model_add(&m, name, 1, TINY_EMBEDDING, 1);
    }
    found = model_check(&m, &model_level);
    check_u64(findings_of(&found, "block-missing"), 21, "ranges");
    check_u64(findings_of(&found, "tensor-required"), 21, "needs");
    check_u64(found.count, 42, "all");
    findings_free(&found);
    model_free(&m);
}

/* ---- suggestions ---------------------------------------------------------------------------- */

static void keep_name(void *context, const gufo_finding *finding)
{
    gufo_str name = finding->fix.value.as.str;

    if (strcmp(finding->rule->name, "tensor-unknown") != 0)
        return;
    check(!finding->fix.certain, "a proposal");
    if (finding->fix.kind == GUFO_FIX_RENAME_TENSOR)
        snprintf(context, 128, "%.*s", (int)name.len, name.data);
}

static void test_suggestions(void **state)
{
    static const struct {
        const char *name, *right;
    } cases[] = {
        {"blk.7.atn_norm.weight", "blk.7.attn_norm.weight"},
        {"blk.0.ffn_gat_exps.bias", "blk.0.ffn_gate_exps.bias"},
        {"token_embed.weight", "none"}, /* the model has token_embd.weight */
        {"something_else_entirely", "none"},
        {"blk.1.token_embed", "none"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = tiny_llama();
        char right[128] = "none";

        model_add(&m, cases[i].name, 1, 4, 1);
        model_check_with(&m, &model_level, keep_name, right);
        check_str(gufo_str_of(right), cases[i].right, "%s", cases[i].name);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),           cmocka_unit_test(test_no_faults),
        cmocka_unit_test(test_empty_blocks),    cmocka_unit_test(test_single_shard),
        cmocka_unit_test(test_no_architecture), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_thousand_blocks), cmocka_unit_test(test_scattered_blocks),
        cmocka_unit_test(test_suggestions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
