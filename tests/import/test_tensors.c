/* Tensors of checkpoints become those of GGUF: names, order, types, arithmetic, generated tensors, and what
 * is refused. */
#include <math.h>

#include "base/memory.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/operations/operation.h"
#include "tensor_case.h"

/* ---- the table ------------------------------------------------------------------------------ */

static void test_rows(void **state)
{
    const rule_row *row;

    (void)state;
    for (size_t i = 0; (row = rules_row_at(i)) != NULL; i++) {
        char name[256];
        size_t len = strcspn(row->architectures, ",");
        tensor_rules rules;
        gufo_error error = no_error();

        (void)snprintf(name, sizeof name, "%.*s", (int)len, row->architectures);
        check_ok(rules_open(&rules, name, mem_allocator(NULL), &error), &error, "row %zu of %s", i,
                 name);
        rules_close(&rules);
    }
}

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
        uint64_t block, entry;
    } wanted[] = {
        {"a.{b}.c", "a.12.c", true, 12, UINT64_MAX},
        {"a.{b}.c", "a..c", false, 0, 0},
        {"a.{b}.c", "a.x.c", false, 0, 0},
        {"*.{b}.e.{e}.w", "model.layers.3.e.7.w", true, 3, 7},
        {"*.{b}.w", "x.5.y.6.w", true, 6, UINT64_MAX},
        {"*norm.weight", "a.norm.weight.norm.weight", true, UINT64_MAX, UINT64_MAX},
        {"*norm.weight", "a.norm.weights", false, 0, 0},
        {"mlp*", "mlp", true, UINT64_MAX, UINT64_MAX},
        {"*a*b*c", "aabbc", true, UINT64_MAX, UINT64_MAX},
        {"*a*b*c", "acb", false, 0, 0},
        {"", "", true, UINT64_MAX, UINT64_MAX},
        {"*", "", true, UINT64_MAX, UINT64_MAX},
        {"{b}", "18446744073709551616", false, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        pattern_numbers match;
        bool matches =
            pattern_matches(gufo_str_of(wanted[i].pattern), gufo_str_of(wanted[i].name), &match);

        check(matches == wanted[i].matches, "%s, %s", wanted[i].pattern, wanted[i].name);
        check(!matches || (match.block == wanted[i].block && match.entry == wanted[i].entry),
              "%s, %s", wanted[i].pattern, wanted[i].name);
    }
}

/* ---- names and order ------------------------------------------------------------------------ */

typedef struct name_case {
    const char *label, *config;
    const char *sources[8]; /* of shape 4, 4; they are converted in the order of their names */
    const char *results[8];
} name_case;

static const name_case name_cases[] = {
    {"masks are dropped, towers skipped, text models have no prefix",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"num_attention_heads\": 2}",
     {"language_model.model.embed_tokens.weight", "model.layers.0.self_attn.rotary_emb.inv_freq",
      "mlp1.weight", "vision_tower.layers.0.weight", "language_model.lm_head.weight"},
     {"output.weight", "token_embd.weight"}},
    {"headless checkpoints",
     "{\"architectures\": [\"LlamaModel\"], \"num_attention_heads\": 2}",
     {"embed_tokens.weight", "layers.0.self_attn.v_proj.weight"},
     {"token_embd.weight", "blk.0.attn_v.weight"}},
    {"a head that is tied in the configuration",
     "{\"architectures\": [\"DeepseekV2ForCausalLM\"], \"tie_word_embeddings\": true,"
     " \"num_hidden_layers\": 2, \"num_nextn_predict_layers\": 1}",
     {"lm_head.weight", "model.embed_tokens.weight", "model.layers.1.self_attn.o_proj.weight",
      "model.layers.2.self_attn.o_proj.weight"},
     {"token_embd.weight", "blk.1.attn_output.weight"}},
    {"the first of several embeddings",
     "{\"architectures\": [\"T5ForConditionalGeneration\"]}",
     {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "shared.weight",
      "lm_head.weight"},
     {"token_embd.weight", "output.weight"}},
    {"blocks that predict several tokens have numbers behind the others",
     "{\"architectures\": [\"Qwen3_5ForCausalLM\"], \"num_hidden_layers\": 3}",
     {"mtp.fc.weight", "mtp.layers.0.self_attn.o_proj.weight", "model.embed_tokens.weight"},
     {"token_embd.weight", "blk.3.nextn.eh_proj.weight", "blk.3.attn_output.weight"}},
    {"a head that equals the embedding",
     "{\"architectures\": [\"MambaForCausalLM\"], \"vocab_size\": 4}",
     {"backbone.embeddings.weight", "lm_head.weight"},
     {"token_embd.weight"}},
};

