/* Outputs of small models, whose bytes must not change: every type, and every option. */
#include "../support/pace.h"
#include "outputs.h"

static bool is_mine(const char *name)
{
    return strncmp(name, "large ", 6) != 0 && strstr(name, "-endian ") == NULL;
}

/* ---- types ---------------------------------------------------------------------------------- */

/* Rows that fill blocks of every type. */
static const test_tensor whole_tensors[] = {
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 4}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 3, 3}},
    {"blk.2.ffn_up.weight", GUFO_TYPE_F32, 2, {2 * COLUMNS, 3}},
};

static void test_file_types(void **state)
{
    test_model model = MODEL_OF(tensors);
    place p = place_new(&model);

    (void)state;
    for (size_t i = 0; gufo_file_type_at(i) != NULL; i++) {
        gufo_quantize_options options = {0};
        const char *name = gufo_file_type_at(i)->name;

        if (gufo_quantize_target_by_name(name, false, &options.recipe.target))
            expect_both(&p, &options, "small", name);
    }
    place_end(&p);
}

static void test_element_types(void **state)
{
    test_model model = MODEL_OF(whole_tensors);
    place p = place_new(&model);

    (void)state;
    for (uint32_t id = 0; id < gufo_element_type_count(); id++) {
        gufo_quantize_options options = {0};
        const gufo_element_type *type = gufo_element_type_by_id(id);

        if (type != NULL &&
            gufo_quantize_target_by_name(type->name, true, &options.recipe.target) &&
            options.recipe.target.base_type == type)
            expect_both(&p, &options, "pure", type->name);
    }
    place_end(&p);
}

/* Smaller errors take longer. */
static void test_effort(void **state)
{
    static const char *const types[] = {"Q4_0", "Q8_0",   "Q2_K", "Q4_K_M",
                                        "Q6_K", "IQ4_XS", "MXFP4"};
    test_model model = MODEL_OF(tensors);
    place p = place_new(&model);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        options.effort = GUFO_EFFORT_HIGH;
        expect_both(&p, &options, "high effort", types[i]);
    }
    place_end(&p);
}

/* ---- options -------------------------------------------------------------------------------- */

typedef void change_fn(gufo_quantize_options *options);

static const gufo_element_type *queries_only(void *context, gufo_str name)
{
    (void)context;
    return gufo_str_equal(name, gufo_str_of("blk.0.attn_q.weight"))
               ? gufo_element_type_by_id(GUFO_TYPE_Q5_0)
               : NULL;
}

static void tensor_type(gufo_quantize_options *o)
{
    o->recipe.override_type = queries_only;
}

static void keep_output(gufo_quantize_options *o)
{
    o->recipe.keep_output = true;
}

static void given_types(gufo_quantize_options *o)
{
    o->recipe.output_type = gufo_element_type_by_id(GUFO_TYPE_Q8_0);
    o->recipe.token_embedding_type = gufo_element_type_by_id(GUFO_TYPE_IQ4_NL);
}

static void no_fallback(gufo_quantize_options *o)
{
    o->recipe.no_fallback = true;
}

static void prune(gufo_quantize_options *o)
{
    static const uint64_t layers[] = {2, 0, 2};

    o->pruned_layers = layers;
    o->pruned_count = COUNT_OF(layers);
}

static void prune_all(gufo_quantize_options *o)
{
    static const uint64_t layers[] = {0, 1, 2, 9};

    o->pruned_layers = layers;
    o->pruned_count = COUNT_OF(layers);
}

