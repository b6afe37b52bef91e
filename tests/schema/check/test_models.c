/* A complete tiny model of each architecture that the specification describes: it has no findings,
 * and each key and each tensor that is taken away or changed gives one. */
#include "../models.h"

/* ---- making them ---------------------------------------------------------------------------- */

enum { BLOCKS = 2 };

/* What keys are called without the architecture, and their values in a tiny model. */
static const struct {
    const char *name;
    gufo_value_type type;
    double value;
} keys[] = {
    {"context_length", GUFO_VALUE_UINT32, 32},
    {"embedding_length", GUFO_VALUE_UINT32, 64},
    {"block_count", GUFO_VALUE_UINT32, BLOCKS},
    {"feed_forward_length", GUFO_VALUE_UINT32, 256},
    {"attention.head_count", GUFO_VALUE_UINT32, 4},
    {"attention.head_count_kv", GUFO_VALUE_UINT32, 2},
    {"attention.layer_norm_epsilon", GUFO_VALUE_FLOAT32, 1e-5},
    {"attention.layer_norm_rms_epsilon", GUFO_VALUE_FLOAT32, 1e-5},
    {"attention.alibi_bias_max", GUFO_VALUE_FLOAT32, 8},
    {"attention.clip_kqv", GUFO_VALUE_FLOAT32, 6},
    {"attention.use_norm", GUFO_VALUE_BOOL, 1},
    {"use_parallel_residual", GUFO_VALUE_BOOL, 1},
    {"rope.dimension_count", GUFO_VALUE_UINT32, 16},
    {"ssm.conv_kernel", GUFO_VALUE_UINT32, 4},
    {"ssm.inner_size", GUFO_VALUE_UINT32, 128},
    {"ssm.state_size", GUFO_VALUE_UINT32, 8},
    {"ssm.time_step_rank", GUFO_VALUE_UINT32, 5},
    {"architecture_version", GUFO_VALUE_UINT32, 4},
    {"encoder.context_length", GUFO_VALUE_UINT32, 32},
    {"encoder.embedding_length", GUFO_VALUE_UINT32, 64},
    {"encoder.block_count", GUFO_VALUE_UINT32, BLOCKS},
    {"encoder.mels_count", GUFO_VALUE_UINT32, 80},
    {"encoder.attention.head_count", GUFO_VALUE_UINT32, 4},
    {"decoder.context_length", GUFO_VALUE_UINT32, 32},
    {"decoder.embedding_length", GUFO_VALUE_UINT32, 64},
    {"decoder.block_count", GUFO_VALUE_UINT32, BLOCKS},
    {"decoder.attention.head_count", GUFO_VALUE_UINT32, 4},
};

/* Names in shapes that are not whole keys; models without groups have as many as heads. */
static const struct {
    const char *name;
    uint64_t value;
} short_names[] = {
    {"vocab", 40},      {"head_count", 4},    {"head_count_kv", 4},
    {"key_length", 16}, {"value_length", 16}, {"expert_shared_feed_forward_length", 0},
};

static void add_key(model *m, const char *architecture, const char *name)
{
    char key[128];

    snprintf(key, sizeof key, "%s.%s", architecture, name);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (keys[i].type == GUFO_VALUE_UINT32)
            model_u32(m, key, (uint32_t)keys[i].value);
        else if (keys[i].type == GUFO_VALUE_BOOL)
            model_bool(m, key, true);
        else
            model_f32(m, key, keys[i].value);
        return;
    }
    check_failed(__FILE__, __LINE__, "no value for a key", "%s", key);
}

