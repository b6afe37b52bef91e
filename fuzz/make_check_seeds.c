/* Writes the seeds of fuzz_check, or checks them: `make_check_seeds [--check] FOLDER`.
 *
 * They are small files of each kind that the validator knows: a model, three vocabularies (one has a
 * tokenizer.json beside it), an adapter. All come out of the library. */
#include <gufo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_error error;

static void need(bool good)
{
    if (good)
        return;
    fprintf(stderr, "make_check_seeds: %s\n", error.message);
    exit(1);
}

static void add_text(gufo_document *d, const char *key, const char *text)
{
    need(gufo_document_set_text(d, key, text, &error) == GUFO_OK);
}

static void add_u32(gufo_document *d, const char *key, uint32_t number)
{
    need(gufo_document_set_u32(d, key, number, &error) == GUFO_OK);
}

static void add_f32(gufo_document *d, const char *key, float number)
{
    need(gufo_document_set_f32(d, key, number, &error) == GUFO_OK);
}

static void add_texts(gufo_document *d, const char *key, const char *const *texts, size_t count)
{
    gufo_str views[16];
    const gufo_items items = {GUFO_VALUE_STRING, count, views};

    for (size_t i = 0; i < count; i++)
        views[i] = gufo_str_of(texts[i]);
    need(gufo_document_set_array(d, key, &items, &error) == GUFO_OK);
}

static void add_numbers(gufo_document *d, const char *key, gufo_value_type type,
                        const void *numbers, size_t count)
{
    const gufo_items items = {type, count, numbers};

    need(gufo_document_set_array(d, key, &items, &error) == GUFO_OK);
}

static void add_tensor(gufo_document *d, const char *name, uint64_t columns, uint64_t rows)
{
    const uint64_t dims[2] = {columns, rows};

    need(gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_F32), rows > 1 ? 2 : 1,
                                  dims, &error) == GUFO_OK);
}

/* ---- the seeds ------------------------------------------------------------------------------ */

enum { TOKENS = 6, WIDTH = 4, HIDDEN = 8 };

static void add_tokens(gufo_document *d)
{
    static const char *const tokens[TOKENS] = {"<unk>", "<s>", "</s>", "<0x0A>", "a", "ab"};
    static const float scores[TOKENS] = {0, 0, 0, 0, -1, -2};
    static const int32_t types[TOKENS] = {2, 3, 3, 6, 1, 1};

    add_text(d, "tokenizer.ggml.model", "llama");
    add_text(d, "tokenizer.ggml.pre", "default");
    add_texts(d, "tokenizer.ggml.tokens", tokens, TOKENS);
    add_numbers(d, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, scores, TOKENS);
    add_numbers(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, types, TOKENS);
    add_u32(d, "tokenizer.ggml.bos_token_id", 1);
    add_u32(d, "tokenizer.ggml.eos_token_id", 2);
}

static void add_general(gufo_document *d, const char *type)
{
    static const char *const languages[] = {"en", "de"};

    add_text(d, "general.architecture", "llama");
    add_text(d, "general.type", type);
    add_text(d, "general.name", "Tiny");
    add_text(d, "general.license", "MIT OR Apache-2.0");
    add_text(d, "general.uuid", "ef001206-dadc-5f6d-a15f-3359e577d4e5");
    add_text(d, "general.url", "https://example.org/tiny");
    add_texts(d, "general.languages", languages, 2);
    add_u32(d, "general.base_model.count", 1);
    add_text(d, "general.base_model.0.name", "Base");
}

static void vocabulary(gufo_document *d)
{
    add_general(d, "vocab");
    add_tokens(d);
    add_text(d, "tokenizer.chat_template",
             "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}");
}

static void merges(gufo_document *d)
{
    static const char *const tokens[] = {"a", "b", "ab", "c", "abc"};
    static const char *const list[] = {"a b", "ab c"};
    static const int32_t types[] = {1, 1, 1, 1, 1};

    add_text(d, "general.architecture", "gpt2");
    add_text(d, "tokenizer.ggml.model", "gpt2");
    add_text(d, "tokenizer.ggml.pre", "gpt-2");
    add_texts(d, "tokenizer.ggml.tokens", tokens, 5);
    add_numbers(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, types, 5);
    add_texts(d, "tokenizer.ggml.merges", list, 2);
}

