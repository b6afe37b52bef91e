/* Orders of numbers that operations give: each formula a second time, as plain loops, for all types of
 * numbers that models have. */
#include "tensor_case.h"

static const char *const dtypes[] = {"F32", "F16", "BF16"};

typedef struct order_case {
    const char *label, *config, *arch;
    struct {
        const char *name;
        uint32_t n_dims;
        uint64_t shape[4];
    } sources[8]; /* the numbers of all are counted on */
    struct {
        const char *name;
        uint32_t n_dims;
        uint64_t dims[4];
    } results[4]; /* the maps are those of `fill`, one after the other */
    void (*fill)(uint32_t *map);
} order_case;

/* ---- heads ---------------------------------------------------------------------------------- */

/* 2 heads of 6 rows, 4 columns; then one head of k, and a bias. */
static uint32_t *put_permuted(uint32_t *to, uint32_t first, uint32_t heads, uint32_t height,
                              uint32_t columns)
{
    uint32_t d = height / heads;

    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t j = 0; j < d / 2; j++)
            for (uint32_t k = 0; k < 2; k++)
                for (uint32_t c = 0; c < columns; c++)
                    to[(h * d + 2 * j + k) * columns + c] =
                        first + (h * d + k * d / 2 + j) * columns + c;
    return to + height * columns;
}

static void fill_permuted(uint32_t *map)
{
    map = put_permuted(map, 0, 2, 12, 4);
    map = put_permuted(map, 48, 1, 6, 4);
    put_permuted(map, 72, 2, 12, 1);
}

static uint32_t *put_regrouped3(uint32_t *to, uint32_t first, uint32_t columns)
{
    const uint32_t heads = 2, d = 3;

    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t h = 0; h < heads; h++)
            for (uint32_t i = 0; i < d; i++)
                for (uint32_t c = 0; c < columns; c++)
                    *to++ = first + ((3 * h + t) * d + i) * columns + c;
    return to;
}

static void fill_regrouped3(uint32_t *map)
{
    map = put_regrouped3(map, 0, 5);
    put_regrouped3(map, 90, 1);
}

/* 4 heads, 2 of k and v, of 2 rows. */
static void fill_regrouped_kv(uint32_t *map)
{
    const uint32_t kv = 2, group = 2, d = 2, columns = 3;

    for (uint32_t part = 0; part < 3; part++)
        for (uint32_t k = 0; k < kv; k++)
            for (uint32_t g = part == 0 ? 0 : group + part - 1; g < group + part; g++)
                for (uint32_t i = 0; i < d; i++)
                    for (uint32_t c = 0; c < columns; c++)
                        *map++ = ((k * (group + 2) + g) * d + i) * columns + c;
}

/* The same with q of 4 heads and k of 2 permuted. */
static void fill_split_kv(uint32_t *map)
{
    const uint32_t kv = 2, group = 2, d = 4, columns = 3;

    for (uint32_t part = 0; part < 3; part++)
        for (uint32_t k = 0; k < kv; k++)
            for (uint32_t g = part == 0 ? 0 : group + part - 1; g < group + part; g++)
                for (uint32_t i = 0; i < d; i++)
                    for (uint32_t c = 0; c < columns; c++) {
                        uint32_t from = part == 2 ? i : i % 2 * d / 2 + i / 2;

                        *map++ = ((k * (group + 2) + g) * d + from) * columns + c;
                    }
}

static void fill_thirds(uint32_t *map)
{
    map = put_permuted(map, 0, 2, 8, 8);
    map = put_permuted(map, 64, 2, 8, 8);
    for (uint32_t i = 0; i < 64; i++)
        map[i] = 128 + i;
}

/* 2 heads of k with dk = 2, 4 of v with dv = 3. */
static void fill_qkvz(uint32_t *map)
{
    const uint32_t heads = 2, dk = 2, dv = 3, r = 2, u = 2 * dk + 2 * r * dv, columns = 2;
    const uint32_t begins[] = {0, dk, 2 * dk, 2 * dk + r * dv};
    const uint32_t sizes[] = {dk, dk, r * dv, r * dv};

    for (uint32_t part = 0; part < 4; part++)
        for (uint32_t h = 0; h < heads; h++)
            for (uint32_t i = 0; i < sizes[part]; i++)
                for (uint32_t c = 0; c < columns; c++)
                    *map++ = (h * u + begins[part] + i) * columns + c;
}

