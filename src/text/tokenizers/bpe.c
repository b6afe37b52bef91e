/* Byte-pair encoding: tokenizer models gpt2 and gemma4.
 *
 *     text     " Hello"        a piece of the pre-tokenizer
 *     symbols  Ġ H e l l o     its bytes in the byte alphabet; or its characters (raw text)
 *     merged   ĠH ell o, ĠHello     pair by pair, as the list of merges says
 *     ids      18435
 *
 * Pieces do not depend on each other: what short ones gave is remembered. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/tokenizers/bpe_piece.h"
#include "text/vocabulary/characters.h"
#include "text/vocabulary/vocabulary.h"

#define SPACE_SIGN "\xe2\x96\x81" /* U+2581 */
#define SPACE_SIGN_SIZE 3
#define LONGEST_PIECE ((size_t)256 << 20)

/* ---- opening -------------------------------------------------------------------------------- */

/* Whether U+2581 follows another character in this text. */
static bool has_space_inside(gufo_str text)
{
    for (size_t at = 1; at + SPACE_SIGN_SIZE <= text.len; at++) {
        if (memcmp(text.data + at, SPACE_SIGN, SPACE_SIGN_SIZE) == 0 &&
            (at < SPACE_SIGN_SIZE ||
             memcmp(text.data + at - SPACE_SIGN_SIZE, SPACE_SIGN, SPACE_SIGN_SIZE) != 0))
            return true;
    }
    return false;
}

static bool can_cut_words(const gufo_vocab *v, const merge_table *merges)
{
    for (uint32_t i = 0; i < merges->count; i++)
        if (has_space_inside(merge_table_text(merges, v, merges->results[i])))
            return false;
    return true;
}

