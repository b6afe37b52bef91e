/* gufo vocab: the model whose vocabulary it is about. */
#include "cli/text/vocab.h"
#include "cli/text/vocab_open.h"

int vocab_input_open(vocab_input *v, const char *path, const vocab_options *options)
{
    const gufo_run run = {.threads = (unsigned)options->base.shared->threads};
    const gufo_vocab_options how = {
        .tokenizer = options->tokenizer, .pre = options->pre, .run = &run};

    *v = (vocab_input){.vocab = NULL};
    return vocab_open_model(path, &how, &v->in, &v->vocab);
}

void vocab_input_close(vocab_input *v)
{
    gufo_vocab_close(v->vocab);
    input_close(&v->in);
}