static size_t make_plain(const char *const *names, size_t most, const void *bytes, safetensor *out)
{
    size_t n = 0;

    for (; n < most && names[n] != NULL; n++)
        out[n] = (safetensor){names[n], "BF16", 2, {4, 4}, bytes};
    return n;
}

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(name_cases); i++) {
        const name_case *row = &name_cases[i];
        uint8_t *bytes = made_numbers("BF16", 0, 16);
        safetensor sources[COUNT_OF(row->sources)];
        size_t count = make_plain(row->sources, COUNT_OF(row->sources), bytes, sources);
        tensor_case c;
        gufo_error error = no_error();

        check_ok(case_open(&c, row->config, NULL, sources, count, 0, &error), &error, "%s",
                 row->label);
        for (size_t k = 0; k < COUNT_OF(row->results); k++) {
            if (row->results[k] == NULL) {
                check_u64(c.plan.count, k, "%s", row->label);
                break;
            }
            check(k < c.plan.count, "%s: no %s", row->label, row->results[k]);
            check_str(gufo_str_of(c.plan.tensors[k].name), row->results[k], "%s", row->label);
        }
        check_u64(c.import.warning_count, i == 0, "warnings: %s", row->label);
        check(strcmp(c.plan.first_type->name, "BF16") == 0, "%s", row->label);
        case_close(&c);
        free(bytes);
    }
}

/* ---- types ---------------------------------------------------------------------------------- */

static void test_types(void **state)
{
    static const safetensor sources[] = {
        {"model.embed_tokens.weight", "F32", 2, {2, 4}, NULL},
        {"model.layers.0.input_layernorm.weight", "F16", 1, {4}, NULL},
        {"model.layers.0.block_sparse_moe.gate.weight", "F16", 2, {2, 4}, NULL},
        {"model.layers.0.self_attn.v_proj.bias", "BF16", 1, {4}, NULL},
        {"model.layers.0.self_attn.v_proj.weight", "F16", 2, {4, 4}, NULL},
        {"model.layers.0.self_attn.o_proj.weight", "F64", 2, {4, 4}, NULL},
        {"lm_head.weight", "I64", 2, {2, 4}, NULL},
    };
    static const struct {
        const char *name, *type;
        bool keeps;
    } expected[] = {
        {"token_embd.weight", "F32", false},
        {"blk.0.attn_norm.weight", "F32", true},
        {"blk.0.ffn_gate_inp.weight", "F32", true},
        {"blk.0.attn_v.bias", "F32", true},
        {"blk.0.attn_v.weight", "F16", false},
        {"blk.0.attn_output.weight", "F32", false},
        {"output.weight", "F32", false},
    };
    tensor_case c;
    gufo_error error = no_error();

    (void)state;
    check_ok(case_open(&c, "{\"architectures\": [\"LlamaForCausalLM\"]}", NULL, sources,
                       COUNT_OF(sources), 0, &error),
             &error, "types");
    check_u64(c.plan.count, COUNT_OF(expected), "tensors");
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const planned_tensor *t = case_tensor(&c, expected[i].name);

        check(strcmp(t->type->name, expected[i].type) == 0, "type of %s", t->name);
        check(t->keeps_type == expected[i].keeps, "%s keeps its type", t->name);
    }
    check(strcmp(c.plan.first_type->name, "F16") == 0, "auto");
    case_make(&c);
    case_close(&c);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Of all numbers of one byte. */
