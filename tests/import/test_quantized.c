/* Quantized checkpoints: folders of each method, and the tensors that they become.  The numbers that are
 * expected come from plain loops over the bytes of the parts, by the formulas of docs/convert.md.
 * Python with torch gives the same: weight.view(torch.float8_e4m3fn).float() * scale, and
 * (weight.view(torch.int8).float() - zero) * scale. */
#include "../support/allocator.h"
#include "../support/check.h"
#include "../support/pace.h"
#include "../support/safetensors_maker.h"
#include "config_folder.h"

#include <math.h>

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/import.h"
#include "gufo/quant.h"

enum { MOST_PARTS = 28 };

#define LAYER "model.layers.0."
#define DOWN LAYER "mlp.down_proj"
#define QUERY LAYER "self_attn.q_proj"
#define EXPERTS LAYER "mlp.experts"

/* ---- folders --------------------------------------------------------------------------------- */

/* A model of a class, whose configuration has `more` in it. */
static folder new_folder(const char *class_name, const char *more, const safetensor *tensors)
{
    folder f = folder_new();
    char config[2048];
    size_t count = 0;

    (void)snprintf(config, sizeof config,
                   "{\"architectures\": [\"%s\"], \"hidden_size\": 64, \"num_hidden_layers\": 1,"
                   " \"intermediate_size\": 64, \"num_attention_heads\": 2, \"vocab_size\": 4,"
                   " \"num_experts\": 2, \"num_local_experts\": 2, \"rms_norm_eps\": 1e-5,"
                   " \"num_experts_per_tok\": 1, \"max_position_embeddings\": 64%s}",
                   class_name, more);
    write_text(&f, "config.json", config);
    while (count < MOST_PARTS && tensors[count].name != NULL)
        count++;
    safetensors_write(folder_path(&f, "model.safetensors").text, tensors, count);
    return f;
}

static gufo_import *open_folder(const folder *f, gufo_error *error)
{
    /* The weights alone matter: the rest of the model is missing. */
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY |
                                                      GUFO_CHECKPOINT_NO_CHECK};

    *error = no_error();
    return gufo_import_checkpoint(f->path, &options, error);
}

static gufo_import *open_model(const folder *f)
{
    gufo_error error;
    gufo_import *import = open_folder(f, &error);

    check(import != NULL, "%s: %s", error.file, error.message);
    return import;
}

