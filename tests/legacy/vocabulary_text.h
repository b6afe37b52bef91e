/* Vocabularies of old files in tests, and the keys that they become. */
#ifndef TEST_LEGACY_VOCABULARY_TEXT_H
#define TEST_LEGACY_VOCABULARY_TEXT_H

#include "../support/check.h"

#include "legacy/families.h"

/* A text with any bytes, as a gufo_str. */
#define BYTES(literal)                  \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

#define TOKENS_KEY "tokenizer.ggml.tokens"
#define TYPES_KEY "tokenizer.ggml.token_type"
#define MERGES_KEY "tokenizer.ggml.merges"

/* What becomes of a vocabulary. */
typedef struct outcome {
    gufo_document *document;
    legacy_text_report report;
    gufo_status status;
    gufo_error error;
} outcome;

static inline outcome outcome_of(const char *family, const legacy_vocabulary *vocabulary,
                                 uint64_t rows, const gufo_allocator *allocator)
{
    outcome o = {.error = no_error()};
    const legacy_family *rules = legacy_family_find(family);

    check(rules != NULL, "no family %s", family);
    o.document = gufo_document_new(NULL, &o.error);
    check(o.document != NULL, "%s", o.error.message);
    o.status = legacy_set_vocabulary(o.document, vocabulary, &rules->text, rows, allocator,
                                     &o.report, &o.error);
    return o;
}

/* The same for tokens without scores, which must be possible. */
static inline outcome outcome_of_texts(const char *family, const gufo_str *texts, uint64_t count,
                                       uint64_t rows)
{
    legacy_vocabulary v = {.tokens = calloc((size_t)count + 1, sizeof *v.tokens), .count = count};
    outcome o;

    for (uint64_t id = 0; id < count; id++)
        v.tokens[id].bytes = texts[id];
    o = outcome_of(family, &v, rows, NULL);
    check_ok(o.status, &o.error, "%s", family);
    free(v.tokens);
    return o;
}

static inline void outcome_free(outcome *o)
{
    gufo_document_free(o->document);
}

static inline bool has_key(const outcome *o, const char *key)
{
    return gufo_document_find(o->document, key, NULL);
}

static inline gufo_array array_of(const outcome *o, const char *key, gufo_value_type type)
{
    gufo_document_entry entry;
    gufo_array array;

    check(gufo_document_find(o->document, key, &entry), "no %s", key);
    assert_int_equal(gufo_value_array(&entry.value, type, &array, NULL), GUFO_OK);
    return array;
}

/* The texts of an array of strings; to be freed. */
static inline gufo_str *texts_of(const gufo_array *array)
{
    gufo_str *texts = calloc((size_t)array->count + 1, sizeof *texts);
    gufo_array_iter walk = gufo_array_start(array);
    gufo_value value;

    for (uint64_t i = 0; gufo_array_next(&walk, &value); i++)
        texts[i] = value.as.str;
    return texts;
}

static inline int32_t *types_of(const outcome *o)
{
    gufo_array array = array_of(o, TYPES_KEY, GUFO_VALUE_INT32);
    int32_t *types = calloc((size_t)array.count + 1, sizeof *types);

    assert_int_equal(gufo_array_read(&array, 0, array.count, types, NULL), GUFO_OK);
    return types;
}

/* What a token must have become. */
typedef struct expected_token {
    const char *text;
    int32_t type;
} expected_token;

static inline void check_tokens(const outcome *o, const expected_token *expected, size_t count,
                                const char *label)
{
    gufo_array array = array_of(o, TOKENS_KEY, GUFO_VALUE_STRING);
    gufo_str *texts = texts_of(&array);
    int32_t *types = has_key(o, TYPES_KEY) ? types_of(o) : NULL;

    check_u64(array.count, count, "%s: tokens", label);
    for (size_t id = 0; id < count; id++) {
        check_str(texts[id], expected[id].text, "%s: token %zu", label, id);
        check_u64(types != NULL ? types[id] : 1, expected[id].type, "%s: type of token %zu", label,
                  id);
    }
    free(texts);
    free(types);
}

static inline void check_merges(const outcome *o, const char *const *expected, size_t count,
                                const char *label)
{
    gufo_array array = array_of(o, MERGES_KEY, GUFO_VALUE_STRING);
    gufo_str *texts = texts_of(&array);

    check_u64(array.count, count, "%s: merges", label);
    for (size_t i = 0; i < count; i++)
        check_str(texts[i], expected[i], "%s: merge %zu", label, i);
    free(texts);
}

/* -1: the key is not there. */
static inline int64_t id_of(const outcome *o, const char *role)
{
    char key[96];
    gufo_document_entry entry;

    snprintf(key, sizeof key, "tokenizer.ggml.%s_token_id", role);
    if (!gufo_document_find(o->document, key, &entry))
        return -1;
    check_u64(entry.value.type, GUFO_VALUE_UINT32, "%s", key);
    return (int64_t)entry.value.as.u;
}

#endif
