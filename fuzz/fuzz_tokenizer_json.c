/* Fuzz target: read anything as a tokenizer.json and as a vocabulary of RWKV World, look at the
 * document that it becomes, open it as a vocabulary, count what that holds, and write it. */
#include "walk.h"

#include <stdlib.h>

#include "base/memory.h"
#include "text/formats/rwkv_world.h"
#include "text/formats/source.h"
#include "text/formats/tokenizer_json.h"
#include "text/formats/vocab_export.h"
#include "text/vocabulary/census.h"

static void note(void *context, const char *sentence)
{
    (void)context;
    must(sentence[0] != '\0', "a note is a sentence");
}

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

/* What is written can be read. */
static void write_back(const gufo_model *model, const gufo_vocab *vocab)
{
    buffer json = {.allocator = &default_allocator}, list = json;
    gufo_document *document = gufo_document_new(NULL, NULL);
    tokenizer_json_options options = {.note = note};
    gufo_error error;

    must(document != NULL, "there is memory");
    if (tokenizer_json_write(model, vocab, &json, &error) == GUFO_OK) {
        must(tokenizer_json_read((gufo_str){(const char *)json.data, json.len}, &options, document,
                                 &error) == GUFO_OK,
             "what is written can be read");
        must(rows(document, "tokenizer.ggml.tokens") <= gufo_vocab_describe(vocab).size,
             "it has no more tokens");
    }
    must(vocab_txt_write(vocab, &list, &error) == GUFO_OK, "there is memory");
    buffer_free(&json);
    buffer_free(&list);
    gufo_document_free(document);
}

static void use(gufo_document *document)
{
    gufo_error error;
    gufo_model *model = source_of_document(document, NULL, &error);
    gufo_vocab *vocab;
    gufo_ids ids = {0};
    uint8_t *reach;

    must(model != NULL, "keys are those of a model");
    vocab = gufo_vocab_open(model, NULL, &error);
    if (vocab != NULL) {
        reach = calloc(gufo_vocab_describe(vocab).size, 1);
        must(reach != NULL, "there is memory");
        (void)!census_reach(vocab, NULL, reach, &error);
        must(census_duplicates(vocab, &ids, &error) == GUFO_OK, "there is memory");
        must(census_longest(vocab, 3, &ids, &error) == GUFO_OK, "there is memory");
        write_back(model, vocab);
        free(reach);
        gufo_ids_free(&ids);
    }
    gufo_vocab_close(vocab);
    gufo_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str text = {(const char *)data, size};
    tokenizer_json_options lenient = {.note = note};
    gufo_document *documents[3];
    gufo_status status[3];
    gufo_error error;

    for (int i = 0; i < 3; i++) {
        documents[i] = gufo_document_new(NULL, NULL);
        must(documents[i] != NULL, "there is memory");
    }
    status[0] = tokenizer_json_read(text, NULL, documents[0], &error);
    status[1] = tokenizer_json_read(text, &lenient, documents[1], &error);
    status[2] = rwkv_world_document(text, 0, NULL, documents[2], &error);
    must(status[0] != GUFO_OK || status[1] == GUFO_OK,
         "a document that is read without notes is read with them");
    for (int i = 0; i < 3; i++) {
        if (status[i] != GUFO_OK) {
            gufo_document_free(documents[i]);
            continue;
        }
        look(documents[i]);
        use(documents[i]);
    }
    return 0;
}