static uint32_t *put_tiled(uint32_t *to, uint32_t first, uint32_t d, uint32_t columns)
{
    const uint32_t hk = 2, r = 3;

    for (uint32_t v = 0; v < r; v++)
        for (uint32_t k = 0; k < hk; k++)
            for (uint32_t i = 0; i < d * columns; i++)
                *to++ = first + (k * r + v) * d * columns + i;
    return to;
}

/* dk = 2, dv = 4: rows from 2 * 2 * 2 on, all rows, columns. */
static void fill_tiled(uint32_t *map)
{
    const uint32_t hk = 2, r = 3, d = 4;

    for (uint32_t i = 0; i < 8 * 5; i++)
        *map++ = i;
    map = put_tiled(map, 40, d, 5);
    map = put_tiled(map, 160, d, 5);
    map = put_tiled(map, 280, 1, 5);
    for (uint32_t i = 0; i < 8 * 2; i++) /* conv1d */
        *map++ = 310 + i;
    map = put_tiled(map, 326, d, 2);
    for (uint32_t row = 0; row < 3; row++) /* out_proj */
        for (uint32_t v = 0; v < r; v++)
            for (uint32_t k = 0; k < hk; k++)
                for (uint32_t i = 0; i < d; i++)
                    *map++ = 374 + row * 24 + (k * r + v) * d + i;
}

/* Heads of 6 rows, 4 of them rotary. */
static void fill_unpermuted(uint32_t *map)
{
    const uint32_t d = 6, r = 4, columns = 3;

    for (uint32_t h = 0; h < 2; h++)
        for (uint32_t row = 0; row < d; row++)
            for (uint32_t c = 0; c < columns; c++) {
                uint32_t from = row < r ? 2 * (row % (r / 2)) + row / (r / 2) : row;

                *map++ = (h * d + from) * columns + c;
            }
}

/* kv_b: 2 heads, dk = 3, dv = 4, 5 columns. */
static void fill_kvb(uint32_t *map)
{
    const uint32_t heads = 2, dk = 3, dv = 4, c = 5;

    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t j = 0; j < c; j++)
            for (uint32_t i = 0; i < dk; i++)
                *map++ = (h * (dk + dv) + i) * c + j;
    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t i = 0; i < dv; i++)
            for (uint32_t j = 0; j < c; j++)
                *map++ = (h * (dk + dv) + dk + i) * c + j;
}

/* ---- experts -------------------------------------------------------------------------------- */

/* Two experts of w1 [3, 4], w3 [3, 4] and w2 [4, 3]; the results are gate, down, up. */
static void fill_stacked(uint32_t *map)
{
    static const uint32_t starts[] = {0, 36, 24, 60, 12, 48};

    for (uint32_t k = 0; k < 6; k++)
        for (uint32_t i = 0; i < 12; i++)
            *map++ = starts[k] + i;
}

/* gate_up [2, 3, 8] and down [2, 4, 3], in halves or alternately. */
static void put_gate_up(uint32_t *map, uint32_t step, uint32_t up)
{
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t e = 0; e < 2; e++)
            for (uint32_t f = 0; f < 4; f++)
                for (uint32_t n = 0; n < 3; n++)
                    *map++ = e * 24 + n * 8 + part * up + f * step;
    for (uint32_t e = 0; e < 2; e++)
        for (uint32_t n = 0; n < 3; n++)
            for (uint32_t f = 0; f < 4; f++)
                *map++ = 48 + e * 12 + f * 3 + n;
}

static void fill_halves(uint32_t *map)
{
    put_gate_up(map, 1, 4);
}

static void fill_alternate(uint32_t *map)
{
    put_gate_up(map, 2, 1);
    map += 24 * 3;
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t e = 0; e < 2; e++)
            for (uint32_t f = 0; f < 4; f++)
                *map++ = 72 + e * 8 + 2 * f + part;
}

static void fill_rows_in_halves(uint32_t *map)
{
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t e = 0; e < 2; e++)
            for (uint32_t i = 0; i < 4 * 3; i++)
                *map++ = e * 24 + part * 12 + i;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static void fill_transposed(uint32_t *map)
{
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 4; j++)
            *map++ = j * 6 + i;
}

static void fill_swapped(uint32_t *map)
{
    for (uint32_t a = 0; a < 5; a++)
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t b = 0; b < 4; b++)
                *map++ = a * 12 + b * 3 + c;
    for (uint32_t k = 0; k < 5; k++) /* lerp w k v r g, which the file has in the order g k r v w */
        for (uint32_t i = 0; i < 3; i++) {
            static const uint32_t starts[] = {12, 3, 9, 6, 0};

            *map++ = 60 + starts[k] + i;
        }
}

