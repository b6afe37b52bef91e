/* Recipes, beside the mixtures: what is kept, what the user may ask for, rows that do not fill
 * blocks, what cannot be done. */
#include "recipe_model.h"

#include "../support/allocator.h"
#include "../support/builder.h"

#include "quant/recipes/recipe.h"

static const gufo_recipe_model no_model;

static const gufo_element_type *type(const char *name)
{
    return gufo_element_type_by_name(name);
}

static void check_type(const gufo_recipe_choice *choice, const char *expected, const char *label)
{
    const gufo_element_type *got = gufo_element_type_by_id(choice->type);

    check_str(gufo_str_of(got != NULL ? got->name : "none"), expected, "%s", label);
}

/* The choice about one matrix of a model that has an output. */
static gufo_status choose_one(const gufo_recipe_options *options, gufo_tensor tensor,
                              gufo_recipe_choice *choice, gufo_error *error)
{
    gufo_tensor tensors[2] = {tensor,
                              {.name = gufo_str_of("output.weight"),
                               .type = GUFO_TYPE_F32,
                               .n_dims = 2,
                               .dims = {256, 2, 1, 1},
                               .elements = 512,
                               .size = 2048}};
    gufo_recipe_choice choices[2];
    gufo_status status = gufo_recipe_choose(options, &no_model, tensors, 2, choices, error);

    *choice = choices[0];
    return status;
}

static gufo_tensor matrix(const char *name, uint32_t element_type, uint64_t columns, uint64_t rows)
{
    const gufo_element_type *known = gufo_element_type_by_id(element_type);
    gufo_tensor tensor = {.name = gufo_str_of(name),
                          .type = element_type,
                          .n_dims = 2,
                          .dims = {columns, rows, 1, 1},
                          .elements = columns * rows};

    if (known != NULL && known->block_elements != 0)
        tensor.size = tensor.elements / known->block_elements * known->block_bytes;
    return tensor;
}

/* ---- targets -------------------------------------------------------------------------------- */

