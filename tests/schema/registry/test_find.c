/* Which row of a table a name belongs to, and which values a key takes. */
#include "../../support/check.h"

/* ---- keys
 * ------------------------------------------------------------------------------------- */

static const char *row_of(const char *key, const char *arch)
{
    const gufo_key_info *info = gufo_key_find(key, arch);

    return info != NULL ? info->key : "none";
}

static void test_keys(void **state)
{
    static const struct {
        const char *key, *arch, *row;
    } rows[] = {
        {"general.architecture", "llama", "general.architecture"},
        {"general.architecture", "", "general.architecture"},
        {"llama.context_length", "llama", "{arch}.context_length"},
        {"llama.context_length", "", "{arch}.context_length"},
        {"llama.context_length", "qwen2", "none"},
        {"some-thing.context_length", "some-thing", "{arch}.context_length"},
        {"a.b.context_length", "a.b", "{arch}.context_length"},
        {"a.b.context_length", "", "none"},
        {"a.b.context_length", "a", "none"},
        {"llama.attention.head_count", "llama", "{arch}.attention.head_count"},
        {"llamas.context_length", "llama", "none"},
        {"llamacontext_length", "llama", "none"},
        {"llama.", "llama", "none"},
        {"llama", "llama", "none"},
        {"llama.context_lengt", "llama", "none"},
        {"llama.context_length.", "llama", "none"},
        {"llama.context_length.x", "llama", "none"},
        {".context_length", "", "none"},
        {"context_length", "", "none"},
        {"", "", "none"},
        {".", "", "none"},
        {"..", "", "none"},
        /* a row for exactly this key goes before a pattern */
        {"mpt.attention.clip_kqv", "mpt", "mpt.attention.clip_kqv"},
        {"llama.attention.clip_kqv", "llama", "{arch}.attention.clip_kqv"},
        {"whisper.encoder.block_count", "whisper", "whisper.encoder.block_count"},
        {"clip.vision.block_count", "clip", "clip.vision.block_count"},
        {"clip.vision.block_count", "", "clip.vision.block_count"},
        {"llama.dense_2_feat_in", "llama", "{arch}.dense_2_feat_in"},
        /* numbers */
        {"general.base_model.0.name", "llama", "general.base_model.{id}.name"},
        {"general.base_model.18446744073709551615.name", "", "general.base_model.{id}.name"},
        {"general.base_model.18446744073709551616.name", "", "none"},
        {"general.base_model.00.name", "", "none"},
        {"general.base_model.-1.name", "", "none"},
        {"general.base_model.x.name", "", "none"},
        {"general.base_model..name", "", "none"},
        {"general.base_model.{id}.name", "", "none"},
        {"general.base_model.count", "", "general.base_model.count"},
        {"general.dataset.12.repo_url", "", "general.dataset.{id}.repo_url"},
        /* names */
        {"tokenizer.chat_template", "", "tokenizer.chat_template"},
        {"tokenizer.chat_template.tool_use", "", "tokenizer.chat_template.{name}"},
        {"tokenizer.chat_template.1", "", "tokenizer.chat_template.{name}"},
        {"tokenizer.chat_template.", "", "none"},
        {"tokenizer.chat_template.a.b", "", "none"},
        {"{arch}.context_length", "", "none"},
        {"{arch}.context_length", "{arch}", "none"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check(strcmp(row_of(rows[i].key, rows[i].arch), rows[i].row) == 0, "%s of %s: %s",
              rows[i].key, rows[i].arch, row_of(rows[i].key, rows[i].arch));
}

/* NUL bytes end nothing. */
static void test_keys_of_bytes(void **state)
{
    static const char with_end[] = "general.name\0", with_more[] = "general.name\0.x",
                      inside[] = "llama\0.context_length";

    (void)state;
    check(gufo_key_find_str((gufo_str){with_end, sizeof with_end - 1}, gufo_str_of("")) == NULL,
          "NUL at the end");
    check(gufo_key_find_str((gufo_str){with_more, sizeof with_more - 1}, gufo_str_of("")) == NULL,
          "NUL and more");
    check(gufo_key_find_str((gufo_str){inside, sizeof inside - 1}, gufo_str_of("llama")) == NULL,
          "another architecture");
    check(gufo_key_find_str((gufo_str){inside, sizeof inside - 1}, (gufo_str){inside, 6}) != NULL,
          "an architecture with a NUL byte");
    check(gufo_key_find(NULL, NULL) == NULL, "nothing");
}

static void test_replacements(void **state)
{
    static const struct {
        const char *key, *today;
        bool safe;
    } rows[] = {
        {"mpt.attention.clip_kqv", "{arch}.attention.clamp_kqv", true},
        {"mpt.attention.alibi_bias_max", "{arch}.attention.max_alibi_bias", true},
        {"llama.rope.scale_linear", "{arch}.rope.scaling.factor", true},
        {"tokenizer.ggml.prefix_token_id", "tokenizer.ggml.fim_pre_token_id", true},
        {"tokenizer.ggml.seperator_token_id", "tokenizer.ggml.separator_token_id", false},
        {"llama.rope.scale", "{arch}.rope.scaling.factor", false},
    };
    const gufo_key_info *info = gufo_key_find("general.name", "");

    (void)state;
    bool safe = true;

    check(gufo_key_replacement(info, &safe) == NULL && !safe, "general.name");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        info = gufo_key_find(rows[i].key, "");
        check(info != NULL && gufo_key_replacement(info, &safe) != NULL, "%s", rows[i].key);
        check_str(gufo_str_of(gufo_key_replacement(info, NULL)->key), rows[i].today, "%s",
                  rows[i].key);
        check(safe == rows[i].safe, "%s", rows[i].key);
    }
}

/* ---- values
 * ----------------------------------------------------------------------------------- */

static bool accepts(const char *type, gufo_value value)
{
    gufo_key_info info = {.type = type};

    return gufo_key_accepts(&info, &value);
}

#define UNSIGNED(kind, number) ((gufo_value){.type = GUFO_VALUE_##kind, .as.u = (number)})
#define SIGNED(kind, number) ((gufo_value){.type = GUFO_VALUE_##kind, .as.i = (number)})
#define FLOAT(kind) ((gufo_value){.type = GUFO_VALUE_##kind, .as.f = 1})
#define BOOL ((gufo_value){.type = GUFO_VALUE_BOOL, .as.b = true})
#define STRING ((gufo_value){.type = GUFO_VALUE_STRING, .as.str = {"1", 1}})
#define ARRAY(kind, number)                 \
    ((gufo_value){.type = GUFO_VALUE_ARRAY, \
                  .as.array = {GUFO_VALUE_##kind, (number), NULL, 0, {0}}})

static void test_scalars(void **state)
{
    (void)state;
    check(accepts("uint32", UNSIGNED(UINT32, 1)) && accepts("uint32", UNSIGNED(UINT64, 1)) &&
              accepts("uint32", UNSIGNED(UINT8, 1)) && accepts("uint64", UNSIGNED(UINT32, 1)),
          "unsigned for unsigned");
    check(accepts("uint32", SIGNED(INT32, 0)) && accepts("uint16", SIGNED(INT64, 7)),
          "signed for unsigned");
    check(!accepts("uint32", SIGNED(INT32, -1)) && !accepts("uint32", SIGNED(INT8, -128)),
          "negative for unsigned");
    check(accepts("int32", SIGNED(INT32, -1)) && accepts("int32", UNSIGNED(UINT32, 1)), "signed");
    check(!accepts("uint32", FLOAT(FLOAT32)) && !accepts("uint32", BOOL) &&
              !accepts("uint32", STRING) && !accepts("int32", BOOL),
          "no integer");
    check(accepts("float32", FLOAT(FLOAT32)) && accepts("float32", FLOAT(FLOAT64)), "floats");
    check(!accepts("float32", UNSIGNED(UINT32, 1)) && !accepts("float32", STRING), "no float");
    check(accepts("bool", BOOL) && !accepts("bool", UNSIGNED(UINT8, 1)), "bool");
    check(accepts("string", STRING) && !accepts("string", BOOL) &&
              !accepts("string", ARRAY(STRING, 1)),
          "string");
    check(!accepts("uint32", ARRAY(UINT32, 1)) && !accepts("uint32", ARRAY(UINT32, 0)), "array");
}

static void test_arrays(void **state)
{
    (void)state;
    check(accepts("array[int32]", ARRAY(INT32, 3)) && accepts("array[int32]", ARRAY(UINT64, 3)) &&
              accepts("array[uint8]", ARRAY(INT8, 3)),
          "integers");
    check(!accepts("array[int32]", ARRAY(BOOL, 3)) && !accepts("array[int32]", ARRAY(FLOAT32, 3)),
          "no integers");
    check(!accepts("array[int32]", SIGNED(INT32, 3)), "a number is not an array");
    check(accepts("array[float32]", ARRAY(FLOAT64, 3)), "floats");
    check(accepts("array[bool]", ARRAY(BOOL, 3)) && !accepts("array[bool]", ARRAY(UINT8, 3)),
          "bools");
    check(accepts("array[string]", ARRAY(STRING, 3)) && !accepts("array[string]", ARRAY(BOOL, 3)),
          "strings");
    check(accepts("array[string]", ARRAY(INT8, 0)), "an empty array has any type");
    check(accepts("array[array[int32]]", ARRAY(ARRAY, 3)) &&
              !accepts("array[array[int32]]", ARRAY(INT32, 3)),
          "nested");
    check(accepts("uint32|array[int32]", ARRAY(INT32, 3)) &&
              accepts("uint32|array[int32]", UNSIGNED(UINT32, 3)) &&
              !accepts("uint32|array[int32]", STRING) &&
              !accepts("uint32|array[int32]", ARRAY(STRING, 3)),
          "either");
}

/* ---- tensors
 * ---------------------------------------------------------------------------------- */

static void test_tensors(void **state)
{
    static const struct {
        const char *name, *row;
        int64_t block; /* -1 for none */
        const char *suffix;
    } rows[] = {
        {"token_embd.weight", "token_embd", -1, ".weight"},
        {"output.weight", "output", -1, ".weight"},
        {"output.bias", "output", -1, ".bias"},
        {"output", "output", -1, ""},
        {"output_norm.weight", "output_norm", -1, ".weight"},
        {"blk.0.attn_q.weight", "blk.{bid}.attn_q", 0, ".weight"},
        {"blk.17.attn_q.bias", "blk.{bid}.attn_q", 17, ".bias"},
        {"blk.9223372036854775807.ssm_a", "blk.{bid}.ssm_a", INT64_MAX, ""},
        {"blk.3.nextn.eh_proj.weight", "blk.{bid}.nextn.eh_proj", 3, ".weight"},
        {"blk.3.ffn_gate.7.weight", "blk.{bid}.ffn_gate.{xid}", 3, ".weight"},
        {"blk.3.ffn_gate.weight", "blk.{bid}.ffn_gate", 3, ".weight"},
        {"blk.3.ffn.act.scales", "blk.{bid}.ffn", 3, ".act.scales"},
        {"blk.3.attn_q.weight.lora_a", "blk.{bid}.attn_q", 3, ".weight.lora_a"},
        {"blk.3.attn_q.weight.in_sum2", "blk.{bid}.attn_q", 3, ".weight.in_sum2"},
        {"cls.weight", "cls", -1, ".weight"},
        {"cls.output.weight", "cls.output", -1, ".weight"},
        {"v.blk.5.attn_qkv.weight", "v.blk.{bid}.attn_qkv", 5, ".weight"},
        {"v.sam.blk.5.attn.pos_h.weight", "v.sam.blk.{bid}.attn.pos_h", 5, ".weight"},
        {"mm.0.weight", "mm.{bid}", 0, ".weight"},
        {"mm.model.mlp.2.bias", "mm.model.mlp.{bid}", 2, ".bias"},
        {"a.conv1d.1.norm.weight", "a.conv1d.{bid}.norm", 1, ".weight"},
        {"a.conv1d.1.weight", "a.conv1d.{bid}", 1, ".weight"},
        {"dec.blk.1.cross_attn_rel_b.weight", "dec.blk.{bid}.cross_attn_rel_b", 1, ".weight"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_tensor_match match;

        check(gufo_tensor_info_find(rows[i].name, &match), "%s", rows[i].name);
        check_str(gufo_str_of(match.info->name), rows[i].row, "%s", rows[i].name);
        check(match.has_block == (rows[i].block >= 0), "%s", rows[i].name);
        check_u64(match.block, rows[i].block >= 0 ? rows[i].block : 0, "%s", rows[i].name);
        check_str(match.suffix, rows[i].suffix, "%s", rows[i].name);
    }
}

static void test_no_tensors(void **state)
{
    static const char *const names[] = {
        "",
        ".",
        "..",
        "weight",
        ".weight",
        "unknown.weight",
        "blk",
        "blk.",
        "blk.0",
        "blk.0.",
        "blk.0.unknown",
        "blk.x.attn_q.weight",
        "blk.-1.attn_q.weight",
        "blk.01.attn_q.weight",
        "blk.00.attn_q.weight",
        "blk. 1.attn_q.weight",
        "blk..attn_q.weight",
        "blk.attn_q.weight",
        "blk.{bid}.attn_q.weight",
        "blk.18446744073709551616.attn_q",
        "Blk.0.attn_q",
        "blk.0.attn_qq.weight",
        "blk.0.attn_.weight",
        "token_embd_.weight",
        " output.weight",
        "0.0.0.0.0.0.0.0.0.0.0.0",
        "outputs",
        "{",
        "blk.0.attn_q{",
    };
    static const char with_nul[] = "output\0weight";
    gufo_tensor_match match = {.block = 77};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        check(!gufo_tensor_info_find(names[i], &match), "\"%s\"", names[i]);
    check(!gufo_tensor_info_find_str((gufo_str){with_nul, sizeof with_nul - 1}, &match), "NUL");
    check(!gufo_tensor_info_find(NULL, &match), "nothing");
    check_u64(match.block, 77, "left alone");
}

/* Every row is found by its own name, and its block in it; so is it with a suffix of any length. */
static void test_every_tensor(void **state)
{
    enum { SUFFIX = 100000 };
    const gufo_tensor_info *info;
    char *name = malloc(256 + SUFFIX);

    (void)state;
    check(name != NULL, "memory");
    for (size_t i = 0; (info = gufo_tensor_info_at(i)) != NULL; i++) {
        gufo_tensor_match match;
        size_t len = 0;

        for (const char *at = info->name; *at != '\0';) {
            bool number = strncmp(at, "{bid}", 5) == 0 || strncmp(at, "{xid}", 5) == 0;

            name[len++] = number ? '4' : *at;
            at += number ? 5 : 1;
        }
        check(gufo_tensor_info_find_str((gufo_str){name, len}, &match), "%s", info->name);
        check(match.info == info && match.suffix.len == 0, "%s", info->name);
        check(match.has_block == (strchr(info->name, '{') != NULL), "%s", info->name);
        memset(name + len, '.', SUFFIX);
        check(gufo_tensor_info_find_str((gufo_str){name, len + SUFFIX}, &match), "%s", info->name);
        check(match.info == info && match.suffix.len == SUFFIX, "%s", info->name);
    }
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_keys_of_bytes),
        cmocka_unit_test(test_replacements), cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_arrays),       cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_no_tensors),   cmocka_unit_test(test_every_tensor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