static void close_model(gufo_import *import, folder *f)
{
    gufo_import_free(import);
    folder_remove(f);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Bytes that look random, the same in every run. */
static uint8_t byte_at(uint64_t index)
{
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    return (uint8_t)(z >> 56);
}

static void fill_bytes(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = byte_at(seed * 65536 + i);
}

/* F8 whose numbers are finite. */
static void fill_f8(uint8_t *bytes, size_t count, uint64_t seed)
{
    fill_bytes(bytes, count, seed);
    for (size_t i = 0; i < count; i++)
        bytes[i] &= 0xbf; /* an exponent below the highest, in both types */
}

static float f8(uint8_t byte, unsigned mantissa, int bias)
{
    int exponent = (byte & 0x7f) >> mantissa, rest = byte & ((1 << mantissa) - 1);
    double value = exponent == 0 ? rest : rest + (1 << mantissa);

    value = ldexp(value, (exponent == 0 ? 1 : exponent) - bias - (int)mantissa);
    return (float)((byte & 0x80) != 0 ? -value : value);
}

static float e4m3(uint8_t byte)
{
    return f8(byte, 3, 7);
}

static float e5m2(uint8_t byte)
{
    return f8(byte, 2, 15);
}

static void store_f32(uint8_t *at, float value)
{
    store_u32(at, float_to_bits(value), bytes_swapped(false));
}

static void store_bf16(uint8_t *at, float value)
{
    store_u16(at, (uint16_t)(float_to_bits(value) >> 16), bytes_swapped(false));
}

static void store_f16(uint8_t *at, float value)
{
    store_u16(at, half_from_float(value), bytes_swapped(false));
}

/* ---- checking -------------------------------------------------------------------------------- */

static void check_tensor(const gufo_import *import, const char *name, const char *type,
                         const float *expected, uint64_t count)
{
    const gufo_model *model = gufo_import_model(import);
    float *numbers = malloc((size_t)count * sizeof *numbers);
    gufo_error error = no_error();
    gufo_tensor t;

    check(gufo_model_tensor_find(model, name, &t), "no tensor %s", name);
    check_str(gufo_str_of(gufo_element_type_by_id(t.type)->name), type, "%s", name);
    check_u64(t.elements, count, "numbers of %s", name);
    check_ok(gufo_tensor_decode(model, &t, 0, count / t.dims[0], numbers, NULL, &error), &error,
             "%s", name);
    for (uint64_t i = 0; i < count; i++)
        check(float_to_bits(numbers[i]) == float_to_bits(expected[i]),
              "%s: number %" PRIu64 " is %.9g instead of %.9g", name, i, (double)numbers[i],
              (double)expected[i]);
    /* One row alone, from the middle. */
    check_ok(gufo_tensor_decode(model, &t, count / t.dims[0] / 2, 1, numbers, NULL, &error), &error,
             "%s", name);
    check(float_to_bits(numbers[0]) == float_to_bits(expected[count / t.dims[0] / 2 * t.dims[0]]),
          "%s: a row in the middle", name);
    free(numbers);
}

/* ---- F8 -------------------------------------------------------------------------------------- */

/* Weights of 6 x 10 with scales of all shapes; blocks of 4 x 4 reach over both edges. */
static void test_f8(void **state)
{
    static const struct {
        const char *label, *config, *dtype, *scale_name, *scale_type;
        uint32_t n_dims;                  /* of the scales */
        uint64_t shape[2], rows, columns; /* that share a scale */
    } cases[] = {
        {"blocks",
         "\"quant_method\": \"fp8\", \"weight_block_size\": [4, 4]",
         "F8_E4M3",
         ".weight_scale_inv",
         "F32",
         2,
         {2, 3},
         4,
         4},
        {"blocks with powers of two",
         "\"quant_method\": \"fp8\", \"weight_block_size\": [4, 4]",
         "F8_E4M3",
         ".weight_scale_inv",
         "F8_E8M0",
         2,
         {2, 3},
         4,
         4},
        {"a scalar",
         "\"quant_method\": \"fp8\", \"weight_block_size\": null",
         "F8_E4M3",
         ".weight_scale_inv",
         "F32",
         0,
         {0},
         6,
         10},
        {"of Mistral",
         "\"quant_method\": \"fp8\"",
         "F8_E5M2",
         ".qscale_weight",
         "F32",
         0,
         {0},
         6,
         10},
        {"rows",
         "\"quant_method\": \"fbgemm_fp8\"",
         "F8_E4M3",
         ".weight_scale",
         "F32",
         2,
         {6, 1},
         1,
         10},
        {"channels",
         "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\","
         " \"config_groups\": {\"group_0\": {\"weights\": {\"num_bits\": 8, \"strategy\":"
         " \"channel\", \"symmetric\": true}}}",
         "F8_E4M3",
         ".weight_scale",
         "F32",
         1,
         {6},
         1,
         10},
        {"blocks of compressed-tensors",
         "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\","
         " \"config_groups\": {\"group_0\": {\"weights\": {\"num_bits\": 8, \"strategy\":"
         " \"block\", \"block_structure\": [2, 8]}}}",
         "F8_E4M3",
         ".weight_scale",
         "F32",
         2,
         {3, 2},
         2,
         8},
        {"modelopt",
         "\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"",
         "F8_E5M2",
         ".weight_scale",
         "F32",
         1,
         {1},
         6,
         10},
    };
    uint8_t bytes[60], scales[12 * 4] = {0};
    float expected[60], scale[12] = {0};

    (void)state;
    fill_f8(bytes, sizeof bytes, 1);
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        uint64_t across = (10 + cases[k].columns - 1) / cases[k].columns;
        const bool powers = strcmp(cases[k].scale_type, "F32") != 0;
        char more[512], name[128];
        const safetensor tensors[MOST_PARTS] = {
            {DOWN ".weight", cases[k].dtype, 2, {6, 10}, bytes},
            {name,
             cases[k].scale_type,
             cases[k].n_dims,
             {cases[k].shape[0], cases[k].shape[1]},
             scales},
            {DOWN ".input_scale", "F32", 0, {0}, scales},
            {DOWN ".activation_scale", "F32", 0, {0}, scales},
            {LAYER "self_attn.k_scale", "F32", 0, {0}, scales},
            {LAYER "self_attn.o_proj.weight", "BF16", 2, {2, 2}, NULL}, /* is not quantized */
        };
        folder f;
        gufo_import *import;

        for (unsigned i = 0; i < 12; i++) {
            scale[i] = powers ? ldexpf(1, (int)i - 5) : (float)(byte_at(i) + 1) / 97.0f;
            if (powers)
                scales[i] = (uint8_t)(122 + i);
            else
                store_f32(scales + 4 * i, scale[i]);
        }
        (void)snprintf(more, sizeof more, ", \"quantization_config\": {%s}", cases[k].config);
        (void)snprintf(name, sizeof name, "%s%s", DOWN, cases[k].scale_name);
        for (uint64_t r = 0; r < 6; r++)
            for (uint64_t c = 0; c < 10; c++)
                expected[r * 10 + c] =
                    (strcmp(cases[k].dtype, "F8_E4M3") == 0 ? e4m3(bytes[r * 10 + c])
                                                            : e5m2(bytes[r * 10 + c])) *
                    scale[r / cases[k].rows * across + c / cases[k].columns];
        f = new_folder("LlamaForCausalLM", more, tensors);
        import = open_model(&f);
        check_tensor(import, "blk.0.ffn_down.weight", "F32", expected, 60);
        check_u64(gufo_model_tensor_count(gufo_import_model(import)), 2, "%s: tensors",
                  cases[k].label);
        check_u64(gufo_import_describe(import).packed, 1, "%s", cases[k].label);
        close_model(import, &f);
    }
}

/* All experts in one tensor, whose gate and up are halves: scales for each expert, and blocks. */
static void test_f8_stacked(void **state)
{
    uint8_t bytes[2 * 4 * 6], scales[2 * 2 * 3 * 4];
    float gate[24], up[24];
    const safetensor tensors[MOST_PARTS] = {
        {EXPERTS ".gate_up_proj", "F8_E4M3", 3, {2, 4, 6}, bytes},
        {EXPERTS ".gate_up_proj_scale_inv", "F32", 3, {2, 2, 3}, scales}};
    folder f;
    gufo_import *import;

    (void)state;
    fill_f8(bytes, sizeof bytes, 2);
    for (unsigned i = 0; i < 12; i++)
        store_f32(scales + 4 * i, (float)(i + 1) / 3.0f);
    for (unsigned i = 0; i < 48; i++) {
        unsigned e = i / 24, r = i / 6 % 4, c = i % 6;
        float value = e4m3(bytes[i]) * ((float)(e * 6 + r / 2 * 3 + c / 2 + 1) / 3.0f);

        (r < 2 ? gate : up)[e * 12 + r % 2 * 6 + c] = value;
    }
    f = new_folder("Qwen3MoeForCausalLM",
                   ", \"quantization_config\": {\"quant_method\": \"fp8\", "
                   "\"weight_block_size\": [2, 2]}",
                   tensors);
    import = open_model(&f);
    check_tensor(import, "blk.0.ffn_gate_exps.weight", "F32", gate, 24);
    check_tensor(import, "blk.0.ffn_up_exps.weight", "F32", up, 24);
    close_model(import, &f);
}

