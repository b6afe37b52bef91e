/* gufo vocab: the model whose vocabulary it is about. */
#include "cli/text/vocab.h"

#include "text/formats/source.h"

int vocab_input_open(vocab_input *v, const char *path, const vocab_options *options)
{
    gufo_vocab_options how = {.pre = options->pre};
    gufo_error error;

    *v = (vocab_input){.made = NULL};
    if (input_open(&v->in, path, &(input_options){0}) != CODE_OK)
        return CODE_FAILED;
    if (vocab_source(v->in.model, NULL, &v->made, &error) != GUFO_OK)
        return report_error(path, &error);
    v->keys = v->made != NULL ? v->made : v->in.model;
    v->vocab = gufo_vocab_open(v->keys, &how, &error);
    return v->vocab != NULL ? CODE_OK : report_error(path, &error);
}

void vocab_input_close(vocab_input *v)
{
    gufo_vocab_close(v->vocab);
    gufo_close(v->made);
    input_close(&v->in);
}