static void test_conversions(void **state)
{
    static uint8_t bytes[256];
    static const safetensor sources[] = {
        {"model.layers.0.mlp.down_proj.weight", "F8_E4M3", 2, {1, 256}, bytes},
        {"model.layers.1.mlp.down_proj.weight", "F8_E5M2", 2, {1, 256}, bytes},
        {"model.layers.2.mlp.down_proj.weight", "U8", 2, {1, 256}, bytes},
        {"model.layers.3.mlp.down_proj.weight", "I8", 2, {1, 256}, bytes},
        {"model.layers.4.mlp.down_proj.weight", "BOOL", 2, {1, 256}, bytes},
    };
    tensor_case c;
    gufo_error error = no_error();
    char name[64];

    (void)state;
    for (size_t i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    check_ok(case_open(&c, "{\"architectures\": [\"LlamaForCausalLM\"]}", NULL, sources,
                       COUNT_OF(sources), 0, &error),
             &error, "conversions");
    case_make(&c);
    for (unsigned k = 0; k < COUNT_OF(sources); k++)
        for (unsigned i = 0; i < 256; i++) {
            const planned_tensor *t;
            double sign = i < 128 ? 1 : -1, expected = i;
            unsigned e4 = i >> 3 & 15, m3 = i & 7, e5 = i >> 2 & 31, m2 = i & 3;
            float got;

            (void)snprintf(name, sizeof name, "blk.%u.ffn_down.weight", k);
            t = case_tensor(&c, name);
            got = made_float(&c, t, i);
            if (k == 0) /* the largest magnitude is NaN */
                expected =
                    (i & 127) == 127
                        ? (double)NAN
                        : sign * (e4 == 0 ? m3 * pow(2, -9) : (1 + m3 / 8.0) * pow(2, (int)e4 - 7));
            if (k == 1)
                expected = e5 == 31 ? (m2 != 0 ? (double)NAN : sign * HUGE_VAL)
                                    : sign * (e5 == 0 ? m2 * pow(2, -16)
                                                      : (1 + m2 / 4.0) * pow(2, (int)e5 - 15));
            if (k == 3)
                expected = (int8_t)i;
            if (k == 4)
                expected = i != 0;
            check(isnan(expected) ? isnan(got) : (double)got == expected, "%s %u: %g",
                  sources[k].dtype, i, (double)got);
        }
    case_close(&c);
}

/* Results of F16 numbers are F16 numbers. */
static void test_arithmetic(void **state)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(dtypes); k++) {
        bool half = strcmp(dtypes[k], "F16") == 0;
        uint8_t *bytes = made_numbers(dtypes[k], 0, 64);
        const safetensor sources[] = {
            {"model.norm.weight", dtypes[k], 1, {64}, bytes},
            {"model.layers.0.linear_attn.A_log", dtypes[k], 1, {64}, bytes}};
        tensor_case c;
        gufo_error error = no_error();

        check_ok(case_open(&c, "{\"architectures\": [\"Qwen3NextForCausalLM\"]}", NULL, sources,
                           COUNT_OF(sources), 0, &error),
                 &error, "%s", dtypes[k]);
        case_make(&c);
        for (uint64_t i = 0; i < 64; i++) {
            double from = (double)float_of(dtypes[k], number_bits(dtypes[k], i));
            double norm = from + 1, a = -exp(from);

            if (half) { /* multiples of 2^-9 between 2 and 4, and of 2^-9 for -e to -4, 2^-8 below */
                norm = rint(norm * 512) / 512;
                a = a > -4 ? rint(a * 512) / 512 : rint(a * 256) / 256;
            }
            check(made_float(&c, case_tensor(&c, "output_norm.weight"), i) == (float)norm, "%s %u",
                  dtypes[k], (unsigned)i);
            check(made_float(&c, case_tensor(&c, "blk.0.ssm_a"), i) == (float)a, "%s %u", dtypes[k],
                  (unsigned)i);
        }
        case_close(&c);
        free(bytes);
    }
}

static void test_rows_of_embeddings(void **state)
{
    uint8_t *bytes = made_numbers("BF16", 0, 24);
    const safetensor gemma[] = {{"model.embed_tokens.weight", "BF16", 2, {6, 4}, bytes}};
    const safetensor roberta[] = {
        {"roberta.embeddings.position_embeddings.weight", "BF16", 2, {6, 4}, bytes}};
    static const uint64_t dims[] = {4, 5}, positions[] = {4, 4};
    static uint32_t map[24];
    tensor_case c;
    gufo_error error = no_error();

    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        map[i] = i;
    check_ok(
        case_open(&c, "{\"architectures\": [\"Gemma3ForCausalLM\"]}", NULL, gemma, 1, 5, &error),
        &error, "tokens");
    case_make(&c);
    check_map(&c, "token_embd.weight", "BF16", 2, dims, map);
    case_close(&c);
    check_ok(case_open(&c,
                       "{\"architectures\": [\"RobertaModel\"], \"pad_token_id\": 1,"
                       " \"max_position_embeddings\": 6}",
                       NULL, roberta, 1, 0, &error),
             &error, "positions");
    case_make(&c);
    check_map(&c, "position_embd.weight", "BF16", 2, positions, map + 8);
    case_close(&c);
    free(bytes);
}

