/* The tables of the registry: in order, without doubles, and fitting each other. */
#include "../../support/check.h"

#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

/* Values that all tensors of a plausible model could have; heads divide. */
static bool plausible(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    static const char *const short_forms[] = {"vocab",      "head_count",   "head_count_kv",
                                              "key_length", "value_length", "token_type_count"};
    const char *arch = context;
    char key[128];

    (void)block;
    *out = 960;
    if (gufo_str_equal(name, gufo_str_of("rope.dimension_count")))
        *out = 64;
    if (gufo_str_equal(name, gufo_str_of("head_count")))
        *out = 32;
    for (size_t i = 0; i < COUNT_OF(short_forms); i++)
        if (gufo_str_equal(name, gufo_str_of(short_forms[i])))
            return true;
    (void)snprintf(key, sizeof key, "%s.%.*s", arch, (int)name.len, name.data);
    return gufo_key_find(key, arch) != NULL;
}

static void check_shape(const char *arch, const char *name, const char *shape)
{
    char context[64];
    uint64_t dims[4];
    unsigned count;

    if (shape[0] == '\0' || strcmp(shape, "-") == 0 || strchr(shape, '?') != NULL)
        return;
    (void)snprintf(context, sizeof context, "%s", arch);
    count = gufo_shape_evaluate(shape, 0, plausible, context, dims);
    check(count > 0, "%s %s: %s", arch, name, shape);
    for (unsigned i = 0; i < count; i++)
        check(dims[i] > 0, "%s %s: %s", arch, name, shape);
}

static bool one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

/* Braces are whole segments, and there are not too many of either. */
static void check_template(const char *name)
{
    size_t ends[PATTERN_MAX_SEGMENTS], braces = 0;
    gufo_str text = gufo_str_of(name);
    size_t count = pattern_segments(text, ends);

    check_u64(ends[count - 1], text.len, "%s has too many segments", name);
    for (size_t i = 0; i < text.len; i++) {
        if (name[i] == '{')
            check(++braces <= 2 && (i == 0 || name[i - 1] == '.'), "%s", name);
        if (name[i] == '}')
            check(name[i + 1] == '.' || name[i + 1] == '\0', "%s", name);
    }
}

static void test_keys(void **state)
{
    static const char *const statuses[] = {"standard",  "in use",   "deprecated",
                                           "community", "misspelt", NULL};
    /* Sections of the specification have these names, programs have others. */
    static const char *const of_sections[] = {"mpt.attention.alibi_bias_max",
                                              "mpt.attention.clip_kqv", "{arch}.rope.scale", NULL};
    const gufo_key_info *last = NULL, *info;
    const gufo_value empty = {.type = GUFO_VALUE_ARRAY};

    (void)state;
    for (size_t i = 0; (info = gufo_key_at(i)) != NULL; last = info, i++) {
        check_template(info->key);
        check(last == NULL || strcmp(last->key, info->key) < 0, "%s", info->key);
        check(one_of(info->status, statuses), "%s: %s", info->key, info->status);
        check(strlen(info->since) == 4 && atoi(info->since) >= 2023, "%s", info->key);
        check(strlen(info->summary) > 10 && strlen(info->summary) < 140, "%s", info->key);
        check(info->group[0] != '\0' && info->type[0] != '\0', "%s", info->key);
        check(gufo_key_accepts(info, &empty) == (strstr(info->type, "array") != NULL), "%s: %s",
              info->key, info->type);
        check((gufo_key_replacement(info, NULL) != NULL) ==
                  (strcmp(info->status, "deprecated") == 0 ||
                   strcmp(info->status, "misspelt") == 0 || strstr(info->key, "seperator") ||
                   one_of(info->key, of_sections)),
              "%s", info->key);
    }
    check_u64(schema_key_count(), (size_t)(last - gufo_key_at(0)) + 1, "count");
    check(gufo_key_at(schema_key_count()) == NULL, "past the end");
}

static void test_architectures(void **state)
{
    static const char *const statuses[] = {"standard", "in use", "named", NULL};
    const gufo_arch_info *last = NULL, *info;

    (void)state;
    for (size_t i = 0; (info = gufo_arch_at(i)) != NULL; last = info, i++) {
        check(last == NULL || strcmp(last->id, info->id) < 0, "%s", info->id);
        check(one_of(info->status, statuses), "%s", info->id);
        check(gufo_arch_find(info->id) == info, "%s", info->id);
        check(info->name[0] != '\0', "%s", info->id);
    }
    check(gufo_arch_at(schema_arch_count()) == NULL, "past the end");
    check(gufo_arch_find("llam") == NULL, "a beginning");
    check(gufo_arch_find("llama ") == NULL, "more");
    check(gufo_arch_find("") == NULL, "empty");
}

