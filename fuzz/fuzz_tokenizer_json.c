/* Fuzz target: open anything as a tokenizer.json and as a vocabulary of RWKV World, count what it holds,
 * and write the second. */
#include "walk.h"

#include "gufo/vocab.h"
#include "text/formats/rwkv_world.h"
#include "text/formats/source.h"

static uint64_t rows(const gufo_document *document, const char *key)
{
    gufo_document_entry entry;

    return gufo_document_find(document, key, &entry) ? entry.value.as.array.count : UINT64_MAX;
}

static void look(const gufo_document *document)
{
    static const char *const ids[] = {
        "tokenizer.ggml.bos_token_id",     "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.seperator_token_id",
        "tokenizer.ggml.padding_token_id", "tokenizer.ggml.mask_token_id"};
    uint64_t tokens = rows(document, "tokenizer.ggml.tokens"),
             scores = rows(document, "tokenizer.ggml.scores");
    gufo_document_entry entry;

    must(tokens > 0 && tokens != UINT64_MAX, "there are tokens");
    must(rows(document, "tokenizer.ggml.token_type") == tokens, "each has a type");
    must(scores == UINT64_MAX || scores == tokens, "each has a score, or none has");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        must(!gufo_document_find(document, ids[i], &entry) || entry.value.as.u < tokens,
             "special tokens are tokens");
}

static void write_forms(const gufo_model *model, const gufo_vocab *vocab)
{
    const gufo_vocab_source source = {.model = model};
    const gufo_vocab_compare_options options = {.source_a = &source, .source_b = &source};
    gufo_vocab_comparison comparison;
    gufo_text json = {0}, list = {0};
    gufo_error error;
    gufo_vocab *back;

    must(gufo_vocab_compare(vocab, vocab, &options, &comparison, &error) == GUFO_OK,
         "there is memory");
    must(comparison.same, "nothing differs from itself");
    if (gufo_vocab_export_json(vocab, &source, &json, &error) == GUFO_OK) {
        back =
            gufo_vocab_open_json((gufo_str){json.data, json.len}, (gufo_str){"", 0}, NULL, &error);
        must(back == NULL || gufo_vocab_describe(back).size <= gufo_vocab_describe(vocab).size,
             "what is written has no more tokens");
        gufo_vocab_free(back);
    }
    must(gufo_vocab_export_txt(vocab, &list, &error) == GUFO_OK, "there is memory");
    gufo_text_free(&json);
    gufo_text_free(&list);
}

/* `model` may be NULL: the vocabulary has no keys. */
static void count(const gufo_model *model, const gufo_vocab *vocab)
{
    gufo_ids ids = {0};
    gufo_error error;

    (void)!gufo_vocab_unreachable(vocab, NULL, &ids, NULL, &error);
    must(gufo_vocab_duplicates(vocab, &ids, &error) == GUFO_OK, "there is memory");
    (void)!gufo_vocab_longest(vocab, 3, &ids, &error);
    if (model != NULL)
        write_forms(model, vocab);
    gufo_ids_free(&ids);
}

static void use(gufo_document *document)
{
    gufo_error error;
    gufo_model *model = source_of_document(document, NULL, &error);
    gufo_vocab *vocab;

    must(model != NULL, "keys are those of a model");
    vocab = gufo_vocab_open(model, NULL, &error);
    if (vocab != NULL)
        count(model, vocab);
    gufo_vocab_free(vocab);
    gufo_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str text = {(const char *)data, size};
    gufo_document *document = gufo_document_new(NULL, NULL);
    gufo_error error;
    gufo_vocab *vocab = gufo_vocab_open_json(text, (gufo_str){"", 0}, NULL, &error);

    if (vocab != NULL)
        count(NULL, vocab);
    gufo_vocab_free(vocab);
    must(document != NULL, "there is memory");
    if (rwkv_world_document(text, 0, NULL, document, &error) == GUFO_OK) {
        look(document);
        use(document);
    } else {
        gufo_document_free(document);
    }
    return 0;
}
