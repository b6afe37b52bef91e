/* The bytes of outputs, and the numbers that are measured, compared with a table of their hashes.
 *
 * Inputs are made of whole numbers alone, so that they are the same everywhere.  A hash covers
 * every byte of all files and the loss of every tensor; a case that is refused has the status
 * instead.  The table was made by an earlier pipeline, from which no output may differ.  Each
 * program makes some of the cases, and says which in is_mine. */
#ifndef TEST_QUANT_OUTPUTS_H
#define TEST_QUANT_OUTPUTS_H

#include "../support/codec.h"
#include "../support/pace.h"
#include "../support/quantize.h"

#include "base/hash.h"

#include <unistd.h>

/* Whether the program makes the case of that name. */
static bool is_mine(const char *name);

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
static inline void expect(const char *name, uint64_t hash)
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

static inline void test_all_were_made(void **state)
{
    (void)state;
    skip_if_emulated(); /* which leaves some out */
    for (size_t i = 0; i < COUNT_OF(outputs); i++)
        check(seen[i] == is_mine(outputs[i].name), "%s was not made here", outputs[i].name);
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

static const test_tensor packed_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_Q8_0, 2, {COLUMNS, 6}},
    {"blk.0.attn_q.weight", GUFO_TYPE_Q4_K, 2, {COLUMNS, 4}},
    {"blk.0.attn_v.weight", GUFO_TYPE_IQ4_XS, 2, {COLUMNS, 4}},
    {"output.weight", GUFO_TYPE_Q6_K, 2, {COLUMNS, 5}},
};

static int shard; /* -1: of a file that is none */

static inline void add_shard(builder *b)
{
    builder_kv_u16(b, "split.no", (uint16_t)shard);
    builder_kv_u16(b, "split.count", SHARDS);
    builder_kv_i32(b, "split.tensors.count", COUNT_OF(tensors));
}

/* Entries of every kind. */
static inline void add_metadata(builder *b)
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

static inline test_model model_of(const test_tensor *list, size_t count)
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

static inline uint64_t chain(uint64_t hash, const void *data, size_t size)
{
    return hash_text((hash_key){hash, size}, (gufo_str){data, size});
}

/* Its bits, in one order on every machine. */
static inline uint64_t chain_loss(uint64_t hash, const gufo_quantize_loss *loss)
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
static inline bool chain_file(uint64_t *hash, const char *path)
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

static inline uint64_t hash_outputs(const place *p)
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

static inline uint64_t run(const place *p, const gufo_quantize_options *options)
{
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
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
    gufo_model_free(input);
    return status == GUFO_OK ? hash : (uint64_t)status;
}

static inline void expect_run(const place *p, const gufo_quantize_options *options,
                              const char *format, ...)
{
    char name[128];
    va_list list;

    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    expect(name, run(p, options));
}

/* Importance for most tensors: some experts were never reached, and one entry does not fit. */
static inline gufo_imatrix *make_importance(const folder *f)
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

static inline place place_new(const test_model *model)
{
    place p = {.f = folder_new()};

    p.in = folder_path(&p.f, "in.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    p.imatrix = make_importance(&p.f);
    write_model(p.in.text, model);
    return p;
}

static inline void place_end(place *p)
{
    gufo_imatrix_free(p->imatrix);
    folder_remove(&p->f);
}

static inline void weigh(const place *p, gufo_quantize_options *options)
{
    options->importance = p->imatrix;
    options->importance_path = "some/imatrix.dat";
}

static inline void expect_both(const place *p, gufo_quantize_options *options, const char *model,
                               const char *type)
{
    options->recipe.allow_requantize = true;
    expect_run(p, options, "%s %s", model, type);
    weigh(p, options);
    expect_run(p, options, "%s %s weighed", model, type);
}

/* The same model in every version and byte order. */
static inline void expect_encodings(const char *model_name, const test_tensor *list, size_t count)
{
    static const char *const types[] = {"COPY", "BF16", "Q4_1", "Q4_K_M"};

    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        test_model model = model_of(list, count);
        char name[64];

        model.encoding = all_encodings[e];
        snprintf(name, sizeof name, "%s %s", model_name, encoding_name(model.encoding));
        place p = place_new(&model);

        for (size_t i = 0; i < COUNT_OF(types); i++) {
            gufo_quantize_options options = quantize_to(types[i]);

            expect_both(&p, &options, name, types[i]);
        }
        place_end(&p);
    }
}

#endif