static gufo_status fill_bytes(bpe_tables *t, const gufo_vocab *v, gufo_error *error)
{
    byte_alphabet_fill(&t->alphabet);
    for (unsigned byte = 0; byte < 256; byte++) {
        gufo_str one = {(const char *)&(uint8_t){(uint8_t)byte}, 1};
        gufo_str shown = {t->alphabet.text[byte], t->alphabet.len[byte]};

        t->fallback[byte] =
            v->byte_alphabet ? vocab_find(v, one.data, 1) : vocab_find_byte(v, (uint8_t)byte);
        t->symbols[byte] = v->byte_alphabet ? merge_table_add(&t->merges, v, shown)
                           : byte < 0x80    ? merge_table_find(&t->merges, v, one)
                                            : NO_SYMBOL;
        if (v->byte_alphabet && t->symbols[byte] == NO_SYMBOL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

static gufo_status open_bpe(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    bpe_tables *t = mem_zero(&v->allocator, sizeof *t);
    bool required = strcmp(v->pre->name, "kimi-k2") != 0;
    gufo_status status;

    if (t == NULL)
        return fail_memory(error);
    v->tables = t;
    t->pre = pretokenizer_new(v->pre->shape, &v->allocator, error);
    if (t->pre == NULL)
        return error != NULL ? error->code : GUFO_E_MEMORY;
    status = merge_table_open(&t->merges, v, model, required, error);
    if (status == GUFO_OK)
        status = fill_bytes(t, v, error);
    if (status == GUFO_OK && !v->byte_alphabet)
        t->cuts_words = can_cut_words(v, &t->merges);
    return status;
}

static void close_bpe(gufo_vocab *v)
{
    bpe_tables *t = v->tables;

    pretokenizer_free(t->pre);
    merge_table_close(&t->merges, v);
    mem_free(&v->allocator, t);
}

static void free_scratch(algorithm_scratch *s, const gufo_allocator *allocator)
{
    pre_scratch_free(s->pre);
    piece_cache_close(&s->cache);
    merging_free(&s->merging);
    buffer_free(&s->parts);
    buffer_free(&s->escaped);
    buffer_free(&s->shown);
    buffer_free(&s->offsets);
    mem_free(allocator, s);
}

static algorithm_scratch *new_scratch(const gufo_vocab *v, const gufo_allocator *allocator,
                                      gufo_error *error)
{
    const bpe_tables *t = v->tables;
    algorithm_scratch *s = mem_zero(allocator, sizeof *s);

    if (s == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    s->vocab = v;
    s->merging.table = &t->merges;
    s->merging.links.allocator = s->merging.heap.allocator = allocator;
    s->parts.allocator = s->escaped.allocator = allocator;
    s->shown.allocator = s->offsets.allocator = allocator;
    s->pre = pre_scratch_new(t->pre, allocator, error);
    if (s->pre != NULL && piece_cache_open(&s->cache, allocator))
        return s;
    if (s->pre != NULL)
        (void)fail_memory(error);
    free_scratch(s, allocator);
    return NULL;
}

/* ---- encoding ------------------------------------------------------------------------------- */

static bool is_space_sign(gufo_str text, size_t at)
{
    return text.len - at >= SPACE_SIGN_SIZE &&
           memcmp(text.data + at, SPACE_SIGN, SPACE_SIGN_SIZE) == 0;
}

/* The piece with U+2581 for spaces, where token texts have that. */
static gufo_status escape(algorithm_scratch *s, gufo_str *piece, gufo_error *error)
{
    char *to = NULL, *start;

    if (!s->vocab->escape_spaces)
        return GUFO_OK;
    s->escaped.len = 0;
    start = to = buffer_extend(&s->escaped, SPACE_SIGN_SIZE * (uint64_t)piece->len);
    if (to == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < piece->len; i++) {
        if (piece->data[i] != ' ') {
            *to++ = piece->data[i];
            continue;
        }
        memcpy(to, SPACE_SIGN, SPACE_SIGN_SIZE);
        to += SPACE_SIGN_SIZE;
    }
    *piece = (gufo_str){start, (size_t)(to - start)};
    return GUFO_OK;
}

/* Bytes up to the next place behind the start where a U+2581 follows another character. */
static size_t word_size(gufo_str text)
{
    bool was_space = true;

    for (size_t at = 0; at < text.len;) {
        bool space = is_space_sign(text, at);

        if (space && !was_space)
            return at;
        was_space = space;
        at += space ? SPACE_SIGN_SIZE : 1;
    }
    return text.len;
}

static gufo_status take_piece(void *context, gufo_str piece, gufo_error *error)
{
    algorithm_scratch *s = context;
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    if (piece.len > LONGEST_PIECE)
        return refuse(error, GUFO_E_LIMIT, "a piece of text of %zu bytes is too long to be merged",
                      piece.len);
    status = escape(s, &piece, error);
    if (status == GUFO_OK && s->work->watch != NULL)
        bpe_show(s, (gufo_tokenize_event){.kind = GUFO_TOKENIZE_PIECE,
                                          .text = bpe_show_piece(s, piece),
                                          .id = GUFO_NO_TOKEN});
    if (!t->cuts_words && status == GUFO_OK)
        return bpe_add_piece(s, piece, error);
    while (piece.len > 0 && status == GUFO_OK) {
        gufo_str word = {piece.data, word_size(piece)};

        status = bpe_add_piece(s, word, error);
        piece = str_from(piece, word.len);
    }
    return status;
}

static gufo_status encode_bpe(tokenizing *work, fragment_part part, gufo_ids *out,
                              gufo_error *error)
{
    algorithm_scratch *s = work->scratch;

    s->work = work;
    s->out = out;
    return pretokenizer_run(s->pre, part.text, take_piece, s, error);
}

/* Before a space that follows another character, as word_size does it. */
static size_t cut_words(gufo_str text)
{
    for (size_t at = text.len; at-- > 1;) {
        bool space = text.data[at] == ' ' || is_space_sign(text, at);

        if (space && text.data[at - 1] != ' ' &&
            !(at >= SPACE_SIGN_SIZE && is_space_sign(text, at - SPACE_SIGN_SIZE)))
            return at;
    }
    return 0;
}

static size_t cut_bpe(const gufo_vocab *v, gufo_str text)
{
    const bpe_tables *t = v->tables;
    size_t at = t->cuts_words ? cut_words(text) : 0;

    return at > 0 ? at : pretokenizer_cut(t->pre, text);
}

const token_algorithm algorithm_bpe = {
    .name = "BPE",
    .open = open_bpe,
    .close = close_bpe,
    .scratch_new = new_scratch,
    .scratch_free = free_scratch,
    .encode = encode_bpe,
    .cut = cut_bpe,
    .parallel = true,
};
