/* Prints the tokens that a model reads for a conversation, by its own chat template.
 *
 *     chat_tokens FILE.gguf MESSAGES     MESSAGES: '[{"role": "user", "content": "Hello"}]' */
#include <gufo.h>
#include <gufo/text.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    gufo_error error;
    gufo_ids ids = {0};
    gufo_model *model = gufo_model_open(argc > 1 ? argv[1] : "", NULL, &error);
    gufo_vocab *vocab = model != NULL ? gufo_vocab_open(model, NULL, &error) : NULL;
    gufo_status status =
        vocab != NULL ? gufo_chat_tokenize(model, vocab, gufo_str_of(argc > 2 ? argv[2] : ""), NULL,
                                           &ids, &error)
                      : error.code;

    if (status != GUFO_OK)
        fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < ids.count; i++)
        printf("%" PRIu32 "%c", ids.ids[i], i + 1 < ids.count ? ' ' : '\n');
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
    gufo_model_free(model);
    return status != GUFO_OK;
}
