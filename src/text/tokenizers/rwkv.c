/* RWKV World: at each place, the longest token.
 *
 * A long text is cut where no token crosses, and its stretches are encoded side by side.
 * Token texts are stored with escapes, which are resolved once.  Tokens of any type are found,
 * control tokens too. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/longest_tokens.h"
#include "text/characters/escapes.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

typedef struct rwkv_tables {
    gufo_text bytes; /* token `id` is bytes[starts[id] ... starts[id + 1]) */
    uint32_t *starts;
    trie *tokens;
    longest_tokens longest;
    byte_pairs pairs;
} rwkv_tables;

struct algorithm_scratch {
    text_stretches stretches;
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status unescape_all(const gufo_vocab *v, rwkv_tables *r, gufo_error *error)
{
    r->bytes.allocator = &v->allocator;
    r->starts = mem_array(&v->allocator, (uint64_t)v->size + 1, sizeof *r->starts);
    if (r->starts == NULL || !text_reserve(&r->bytes, v->texts.starts[v->size]))
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++) {
        if (!add_unescaped(vocab_text(v, id), &r->bytes))
            return fail_memory(error);
        r->starts[id + 1] = (uint32_t)r->bytes.len;
    }
    return GUFO_OK;
}

static gufo_status rwkv_open(gufo_vocab *vocab, const gufo_model *model, gufo_error *error)
{
    rwkv_tables *r = mem_zero(&vocab->allocator, sizeof *r);
    gufo_status status;

    (void)model;
    if (r == NULL)
        return fail_memory(error);
    vocab->tables = r;
    status = unescape_all(vocab, r, error);
    if (status != GUFO_OK)
        return status;
    r->tokens = trie_new(&vocab->allocator, &(trie_texts){r->bytes.data, r->starts}, NULL,
                         vocab->size, error);
    if (r->tokens == NULL)
        return trie_status(error);
    for (uint32_t id = 0; id < vocab->size; id++)
        byte_pairs_add(&r->pairs, (gufo_str){r->bytes.data + r->starts[id],
                                             r->starts[id + 1] - r->starts[id]});
    return longest_tokens_open(&r->longest, r->tokens, vocab->size, error);
}

static void rwkv_close(gufo_vocab *vocab)
{
    rwkv_tables *r = vocab->tables;

    longest_tokens_close(&r->longest);
    trie_free(r->tokens);
    mem_free(&vocab->allocator, r->starts);
    gufo_text_free(&r->bytes);
    mem_free(&vocab->allocator, r);
}

static algorithm_scratch *rwkv_scratch_new(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                           gufo_error *error)
{
    algorithm_scratch *scratch = mem_alloc(allocator, sizeof *scratch);

    (void)vocab;
    if (scratch == NULL)
        (void)fail_memory(error);
    return scratch;
}

static void rwkv_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Where two bytes follow each other in no token, every token ends. */
static size_t rwkv_cut(const gufo_vocab *vocab, gufo_str text)
{
    const rwkv_tables *r = vocab->tables;

    for (size_t at = text.len; at-- > 1;)
        if (!byte_pairs_has(&r->pairs, text.data[at - 1], text.data[at]))
            return at;
    return 0;
}

static gufo_status encode_one_by_one(tokenizing *t, gufo_str text, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    size_t len;

    for (size_t at = 0; at < text.len; at += len) {
        gufo_str rest = {text.data + at, text.len - at};
        uint32_t id = t->vocab->special[GUFO_SPECIAL_UNKNOWN];

        len = trie_longest(r->tokens, rest, &id);
        if (len == 0)
            len = 1; /* unknown */
        if (id == GUFO_NO_TOKEN)
            return refuse(error, GUFO_E_MALFORMED,
                          "the vocabulary has no token for byte %02X, and no unknown token",
                          (uint8_t)*rest.data);
        if (!ids_add(out, id))
            return fail_memory(error);
        if (t->watch != NULL)
            t->watch(t->watch_context, &(gufo_tokenize_event){.kind = GUFO_TOKENIZE_TOKEN,
                                                              .text = {rest.data, len},
                                                              .id = id});
    }
    return GUFO_OK;
}

/* Divides what a text begins with into stretches; false if it is too short for them, or has no
 * places to cut. */
static bool divide(const gufo_vocab *vocab, gufo_str text, text_stretches *s)
{
    s->begins[0] = text.data;
    for (s->count = 0; s->count < MOST_STRETCHES; s->count++) {
        const char *begin = s->begins[s->count];
        size_t left = text.len - (size_t)(begin - text.data), len = 0;

        if (left >= STRETCH_BYTES + TRIE_HEAD)
            len = rwkv_cut(vocab, (gufo_str){begin, STRETCH_BYTES});
        if (len == 0)
            break;
        s->begins[s->count + 1] = begin + len;
    }
    return s->count >= LEAST_STRETCHES;
}

static gufo_status encode_stretches(tokenizing *t, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    text_stretches *s = &t->scratch->stretches;

    longest_tokens_encode(&r->longest, s);
    for (unsigned i = 0; i < s->count; i++) {
        if (!ids_reserve(out, s->counts[i]))
            return fail_memory(error);
        memcpy(out->ids + out->count, s->ids[i], s->counts[i] * sizeof *s->ids[i]);
        out->count += s->counts[i];
    }
    return GUFO_OK;
}

static gufo_status rwkv_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    bool side_by_side = r->longest.pairs != NULL && t->watch == NULL;
    text_stretches *s = &t->scratch->stretches;
    gufo_str rest = part.text;
    gufo_status status = GUFO_OK;

    while (side_by_side && status == GUFO_OK && divide(t->vocab, rest, s)) {
        status = encode_stretches(t, out, error);
        rest = str_from(rest, (size_t)(s->begins[s->count] - s->begins[0]));
    }
    return status == GUFO_OK ? encode_one_by_one(t, rest, out, error) : status;
}

const token_algorithm algorithm_rwkv = {
    .name = "RWKV",
    .open = rwkv_open,
    .close = rwkv_close,
    .scratch_new = rwkv_scratch_new,
    .scratch_free = rwkv_scratch_free,
    .encode = rwkv_encode,
    .cut = rwkv_cut,
    .parallel = true,
};
