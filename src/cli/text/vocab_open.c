/* Opening a vocabulary: only the metadata of the model is needed. */
#include "cli/text/vocab_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/input.h"
#include "cli/core/path.h"
#include "cli/core/report.h"
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
static gufo_vocab *open_own(const char *path, const gufo_vocab_options *options, int *code)
{
    gufo_text json = {0}, config = {0};
    gufo_vocab *vocab = NULL;
    gufo_error error;

    if (gufo_import_tokenizer(path, &json, &config, &error) != GUFO_OK) {
        *code = report_refusal(path, &error);
    } else {
        vocab = gufo_vocab_open_json((gufo_str){json.data, json.len},
                                     (gufo_str){config.data, config.len}, options, &error);
        if (vocab == NULL)
            *code = report_file(path, &error);
    }
    gufo_text_free(&json);
    gufo_text_free(&config);
    return vocab;
}

static bool has_own(const char *path, uint32_t tokenizer)
{
    return (tokenizer == GUFO_TOKENIZER_ANY || tokenizer == GUFO_TOKENIZER_HUGGINGFACE) &&
           !path_is_standard(path) && gufo_import_has_tokenizer(path);
}

static gufo_vocab *open_any(const char *path, const gufo_vocab_options *options, int *code)
{
    gufo_vocab *vocab;
    gufo_error error;
    input in;

    if (has_own(path, options->tokenizer))
        return open_own(path, options, code);
    *code = input_open(&in, path, &(input_options){0});
    if (*code != CODE_OK)
        return NULL;
    vocab = gufo_vocab_open(in.model, options, &error);
    input_close(&in);
    if (vocab == NULL)
        *code = report_refusal(path, &error);
    return vocab;
}

int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab)
{
    int code = CODE_OK;

    *vocab = open_any(path, options, &code);
    for (uint64_t i = 0; *vocab != NULL && gufo_vocab_warning_at(*vocab, i) != NULL; i++)
        report_warning(path, "%s", gufo_vocab_warning_at(*vocab, i));
    return code;
}
