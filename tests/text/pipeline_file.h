/* The tables of a tokenizer.json that a test spells out. */
#ifndef TEST_TEXT_PIPELINE_FILE_H
#define TEST_TEXT_PIPELINE_FILE_H

#include "support/check.h"

#include "text/formats/tokenizer_file.h"

/* Quotes in JSON texts are spelt ' . */
static inline char *pipeline_json(const char *text)
{
    char *json = strdup(text);

    assert_non_null(json);
    for (char *at = json; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    return json;
}

static inline file_text file_add(tokenizer_file *f, const json_t *text)
{
    size_t len = json_string_length(text);
    file_text view = {(uint32_t)f->len, (uint32_t)len};

    f->text = realloc(f->text, f->len + len + 1);
    assert_non_null(f->text);
    memcpy(f->text + f->len, json_string_value(text), len);
    f->len += len;
    return view;
}

static inline void file_add_vocab(tokenizer_file *f, json_t *vocab)
{
    const char *key;
    json_t *value;
    size_t count = json_is_array(vocab) ? json_array_size(vocab) : json_object_size(vocab), i;

    f->has_vocab = vocab != NULL;
    f->vocab_is_list = json_is_array(vocab);
    f->vocab = calloc(count + 1, sizeof *f->vocab);
    f->scores = f->vocab_is_list ? calloc(count + 1, sizeof *f->scores) : NULL;
    json_array_foreach(vocab, i, value)
    {
        f->scores[i] = json_number_value(json_array_get(value, 1));
        f->vocab[i] = (file_entry){file_add(f, json_array_get(value, 0)), (uint32_t)i};
    }
    json_object_foreach(vocab, key, value)
    {
        json_t *text = json_string(key);

        f->vocab[f->vocab_count++] =
            (file_entry){file_add(f, text), (uint32_t)json_integer_value(value)};
        json_decref(text);
    }
    f->vocab_count = (uint32_t)count;
}

/* A merge is a list of two texts. */
static inline void file_add_merges(tokenizer_file *f, json_t *merges)
{
    json_t *value;
    size_t i;

    f->has_merges = merges != NULL;
    f->merge_count = (uint32_t)json_array_size(merges);
    f->merges = calloc(f->merge_count + 1, sizeof *f->merges);
    json_array_foreach(merges, i, value)
    {
        f->merges[i].left = file_add(f, json_array_get(value, 0));
        f->merges[i].right = file_add(f, json_array_get(value, 1));
    }
}

/* Of {'model': ...}. */
static inline tokenizer_file *pipeline_file(const char *text)
{
    tokenizer_file *f = calloc(1, sizeof *f);
    char *json = pipeline_json(text);
    json_error_t error;
    json_t *model;

    f->root = json_loads(json, 0, &error);
    if (f->root == NULL)
        fail_msg("%s: %s", text, error.text);
    free(json);
    model = json_object_get(f->root, "model");
    file_add_vocab(f, json_object_get(model, "vocab"));
    file_add_merges(f, json_object_get(model, "merges"));
    return f;
}

static inline void pipeline_file_free(tokenizer_file *f)
{
    json_decref(f->root);
    free(f->text);
    free(f->vocab);
    free(f->scores);
    free(f->merges);
    free(f);
}

#endif
