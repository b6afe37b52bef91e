/* Fuzz target: read anything as a tokenizer.json and as a vocabulary of RWKV World, and look at the
 * document that it becomes. */
#include "walk.h"

#include "text/formats/rwkv_world.h"
#include "text/formats/tokenizer_json.h"

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
    must(status[0] != GUFO_OK || status[1] == GUFO_OK, "notes are no failures");
    for (int i = 0; i < 3; i++) {
        if (status[i] == GUFO_OK)
            look(documents[i]);
        gufo_document_free(documents[i]);
    }
    return 0;
}
