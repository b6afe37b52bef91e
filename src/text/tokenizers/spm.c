/* SPM, the byte-pair encoding of SentencePiece (model "llama"): characters are merged by the scores
 * of the tokens that they give.
 *
 *     text      Hello  world        a space comes first, where the vocabulary wants one
 *     pieces    " Hello", "  world"     where no token crosses: found again, or merged
 *     escaped   ▁Hello, ▁▁world     spaces are U+2581
 *     ids       15043, 29871 3186       bytes of what is not a token have tokens of their own
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/characters/escaped.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/scored_merges.h"

typedef struct spm_tables {
    trie *tokens; /* all of them */
    byte_pairs pairs;
    uint32_t bytes[256]; /* tokens of single bytes */
} spm_tables;

struct algorithm_scratch {
    piece_cache cache;
    gufo_text escaped; /* the piece that is merged */
    gufo_text first;   /* the first piece of a fragment, with its space */
    merge_room merges;
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status find_bytes(const gufo_vocab *v, spm_tables *s, gufo_error *error)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        const char text = (char)byte;

        s->bytes[byte] = text_table_find_byte(&v->texts, (uint8_t)byte);
        if (s->bytes[byte] == GUFO_NO_TOKEN)
            s->bytes[byte] = vocab_find(v, &text, 1);
        if (s->bytes[byte] == GUFO_NO_TOKEN)
            return refuse(error, GUFO_E_MALFORMED,
                          "the vocabulary has no token for byte %02X, neither \"<0x%02X>\" nor the "
                          "byte itself",
                          byte, byte);
    }
    return GUFO_OK;
}

static gufo_status spm_open(gufo_vocab *vocab, const gufo_model *model, gufo_error *error)
{
    spm_tables *s = mem_zero(&vocab->allocator, sizeof *s);

    (void)model;
    if (s == NULL)
        return fail_memory(error);
    vocab->tables = s;
    if (find_bytes(vocab, s, error) != GUFO_OK)
        return GUFO_E_MALFORMED;
    s->tokens = text_table_trie(&vocab->texts, NULL, vocab->size, &vocab->allocator, error);
    if (s->tokens == NULL)
        return trie_status(error);
    for (uint32_t id = 0; id < vocab->size; id++)
        byte_pairs_add(&s->pairs, vocab_text(vocab, id));
    return GUFO_OK;
}

static void spm_close(gufo_vocab *vocab)
{
    spm_tables *s = vocab->tables;

    trie_free(s->tokens);
    mem_free(&vocab->allocator, s);
}

static algorithm_scratch *spm_scratch_new(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                          gufo_error *error)
{
    algorithm_scratch *scratch = mem_zero(allocator, sizeof *scratch);

    (void)vocab;
    if (scratch == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    scratch->cache.allocator = allocator;
    scratch->escaped.allocator = scratch->first.allocator = allocator;
    return scratch;
}

static void spm_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    piece_cache_free(&scratch->cache);
    gufo_text_free(&scratch->escaped);
    gufo_text_free(&scratch->first);
    merge_room_free(&scratch->merges, allocator);
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

static bool add_token(tokenizing *t, gufo_str text, uint32_t id, gufo_ids *out)
{
    gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_TOKEN, .text = text, .id = id};

    if (!ids_add(out, id))
        return false;
    if (t->watch != NULL)
        t->watch(t->watch_context, &event);
    return true;
}

static bool add_symbol(tokenizing *t, gufo_str text, uint32_t id, gufo_ids *out)
{
    const spm_tables *s = t->vocab->tables;

    if (id != TRIE_NO_ID)
        return add_token(t, text, id, out);
    for (size_t i = 0; i < text.len; i++)
        if (!add_token(t, (gufo_str){text.data + i, 1}, s->bytes[(uint8_t)text.data[i]], out))
            return false;
    return true;
}

/* Encodes a piece by merging. */
static gufo_status merge_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    const spm_tables *s = t->vocab->tables;
    algorithm_scratch *scratch = t->scratch;
    const merge_symbol *symbols;
    uint32_t at = 0;
    gufo_status status;

    scratch->escaped.len = 0;
    if (!add_escaped(&scratch->escaped, piece))
        return fail_memory(error);
    piece = (gufo_str){scratch->escaped.data, scratch->escaped.len};
    if (t->watch != NULL)
        t->watch(t->watch_context, &(gufo_tokenize_event){.kind = GUFO_TOKENIZE_PIECE,
                                                          .text = piece,
                                                          .id = GUFO_NO_TOKEN});
    status = merge_by_score(t, s->tokens, piece, &scratch->merges, error);
    if (status != GUFO_OK)
        return status;
    symbols = scratch->merges.symbols;
    for (; at != NO_SYMBOL; at = symbols[at].next)
        if (!add_symbol(t, (gufo_str){piece.data + symbols[at].start, symbols[at].len},
                        symbols[at].id, out))
            return fail_memory(error);
    return GUFO_OK;
}

static gufo_status encode_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    return piece_cache_encode(&t->scratch->cache, merge_piece, t, piece, out, error);
}

/* The first piece of a fragment, behind a space; *size is how much of the text it has. */
static gufo_status encode_first(tokenizing *t, gufo_str text, size_t *size, gufo_ids *out,
                                gufo_error *error)
{
    const spm_tables *s = t->vocab->tables;
    gufo_text *first = &t->scratch->first;

    *size = 0;
    if (byte_pairs_has(&s->pairs, ' ', text.data[0]))
        *size = piece_end(&s->pairs, text.data, 0, text.len);
    first->len = 0;
    if (!text_add(first, " ", 1) || !text_add(first, text.data, *size))
        return fail_memory(error);
    return encode_piece(t, (gufo_str){first->data, first->len}, out, error);
}

static gufo_status spm_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    const spm_tables *s = t->vocab->tables;
    gufo_str text = part.text;
    size_t at = 0;
    gufo_status status = GUFO_OK;

    if (part.first && text.len > 0 && t->vocab->space_prefix)
        status = encode_first(t, text, &at, out, error);
    while (status == GUFO_OK && at < text.len) {
        size_t end = piece_end(&s->pairs, text.data, at, text.len);

        status = encode_piece(t, (gufo_str){text.data + at, end - at}, out, error);
        at = end;
    }
    return status;
}

static size_t spm_cut(const gufo_vocab *vocab, gufo_str text)
{
    const spm_tables *s = vocab->tables;

    return last_piece(&s->pairs, text);
}

const token_algorithm algorithm_spm = {
    .name = "SPM",
    .open = spm_open,
    .close = spm_close,
    .scratch_new = spm_scratch_new,
    .scratch_free = spm_scratch_free,
    .encode = spm_encode,
    .cut = spm_cut,
    .parallel = true,
};
