/* Fuzz target: a tokenizer.json, 00, a tokenizer_config.json, 00, a text: ids and spans of the text, and the
 * text of the ids. */
#include "walk.h"

#include <gufo/vocab.h>

#include <string.h>

/* Up to the next 00, which goes. */
static gufo_str take_part(gufo_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->data, 0, rest->len) : NULL;
    gufo_str part = {rest->data, end != NULL ? (size_t)(end - rest->data) : rest->len};

    *rest = end != NULL ? (gufo_str){end + 1, rest->len - part.len - 1} : (gufo_str){"", 0};
    return part;
}

static bool encode(const gufo_vocab *vocab, gufo_str text, uint32_t flags, gufo_ids *ids)
{
    const gufo_tokenize_options options = {.flags = flags};
    gufo_error error = {.code = GUFO_OK};
    gufo_status status;

    ids->count = 0;
    status = gufo_tokenize(vocab, text, &options, ids, &error);
    must(status == error.code || status == GUFO_OK, "a failure has a code");
    return status == GUFO_OK;
}

static void look_at_ids(const gufo_vocab *vocab, const gufo_ids *ids, gufo_str text)
{
    uint32_t size = gufo_vocab_describe(vocab).size;
    gufo_text decoded = {0};
    bool known = true;

    for (size_t i = 0; i < ids->count; i++) {
        must(ids->spans[i].begin <= ids->spans[i].end, "a span begins before it ends");
        must(ids->spans[i].end <= text.len, "a span is in the text");
        known = known && ids->ids[i] < size; /* a template may name ids that no token has */
    }
    must((gufo_detokenize(vocab, ids->ids, ids->count, 0, &decoded, NULL) != GUFO_E_RANGE) == known,
         "ids of tokens are decoded");
    gufo_text_free(&decoded);
}

static void try_text(const gufo_vocab *vocab, gufo_str text)
{
    gufo_ids plain = {0}, spans = {0};

    for (uint32_t flags = 0; flags < 4; flags++) {
        bool done = encode(vocab, text, flags, &plain);

        must(encode(vocab, text, flags | GUFO_TOKENIZE_SPANS, &spans) == done,
             "spans change nothing");
        if (!done)
            continue;
        must(plain.count == spans.count &&
                 (plain.count == 0 ||
                  memcmp(plain.ids, spans.ids, plain.count * sizeof *plain.ids) == 0),
             "ids with spans are the same");
        look_at_ids(vocab, &spans, text);
    }
    gufo_ids_free(&plain);
    gufo_ids_free(&spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    counter count = {0};
    gufo_allocator allocator = counting_allocator(&count);
    const gufo_vocab_options options = {.allocator = &allocator};
    gufo_str rest = {(const char *)data, size}, json = take_part(&rest), config = take_part(&rest);
    gufo_error error = {.code = GUFO_OK};
    gufo_vocab *vocab = gufo_vocab_open_json(json, config, &options, &error);

    must(vocab != NULL || error.code != GUFO_OK, "a failure has a code");
    if (vocab != NULL)
        try_text(vocab, rest);
    gufo_vocab_free(vocab);
    must(count.held == 0, "all memory is given back");
    return 0;
}
