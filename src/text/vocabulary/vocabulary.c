/* The lists of a vocabulary, texts, scores and types, and looking at it.
 *
 * Texts are copied one behind the other, so that a token is found without a walk and the vocabulary
 * does not need the model any longer. */
#include "text/vocabulary/vocabulary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/schema.h"
#include "text/vocabulary/trie.h"

/* Many times what the largest vocabularies have. */
enum { MOST_TOKENS = TRIE_MOST_TEXTS };

/* Many times what the longest tokens have.  Encoding looks as far ahead as tokens reach: a longer one
 * would make the time quadratic, of a text that repeats its begin. */
enum { LONGEST_TEXT = 65535 };

/* "[EMPTY_134217728]" */
enum { EMPTY_NAME = 20 };

bool vocab_entry(const gufo_model *model, const char *name, gufo_entry *out)
{
    char key[64];

    (void)snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
    return gufo_model_key_entry(model, key, out);
}

static gufo_status refuse_list(gufo_error *error, const gufo_entry *entry, const char *what)
{
    return fail_with(error, GUFO_E_MALFORMED, entry->value_offset, "%s: %s", QUOTED(entry->key),
                     what);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static gufo_status reserve_texts(gufo_vocab *v, const gufo_array *texts, gufo_error *error)
{
    uint64_t bytes;

    if (texts->count > MOST_TOKENS || texts->size > UINT32_MAX - (uint64_t)MOST_TOKENS * EMPTY_NAME)
        return refuse(error, GUFO_E_LIMIT, "a vocabulary of %s tokens in %s bytes is too large",
                      GROUPED(texts->count), GROUPED(texts->size));
    bytes = texts->size + texts->count * EMPTY_NAME;
    v->size = (uint32_t)texts->count;
    v->attributes = mem_array(&v->allocator, texts->count + 1, sizeof *v->attributes);
    if (v->attributes == NULL || !text_table_reserve(&v->texts, v->size, bytes, &v->allocator))
        return fail_memory(error);
    return GUFO_OK;
}

static void add_text(gufo_vocab *v, gufo_str text, uint32_t id)
{
    char name[EMPTY_NAME];

    if (text.len == 0) {
        (void)snprintf(name, sizeof name, "[EMPTY_%" PRIu32 "]", id);
        text = gufo_str_of(name);
    }
    text_table_add(&v->texts, text);
}

static gufo_status read_texts(gufo_vocab *v, const gufo_entry *entry, gufo_error *error)
{
    gufo_array array;
    gufo_array_iter iter;
    gufo_value text;
    gufo_status status = GUFO_OK;
    uint32_t id = 0;

    if (gufo_value_array(&entry->value, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK)
        return refuse_list(error, entry, "must be an array of strings");
    if (array.count == 0)
        return refuse_list(error, entry, "holds no token");
    status = reserve_texts(v, &array, error);
    if (status != GUFO_OK)
        return status;
    for (iter = gufo_array_start(&array); id < v->size && gufo_array_next(&iter, &text); id++) {
        if (text.as.str.len > LONGEST_TEXT)
            return refuse(error, GUFO_E_LIMIT, "token %" PRIu32 " has %s bytes, of at most %s", id,
                          GROUPED(text.as.str.len), GROUPED(LONGEST_TEXT));
        add_text(v, text.as.str, id);
    }
    if (id < v->size)
        return fail_with(error, GUFO_E_CHANGED, entry->value_offset,
                         "the file was changed while it was read");
    text_table_trim(&v->texts, &v->allocator);
    return GUFO_OK;
}

/* ---- scores and types ----------------------------------------------------------------------- */

/* The list `name`, if the model has it, whose elements must be of `type` and at least as many as
 * the tokens. */
static gufo_status find_list(const gufo_vocab *v, const gufo_model *model, const char *name,
                             gufo_value_type type, gufo_entry *entry, bool *found,
                             gufo_error *error)
{
    gufo_array array;

    *found = vocab_entry(model, name, entry);
    if (!*found)
        return GUFO_OK;
    if (gufo_value_array(&entry->value, type, &array, NULL) != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, entry->value_offset, "%s must be an array of %s",
                         QUOTED(entry->key), gufo_value_type_name(type));
    if (array.count < v->size)
        return fail_with(error, GUFO_E_MALFORMED, entry->value_offset,
                         "%s has %s elements, but the vocabulary has %s tokens", QUOTED(entry->key),
                         GROUPED(array.count), GROUPED(v->size));
    return GUFO_OK;
}

static gufo_status read_scores(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_entry entry;
    bool found;
    gufo_status status = find_list(v, model, "scores", GUFO_VALUE_FLOAT32, &entry, &found, error);

    if (status != GUFO_OK || !found)
        return status;
    v->scores = mem_array(&v->allocator, v->size, sizeof *v->scores);
    if (v->scores == NULL)
        return fail_memory(error);
    status = gufo_array_read(&entry.value.as.array, 0, v->size, v->scores, error);
    for (uint32_t id = 0; status == GUFO_OK && id < v->size; id++)
        if (v->scores[id] != v->scores[id])
            status = fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                               "%s: the score of token %" PRIu32 " is not a number",
                               QUOTED(entry.key), id);
    return status;
}

static gufo_status read_types(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    enum { AT_ONCE = 1024 };
    int32_t types[AT_ONCE];
    gufo_entry entry;
    bool found;
    gufo_status status = find_list(v, model, "token_type", GUFO_VALUE_INT32, &entry, &found, error);

    if (status != GUFO_OK || !found)
        return status;
    v->types = mem_array(&v->allocator, v->size, sizeof *v->types);
    if (v->types == NULL)
        return fail_memory(error);
    for (uint32_t id = 0; status == GUFO_OK && id < v->size; id += AT_ONCE) {
        uint32_t count = v->size - id < AT_ONCE ? v->size - id : AT_ONCE;

        status = gufo_array_read(&entry.value.as.array, id, count, types, error);
        for (uint32_t i = 0; status == GUFO_OK && i < count; i++)
            v->types[id + i] = types[i] > 0 && types[i] <= 6 ? (uint8_t)types[i] : 0;
    }
    return status;
}

static void set_attributes(gufo_vocab *v)
{
    static const uint16_t attribute_of_type[] = {0,
                                                 GUFO_TOKEN_NORMAL,
                                                 GUFO_TOKEN_UNKNOWN,
                                                 GUFO_TOKEN_CONTROL,
                                                 GUFO_TOKEN_USER_DEFINED,
                                                 GUFO_TOKEN_UNUSED,
                                                 GUFO_TOKEN_BYTE};

    for (uint32_t id = 0; id < v->size; id++)
        v->attributes[id] = attribute_of_type[vocab_type(v, id)];
}

gufo_status vocab_read_lists(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_entry tokens;
    gufo_status status;

    if (!vocab_entry(model, "tokens", &tokens))
        return refuse(error, GUFO_E_NOT_FOUND, "the model has no \"tokenizer.ggml.tokens\"");
    status = read_texts(v, &tokens, error);
    if (status == GUFO_OK)
        status = read_scores(v, model, error);
    if (status == GUFO_OK)
        status = read_types(v, model, error);
    if (status == GUFO_OK)
        set_attributes(v);
    return status;
}

/* ---- what was assumed on opening, in sentences ---------------------------------------------- */

gufo_status vocab_warn(gufo_vocab *v, gufo_error *error, const char *format, ...)
{
    char message[GUFO_MESSAGE_SIZE];
    char **warnings =
        mem_grow(&v->allocator, v->warnings, v->warning_count, &v->warning_room, sizeof *warnings);
    va_list arguments;

    if (warnings == NULL)
        return fail_memory(error);
    v->warnings = warnings;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    v->warnings[v->warning_count] = mem_text(&v->allocator, gufo_str_of(message));
    if (v->warnings[v->warning_count] == NULL)
        return fail_memory(error);
    v->warning_count++;
    return GUFO_OK;
}

const char *gufo_vocab_warning_at(const gufo_vocab *vocab, uint64_t index)
{
    return index < vocab->warning_count ? vocab->warnings[index] : NULL;
}

/* ---- looking -------------------------------------------------------------------------------- */

bool gufo_vocab_token(const gufo_vocab *vocab, uint32_t id, gufo_token *out)
{
    if (id >= vocab->size)
        return false;
    *out = (gufo_token){.text = vocab_text(vocab, id),
                        .score = vocab_score(vocab, id),
                        .type = (int32_t)vocab_type(vocab, id),
                        .attributes = vocab->attributes[id]};
    return true;
}

size_t gufo_vocab_stop_tokens(const gufo_vocab *vocab, uint32_t *ids, size_t room)
{
    size_t count = 0;

    for (uint32_t id = 0; id < vocab->size; id++)
        if ((vocab->attributes[id] & GUFO_TOKEN_END) != 0 && count++ < room)
            ids[count - 1] = id;
    return count;
}

uint32_t gufo_vocab_find(const gufo_vocab *vocab, gufo_str text)
{
    return vocab_find(vocab, text.data, text.len);
}
