/* Makes small vocabularies.
 *
 *     vocab_maker m = vocab_maker_new("llama");
 *     vocab_maker_tokens(&m, rows, count);
 *     vocab_maker_bool(&m, "add_bos_token", false);
 *     gufo_vocab *vocab = vocab_maker_open(&m, NULL, &error);
 */
#ifndef TEST_SUPPORT_VOCAB_MAKER_H
#define TEST_SUPPORT_VOCAB_MAKER_H

#include "builder.h"

#include "gufo/vocab.h"

typedef struct token_row {
    const char *text;
    int type; /* 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte */
    float score;
} token_row;

typedef struct vocab_maker {
    builder b;
    uint64_t entries;
} vocab_maker;

vocab_maker vocab_maker_new(const char *model); /* NULL: no tokenizer.ggml.model */
/* tokens, token_type and scores. */
void vocab_maker_tokens(vocab_maker *m, const token_row *rows, size_t count);
/* The 256 tokens "<0x00>" ... "<0xFF>" and `rows` behind them. */
void vocab_maker_with_bytes(vocab_maker *m, const token_row *rows, size_t count);
/* Keys "tokenizer.ggml." + name. */
void vocab_maker_texts(vocab_maker *m, const char *name, const char *const *texts, size_t count);
void vocab_maker_text(vocab_maker *m, const char *name, const char *text);
void vocab_maker_bool(vocab_maker *m, const char *name, bool value);
void vocab_maker_id(vocab_maker *m, const char *name, uint32_t id);
/* Any other key. */
void vocab_maker_key(vocab_maker *m, const char *key, const char *text);
/* The model of what was made; it needs m->b.data until it is closed. */
gufo_model *vocab_maker_model(vocab_maker *m);
/* Opens the vocabulary, and frees what was made. */
gufo_vocab *vocab_maker_open(vocab_maker *m, const gufo_vocab_options *options, gufo_error *error);
/* Opens the vocabulary and encodes a text, while each request for memory fails in turn: fails the
 * test unless these failures are GUFO_E_MEMORY and keep nothing.  Frees what was made. */
void vocab_maker_fail_memory(vocab_maker *m, const char *text);

#endif