/* experts.mlp.w2 of nomic: [E, inner, n], transposed. */
static void fill_reshaped(uint32_t *map)
{
    for (uint32_t i = 0; i < 24; i++)
        *map++ = i;
    for (uint32_t e = 0; e < 2; e++)
        for (uint32_t n = 0; n < 3; n++)
            for (uint32_t f = 0; f < 4; f++)
                *map++ = 24 + e * 12 + f * 3 + n;
}

static void fill_norms(uint32_t *map)
{
    for (uint32_t i = 0; i < 6; i++)
        *map++ = i;
}

static const order_case cases[] = {
    {"permute",
     "{\"architectures\": [\"LlamaForCausalLM\"], \"num_attention_heads\": 2,"
     " \"num_key_value_heads\": 1, \"hidden_size\": 4}",
     NULL,
     {{"model.layers.0.self_attn.q_proj.weight", 2, {12, 4}},
      {"model.layers.1.self_attn.k_proj.weight", 2, {6, 4}},
      {"model.layers.2.self_attn.q_proj.bias", 1, {12}}},
     {{"blk.0.attn_q.weight", 2, {4, 12}},
      {"blk.1.attn_k.weight", 2, {4, 6}},
      {"blk.2.attn_q.bias", 1, {12}}},
     fill_permuted},
    {"regroup3",
     "{\"architectures\": [\"GPTNeoXForCausalLM\"], \"num_attention_heads\": 2}",
     NULL,
     {{"gpt_neox.layers.0.attention.query_key_value.weight", 2, {18, 5}},
      {"gpt_neox.layers.1.attention.query_key_value.bias", 1, {18}}},
     {{"blk.0.attn_qkv.weight", 2, {5, 18}}, {"blk.1.attn_qkv.bias", 1, {18}}},
     fill_regrouped3},
    {"regroupkv",
     "{\"architectures\": [\"FalconForCausalLM\"], \"num_attention_heads\": 4,"
     " \"num_kv_heads\": 2}",
     NULL,
     {{"transformer.h.0.self_attention.query_key_value.weight", 2, {16, 3}}},
     {{"blk.0.attn_qkv.weight", 2, {3, 16}}},
     fill_regrouped_kv},
    {"splitkv",
     "{\"architectures\": [\"InternLM2ForCausalLM\"], \"num_attention_heads\": 4,"
     " \"num_key_value_heads\": 2}",
     NULL,
     {{"model.layers.0.attention.wqkv.weight", 2, {32, 3}}},
     {{"blk.0.attn_q.weight", 2, {3, 16}},
      {"blk.0.attn_k.weight", 2, {3, 8}},
      {"blk.0.attn_v.weight", 2, {3, 8}}},
     fill_split_kv},
    {"divide: 3",
     "{\"architectures\": [\"BaichuanForCausalLM\"], \"num_attention_heads\": 2}",
     NULL,
     {{"model.layers.0.self_attn.W_pack.weight", 2, {24, 8}}},
     {{"blk.0.attn_q.weight", 2, {8, 8}},
      {"blk.0.attn_k.weight", 2, {8, 8}},
      {"blk.0.attn_v.weight", 2, {8, 8}}},
     fill_thirds},
    {"qkvz",
     "{\"architectures\": [\"Qwen3NextForCausalLM\"], \"linear_num_key_heads\": 2,"
     " \"linear_key_head_dim\": 2, \"linear_value_head_dim\": 3, \"linear_num_value_heads\": 4}",
     NULL,
     {{"model.layers.0.linear_attn.in_proj_qkvz.weight", 2, {32, 2}}},
     {{"blk.0.attn_qkv.weight", 2, {2, 20}}, {"blk.0.attn_gate.weight", 2, {2, 12}}},
     fill_qkvz},
    {"kvb",
     "{\"architectures\": [\"DeepseekV2ForCausalLM\"], \"num_key_value_heads\": 2,"
     " \"qk_nope_head_dim\": 3, \"v_head_dim\": 4, \"num_hidden_layers\": 1}",
     NULL,
     {{"model.layers.0.self_attn.kv_b_proj.weight", 2, {14, 5}}},
     {{"blk.0.attn_k_b.weight", 3, {3, 5, 2}}, {"blk.0.attn_v_b.weight", 3, {5, 4, 2}}},
     fill_kvb},
    {"unpermute",
     "{\"architectures\": [\"Glm4ForCausalLM\"], \"head_dim\": 6,"
     " \"rope_parameters\": {\"mrope_section\": [1, 1, 0], \"partial_rotary_factor\": 0.7}}",
     NULL,
     {{"model.layers.0.self_attn.q_proj.weight", 2, {12, 3}}},
     {{"blk.0.attn_q.weight", 2, {3, 12}}},
     fill_unpermuted},
    {"stack",
     "{\"architectures\": [\"MixtralForCausalLM\"], \"num_local_experts\": 2}",
     NULL,
     {{"model.layers.3.block_sparse_moe.experts.0.w1.weight", 2, {3, 4}},
      {"model.layers.3.block_sparse_moe.experts.0.w2.weight", 2, {4, 3}},
      {"model.layers.3.block_sparse_moe.experts.0.w3.weight", 2, {3, 4}},
      {"model.layers.3.block_sparse_moe.experts.1.w1.weight", 2, {3, 4}},
      {"model.layers.3.block_sparse_moe.experts.1.w2.weight", 2, {4, 3}},
      {"model.layers.3.block_sparse_moe.experts.1.w3.weight", 2, {3, 4}}},
     {{"blk.3.ffn_gate_exps.weight", 3, {4, 3, 2}},
      {"blk.3.ffn_up_exps.weight", 3, {4, 3, 2}},
      {"blk.3.ffn_down_exps.weight", 3, {3, 4, 2}}},
     fill_stacked},
    {"transpose; divide",
     "{\"architectures\": [\"Llama4ForCausalLM\"], \"intermediate_size\": 4, "
     "\"intermediate_size_mlp\": 4}",
     NULL,
     {{"model.layers.0.feed_forward.experts.gate_up_proj", 3, {2, 3, 8}},
      {"model.layers.1.feed_forward.experts.down_proj", 3, {2, 4, 3}}},
     {{"blk.0.ffn_gate_exps.weight", 3, {3, 4, 2}},
      {"blk.0.ffn_up_exps.weight", 3, {3, 4, 2}},
      {"blk.1.ffn_down_exps.weight", 3, {4, 3, 2}}},
     fill_halves},
    {"transpose; alternate",
     "{\"architectures\": [\"GptOssForCausalLM\"]}",
     NULL,
     {{"model.layers.0.mlp.experts.gate_up_proj", 3, {2, 3, 8}},
      {"model.layers.1.mlp.experts.down_proj", 3, {2, 4, 3}},
      {"model.layers.2.mlp.experts.gate_up_proj_bias", 2, {2, 8}}},
     {{"blk.0.ffn_gate_exps.weight", 3, {3, 4, 2}},
      {"blk.0.ffn_up_exps.weight", 3, {3, 4, 2}},
      {"blk.1.ffn_down_exps.weight", 3, {4, 3, 2}},
      {"blk.2.ffn_gate_exps.bias", 2, {4, 2}}},
     fill_alternate},
    {"divide: 2",
     "{\"architectures\": [\"Qwen3MoeForCausalLM\"], \"num_experts\": 2}",
     NULL,
     {{"model.layers.0.mlp.experts.gate_up_proj", 3, {2, 8, 3}}},
     {{"blk.0.ffn_gate_exps.weight", 3, {3, 4, 2}}, {"blk.0.ffn_up_exps.weight", 3, {3, 4, 2}}},
     fill_rows_in_halves},
    {"transpose",
     "{\"architectures\": [\"GPT2LMHeadModel\"]}",
     NULL,
     {{"h.0.attn.c_attn.weight", 2, {4, 6}}},
     {{"blk.0.attn_qkv.weight", 2, {4, 6}}},
     fill_transposed},
    {"swap; stack of rows",
     "{\"architectures\": [\"Rwkv6ForCausalLM\"]}",
     NULL,
     {{"rwkv.blocks.0.attention.time_maa_w2", 3, {5, 4, 3}},
      {"rwkv.blocks.1.attention.time_maa_g", 3, {1, 1, 3}},
      {"rwkv.blocks.1.attention.time_maa_k", 3, {1, 1, 3}},
      {"rwkv.blocks.1.attention.time_maa_r", 3, {1, 1, 3}},
      {"rwkv.blocks.1.attention.time_maa_v", 3, {1, 1, 3}},
      {"rwkv.blocks.1.attention.time_maa_w", 3, {1, 1, 3}}},
     {{"blk.0.time_mix_w2.weight", 3, {4, 3, 5}},
      {"blk.1.time_mix_lerp_fused.weight", 4, {3, 1, 1, 5}}},
     fill_swapped},
    {"reshape",
     "{\"architectures\": [\"NomicBertModel\"], \"moe_every_n_layers\": 2, \"num_experts\": 2,"
     " \"n_inner\": 4, \"n_embd\": 3, \"n_positions\": 2048, \"max_trained_positions\": 2048}",
     NULL,
     {{"encoder.layers.1.mlp.experts.mlp.w1", 2, {8, 3}},
      {"encoder.layers.3.mlp.experts.mlp.w2", 2, {8, 3}}},
     {{"blk.1.ffn_up_exps.weight", 3, {3, 4, 2}}, {"blk.3.ffn_down_exps.weight", 3, {4, 3, 2}}},
     fill_reshaped},
    {"stack of norms",
     "{\"architectures\": [\"StableLmForCausalLM\"], \"num_attention_heads\": 2}",
     NULL,
     {{"model.layers.0.self_attn.q_layernorm.norms.0.weight", 1, {3}},
      {"model.layers.0.self_attn.q_layernorm.norms.1.weight", 1, {3}}},
     {{"blk.0.attn_q_norm.weight", 2, {3, 2}}},
     fill_norms},
};

