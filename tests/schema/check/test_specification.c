/* Level spec: what the specification says of names and values.  Rows are in the order of its text; what
 * programs have added to it is a warning, what nobody knows an error. */
#include "../../support/schema.h"

#define LLAMA_KEYS                                                                        \
    "general.architecture llama.context_length llama.embedding_length llama.block_count " \
    "llama.feed_forward_length llama.rope.dimension_count llama.attention.head_count "    \
    "llama.attention.layer_norm_rms_epsilon"
#define SPEC GUFO_LEVEL_SPEC
#define MODEL GUFO_LEVEL_MODEL

#define ROW_WITHOUT(text, out, name, bad_keys, good_keys, at_level)             \
    {                                                                           \
        .label = text, .rule = name, .bad = {.without = out, .keys = bad_keys}, \
        .good = {.without = out, .keys = good_keys}, .level = at_level          \
    }
#define ROW(text, name, bad_keys, good_keys) ROW_WITHOUT(text, "", name, bad_keys, good_keys, SPEC)
#define ARCH_ROW(text, name, bad_keys, good_keys) \
    ROW_WITHOUT(text, LLAMA_KEYS, name, bad_keys, good_keys, SPEC)
#define ADD_ROW(text, name, bad_add, good_add)                                           \
    {                                                                                    \
        .label = text, .rule = name, .bad = {.add = bad_add}, .good = {.add = good_add}, \
        .level = SPEC                                                                    \
    }

#define MAMBA "general.architecture string mamba"
#define MPT "general.architecture string mpt; mpt.context_length uint64 8"
#define LAYOUT "llama.tensor_data_layout string "
#define TYPES "tokenizer.ggml.token_type int32[] "
#define MODEL_OF_TOKENS "tokenizer.ggml.model string "

