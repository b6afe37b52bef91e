/* The ids of one piece of text: from the cache, as a whole, or by merging its symbols. */
#include "text/tokenizers/bpe_piece.h"

#include <string.h>

#include "base/error.h"
#include "text/characters/characters.h"
#include "text/vocabulary/vocabulary.h"

#define LONGEST_PIECE ((size_t)256 << 20)

/* ---- what the caller watches ---------------------------------------------------------------- */

static void show(const algorithm_scratch *s, gufo_tokenize_event event)
{
    if (s->work->watch != NULL)
        s->work->watch(s->work->watch_context, &event);
}

/* The text of a stretch of the piece, as tokens spell it. */
static gufo_str shown_text(const algorithm_scratch *s, uint32_t begin, uint32_t end)
{
    const uint32_t *offsets = (const uint32_t *)(const void *)s->offsets.data;

    return (gufo_str){(const char *)s->shown.data + offsets[begin],
                      (size_t)(offsets[end] - offsets[begin])};
}

/* The piece as tokens spell it; no data without memory.  Fills `shown` and `offsets`. */
static gufo_str spell(algorithm_scratch *s, gufo_str piece)
{
    const bpe_tables *t = s->vocab->tables;
    uint32_t *offsets;
    char *start, *to;

    s->shown.len = s->offsets.len = 0;
    start = to = buffer_extend(&s->shown, 2 * (uint64_t)piece.len);
    offsets = buffer_extend(&s->offsets, ((uint64_t)piece.len + 1) * sizeof *offsets);
    if (to == NULL || offsets == NULL)
        return (gufo_str){0};
    for (size_t i = 0; i < piece.len; i++) {
        uint8_t byte = (uint8_t)piece.data[i];

        offsets[i] = (uint32_t)(to - start);
        memcpy(to, t->alphabet.text[byte], 2);
        to += t->alphabet.len[byte];
    }
    offsets[piece.len] = (uint32_t)(to - start);
    return (gufo_str){start, (size_t)(to - start)};
}

static void show_merge(void *context, const merge_part *left, const merge_part *right, uint32_t end)
{
    const algorithm_scratch *s = context;
    uint32_t result = s->merging.table->results[left->rank];

    show(s, (gufo_tokenize_event){.kind = GUFO_TOKENIZE_MERGE,
                                  .text = shown_text(s, left->begin, end),
                                  .left = shown_text(s, left->begin, right->begin).len,
                                  .id = result < s->vocab->size ? result : GUFO_NO_TOKEN,
                                  .score = left->rank});
}

/* ---- ids of a piece ------------------------------------------------------------------------- */

static gufo_status add_token(algorithm_scratch *s, uint32_t id, gufo_error *error)
{
    if (!ids_add(s->out, id))
        return fail_memory(error);
    if (s->work->watch != NULL)
        show(s, (gufo_tokenize_event){
                    .kind = GUFO_TOKENIZE_TOKEN, .text = vocab_text(s->vocab, id), .id = id});
    return GUFO_OK;
}

/* A symbol without token: those of its bytes that have one. */
static gufo_status add_bytes(algorithm_scratch *s, gufo_str text, gufo_error *error)
{
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < text.len && status == GUFO_OK; i++) {
        uint32_t id = t->fallback[(uint8_t)text.data[i]];

        if (id != GUFO_NO_TOKEN)
            status = add_token(s, id, error);
    }
    return status;
}

static gufo_status add_symbol(algorithm_scratch *s, gufo_str piece, uint32_t symbol, size_t begin,
                              size_t end, gufo_error *error)
{
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    if (symbol < s->vocab->size)
        return add_token(s, symbol, error);
    if (!s->vocab->byte_alphabet)
        return add_bytes(s, (gufo_str){piece.data + begin, end - begin}, error);
    for (size_t i = begin; i < end && status == GUFO_OK; i++) {
        uint8_t byte = (uint8_t)piece.data[i];

        status = add_bytes(s, (gufo_str){t->alphabet.text[byte], t->alphabet.len[byte]}, error);
    }
    return status;
}

/* One part for each byte. */
static void make_byte_parts(merging *m, const bpe_tables *t, gufo_str piece)
{
    const uint8_t *bytes = (const uint8_t *)piece.data;

    for (uint32_t i = 0; i < piece.len; i++)
        m->parts[i] = (merge_part){
            t->symbols[bytes[i]], i,
            i + 1 < piece.len ? t->ranks[(uint32_t)bytes[i] << 8 | bytes[i + 1]] : NO_RANK};
    m->count = (uint32_t)piece.len;
}

