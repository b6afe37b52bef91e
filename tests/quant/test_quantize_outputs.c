/* The bytes of outputs, and the numbers that are measured, compared with a table of their hashes.
 *
 * Inputs are made of whole numbers alone, so that they are the same everywhere.  A hash covers every byte
 * of all files and the loss of every tensor; a case that is refused has the status instead.  The table was
 * made by an earlier pipeline, from which no output may differ. */
#include "../support/codec.h"
#include "../support/quantize.h"

#include "base/hash.h"

#include <unistd.h>

/* ---- the table ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint64_t hash;
} outputs[] = {
#define OUTPUT(name, hash) {name, UINT64_C(hash)},
#include "outputs.def"
#undef OUTPUT
};

enum { ROOM = 4096 };

static bool seen[ROOM];

/* Whether the table says the same; what it does not know is printed as it has to be there. */
static void expect(const char *name, uint64_t hash)
{
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        if (strcmp(outputs[i].name, name) != 0)
            continue;
        check(!seen[i], "%s: twice", name);
        seen[i] = true;
        check(outputs[i].hash == hash, "%s: other bytes: 0x%016" PRIx64, name, hash);
        return;
    }
    check(false, "OUTPUT(\"%s\", 0x%016" PRIx64 ")", name, hash);
}

static void test_all_were_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(outputs); i++)
        check(seen[i], "%s was not made", outputs[i].name);
}

/* ---- inputs --------------------------------------------------------------------------------- */

enum { LAYERS = 3, COLUMNS = 256, SHARDS = 3 };

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 6}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 4}},
    {"blk.0.attn_k.weight", GUFO_TYPE_F32, 2, {COLUMNS, 2}},
    {"blk.0.attn_v.weight", GUFO_TYPE_BF16, 2, {COLUMNS, 3}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {96, 5}}, /* fills no blocks of 256 */
    {"blk.1.attn_output.weight", GUFO_TYPE_F32, 2, {COLUMNS, 4}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 3, 3}},
    {"blk.1.ffn_gate_inp.weight", GUFO_TYPE_F32, 2, {COLUMNS, 3}},
    {"blk.2.ffn_up.weight", GUFO_TYPE_F32, 2, {2 * COLUMNS, 3}},
    {"blk.2.empty.weight", GUFO_TYPE_F32, 2, {COLUMNS, 0}},
    {"v.blk.9.attn_v.weight", GUFO_TYPE_F16, 2, {COLUMNS, 2}},
    {"blk.2.ints", GUFO_TYPE_I32, 1, {5}},
    {"output.weight", GUFO_TYPE_F32, 2, {COLUMNS, 5}},
};

/* Rows that fill blocks of every type. */
static const test_tensor whole_tensors[] = {
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 4}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 3, 3}},
    {"blk.2.ffn_up.weight", GUFO_TYPE_F32, 2, {2 * COLUMNS, 3}},
};

/* Several units, and steps. */
static const test_tensor large_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 1500}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F16, 2, {512, 1033}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_BF16, 3, {COLUMNS, 700, 3}},
    {"blk.0.attn_gate.weight", GUFO_TYPE_F32, 2, {65536, 9}},
};

static const test_tensor old_tensors[] = {
    {"a.weight", 31, 2, {64, 12}},    {"b.weight", 32, 2, {64, 8}},
    {"c.weight", 33, 2, {4096, 200}}, {"d.weight", 36, 2, {64, 4}},
    {"e.weight", 31, 3, {64, 8, 2}},  {"f.norm", GUFO_TYPE_F32, 1, {3}},
};

static const test_tensor packed_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_Q8_0, 2, {COLUMNS, 6}},
    {"blk.0.attn_q.weight", GUFO_TYPE_Q4_K, 2, {COLUMNS, 4}},
    {"blk.0.attn_v.weight", GUFO_TYPE_IQ4_XS, 2, {COLUMNS, 4}},
    {"output.weight", GUFO_TYPE_Q6_K, 2, {COLUMNS, 5}},
};

static int shard; /* -1: of a file that is none */

static void add_shard(builder *b)
{
    builder_kv_u16(b, "split.no", (uint16_t)shard);
    builder_kv_u16(b, "split.count", SHARDS);
    builder_kv_i32(b, "split.tensors.count", COUNT_OF(tensors));
}

