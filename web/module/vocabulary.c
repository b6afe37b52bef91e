/* Tokens of a vocabulary, a page of them at a time: a page of the browser never has a hundred thousand rows. */
#include "module.h"

#include <string.h>

/* The arrays beside the texts; those that are missing, or are no numbers, have no elements. */
typedef struct vocabulary {
    gufo_array tokens, types, scores;
} vocabulary;

static void find(const gufo_model *model, const char *key, gufo_value_type type, gufo_array *out)
{
    if (gufo_model_get_array(model, key, type, out, NULL) != GUFO_OK)
        *out = (gufo_array){0};
}

static gufo_status find_all(const gufo_model *model, vocabulary *v, gufo_error *error)
{
    gufo_status status =
        gufo_model_get_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &v->tokens, error);

    find(model, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, &v->types);
    find(model, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, &v->scores);
    return status;
}

static bool contains(gufo_str text, gufo_str part)
{
    if (part.len == 0)
        return true;
    for (const char *at = text.data, *end = text.data + text.len;
         (size_t)(end - at) >= part.len &&
         (at = memchr(at, part.data[0], (size_t)(end - at) - part.len + 1)) != NULL;
         at++)
        if (memcmp(at, part.data, part.len) == 0)
            return true;
    return false;
}

static void write_token(const vocabulary *v, uint64_t id, gufo_str text, json_writer *j)
{
    gufo_value value;

    json_begin_object(j, NULL);
    json_write_u64(j, "id", id);
    json_write_str(j, "text", text);
    if (gufo_array_at(&v->types, id, &value, NULL) == GUFO_OK)
        json_write_i64(j, "type", value.as.i);
    if (gufo_array_at(&v->scores, id, &value, NULL) == GUFO_OK)
        json_write_f32(j, "score", (float)value.as.f);
    json_end_object(j);
}

gufo_status vocabulary_write(const gufo_model *model, gufo_str filter, uint64_t first,
                             uint64_t count, json_writer *j, gufo_error *error)
{
    vocabulary v;
    gufo_status status = find_all(model, &v, error);
    uint64_t matches = 0;
    gufo_value value;

    if (status != GUFO_OK)
        return status;
    json_begin_object(j, NULL);
    json_write_u64(j, "count", v.tokens.count);
    json_write_u64(j, "first", first);
    json_begin_array(j, "tokens");
    for (gufo_array_iter i = gufo_array_start(&v.tokens); gufo_array_next(&i, &value);) {
        if (!contains(value.as.str, filter))
            continue;
        if (matches >= first && matches - first < count)
            write_token(&v, i.index - 1, value.as.str, j);
        matches++;
    }
    json_end_array(j);
    json_write_u64(j, "matches", matches);
    json_end_object(j);
    return GUFO_OK;
}