/* One part for each character. */
static void make_character_parts(merging *m, const bpe_tables *t, const gufo_vocab *v,
                                 gufo_str piece)
{
    merge_part *parts = m->parts;
    uint32_t count = 0;
    size_t size;

    for (size_t at = 0; at < piece.len; at += size, count++) {
        uint32_t symbol = t->symbols[(uint8_t)piece.data[at]];

        size = length_by_first_byte(piece.data + at, piece.len - at);
        if (size > 1)
            symbol = merge_table_find(&t->merges, v, (gufo_str){piece.data + at, size});
        parts[count] = (merge_part){symbol, (uint32_t)at, NO_RANK};
        if (count > 0)
            parts[count - 1].rank = rank_of_pair(&t->merges.pairs, parts[count - 1].symbol, symbol);
    }
    m->count = count;
}

static bool make_parts(algorithm_scratch *s, gufo_str piece)
{
    merging *m = &s->merging;

    s->parts.len = 0;
    m->end = (uint32_t)piece.len;
    m->parts = buffer_extend(&s->parts, (uint64_t)piece.len * sizeof *m->parts);
    if (m->parts == NULL)
        return false;
    if (s->vocab->byte_alphabet)
        make_byte_parts(m, s->vocab->tables, piece);
    else
        make_character_parts(m, s->vocab->tables, s->vocab, piece);
    return true;
}

static gufo_status merge_piece(algorithm_scratch *s, gufo_str piece, gufo_error *error)
{
    merging *m = &s->merging;
    gufo_status status = GUFO_OK;

    if (s->work->watch != NULL && spell(s, piece).data == NULL)
        return fail_memory(error);
    m->watch = s->work->watch != NULL ? show_merge : NULL;
    m->context = s;
    if (!make_parts(s, piece) || !merge_parts(m))
        return fail_memory(error);
    for (uint32_t i = 0; i < m->count && status == GUFO_OK; i++)
        status = add_symbol(s, piece, m->parts[i].symbol, m->parts[i].begin,
                            i + 1 < m->count ? m->parts[i + 1].begin : m->end, error);
    return status;
}

static bool is_newlines(gufo_str text)
{
    size_t at = 0;

    while (at < text.len && text.data[at] == '\n')
        at++;
    return at == text.len;
}

/* The token that the piece is as a whole, where such a piece is not merged; GUFO_NO_TOKEN. */
static gufo_status find_whole(algorithm_scratch *s, gufo_str piece, uint32_t *id, gufo_error *error)
{
    const gufo_vocab *v = s->vocab;

    *id = GUFO_NO_TOKEN;
    if (piece.len > v->texts.longest ||
        (!v->ignore_merges && !(v->pre->newline_tokens && is_newlines(piece))))
        return GUFO_OK;
    piece = spell(s, piece);
    if (piece.data == NULL)
        return fail_memory(error);
    *id = vocab_find(v, piece.data, piece.len);
    return GUFO_OK;
}

static gufo_status encode_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    algorithm_scratch *s = t->scratch;
    uint32_t id;
    gufo_status status;

    s->out = out;
    if (s->vocab->escape_spaces) {
        s->escaped.len = 0;
        if (!add_escaped(&s->escaped, piece))
            return fail_memory(error);
        piece = (gufo_str){s->escaped.data, s->escaped.len};
    }
    if (s->work->watch != NULL)
        show(s, (gufo_tokenize_event){
                    .kind = GUFO_TOKENIZE_PIECE, .text = spell(s, piece), .id = GUFO_NO_TOKEN});
    status = find_whole(s, piece, &id, error);
    if (status != GUFO_OK)
        return status;
    return id != GUFO_NO_TOKEN ? add_token(s, id, error) : merge_piece(s, piece, error);
}

/* The same for a piece that may be in the cache. */
static gufo_status add_piece(algorithm_scratch *s, gufo_str piece, gufo_error *error)
{
    return piece_cache_encode(&s->cache, encode_piece, s->work, piece, s->out, error);
}

/* Raw text comes in long pieces: parts that no merge leaves are looked up on their own. */
gufo_status bpe_add_piece(algorithm_scratch *s, gufo_str piece, gufo_error *error)
{
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    if (piece.len > LONGEST_PIECE)
        return refuse(error, GUFO_E_LIMIT, "a piece of text of %s bytes is too long to be merged",
                      GROUPED(piece.len));
    if (s->vocab->byte_alphabet || is_newlines(piece) || s->work->watch != NULL)
        return add_piece(s, piece, error);
    for (size_t at = 0, end; at < piece.len && status == GUFO_OK; at = end) {
        end = piece_end(&t->pairs, piece.data, at, piece.len);
        status = add_piece(s, (gufo_str){piece.data + at, end - at}, error);
    }
    return status;
}
