/* Expected results: files of JSON lines. */
#ifndef TEST_TEXT_REFERENCE_H
#define TEST_TEXT_REFERENCE_H

#include "support/check.h"
#include "support/shared.h"

#include "gufo/vocab.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls `one` for each line of a file. */
typedef void reference_line(void *context, const json_t *line);

static inline void each_line(const char *path, reference_line *one, void *context)
{
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    if (file == NULL)
        fail_msg("%s cannot be read", path);
    while ((len = getline(&line, &room, file)) > 0) {
        json_t *value = json_loadb(line, (size_t)len, JSON_ALLOW_NUL, NULL);

        if (value == NULL)
            fail_msg("%s: not JSON: %s", path, line);
        one(context, value);
        json_decref(value);
    }
    free(line);
    (void)fclose(file);
}

static inline gufo_str text_of(const json_t *line, const char *name)
{
    const json_t *text = json_object_get(line, name);

    return (gufo_str){json_string_value(text), json_string_length(text)};
}

/* The bytes that a member has in base64; freed by the caller. */
static inline gufo_str bytes_of(const json_t *line, const char *name)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    gufo_str text = text_of(line, name);
    char *bytes = malloc(text.len + 1);
    size_t len = 0;
    uint32_t bits = 0, count = 0;

    assert_non_null(bytes);
    for (size_t i = 0; i < text.len && text.data[i] != '='; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text.data[i]) - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[len++] = (char)(bits >> count);
        }
    }
    return (gufo_str){bytes, len};
}

/* The vocabularies of the expected results: first one for each way to make tokens. */
static const char *const reference_vocabularies[] = {
    "bert-bge",     "gemma4-like", "gpt-2",     "llama-spm",      "rwkv-world", "ugm-t5",
    "deepseek-llm", "falcon",      "baichuan",  "deepseek-coder", "gpt-neox",   "mpt",
    "phi-3",        "refact",      "starcoder", "ugm-cf",
};

enum {
    REFERENCE_VOCABULARIES = sizeof reference_vocabularies / sizeof *reference_vocabularies,
    REFERENCE_WAYS = 6
};

/* Skips the test if the file is not there. */
static inline gufo_vocab *open_reference(const char *name, const gufo_vocab_options *options)
{
    path_text path;
    char file[128];
    gufo_model *model;
    gufo_vocab *vocab;
    gufo_error error;

    (void)snprintf(file, sizeof file, "data/vocab/ggml-vocab-%s.gguf", name);
    if (!find_shared(file, &path)) {
        (void)snprintf(file, sizeof file, "data/text/vocabs/%s.gguf", name);
        path = need_shared(file);
    }
    model = gufo_model_open(path.text, NULL, &error);
    if (model == NULL)
        fail_msg("%s: %s", name, error.message);
    vocab = gufo_vocab_open(model, options, &error);
    if (vocab == NULL)
        fail_msg("%s: %s", name, error.message);
    gufo_model_free(model);
    return vocab;
}

#endif
