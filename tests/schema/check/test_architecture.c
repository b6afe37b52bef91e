/* Rules about the keys of an architecture: each has a file that breaks it, and nothing else. */
#include "../models.h"

#include "../../support/shared.h"

/* ---- one fault each ------------------------------------------------------------------------- */

static void no_context(model *m)
{
    model_drop_key(m, "llama.context_length");
}

static void no_rope_dimensions(model *m)
{
    model_drop_key(m, "llama.rope.dimension_count");
}

static void no_heads(model *m)
{
    model_u32(m, "llama.attention.head_count", 0);
    model_drop_key(m, "llama.attention.head_count_kv");
}

static model without_tensors(void)
{
    model m = tiny_llama();

    m.tensor_count = 0;
    return m;
}

static model whisper(void)
{
    model m = model_new("whisper");

    model_u32(&m, "whisper.encoder.embedding_length", 64);
    model_u32(&m, "whisper.encoder.attention.head_count", 4);
    return m;
}

static model rwkv(void)
{
    model m = model_new("rwkv");

    model_u32(&m, "rwkv.architecture_version", 4);
    return m;
}

static model qwen(void)
{
    model m = model_new("qwen2");

    model_u32(&m, "qwen2.context_length", 32);
    model_u32(&m, "qwen2.embedding_length", 64);
    model_u32(&m, "qwen2.block_count", 1);
    model_u32(&m, "qwen2.attention.head_count", 4);
    model_f32(&m, "qwen2.attention.layer_norm_rms_epsilon", 1e-5);
    model_add(&m, "blk.0.attn_norm.weight", 1, 64, 1);
    return m;
}

static void qwen_without_heads(model *m)
{
    model_drop_key(m, "qwen2.attention.head_count");
}

static model rwkv_with_head(void)
{
    model m = rwkv();

    model_u32(&m, "rwkv.context_length", 32);
    model_u32(&m, "rwkv.embedding_length", 64);
    model_u32(&m, "rwkv.feed_forward_length", 64);
    model_u32(&m, "rwkv.block_count", 1);
    model_u32(&m, "rwkv.vocab_size", 40);
    model_add(&m, "blk.0.ln1.weight", 1, 64, 1);
    model_add(&m, "head.weight", 2, 64, 40);
    return m;
}

static void rwkv_head_rows(model *m)
{
    model_find(m, "head.weight")->dims[1] = 41;
}

static const char short_list[] = "llama.attention.head_count_kv uint32[] 2";
static const char long_list[] = "llama.feed_forward_length uint32[] 96 96 96";

