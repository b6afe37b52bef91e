/* Writes a language model of a wanted size whose weights are random: something to quantize.
 *
 *     make_llama [--size MB] [--type F16|BF16|F32] [--imatrix FILE] [--adapter FILE [--rank R]] OUT
 *
 * It has the tensors and the metadata of a small llama, with as many layers as the size (500 MB by
 * default; one layer at least) has room for, and no vocabulary.  Weights are sums of uniform
 * numbers, made with integer arithmetic: the same file everywhere.  Their mean is 0, their standard
 * deviation 0.02.
 *
 * --imatrix writes a matching importance matrix, in the format that has no header:
 *
 *     int32 entries
 *     entries x { int32 length, name, int32 calls, int32 values, values x float32 (sum of calls) }
 *     int32 calls, int32 length, name of the data set
 *
 * There is an entry for every matrix inside the layers; values are roughly log-normal.
 *
 * --adapter writes a LoRA adapter of rank R (16) for every matrix inside the layers. */
#include <gufo.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EMBEDDING = 1024,
    FEED_FORWARD = 2816,
    HEADS = 16,
    KEY_VALUE_HEADS = 4,
    KEY_VALUE = EMBEDDING / HEADS * KEY_VALUE_HEADS,
    VOCABULARY = 32000,
    CALLS = 4,        /* of which the importance matrix is the sum */
    CHUNK_ROWS = 256, /* made and written at once */
    MAX_COLUMNS = FEED_FORWARD,
};

_Noreturn static void die(const char *what, const char *message)
{
    fprintf(stderr, "make_llama: %s: %s\n", what, message);
    exit(1);
}