/* Tensors of the file of a case, their numbers counted on. */
static size_t make_sources(const order_case *row, const char *dtype, safetensor *out)
{
    uint64_t first = 0;
    size_t n = 0;

    for (; n < COUNT_OF(row->sources) && row->sources[n].name != NULL; n++) {
        uint64_t count = 1;

        out[n] = (safetensor){
            .name = row->sources[n].name, .dtype = dtype, .n_dims = row->sources[n].n_dims};
        for (uint32_t i = 0; i < out[n].n_dims; i++) {
            out[n].shape[i] = row->sources[n].shape[i];
            count *= out[n].shape[i];
        }
        out[n].bytes = made_numbers(dtype, first, count);
        first += count;
    }
    return n;
}

static void check_case(const order_case *row, const char *dtype)
{
    static uint32_t map[MOST_NUMBERS];
    safetensor sources[COUNT_OF(row->sources)];
    size_t count = make_sources(row, dtype, sources);
    tensor_case c;
    gufo_error error = no_error();
    const uint32_t *at = map;

    check_ok(case_open(&c, row->config, row->arch, sources, count, 0, &error), &error, "%s %s",
             row->label, dtype);
    case_make(&c);
    row->fill(map);
    for (size_t i = 0; i < COUNT_OF(row->results) && row->results[i].name != NULL; i++) {
        uint64_t numbers = 1;

        check_map(&c, row->results[i].name, dtype, row->results[i].n_dims, row->results[i].dims,
                  at);
        for (uint32_t k = 0; k < row->results[i].n_dims; k++)
            numbers *= row->results[i].dims[k];
        at += numbers;
    }
    for (size_t i = 0; i < count; i++)
        free((void *)sources[i].bytes);
    case_close(&c);
}

