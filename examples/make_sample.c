/* Writes a tiny but complete model: `make_sample OUT.gguf`.
 *
 * It is a llama of two blocks with a vocabulary of single bytes: every key, every token and every
 * tensor that a program needs to run such a model, in about 250 KB.  The weights are noise made
 * with integers only, so that the file is the same, byte for byte, on every machine.
 *
 * The program shows how a file is written: plan (metadata, then tensors), open the output, write
 * the data, finish. */
#include <gufo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT = 256,
    EMBEDDING = 64,
    FEED_FORWARD = 160,
    BLOCKS = 2,
    HEADS = 4,
    HEADS_KV = 2,
    HEAD_SIZE = EMBEDDING / HEADS,
    KV_SIZE = HEADS_KV * HEAD_SIZE,
    BYTE_TOKENS = 256,
    FIRST_BYTE = 3, /* after <unk>, <s>, </s> */
    VOCABULARY = FIRST_BYTE + BYTE_TOKENS,
};

/* Spec, tokenizer.ggml.token_type. */
enum { TOKEN_UNKNOWN = 2, TOKEN_CONTROL = 3, TOKEN_BYTE = 6 };

/* ---- metadata ------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    const char *text;
} texts[] = {
    {"general.architecture", "llama"},
    {"general.type", "model"},
    {"general.name", "gufo sample"},
    {"general.author", "the gufo authors"},
    {"general.description", "Two blocks of noise: to look at, not to talk to."},
    {"general.license", "mit"},
    {"general.size_label", "119K"},
};

static const struct {
    const char *key;
    uint32_t number;
} numbers[] = {
    {"general.file_type", 1}, /* mostly F16 */
    {"llama.vocab_size", VOCABULARY},
    {"llama.context_length", CONTEXT},
    {"llama.embedding_length", EMBEDDING},
    {"llama.block_count", BLOCKS},
    {"llama.feed_forward_length", FEED_FORWARD},
    {"llama.rope.dimension_count", HEAD_SIZE},
    {"llama.attention.head_count", HEADS},
    {"llama.attention.head_count_kv", HEADS_KV},
    {"tokenizer.ggml.unknown_token_id", 0},
    {"tokenizer.ggml.bos_token_id", 1},
    {"tokenizer.ggml.eos_token_id", 2},
};

/* The vocabulary: three special tokens and <0x00> to <0xFF>, from which any text can be spelt. */
static gufo_status add_vocabulary(gufo_document *d, gufo_error *error)
{
    static const char *const special[FIRST_BYTE] = {"<unk>", "<s>", "</s>"};
    static char text[VOCABULARY][8];
    gufo_str tokens[VOCABULARY];
    float scores[VOCABULARY] = {0};
    int32_t types[VOCABULARY];
    gufo_status status;

    for (int i = 0; i < VOCABULARY; i++) {
        if (i < FIRST_BYTE)
            snprintf(text[i], sizeof text[i], "%s", special[i]);
        else
            snprintf(text[i], sizeof text[i], "<0x%02X>", (unsigned)(i - FIRST_BYTE));
        tokens[i] = gufo_str_of(text[i]);
        types[i] = i == 0 ? TOKEN_UNKNOWN : i < FIRST_BYTE ? TOKEN_CONTROL : TOKEN_BYTE;
    }

    const struct {
        const char *key;
        gufo_items items;
    } arrays[] = {
        {"tokenizer.ggml.tokens", {GUFO_VALUE_STRING, VOCABULARY, tokens}},
        {"tokenizer.ggml.scores", {GUFO_VALUE_FLOAT32, VOCABULARY, scores}},
        {"tokenizer.ggml.token_type", {GUFO_VALUE_INT32, VOCABULARY, types}},
    };

    status = gufo_document_set_text(d, "tokenizer.ggml.model", "llama", error);
    for (size_t i = 0; i < 3 && status == GUFO_OK; i++)
        status = gufo_document_set_array(d, arrays[i].key, &arrays[i].items, error);
    return status;
}

static gufo_status add_metadata(gufo_document *d, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == GUFO_OK; i++)
        status = gufo_document_set_text(d, texts[i].key, texts[i].text, error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == GUFO_OK; i++)
        status = gufo_document_set_u32(d, numbers[i].key, numbers[i].number, error);
    if (status == GUFO_OK)
        status = gufo_document_set_f32(d, "llama.attention.layer_norm_rms_epsilon", 1e-5f, error);
    if (status == GUFO_OK)
        status = gufo_document_set_f32(d, "llama.rope.freq_base", 10000.0f, error);
    if (status == GUFO_OK)
        status = add_vocabulary(d, error);
    if (status == GUFO_OK)
        status = gufo_document_set_bool(d, "tokenizer.ggml.add_bos_token", true, error);
    if (status == GUFO_OK)
        status = gufo_document_set_bool(d, "tokenizer.ggml.add_eos_token", false, error);
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A matrix is stored row by row: dims[0] is the length of a row, that is the input of the layer.
 * Vectors (rows == 0) hold the factors of a norm and stay in F32. */
typedef struct tensor_shape {
    const char *name;
    uint64_t columns, rows;
} tensor_shape;

static const tensor_shape before[] = {{"token_embd.weight", EMBEDDING, VOCABULARY}};

