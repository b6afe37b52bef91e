/* Writes the seeds of fuzz_packed, or checks them: `make_packed_seeds [--check] FOLDER`. */
#include "../tests/support/safetensors_maker.h"
#include "../tests/support/seed.h"

#include <string.h>

#define HOW(text) "{\"quantization_config\": {\"quant_method\": " text "}}"
#define GROUPS(format, weights)                                                           \
    HOW("\"compressed-tensors\", \"format\": \"" format "\", \"config_groups\": {\"g\": " \
        "{\"weights\": {" weights "}}}")

/* Scales of one, in F32 and F16, and the two numbers of a shape. */
static const uint8_t ones_f32[] = {0, 0, 128, 63, 0, 0, 128, 63, 0, 0, 128, 63, 0, 0, 128, 63};
static const uint8_t ones_f16[] = {0, 60, 0, 60, 0, 60, 0, 60, 0, 60, 0, 60, 0, 60, 0, 60};
static const uint8_t sizes[] = {2, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0};

static const struct {
    const char *name, *config;
    safetensor tensors[4];
} rows[] = {
    {"fp8",
     HOW("\"fp8\", \"weight_block_size\": [2, 2]"),
     {{"a.weight", "F8_E4M3", 2, {3, 3}, "\1\2\3\4\5\6\7\x88\x99"},
      {"a.weight_scale_inv", "F32", 2, {2, 2}, ones_f32},
      {"b", "F8_E5M2", 3, {2, 1, 2}, NULL},
      {"b_scale_inv", "F32", 3, {2, 1, 1}, ones_f32}}},
    {"int8",
     GROUPS("int-quantized", "\"num_bits\": 8, \"symmetric\": true"),
     {{"a.weight", "I8", 2, {2, 32}, NULL}, {"a.weight_scale", "F32", 2, {2, 1}, ones_f32}}},
    {"bitnet",
     HOW("\"bitnet\""),
     {{"a.weight", "U8", 2, {1, 4}, "\x1b\xe4\0"}, {"a.weight_scale", "F32", 1, {1}, ones_f32}}},
    {"gptq",
     HOW("\"gptq\", \"bits\": 4, \"group_size\": 32"),
     {{"a.qweight", "I32", 2, {4, 8}, NULL},
      {"a.qzeros", "I32", 2, {1, 1}, "wwww"},
      {"a.scales", "F16", 2, {1, 8}, ones_f16},
      {"a.g_idx", "I32", 1, {32}, NULL}}},
    {"awq",
     HOW("\"awq\", \"version\": \"gemm\", \"bits\": 4, \"group_size\": 32"),
     {{"a.qweight", "I32", 2, {32, 1}, NULL},
      {"a.qzeros", "I32", 2, {1, 1}, "\x88\x88\x88\x88"},
      {"a.scales", "F16", 2, {1, 8}, ones_f16}}},
    {"int4",
     GROUPS("pack-quantized", "\"num_bits\": 4, \"group_size\": 32, \"symmetric\": true"),
     {{"a.weight_packed", "I32", 2, {2, 4}, NULL},
      {"a.weight_scale", "F16", 2, {2, 1}, ones_f16},
      {"a.weight_shape", "I64", 1, {2}, sizes}}},
    {"mxfp4",
     HOW("\"mxfp4\""),
     {{"a_blocks", "U8", 4, {1, 2, 1, 16}, NULL}, {"a_scales", "U8", 3, {1, 2, 1}, "\x7f\x80"}}},
    {"nvfp4",
     HOW("\"modelopt\", \"quant_algo\": \"NVFP4\""),
     {{"a.weight", "U8", 2, {1, 32}, NULL},
      {"a.weight_scale", "F8_E4M3", 2, {1, 4}, "8888"},
      {"a.weight_scale_2", "F32", 0, {0}, ones_f32},
      {"a.input_scale", "F32", 0, {0}, ones_f32}}},
};

int main(int argc, char **argv)
{
    seed_place place;
    bool good = true;

    if (!seed_arguments(argc, argv, &place))
        return 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        builder b = builder_new((encoding){3, false});
        size_t count = 0;

        while (count < 4 && rows[i].tensors[count].name != NULL)
            count++;
        builder_raw(&b, rows[i].config, strlen(rows[i].config) + 1);
        safetensors_build(&b, rows[i].tensors, count);
        good &= seed_take(&place, rows[i].name, &b);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