static void test_targets(void **state)
{
    static const struct {
        const char *text;
        bool pure;
        const char *name, *file_type, *base; /* base NULL: copy; name NULL: no target */
        bool gets_pure;
    } rows[] = {
        {"Q4_K_M", false, "Q4_K_M", "Q4_K_M", "Q4_K", false},
        {"q4_k_m", false, "Q4_K_M", "Q4_K_M", "Q4_K", false},
        {"15", false, "Q4_K_M", "Q4_K_M", "Q4_K", false},
        {"0", false, "F32", "F32", "F32", false},
        {"Q4_K", false, "Q4_K_M", "Q4_K_M", "Q4_K", false},
        {"Q3_K", false, "Q3_K_M", "Q3_K_M", "Q3_K", false},
        {"q5_k", false, "Q5_K_M", "Q5_K_M", "Q5_K", false},
        {"IQ2_S", false, "IQ2_S", "IQ2_S", "IQ2_XS", false},
        {"IQ2_M", false, "IQ2_M", "IQ2_M", "IQ2_S", false},
        {"IQ3_XS", false, "IQ3_XS", "IQ3_XS", "IQ3_S", false},
        {"bf16", false, "BF16", "BF16", "BF16", false},
        {"MXFP4_MOE", false, "MXFP4_MOE", "MXFP4_MOE", "MXFP4", false},
        {"Q2_0", false, "Q2_0", "Q2_0", "Q2_0", false},
        {"copy", false, "COPY", NULL, NULL, false},
        /* element types that are not file types */
        {"MXFP4", false, "MXFP4", "MXFP4_MOE", "MXFP4", true},
        {"nvfp4", false, "NVFP4", "NVFP4", "NVFP4", true},
        {"Q8_K", false, "Q8_K", NULL, "Q8_K", true},
        {"F64", false, "F64", NULL, "F64", true},
        /* pure: the element type of that name, else the base */
        {"Q4_K", true, "Q4_K", "Q4_K_M", "Q4_K", true},
        {"IQ2_S", true, "IQ2_S", "IQ2_S", "IQ2_S", true},
        {"Q4_K_M", true, "Q4_K_M", "Q4_K_M", "Q4_K", true},
        {"IQ3_M", true, "IQ3_M", "IQ3_M", "IQ3_S", true},
        {"28", true, "IQ2_S", "IQ2_S", "IQ2_XS", true},
        /* the format's own names: of file types, and of element types */
        {"MOSTLY_Q4_K_M", false, "Q4_K_M", "Q4_K_M", "Q4_K", false},
        {"Llama_Ftype_Mostly_q4_0", false, "Q4_0", "Q4_0", "Q4_0", false},
        {"GGML_FTYPE_MOSTLY_Q3_K", true, "Q3_K_M", "Q3_K_M", "Q3_K", true},
        {"ALL_F32", false, "F32", "F32", "F32", false},
        {"GGML_TYPE_Q4_0", false, "Q4_0", "Q4_0", "Q4_0", true},
        {"ggml_type_q4_k", true, "Q4_K", "Q4_K_M", "Q4_K", true},
        {"GGML_TYPE_Q4_K_M", false, NULL, NULL, NULL, false},
        {"MOSTLY_MXFP4", false, NULL, NULL, NULL, false},
        {"MOSTLY_15", false, NULL, NULL, NULL, false},
        {"GGUF_TYPE_Q4_0", false, NULL, NULL, NULL, false},
        {"MOSTLY_MOSTLY_Q4_0", false, NULL, NULL, NULL, false},
        {"MOSTLY_", false, NULL, NULL, NULL, false},
        {"GGML_TYPE_", false, NULL, NULL, NULL, false},
        /* nothing */
        {"Q4_2", false, NULL, NULL, NULL, false},
        {"Q4_0_4_4", false, NULL, NULL, NULL, false},
        {"33", false, NULL, NULL, NULL, false},
        {"39", false, NULL, NULL, NULL, false},
        {"4", false, NULL, NULL, NULL, false},
        {"42", false, NULL, NULL, NULL, false},
        {"15x", false, NULL, NULL, NULL, false},
        {" 15", false, NULL, NULL, NULL, false},
        {"-1", false, NULL, NULL, NULL, false},
        {"4294967311", false, NULL, NULL, NULL, false},
        {"Q4_K_MM", false, NULL, NULL, NULL, false},
        {"Q4_", false, NULL, NULL, NULL, false},
        {"", false, NULL, NULL, NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_quantize_target t = {0};
        bool found = gufo_quantize_target_by_name(rows[i].text, rows[i].pure, &t);

        check(found == (rows[i].name != NULL), "'%s'", rows[i].text);
        if (!found)
            continue;
        check_str(gufo_str_of(t.name), rows[i].name, "'%s'", rows[i].text);
        check_str(gufo_str_of(t.file_type != NULL ? t.file_type->name : "none"),
                  rows[i].file_type != NULL ? rows[i].file_type : "none", "'%s'", rows[i].text);
        check_str(gufo_str_of(t.base_type != NULL ? t.base_type->name : "none"),
                  rows[i].base != NULL ? rows[i].base : "none", "'%s'", rows[i].text);
        check(t.pure == rows[i].gets_pure, "'%s'", rows[i].text);
    }
}

/* Every name in the list means something, no name is there twice, and the known ones are there. */
static void test_target_names(void **state)
{
    static const char *const known[] = {"F32",   "Q4_K_M", "Q4_K", "IQ4_XS", "MXFP4_MOE",
                                        "MXFP4", "NVFP4",  "COPY", "TQ1_0",  "BF16"};
    const char *name;
    size_t count = 0, hits = 0;

    (void)state;
    for (; (name = gufo_quantize_target_name(count)) != NULL; count++) {
        gufo_quantize_target target;

        check(gufo_quantize_target_by_name(name, false, &target), "%s", name);
        for (size_t i = 0; i < count; i++)
            check(strcmp(gufo_quantize_target_name(i), name) != 0, "%s twice", name);
        for (size_t i = 0; i < COUNT_OF(known); i++)
            hits += strcmp(known[i], name) == 0;
    }
    check_u64(hits, COUNT_OF(known), "known names");
    check(gufo_quantize_target_name(count + 1) == NULL &&
              gufo_quantize_target_name(SIZE_MAX) == NULL,
          "past the end");
}

/* ---- what is kept --------------------------------------------------------------------------- */

static void test_kept_names(void **state)
{
    static const struct {
        const char *name;
        const char *rule; /* NULL: it is quantized */
    } rows[] = {
        {"blk.0.attn_norm.weight", "_norm.weight"},
        {"blk.3.ffn_gate_inp.weight", "ffn_gate_inp.weight"},
        {"blk.0.ffn_gate_tid2eid.weight", "ffn_gate_tid2eid.weight"},
        {"altup_proj.weight", "altup"},
        {"blk.0.laurel_l.weight", "laurel"},
        {"per_layer_model_proj.weight", "per_layer_model_proj"},
        {"position_embd.weight", "position_embd.weight"},
        {"token_types.weight", "token_types.weight"},
        {"v.position_embd.weight", ".position_embd"},
        {"blk.0.ssm_conv1d.weight", "ssm_conv1d"},
        {"blk.0.ssm_conv1d_q.weight", "ssm_conv1d"},
        {"blk.0.shortconv.conv.weight", "shortconv.conv.weight"},
        {"blk.0.indexer.k_proj.weight", "indexer.k_proj.weight"},
        {"blk.0.indexer.q_proj.weight", "indexer.q_proj.weight"},
        {"enc.blk.0.attn_rel_b.weight", "attn_rel_b.weight"},
        {"blk.0.time_mix_first.weight", "time_mix_first.weight"},
        {"blk.0.time_mix_w0.weight", "time_mix_w0.weight"},
        {"blk.0.time_mix_w1.weight", "time_mix_w1.weight"},
        {"blk.0.time_mix_w2.weight", "time_mix_w2.weight"},
        {"blk.0.time_mix_v0.weight", "time_mix_v0.weight"},
        {"blk.0.time_mix_v1.weight", "time_mix_v1.weight"},
        {"blk.0.time_mix_v2.weight", "time_mix_v2.weight"},
        {"blk.0.time_mix_a0.weight", "time_mix_a0.weight"},
        {"blk.0.time_mix_a1.weight", "time_mix_a1.weight"},
        {"blk.0.time_mix_a2.weight", "time_mix_a2.weight"},
        {"blk.0.time_mix_g1.weight", "time_mix_g1.weight"},
        {"blk.0.time_mix_g2.weight", "time_mix_g2.weight"},
        {"blk.0.time_mix_decay_w1.weight", "time_mix_decay_w1.weight"},
        {"blk.0.time_mix_decay_w2.weight", "time_mix_decay_w2.weight"},
        {"blk.0.time_mix_lerp_fused.weight", "time_mix_lerp_fused.weight"},
        {"v.sam.pos_embd.weight", "sam.pos_embd"},
        {"v.sam.neck.0.weight", "sam.neck."},
        {"v.sam.net_2.weight", "sam.net_"},
        {"v.blk.0.attn.rel_pos_h.weight", ".rel_pos"},
        {"v.patch_embd.weight", ".patch_embd"},
        {"v.patch_merger.weight", ".patch_merger"},
        {"a.rvq.codebook.0.weight", "a.rvq.codebook"},
        {"mm.a.code_embd.weight", "mm.a.code_embd"},
        {"blk.0.time_mix_key.weight", NULL},
        {"blk.0.attn_normal.weight", NULL},
        {"blk.0.ffn_gate_inp_shexp.weight", NULL},
        {"xtoken_types.weight", NULL},
        {"blk.0.indexer.attn_k.weight", NULL},
        {"model.diffusion_model.single_blocks.0.linear1.weight", NULL},
        {"weight", NULL},
    };
    gufo_recipe_options options = {.target = target_of("Q8_0", false)};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_choice choice;
        gufo_error error = no_error();

        check_ok(choose_one(&options, matrix(rows[i].name, GUFO_TYPE_F16, 512, 8), &choice, &error),
                 &error, "%s", rows[i].name);
        check_type(&choice, rows[i].rule != NULL ? "F16" : "Q8_0", rows[i].name);
        check(choice.reason == (rows[i].rule != NULL ? GUFO_REASON_NAME : GUFO_REASON_TARGET), "%s",
              rows[i].name);
        check_str(gufo_str_of(choice.rule != NULL ? choice.rule : "none"),
                  rows[i].rule != NULL ? rows[i].rule : "none", "%s", rows[i].name);
    }
}