/* ---- generated tensors ---------------------------------------------------------------------- */

static void test_llama3(void **state)
{
    static const safetensor sources[] = {{"model.embed_tokens.weight", "BF16", 2, {2, 4}, NULL}};
    tensor_case c;
    gufo_error error = no_error();

    (void)state;
    check_ok(case_open(&c,
                       "{\"architectures\": [\"LlamaForCausalLM\"], \"head_dim\": 64,"
                       " \"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\","
                       " \"factor\": 32.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,"
                       " \"original_max_position_embeddings\": 8192}}",
                       NULL, sources, 1, 0, &error),
             &error, "llama3");
    check_str(gufo_str_of(c.plan.tensors[0].name), "rope_freqs.weight", "in front of all others");
    check_u64(c.plan.tensors[0].dims[0], 32, "factors");
    case_make(&c);
    for (uint64_t i = 0; i < 32; i++) {
        double wave = 2 * 3.14159265358979 * pow(500000, 2 * (double)i / 64), smooth;
        double expected = wave < 2048 ? 1 : 32, got = (double)made_float(&c, c.plan.tensors, i);

        if (wave >= 2048 && wave <= 8192) {
            smooth = (8192 / wave - 1) / 3;
            expected = 1 / ((1 - smooth) / 32 + smooth);
        }
        check(fabs(got - expected) < 1e-5 * expected, "factor %u: %g, not %g", (unsigned)i, got,
              expected);
    }
    case_close(&c);
}

/* ---- what is refused ------------------------------------------------------------------------ */

#define AXK2                                                                  \
    "{\"architectures\": [\"AXK2ForCausalLM\"], \"num_attention_heads\": 1, " \
    "\"qk_nope_head_dim\": 1,"                                                \
    " \"qk_rope_head_dim\": 1, \"v_head_dim\": 1}"
#define MIXTRAL "{\"architectures\": [\"MixtralForCausalLM\"], \"num_local_experts\": 2}"
#define LLAMA "{\"architectures\": [\"LlamaForCausalLM\"], \"num_attention_heads\": 2}"
#define EXPERT "model.layers.0.block_sparse_moe.experts."

