/* Writes a small Qwen3 model as Hugging Face's libraries save it: config.json, tokenizer.json,
 * tokenizer_config.json, and its tensors as safetensors.
 *
 *     make_checkpoint DIR [WORD VALUE]...
 *
 *     type NAME     of all tensors: bf16 (as it comes), f16 or f32
 *     shards N      files of tensors, with an index if there are several (1)
 *     layers N      (2)
 *     embd N        (64); the feed-forward part is twice as wide
 *     packed HOW    the query matrices: gptq, mxfp4 or nvfp4
 *
 * DIR exists.  The vocabulary: 256 bytes, two words of two, and the end of a text.  Numbers are the
 * same in every run. */
#include "base/bytes.h"
#include "codec/half.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 259, HEADS = 4, NAME = 96, PATH = 512, MOST_TENSORS = 1024 };

/* A type, as this program, safetensors and config.json call it. */
typedef struct number_type {
    const char *name, *tensor, *config;
    uint32_t size;
} number_type;

typedef struct tensor {
    char name[NAME];
    uint64_t rows, columns; /* one row: a vector */
    const number_type *type;
    uint32_t bits; /* of each of its numbers; 0: they differ */
    uint32_t shard;
} tensor;

static const number_type types[] = {
    {"bf16", "BF16", "bfloat16", 2}, {"f16", "F16", "float16", 2}, {"f32", "F32", "float32", 4}};

enum { BF16, F16, F32, TYPE_COUNT };

static const number_type bytes_1 = {NULL, "U8", NULL, 1}, float_8 = {NULL, "F8_E4M3", NULL, 1},
                         words_4 = {NULL, "I32", NULL, 4};

/* What a method makes of a square matrix: parts whose rows and columns are that many times fewer. */
typedef struct part {
    const char *name;
    const number_type *type;
    uint32_t rows_by, columns_by; /* 0: one number */
    uint32_t bits;
} part;

static const struct packing {
    const char *name, *settings;
    part parts[5]; /* ends with one without a name */
} packings[] = {
    {"gptq",
     "\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32, \"sym\": true",
     {{"qweight", &words_4, 8, 1, 0},
      {"qzeros", &words_4, 32, 8, 0x77777777},
      {"scales", &types[F16], 32, 1, 0x3800}}},
    {"mxfp4",
     "\"quant_method\": \"mxfp4\"",
     {{"weight_blocks", &bytes_1, 1, 2, 0}, {"weight_scales", &bytes_1, 1, 32, 0x7e}}},
    {"nvfp4",
     "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"",
     {{"weight", &bytes_1, 1, 2, 0},
      {"weight_scale", &float_8, 1, 16, 0x38},
      {"weight_scale_2", &types[F32], 0, 0, 0x3f800000},
      {"input_scale", &types[F32], 0, 0, 0x3f800000}}},
};

typedef struct maker {
    const char *folder;
    const number_type *type;
    const struct packing *packing; /* NULL: none */
    uint32_t shards, layers, embd;
    uint32_t count, random;
    tensor tensors[MOST_TENSORS];
} maker;