static void test_kept_others(void **state)
{
    static const struct {
        const char *label, *name;
        uint32_t type;
        uint64_t dims[4];
        gufo_recipe_reason reason;
        const char *expected;
    } rows[] = {
        {"vector", "a.weight", GUFO_TYPE_F32, {512, 1, 1, 1}, GUFO_REASON_SHAPE, "F32"},
        {"matrix of one column",
         "a.weight",
         GUFO_TYPE_F32,
         {1, 512, 1, 1},
         GUFO_REASON_TARGET,
         "F16"},
        {"stack of vectors", "a.weight", GUFO_TYPE_F32, {256, 1, 4, 1}, GUFO_REASON_TARGET, "Q4_0"},
        {"four dims", "a.weight", GUFO_TYPE_F32, {32, 1, 1, 5}, GUFO_REASON_TARGET, "Q4_0"},
        {"bias", "a.bias", GUFO_TYPE_F32, {512, 8, 1, 1}, GUFO_REASON_NO_WEIGHT, "F32"},
        {"weights", "a.weights", GUFO_TYPE_F32, {512, 8, 1, 1}, GUFO_REASON_NO_WEIGHT, "F32"},
        {"short name", "eight", GUFO_TYPE_F32, {512, 8, 1, 1}, GUFO_REASON_NO_WEIGHT, "F32"},
        {"I8", "a.weight", GUFO_TYPE_I8, {512, 8, 1, 1}, GUFO_REASON_INTEGERS, "I8"},
        {"I16", "a.weight", GUFO_TYPE_I16, {512, 8, 1, 1}, GUFO_REASON_INTEGERS, "I16"},
        {"I32", "a.weight", GUFO_TYPE_I32, {512, 8, 1, 1}, GUFO_REASON_INTEGERS, "I32"},
        {"I64", "a.weight", GUFO_TYPE_I64, {512, 8, 1, 1}, GUFO_REASON_INTEGERS, "I64"},
        {"F64", "a.weight", GUFO_TYPE_F64, {512, 8, 1, 1}, GUFO_REASON_TARGET, "Q4_0"},
        {"lost", "a.weight", GUFO_TYPE_Q4_2, {512, 8, 1, 1}, GUFO_REASON_UNKNOWN_TYPE, "Q4_2"},
        {"private", "a.weight", 77, {512, 8, 1, 1}, GUFO_REASON_UNKNOWN_TYPE, "none"},
        {"no columns", "a.weight", GUFO_TYPE_F32, {0, 8, 1, 1}, GUFO_REASON_TARGET, "Q4_0"},
    };
    gufo_recipe_options options = {.target = target_of("Q4_0", false)};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_choice choice;
        gufo_error error = no_error();
        gufo_tensor tensor = matrix(rows[i].name, rows[i].type, rows[i].dims[0], rows[i].dims[1]);
        bool kept = rows[i].reason != GUFO_REASON_TARGET;

        memcpy(tensor.dims, rows[i].dims, sizeof tensor.dims);
        tensor.size = 4321;
        check_ok(choose_one(&options, tensor, &choice, &error), &error, "%s", rows[i].label);
        check_type(&choice, rows[i].expected, rows[i].label);
        check(choice.reason == rows[i].reason, "%s: %s", rows[i].label,
              gufo_recipe_reason_text(choice.reason));
        check(choice.flags ==
                  (kept ? 0
                        : GUFO_RECIPE_CONVERTS |
                              (choice.type == choice.wanted ? 0 : GUFO_RECIPE_FELL_BACK)),
              "%s", rows[i].label);
        check(!kept || (choice.size == 4321 && choice.type == rows[i].type), "%s", rows[i].label);
    }
}

