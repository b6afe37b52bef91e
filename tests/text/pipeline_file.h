/* JSON that a test spells out: quotes are spelt ' . */
#ifndef TEST_TEXT_PIPELINE_FILE_H
#define TEST_TEXT_PIPELINE_FILE_H

#include "support/check.h"

#include "base/memory.h"
#include "text/formats/tokenizer_file.h"

/* The caller frees it. */
static inline char *pipeline_json(const char *text)
{
    char *json = strdup(text);

    assert_non_null(json);
    for (char *at = json; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    return json;
}

static inline json_t *pipeline_part(const char *text)
{
    char *json = pipeline_json(text);
    json_error_t error;
    json_t *value = json_loads(json, 0, &error);

    if (value == NULL)
        fail_msg("%s: %s", text, error.text);
    free(json);
    return value;
}

/* Reads a file, in which apostrophes are quotes, and gives it its text to keep. */
static inline tokenizer_file *pipeline_file_with(const char *text, const gufo_allocator *allocator,
                                                 gufo_error *error)
{
    char *json = pipeline_json(text);
    buffer kept = {.allocator = mem_allocator(allocator)};
    tokenizer_file *f = NULL;

    *error = (gufo_error){.code = GUFO_E_MEMORY};
    if (buffer_append(&kept, json, strlen(json)))
        f = tokenizer_file_read((gufo_str){(const char *)kept.data, kept.len}, allocator, error);
    if (f != NULL)
        tokenizer_file_keep(f, &kept);
    buffer_free(&kept);
    free(json);
    return f;
}

static inline tokenizer_file *pipeline_file(const char *text)
{
    gufo_error error;
    tokenizer_file *f = pipeline_file_with(text, NULL, &error);

    if (f == NULL)
        fail_msg("%s: %s", text, error.message);
    return f;
}

#endif