/* ---- I8 -------------------------------------------------------------------------------------- */

static const char int8_config[] =
    ", \"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"format\":"
    " \"int-quantized\", \"config_groups\": {\"group_0\": {\"weights\": {\"num_bits\": 8,"
    " \"strategy\": \"channel\", \"symmetric\": true}}}}";

/* Row r of a matrix of 64 columns of I8, times its scale. */
static void scale_row(const uint8_t *bytes, float scale, float *out)
{
    for (unsigned c = 0; c < 64; c++)
        out[c] = (float)(int8_t)bytes[c] * scale;
}

/* The row of a matrix of two heads that the permutation of llama puts at row `r`. */
static unsigned permuted(unsigned r, unsigned rows)
{
    unsigned d = rows / 2, inside = r % d;

    return r / d * d + inside % 2 * (d / 2) + inside / 2;
}

/* Scales that are numbers of F16 make blocks of Q8_0, with rows in the order of GGUF; others floats. */
static void test_i8(void **state)
{
    static const float factors[] = {1.0f, 1.0f / 3.0f};
    uint8_t bytes[8 * 64], scales[8 * 4];
    float expected[8 * 64];

    (void)state;
    fill_bytes(bytes, sizeof bytes, 3);
    for (unsigned k = 0; k < 2; k++) {
        const safetensor tensors[MOST_PARTS] = {{QUERY ".weight", "I8", 2, {8, 64}, bytes},
                                                {QUERY ".weight_scale", "F32", 2, {8, 1}, scales}};
        folder f;
        gufo_import *import;
        gufo_quantize_target target;
        gufo_import_facts facts;

        for (unsigned r = 0; r < 8; r++)
            store_f32(scales + 4 * r, (float)(r + 1) / 1024.0f * factors[k]);
        for (unsigned r = 0; r < 8; r++) {
            unsigned from = permuted(r, 8);

            scale_row(bytes + (size_t)from * 64, (float)(from + 1) / 1024.0f * factors[k],
                      expected + (size_t)r * 64);
        }
        f = new_folder("LlamaForCausalLM", int8_config, tensors);
        import = open_model(&f);
        check_tensor(import, "blk.0.attn_q.weight", k == 0 ? "Q8_0" : "F32", expected, 8 * 64);
        facts = gufo_import_describe(import);
        check_u64(facts.repacked, k == 0, "repacked");
        check_str(gufo_str_of(facts.quantized), "compressed-tensors", "method");
        check_str(gufo_str_of(gufo_import_main_type(import)->name), "BF16", "the main type");
        check(gufo_quantize_target_by_name("F16", false, &target), "F16");
        check_str(gufo_str_of(
                      gufo_import_type(import, &target, gufo_str_of("blk.0.attn_q.weight"))->name),
                  "F16", "as asked for");
        close_model(import, &f);
    }
}

/* The three matrices of two experts, with the same parts: `of` has those of each expert.  Names are
 * written to `names`. */
static void list_experts(safetensor *tensors, char names[][96], const safetensor (*of)[4])
{
    static const char *const matrices[] = {"gate_proj", "up_proj", "down_proj"};
    size_t count = 0;

    for (unsigned m = 0; m < 3; m++)
        for (unsigned e = 2; e-- > 0;) /* in any order */
            for (unsigned i = 0; i < 4 && of[e][i].name != NULL; i++, count++) {
                (void)snprintf(names[count], 96, "%s.%u.%s%s", EXPERTS, e, matrices[m],
                               of[e][i].name);
                tensors[count] = of[e][i];
                tensors[count].name = names[count];
            }
}

/* Experts that are packed apart: blocks if all are, floats if one is not. */
static void test_i8_experts(void **state)
{
    static const float factors[] = {1.0f, 1.0f / 3.0f};
    uint8_t bytes[2][4 * 64], scales[2][4 * 4];
    float expected[2 * 4 * 64];

    (void)state;
    fill_bytes(bytes[0], sizeof bytes[0], 4);
    fill_bytes(bytes[1], sizeof bytes[1], 5);
    for (unsigned k = 0; k < 2; k++) {
        const safetensor of[2][4] = {{{".weight", "I8", 2, {4, 64}, bytes[0]},
                                      {".weight_scale", "F32", 2, {4, 1}, scales[0]}},
                                     {{".weight", "I8", 2, {4, 64}, bytes[1]},
                                      {".weight_scale", "F32", 2, {4, 1}, scales[1]}}};
        safetensor tensors[MOST_PARTS] = {{.name = NULL}};
        char names[MOST_PARTS][96];
        folder f;
        gufo_import *import;

        for (unsigned r = 0; r < 8; r++) {
            float scale = (float)(r + 1) / 512.0f * (r < 4 ? 1.0f : factors[k]);

            store_f32(scales[r / 4] + (size_t)r % 4 * 4, scale);
            scale_row(bytes[r / 4] + (size_t)r % 4 * 64, scale, expected + (size_t)r * 64);
        }
        list_experts(tensors, names, of);
        f = new_folder("Qwen3MoeForCausalLM", int8_config, tensors);
        import = open_model(&f);
        check_tensor(import, "blk.0.ffn_down_exps.weight", k == 0 ? "Q8_0" : "F32", expected,
                     2 * 4 * 64);
        close_model(import, &f);
    }
}