/* Interleaved types are not written any more: what is kept is repacked. */
static void test_removed_types(void **state)
{
    static const struct {
        uint32_t from;
        const char *target, *to;
        uint32_t flags;
    } rows[] = {
        {GUFO_TYPE_Q4_0_4_4, "COPY", "Q4_0", GUFO_RECIPE_REPACKS},
        {GUFO_TYPE_Q4_0_4_8, "COPY", "Q4_0", GUFO_RECIPE_REPACKS},
        {GUFO_TYPE_Q4_0_8_8, "COPY", "Q4_0", GUFO_RECIPE_REPACKS},
        {GUFO_TYPE_IQ4_NL_4_4, "COPY", "IQ4_NL", GUFO_RECIPE_REPACKS},
        {GUFO_TYPE_Q4_0_4_4, "Q4_0", "Q4_0", GUFO_RECIPE_REPACKS},
        {GUFO_TYPE_Q4_0_4_4, "F16", "F16", GUFO_RECIPE_CONVERTS},
        {GUFO_TYPE_Q4_0, "COPY", "Q4_0", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_options options = {.target = target_of(rows[i].target, false)};
        gufo_recipe_choice choice;
        gufo_error error = no_error();

        check_ok(choose_one(&options, matrix("a.weight", rows[i].from, 512, 8), &choice, &error),
                 &error, "row %zu", i);
        check_type(&choice, rows[i].to, rows[i].target);
        check_u64(choice.flags, rows[i].flags, "row %zu", i);
    }
}

/* ---- what the user asks for ----------------------------------------------------------------- */

static const gufo_element_type *override_down(void *context, gufo_str name)
{
    (*(size_t *)context)++;
    return memmem(name.data, name.len, "ffn_down", 8) != NULL ? type("Q6_K") : NULL;
}

static void make_small_model(model *m)
{
    model_clear(m);
    for (unsigned i = 0; i < 8; i++) {
        model_add(m, GUFO_TYPE_F32, 512, 512, 1, "blk.%u.attn_v.weight", i);
        model_add(m, GUFO_TYPE_F32, 512, 512, 1, "blk.%u.ffn_down.weight", i);
        model_add(m, GUFO_TYPE_F32, 512, 1, 1, "blk.%u.attn_norm.weight", i);
    }
    model_add(m, GUFO_TYPE_F32, 512, 1000, 1, "output.weight");
    model_add(m, GUFO_TYPE_F32, 512, 1000, 1, "token_embd.weight");
}

static void test_options(void **state)
{
    static const struct {
        const char *label, *target;
        bool pure, keep_output;
        const char *output_type, *embedding_type;
        bool override;
        const char *output, *embedding, *v0, *v2, *down0, *down2;
    } rows[] = {
        /* i < 8/8, i >= 7, or (i - 1) % 3 == 2: layers 0, 3, 6, 7 get more */
        {"mixture", "Q4_K_M", 0, 0, NULL, NULL, 0, "Q6_K", "Q4_K", "Q6_K", "Q4_K", "Q6_K", "Q4_K"},
        {"pure", "Q4_K_M", 1, 0, NULL, NULL, 0, "Q4_K", "Q4_K", "Q4_K", "Q4_K", "Q4_K", "Q4_K"},
        {"keep output", "Q4_K_M", 0, 1, NULL, NULL, 0, "F32", "Q4_K", "Q6_K", "Q4_K", "Q6_K",
         "Q4_K"},
        {"output type", "Q4_K_M", 0, 0, "Q8_0", NULL, 0, "Q8_0", "Q4_K", "Q6_K", "Q4_K", "Q6_K",
         "Q4_K"},
        {"output kept, type", "Q4_K_M", 0, 1, "Q8_0", NULL, 0, "F32", "Q4_K", "Q6_K", "Q4_K",
         "Q6_K", "Q4_K"},
        {"embedding type", "Q4_K_M", 0, 0, NULL, "Q5_K", 0, "Q6_K", "Q5_K", "Q6_K", "Q4_K", "Q6_K",
         "Q4_K"},
        {"override", "Q4_K_M", 0, 0, NULL, NULL, 1, "Q6_K", "Q4_K", "Q6_K", "Q4_K", "Q6_K", "Q6_K"},
        {"all, pure", "Q5_K", 1, 0, "F16", "BF16", 1, "F16", "BF16", "Q5_K", "Q5_K", "Q6_K",
         "Q6_K"},
        {"element type", "MXFP4", 0, 0, NULL, NULL, 0, "MXFP4", "MXFP4", "MXFP4", "MXFP4", "MXFP4",
         "MXFP4"},
        {"F16", "F16", 0, 0, NULL, NULL, 1, "F16", "F16", "F16", "F16", "F16", "F16"},
        {"F16, types", "F16", 0, 0, "Q8_0", "Q6_K", 0, "Q8_0", "Q6_K", "F16", "F16", "F16", "F16"},
        {"BF16", "BF16", 0, 0, NULL, NULL, 0, "BF16", "BF16", "BF16", "BF16", "BF16", "BF16"},
        {"F32", "F32", 0, 0, NULL, NULL, 0, "F32", "F32", "F32", "F32", "F32", "F32"},
        {"copy", "COPY", 0, 0, "Q8_0", "Q6_K", 1, "F32", "F32", "F32", "F32", "F32", "F32"},
    };
    model *m = calloc(1, sizeof *m);

    (void)state;
    make_small_model(m);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t asked = 0;
        gufo_recipe_options options = {.target = target_of(rows[i].target, rows[i].pure),
                                       .keep_output = rows[i].keep_output,
                                       .override_context = &asked};
        gufo_error error = no_error();

        options.output_type = rows[i].output_type != NULL ? type(rows[i].output_type) : NULL;
        options.token_embedding_type =
            rows[i].embedding_type != NULL ? type(rows[i].embedding_type) : NULL;
        options.override_type = rows[i].override ? override_down : NULL;
        check_ok(model_choose(m, &options, &no_model, &error), &error, "%s", rows[i].label);
        check_type(model_choice(m, "output.weight"), rows[i].output, rows[i].label);
        check_type(model_choice(m, "token_embd.weight"), rows[i].embedding, rows[i].label);
        check_type(model_choice(m, "blk.0.attn_v.weight"), rows[i].v0, rows[i].label);
        check_type(model_choice(m, "blk.2.attn_v.weight"), rows[i].v2, rows[i].label);
        check_type(model_choice(m, "blk.0.ffn_down.weight"), rows[i].down0, rows[i].label);
        check_type(model_choice(m, "blk.2.ffn_down.weight"), rows[i].down2, rows[i].label);
        check_type(model_choice(m, "blk.0.attn_norm.weight"), "F32", rows[i].label);
    }
    free(m);
}

/* A target that has no file type has no mixture either, even if it does not say so. */
static void test_no_file_type(void **state)
{
    gufo_recipe_options options = {.target = {.name = "Q4_K", .base_type = type("Q4_K")}};
    gufo_tensor tensor = matrix("blk.0.attn_v.weight", GUFO_TYPE_F32, 512, 8);
    gufo_recipe_choice choice;
    gufo_error error = no_error();

    (void)state;
    check_ok(choose_one(&options, tensor, &choice, &error), &error, "Q4_K");
    check_type(&choice, "Q4_K", "Q4_K");
    check(choice.reason == GUFO_REASON_TARGET, "reason");
}