static bool value_of(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    const model *m = context;

    (void)block;
    if (gufo_str_equal(name, gufo_str_of("head_count_kv")))
        for (size_t i = 0; i < m->key_count; i++)
            if (strstr(m->keys[i].key, ".head_count_kv") != NULL) {
                *out = m->keys[i].value.as.u;
                return true;
            }
    for (size_t i = 0; i < COUNT_OF(short_names); i++)
        if (gufo_str_equal(name, gufo_str_of(short_names[i].name))) {
            *out = short_names[i].value;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (gufo_str_equal(name, gufo_str_of(keys[i].name))) {
            *out = (uint64_t)keys[i].value;
            return true;
        }
    return false;
}

static void add_one(model *m, const char *template, uint64_t block, const char *suffix,
                    const char *shape)
{
    const char *mark = strstr(template, "{bid}");
    uint64_t dims[GUFO_MAX_DIMS] = {1, 1, 1, 1};
    unsigned count = gufo_shape_evaluate(shape, block, value_of, m, dims);
    char name[128];

    check(count > 0 && count <= 2, "%s: %s", template, shape);
    if (mark != NULL)
        snprintf(name, sizeof name, "%.*s%" PRIu64 "%s%s", (int)(mark - template), template, block,
                 mark + 5, suffix);
    else
        snprintf(name, sizeof name, "%s%s", template, suffix);
    model_add(m, name, count, dims[0], dims[1]);
}

/* The registry's general row. */
static const gufo_tensor_info *info_of(const char *template)
{
    const gufo_tensor_info *info;

    for (size_t i = 0; (info = gufo_tensor_info_at(i)) != NULL; i++)
        if (strcmp(info->name, template) == 0)
            return info;
    check_failed(__FILE__, __LINE__, "no such template", "%s", template);
}

/* Weights and, where the registry knows their shape, biases. */
static void add_row(model *m, const gufo_arch_tensor *row)
{
    static const char *const bare[] = {"blk.{bid}.ssm_a", "blk.{bid}.ssm_d"};
    const gufo_tensor_info *info = info_of(row->name);
    const char *shape = row->shape[0] != '\0' ? row->shape : info->shape;
    const char *bias = row->bias_shape[0] != '\0' ? row->bias_shape : info->bias_shape;
    const char *suffix = ".weight";

    for (size_t i = 0; i < COUNT_OF(bare); i++)
        if (strcmp(row->name, bare[i]) == 0)
            suffix = "";
    for (uint64_t i = 0; i < (strstr(row->name, "{bid}") != NULL ? BLOCKS : 1); i++) {
        add_one(m, row->name, i, suffix, shape);
        if (bias[0] != '\0' && bias[0] != '-')
            add_one(m, row->name, i, ".bias", bias);
    }
}

static model make_model(const char *architecture)
{
    size_t key_count = 0, row_count = 0;
    const gufo_arch_key *needs = gufo_arch_keys(architecture, &key_count);
    const gufo_arch_tensor *tensors = gufo_arch_tensors(architecture, &row_count);
    model m = model_new(architecture);
    char key[128];

    for (size_t i = 0; i < key_count; i++)
        if (needs[i].need != GUFO_OPTIONAL)
            add_key(&m, architecture, needs[i].key);
    snprintf(key, sizeof key, "%s.vocab_size", architecture);
    model_u32(&m, key, 40);
    for (size_t i = 0; i < row_count; i++)
        if (tensors[i].need == GUFO_REQUIRED)
            add_row(&m, &tensors[i]);
    if (strcmp(architecture, "whisper") == 0) /* no tensor is required */
        model_add(&m, "mel_filters", 2, 201, 80);
    else if (row_count == 0) /* no names are specified, and these are not names of others */
        model_add(&m, "anything.weight", 2, 64, 40);
    return m;
}

/* ---- checks --------------------------------------------------------------------------------- */

static const char *const architectures[] = {"llama", "mpt",    "gptneox", "gptj", "gpt2",
                                            "bloom", "falcon", "mamba",   "rwkv", "whisper"};

static void check_one(const model *m, const char *rule, const char *subject, const char *label)
{
    findings found = model_check(m, &model_level);

    if (found.count != 1)
        findings_print(&found);
    check_u64(found.count, 1, "%s: %s", label, subject);
    check(strcmp(found.items[0].rule->id, rule) == 0, "%s %s: %s", label, subject,
          found.items[0].rule->id);
    check_view(((gufo_str){found.items[0].subject, found.items[0].subject_len}),
               gufo_str_of(subject), "%s", label);
    findings_free(&found);
}

static void test_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(architectures); i++) {
        model m = make_model(architectures[i]);

        check_clean(&m, architectures[i]);
        model_free(&m);
    }
}