static const rule_row rows[] = {
    {"M202", "no heads of qwen2", qwen, qwen_without_heads, "qwen2.attention.head_count", 0, NULL},
    {"M201", "no context", tiny_llama, no_context, "llama.context_length", 0, NULL},
    {"M213", "no rotation", tiny_llama, no_rope_dimensions, "llama.rope.dimension_count", 0, NULL},
    {"M203", "no heads", without_tensors, no_heads, "llama.attention.head_count", 0, NULL},
    {"M203", "zero context", tiny_llama, NULL, "llama.context_length", 0,
     "llama.context_length uint64 0"},
    {"M203", "no heads of a part", whisper, NULL, NULL, 0,
     "whisper.encoder.attention.head_count uint32 0"},
    {"M204", "short list", without_tensors, NULL, "llama.attention.head_count_kv", 0, short_list},
    {"M204", "long list", tiny_llama, NULL, "llama.feed_forward_length", 0, long_list},
    {"M205", "groups", without_tensors, NULL, "llama.attention.head_count_kv", 0,
     "llama.attention.head_count_kv uint32 3"},
    {"M205", "groups of a block", without_tensors, NULL, NULL, 0,
     "llama.attention.head_count_kv uint32[] 2 3"},
    {"M206", "experts", without_tensors, NULL, "llama.expert_used_count", 0,
     "llama.expert_count uint32 8; llama.expert_used_count uint32 9"},
    {"M206", "no experts", without_tensors, NULL, "llama.expert_used_count", 0,
     "llama.expert_count uint32 8; llama.expert_used_count uint32 0"},
    {"M214", "size", without_tensors, NULL, "llama.expert_group_count", 0,
     "llama.expert_count uint32 8; llama.expert_used_count uint32 2; "
     "llama.expert_group_count uint32 3"},
    {"M214", "used", without_tensors, NULL, "llama.expert_group_used_count", 0,
     "llama.expert_count uint32 8; llama.expert_used_count uint32 2; "
     "llama.expert_group_count uint32 4; llama.expert_group_used_count uint32 5"},
    {"M214", "too few", without_tensors, NULL, "llama.expert_group_used_count", 0,
     "llama.expert_count uint32 8; llama.expert_used_count uint32 3; "
     "llama.expert_group_count uint32 4; llama.expert_group_used_count uint32 1"},
    {"M215", "heads of a block", without_tensors, NULL, "llama.attention.head_count_kv", 0,
     "llama.attention.head_count_kv int32[] 2 -2"},
    {"M207", "odd", tiny_llama, NULL, "llama.rope.dimension_count", 0,
     "llama.rope.dimension_count uint32 15"},
    {"M207", "past the head", tiny_llama, NULL, "llama.rope.dimension_count", 0,
     "llama.rope.dimension_count uint32 18"},
    {"M208", "zero base", tiny_llama, NULL, "llama.rope.freq_base", 0,
     "llama.rope.freq_base float32 0"},
    {"M209", "scaling", tiny_llama, NULL, "llama.rope.scaling.type", 0,
     "llama.rope.scaling.type string quadratic"},
    {"M210", "NaN", tiny_llama, NULL, "llama.rope.scaling.factor", 0,
     "llama.rope.scaling.factor float32 nan"},
    {"M210", "infinite", tiny_llama, NULL, NULL, 0,
     "llama.attention.layer_norm_rms_epsilon float32 inf"},
    {"M211", "zero", tiny_llama, NULL, NULL, 0, "llama.attention.layer_norm_rms_epsilon float32 0"},
    {"M211", "large", tiny_llama, NULL, NULL, 0,
     "llama.attention.layer_norm_rms_epsilon float32 0.5"},
    {"M212", "version", rwkv, NULL, "rwkv.architecture_version", 0,
     "rwkv.architecture_version uint32 5"},
};

static void test_rules(void **state)
{
    (void)state;
    check_rule_rows(rows, COUNT_OF(rows), "M2");
    check_rule_row(&(rule_row){"M310", "rows of the head of RWKV", rwkv_with_head, rwkv_head_rows,
                               "head.weight", 0, NULL});
}

/* ---- what is not a fault -------------------------------------------------------------------- */

/* A model without tensors, which are in other shards: no vocabulary. */
static const gufo_check_options shard_alone = {.level = GUFO_LEVEL_MODEL, .single = true};