/* Each architecture's rows are contiguous and are all found; every key has a row. */
static void test_arch_keys(void **state)
{
    const gufo_arch_info *info;
    const gufo_arch_key *next = NULL;
    size_t count;

    (void)state;
    for (size_t i = 0; (info = gufo_arch_at(i)) != NULL; i++) {
        const gufo_arch_key *rows = gufo_arch_keys(info->id, &count);

        check(rows != NULL && count > 0, "%s", info->id);
        check(next == NULL || rows == next, "%s: rows of no architecture come before", info->id);
        next = rows + count;
        for (size_t j = 0; j < count; j++) {
            char key[128];

            check(j == 0 || strcmp(rows[j - 1].key, rows[j].key) < 0, "%s %s", info->id,
                  rows[j].key);
            (void)snprintf(key, sizeof key, "%s.%s", info->id, rows[j].key);
            check(gufo_key_find(key, info->id) != NULL, "%s", key);
        }
    }
    check(gufo_arch_keys("no such", &count) == NULL && count == 0, "no such");
}

static const gufo_tensor_info *tensor_row(const char *name, size_t len)
{
    const gufo_tensor_info *info;

    for (size_t i = 0; (info = gufo_tensor_info_at(i)) != NULL; i++)
        if (strlen(info->name) == len && memcmp(info->name, name, len) == 0)
            return info;
    return NULL;
}

static void test_tensors(void **state)
{
    static const char *const statuses[] = {"standard", "in use", NULL};
    const gufo_tensor_info *last = NULL, *info;

    (void)state;
    for (size_t i = 0; (info = gufo_tensor_info_at(i)) != NULL; last = info, i++) {
        check_template(info->name);
        check(last == NULL || strcmp(last->name, info->name) < 0, "%s", info->name);
        check(one_of(info->status, statuses), "%s", info->name);
        check(strlen(info->summary) > 3 && strlen(info->summary) < 140, "%s", info->name);
        check_shape("llama", info->name, info->shape);
        check_shape("llama", info->name, info->bias_shape);
    }
    check(gufo_tensor_info_at(schema_tensor_info_count()) == NULL, "past the end");
}

static void check_arch_tensor(const gufo_arch_tensor *row)
{
    const char *instead = row->instead;

    check(tensor_row(row->name, strlen(row->name)) != NULL, "%s %s", row->arch, row->name);
    check_shape(row->arch, row->name, row->shape);
    check_shape(row->arch, row->name, row->bias_shape);
    while (*instead != '\0') {
        size_t len = strcspn(instead, " ");

        check(tensor_row(instead, len) != NULL, "%s %s: %s", row->arch, row->name, instead);
        instead += len + (instead[len] == ' ');
    }
}

static void test_arch_tensors(void **state)
{
    const gufo_arch_info *info;
    size_t count, all = 0;

    (void)state;
    for (size_t i = 0; (info = gufo_arch_at(i)) != NULL; i++) {
        const gufo_arch_tensor *rows = gufo_arch_tensors(info->id, &count);

        for (size_t j = 0; j < count; j++) {
            check(j == 0 || strcmp(rows[j - 1].name, rows[j].name) < 0, "%s %s", info->id,
                  rows[j].name);
            check_arch_tensor(&rows[j]);
        }
        all += count;
    }
    check(all > 2684, "%zu", all);
}

/* The architectures that the specification describes. */
static void test_specified(void **state)
{
    static const char *const ids[] = {"llama", "mpt",    "gptneox", "gptj", "gpt2",
                                      "bloom", "falcon", "mamba",   "rwkv", "whisper"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const gufo_arch_info *info = gufo_arch_find(ids[i]);
        size_t count, required = 0;
        const gufo_arch_key *keys = gufo_arch_keys(ids[i], &count);

        check(info != NULL && strcmp(info->status, "standard") == 0, "%s", ids[i]);
        for (size_t j = 0; j < count; j++)
            required += keys[j].need == GUFO_REQUIRED;
        check(required >= 5, "%s: %zu", ids[i], required);
    }
}

