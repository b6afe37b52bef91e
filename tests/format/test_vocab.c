/* Real files: the vocabularies of twelve models, where the folder with them is there. */
#include "../support/shared.h"
#include "../support/walk.h"
#include "../support/sink.h"

#include <unistd.h>

typedef struct vocab {
    const char *file;
    uint64_t entries, size;
    const char *architecture, *model, *name;
    uint64_t tokens;
    const char *first, *last;
    int64_t bos;     /* -1: none */
    uint64_t merges; /* 0: none */
    uint64_t bytes;  /* of all tokens together */
} vocab;

static const vocab vocabs[] = {
    {"baichuan", 18, 1340998, "baichuan", "llama", "Baichuan-7B", 64000, "<unk>", "\xef\x87\xa9", 1,
     0, 316144},
    {"bert-bge", 20, 627549, "bert", "bert", "bert-bge", 30522, "[PAD]", "\xef\xbd\x9e", -1, 0,
     260415},
    {"deepseek-coder", 25, 1156067, "llama", "gpt2", "deepseek-coder", 32256, "!", "[PAD32255]",
     32013, 31757, 242498},
    {"deepseek-llm", 23, 3970167, "llama", "gpt2", "deepseek-llm", 102400, "!", "[PAD102399]",
     100000, 99757, 934635},
    {"falcon", 18, 2287728, "falcon", "gpt2", "Falcon", 65024, ">>TITLE<<", "\xc4\xa0victoria", 11,
     64784, 462041},
    {"gpt-2", 16, 1766807, "gpt2", "gpt2", "gpt-2", 50257, "!", "<|endoftext|>", 50256, 50000,
     356735},
    {"gpt-neox", 17, 1771431, "gptneox", "gpt2", "gpt-neox-20b", 50432, "<|endoftext|>",
     "[PAD50431]", 0, 50009, 358831},
    {"llama-spm", 22, 723869, "llama", "llama", "llama-spm", 32000, "<unk>", "\xe7\xbb\x99", 1, 0,
     210919},
    {"mpt", 17, 1771393, "mpt", "gpt2", "mpt", 50432, "<|endoftext|>", "[PAD50431]", 0, 50009,
     358831},
    {"phi-3", 26, 726019, "phi3", "llama", "Phi3", 32064, "<unk>", "[PAD32063]", 1, 0, 211596},
    {"refact", 18, 1720710, "refact", "gpt2", "Refact", 49216, "<|endoftext|>", "[PAD49215]", 0,
     48891, 345288},
    {"starcoder", 19, 1719346, "starcoder2", "gpt2", "starcoder", 49152, "<|endoftext|>", "sdb", 0,
     48872, 344855},
};

static gufo_model *open_vocab(const path_text *where, const vocab *v)
{
    char name[64];
    path_text path;
    gufo_error error = no_error();
    gufo_model *file;

    snprintf(name, sizeof name, "ggml-vocab-%s.gguf", v->file);
    path = path_join(where->text, name);
    file = gufo_model_open(path.text, NULL, &error);
    check(file != NULL, "%s: %s", path.text, error.message);
    return file;
}

static void check_text(const gufo_model *file, const vocab *v, const char *key,
                       const char *expected)
{
    gufo_error error = no_error();
    gufo_str got;

    check_ok(gufo_model_get_str(file, key, &got, &error), &error, "%s: %s", v->file, key);
    check_str(got, expected, "%s: %s", v->file, key);
}

static void check_tokens(const gufo_model *file, const vocab *v)
{
    gufo_error error = no_error();
    gufo_array tokens, merges;
    gufo_array_iter iter;
    gufo_value value;
    gufo_str first = {NULL, 0}, last = {NULL, 0};
    uint64_t bytes = 0;

    check_ok(
        gufo_model_get_array(file, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, &error),
        &error, "%s", v->file);
    check_u64(tokens.count, v->tokens, "%s", v->file);
    iter = gufo_array_start(&tokens);
    while (gufo_array_next(&iter, &value)) {
        first = iter.index == 1 ? value.as.str : first;
        last = value.as.str;
        bytes += last.len;
    }
    check(!iter.changed, "%s", v->file);
    check_u64(bytes, v->bytes, "%s", v->file);
    check_str(first, v->first, "%s", v->file);
    check_str(last, v->last, "%s", v->file);
    if (v->merges > 0) {
        check_ok(
            gufo_model_get_array(file, "tokenizer.ggml.merges", GUFO_VALUE_STRING, &merges, &error),
            &error, "%s", v->file);
        check_u64(merges.count, v->merges, "%s", v->file);
    } else {
        check_status(
            gufo_model_get_array(file, "tokenizer.ggml.merges", GUFO_VALUE_STRING, &merges, &error),
            GUFO_E_NOT_FOUND, &error, "%s", v->file);
    }
}