static FILE *create(const maker *m, const char *name)
{
    char path[PATH];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", m->folder, name);
    file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_config(const maker *m)
{
    FILE *file = create(m, "config.json");

    fprintf(file,
            "{\"architectures\": [\"Qwen3ForCausalLM\"], \"model_type\": \"qwen3\", "
            "\"hidden_size\": %" PRIu32 ", \"intermediate_size\": %" PRIu32 ", "
            "\"num_hidden_layers\": %" PRIu32 ", \"num_attention_heads\": %d, "
            "\"num_key_value_heads\": %d, \"head_dim\": %" PRIu32
            ", \"max_position_embeddings\": 2048, "
            "\"rms_norm_eps\": 1e-06, \"rope_theta\": 1000000, \"vocab_size\": %d, "
            "\"tie_word_embeddings\": false, \"torch_dtype\": \"%s\"",
            m->embd, 2 * m->embd, m->layers, HEADS, HEADS / 2, m->embd / HEADS, TOKENS,
            m->type->config);
    if (m->packing != NULL)
        fprintf(file, ", \"quantization_config\": {%s}", m->packing->settings);
    fputs("}\n", file);
    fclose(file);
}

/* The character that byte-level vocabularies have for a byte, as JSON spells it. */
static void put_byte(FILE *file, uint32_t byte)
{
    uint32_t character = byte, unprinted = 0;

    for (uint32_t i = 0; i <= byte; i++) {
        bool printed = (i >= 33 && i <= 126) || (i >= 161 && i != 173);

        character = printed ? i : 256 + unprinted;
        unprinted += !printed;
    }
    fprintf(file, "\\u%04" PRIx32, character);
}

static void write_tokenizer(const maker *m)
{
    FILE *file = create(m, "tokenizer.json");

    fputs("{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": "
          "[{\"id\": 258, \"content\": \"<|endoftext|>\", \"single_word\": false, \"lstrip\": "
          "false, \"rstrip\": false, \"normalized\": false, \"special\": true}],\n"
          "\"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\": {\"type\": \"Sequence\", "
          "\"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
          "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| "
          "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}, "
          "\"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
          "\"add_prefix_space\": false, \"trim_offsets\": false, \"use_regex\": false}]},\n"
          "\"post_processor\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
          "\"trim_offsets\": false, \"use_regex\": false}, \"decoder\": {\"type\": \"ByteLevel\", "
          "\"add_prefix_space\": false, \"trim_offsets\": false, \"use_regex\": false},\n"
          "\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, "
          "\"continuing_subword_prefix\": \"\", \"end_of_word_suffix\": \"\", \"fuse_unk\": false, "
          "\"byte_fallback\": false, \"vocab\": {",
          file);
    for (uint32_t i = 0; i < 256; i++) {
        fputc('"', file);
        put_byte(file, i);
        fprintf(file, "\": %" PRIu32 ", ", i);
    }
    fputs("\"he\": 256, \"ll\": 257}, \"merges\": [[\"h\", \"e\"], [\"l\", \"l\"]]}}\n", file);
    fclose(file);
    file = create(m, "tokenizer_config.json");
    fputs("{\"tokenizer_class\": \"Qwen2Tokenizer\", \"eos_token\": \"<|endoftext|>\", "
          "\"chat_template\": \"{% for m in messages %}{{ m['content'] }}{% endfor %}\"}\n",
          file);
    fclose(file);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void add(maker *m, const char *name, uint64_t rows, uint64_t columns)
{
    tensor *t = &m->tensors[m->count++];

    if (m->count == MOST_TENSORS)
        exit(2);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->rows = rows;
    t->columns = columns;
    t->type = m->type;
}

static void add_packed(maker *m, uint32_t layer)
{
    for (const part *p = m->packing->parts; p->name != NULL; p++) {
        tensor *t = &m->tensors[m->count];
        char name[NAME];

        snprintf(name, sizeof name, "model.layers.%" PRIu32 ".self_attn.q_proj.%s", layer, p->name);
        add(m, name, p->rows_by == 0 ? 1 : m->embd / p->rows_by,
            p->rows_by == 0 ? 1 : m->embd / p->columns_by);
        t->type = p->type;
        t->bits = p->bits;
    }
}

static void add_layer(maker *m, uint32_t layer)
{
    const uint64_t embd = m->embd, head = embd / HEADS;
    const struct {
        const char *name;
        uint64_t rows, columns;
    } rows[] = {{"input_layernorm", 1, embd},         {"self_attn.q_proj", embd, embd},
                {"self_attn.k_proj", embd / 2, embd}, {"self_attn.v_proj", embd / 2, embd},
                {"self_attn.o_proj", embd, embd},     {"self_attn.q_norm", 1, head},
                {"self_attn.k_norm", 1, head},        {"post_attention_layernorm", 1, embd},
                {"mlp.gate_proj", 2 * embd, embd},    {"mlp.up_proj", 2 * embd, embd},
                {"mlp.down_proj", embd, 2 * embd}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[NAME];

        if (m->packing != NULL && strcmp(rows[i].name, "self_attn.q_proj") == 0) {
            add_packed(m, layer);
            continue;
        }
        snprintf(name, sizeof name, "model.layers.%" PRIu32 ".%s.weight", layer, rows[i].name);
        add(m, name, rows[i].rows, rows[i].columns);
    }
}

static void add_tensors(maker *m)
{
    add(m, "model.embed_tokens.weight", TOKENS, m->embd);
    for (uint32_t i = 0; i < m->layers; i++)
        add_layer(m, i);
    add(m, "model.norm.weight", 1, m->embd);
    add(m, "lm_head.weight", TOKENS, m->embd);
    for (uint32_t i = 0; i < m->count; i++)
        m->tensors[i].shard = (uint32_t)((uint64_t)i * m->shards / m->count);
}

static uint64_t count_of(const tensor *t)
{
    return t->rows * t->columns;
}

/* Numbers from -1 to 1, or any bits where they are not those of the model's type. */
static void put_number(maker *m, const tensor *t, FILE *file)
{
    uint8_t bytes[4];
    uint32_t bits;
    float value;

    m->random = m->random * 1664525u + 1013904223u;
    value = (float)(int32_t)(m->random >> 8) / 8388608.0f - 1.0f;
    memcpy(&bits, &value, sizeof bits);
    if (t->type == &bytes_1 || t->type == &words_4)
        bits = m->random;
    if (t->bits != 0)
        store_u32(bytes, t->bits, HOST_IS_BIG_ENDIAN);
    else if (t->type == &types[F16])
        (void)store_half(bytes, value);
    else if (t->type == &types[BF16])
        store_u16(bytes, (uint16_t)(bits >> 16), HOST_IS_BIG_ENDIAN);
    else
        store_u32(bytes, bits, HOST_IS_BIG_ENDIAN);
    fwrite(bytes, 1, t->type->size, file);
}

static const char *file_name(const maker *m, uint32_t shard, char out[NAME])
{
    if (m->shards == 1)
        snprintf(out, NAME, "model.safetensors");
    else
        snprintf(out, NAME, "model-%05" PRIu32 "-of-%05" PRIu32 ".safetensors", shard + 1,
                 m->shards);
    return out;
}

static void put_header(const maker *m, uint32_t shard, FILE *file)
{
    char *text = NULL;
    size_t size;
    FILE *header = open_memstream(&text, &size);
    uint8_t bytes[8];
    uint64_t at = 0;

    fputs("{\"__metadata__\":{\"format\":\"pt\"}", header);
    for (const tensor *t = m->tensors; t < m->tensors + m->count; t++) {
        if (t->shard != shard)
            continue;
        fprintf(header, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->name, t->type->tensor);
        if (t->rows > 1)
            fprintf(header, "%" PRIu64 ",", t->rows);
        fprintf(header, "%" PRIu64, t->columns);
        fprintf(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at,
                at + count_of(t) * t->type->size);
        at += count_of(t) * t->type->size;
    }
    fputc('}', header);
    while (fflush(header) == 0 && size % 8 != 0)
        fputc(' ', header);
    fclose(header);
    store_u64(bytes, size, HOST_IS_BIG_ENDIAN);
    fwrite(bytes, 1, sizeof bytes, file);
    fwrite(text, 1, size, file);
    free(text);
}

static void write_shard(maker *m, uint32_t shard)
{
    char name[NAME];
    FILE *file = create(m, file_name(m, shard, name));

    put_header(m, shard, file);
    for (const tensor *t = m->tensors; t < m->tensors + m->count; t++)
        for (uint64_t i = 0; t->shard == shard && i < count_of(t); i++)
            put_number(m, t, file);
    fclose(file);
}

static void write_index(const maker *m)
{
    FILE *file = create(m, "model.safetensors.index.json");
    char name[NAME];

    fputs("{\"metadata\": {}, \"weight_map\": {", file);
    for (uint32_t i = 0; i < m->count; i++)
        fprintf(file, "%s\"%s\": \"%s\"", i > 0 ? ", " : "", m->tensors[i].name,
                file_name(m, m->tensors[i].shard, name));
    fputs("}}\n", file);
    fclose(file);
}

/* ---- the command line ----------------------------------------------------------------------- */

static const number_type *find_type(const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    exit(2);
}

static const struct packing *find_packing(const char *name)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (strcmp(packings[i].name, name) == 0)
            return &packings[i];
    exit(2);
}

static void read_words(maker *m, char **words)
{
    for (; words[0] != NULL && words[1] != NULL; words += 2) {
        uint32_t number = (uint32_t)strtoul(words[1], NULL, 10);

        if (strcmp(words[0], "type") == 0)
            m->type = find_type(words[1]);
        else if (strcmp(words[0], "shards") == 0)
            m->shards = number;
        else if (strcmp(words[0], "layers") == 0)
            m->layers = number;
        else if (strcmp(words[0], "embd") == 0)
            m->embd = number;
        else if (strcmp(words[0], "packed") == 0)
            m->packing = find_packing(words[1]);
        else
            exit(2);
    }
}

int main(int argc, char **argv)
{
    static maker m = {.type = types, .shards = 1, .layers = 2, .embd = 64};

    if (argc < 2)
        return 2;
    m.folder = argv[1];
    read_words(&m, argv + 2);
    add_tensors(&m);
    write_config(&m);
    write_tokenizer(&m);
    for (uint32_t i = 0; i < m.shards; i++)
        write_shard(&m, i);
    if (m.shards > 1)
        write_index(&m);
    return 0;
}
