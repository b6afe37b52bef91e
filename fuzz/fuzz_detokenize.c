/* Fuzz target: decode any ids of a small vocabulary, whole and in parts.
 *
 *     byte 0   the vocabulary
 *     byte 1   flags
 *     byte 2   the number of ids in a part
 *     ...      ids: two bytes each */
#include "vocabularies.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE_IDS = 3 };

static void must_be_same(const gufo_text *a, const gufo_text *b, const char *promise)
{
    must(a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0), promise);
}

/* What has been appended is final. */
static void decode_parts(const gufo_vocab *vocab, const uint32_t *ids, size_t count, uint32_t flags,
                         size_t step, const gufo_text *whole)
{
    gufo_error error;
    gufo_detokenizer *detokenizer = gufo_detokenizer_new(vocab, flags, &error);

    must(detokenizer != NULL, "there is memory");
    for (int round = 0; round < 2; round++) {
        gufo_text text = {0};

        for (size_t at = 0; at < count; at += step) {
            size_t part = count - at < step ? count - at : step;

            must(gufo_detokenizer_feed(detokenizer, ids + at, part, &text, &error) == GUFO_OK,
                 "every id has a text");
            must(text.len <= whole->len &&
                     (text.len == 0 || memcmp(text.data, whole->data, text.len) == 0),
                 "text that was given is final");
        }
        must(gufo_detokenizer_end(detokenizer, &text, &error) == GUFO_OK, "every text ends");
        must_be_same(&text, whole, "a text does not depend on how ids come");
        gufo_text_free(&text);
    }
    gufo_detokenizer_free(detokenizer);
}

/* Where nothing is dropped, a text is its pieces. */
static void join_pieces(const gufo_vocab *vocab, const uint32_t *ids, size_t count,
                        const gufo_text *whole)
{
    gufo_text text = {0};
    gufo_error error;

    for (size_t i = 0; i < count; i++)
        must(gufo_token_piece(vocab, ids[i], &text, &error) == GUFO_OK, "every id has a piece");
    must_be_same(&text, whole, "a text is its pieces");
    gufo_text_free(&text);
}

static void decode(const gufo_vocab *vocab, const uint32_t *ids, size_t count, uint32_t flags,
                   size_t step)
{
    gufo_vocab_facts facts = gufo_vocab_describe(vocab);
    gufo_text text = {0};
    gufo_error error;

    must(gufo_detokenize(vocab, ids, count, flags, &text, &error) == GUFO_OK,
         "every id has a text");
    decode_parts(vocab, ids, count, flags, step, &text);
    if (flags == 0 && !facts.space_prefix && !facts.clean_spaces)
        join_pieces(vocab, ids, count, &text);
    text.len = 0;
    must(gufo_detokenize(vocab, &facts.size, 1, flags, &text, &error) == GUFO_E_RANGE &&
             text.len == 0,
         "an id past the end is an error");
    gufo_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = size < BEFORE_IDS ? 0 : (size - BEFORE_IDS) / 2;
    const gufo_vocab *vocab;
    uint32_t *ids;

    if (size < BEFORE_IDS)
        return 0;
    vocab = vocabulary_at(data[0] % VOCABULARY_COUNT);
    ids = malloc((count + 1) * sizeof *ids);
    must(ids != NULL, "there is memory");
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + BEFORE_IDS + 2 * i;

        ids[i] = (uint32_t)(at[0] | at[1] << 8) % gufo_vocab_describe(vocab).size;
    }
    decode(vocab, ids, count, data[1] & 3, 1 + (size_t)data[2]);
    free(ids);
    return 0;
}
