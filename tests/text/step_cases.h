/* Steps of a tokenizer.json, from JSON with ' for ". */
#ifndef TEST_TEXT_STEP_CASES_H
#define TEST_TEXT_STEP_CASES_H

#include "support/pace.h"
#include "../support/allocator.h"
#include "../support/check.h"

#include <jansson.h>

#include "base/memory.h"
#include "text/pipeline/steps/work_text.h"

static inline json_t *step_json(const char *text)
{
    char quoted[8192];
    json_error_t error;
    size_t len = strlen(text);
    json_t *value;

    check(len < sizeof quoted, "too long: %s", text);
    for (size_t i = 0; i <= len; i++)
        quoted[i] = text[i] == '\'' ? '"' : text[i];
    value = json_loads(quoted, JSON_DECODE_ANY, &error);
    check(value != NULL, "%s: %s", text, error.text);
    return value;
}

/* A text whose characters come from themselves. */
static inline work_text step_text_of(const char *text, bool keeps_origins,
                                     const gufo_allocator *allocator)
{
    work_text t = {.allocator = allocator, .keeps_origins = keeps_origins};
    size_t len = strlen(text), begin = 0;

    check(work_text_reserve(&t, len), "no memory");
    memcpy(t.data, text, len);
    t.len = len;
    t.begins = true;
    for (size_t i = 0; keeps_origins && i < len; i++) {
        size_t end = i + 1;

        if (((uint8_t)text[i] & 0xC0) != 0x80)
            begin = i;
        while (((uint8_t)text[end] & 0xC0) == 0x80)
            end++;
        t.origins[i] = (text_origin){(uint32_t)begin, (uint32_t)end};
    }
    return t;
}

#endif