/* A type for the output is one for the embedding of a model without output, unless that has one of
 * its own. */
static void test_tied_output_type(void **state)
{
    gufo_recipe_options options = {.target = target_of("Q4_K_M", false)};
    gufo_tensor tensor = matrix("token_embd.weight", GUFO_TYPE_F32, 512, 8);
    gufo_recipe_choice choice;
    gufo_error error = no_error();

    (void)state;
    options.output_type = type("Q5_1");
    check_ok(gufo_recipe_choose(&options, &no_model, &tensor, 1, &choice, &error), &error, "tied");
    check_type(&choice, "Q5_1", "tied");
    check(choice.reason == GUFO_REASON_OUTPUT_TYPE, "reason");
    options.token_embedding_type = type("Q8_0");
    check_ok(gufo_recipe_choose(&options, &no_model, &tensor, 1, &choice, &error), &error, "both");
    check_type(&choice, "Q8_0", "both");
    check(choice.reason == GUFO_REASON_EMBEDDING_TYPE, "reason");
}

/* ---- rows that do not fill blocks ----------------------------------------------------------- */

static void test_fallback(void **state)
{
    static const struct {
        const char *wanted;
        uint64_t columns;
        const char *got; /* NULL: refused for tensors of language models, F16 for others */
    } rows[] = {
        {"IQ1_M", 288, "IQ4_NL"}, {"IQ2_S", 288, "IQ4_NL"},  {"IQ3_XXS", 288, "IQ4_NL"},
        {"IQ3_S", 288, "IQ4_NL"}, {"IQ4_XS", 288, "IQ4_NL"}, {"Q2_K", 288, "Q4_0"},
        {"Q3_K", 288, "Q4_0"},    {"TQ1_0", 288, "Q4_0"},    {"TQ2_0", 288, "Q4_0"},
        {"Q2_0", 288, "Q4_0"},    {"Q4_K", 288, "Q5_0"},     {"Q5_K", 288, "Q5_1"},
        {"Q6_K", 288, "Q8_0"},    {"Q4_K", 40, "F16"},       {"IQ4_XS", 40, "F16"},
        {"Q4_K", 256, "Q4_K"},    {"Q8_0", 288, "Q8_0"},     {"Q8_0", 40, NULL},
        {"Q4_0", 40, NULL},       {"Q4_1", 40, NULL},        {"Q5_0", 40, NULL},
        {"Q5_1", 40, NULL},       {"IQ4_NL", 40, NULL},      {"MXFP4", 40, NULL},
        {"Q1_0", 576, NULL},      {"NVFP4", 96, NULL},       {"Q8_K", 288, NULL},
        {"F64", 3, "F64"},        {"F16", 3, "F16"},
    };
    static const char *const names[] = {"blk.0.ffn_up.weight", "conv_in.weight"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) {
        size_t row = i / 2;
        gufo_recipe_options options = {.target = target_of(rows[row].wanted, true)};
        gufo_tensor tensor = matrix(names[i % 2], GUFO_TYPE_F32, rows[row].columns, 8);
        gufo_recipe_choice choice;
        gufo_error error = no_error();
        gufo_status status = choose_one(&options, tensor, &choice, &error);
        const char *got = rows[row].got != NULL ? rows[row].got : i % 2 == 1 ? "F16" : NULL;

        if (got == NULL) {
            check_error_shape(&error, GUFO_E_ARGUMENT, rows[row].wanted);
            check(strstr(error.message, "blk.0.ffn_up.weight") != NULL &&
                      strstr(error.message, rows[row].wanted) != NULL,
                  "%s", error.message);
            continue;
        }
        check_ok(status, &error, "%s", rows[row].wanted);
        check_type(&choice, got, rows[row].wanted);
        check_u64(choice.wanted, type(rows[row].wanted)->id, "%s", rows[row].wanted);
        check(((choice.flags & GUFO_RECIPE_FELL_BACK) != 0) == (strcmp(got, rows[row].wanted) != 0),
              "%s", rows[row].wanted);
        options.no_fallback = true;
        check_status(choose_one(&options, tensor, &choice, &error),
                     strcmp(got, rows[row].wanted) != 0 ? GUFO_E_ARGUMENT : GUFO_OK, &error,
                     "%s without fallback", rows[row].wanted);
    }
}

/* 8 rows of 288: Q5_0 takes 9 * 22 bytes a row, Q4_K would take 288 / 256 * 144 = 162; and F16 for
 * 40 columns 80 bytes instead of 22.5. */
static void test_fallback_cost(void **state)
{
    gufo_recipe_options options = {.target = target_of("Q4_K", true)};
    gufo_recipe_choice choice;
    gufo_error error = no_error();

    (void)state;
    check_ok(choose_one(&options, matrix("a.weight", GUFO_TYPE_F32, 288, 8), &choice, &error),
             &error, "288");
    check_u64(choice.size, 8 * 198, "size");
    check(choice.fallback_cost == 8 * (198 - 162), "cost %" PRId64, choice.fallback_cost);
    check_ok(choose_one(&options, matrix("a.weight", GUFO_TYPE_F32, 40, 8), &choice, &error),
             &error, "40");
    check(choice.size == 640 && choice.fallback_cost == 640 - 180, "cost %" PRId64,
          choice.fallback_cost);
    check_ok(choose_one(&options, matrix("a.weight", GUFO_TYPE_F32, 256, 8), &choice, &error),
             &error, "256");
    check(choice.size == 8 * 144 && choice.fallback_cost == 0, "no fallback");
}