/* Some rows, against literal facts. */
static void test_needs(void **state)
{
    static const struct {
        const char *arch, *key;
        gufo_need need;
    } rows[] = {
        {"llama", "attention.layer_norm_rms_epsilon", GUFO_REQUIRED},
        {"llama", "attention.head_count_kv", GUFO_OPTIONAL},
        {"falcon", "attention.use_norm", GUFO_EXPECTED},
        {"mpt", "attention.alibi_bias_max", GUFO_EXPECTED},
        {"mpt", "attention.max_alibi_bias", GUFO_OPTIONAL},
        {"mamba", "ssm.conv_kernel", GUFO_REQUIRED},
        {"whisper", "decoder.attention.head_count", GUFO_REQUIRED},
        {"rwkv", "architecture_version", GUFO_REQUIRED},
        {"qwen2", "block_count", GUFO_REQUIRED},
        {"deepseek2", "attention.kv_lora_rank", GUFO_EXPECTED},
        {"granite", "embedding_scale", GUFO_OPTIONAL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count, j = 0;
        const gufo_arch_key *keys = gufo_arch_keys(rows[i].arch, &count);

        while (j < count && strcmp(keys[j].key, rows[i].key) != 0)
            j++;
        check(j < count && keys[j].need == rows[i].need, "%s.%s", rows[i].arch, rows[i].key);
    }
}

static void test_tensor_needs(void **state)
{
    static const struct {
        const char *arch, *name;
        gufo_need need;
        const char *shape, *instead; /* a part of it */
    } rows[] = {
        {"llama", "token_embd", GUFO_REQUIRED, "", ""},
        {"llama", "output", GUFO_OPTIONAL, "", ""},
        {"llama", "blk.{bid}.attn_q", GUFO_REQUIRED, "", "blk.{bid}.attn_qkv"},
        {"llama", "blk.{bid}.ffn_up", GUFO_REQUIRED, "", "blk.{bid}.ffn_up_exps"},
        {"llama", "blk.{bid}.ffn_up", GUFO_REQUIRED, "", "blk.{bid}.ffn_up.{xid}"},
        {"falcon", "blk.{bid}.attn_norm_2", GUFO_OPTIONAL, "", ""},
        {"falcon", "blk.{bid}.attn_qkv", GUFO_REQUIRED,
         "embedding_length,embedding_length+2*head_count_kv*value_length", ""},
        {"gpt2", "position_embd", GUFO_REQUIRED, "", "pos_embd"},
        {"mamba", "blk.{bid}.ssm_x", GUFO_REQUIRED,
         "ssm.inner_size,ssm.time_step_rank+2*ssm.state_size", ""},
        {"phi3", "blk.{bid}.ffn_up", GUFO_OPTIONAL, "embedding_length,2*feed_forward_length", ""},
        {"gemma4", "rope_freqs", GUFO_OPTIONAL, "-", ""},
        {"qwen2", "blk.{bid}.ffn_up", GUFO_OPTIONAL, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count, j = 0;
        const gufo_arch_tensor *tensors = gufo_arch_tensors(rows[i].arch, &count);

        while (j < count && strcmp(tensors[j].name, rows[i].name) != 0)
            j++;
        check(j < count && tensors[j].need == rows[i].need, "%s %s", rows[i].arch, rows[i].name);
        check_str(gufo_str_of(tensors[j].shape), rows[i].shape, "%s %s", rows[i].arch,
                  rows[i].name);
        check(strstr(tensors[j].instead, rows[i].instead) != NULL, "%s %s: %s", rows[i].arch,
              rows[i].name, tensors[j].instead);
    }
}

static void test_tokenizers(void **state)
{
    const gufo_tokenizer_info *model;
    const gufo_pretokenizer *pre, *last = NULL;
    const gufo_special_token *token;

    (void)state;
    for (size_t i = 0; (model = gufo_tokenizer_info_at(i)) != NULL; i++) {
        check(gufo_tokenizer_info_find(model->id) == model, "%s", model->id);
        check(model->algorithm[0] != '\0', "%s", model->id);
    }
    for (size_t i = 0; (pre = gufo_pretokenizer_at(i)) != NULL; last = pre, i++) {
        check(last == NULL || strcmp(last->id, pre->id) < 0, "%s", pre->id);
        check(gufo_pretokenizer_find(pre->id) == pre, "%s", pre->id);
    }
    for (size_t i = 0; (token = gufo_special_token_at(i)) != NULL; i++) {
        const gufo_key_info *info = gufo_key_find(token->key, "");

        check(info != NULL && strcmp(info->type, "uint32") == 0, "%s", token->key);
        check(gufo_key_today(token->key, "") == info, "%s", token->key);
        check(token->role[0] != '\0', "%s", token->key);
    }
    model = gufo_tokenizer_info_find("bert");
    check(model != NULL && strcmp(model->separator, "102") == 0 && strcmp(model->eos, "") == 0 &&
              strcmp(model->arrays, "tokens token_type") == 0,
          "bert");
    check(gufo_pretokenizer_at(schema_pretokenizer_count()) == NULL, "past the end");
    check(gufo_tokenizer_info_at(schema_tokenizer_model_count()) == NULL, "past the end");
    check(gufo_special_token_at(schema_special_token_count()) == NULL, "past the end");
    check(gufo_pretokenizer_find("llama") == NULL, "llama is none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_arch_keys),    cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_arch_tensors), cmocka_unit_test(test_specified),
        cmocka_unit_test(test_needs),        cmocka_unit_test(test_tensor_needs),
        cmocka_unit_test(test_tokenizers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