/* ---- ternary --------------------------------------------------------------------------------- */

static void test_ternary(void **state)
{
    uint8_t bytes[2 * 8], scale[2];
    float expected[8 * 8];
    const safetensor tensors[MOST_PARTS] = {{DOWN ".weight", "U8", 2, {2, 8}, bytes},
                                            {DOWN ".weight_scale", "BF16", 1, {1}, scale}};
    folder f;
    gufo_import *import;

    (void)state;
    fill_bytes(bytes, sizeof bytes, 6);
    store_bf16(scale, 1.2265625f);
    for (unsigned r = 0; r < 8; r++)
        for (unsigned c = 0; c < 8; c++)
            expected[r * 8 + c] = ((float)(bytes[r % 2 * 8 + c] >> r / 2 * 2 & 3) - 1) / 1.2265625f;
    for (unsigned k = 0; k < 2; k++) { /* the second makes weights ternary, which these are */
        f = new_folder(k == 0 ? "LlamaForCausalLM" : "BitnetForCausalLM",
                       ", \"quantization_config\": {\"quant_method\": \"bitnet\"}", tensors);
        import = open_model(&f);
        check_tensor(import, "blk.0.ffn_down.weight", "F32", expected, 64);
        close_model(import, &f);
    }
}

/* ---- whole numbers of 4 bits ----------------------------------------------------------------- */

/* GPTQ of 64 x 8 whose zeros are all 8: Q4_0, with permuted rows; the settings are in the file of the
 * tool. */
static folder gptq_folder(float expected[8 * 64])
{
    uint8_t words[8 * 8 * 4], zeros[2 * 4], scales[2 * 8 * 2];
    const safetensor tensors[MOST_PARTS] = {{QUERY ".qweight", "I32", 2, {8, 8}, words},
                                            {QUERY ".qzeros", "I32", 2, {2, 1}, zeros},
                                            {QUERY ".scales", "F16", 2, {2, 8}, scales}};
    folder f;

    fill_bytes(words, sizeof words, 7);
    memset(zeros, 0x77, sizeof zeros);
    for (unsigned i = 0; i < 16; i++)
        store_f16(scales + 2 * i, (float)(i + 1) / 64.0f);
    for (unsigned r = 0; r < 8; r++)
        for (unsigned c = 0; c < 64; c++) {
            unsigned o = permuted(r, 8);
            unsigned code = words[(c / 8 * 8 + o) * 4 + c % 8 / 2] >> c % 2 * 4 & 15;

            expected[r * 64 + c] = (float)((int)code - 8) * ((float)(c / 32 * 8 + o + 1) / 64.0f);
        }
    f = new_folder("LlamaForCausalLM", "", tensors);
    write_text(&f, "quantize_config.json", "{\"bits\": 4, \"group_size\": 32, \"sym\": true}");
    return f;
}

static void test_gptq(void **state)
{
    float expected[8 * 64];
    folder f = gptq_folder(expected);
    gufo_import *import = open_model(&f);

    (void)state;
    check_tensor(import, "blk.0.attn_q.weight", "Q4_0", expected, 8 * 64);
    close_model(import, &f);
}

/* Checks the file that a program makes of an import: the type of the weight, general.file_type, and its
 * numbers, which differ by at most `off`. */