static void test_facts(void **state)
{
    path_text where = need_shared("data/vocab");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vocabs); i++) {
        const vocab *v = &vocabs[i];
        gufo_model *file = open_vocab(&where, v);
        gufo_error error = no_error();
        uint64_t bos = 0;

        check_u64(gufo_model_facts(file).version, 3, "%s", v->file);
        check_u64(gufo_model_facts(file).byte_order, GUFO_LITTLE_ENDIAN, "%s", v->file);
        check_u64(gufo_model_facts(file).size, v->size, "%s", v->file);
        check_u64(gufo_model_facts(file).infos_end, v->size, "%s", v->file);
        check_u64(gufo_model_entry_count(file), v->entries, "%s", v->file);
        check_u64(gufo_model_tensor_count(file), 0, "%s", v->file);
        check_u64(gufo_model_facts(file).data_size, 0, "%s", v->file);
        check_u64(gufo_model_facts(file).alignment, 32, "%s", v->file);
        check_text(file, v, "general.architecture", v->architecture);
        check_text(file, v, "tokenizer.ggml.model", v->model);
        check_text(file, v, "general.name", v->name);
        check_status(gufo_model_get_u64(file, "tokenizer.ggml.bos_token_id", &bos, &error),
                     v->bos < 0 ? GUFO_E_NOT_FOUND : GUFO_OK, &error, "%s", v->file);
        if (v->bos >= 0)
            check_u64(bos, (uint64_t)v->bos, "%s", v->file);
        check_tokens(file, v);
        gufo_model_free(file);
    }
}

static void test_some_values(void **state)
{
    path_text where = need_shared("data/vocab");
    gufo_model *file;
    gufo_error error = no_error();
    uint64_t u = 0;
    double f = 0;
    bool b = false;
    gufo_array types;

    (void)state;
    file = open_vocab(&where, &vocabs[7]); /* llama-spm */
    check_ok(gufo_model_get_u64(file, "llama.block_count", &u, &error), &error, "block_count");
    check_u64(u, 32, "block_count");
    check_ok(gufo_model_get_u64(file, "llama.feed_forward_length", &u, &error), &error, "ff");
    check_u64(u, 11008, "feed_forward_length");
    /* 1e-5 as a float32 has it */
    check_ok(gufo_model_get_f64(file, "llama.attention.layer_norm_rms_epsilon", &f, &error), &error,
             "eps");
    check(f == 0x1.4f8b58p-17, "layer_norm_rms_epsilon is %.17g", f);
    check_ok(gufo_model_get_bool(file, "tokenizer.ggml.add_bos_token", &b, &error), &error,
             "add_bos");
    check(b, "add_bos_token");
    check_ok(gufo_model_get_bool(file, "tokenizer.ggml.add_eos_token", &b, &error), &error,
             "add_eos");
    check(!b, "add_eos_token");
    check_ok(
        gufo_model_get_array(file, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, &types, &error),
        &error, "types");
    check_u64(types.count, 32000, "types");
    gufo_model_free(file);
}

/* Everything in each file, and a copy of it, byte for byte. */
static void test_walk_and_copy(void **state)
{
    path_text where = need_shared("data/vocab");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vocabs); i++) {
        gufo_model *file = open_vocab(&where, &vocabs[i]);
        gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ};
        gufo_document *d = gufo_document_new(&options, NULL);
        gufo_error error = no_error();
        gufo_layout layout;
        uint8_t piece[4096];
        const uint8_t *header;
        size_t size;

        walk_file(file, NULL, 0, vocabs[i].file);
        check_ok(gufo_document_copy_entries(d, file, NULL, NULL, NULL, &error), &error, "%s",
                 vocabs[i].file);
        check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "%s", vocabs[i].file);
        check_u64(layout.metadata_size, vocabs[i].size, "%s", vocabs[i].file);
        header = document_header(d, &size);
        for (uint64_t at = 0; at < vocabs[i].size; at += sizeof piece) {
            uint64_t left = vocabs[i].size - at;
            size_t step = left < sizeof piece ? (size_t)left : sizeof piece;

            check_ok(gufo_model_read_raw(file, at, piece, step, &error), &error, "%s",
                     vocabs[i].file);
            check(memcmp(header + at, piece, step) == 0, "%s: copy differs near %" PRIu64,
                  vocabs[i].file, at);
        }
        gufo_document_free(d);
        gufo_model_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_some_values),
        cmocka_unit_test(test_walk_and_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