static void set_values(gufo_quantize_options *o)
{
    static const gufo_quantize_override overrides[] = {
        {.key = "new.key", .value = {.type = GUFO_VALUE_UINT8, .as.u = 9}},
        {.key = "some.flag", .value = {.type = GUFO_VALUE_STRING, .as.str = {"text", 4}}},
        {.key = "general.alignment", .value = {.type = GUFO_VALUE_UINT32, .as.u = 128}},
        {.key = "new.key", .value = {.type = GUFO_VALUE_FLOAT64, .as.f = 0.5}},
        {.key = "llama.block_count", .value = {.type = GUFO_VALUE_UINT16, .as.u = 3}},
        {.key = "general.file_type", .value = {.type = GUFO_VALUE_UINT32, .as.u = 99}},
        {.key = "split.no", .value = {.type = GUFO_VALUE_UINT16, .as.u = 0}},
    };

    o->overrides = overrides;
    o->override_count = COUNT_OF(overrides);
}

static void set_bad_key(gufo_quantize_options *o)
{
    static const gufo_quantize_override override = {.key = "bad key",
                                                    .value = {.type = GUFO_VALUE_BOOL}};

    o->overrides = &override;
    o->override_count = 1;
}

static void set_nothing(gufo_quantize_options *o)
{
    (void)o;
}

static const struct {
    const char *name;
    change_fn *change;
} changes[] = {
    {"as it is", set_nothing},    {"tensor type", tensor_type}, {"keep output", keep_output},
    {"given types", given_types}, {"no fallback", no_fallback}, {"prune", prune},
    {"prune all", prune_all},     {"set values", set_values},   {"set bad key", set_bad_key},
};

static void expect_changes(const place *p, const char *model, uint32_t flags)
{
    static const char *const types[] = {"COPY", "Q4_K_M", "MXFP4"};

    for (size_t c = 0; c < COUNT_OF(changes); c++) {
        for (size_t i = 0; i < COUNT_OF(types); i++) {
            gufo_quantize_options options = quantize_to(types[i]);
            char name[64];

            snprintf(name, sizeof name, "%s, %s", model, changes[c].name);
            options.flags = flags;
            changes[c].change(&options);
            expect_both(p, &options, name, types[i]);
        }
    }
}

static void test_changes(void **state)
{
    test_model model = MODEL_OF(tensors);
    place p = place_new(&model);

    (void)state;
    skip_if_emulated();
    expect_changes(&p, "one file", 0);
    expect_changes(&p, "one file kept", GUFO_QUANTIZE_KEEP_SPLIT);
    place_end(&p);
}

/* Shards: one has no tensors after pruning. */
static void write_shards(place *p)
{
    static const size_t begins[SHARDS + 1] = {0, 6, 11, COUNT_OF(tensors)};

    for (int i = 0; i < SHARDS; i++) {
        test_model part = model_of(tensors + begins[i], begins[i + 1] - begins[i]);
        char name[64];

        shard = i;
        part.entries = SHARD_ENTRIES;
        snprintf(name, sizeof name, "in-%05d-of-%05d.gguf", i + 1, SHARDS);
        write_model(folder_path(&p->f, name).text, &part);
    }
    p->in = folder_path(&p->f, "in-00001-of-00003.gguf");
}

static void test_shards(void **state)
{
    test_model model = MODEL_OF(tensors);
    place p = place_new(&model);

    (void)state;
    skip_if_emulated();
    write_shards(&p);
    expect_changes(&p, "merged", 0);
    expect_changes(&p, "shards", GUFO_QUANTIZE_KEEP_SPLIT);
    place_end(&p);
}

/* Room that an edit has left. */
static void add_padded(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "gufo.padding", "                                        ");
    builder_kv_u32(b, "general.alignment", 256);
}

static void test_padding(void **state)
{
    static const char *const types[] = {"COPY", "Q8_0"};
    test_model model = MODEL_OF(packed_tensors);

    (void)state;
    model.metadata = add_padded;
    model.entries = 3;
    model.alignment = 256;
    place p = place_new(&model);

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        expect_both(&p, &options, "padded", types[i]);
    }
    place_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_types),    cmocka_unit_test(test_element_types),
        cmocka_unit_test(test_effort),        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_shards),        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_all_were_made),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