static void check_written(gufo_import *import, const folder *f, const char *type,
                          const char *written, uint64_t file_type, const float *expected, float off)
{
    path_text path = folder_path(f, "out.gguf");
    const gufo_job_options options = {.path = path.text, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_quantizer *q = gufo_import_quantize(import, type, NULL, &error);
    gufo_model *model;
    gufo_tensor t;
    float got[8 * 64];
    uint64_t id;

    check(q != NULL, "%s: %s", type, error.message);
    check_ok(gufo_job_run(gufo_quantizer_job(q), &options, NULL, &error), &error, "%s", type);
    gufo_quantizer_free(q);
    model = gufo_model_open(path.text, NULL, &error);
    check(model != NULL && gufo_model_tensor_find(model, "blk.0.attn_q.weight", &t), "%s: %s", type,
          error.message);
    assert_string_equal(gufo_element_type_by_id(t.type)->name, written);
    check_ok(gufo_model_get_u64(model, "general.file_type", &id, &error), &error, "%s", type);
    check_u64(id, file_type, "%s", type);
    check_ok(gufo_tensor_decode(model, &t, 0, 8, got, NULL, &error), &error, "%s", type);
    for (size_t i = 0; i < 8 * 64; i++)
        check(fabsf(got[i] - expected[i]) <= off, "%s, number %zu: %g, not %g", type, i,
              (double)got[i], (double)expected[i]);
    gufo_model_free(model);
}

/* What the command makes of a packed model, a program gets by one call: see cli.convert, too. */
static void test_written(void **state)
{
    const gufo_quantize_options wrong = {.recipe.target.name = "F16"};
    float expected[8 * 64];
    folder f = gptq_folder(expected);
    gufo_import *import = open_model(&f);
    gufo_error error = no_error();

    (void)state;
    check_written(import, &f, NULL, "Q4_0", 2, expected, 0);
    check_written(import, &f, "auto", "Q4_0", 2, expected, 0);
    check_written(import, &f, "F32", "F32", 0, expected, 0);
    check_written(import, &f, "F16", "F16", 1, expected, 0.001f);
    check_written(import, &f, "Q8_0", "Q8_0", 7, expected, 0.02f);
    check_written(import, &f, "q4_0", "Q4_0", 2, expected, 0.5f);
    check(gufo_import_quantize(import, "F17", NULL, &error) == NULL &&
              error.code == GUFO_E_ARGUMENT,
          "a type that does not exist");
    check(gufo_import_quantize(import, NULL, &wrong, &error) == NULL &&
              error.code == GUFO_E_ARGUMENT,
          "a target besides");
    close_model(import, &f);
}

/* A model that is not packed has the type that it is meant to have; old files stay as they are. */
static void test_targets(void **state)
{
    static const safetensor tensors[MOST_PARTS] = {{QUERY ".weight", "BF16", 2, {8, 64}, NULL}};
    folder f = new_folder("LlamaForCausalLM", "", tensors);
    gufo_import *import = open_model(&f);
    gufo_quantize_target target = {.name = NULL};

    (void)state;
    gufo_import_target(import, &target);
    assert_string_equal(target.name, "BF16");
    assert_true(gufo_quantize_target_by_name("Q4_K_M", false, &target));
    gufo_import_target(import, &target);
    assert_string_equal(target.name, "Q4_K_M");
    close_model(import, &f);
}

/* ---- floats of 4 bits ------------------------------------------------------------------------ */

/* A weight of NVFP4: 4 rows of 64. */
typedef struct nvfp4_weight {
    uint8_t codes[4 * 32], scales[4 * 4], factor[4], input[4];
    float expected[4 * 64]; /* without the factor */
} nvfp4_weight;

static void make_nvfp4(nvfp4_weight *w, uint64_t seed, float factor, float input)
{
    static const float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

    fill_bytes(w->codes, sizeof w->codes, seed);
    for (unsigned i = 0; i < 16; i++)
        w->scales[i] = byte_at(seed + i) & 0x77;
    for (unsigned i = 0; i < 256; i++) {
        unsigned code = w->codes[i / 2] >> i % 2 * 4 & 15;
        float value = magnitudes[code & 7] * e4m3(w->scales[i / 16]);

        w->expected[i] = (code & 8) != 0 && value != 0 ? -value : value;
    }
    store_f32(w->factor, factor);
    store_f32(w->input, input);
}

/* NVFP4 stays, comes first, and has its factors beside it: one, or one for each expert. */
static void test_nvfp4(void **state)
{
    static const char config[] =
        ", \"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}";
    static const float halves[] = {0.5f, 0.25f};
    nvfp4_weight w[2];
    float both[2 * 4 * 64];
    const safetensor of[2][4] = {{{".weight", "U8", 2, {4, 32}, w[0].codes},
                                  {".weight_scale", "F8_E4M3", 2, {4, 4}, w[0].scales},
                                  {".weight_scale_2", "F32", 0, {0}, w[0].factor},
                                  {".input_scale", "F32", 0, {0}, w[0].input}},
                                 {{".weight", "U8", 2, {4, 32}, w[1].codes},
                                  {".weight_scale", "F8_E4M3", 2, {4, 4}, w[1].scales},
                                  {".weight_scale_2", "F32", 0, {0}, w[1].factor},
                                  {".input_scale", "F32", 0, {0}, w[1].input}}};
    safetensor tensors[MOST_PARTS] = {{"model.norm.weight", "BF16", 1, {4}, NULL}};
    char names[MOST_PARTS][96];
    folder f;
    gufo_import *import;
    gufo_quantize_target target;
    gufo_tensor t;
    uint64_t file_type;

    (void)state;
    make_nvfp4(&w[0], 8, halves[0], 1);
    make_nvfp4(&w[1], 9, halves[1], 1);
    memcpy(both, w[0].expected, sizeof w[0].expected);
    memcpy(both + 256, w[1].expected, sizeof w[1].expected);
    list_experts(tensors + 1, names, of);
    f = new_folder("Qwen3MoeForCausalLM", config, tensors);
    import = open_model(&f);
    check_tensor(import, "blk.0.ffn_down_exps.weight", "NVFP4", both, 512);
    check_tensor(import, "blk.0.ffn_down_exps.scale", "F32", halves, 2);
    check(
        !gufo_model_tensor_find(gufo_import_model(import), "blk.0.ffn_down_exps.input_scale", NULL),
        "a factor of one");
    check(gufo_model_tensor_at(gufo_import_model(import), 0, &t) &&
              strcmp(gufo_element_type_by_id(t.type)->name, "NVFP4") == 0,
          "comes first");
    check(gufo_quantize_target_by_name("Q8_0", false, &target), "Q8_0");
    check_str(
        gufo_str_of(
            gufo_import_type(import, &target, gufo_str_of("blk.0.ffn_down_exps.weight"))->name),
        "NVFP4", "stays");
    check_ok(gufo_model_get_u64(gufo_import_model(import), "general.file_type", &file_type, NULL),
             NULL, "file type");
    check_u64(file_type, 39, "file type");
    close_model(import, &f);
}

/* Rows of two weights with different factors in one tensor: floats, with the factors in them. */
static void test_nvfp4_joined(void **state)
{
    nvfp4_weight w[3];
    float joined[3 * 256];
    const safetensor tensors[MOST_PARTS] = {
        {"transformer.h.0.self_attn.q_proj.weight_packed", "U8", 2, {4, 32}, w[0].codes},
        {"transformer.h.0.self_attn.q_proj.weight_scale", "F8_E4M3", 2, {4, 4}, w[0].scales},
        {"transformer.h.0.self_attn.q_proj.weight_global_scale", "F32", 1, {1}, w[0].factor},
        {"transformer.h.0.self_attn.k_proj.weight_packed", "U8", 2, {4, 32}, w[1].codes},
        {"transformer.h.0.self_attn.k_proj.weight_scale", "F8_E4M3", 2, {4, 4}, w[1].scales},
        {"transformer.h.0.self_attn.k_proj.weight_global_scale", "F32", 1, {1}, w[1].factor},
        {"transformer.h.0.self_attn.v_proj.weight_packed", "U8", 2, {4, 32}, w[2].codes},
        {"transformer.h.0.self_attn.v_proj.weight_scale", "F8_E4M3", 2, {4, 4}, w[2].scales},
        {"transformer.h.0.self_attn.v_proj.weight_global_scale", "F32", 1, {1}, w[2].factor}};
    folder f;
    gufo_import *import;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        make_nvfp4(&w[i], 10 + i, (float)(1u << i), 1);
        for (unsigned k = 0; k < 256; k++)
            joined[i * 256 + k] = w[i].expected[k] * (1.0f / (float)(1u << i));
    }
    f = new_folder("GPT2LMHeadModel",
                   ", \"n_embd\": 64, \"n_layer\": 1, \"n_head\": 2, \"n_ctx\": 64,"
                   " \"layer_norm_epsilon\": 1e-5,"
                   " \"quantization_config\": {\"quant_method\": \"compressed-tensors\","
                   " \"format\": \"nvfp4-pack-quantized\", \"config_groups\": {\"group_0\":"
                   " {\"weights\": {\"num_bits\": 4, \"group_size\": 16}}}}",
                   tensors);
    import = open_model(&f);
    check_tensor(import, "blk.0.attn_qkv.weight", "F32", joined, 3 * 256);
    close_model(import, &f);
}