/* Entries of every kind. */
static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.file_type", 1);
    builder_kv_u32(b, "llama.block_count", LAYERS);
    builder_kv_array(b, "llama.attention.head_count_kv", GUFO_VALUE_UINT32, LAYERS);
    for (uint32_t i = 0; i < LAYERS; i++)
        builder_u32(b, 10 + i);
    builder_kv_array(b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 3);
    for (int i = 0; i < 3; i++)
        builder_str(b, i == 1 ? "" : "token");
    builder_kv_bool(b, "some.flag", true);
    builder_key(b, "some.nan", GUFO_VALUE_FLOAT32);
    builder_u32(b, 0x7f812345);
    if (shard >= 0)
        add_shard(b);
}

enum { ENTRIES = 7, SHARD_ENTRIES = ENTRIES + 3 };

/* Room that an edit has left. */
static void add_padded(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "gufo.padding", "                                        ");
    builder_kv_u32(b, "general.alignment", 256);
}

static test_model model_of(const test_tensor *list, size_t count)
{
    shard = -1;
    return (test_model){.encoding = {3, false},
                        .metadata = add_metadata,
                        .entries = ENTRIES,
                        .tensors = list,
                        .tensor_count = count};
}

#define MODEL_OF(list) model_of(list, COUNT_OF(list))

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct place {
    folder f;
    path_text in, out;
    gufo_imatrix *imatrix;
} place;

static uint64_t chain(uint64_t hash, const void *data, size_t size)
{
    return hash_text((hash_key){hash, size}, (gufo_str){data, size});
}

/* Its bits, in one order on every machine. */
static uint64_t chain_loss(uint64_t hash, const gufo_quantize_loss *loss)
{
    builder b = builder_new((encoding){3, false});

    builder_u64(&b, loss->count);
    builder_f64(&b, loss->square_value);
    builder_f64(&b, loss->square_error);
    builder_f32(&b, loss->largest_error);
    hash = chain(hash, b.data, b.len);
    builder_free(&b);
    return hash;
}

/* All bytes of an output, which goes; false if there is none. */
static bool chain_file(uint64_t *hash, const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);

    if (bytes == NULL)
        return false;
    *hash = chain(*hash, bytes, len);
    free(bytes);
    check(unlink(path) == 0, "%s", path);
    return true;
}

static uint64_t hash_outputs(const place *p)
{
    uint64_t hash = 0;
    size_t files = chain_file(&hash, p->out.text);

    for (int i = 1; i <= SHARDS; i++) {
        char name[64];

        snprintf(name, sizeof name, "out-%05d-of-%05d.gguf", i, SHARDS);
        files += chain_file(&hash, folder_path(&p->f, name).text);
    }
    check(files == 1 || files == SHARDS, "%zu files", files);
    return hash;
}

static uint64_t run(const place *p, const gufo_quantize_options *options)
{
    gufo_error error = no_error();
    gufo_model *input = gufo_open(p->in.text, NULL, &error);
    gufo_quantizer *q;
    gufo_quantizer_tensor tensor;
    gufo_status status;
    uint64_t hash = 0;

    check(input != NULL, "%s", error.message);
    q = gufo_quantizer_new(input, options, &error);
    status = q == NULL ? error.code : quantize_run(q, p->out.text, NULL, &error);
    if (status == GUFO_OK) {
        hash = hash_outputs(p);
        for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++)
            hash = chain_loss(hash, &tensor.loss);
    }
    gufo_quantizer_free(q);
    gufo_close(input);
    return status == GUFO_OK ? hash : (uint64_t)status;
}

static void expect_run(const place *p, const gufo_quantize_options *options, const char *format,
                       ...)
{
    char name[128];
    va_list list;

    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    expect(name, run(p, options));
}

/* Importance for most tensors: some experts were never reached, and one entry does not fit. */
static gufo_imatrix *make_importance(const folder *f)
{
    static float means[2 * COLUMNS * 3];
    static const importance_entry entries[] = {
        {"blk.0.attn_q.weight", means, COLUMNS},
        {"blk.0.attn_v.weight", means + 3, COLUMNS},
        {"blk.0.ffn_down.weight", means + 5, 96},
        {"blk.1.attn_output.weight", means + 7, COLUMNS},
        {"blk.1.ffn_down_exps.weight", means + 11, 3 * COLUMNS},
        {"blk.2.ffn_up.weight", means + 13, 2 * COLUMNS},
        {"v.blk.9.attn_v.weight", means + 17, COLUMNS},
        {"blk.0.attn_k.weight", means + 19, COLUMNS},
        {"blk.0.ffn_up.weight", means, 512},
        {"blk.0.ffn_down_exps.weight", means, 3 * COLUMNS},
        {"token_embd.weight", means, 100},
        {"output.weight", means + 23, COLUMNS},
    };
    path_text path = folder_path(f, "imatrix.dat");
    number_source source = {7};
    gufo_error error = no_error();
    gufo_imatrix *imatrix;

    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(next_number(&source) % 1000 + 1) / 64;
    write_importance(path.text, entries, COUNT_OF(entries), "text.txt");
    imatrix = gufo_imatrix_open(path.text, NULL, &error);
    check(imatrix != NULL, "%s", error.message);
    return imatrix;
}