static void check(gufo_status status, const gufo_error *error)
{
    if (status != GUFO_OK)
        die("the model", error->message);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* splitmix64, Steele, Lea and Flood 2014. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The sum of four numbers from -2^15 to 2^15 - 1: close to gaussian, with a standard deviation of
 * DEVIATION. */
#define DEVIATION 37837
static int32_t next_sum(uint64_t *state)
{
    uint64_t random = next_random(state);
    int32_t sum = -4 * 0x8000;

    for (int i = 0; i < 4; i++, random >>= 16)
        sum += (int32_t)(random & 0xffff);
    return sum;
}

/* 2^(exponent / 65536), with straight lines between the powers of two: the exponent of a float
 * grows by one whenever its 23 bits of fraction run over. */
static float power_of_two(int32_t exponent)
{
    uint32_t bits = (uint32_t)(127 * 0x800000 + exponent * (0x800000 / 0x10000));
    float power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef struct shape {
    const char *name;
    uint32_t columns;
    uint32_t rows; /* 0: a vector, which is F32 in every model */
} shape;

static const shape before_layers[] = {
    {"token_embd.weight", EMBEDDING, VOCABULARY},
};

static const shape in_layer[] = {
    {"attn_norm.weight", EMBEDDING, 0},           {"attn_q.weight", EMBEDDING, EMBEDDING},
    {"attn_k.weight", EMBEDDING, KEY_VALUE},      {"attn_v.weight", EMBEDDING, KEY_VALUE},
    {"attn_output.weight", EMBEDDING, EMBEDDING}, {"ffn_norm.weight", EMBEDDING, 0},
    {"ffn_gate.weight", EMBEDDING, FEED_FORWARD}, {"ffn_up.weight", EMBEDDING, FEED_FORWARD},
    {"ffn_down.weight", FEED_FORWARD, EMBEDDING},
};

static const shape after_layers[] = {
    {"output_norm.weight", EMBEDDING, 0},
    {"output.weight", EMBEDDING, VOCABULARY},
};

enum { LAYER_TENSORS = sizeof in_layer / sizeof *in_layer };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t weights_of(const shape *shapes, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (uint64_t)shapes[i].columns * shapes[i].rows;
    return sum;
}

typedef struct model {
    const gufo_element_type *type;
    uint32_t layers;
    gufo_document *document;
    gufo_job *job;
    gufo_encoder *encoder;
    uint64_t tensors; /* written so far */
    uint64_t random;
    uint32_t rank; /* of the adapter */
} model;

static uint32_t choose_layers(const model *m, uint64_t bytes)
{
    uint64_t weights = bytes / m->type->block_bytes;
    uint64_t outside = weights_of(before_layers, COUNT(before_layers)) +
                       weights_of(after_layers, COUNT(after_layers));
    uint64_t layer = weights_of(in_layer, LAYER_TENSORS);

    return weights < outside + 2 * layer ? 1 : (uint32_t)((weights - outside) / layer);
}

/* Calls `visit` for all tensors, in the order of the file; `layer` is -1 outside the layers. */
static void for_each_tensor(model *m, void (*visit)(model *m, const shape *s, gufo_str name))
{
    char name[64];

    for (size_t i = 0; i < COUNT(before_layers); i++)
        visit(m, &before_layers[i], gufo_str_of(before_layers[i].name));
    for (uint32_t layer = 0; layer < m->layers; layer++) {
        for (size_t i = 0; i < LAYER_TENSORS; i++) {
            snprintf(name, sizeof name, "blk.%" PRIu32 ".%s", layer, in_layer[i].name);
            visit(m, &in_layer[i], gufo_str_of(name));
        }
    }
    for (size_t i = 0; i < COUNT(after_layers); i++)
        visit(m, &after_layers[i], gufo_str_of(after_layers[i].name));
}

/* ---- the model ------------------------------------------------------------------------------ */

static void add_metadata(model *m)
{
    static const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {
        {"llama.context_length", 4096},
        {"llama.embedding_length", EMBEDDING},
        {"llama.feed_forward_length", FEED_FORWARD},
        {"llama.attention.head_count", HEADS},
        {"llama.attention.head_count_kv", KEY_VALUE_HEADS},
        {"llama.rope.dimension_count", EMBEDDING / HEADS},
        {"llama.vocab_size", VOCABULARY},
    };
    gufo_document *d = m->document;
    gufo_error e;

    check(gufo_document_set_text(d, "general.architecture", "llama", &e), &e);
    check(gufo_document_set_text(d, "general.name", "random llama", &e), &e);
    for (size_t i = 0; i < COUNT(numbers); i++)
        check(gufo_document_set_u32(d, numbers[i].key, numbers[i].value, &e), &e);
    check(gufo_document_set_u32(d, "llama.block_count", m->layers, &e), &e);
    check(gufo_document_set_f32(d, "llama.attention.layer_norm_rms_epsilon", 1e-5f, &e), &e);
    check(gufo_document_set_text(d, "tokenizer.ggml.model", "no_vocab", &e), &e);
}

static void add_tensor(model *m, const shape *s, gufo_str name)
{
    uint64_t dims[] = {s->columns, s->rows};
    const gufo_element_type *type = s->rows > 0 ? m->type : gufo_element_type_by_id(GUFO_TYPE_F32);
    gufo_error e;

    check(gufo_document_add_tensor_str(m->document, name, type, s->rows > 0 ? 2 : 1, dims, &e), &e);
}

static void write_vector(model *m, const shape *s)
{
    static float ones[MAX_COLUMNS];
    gufo_error e;

    for (uint32_t i = 0; i < s->columns; i++)
        ones[i] = 1.0f;
    check(gufo_job_write(m->job, 0, m->tensors, 0, ones, s->columns * sizeof *ones, &e), &e);
}

static void write_matrix(model *m, const shape *s)
{
    static float values[CHUNK_ROWS * MAX_COLUMNS];
    static unsigned char blocks[sizeof values];
    uint64_t row_bytes;
    gufo_error e = {.message = "rows of this type have another length"};

    check(gufo_element_row_size(m->type, s->columns, &row_bytes, NULL), &e);
    for (uint32_t row = 0; row < s->rows; row += CHUNK_ROWS) {
        uint32_t rows = s->rows - row < CHUNK_ROWS ? s->rows - row : CHUNK_ROWS;

        for (size_t i = 0; i < (size_t)rows * s->columns; i++)
            values[i] = (float)next_sum(&m->random) * (0.02f / DEVIATION);
        check(gufo_encoder_encode(m->encoder, values, rows, s->columns, NULL, blocks, NULL, &e),
              &e);
        check(gufo_job_write(m->job, 0, m->tensors, row * row_bytes, blocks, rows * row_bytes, &e),
              &e);
    }
}

static void write_tensor(model *m, const shape *s, gufo_str name)
{
    (void)name;
    if (s->rows > 0)
        write_matrix(m, s);
    else
        write_vector(m, s);
    m->tensors++;
}

/* A file of what the three functions say. */
static void write_file(model *m, const char *path, void (*metadata)(model *m),
                       void (*add)(model *m, const shape *s, gufo_str name),
                       void (*write)(model *m, const shape *s, gufo_str name))
{
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_error e;

    m->tensors = 0;
    m->encoder = gufo_encoder_new(m->type, NULL, &e);
    if (!m->encoder)
        die(m->type->name, e.message);
    m->document = gufo_document_new(NULL, &e);
    if (!m->document)
        die(path, e.message);
    metadata(m);
    for_each_tensor(m, add);
    m->job = gufo_job_of_documents(&m->document, 1, NULL, &e);
    if (!m->job)
        die(path, e.message);
    check(gufo_job_open(m->job, &options, &e), &e);
    for_each_tensor(m, write);
    check(gufo_job_finish(m->job, NULL, &e), &e);
    gufo_job_free(m->job);
    gufo_document_free(m->document);
    gufo_encoder_free(m->encoder);
}

/* ---- the adapter ---------------------------------------------------------------------------- */

static void add_adapter_metadata(model *m)
{
    gufo_document *d = m->document;
    gufo_error e;

    check(gufo_document_set_text(d, "general.architecture", "llama", &e), &e);
    check(gufo_document_set_text(d, "general.type", "adapter", &e), &e);
    check(gufo_document_set_text(d, "general.name", "random adapter", &e), &e);
    check(gufo_document_set_text(d, "adapter.type", "lora", &e), &e);
    check(gufo_document_set_f32(d, "adapter.lora.alpha", (float)m->rank, &e), &e);
}

/* Every matrix inside the layers. */
static bool is_inside(const shape *s)
{
    return s->rows > 0 && s->rows != VOCABULARY;
}

/* A of a matrix is `rank` rows, B has `rank` columns. */
static void pair_of(const model *m, const shape *s, shape pair[2])
{
    pair[0] = (shape){".lora_a", s->columns, m->rank};
    pair[1] = (shape){".lora_b", m->rank, s->rows};
}

static void add_pair(model *m, const shape *s, gufo_str name)
{
    char text[96];
    shape pair[2];

    pair_of(m, s, pair);
    for (size_t i = 0; is_inside(s) && i < 2; i++) {
        snprintf(text, sizeof text, "%.*s%s", (int)name.len, name.data, pair[i].name);
        add_tensor(m, &pair[i], gufo_str_of(text));
    }
}

static void write_pair(model *m, const shape *s, gufo_str name)
{
    shape pair[2];

    pair_of(m, s, pair);
    for (size_t i = 0; is_inside(s) && i < 2; i++)
        write_tensor(m, &pair[i], name);
}

/* ---- the importance matrix ------------------------------------------------------------------ */

static FILE *matrix;

static void put(const void *data, size_t size)
{
    if (fwrite(data, 1, size, matrix) != size)
        die("the importance matrix", "cannot be written");
}

/* Little-endian, like everything that is read on most machines. */
static void put_number(uint32_t number)
{
    const unsigned char bytes[] = {(unsigned char)number, (unsigned char)(number >> 8),
                                   (unsigned char)(number >> 16), (unsigned char)(number >> 24)};

    put(bytes, sizeof bytes);
}

static void put_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_number(bits);
}

static void put_entry(model *m, const shape *s, gufo_str name)
{
    if (!is_inside(s))
        return;
    put_number((uint32_t)name.len);
    put(name.data, name.len);
    put_number(CALLS);
    put_number(s->columns);
    /* Exponents with a standard deviation of 3 * DEVIATION / 65536, or 1.7. */
    for (uint32_t i = 0; i < s->columns; i++)
        put_float(CALLS * power_of_two(3 * next_sum(&m->random)));
}

static void write_matrix_file(model *m, const char *path)
{
    static const char data_set[] = "random";
    uint32_t entries = 0;

    for (size_t i = 0; i < LAYER_TENSORS; i++)
        entries += is_inside(&in_layer[i]) ? m->layers : 0;
    matrix = fopen(path, "wb");
    if (!matrix)
        die(path, "cannot be written");
    put_number(entries);
    for_each_tensor(m, put_entry);
    put_number(CALLS);
    put_number(sizeof data_set - 1);
    put(data_set, sizeof data_set - 1);
    if (fclose(matrix) != 0)
        die(path, "cannot be written");
}

/* ---- the program ---------------------------------------------------------------------------- */

_Noreturn static void usage(void)
{
    fprintf(stderr, "usage: make_llama [--size MB] [--type F16|BF16|F32] [--imatrix FILE] "
                    "[--adapter FILE [--rank R]] OUT\n");
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"size", required_argument, NULL, 's'},    {"type", required_argument, NULL, 't'},
        {"imatrix", required_argument, NULL, 'i'}, {"adapter", required_argument, NULL, 'a'},
        {"rank", required_argument, NULL, 'r'},    {0},
    };
    model m = {.type = gufo_element_type_by_id(GUFO_TYPE_F16), .random = 1, .rank = 16};
    const char *matrix_path = NULL, *adapter_path = NULL;
    uint64_t megabytes = 500;
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 's')
            megabytes = strtoull(optarg, NULL, 10);
        else if (option == 't')
            m.type = gufo_element_type_by_name(optarg);
        else if (option == 'i')
            matrix_path = optarg;
        else if (option == 'a')
            adapter_path = optarg;
        else if (option == 'r')
            m.rank = (uint32_t)strtoul(optarg, NULL, 10);
        else
            usage();
    }
    if (optind != argc - 1 || !m.type || m.type->block_elements != 1 || m.type->block_bytes > 4 ||
        m.rank == 0 || m.rank > MAX_COLUMNS)
        usage();
    m.layers = choose_layers(&m, megabytes * 1000000);
    write_file(&m, argv[optind], add_metadata, add_tensor, write_tensor);
    if (matrix_path)
        write_matrix_file(&m, matrix_path);
    if (adapter_path) {
        m.type = gufo_element_type_by_id(GUFO_TYPE_F32);
        write_file(&m, adapter_path, add_adapter_metadata, add_pair, write_pair);
    }
    return 0;
}
