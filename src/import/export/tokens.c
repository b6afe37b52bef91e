/* The tokens of a model, whose arrays may be of any length that their bytes allow. */
#include "import/export/tokens.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/schema.h"

/* What conversions give to tokens that were added. */
#define ADDED_SCORE (-1000.0f)

static bool find_array(const gufo_model *model, const char *key, gufo_value_type type,
                       uint64_t count, gufo_array *out)
{
    gufo_entry entry;

    return gufo_key_entry(model, key, &entry) &&
           gufo_value_array(&entry.value, type, out, NULL) == GUFO_OK &&
           (count == 0 || out->count == count);
}

static gufo_status read_texts(const gufo_array *array, model_tokens *out, gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;

    out->texts = mem_array(&default_allocator, array->count, sizeof *out->texts);
    out->types = mem_array(&default_allocator, array->count, sizeof *out->types);
    if (out->texts == NULL || out->types == NULL)
        return fail_memory(error);
    for (; out->count < array->count && gufo_array_next(&iter, &value); out->count++) {
        out->texts[out->count] = value.as.str;
        out->types[out->count] = TOKEN_IS_NORMAL;
    }
    return out->count == array->count
               ? GUFO_OK
               : refuse(error, GUFO_E_CHANGED, "the vocabulary changes while it is read");
}

gufo_status model_tokens_read(const gufo_model *model, model_tokens *out, gufo_error *error)
{
    gufo_array array;
    gufo_status status;

    *out = (model_tokens){.count = 0};
    if (!find_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 0, &array) ||
        array.count == 0 || array.count > INT32_MAX)
        return GUFO_OK;
    status = read_texts(&array, out, error);
    if (status == GUFO_OK &&
        find_array(model, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, out->count, &array))
        status = gufo_array_read(&array, 0, out->count, out->types, error);
    if (status != GUFO_OK ||
        !find_array(model, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, out->count, &array))
        return status;
    out->scores = mem_array(&default_allocator, out->count, sizeof *out->scores);
    return out->scores != NULL ? gufo_array_read(&array, 0, out->count, out->scores, error)
                               : fail_memory(error);
}

void model_tokens_free(model_tokens *tokens)
{
    mem_free(&default_allocator, tokens->texts);
    mem_free(&default_allocator, tokens->types);
    mem_free(&default_allocator, tokens->scores);
    *tokens = (model_tokens){.count = 0};
}

bool token_is_added(const model_tokens *t, uint32_t id)
{
    return t->scores != NULL && t->scores[id] == ADDED_SCORE &&
           (t->types[id] == TOKEN_IS_CONTROL || t->types[id] == TOKEN_IS_USER_DEFINED);
}

bool model_id(const gufo_model *model, const char *key, uint32_t *id)
{
    uint64_t number;

    if (gufo_key_u64(model, key, &number, NULL) != GUFO_OK || number > UINT32_MAX)
        return false;
    *id = (uint32_t)number;
    return true;
}

bool model_flag(const gufo_model *model, const char *key, bool otherwise)
{
    bool flag = otherwise;

    return gufo_key_bool(model, key, &flag, NULL) == GUFO_OK ? flag : otherwise;
}
