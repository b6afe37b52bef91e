/* Opening a vocabulary: only the metadata of the model is needed. */
#include "cli/text/vocab_open.h"

#include "cli/core/input.h"
#include "cli/core/report.h"

int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab)
{
    gufo_error error;
    input in;
    int code = input_open(&in, path, &(input_options){0});

    *vocab = NULL;
    if (code != CODE_OK)
        return code;
    *vocab = gufo_vocab_open(in.model, options, &error);
    if (*vocab == NULL)
        code = report_refusal(path, &error);
    input_close(&in);
    for (uint64_t i = 0; *vocab != NULL && gufo_vocab_warning_at(*vocab, i) != NULL; i++)
        report_warning(path, "%s", gufo_vocab_warning_at(*vocab, i));
    return code;
}
