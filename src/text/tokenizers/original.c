/* Where llama.cpp cuts text otherwise than the original tokenizer. */
#include "text/tokenizers/original.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/pretokenizers/pretokenizer.h"
#include "text/vocabulary/vocabulary.h"

#define RANGES                                                                                  \
    "the original tokenizer finds white space from U+1680 on inside its ranges of characters, " \
    "llama.cpp does not"

static const original_rules rules[] = {
    {"deepseek-coder", NULL, "deepseek-coder-original", false, false, RANGES},
    {"deepseek-llm", NULL, "deepseek-llm-original", false, false, RANGES},
    {"default", "gptneox", "gpt-2", true, true,
     "the original tokenizer puts text in Unicode's form NFC and cuts it as \"gpt-2\" does, "
     "llama.cpp cuts it as \"default\" does"},
};

static bool has_architecture(const gufo_model *model, const char *wanted)
{
    gufo_str name = {0};

    return gufo_get_str(model, "general.architecture", &name, NULL) == GUFO_OK &&
           gufo_str_equal(name, gufo_str_of(wanted));
}

const original_rules *original_find(const gufo_vocab *v, const gufo_model *model)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *architecture = rules[i].architecture;

        if (strcmp(rules[i].pre, v->pre->name) == 0 &&
            (architecture == NULL || has_architecture(model, architecture)))
            return &rules[i];
    }
    return NULL;
}

void original_drop_padding(gufo_vocab *v)
{
    for (uint32_t id = 0; id < v->size; id++) {
        char padding[32];

        (void)snprintf(padding, sizeof padding, "[PAD%" PRIu32 "]", id);
        if (gufo_str_equal(vocab_text(v, id), gufo_str_of(padding)))
            v->attributes[id] = GUFO_TOKEN_UNUSED;
    }
}