/* ---- MXFP4 ----------------------------------------------------------------------------------- */

/* A matrix that is no stack of experts has the axes of all matrices: it stays. */
static void test_mxfp4_matrix(void **state)
{
    static const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    uint8_t codes[4 * 32], scales[4 * 2];
    float expected[4 * 64];
    const safetensor tensors[MOST_PARTS] = {{DOWN ".weight_blocks", "U8", 3, {4, 2, 16}, codes},
                                            {DOWN ".weight_scales", "U8", 2, {4, 2}, scales}};
    folder f;
    gufo_import *import;

    (void)state;
    fill_bytes(codes, sizeof codes, 20);
    for (unsigned i = 0; i < sizeof scales; i++)
        scales[i] = (uint8_t)(124 + i);
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        unsigned code = codes[i / 2] >> 4 * (i % 2) & 15u;
        float value = ldexpf(magnitudes[code & 7], scales[i / 32] - 127);

        expected[i] = (code & 8) != 0 && value != 0 ? -value : value;
    }
    f = new_folder("LlamaForCausalLM", ", \"quantization_config\": {\"quant_method\": \"mxfp4\"}",
                   tensors);
    import = open_model(&f);
    check_tensor(import, "blk.0.ffn_down.weight", "MXFP4", expected, COUNT_OF(expected));
    close_model(import, &f);
}

/* ---- transposes ------------------------------------------------------------------------------ */

