/* Opening a vocabulary: only the metadata of the model is needed. */
#include "cli/text/vocab_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"
#include "gufo/import.h"
#include "text/formats/source.h"

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

/* A model with this tokenizer.json, and nothing else; NULL after a report. */
static gufo_model *make_model(const char *path, gufo_str json)
{
    gufo_error error = {.code = GUFO_E_MEMORY};
    gufo_document *document = gufo_document_new(NULL, &error);
    gufo_model *model = NULL;

    if (document != NULL &&
        gufo_document_set_str(document, "tokenizer.huggingface.json", json, &error) != GUFO_OK)
        gufo_document_free(document);
    else if (document != NULL)
        model = source_of_document(document, NULL, &error);
    if (model == NULL)
        (void)report_error(path, &error);
    return model;
}

/* By the rules of a tokenizer.json. */
static gufo_vocab *open_own(const char *path, const gufo_vocab_options *options, input *in,
                            int *code)
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
    if (vocab != NULL && in != NULL) {
        *in = (input){path, make_model(path, (gufo_str){json.data, json.len})};
        *code = in->model != NULL ? CODE_OK : CODE_FAILED;
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

static gufo_vocab *open_keys(const char *path, const gufo_vocab_options *options, input *in,
                             int *code)
{
    gufo_vocab *vocab;
    gufo_error error;

    *code = input_open(in, path, &(input_options){0});
    if (*code != CODE_OK)
        return NULL;
    vocab = gufo_vocab_open(in->model, options, &error);
    if (vocab == NULL)
        *code = report_refusal(path, &error);
    return vocab;
}

int vocab_open_model(const char *path, const gufo_vocab_options *options, input *in,
                     gufo_vocab **vocab)
{
    int code = CODE_OK;

    *in = (input){.model = NULL};
    *vocab = (has_own(path, options->tokenizer) ? open_own : open_keys)(path, options, in, &code);
    return code;
}

int vocab_open(const char *path, const gufo_vocab_options *options, gufo_vocab **vocab)
{
    int code = CODE_OK;
    input in;

    if (has_own(path, options->tokenizer)) {
        *vocab = open_own(path, options, NULL, &code);
    } else {
        *vocab = open_keys(path, options, &in, &code);
        input_close(&in);
    }
    if (*vocab != NULL)
        vocab_report_warnings(path, *vocab);
    return code;
}

void vocab_report_warnings(const char *path, const gufo_vocab *vocab)
{
    for (uint64_t i = 0; gufo_vocab_warning_at(vocab, i) != NULL; i++)
        report_warning(path, "%s", gufo_vocab_warning_at(vocab, i));
}
