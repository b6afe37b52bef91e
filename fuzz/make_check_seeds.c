/* Writes the seeds of fuzz_check, or checks them: `make_check_seeds [--check] FOLDER`.
 *
 * They are small files of each kind that the validator knows: a model, two vocabularies, an adapter.
 * All come out of the library. */
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

static void add_text(gufo_writer *w, const char *key, const char *text)
{
    need(gufo_writer_add_text(w, key, text, &error) == GUFO_OK);
}

static void add_u32(gufo_writer *w, const char *key, uint32_t number)
{
    need(gufo_writer_add_u32(w, key, number, &error) == GUFO_OK);
}

static void add_f32(gufo_writer *w, const char *key, float number)
{
    need(gufo_writer_add_f32(w, key, number, &error) == GUFO_OK);
}

static void add_texts(gufo_writer *w, const char *key, const char *const *texts, size_t count)
{
    gufo_str views[16];
    const gufo_items items = {GUFO_VALUE_STRING, count, views};

    for (size_t i = 0; i < count; i++)
        views[i] = gufo_str_of(texts[i]);
    need(gufo_writer_add_array(w, key, &items, &error) == GUFO_OK);
}

static void add_numbers(gufo_writer *w, const char *key, gufo_value_type type, const void *numbers,
                        size_t count)
{
    const gufo_items items = {type, count, numbers};

    need(gufo_writer_add_array(w, key, &items, &error) == GUFO_OK);
}

static void add_tensor(gufo_writer *w, const char *name, uint64_t columns, uint64_t rows)
{
    const uint64_t dims[2] = {columns, rows};

    need(gufo_writer_add_tensor(w, gufo_str_of(name), GUFO_TYPE_F32, rows > 1 ? 2 : 1, dims, 0,
                                &error) == GUFO_OK);
}

/* ---- the seeds ------------------------------------------------------------------------------ */

enum { TOKENS = 6, WIDTH = 4, HIDDEN = 8 };

static void add_tokens(gufo_writer *w)
{
    static const char *const tokens[TOKENS] = {"<unk>", "<s>", "</s>", "<0x0A>", "a", "ab"};
    static const float scores[TOKENS] = {0, 0, 0, 0, -1, -2};
    static const int32_t types[TOKENS] = {2, 3, 3, 6, 1, 1};

    add_text(w, "tokenizer.ggml.model", "llama");
    add_text(w, "tokenizer.ggml.pre", "default");
    add_texts(w, "tokenizer.ggml.tokens", tokens, TOKENS);
    add_numbers(w, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, scores, TOKENS);
    add_numbers(w, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, types, TOKENS);
    add_u32(w, "tokenizer.ggml.bos_token_id", 1);
    add_u32(w, "tokenizer.ggml.eos_token_id", 2);
}

static void add_general(gufo_writer *w, const char *type)
{
    static const char *const languages[] = {"en", "de"};

    add_text(w, "general.architecture", "llama");
    add_text(w, "general.type", type);
    add_text(w, "general.name", "Tiny");
    add_text(w, "general.license", "MIT OR Apache-2.0");
    add_text(w, "general.uuid", "ef001206-dadc-5f6d-a15f-3359e577d4e5");
    add_text(w, "general.url", "https://example.org/tiny");
    add_texts(w, "general.languages", languages, 2);
    add_u32(w, "general.base_model.count", 1);
    add_text(w, "general.base_model.0.name", "Base");
}

static void vocabulary(gufo_writer *w)
{
    add_general(w, "vocab");
    add_tokens(w);
    add_text(w, "tokenizer.chat_template",
             "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}");
}

static void merges(gufo_writer *w)
{
    static const char *const tokens[] = {"a", "b", "ab", "c", "abc"};
    static const char *const list[] = {"a b", "ab c"};
    static const int32_t types[] = {1, 1, 1, 1, 1};

    add_text(w, "general.architecture", "gpt2");
    add_text(w, "tokenizer.ggml.model", "gpt2");
    add_text(w, "tokenizer.ggml.pre", "gpt-2");
    add_texts(w, "tokenizer.ggml.tokens", tokens, 5);
    add_numbers(w, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, types, 5);
    add_texts(w, "tokenizer.ggml.merges", list, 2);
}

static void model(gufo_writer *w)
{
    add_general(w, "model");
    add_u32(w, "general.file_type", 0);
    add_u32(w, "llama.context_length", 32);
    add_u32(w, "llama.embedding_length", WIDTH);
    add_u32(w, "llama.block_count", 1);
    add_u32(w, "llama.feed_forward_length", HIDDEN);
    add_u32(w, "llama.rope.dimension_count", 2);
    add_u32(w, "llama.attention.head_count", 2);
    add_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add_tokens(w);
    add_tensor(w, "token_embd.weight", WIDTH, TOKENS);
    add_tensor(w, "output_norm.weight", WIDTH, 1);
    add_tensor(w, "blk.0.attn_norm.weight", WIDTH, 1);
    add_tensor(w, "blk.0.attn_q.weight", WIDTH, WIDTH);
    add_tensor(w, "blk.0.attn_k.weight", WIDTH, WIDTH);
    add_tensor(w, "blk.0.attn_v.weight", WIDTH, WIDTH);
    add_tensor(w, "blk.0.attn_output.weight", WIDTH, WIDTH);
    add_tensor(w, "blk.0.ffn_norm.weight", WIDTH, 1);
    add_tensor(w, "blk.0.ffn_gate.weight", WIDTH, HIDDEN);
    add_tensor(w, "blk.0.ffn_up.weight", WIDTH, HIDDEN);
    add_tensor(w, "blk.0.ffn_down.weight", HIDDEN, WIDTH);
}

static void adapter(gufo_writer *w)
{
    add_general(w, "adapter");
    add_text(w, "adapter.type", "lora");
    add_f32(w, "adapter.lora.alpha", 16);
    add_tensor(w, "blk.0.attn_q.weight.lora_a", WIDTH, 2);
    add_tensor(w, "blk.0.attn_q.weight.lora_b", 2, WIDTH);
}

static const struct {
    const char *name;
    void (*make)(gufo_writer *w);
} seeds[] = {
    {"vocabulary", vocabulary}, {"merges", merges}, {"model", model}, {"adapter", adapter}};

/* ---- files ---------------------------------------------------------------------------------- */

/* Tensor data is zeros. */
static void write_seed(size_t index, const char *path)
{
    static const uint8_t zeros[4096];
    gufo_writer *w = gufo_writer_new(NULL, &error);
    uint64_t offset, size;

    need(w != NULL);
    seeds[index].make(w);
    need(gufo_writer_open_path(w, path, true, &error) == GUFO_OK);
    for (uint64_t i = 0; gufo_writer_tensor(w, i, &offset, &size); i++)
        need(size <= sizeof zeros &&
             gufo_writer_write(w, i, 0, zeros, (size_t)size, &error) == GUFO_OK);
    need(gufo_writer_finish(w, &error) == GUFO_OK);
    gufo_writer_free(w);
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