static const schema_row rows[] = {
    /* Required */
    ARCH_ROW("an architecture with a hyphen", "unspecified",
             "general.architecture string falcon-h1", MAMBA),
    ARCH_ROW("an architecture with an underscore", "unspecified",
             "general.architecture string nemotron_h", MAMBA),
    /* General metadata */
    ROW("an address for a license", "license",
        "general.license string https://www.apache.org/licenses/LICENSE-2.0",
        "general.license string Apache-2.0"),
    ROW("words for a license", "license", "general.license string my own terms",
        "general.license string LicenseRef-own"),
    ROW("a license of the Hub", "license", "general.license string llama3.1",
        "general.license string LicenseRef-llama3.1"),
    ROW("a license of before", "license-deprecated", "general.license string GPL-3.0",
        "general.license string GPL-3.0-only"),
    ROW("a word for an address", "url", "general.license.link string LICENSE",
        "general.license.link string https://example.org/LICENSE"),
    ROW("a file type that nobody knows", "file-type-unknown", "general.file_type uint32 99",
        "general.file_type uint32 18"),
    ROW("a file type that was removed", "file-type-unknown", "general.file_type uint32 5",
        "general.file_type uint32 0"),
    ROW("a file type that programs have added", "unspecified", "general.file_type uint32 32",
        "general.file_type uint32 1"),
    /* Source metadata */
    ROW("more parents than there are", "group-count", "general.base_model.count uint32 1",
        "general.base_model.count uint32 0"),
    /* LLM */
    ROW("a layout that nobody knows", "tensor-data-layout", LAYOUT "sideways", LAYOUT "reference"),
    ROW("a layout of Falcon", "tensor-data-layout", LAYOUT "jploski",
        LAYOUT "Meta AI original pth"),
    ARCH_ROW(
        "a layout of LLaMA", "tensor-data-layout",
        "general.architecture string gpt2; gpt2.tensor_data_layout string Meta AI original pth",
        "general.architecture string gpt2; gpt2.tensor_data_layout string reference"),
    ARCH_ROW(
        "the layout of LLaMA in a model like it", "unspecified",
        "general.architecture string orion; orion.tensor_data_layout string Meta AI original pth",
        "general.architecture string falcon; falcon.tensor_data_layout string jploski"),
    ARCH_ROW("a list where the text has a number", "unspecified",
             "general.architecture string openelm; openelm.attention.head_count_kv int32[] 1 2",
             "general.architecture string openelm; openelm.attention.head_count_kv uint32 2"),
    ROW_WITHOUT("a list for LLaMA", "llama.attention.head_count", "key-type-specified",
                "llama.attention.head_count int32[] 4 4 4 4", "llama.attention.head_count uint64 4",
                SPEC),
    /* Scaling */
    ROW("a type of scaling that nobody knows", "rope-scaling", "llama.rope.scaling.type string su",
        "llama.rope.scaling.type string yarn"),
    ROW("a type of scaling that programs have added", "unspecified",
        "llama.rope.scaling.type string longrope", "llama.rope.scaling.type string none"),
    {.label = "the key of older models",
     .rule = "key-outdated",
     .bad = {.keys = "llama.rope.scale_linear float32 2"},
     .good = {.keys = "llama.rope.scaling.factor float32 2"},
     .fix = GUFO_FIX_RENAME,
     .level = SPEC},
    /* Models: names that sections have, which are not old */
    ROW("a scale", "key-unread", "llama.rope.scale float32 2",
        "llama.rope.scale float32 2; llama.rope.scaling.factor float32 2"),
    {.label = "the bias of MPT",
     .rule = "key-unread",
     .bad = {.without = LLAMA_KEYS, .keys = MPT "; mpt.attention.alibi_bias_max float32 8"},
     .good = {.without = LLAMA_KEYS, .keys = MPT "; mpt.attention.max_alibi_bias float32 8"},
     .fix = GUFO_FIX_RENAME,
     .fix_value = "mpt.attention.max_alibi_bias",
     .level = MODEL},
    ARCH_ROW("the bound of MPT, twice", "key-contradiction",
             MPT "; mpt.attention.clip_kqv float32 8; mpt.attention.clamp_kqv float32 6",
             MPT "; mpt.attention.clip_kqv float32 8; mpt.attention.clamp_kqv float32 8"),
    {.label = "the bound of MPT, a wide float",
     .rule = "key-type-specified",
     .bad = {.without = LLAMA_KEYS,
             .keys = MPT "; mpt.attention.clip_kqv float64 8; mpt.attention.clamp_kqv float32 8"},
     .good = {.without = LLAMA_KEYS,
              .keys = MPT "; mpt.attention.clip_kqv float32 8; mpt.attention.clamp_kqv float32 8"},
     .fix = GUFO_FIX_SET,
     .level = SPEC},
    ARCH_ROW("RWKV 5", "rwkv-version",
             "general.architecture string rwkv; rwkv.architecture_version uint32 5",
             "general.architecture string rwkv; rwkv.architecture_version uint32 4"),
    /* Tokenizer */
    ROW_WITHOUT("a tokenizer that nobody knows", "tokenizer.ggml.model", "tokenizer-model",
                MODEL_OF_TOKENS "wordpiece", MODEL_OF_TOKENS "gpt2", SPEC),
    ROW_WITHOUT("a tokenizer that programs have added", "tokenizer.ggml.model", "unspecified",
                MODEL_OF_TOKENS "bert", MODEL_OF_TOKENS "gpt2", SPEC),
    ROW_WITHOUT("a token type of 0", "tokenizer.ggml.token_type", "token-type",
                TYPES "3 3 1 1 0 1 1 1", TYPES "3 3 1 1 2 4 5 6", SPEC),
    ROW_WITHOUT("a token type of 0 in programs", "tokenizer.ggml.token_type", "token-type",
                TYPES "3 3 1 1 7 1 1 1", TYPES "3 3 1 1 0 1 1 1", MODEL),
    ROW_WITHOUT("a token type of 7", "tokenizer.ggml.token_type", "token-type",
                TYPES "3 3 1 1 7 1 1 1", TYPES "3 3 1 1 2 4 5 6", SPEC),
};

