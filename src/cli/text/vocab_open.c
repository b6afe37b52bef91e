/* Opening a vocabulary: only the metadata of the model is needed. */
#include "cli/text/vocab_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"
#include "gufo/import.h"

const char *const vocab_tokenizers[] = {"ggml", "huggingface", "rwkv", NULL};

/* What is wrong with tokenizer.json, or, as the message says, with tokenizer_config.json beside it. */
static int report_file(const char *path, const gufo_error *error)
{
    static const char config[] = "tokenizer_config.json: ";
    bool in_config = strncmp(error->message, config, sizeof config - 1) == 0;
    gufo_error own = *error;
    char *file;
    int code;

    if (!path_is_folder(path))
        return report_refusal(path, error);
    file = path_format("%s/%s", path, in_config ? "tokenizer_config.json" : "tokenizer.json");
    if (file == NULL)
        return CODE_FAILED;
    if (in_config)
        (void)snprintf(own.message, sizeof own.message, "%s", error->message + sizeof config - 1);
    code = report_refusal(file, &own);
    free(file);
    return code;
}

/* By the rules of a tokenizer.json. */
static int open_own(vocab_input *v, const char *path, const gufo_vocab_options *options)
{
    gufo_text config = {0};
    gufo_error error;
    int code = CODE_OK;

    v->in.path = path;
    if (gufo_import_tokenizer(path, &v->json, &config, &error) != GUFO_OK) {
        code = report_refusal(path, &error);
    } else {
        v->source.json = (gufo_str){v->json.data, v->json.len};
        v->vocab = gufo_vocab_open_json(v->source.json, (gufo_str){config.data, config.len},
                                        options, &error);
        if (v->vocab == NULL)
            code = report_file(path, &error);
    }
    gufo_text_free(&config);
    return code;
}

static bool has_own(const char *path, uint32_t tokenizer)
{
    return (tokenizer == GUFO_TOKENIZER_ANY || tokenizer == GUFO_TOKENIZER_HUGGINGFACE) &&
           !path_is_standard(path) && gufo_import_has_tokenizer(path);
}

static int open_keys(vocab_input *v, const char *path, const gufo_vocab_options *options)
{
    int code = input_open(&v->in, path, &(input_options){0});
    gufo_error error;

    if (code != CODE_OK)
        return code;
    v->source.model = v->in.model;
    v->vocab = gufo_vocab_open(v->in.model, options, &error);
    return v->vocab != NULL ? CODE_OK : report_refusal(path, &error);
}

int vocab_open_input(vocab_input *v, const char *path, const gufo_vocab_options *options)
{
    *v = (vocab_input){.vocab = NULL};
    return (has_own(path, options->tokenizer) ? open_own : open_keys)(v, path, options);
}

void vocab_close_input(vocab_input *v)
{
    gufo_vocab_free(v->vocab);
    gufo_text_free(&v->json);
    input_close(&v->in);
}

int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab)
{
    vocab_input v;
    int code = vocab_open_input(&v, path, options);

    *vocab = v.vocab;
    v.vocab = NULL;
    vocab_close_input(&v);
    if (*vocab != NULL)
        vocab_report_warnings(path, *vocab);
    return code;
}

void vocab_report_warnings(const char *path, const gufo_vocab *vocab)
{
    for (uint64_t i = 0; gufo_vocab_warning_at(vocab, i) != NULL; i++)
        report_warning(path, "%s", gufo_vocab_warning_at(vocab, i));
}