static place place_new(const test_model *model)
{
    place p = {.f = folder_new()};

    p.in = folder_path(&p.f, "in.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    p.imatrix = make_importance(&p.f);
    write_model(p.in.text, model);
    return p;
}

static void place_end(place *p)
{
    gufo_imatrix_close(p->imatrix);
    folder_remove(&p->f);
}

static void weigh(const place *p, gufo_quantize_options *options)
{
    options->importance = p->imatrix;
    options->importance_path = gufo_str_of("some/imatrix.dat");
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void expect_both(const place *p, gufo_quantize_options *options, const char *model,
                        const char *type)
{
    options->recipe.allow_requantize = true;
    expect_run(p, options, "%s %s", model, type);
    weigh(p, options);
    expect_run(p, options, "%s %s weighed", model, type);
}

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

/* Tensors of many units. */
static void test_large(void **state)
{
    static const char *const types[] = {"COPY", "F16", "Q8_0", "Q4_K_M"};
    test_model model = MODEL_OF(large_tensors);
    place p = place_new(&model);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        expect_both(&p, &options, "large", types[i]);
    }
    place_end(&p);
}

/* Every version and byte order. */
static void test_encodings(void **state)
{
    static const char *const types[] = {"COPY", "BF16", "Q4_1", "Q4_K_M"};
    static const struct {
        const char *name;
        const test_tensor *list;
        size_t count;
    } models[] = {{"small", tensors, COUNT_OF(tensors)},
                  {"packed", packed_tensors, COUNT_OF(packed_tensors)},
                  {"interleaved", old_tensors, COUNT_OF(old_tensors)}};

    (void)state;
    for (size_t m = 0; m < COUNT_OF(models); m++) {
        for (size_t e = 0; e < ENCODING_COUNT; e++) {
            test_model model = model_of(models[m].list, models[m].count);
            char name[64];

            model.encoding = all_encodings[e];
            snprintf(name, sizeof name, "%s %s", models[m].name, encoding_name(model.encoding));
            place p = place_new(&model);

            for (size_t i = 0; i < COUNT_OF(types); i++) {
                gufo_quantize_options options = quantize_to(types[i]);

                expect_both(&p, &options, name, types[i]);
            }
            place_end(&p);
        }
    }
}

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
        {{"new.key", 7}, {.type = GUFO_VALUE_UINT8, .as.u = 9}},
        {{"some.flag", 9}, {.type = GUFO_VALUE_STRING, .as.str = {"text", 4}}},
        {{"general.alignment", 17}, {.type = GUFO_VALUE_UINT32, .as.u = 128}},
        {{"new.key", 7}, {.type = GUFO_VALUE_FLOAT64, .as.f = 0.5}},
        {{"llama.block_count", 17}, {.type = GUFO_VALUE_UINT16, .as.u = 3}},
        {{"general.file_type", 17}, {.type = GUFO_VALUE_UINT32, .as.u = 99}},
        {{"split.no", 8}, {.type = GUFO_VALUE_UINT16, .as.u = 0}},
    };

    o->overrides = overrides;
    o->override_count = COUNT_OF(overrides);
}

static void set_bad_key(gufo_quantize_options *o)
{
    static const gufo_quantize_override override = {{"bad key", 7}, {.type = GUFO_VALUE_BOOL}};

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
    write_shards(&p);
    expect_changes(&p, "merged", 0);
    expect_changes(&p, "shards", GUFO_QUANTIZE_KEEP_SPLIT);
    place_end(&p);
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
        cmocka_unit_test(test_effort),        cmocka_unit_test(test_large),
        cmocka_unit_test(test_encodings),     cmocka_unit_test(test_changes),
        cmocka_unit_test(test_shards),        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_all_were_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