static void test_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; k < COUNT_OF(dtypes); k++)
            check_case(&cases[i], dtypes[k]);
}

static void test_tiles(void **state)
{
    static const order_case tiles = {
        "tile",
        "{\"architectures\": [\"Qwen3_5ForCausalLM\"], \"linear_num_key_heads\": 2,"
        " \"linear_num_value_heads\": 6, \"linear_key_head_dim\": 2,"
        " \"linear_value_head_dim\": 4, \"num_hidden_layers\": 4}",
        NULL,
        {{"model.layers.0.linear_attn.in_proj_qkv.weight", 2, {32, 5}},
         {"model.layers.1.linear_attn.in_proj_z.weight", 2, {24, 5}},
         {"model.layers.2.linear_attn.in_proj_a.weight", 2, {6, 5}},
         {"model.layers.3.linear_attn.conv1d.weight", 3, {32, 1, 2}},
         {"model.layers.3.linear_attn.out_proj.weight", 2, {3, 24}}},
        {{"blk.0.attn_qkv.weight", 2, {5, 32}},
         {"blk.1.attn_gate.weight", 2, {5, 24}},
         {"blk.2.ssm_alpha.weight", 2, {5, 6}},
         {"blk.3.ssm_conv1d.weight", 2, {2, 32}}},
        fill_tiled};
    static const uint64_t out_dims[] = {24, 3};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(dtypes); k++) {
        static uint32_t map[MOST_NUMBERS];
        safetensor sources[COUNT_OF(tiles.sources)];
        size_t count = make_sources(&tiles, dtypes[k], sources);
        tensor_case c;
        gufo_error error = no_error();

        check_case(&tiles, dtypes[k]);
        check_ok(case_open(&c, tiles.config, NULL, sources, count, 0, &error), &error, "tiles");
        case_make(&c);
        fill_tiled(map);
        check_map(&c, "blk.3.ssm_out.weight", dtypes[k], 2, out_dims, map + 374);
        for (size_t i = 0; i < count; i++)
            free((void *)sources[i].bytes);
        case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_tiles),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