static void test_no_faults(void **state)
{
    static const struct {
        const char *label, *keys;
    } cases[] = {
        {"length of keys",
         "llama.attention.head_count uint32 6; llama.attention.key_length uint32 20"},
        /* Blocks without attention have no heads. */
        {"hybrid",
         "llama.attention.head_count uint32[] 4 0; llama.attention.head_count_kv uint32[] 2 0"},
        {"64 bits", "llama.block_count uint64 2; llama.embedding_length uint64 64"},
        {"predicting blocks, counted",
         "llama.block_count uint32 3; llama.nextn_predict_layers uint32 1; "
         "llama.attention.head_count uint32[] 4 0; llama.attention.head_count_kv uint32[] 2 0"},
        {"predicting blocks, not counted",
         "llama.nextn_predict_layers uint32 1; llama.attention.head_count_kv uint32[] 2 2 2"},
        {"no experts", "llama.expert_count uint32 0; llama.expert_used_count uint32 0"},
        {"wrong types are another rule's",
         "llama.attention.head_count string four; llama.block_count string; "
         "llama.rope.dimension_count string 16; llama.attention.layer_norm_rms_epsilon bool true; "
         "llama.rope.scaling.type uint32 1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = without_tensors();
        findings found;

        model_keys(&m, cases[i].keys);
        found = model_check(&m, &shard_alone);
        check_u64(found.count, 0, "%s", cases[i].label);
        findings_free(&found);
        model_free(&m);
    }
}

/* The value of a missing key counts in models only. */
static void test_absent_keys(void **state)
{
    static const struct {
        model (*make)(void);
        const char *keys, *rule;
    } cases[] = {
        {without_tensors, "llama.attention.head_count uint32 6", "head-count"},
        {whisper, "whisper.encoder.attention.head_count uint32 3", "head-count"},
        {without_tensors, "llama.rope.dimension_count uint32 18", "rope-dimensions"},
        {without_tensors, "llama.expert_used_count uint32 2", "expert-count"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = cases[i].make();
        findings found;

        model_keys(&m, cases[i].keys);
        check_clean(&m, cases[i].rule);
        found = model_check(&m, &shard_alone);
        check_u64(findings_of(&found, cases[i].rule), 1, "%s", cases[i].rule);
        findings_free(&found);
        model_free(&m);
    }
}

/* The specification says alibi_bias_max and clip_kqv where files have max_alibi_bias and
 * clamp_kqv. */
static void test_other_names(void **state)
{
    static const struct {
        const char *key;
        const char *missing; /* of the other one */
    } cases[] = {
        {"mpt.attention.alibi_bias_max", "mpt.attention.clip_kqv"},
        {"mpt.attention.max_alibi_bias", "mpt.attention.clip_kqv"},
        {"mpt.attention.clip_kqv", "mpt.attention.alibi_bias_max"},
        {"mpt.attention.clamp_kqv", "mpt.attention.alibi_bias_max"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = model_new("mpt");
        findings found;

        model_f32(&m, cases[i].key, 8);
        model_add(&m, "x", 1, 4, 1);
        found = model_check(&m, &model_level);
        check_u64(findings_of(&found, "key-specified"), 1, "%s", cases[i].key);
        check_str(((gufo_str){findings_get(&found, "key-specified", 0)->subject,
                              findings_get(&found, "key-specified", 0)->subject_len}),
                  cases[i].missing, "%s", cases[i].key);
        findings_free(&found);
        model_free(&m);
    }
}

static void keep_needed(void *context, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;

    if (strcmp(finding->rule->name, "key-specified") == 0 && fix->kind == GUFO_FIX_SUPPLY)
        snprintf(context, 128, "%.*s: %s", (int)fix->key.len, fix->key.data,
                 gufo_value_type_name(fix->value.type));
}

/* Who follows the fix gets no other finding for it. */
static void test_fix_of_today(void **state)
{
    model m = model_new("mpt");
    char needed[128] = "";

    (void)state;
    model_f32(&m, "mpt.attention.max_alibi_bias", 8);
    model_add(&m, "x", 1, 4, 1);
    model_check_with(&m, &model_level, keep_needed, needed);
    check_str(gufo_str_of(needed), "mpt.attention.clamp_kqv: float32", "clip_kqv");
    model_free(&m);
}

/* ---- fixing --------------------------------------------------------------------------------- */

typedef struct kept_fix {
    gufo_fix_kind kind;
    char key[128];
    uint64_t count;
} kept_fix;

static void keep_fix(void *context, const gufo_finding *finding)
{
    kept_fix *kept = context;

    if (strcmp(finding->rule->name, "per-layer-length") != 0)
        return;
    kept->kind = finding->fix.kind;
    kept->count = finding->fix.value.as.u;
    snprintf(kept->key, sizeof kept->key, "%.*s", (int)finding->fix.key.len, finding->fix.key.data);
}

/* A list that is too long keeps an element for each block; for one that is too short there is
 * nothing to do. */
static void test_fix(void **state)
{
    model m = without_tensors();
    kept_fix kept = {GUFO_FIX_NONE, "", 0};

    (void)state;
    model_keys(&m, long_list);
    model_check_with(&m, &model_level, keep_fix, &kept);
    check_u64(kept.kind, GUFO_FIX_SHORTEN, "long");
    check_str(gufo_str_of(kept.key), "llama.feed_forward_length", "long");
    check_u64(kept.count, TINY_BLOCKS, "long");
    model_u32(&m, "llama.feed_forward_length", TINY_FEED_FORWARD);
    model_keys(&m, short_list);
    model_check_with(&m, &model_level, keep_fix, &kept);
    check_u64(kept.kind, GUFO_FIX_NONE, "short");
    model_free(&m);
}

/* ---- kinds of files ------------------------------------------------------------------------- */

/* Models without attention say that they have no heads. */
static void test_recurrent(void **state)
{
    model m = model_new("mamba");

    (void)state;
    model_u32(&m, "mamba.attention.head_count", 0);
    model_u32(&m, "mamba.feed_forward_length", 0);
    model_u32(&m, "mamba.embedding_length", 64);
    check_clean(&m, "mamba");
    model_free(&m);
}

static void test_vocabulary_only(void **state)
{
    static const char *const architectures[] = {"llama", "mpt", "mamba", "whisper", "unheard-of"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(architectures); i++) {
        model m = model_new(architectures[i]);

        check_clean(&m, architectures[i]);
        model_free(&m);
    }
}

static void test_levels(void **state)
{
    static const gufo_level lower[] = {GUFO_LEVEL_STRUCTURE, GUFO_LEVEL_STANDARD};
    model m = tiny_llama();

    (void)state;
    no_context(&m);
    for (size_t i = 0; i < COUNT_OF(lower); i++) {
        findings found = model_check(&m, &(gufo_check_options){.level = lower[i]});

        check_u64(found.count, 0, "%s", gufo_level_name(lower[i]));
        findings_free(&found);
    }
    model_free(&m);
}

/* Counts of any size cost nothing. */
static void test_hostile_counts(void **state)
{
    static const uint64_t numbers[] = {1, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX};
    static const char *const keys[] = {
        "llama.block_count",          "llama.embedding_length",        "llama.attention.head_count",
        "llama.rope.dimension_count", "llama.attention.head_count_kv", "llama.expert_used_count",
        "llama.nextn_predict_layers", "llama.attention.key_length",    "llama.feed_forward_length"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        for (size_t j = 0; j < COUNT_OF(numbers); j++) {
            model m = tiny_llama();
            findings found;

            model_u64(&m, keys[i], numbers[j]);
            found = model_check(&m, &model_level);
            check(found.count < 100, "%s", keys[i]);
            findings_free(&found);
            model_free(&m);
        }
}

/* ---- real files ----------------------------------------------------------------------------- */

static void check_vocabulary(const char *path)
{
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open(path, NULL, &error);
    findings found;

    check(file != NULL, "%s: %s", path, error.message);
    findings_init(&found);
    check_ok(gufo_model_check_content(file, &model_level, keep_model_finding, &found, &error),
             &error, "%s", path);
    if (found.count > 0)
        findings_print(&found);
    check_u64(found.count, 0, "%s", path);
    findings_free(&found);
    gufo_model_free(file);
}

static void test_real_vocabularies(void **state)
{
    static const char *const names[] = {"baichuan", "bert-bge", "deepseek-coder", "deepseek-llm",
                                        "falcon",   "gpt-2",    "gpt-neox",       "llama-spm",
                                        "mpt",      "phi-3",    "refact",         "starcoder"};
    path_text where = need_shared("data/vocab");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char name[64];

        snprintf(name, sizeof name, "ggml-vocab-%s.gguf", names[i]);
        check_vocabulary(path_join(where.text, name).text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_no_faults),
        cmocka_unit_test(test_absent_keys),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_fix_of_today),
        cmocka_unit_test(test_recurrent),
        cmocka_unit_test(test_fix),
        cmocka_unit_test(test_vocabulary_only),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_hostile_counts),
        cmocka_unit_test(test_real_vocabularies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
