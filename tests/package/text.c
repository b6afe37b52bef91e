/* A separate program that turns a text into tokens and back. */
#include <gufo/text.h>
#include <stdio.h>

static const char json[] =
    "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"Hello\":0,\"gufo\":1},"
    "\"unk_token\":\"gufo\"},\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}}";

int main(void)
{
    gufo_error error;
    gufo_ids ids = {0};
    gufo_text text = {0};
    gufo_vocab *vocab = gufo_vocab_open_json(gufo_str_of(json), (gufo_str){0}, NULL, &error);

    if (vocab == NULL ||
        gufo_tokenize(vocab, gufo_str_of("Hello gufo"), NULL, &ids, &error) != GUFO_OK ||
        gufo_detokenize(vocab, ids.ids, ids.count, 0, &text, &error) != GUFO_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%zu: %.*s\n", ids.count, (int)text.len, text.data);
    gufo_text_free(&text);
    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
    return 0;
}