static const tensor_shape block[] = {
    {"attn_norm.weight", EMBEDDING, 0},           {"attn_q.weight", EMBEDDING, EMBEDDING},
    {"attn_k.weight", EMBEDDING, KV_SIZE},        {"attn_v.weight", EMBEDDING, KV_SIZE},
    {"attn_output.weight", EMBEDDING, EMBEDDING}, {"ffn_norm.weight", EMBEDDING, 0},
    {"ffn_gate.weight", EMBEDDING, FEED_FORWARD}, {"ffn_up.weight", EMBEDDING, FEED_FORWARD},
    {"ffn_down.weight", FEED_FORWARD, EMBEDDING},
};

static const tensor_shape after[] = {
    {"output_norm.weight", EMBEDDING, 0},
    {"output.weight", EMBEDDING, VOCABULARY},
};

enum {
    BEFORE = sizeof before / sizeof *before,
    PER_BLOCK = sizeof block / sizeof *block,
    AFTER = sizeof after / sizeof *after,
    TENSORS = BEFORE + BLOCKS * PER_BLOCK + AFTER,
};

/* Tensor `index` of the model; `name` has room for 64 bytes. */
static tensor_shape shape_of(int index, char *name)
{
    tensor_shape shape;

    if (index < BEFORE) {
        shape = before[index];
        snprintf(name, 64, "%s", shape.name);
    } else if (index < BEFORE + BLOCKS * PER_BLOCK) {
        shape = block[(index - BEFORE) % PER_BLOCK];
        snprintf(name, 64, "blk.%d.%s", (index - BEFORE) / PER_BLOCK, shape.name);
    } else {
        shape = after[index - BEFORE - BLOCKS * PER_BLOCK];
        snprintf(name, 64, "%s", shape.name);
    }
    return shape;
}

static gufo_status add_tensors(gufo_document *d, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (int i = 0; i < TENSORS && status == GUFO_OK; i++) {
        char name[64];
        tensor_shape shape = shape_of(i, name);
        bool vector = shape.rows == 0;

        status = gufo_document_add_tensor(
            d, name, gufo_element_type_by_id(vector ? GUFO_TYPE_F32 : GUFO_TYPE_F16),
            vector ? 1 : 2, (uint64_t[]){shape.columns, shape.rows}, error);
    }
    return status;
}

/* ---- data ----------------------------------------------------------------------------------- */

/* The bits of the half-precision number k / 8192, for |k| < 1024: exact, without a float. */
static uint16_t half_of(int32_t k)
{
    uint32_t magnitude = (uint32_t)abs(k), sign = k < 0 ? 0x8000u : 0;
    uint32_t exponent = 9; /* of the highest bit of the magnitude */

    if (magnitude == 0)
        return (uint16_t)sign;
    while (!(magnitude >> exponent))
        exponent--;
    return (uint16_t)(sign | (exponent - 13 + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff));
}

/* A linear congruential generator (Knuth's MMIX); the high bits are the good ones. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 40);
}

/* Fills in the data of one tensor, in the byte order of the file (little) and returns its size. */
static size_t fill_tensor(tensor_shape shape, uint64_t *state, uint8_t *out)
{
    size_t elements = (size_t)(shape.columns * (shape.rows ? shape.rows : 1));

    if (shape.rows == 0) {
        static const uint8_t one[4] = {0x00, 0x00, 0x80, 0x3f}; /* 1.0 as F32 */

        for (size_t i = 0; i < elements; i++)
            memcpy(out + 4 * i, one, 4);
        return 4 * elements;
    }
    for (size_t i = 0; i < elements; i++) {
        uint16_t bits = half_of((int32_t)(next_random(state) % 2047) - 1023);

        out[2 * i] = (uint8_t)bits;
        out[2 * i + 1] = (uint8_t)(bits >> 8);
    }
    return 2 * elements;
}

static gufo_status write_data(gufo_job *job, gufo_error *error)
{
    static uint8_t data[2 * EMBEDDING * VOCABULARY]; /* the largest tensor */
    uint64_t state = 1;
    gufo_status status = GUFO_OK;

    for (int i = 0; i < TENSORS && status == GUFO_OK; i++) {
        char name[64];
        size_t size = fill_tensor(shape_of(i, name), &state, data);

        status = gufo_job_write(job, 0, (uint64_t)i, 0, data, size, error);
    }
    return status;
}

/* On failure freeing the job leaves everything as it was. */
static gufo_status write_file(gufo_job *job, const char *path, gufo_error *error)
{
    gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_status status = gufo_job_open(job, &options, error);

    if (status == GUFO_OK)
        status = write_data(job, error);
    return status == GUFO_OK ? gufo_job_finish(job, NULL, error) : status;
}

int main(int argc, char **argv)
{
    gufo_error error = {0};
    gufo_document *d;
    gufo_job *job = NULL;
    gufo_status status = GUFO_E_MEMORY;

    if (argc != 2) {
        fprintf(stderr, "usage: make_sample OUT.gguf\n");
        return 2;
    }
    d = gufo_document_new(NULL, &error);
    if (d)
        status = add_metadata(d, &error);
    if (status == GUFO_OK)
        status = add_tensors(d, &error);
    if (status == GUFO_OK)
        job = gufo_job_of_documents(&d, 1, NULL, &error);
    if (status == GUFO_OK)
        status = job != NULL ? write_file(job, argv[1], &error) : error.code;
    gufo_job_free(job);
    gufo_document_free(d);
    if (status != GUFO_OK)
        fprintf(stderr, "make_sample: %s: %s\n", argv[1], error.message);
    return status == GUFO_OK ? 0 : 3;
}
