/* The vocabulary of a model folder as keys of a GGUF file. */
#ifndef IMPORT_TOKENIZERS_TOKENIZERS_H
#define IMPORT_TOKENIZERS_TOKENIZERS_H

#include "import/architectures/configuration/config.h"
#include "import/import.h"

typedef struct tokenizer_request {
    const model_config *config;
    const char *readers; /* to try in order: "spm, hf, bpe"; NULL: any that fits what is there */
    const char *pre;     /* tokenizer.ggml.pre where it cannot be recognised; NULL: none is given */
    bool compare;        /* warn of texts whose ids are not those of tokenizer.json */
    bool keep_json;      /* tokenizer.huggingface.json */
    bool keep_world;     /* tokenizer.rwkv.world */
} tokenizer_request;

/* Sets tokenizer.* of the import's document: model, pre, tokens, scores, types, merges, special ids,
 * flags, chat templates. GUFO_E_NOT_FOUND: no file of a tokenizer. */
gufo_status tokenizers_write(gufo_import *import, const tokenizer_request *request,
                             gufo_error *error);

#endif