static void test_rows(void **state)
{
    (void)state;
    schema_check_rows(rows, COUNT_OF(rows));
}

/* ---- lists and tensors ---------------------------------------------------------------------- */

static void languages_three(gufo_document *d)
{
    put_texts(d, "general.languages", 2, (const char *const[]){"en", "deu"});
}

static void languages_only_three(gufo_document *d)
{
    put_texts(d, "general.languages", 2, (const char *const[]){"en", "gsw"});
}

static void languages_two(gufo_document *d)
{
    put_texts(d, "general.languages", 2, (const char *const[]){"en", "de"});
}

/* Tensors of an adapter may have any type. */
static void typed(gufo_document *d, uint32_t type)
{
    put_text(d, "general.type", "adapter");
    put_text(d, "adapter.type", "lora");
    put_f32(d, "adapter.lora.alpha", 1);
    put_u32(d, "general.quantization_version", 2);
    put_tensor(d, "blk.0.attn_q.weight.lora_a", type, 256, 256);
    put_tensor(d, "blk.0.attn_q.weight.lora_b", type, 256, 256);
}

static void bfloats(gufo_document *d)
{
    typed(d, GUFO_TYPE_BF16);
}

static void last_specified(gufo_document *d)
{
    typed(d, GUFO_TYPE_IQ1_M);
}

static const schema_row added_rows[] = {
    ADD_ROW("a language of three letters", "language", languages_three, languages_two),
    ADD_ROW("a language that has three letters alone", "language", languages_only_three,
            languages_two),
    ADD_ROW("an element type that programs have added", "unspecified", bfloats, last_specified),
};

static void test_lists_and_tensors(void **state)
{
    (void)state;
    schema_check_rows(added_rows, COUNT_OF(added_rows));
}

/* ---- severities ----------------------------------------------------------------------------- */

/* What the specification requires is an error at its level; what it recommends is none. */
static void test_severities(void **state)
{
    static const struct {
        const char *rule;
        gufo_severity severity;
    } cases[] = {
        {"version-old", GUFO_ERROR},
        {"key-case", GUFO_ERROR},
        {"array-utf8", GUFO_ERROR},
        {"padding-nonzero", GUFO_ERROR},
        {"alignment-eight", GUFO_ERROR},
        {"type-unknown", GUFO_ERROR},
        {"architecture-missing", GUFO_ERROR},
        {"quantization-version-missing", GUFO_ERROR},
        {"architecture-characters", GUFO_ERROR},
        {"license", GUFO_ERROR},
        {"license-deprecated", GUFO_WARNING},
        {"language", GUFO_ERROR},
        {"uuid", GUFO_ERROR},
        {"doi", GUFO_ERROR},
        {"url", GUFO_ERROR},
        {"group-count", GUFO_ERROR},
        {"file-type-unknown", GUFO_ERROR},
        {"file-type", GUFO_ERROR},
        {"tensor-data-layout", GUFO_ERROR},
        {"rope-scaling", GUFO_ERROR},
        {"key-specified", GUFO_ERROR},
        {"key-type-specified", GUFO_ERROR},
        {"rwkv-version", GUFO_ERROR},
        {"tokenizer-model", GUFO_ERROR},
        {"token-type", GUFO_ERROR},
        {"huggingface-json", GUFO_ERROR},
        {"rwkv-world", GUFO_ERROR},
        {"template-syntax", GUFO_ERROR},
        {"key-unprefixed", GUFO_WARNING},
        {"key-outdated", GUFO_WARNING},
        {"data-gap", GUFO_WARNING},
        {"unspecified", GUFO_WARNING},
        {"key-unread", GUFO_INFO},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const gufo_rule *rule = gufo_rule_by_id(cases[i].rule);

        check(rule != NULL && rule->spec_severity == cases[i].severity, "%s", cases[i].rule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_lists_and_tensors),
        cmocka_unit_test(test_severities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
