#include "vocab_maker.h"

#include "allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_PLACE = 16 }; /* of the number of entries: behind magic, version and tensors */

static const char *full_key(const char *name)
{
    static char key[128];

    (void)snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
    return key;
}

vocab_maker vocab_maker_new(const char *model)
{
    vocab_maker m = {.b = builder_new((encoding){3, false})};

    builder_header(&m.b, 0, 0);
    if (model != NULL)
        vocab_maker_text(&m, "model", model);
    return m;
}

static void begin_array(vocab_maker *m, const char *name, gufo_value_type type, size_t count)
{
    builder_kv_array(&m->b, full_key(name), type, count);
    m->entries++;
}

void vocab_maker_tokens(vocab_maker *m, const token_row *rows, size_t count)
{
    begin_array(m, "tokens", GUFO_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        builder_str(&m->b, rows[i].text);
    begin_array(m, "token_type", GUFO_VALUE_INT32, count);
    for (size_t i = 0; i < count; i++)
        builder_u32(&m->b, (uint32_t)rows[i].type);
    begin_array(m, "scores", GUFO_VALUE_FLOAT32, count);
    for (size_t i = 0; i < count; i++)
        builder_f32(&m->b, rows[i].score);
}

void vocab_maker_with_bytes(vocab_maker *m, const token_row *rows, size_t count)
{
    token_row *all = calloc(256 + count, sizeof *all);
    char names[256][8];

    assert_non_null(all);
    for (unsigned byte = 0; byte < 256; byte++) {
        (void)snprintf(names[byte], sizeof names[byte], "<0x%02X>", byte);
        all[byte] = (token_row){names[byte], 6, 0};
    }
    memcpy(all + 256, rows, count * sizeof *rows);
    vocab_maker_tokens(m, all, 256 + count);
    free(all);
}

void vocab_maker_texts(vocab_maker *m, const char *name, const char *const *texts, size_t count)
{
    begin_array(m, name, GUFO_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        builder_str(&m->b, texts[i]);
}

void vocab_maker_key(vocab_maker *m, const char *key, const char *text)
{
    builder_kv_str(&m->b, key, text);
    m->entries++;
}

void vocab_maker_text(vocab_maker *m, const char *name, const char *text)
{
    vocab_maker_key(m, full_key(name), text);
}

void vocab_maker_bool(vocab_maker *m, const char *name, bool value)
{
    builder_kv_bool(&m->b, full_key(name), value);
    m->entries++;
}

void vocab_maker_id(vocab_maker *m, const char *name, uint32_t id)
{
    builder_kv_u32(&m->b, full_key(name), id);
    m->entries++;
}

gufo_model *vocab_maker_model(vocab_maker *m)
{
    gufo_error error;
    gufo_model *model;

    for (unsigned i = 0; i < 8; i++)
        m->b.data[COUNT_PLACE + i] = (uint8_t)(m->entries >> 8 * i);
    model = gufo_model_open_memory(m->b.data, m->b.len, NULL, &error);
    if (model == NULL)
        fail_msg("%s", error.message);
    return model;
}

gufo_vocab *vocab_maker_open(vocab_maker *m, const gufo_vocab_options *options, gufo_error *error)
{
    gufo_model *model = vocab_maker_model(m);
    gufo_vocab *vocab = gufo_vocab_open(model, options, error);

    gufo_model_free(model);
    builder_free(&m->b);
    return vocab;
}

static gufo_status encode_with(const gufo_model *model, const char *text,
                               const gufo_allocator *allocator)
{
    const gufo_vocab_options options = {.allocator = allocator};
    gufo_ids ids = {.allocator = allocator};
    gufo_error error;
    gufo_vocab *vocab = gufo_vocab_open(model, &options, &error);
    gufo_status status =
        vocab == NULL ? error.code : gufo_tokenize(vocab, gufo_str_of(text), NULL, &ids, &error);

    gufo_ids_free(&ids);
    gufo_vocab_free(vocab);
    return status;
}

void vocab_maker_fail_memory(vocab_maker *m, const char *text)
{
    gufo_model *model = vocab_maker_model(m);
    gufo_status status = GUFO_E_MEMORY;

    for (size_t fail_at = 1; status != GUFO_OK; fail_at++) {
        counter memory;
        gufo_allocator allocator;

        counter_init(&memory);
        memory.fail_at = fail_at;
        allocator = counter_allocator(&memory);
        status = encode_with(model, text, &allocator);
        assert_int_equal(memory.in_use, 0);
        assert_true(status == GUFO_OK || status == GUFO_E_MEMORY);
    }
    gufo_model_free(model);
    builder_free(&m->b);
}