static const struct {
    const char *label, *config;
    safetensor sources[3];
    gufo_status status;
    const char *part; /* of the message */
} refused[] = {
    {"no rule",
     LLAMA,
     {{"foo.weight", "F32", 1, {2}, NULL}},
     GUFO_E_TYPE,
     "no rule for tensor \"foo.weight\""},
    {"two for one name",
     LLAMA,
     {{"model.norm.weight", "F32", 1, {2}, NULL}, {"transformer.ln_f.weight", "F32", 1, {2}, NULL}},
     GUFO_E_MALFORMED,
     "both become \"output_norm.weight\""},
    {"odd heads",
     LLAMA,
     {{"model.layers.0.self_attn.q_proj.weight", "F32", 2, {6, 2}, NULL}},
     GUFO_E_MALFORMED,
     "6 rows do not divide into 2 heads of an even size"},
    {"a head without heads",
     "{\"architectures\": [\"LlamaForCausalLM\"]}",
     {{"model.layers.0.self_attn.q_proj.weight", "F32", 2, {6, 2}, NULL}},
     GUFO_E_MALFORMED,
     "num_attention_heads"},
    {"heads beyond all",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"num_attention_heads\": 1e18}",
     {{"model.layers.0.self_attn.q_proj.weight", "F32", 2, {6, 2}, NULL}},
     GUFO_E_MALFORMED,
     "heads"},
    {"a missing expert",
     MIXTRAL,
     {{EXPERT "0.w1.weight", "F32", 2, {2, 2}, NULL},
      {EXPERT "1.w1.weight", "F32", 2, {2, 2}, NULL}},
     GUFO_E_MALFORMED,
     "only 2 are there"},
    {"an expert too many",
     MIXTRAL,
     {{EXPERT "2.w1.weight", "F32", 2, {2, 2}, NULL}},
     GUFO_E_MALFORMED,
     "it is number 2"},
    {"more experts than memory",
     "{\"architectures\": [\"MixtralForCausalLM\"], \"num_local_experts\": 1000000000000000}",
     {{EXPERT "0.w1.weight", "F32", 2, {2, 2}, NULL}},
     GUFO_E_MALFORMED,
     "only 1 are there"},
    {"five dimensions",
     LLAMA,
     {{"lm_head.weight", "F32", 5, {1, 2, 1, 2, 1}, NULL}},
     GUFO_E_LIMIT,
     "5 dimensions"},
    {"numbers that are not read",
     LLAMA,
     {{"lm_head.weight", "U32", 2, {1, 2}, NULL}},
     GUFO_E_TYPE,
     "U32"},
    {"quantized",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"quantization_config\": {\"quant_method\":"
     " \"gptq\"}}",
     {{"model.layers.0.self_attn.q_proj.qweight", "I32", 2, {1, 2}, NULL}},
     GUFO_E_MALFORMED,
     ".qzeros is missing"},
    {"quantized, under the name of a weight",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"quantization_config\": {\"quant_method\":"
     " \"fp8\"}}",
     {{"lm_head.weight", "F8_E4M3", 2, {1, 2}, NULL}},
     GUFO_E_MALFORMED,
     ".weight_scale_inv is missing"},
    {"quantized in a way that is not read",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"quantization_config\": {\"quant_method\":"
     " \"bitsandbytes\"}}",
     {{"lm_head.weight", "U8", 2, {1, 2}, NULL}},
     GUFO_E_TYPE,
     "quantized source (\"bitsandbytes\")"},
    {"numbers that are not 0",
     "{\"architectures\": [\"Cohere2ForCausalLM\"]}",
     {{"model.norm.bias", "F32", 1, {2}, "\0\0\0\0\0\0\200\77"}},
     GUFO_E_MALFORMED,
     "number 1"},
    {"numbers beside the blocks of a matrix", /* one head: a query of two rows, a gate of one */
     AXK2,
     {{"model.layers.0.self_attn.q_b_proj.weight", "BF16", 2, {3, 2}, "\0\0\200\77\0\0\0\0\0\0\0"}},
     GUFO_E_MALFORMED,
     "number 0"},
    {"blocks of three columns",
     AXK2,
     {{"model.layers.0.self_attn.q_b_proj.weight", "BF16", 2, {3, 3}, NULL}},
     GUFO_E_MALFORMED,
     "do not divide into 2"},
    {"no numbers",
     "{\"architectures\": [\"LlamaForCausalLM\"]}",
     {{"model.embed_tokens.weight", "F32", 2, {4, 0}, ""}},
     GUFO_E_MALFORMED,
     "has no numbers"},
    {"rows without end",
     "{\"architectures\": [\"Gemma3nForCausalLM\"], \"vocab_size\": 1000000000000}",
     {{"model.embed_tokens.weight", "BF16", 2, {4, 2}, NULL}},
     GUFO_E_LIMIT,
     "far fewer than the 1,000,000,000,000"},
    {"a half of three",
     "{\"architectures\": [\"Qwen3MoeForCausalLM\"], \"num_experts\": 2}",
     {{"model.layers.0.mlp.experts.gate_up_proj", "F32", 3, {2, 3, 2}, NULL}},
     GUFO_E_MALFORMED,
     "3 does not divide into 2"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        tensor_case c;
        gufo_error error = no_error();
        size_t count = 0;

        while (count < COUNT_OF(refused[i].sources) && refused[i].sources[count].name != NULL)
            count++;
        check_status(case_open(&c, refused[i].config, NULL, refused[i].sources, count, 0, &error),
                     refused[i].status, &error, "%s", refused[i].label);
        check(strstr(error.message, refused[i].part) != NULL, "%s: %s", refused[i].label,
              error.message);
        check_u64(c.plan.count, 0, "%s", refused[i].label);
        case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_rows_of_embeddings),
        cmocka_unit_test(test_llama3),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