/* Columns that become rows are floats. */
static void test_transpose(void **state)
{
    uint8_t bytes[4 * 64], scales[4 * 4];
    float rows[4 * 64], expected[4 * 64];
    const safetensor tensors[MOST_PARTS] = {
        {"transformer.h.0.mlp.c_fc.weight", "I8", 2, {4, 64}, bytes},
        {"transformer.h.0.mlp.c_fc.weight_scale", "F32", 2, {4, 1}, scales}};
    char config[1024];
    folder f;
    gufo_import *import;

    (void)state;
    fill_bytes(bytes, sizeof bytes, 14);
    for (unsigned r = 0; r < 4; r++) {
        store_f32(scales + 4 * r, (float)(r + 1));
        scale_row(bytes + (size_t)r * 64, (float)(r + 1), rows + (size_t)r * 64);
    }
    for (unsigned i = 0; i < 4 * 64; i++)
        expected[i] = rows[i % 4 * 64 + i / 4];
    (void)snprintf(config, sizeof config,
                   ", \"n_embd\": 64, \"n_layer\": 1, \"n_head\": 2, \"n_ctx\": 64,"
                   " \"layer_norm_epsilon\": 1e-5%s",
                   int8_config);
    f = new_folder("GPT2LMHeadModel", config, tensors);
    import = open_model(&f);
    check_tensor(import, "blk.0.ffn_up.weight", "F32", expected, 4 * 64);
    close_model(import, &f);
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define FP8 "\"quant_method\": \"fp8\""
#define BLOCKS FP8 ", \"weight_block_size\": [2, 2]"
#define NAN_F32 "\0\0\300\177"
#define GROUPS(more)                                                                               \
    "\"quant_method\": \"compressed-tensors\", \"format\": \"int-quantized\", \"config_groups\": " \
    "{\"group_0\": {\"weights\": {\"num_bits\": 8" more "}}}"

static const struct {
    const char *label, *config;
    safetensor tensors[4];
    gufo_status status; /* GUFO_OK: it opens, but is not read */
    const char *part;
} refused[] = {
    {"an unknown method",
     "\"quant_method\": \"hqq\"",
     {{DOWN ".W_q", "U8", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "\"hqq\""},
    {"no method",
     "\"bits\": 4",
     {{DOWN ".qweight", "I32", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "unknown method"},
    {"another version of AWQ",
     "\"quant_method\": \"awq\", \"version\": \"gemv\"",
     {{DOWN ".qweight", "I32", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "gemv"},
    {"another format of GPTQ",
     "\"quant_method\": \"gptq\", \"checkpoint_format\": \"marlin\"",
     {{DOWN ".qweight", "I32", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "marlin"},
    {"GPTQ of 3 bits",
     "\"quant_method\": \"gptq\", \"bits\": 3",
     {{DOWN ".qweight", "I32", 2, {3, 32}, NULL},
      {DOWN ".qzeros", "I32", 2, {1, 3}, NULL},
      {DOWN ".scales", "F16", 2, {1, 32}, NULL}},
     GUFO_E_TYPE,
     "3 bits"},
    {"bits without end",
     "\"quant_method\": \"gptq\", \"bits\": 4000000000",
     {{DOWN ".qweight", "I32", 2, {3, 32}, NULL}},
     GUFO_E_MALFORMED,
     "4000000000 bits"},
    {"several ways at once",
     "\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"config_groups\":"
     " {\"a\": {\"weights\": {\"num_bits\": 4}}, \"b\": {\"weights\": {\"num_bits\": 8}}}",
     {{DOWN ".weight_packed", "I32", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "several ways"},
    {"sparse weights",
     GROUPS("") ", \"sparsity_config\": {\"format\": \"sparse-24-bitmask\"}",
     {{DOWN ".weight", "I8", 2, {2, 2}, NULL}},
     GUFO_E_TYPE,
     "sparse"},
    {"a missing part",
     "\"quant_method\": \"gptq\"",
     {{DOWN ".qweight", "I32", 2, {1, 8}, NULL}, {DOWN ".qzeros", "I32", 2, {1, 1}, NULL}},
     GUFO_E_MALFORMED,
     ".scales is missing"},
    {"a part alone",
     "\"quant_method\": \"gptq\"",
     {{DOWN ".qzeros", "I32", 2, {1, 1}, NULL}},
     GUFO_E_MALFORMED,
     "other parts are missing"},
    {"scales of another shape",
     FP8,
     {{DOWN ".weight", "F8_E4M3", 2, {4, 4}, NULL},
      {DOWN ".weight_scale_inv", "F32", 2, {2, 2}, NULL}},
     GUFO_E_MALFORMED,
     "scales does not fit"},
    {"scales with more axes",
     FP8,
     {{DOWN ".weight", "F8_E4M3", 2, {4, 4}, NULL},
      {DOWN ".weight_scale_inv", "F32", 3, {1, 1, 1}, NULL}},
     GUFO_E_MALFORMED,
     "scales does not fit"},
    {"scales that are whole numbers",
     FP8,
     {{DOWN ".weight", "F8_E4M3", 2, {4, 4}, NULL},
      {DOWN ".weight_scale_inv", "I32", 0, {0}, NULL}},
     GUFO_E_TYPE,
     "weight_scale_inv has type I32"},
    {"groups that do not divide",
     GROUPS(", \"group_size\": 3"),
     {{DOWN ".weight", "I8", 2, {4, 4}, NULL}, {DOWN ".weight_scale", "F32", 2, {4, 2}, NULL}},
     GUFO_E_MALFORMED,
     "groups of 3 do not divide rows of 4"},
    {"zero points",
     GROUPS(""),
     {{DOWN ".weight", "I8", 2, {4, 4}, NULL},
      {DOWN ".weight_scale", "F32", 0, {0}, NULL},
      {DOWN ".weight_zero_point", "I8", 0, {0}, NULL}},
     GUFO_E_MALFORMED,
     "zero points"},
    {"no numbers",
     FP8,
     {{DOWN ".weight", "F8_E4M3", 2, {0, 4}, ""}, {DOWN ".weight_scale_inv", "F32", 0, {0}, NULL}},
     GUFO_E_MALFORMED,
     "has no numbers"},
    {"a block of nothing",
     FP8 ", \"weight_block_size\": [0, 2]",
     {{DOWN ".weight", "F8_E4M3", 2, {4, 4}, NULL}},
     GUFO_E_MALFORMED,
     "weight_block_size"},
    {"a scale that is NaN",
     BLOCKS,
     {{DOWN ".weight", "F8_E4M3", 2, {2, 2}, "\1\1\1"},
      {DOWN ".weight_scale_inv", "F32", 2, {1, 1}, NAN_F32}},
     GUFO_OK,
     "a scale is NaN"},
    {"a scale that is NaN, where blocks could hold it",
     GROUPS(""),
     {{DOWN ".weight", "I8", 2, {1, 32}, NULL}, {DOWN ".weight_scale", "F32", 0, {0}, NAN_F32}},
     GUFO_E_MALFORMED,
     "a scale is NaN"},
    {"a scale that is zero, of numbers that are not",
     BLOCKS,
     {{DOWN ".weight", "F8_E4M3", 2, {2, 2}, "\0\0\0\1"},
      {DOWN ".weight_scale_inv", "F32", 2, {1, 1}, NULL}},
     GUFO_OK,
     "a scale is zero"},
    {"a scale with which numbers would be infinite",
     BLOCKS,
     {{DOWN ".weight", "F8_E4M3", 2, {2, 2}, "\1\1\1"},
      {DOWN ".weight_scale_inv", "F32", 2, {1, 1}, "\377\377\177\177"}},
     GUFO_OK,
     "a scale is too large"},
    {"a ternary scale that is too small to divide by",
     "\"quant_method\": \"bitnet\"",
     {{DOWN ".weight", "U8", 2, {2, 2}, NULL}, {DOWN ".weight_scale", "F32", 1, {1}, "\1\0\0"}},
     GUFO_OK,
     "its scale is too small"},
    {"a ternary scale that is zero",
     "\"quant_method\": \"bitnet\"",
     {{DOWN ".weight", "U8", 2, {2, 2}, NULL}, {DOWN ".weight_scale", "F32", 1, {1}, NULL}},
     GUFO_OK,
     "its scale is zero"},
    {"several ternary scales",
     "\"quant_method\": \"bitnet\"",
     {{DOWN ".weight", "U8", 2, {2, 2}, NULL}, {DOWN ".weight_scale", "F32", 1, {2}, NULL}},
     GUFO_E_MALFORMED,
     "2 scales"},
};

static void check_read_fails(const gufo_import *import, gufo_error *error)
{
    float numbers[64];
    gufo_tensor t;

    check(gufo_model_tensor_at(gufo_import_model(import), 0, &t), "a tensor");
    check(gufo_tensor_decode(gufo_import_model(import), &t, 0, t.elements / t.dims[0], numbers,
                             NULL, error) == GUFO_E_MALFORMED,
          "it is read");
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        safetensor tensors[MOST_PARTS] = {{.name = NULL}};
        char more[512];
        folder f;
        gufo_import *import;
        gufo_error error;

        memcpy(tensors, refused[i].tensors, sizeof refused[i].tensors);
        (void)snprintf(more, sizeof more, ", \"quantization_config\": {%s}", refused[i].config);
        f = new_folder("LlamaForCausalLM", more, tensors);
        import = open_folder(&f, &error);
        if (refused[i].status == GUFO_OK) {
            check(import != NULL, "%s: %s", refused[i].label, error.message);
            check_read_fails(import, &error);
        } else {
            check(import == NULL, "%s: it opens", refused[i].label);
            check_u64(error.code, refused[i].status, "%s: %s", refused[i].label, error.message);
        }
        check(strstr(error.message, refused[i].part) != NULL, "%s: %s", refused[i].label,
              error.message);
        check(error.file[0] != '\0', "%s: the file", refused[i].label);
        close_model(import, &f);
    }
}

/* Each request for memory fails in turn: then opening or reading fails, and nothing is left. */
static void test_memory(void **state)
{
    static const safetensor of[2][4] = {
        {{".weight", "I8", 2, {4, 64}, NULL}, {".weight_scale", "F32", 2, {1, 1}, "\0\0\200\77"}},
        {{".weight", "I8", 2, {4, 64}, NULL}, {".weight_scale", "F32", 2, {1, 1}, "\0\0\200\77"}}};
    safetensor tensors[MOST_PARTS] = {{.name = NULL}};
    char names[MOST_PARTS][96];
    float numbers[2 * 4 * 64];
    folder f;
    counter c;
    gufo_allocator allocator;
    bool done = false;

    (void)state;
    list_experts(tensors, names, of);
    f = new_folder("Qwen3MoeForCausalLM", int8_config, tensors);
    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_on = true;
    for (size_t at = 1; !done; at += all_or_few(1, 7)) {
        const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY |
                                                          GUFO_CHECKPOINT_NO_CHECK,
                                                 .allocator = &allocator};
        gufo_error error = no_error();
        gufo_import *import;
        gufo_tensor t;

        c.calls = 0;
        c.fail_at = at;
        import = gufo_import_checkpoint(f.path, &options, &error);
        if (import != NULL)
            done = gufo_model_tensor_at(gufo_import_model(import), 0, &t) &&
                   gufo_tensor_decode(gufo_import_model(import), &t, 0, 8, numbers, NULL, &error) ==
                       GUFO_OK;
        check(done || error.code == GUFO_E_MEMORY, "request %zu: %s", at, error.message);
        gufo_import_free(import);
        check_u64(c.in_use, 0, "request %zu: bytes that are left", at);
    }
    folder_remove(&f);
}

/* A method that is not read says nothing of weights that are plain numbers. */
static void test_plain(void **state)
{
    static const safetensor tensors[MOST_PARTS] = {{DOWN ".weight", "BF16", 2, {2, 2}, NULL}};
    folder f =
        new_folder("LlamaForCausalLM",
                   ", \"quantization_config\": {\"quant_method\": \"bitsandbytes\"}", tensors);
    gufo_import *import = open_model(&f);

    (void)state;
    check(gufo_import_describe(import).quantized == NULL, "it is not quantized");
    close_model(import, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f8),           cmocka_unit_test(test_f8_stacked),
        cmocka_unit_test(test_i8),           cmocka_unit_test(test_i8_experts),
        cmocka_unit_test(test_ternary),      cmocka_unit_test(test_gptq),
        cmocka_unit_test(test_nvfp4),        cmocka_unit_test(test_nvfp4_joined),
        cmocka_unit_test(test_mxfp4_matrix), cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_plain),        cmocka_unit_test(test_written),
        cmocka_unit_test(test_targets),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
