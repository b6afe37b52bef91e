/* gufo vocab: the model whose vocabulary it is about. */
#include "cli/text/vocab.h"

int vocab_input_open(vocab_input *v, const char *path, const vocab_options *options)
{
    gufo_vocab_options how = {.pre = options->pre};
    gufo_error error;

    *v = (vocab_input){.vocab = NULL};
    if (input_open(&v->in, path, &(input_options){0}) != CODE_OK)
        return CODE_FAILED;
    v->vocab = gufo_vocab_open(v->in.model, &how, &error);
    return v->vocab != NULL ? CODE_OK : report_error(path, &error);
}

void vocab_input_close(vocab_input *v)
{
    gufo_vocab_close(v->vocab);
    input_close(&v->in);
}