static void test_each_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(architectures); i++) {
        size_t count;
        const gufo_arch_key *needs = gufo_arch_keys(architectures[i], &count);

        for (size_t j = 0; j < count; j++) {
            model m;
            char key[128];

            if (needs[j].need == GUFO_OPTIONAL)
                continue;
            m = make_model(architectures[i]);
            snprintf(key, sizeof key, "%s.%s", architectures[i], needs[j].key);
            model_drop_key(&m, key);
            check_one(&m, needs[j].need == GUFO_REQUIRED ? "M201" : "M213", key, architectures[i]);
            model_free(&m);
        }
    }
}

static bool is_bias(const model_tensor *t)
{
    size_t len = strlen(t->name);

    return len > 5 && strcmp(t->name + len - 5, ".bias") == 0;
}

static void check_changed_shape(model *m, model_tensor *t, const char *architecture)
{
    /* A bias of the output has an element for each token. */
    const char *rule = strcmp(t->name, "output.bias") == 0 ? "M311" : "M308";

    t->dims[0]++;
    check_one(m, rule, t->name, architecture);
    t->dims[0]--;
}

static void check_other_name(model *m, model_tensor *t, const char *architecture)
{
    model_tensor kept = *t;
    findings found;

    snprintf(t->name, sizeof t->name, "another.weight");
    found = model_check(m, &model_level);
    check_u64(findings_of(&found, "tensor-required"), 1, "%s: %s", architecture, kept.name);
    check_u64(findings_of(&found, "tensor-unknown"), 1, "%s: %s", architecture, kept.name);
    check_u64(found.count, 2, "%s: %s", architecture, kept.name);
    findings_free(&found);
    *t = kept;
}

static void test_each_tensor(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(architectures); i++) {
        model m = make_model(architectures[i]);
        size_t rows;
        const gufo_arch_tensor *list = gufo_arch_tensors(architectures[i], &rows);
        bool is_needed = false;

        for (size_t j = 0; j < rows; j++)
            is_needed |= list[j].need == GUFO_REQUIRED;
        for (size_t j = 0; is_needed && j < m.tensor_count; j++) {
            check_changed_shape(&m, &m.tensors[j], architectures[i]);
            if (!is_bias(&m.tensors[j]))
                check_other_name(&m, &m.tensors[j], architectures[i]);
        }
        model_free(&m);
    }
}

/* Shapes as they are in files, not by formula. */
static void test_literal_shapes(void **state)
{
    static const struct {
        const char *architecture, *name;
        uint64_t columns, rows;
    } cases[] = {
        {"llama", "blk.1.attn_k.weight", 64, 64},
        {"llama", "blk.0.ffn_down.weight", 256, 64},
        {"falcon", "blk.0.attn_qkv.weight", 64, 64 + 2 * 2 * 16},
        {"gpt2", "blk.0.attn_qkv.weight", 64, 192},
        {"gpt2", "position_embd.weight", 64, 32},
        {"bloom", "token_embd_norm.weight", 64, 1},
        {"gptneox", "output.weight", 64, 40},
        {"mpt", "blk.1.ffn_up.weight", 64, 256},
        {"gptj", "blk.1.ffn_up.bias", 256, 1},
        {"mamba", "blk.0.ssm_in.weight", 64, 256},
        {"mamba", "blk.0.ssm_conv1d.weight", 4, 128},
        {"mamba", "blk.0.ssm_x.weight", 128, 5 + 2 * 8},
        {"mamba", "blk.0.ssm_dt.weight", 5, 128},
        {"mamba", "blk.0.ssm_a", 8, 128},
        {"mamba", "blk.1.ssm_d", 128, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        model m = make_model(cases[i].architecture);
        const model_tensor *t = model_find(&m, cases[i].name);

        check_u64(t->dims[0], cases[i].columns, "%s", cases[i].name);
        check_u64(t->dims[1], cases[i].rows, "%s", cases[i].name);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_each_key),
        cmocka_unit_test(test_each_tensor),
        cmocka_unit_test(test_literal_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
