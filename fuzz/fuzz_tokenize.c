/* Fuzz target: encode any text with a small vocabulary, whole and in parts, and decode the ids.
 *
 *     byte 0   the vocabulary
 *     byte 1   flags: bits 0 and 1 of encoding, bits 2 and 3 of decoding
 *     byte 2   the length of parts
 *     ...      the text */
#include "vocabularies.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE_TEXT = 3 };

static void must_be_same(const gufo_ids *a, const gufo_ids *b, const char *promise)
{
    must(a->count == b->count &&
             (a->count == 0 || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0),
         promise);
}

/* What a vocabulary without unknown token and without tokens for all bytes may refuse. */
static void must_be_known(gufo_status status)
{
    must(status == GUFO_OK || status == GUFO_E_MALFORMED, "only what has no token is refused");
}

static gufo_status feed_parts(gufo_tokenizer *tokenizer, gufo_str text, size_t step, gufo_ids *ids)
{
    gufo_status status = GUFO_OK;

    for (size_t at = 0; at < text.len && status == GUFO_OK; at += step) {
        size_t len = text.len - at < step ? text.len - at : step;
        /* A block of exactly this size, so that the first byte past it is noticed. */
        char *part = malloc(len);

        must(part != NULL, "there is memory");
        memcpy(part, text.data + at, len);
        status = gufo_tokenizer_feed(tokenizer, (gufo_str){part, len}, ids, NULL);
        free(part);
    }
    return status == GUFO_OK ? gufo_tokenizer_end(tokenizer, ids, NULL) : status;
}

/* In parts, twice: the second text finds the pieces of the first one. */
static void encode_parts(const gufo_vocab *vocab, gufo_str text, uint32_t flags, size_t step,
                         gufo_status expected, const gufo_ids *whole)
{
    const gufo_tokenize_options options = {.flags = flags};
    gufo_tokenizer *tokenizer = gufo_tokenizer_new(vocab, &options, NULL);
    gufo_status status = GUFO_OK;

    must(tokenizer != NULL, "there is memory");
    for (int round = 0; round < 2 && status == GUFO_OK; round++) {
        gufo_ids ids = {0};

        status = feed_parts(tokenizer, text, step, &ids);
        must(status == expected, "what is refused does not depend on how a text comes");
        if (status == GUFO_OK)
            must_be_same(&ids, whole, "ids do not depend on how a text comes");
        gufo_ids_free(&ids);
    }
    gufo_tokenizer_free(tokenizer);
}

static void watch(void *context, const gufo_tokenize_event *event)
{
    const gufo_vocab *vocab = context;
    uint32_t size = gufo_vocab_describe(vocab).size;

    must(event->id < size || event->id == GUFO_NO_TOKEN, "tokens exist");
    must(event->kind != GUFO_TOKENIZE_MERGE || event->left < event->text.len,
         "a merge has two parts");
}

static void encode_watched(const gufo_vocab *vocab, gufo_str text, uint32_t flags,
                           gufo_status expected, const gufo_ids *whole)
{
    const gufo_tokenize_options options = {
        .flags = flags, .watch = watch, .watch_context = (void *)vocab};
    gufo_ids ids = {0};

    must(gufo_tokenize(vocab, text, &options, &ids, NULL) == expected, "looking changes nothing");
    must_be_same(&ids, whole, "looking changes nothing");
    gufo_ids_free(&ids);
}

static void decode(const gufo_vocab *vocab, const gufo_ids *ids, uint32_t flags)
{
    uint32_t size = gufo_vocab_describe(vocab).size;
    gufo_text text = {0};
    gufo_error error;

    for (size_t i = 0; i < ids->count; i++)
        must(ids->ids[i] < size, "ids are in range");
    must(gufo_detokenize(vocab, ids->ids, ids->count, flags, &text, &error) == GUFO_OK,
         "every id has a text");
    gufo_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gufo_vocab *vocab;
    gufo_tokenize_options options;
    gufo_ids ids = {0};
    gufo_status status;
    gufo_str text;

    if (size < BEFORE_TEXT)
        return 0;
    vocab = vocabulary_at(data[0] % VOCABULARY_COUNT);
    text = (gufo_str){(const char *)data + BEFORE_TEXT, size - BEFORE_TEXT};
    options = (gufo_tokenize_options){.flags = data[1] & 3};
    status = gufo_tokenize(vocab, text, &options, &ids, NULL);
    must_be_known(status);
    encode_parts(vocab, text, options.flags, 1 + (size_t)data[2], status, &ids);
    encode_watched(vocab, text, options.flags, status, &ids);
    decode(vocab, &ids, data[1] >> 2 & 3);
    gufo_ids_free(&ids);
    return 0;
}
