/* Fuzz target: open the vocabulary of any GGUF file, encode and decode with it. */
#include "vocabularies.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_TRIED = 64 };

static void round_trip(const gufo_vocab *vocab, gufo_str text)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_ADD_SPECIAL |
                                                    GUFO_TOKENIZE_PARSE_SPECIAL};
    uint32_t size = gufo_vocab_describe(vocab).size;
    gufo_ids ids = {0};
    gufo_text back = {0};
    gufo_error error;
    gufo_status status = gufo_tokenize(vocab, text, &options, &ids, &error);

    must(status == GUFO_OK || status == GUFO_E_MALFORMED,
         "only a vocabulary that lacks something fails");
    for (size_t i = 0; i < ids.count; i++)
        must(ids.ids[i] < size, "ids are in range");
    must(gufo_detokenize(vocab, ids.ids, ids.count, 0, &back, &error) == GUFO_OK,
         "every id has a text");
    gufo_ids_free(&ids);
    gufo_text_free(&back);
}

static void look(const gufo_vocab *vocab)
{
    static const char text[] = "Hello  hello world, it 's\n\n 123 ab\xc3\xa9 中文 <s> \xff\x80 "
                               "<|im_start|>";
    gufo_vocab_facts facts = gufo_vocab_describe(vocab);
    gufo_token token;

    must(facts.model != NULL && facts.algorithm != NULL, "a vocabulary has a kind");
    must(!gufo_vocab_token(vocab, facts.size, &token), "no token is past the last one");
    for (unsigned role = 0; role < GUFO_SPECIAL_COUNT; role++)
        must(facts.special[role] < facts.size || facts.special[role] == GUFO_NO_TOKEN,
             "special tokens exist");
    for (uint64_t i = 0; gufo_vocab_warning_at(vocab, i) != NULL; i++)
        must(gufo_vocab_warning_at(vocab, i)[0] != '\0', "a warning says something");
    round_trip(vocab, (gufo_str){text, sizeof text - 1});
    for (uint32_t i = 0; i < TOKENS_TRIED && i < facts.size; i++) {
        uint32_t found;

        must(gufo_vocab_token(vocab, facts.size - 1 - i, &token), "every id has a token");
        found = gufo_vocab_find(vocab, token.text);
        must(found != GUFO_NO_TOKEN && found >= facts.size - 1 - i,
             "a text finds the last token that has it");
        round_trip(vocab, token.text);
    }
}

static void open_vocabulary(const gufo_model *model, uint32_t flags)
{
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    const gufo_vocab_options options = {.flags = flags, .allocator = &allocator};
    gufo_error error = {0};
    gufo_vocab *vocab = gufo_vocab_open(model, &options, &error);

    must(vocab != NULL || (error.code != GUFO_OK && error.message[0] != '\0'),
         "a refusal has a reason");
    if (vocab != NULL)
        look(vocab);
    gufo_vocab_free(vocab);
    must(count.held == 0 && count.blocks == 0, "everything is freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_model *model = gufo_model_open_memory(data, size, NULL, NULL);

    if (model == NULL)
        return 0;
    open_vocabulary(model, 0);
    open_vocabulary(model, GUFO_VOCAB_ORIGINAL);
    gufo_model_free(model);
    return 0;
}
