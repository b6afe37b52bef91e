/* JSON that a test spells out: quotes are spelt ' . */
#ifndef TEST_TEXT_PIPELINE_FILE_H
#define TEST_TEXT_PIPELINE_FILE_H

#include "support/check.h"

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

static inline tokenizer_file *pipeline_file(const char *text)
{
    char *json = pipeline_json(text);
    gufo_error error = no_error();
    tokenizer_file *f = tokenizer_file_read(gufo_str_of(json), NULL, &error);

    if (f == NULL)
        fail_msg("%s: %s", text, error.message);
    free(json);
    return f;
}

#endif