/* Two tokenizers, which do not agree. */
static void original(gufo_document *d)
{
    merges(d);
    add_text(
        d, "tokenizer.huggingface.json",
        "{\"added_tokens\":[{\"id\":5,\"content\":\"<x>\"}],\"model\":{\"type\":\"BPE\",\"vocab\":"
        "{\"a\":0,\"b\":1,\"\\u0061b\":2,\"c\":3,\"abd\":4},\"merges\":[\"a b\"]}}");
}

static void model(gufo_document *d)
{
    add_general(d, "model");
    add_u32(d, "general.file_type", 0);
    add_u32(d, "llama.context_length", 32);
    add_u32(d, "llama.embedding_length", WIDTH);
    add_u32(d, "llama.block_count", 1);
    add_u32(d, "llama.feed_forward_length", HIDDEN);
    add_u32(d, "llama.rope.dimension_count", 2);
    add_u32(d, "llama.attention.head_count", 2);
    add_f32(d, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add_tokens(d);
    add_tensor(d, "token_embd.weight", WIDTH, TOKENS);
    add_tensor(d, "output_norm.weight", WIDTH, 1);
    add_tensor(d, "blk.0.attn_norm.weight", WIDTH, 1);
    add_tensor(d, "blk.0.attn_q.weight", WIDTH, WIDTH);
    add_tensor(d, "blk.0.attn_k.weight", WIDTH, WIDTH);
    add_tensor(d, "blk.0.attn_v.weight", WIDTH, WIDTH);
    add_tensor(d, "blk.0.attn_output.weight", WIDTH, WIDTH);
    add_tensor(d, "blk.0.ffn_norm.weight", WIDTH, 1);
    add_tensor(d, "blk.0.ffn_gate.weight", WIDTH, HIDDEN);
    add_tensor(d, "blk.0.ffn_up.weight", WIDTH, HIDDEN);
    add_tensor(d, "blk.0.ffn_down.weight", HIDDEN, WIDTH);
}

static void adapter(gufo_document *d)
{
    add_general(d, "adapter");
    add_text(d, "adapter.type", "lora");
    add_f32(d, "adapter.lora.alpha", 16);
    add_tensor(d, "blk.0.attn_q.weight.lora_a", WIDTH, 2);
    add_tensor(d, "blk.0.attn_q.weight.lora_b", 2, WIDTH);
}

static const struct {
    const char *name;
    void (*make)(gufo_document *d);
} seeds[] = {{"vocabulary", vocabulary},
             {"merges", merges},
             {"original", original},
             {"model", model},
             {"adapter", adapter}};

/* ---- files ---------------------------------------------------------------------------------- */

/* Tensor data is zeros. */
static void write_seed(size_t index, const char *path)
{
    static const uint8_t zeros[4096];
    gufo_document *d = gufo_document_new(NULL, &error);
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_document_tensor tensor;
    gufo_job *job;

    need(d != NULL);
    seeds[index].make(d);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    need(job != NULL && gufo_job_open(job, &options, &error) == GUFO_OK);
    for (uint64_t i = 0; gufo_document_tensor_at(d, i, &tensor); i++)
        need(tensor.size <= sizeof zeros &&
             gufo_job_write(job, 0, i, 0, zeros, (size_t)tensor.size, &error) == GUFO_OK);
    need(gufo_job_finish(job, NULL, &error) == GUFO_OK);
    gufo_job_free(job);
    gufo_document_free(d);
}

static bool same_files(const char *a, const char *b)
{
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] != NULL && files[1] != NULL;
    int byte;

    while (same && (byte = getc(files[0])) != EOF)
        same = getc(files[1]) == byte;
    same = same && getc(files[1]) == EOF;
    for (int i = 0; i < 2; i++)
        if (files[i] != NULL)
            fclose(files[i]);
    return same;
}

/* Whether a seed in the folder is the one that is written now. */
static bool check_seed(size_t index, const char *path)
{
    char fresh[64];
    bool same;

    snprintf(fresh, sizeof fresh, "./check-seed-%zu.gguf", index);
    write_seed(index, fresh);
    same = same_files(path, fresh);
    remove(fresh);
    if (!same)
        fprintf(stderr, "%s: is missing, or has other content\n", path);
    return same;
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0, good = true;

    if (argc != 2 && !check) {
        fprintf(stderr, "usage: make_check_seeds [--check] FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s.gguf", argv[argc - 1], seeds[i].name);
        if (check)
            good &= check_seed(i, path);
        else
            write_seed(i, path);
    }
    return good ? 0 : 1;
}