/* Types that the user gave for embedding and output are taken at their word. */
static void test_given_types_do_not_fall_back(void **state)
{
    gufo_recipe_options options = {.target = target_of("Q8_0", false)};
    gufo_recipe_choice choice;
    gufo_error error = no_error();

    (void)state;
    options.token_embedding_type = type("Q4_K");
    check_status(
        choose_one(&options, matrix("token_embd.weight", GUFO_TYPE_F32, 288, 8), &choice, &error),
        GUFO_E_ARGUMENT, &error, "288 columns");
    check_ok(
        choose_one(&options, matrix("token_embd.weight", GUFO_TYPE_F32, 512, 8), &choice, &error),
        &error, "512 columns");
    check_type(&choice, "Q4_K", "512 columns");
    options.token_embedding_type = type("Q4_3");
    check_status(
        choose_one(&options, matrix("token_embd.weight", GUFO_TYPE_F32, 512, 8), &choice, &error),
        GUFO_E_TYPE, &error, "nothing encodes it");
    check_error_shape(&error, GUFO_E_TYPE, "nothing encodes it");
}

/* ---- what cannot be done -------------------------------------------------------------------- */

static void test_requantize(void **state)
{
    static const struct {
        uint32_t from;
        const char *target;
        bool allowed; /* without being asked for */
    } rows[] = {
        {GUFO_TYPE_Q8_0, "Q4_0", false},  {GUFO_TYPE_Q4_0, "Q8_0", false},
        {GUFO_TYPE_Q4_K, "Q4_K_S", true}, /* the same bytes */
        {GUFO_TYPE_Q8_0, "F16", true},    {GUFO_TYPE_IQ1_S, "F32", true},
        {GUFO_TYPE_MXFP4, "BF16", true},  {GUFO_TYPE_F16, "Q4_0", true},
        {GUFO_TYPE_BF16, "Q4_0", true},   {GUFO_TYPE_F64, "Q4_0", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_options options = {.target = target_of(rows[i].target, false)};
        gufo_tensor tensor = matrix("blk.0.ffn_up.weight", rows[i].from, 512, 8);
        gufo_recipe_choice choice;
        gufo_error error = no_error();
        gufo_status status = choose_one(&options, tensor, &choice, &error);

        if (!rows[i].allowed) {
            check_error_shape(&error, GUFO_E_TYPE, rows[i].target);
            check(strstr(error.message, "blk.0.ffn_up.weight") != NULL, "%s", error.message);
        }
        check_status(status, rows[i].allowed ? GUFO_OK : GUFO_E_TYPE, &error, "row %zu", i);
        options.allow_requantize = true;
        check_ok(choose_one(&options, tensor, &choice, &error), &error, "row %zu", i);
        check(((choice.flags & GUFO_RECIPE_CONVERTS) != 0) == (choice.type != rows[i].from),
              "row %zu", i);
    }
}

static bool has_v(void *context, gufo_str name)
{
    (void)context;
    return memmem(name.data, name.len, "attn_v", 6) != NULL;
}

static void test_importance(void **state)
{
    static const struct {
        const char *target;
        bool pure;
        const char *name;
        uint32_t flags;
    } rows[] = {
        {"IQ1_S", true, "a.weight", GUFO_RECIPE_IMPOSSIBLE},
        {"IQ2_XXS", true, "a.weight", GUFO_RECIPE_IMPOSSIBLE},
        {"IQ2_XS", true, "a.weight", GUFO_RECIPE_IMPOSSIBLE},
        {"IQ2_XS", true, "token_embd.weight", GUFO_RECIPE_IMPOSSIBLE},
        {"IQ1_M", true, "a.weight", GUFO_RECIPE_POOR},
        {"IQ2_S", true, "a.weight", GUFO_RECIPE_POOR},
        {"IQ3_XXS", true, "a.weight", GUFO_RECIPE_POOR},
        {"IQ3_XXS", true, "token_embd.weight", 0},
        {"Q2_K_S", false, "a.weight", GUFO_RECIPE_POOR},
        {"Q2_K", false, "a.weight", 0},
        {"IQ3_S", false, "a.weight", 0},
        {"IQ1_M", true, "blk.0.attn_v.weight", 0}, /* there is some for it */
        {"IQ2_XS", true, "blk.0.attn_v.weight", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_options options = {.target = target_of(rows[i].target, rows[i].pure),
                                       .has_importance = has_v,
                                       .output_type = type("F16")};
        gufo_tensor tensor = matrix(rows[i].name, GUFO_TYPE_F32, 512, 8);
        gufo_recipe_choice choice;
        gufo_error error = no_error();
        bool impossible = rows[i].flags == GUFO_RECIPE_IMPOSSIBLE;
        gufo_status status = choose_one(&options, tensor, &choice, &error);

        if (impossible)
            check_error_shape(&error, GUFO_E_NOT_FOUND, rows[i].target);
        check_status(status, impossible ? GUFO_E_NOT_FOUND : GUFO_OK, &error, "row %zu", i);
        options.plan_only = true;
        check_ok(choose_one(&options, tensor, &choice, &error), &error, "row %zu", i);
        check_u64(choice.flags, rows[i].flags | GUFO_RECIPE_CONVERTS, "row %zu", i);
    }
}

/* As in another model: F16, whatever the tensor is, and Q6_K where the name says so. */
static const gufo_element_type *type_in_other(void *context, const gufo_quantize_target *target,
                                              gufo_str name)
{
    bool quantized = memchr(name.data, '6', name.len) != NULL;

    (void)context, (void)target;
    return memchr(name.data, '-', name.len) != NULL
               ? NULL
               : gufo_element_type_by_id(quantized ? GUFO_TYPE_Q6_K : GUFO_TYPE_F16);
}

static void test_types_of_a_model(void **state)
{
    const gufo_recipe_options options = {.target = target_of("Q4_0", false),
                                         .model_type = type_in_other};
    const struct {
        gufo_tensor tensor;
        uint32_t type;
        gufo_recipe_reason reason;
        uint32_t flags;
    } rows[] = {
        {matrix("blk.0.attn_q.weight", GUFO_TYPE_F32, 512, 8), GUFO_TYPE_F16, GUFO_REASON_MODEL,
         GUFO_RECIPE_CONVERTS},
        {matrix("blk.0.attn_norm.weight", GUFO_TYPE_F32, 512, 1), GUFO_TYPE_F16, GUFO_REASON_MODEL,
         GUFO_RECIPE_CONVERTS},
        {matrix("blk.0.bias", GUFO_TYPE_F16, 512, 8), GUFO_TYPE_F16, GUFO_REASON_MODEL, 0},
        {matrix("blk.6.a", GUFO_TYPE_F32, 96, 8), GUFO_TYPE_Q8_0, GUFO_REASON_MODEL,
         GUFO_RECIPE_CONVERTS | GUFO_RECIPE_FELL_BACK},
        {matrix("blk.0.ids", GUFO_TYPE_I32, 8, 1), GUFO_TYPE_I32, GUFO_REASON_SHAPE, 0},
        {matrix("blk.0.a-.weight", GUFO_TYPE_F32, 512, 8), GUFO_TYPE_Q4_0, GUFO_REASON_TARGET,
         GUFO_RECIPE_CONVERTS},
        {matrix("blk.0.-norm", GUFO_TYPE_F32, 512, 1), GUFO_TYPE_F32, GUFO_REASON_SHAPE, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_choice choice;
        gufo_error error = no_error();

        check_ok(choose_one(&options, rows[i].tensor, &choice, &error), &error, "%zu", i);
        check_u64(choice.type, rows[i].type, "%zu: type", i);
        check_u64(choice.reason, rows[i].reason, "%zu: reason", i);
        check_u64(choice.flags, rows[i].flags, "%zu: flags", i);
    }
}

static void test_too_large(void **state)
{
    gufo_recipe_options options = {.target = target_of("F32", false)};
    gufo_recipe_choice choice;
    gufo_error error = no_error();

    (void)state;
    check_status(choose_one(&options,
                            matrix("a.weight", GUFO_TYPE_F16, UINT64_C(1) << 40, UINT64_C(1) << 30),
                            &choice, &error),
                 GUFO_E_RANGE, &error, "2^70 elements");
    check_status(choose_one(&options,
                            matrix("a.weight", GUFO_TYPE_F16, UINT64_C(1) << 31, UINT64_C(1) << 30),
                            &choice, &error),
                 GUFO_E_RANGE, &error, "2^63 bytes");
}

/* Any request for memory may fail. */
static void test_memory(void **state)
{
    counter c;
    gufo_error error = no_error();
    model *m = calloc(1, sizeof *m);
    gufo_recipe_options options = {.target = target_of("Q4_K_M", false)};

    (void)state;
    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);
    options.allocator = &allocator;
    make_small_model(m);
    check_ok(model_choose(m, &options, &no_model, &error), &error, "enough");
    for (size_t at = 1, calls = c.calls; at <= calls; at++) {
        c.calls = 0;
        c.fail_at = at;
        check_status(model_choose(m, &options, &no_model, &error), GUFO_E_MEMORY, &error, "%zu",
                     at);
        check_u64(c.in_use, 0, "%zu", at);
    }
    check_ok(gufo_recipe_choose(&options, &no_model, NULL, 0, NULL, &error), &error, "no tensors");
    free(m);
}

/* ---- the model ------------------------------------------------------------------------------ */

/* Only models of these shapes are of the class "70B", where values get Q5_K instead of Q4_K;
 * falcon's output is Q8_0. */
static void test_models(void **state)
{
    static const struct {
        const char *architecture;
        uint64_t layers, heads, key_value_heads, experts;
        const char *v, *output;
    } rows[] = {
        {"llama", 80, 64, 8, 0, "Q5_K", "Q6_K"},
        {"llama", 80, 64, 64, 0, "Q3_K", "Q6_K"},
        {"llama", 79, 64, 8, 0, "Q4_K", "Q6_K"},
        {"qwen2", 80, 64, 8, 0, "Q5_K", "Q6_K"},
        {"qwen2", 80, 64, 64, 0, "Q5_K", "Q6_K"},
        {"olmo", 80, 64, 64, 0, "Q5_K", "Q6_K"},
        {"deci", 80, 64, 8, 0, "Q5_K", "Q6_K"},
        {"jais2", 68, 64, 64, 0, "Q5_K", "Q6_K"},
        {"jais2", 80, 64, 8, 0, "Q4_K", "Q6_K"},
        {"qwen3", 80, 64, 8, 0, "Q4_K", "Q6_K"},
        {"llama", 80, 64, 8, 8, "Q8_0", "Q6_K"},
        {"llama", 4, 31, 8, 0, "Q3_K", "Q6_K"},
        {"llama", 4, 32, 8, 0, "Q4_K", "Q6_K"},
        {"llama", 4, 8, 0, 0, "Q3_K", "Q6_K"},
        {"falcon", 4, 8, 8, 0, "Q3_K", "Q8_0"},
        {"", 0, 0, 0, 0, "Q3_K", "Q6_K"},
        {"llama", UINT64_MAX, UINT64_MAX, 1, UINT64_MAX, "Q4_K", "Q6_K"},
    };
    gufo_recipe_options options = {.target = target_of("Q2_K", false)};
    model *m = calloc(1, sizeof *m);

    (void)state;
    make_small_model(m);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_recipe_model facts = {.architecture = gufo_str_of(rows[i].architecture),
                                   .layers = rows[i].layers,
                                   .heads = rows[i].heads,
                                   .key_value_heads = rows[i].key_value_heads,
                                   .experts = rows[i].experts};
        gufo_error error = no_error();
        char label[32];

        snprintf(label, sizeof label, "row %zu", i);
        check_ok(model_choose(m, &options, &facts, &error), &error, "%s", label);
        check_type(model_choice(m, "blk.0.attn_v.weight"), rows[i].v, label);
        check_type(model_choice(m, "output.weight"), rows[i].output, label);
    }
    free(m);
}

/* In models with experts the number in the name counts, not the place in the row; and the number of
 * layers follows from names where metadata lacks it. */
static void test_places(void **state)
{
    gufo_recipe_options options = {.target = target_of("Q4_K_S", false)};
    gufo_recipe_model facts = {.layers = 32, .experts = 4};
    model *m = calloc(1, sizeof *m);
    gufo_error error = no_error();

    (void)state;
    model_add(m, GUFO_TYPE_F16, 512, 8, 4, "blk.20.ffn_down_exps.weight");
    model_add(m, GUFO_TYPE_F16, 512, 8, 4, "blk.3.ffn_down_exps.weight");
    model_add(m, GUFO_TYPE_F16, 512, 8, 4, "ffn_down_without_layer.weight");
    check_ok(model_choose(m, &options, &facts, &error), &error, "experts");
    check_type(model_choice(m, "blk.20.ffn_down_exps.weight"), "Q4_K", "layer 20");
    check_type(model_choice(m, "blk.3.ffn_down_exps.weight"), "Q5_K", "layer 3");
    check_type(model_choice(m, "ffn_down_without_layer.weight"), "Q5_K", "first of the row");
    facts = (gufo_recipe_model){.experts = 0};
    model_clear(m);
    for (unsigned i = 0; i < 24; i++)
        model_add(m, GUFO_TYPE_F16, 512, 8, 1, "blk.%u.ffn_down.weight", i);
    check_ok(model_choose(m, &options, &facts, &error), &error, "no metadata");
    check_type(model_choice(m, "blk.2.ffn_down.weight"), "Q5_K", "the third of 24");
    check_type(model_choice(m, "blk.3.ffn_down.weight"), "Q4_K", "the fourth");
    check_type(model_choice(m, "blk.10.ffn_down.weight"), "Q4_K", "by number, not by letters");
    free(m);
}

static void test_model_read(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_recipe_model facts;
    gufo_error error = no_error();

    (void)state;
    builder_header(&b, 0, 5);
    builder_kv_str(&b, "general.architecture", "deci");
    builder_kv_u32(&b, "deci.block_count", 80);
    builder_kv_array(&b, "deci.attention.head_count", GUFO_VALUE_INT32, 2);
    builder_u32(&b, 64);
    builder_u32(&b, 0);
    builder_kv_array(&b, "deci.attention.head_count_kv", GUFO_VALUE_UINT32, 0);
    builder_kv_str(&b, "deci.expert_count", "eight");
    gufo_model *file = gufo_model_open_memory(b.data, b.len, NULL, &error);
    check(file != NULL, "%s", error.message);
    gufo_model_recipe_facts(file, &facts);
    check_str(facts.architecture, "deci", "architecture");
    check_u64(facts.layers, 80, "layers");
    check_u64(facts.heads, 64, "heads: the first layer's");
    check_u64(facts.key_value_heads, 64, "none: as many as heads");
    check_u64(facts.experts, 0, "no number");
    gufo_model_free(file);
    builder_free(&b);
}

/* The draft of version 1 had other names. */
static void test_model_read_draft(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_recipe_model facts;
    gufo_error error = no_error();

    (void)state;
    builder_header(&b, 0, 3);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_u32(&b, "llama.num_layers", 80);
    builder_kv_u32(&b, "llama.attention.num_heads", 64);
    gufo_model *file = gufo_model_open_memory(b.data, b.len, NULL, &error);
    check(file != NULL, "%s", error.message);
    gufo_model_recipe_facts(file, &facts);
    check_u64(facts.layers, 80, "layers");
    check_u64(facts.heads, 64, "heads");
    check_u64(facts.key_value_heads, 64, "as many as heads");
    gufo_model_free(file);
    builder_free(&b);
}

/* A file without metadata, and one whose architecture is longer than any. */
static void test_model_read_nothing(void **state)
{
    char name[300];
    gufo_recipe_model facts;
    gufo_error error = no_error();

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        builder b = builder_new((encoding){3, false});

        builder_header(&b, 0, i);
        if (i == 1)
            builder_kv_str(&b, "general.architecture", name);
        gufo_model *file = gufo_model_open_memory(b.data, b.len, NULL, &error);
        check(file != NULL, "%s", error.message);
        gufo_model_recipe_facts(file, &facts);
        check(facts.architecture.len == 0 && facts.layers == 0 && facts.heads == 0 &&
                  facts.key_value_heads == 0 && facts.experts == 0,
              "%u", i);
        gufo_model_free(file);
        builder_free(&b);
    }
}

static void test_token_embedding(void **state)
{
    (void)state;
    check(recipe_kind(gufo_str_of("token_embd.weight")) == KIND_EMBEDDING, "token_embd");
    check(recipe_kind(gufo_str_of("per_layer_token_embd.weight")) == KIND_EMBEDDING, "per layer");
    check(recipe_kind(gufo_str_of("token_embd.bias")) != KIND_EMBEDDING, "bias");
    check(recipe_kind(gufo_str_of("x.token_embd.weight")) != KIND_EMBEDDING, "part of a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_target_names),
        cmocka_unit_test(test_kept_names),
        cmocka_unit_test(test_kept_others),
        cmocka_unit_test(test_removed_types),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_no_file_type),
        cmocka_unit_test(test_tied_output_type),
        cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_fallback_cost),
        cmocka_unit_test(test_given_types_do_not_fall_back),
        cmocka_unit_test(test_requantize),
        cmocka_unit_test(test_importance),
        cmocka_unit_test(test_types_of_a_model),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_model_read),
        cmocka_unit_test(test_model_read_draft),
        cmocka_unit_test(test_model_read_nothing),
        cmocka_unit_test(test_token_embedding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
