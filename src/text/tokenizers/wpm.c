/* WPM, the WordPiece of BERT (model "bert"): a text is split into words, a word into the longest
 * tokens from the left.
 *
 *     words     ▁hello  ▁,  ▁worlds     lower-cased, without accents, as the vocabulary says
 *     tokens    ▁hello  ▁,  ▁world s    a word that is not made of tokens is one unknown token
 *
 * Words end at white space and punctuation of ASCII, whatever surrounds it: the stretches between
 * are found again in a cache. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/trace.h"
#include "text/tokenizers/wpm_words.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

enum { LONGEST_ORIGINAL = 100 }; /* characters of a word that the original tokenizer looks at */

/* What a byte is to the split of a text. */
typedef enum wpm_byte { WPM_WORD = 0, WPM_SPACE, WPM_PUNCTUATION } wpm_byte;

typedef struct wpm_tables {
    trie *tokens;
    uint8_t kinds[256]; /* of wpm_byte */
    /* Behind U+2581, with which each word begins: the node, and the longest token in it. */
    uint64_t begun, begun_best;
    uint32_t punctuation[128]; /* the token of a word of this one byte; GUFO_NO_TOKEN */
} wpm_tables;

struct algorithm_scratch {
    piece_cache cache;
    wpm_words words;
    const char *part; /* the text of the part at hand */
};

/* ---- opening -------------------------------------------------------------------------------- */

/* As llama.cpp reads it: bytes of ASCII at which words end, and punctuation that is a word. */
static wpm_byte byte_kind(uint8_t byte)
{
    if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
        return WPM_SPACE;
    return byte > ' ' && byte < 0x7f && !is_letter((char)byte) && !is_digit((char)byte)
               ? WPM_PUNCTUATION
               : WPM_WORD;
}

/* The original tokenizer drops other controls of ASCII; punctuation may belong to a longer word for
 * its rules of lower case. */
static wpm_byte original_kind(uint8_t byte)
{
    return byte == '\t' || byte == '\n' || byte == '\r' || byte == ' ' ? WPM_SPACE : WPM_WORD;
}

/* Begins the look-up that all words have in common, and ends that of the shortest. */
static void begin_words(wpm_tables *w)
{
    gufo_str mark = gufo_str_of(ESCAPED_SPACE);
    char word[sizeof ESCAPED_SPACE] = ESCAPED_SPACE;

    w->begun = trie_walk(w->tokens, w->tokens->root, mark.data, mark.len);
    w->begun_best = trie_last(w->tokens, w->tokens->root, mark, 0, TRIE_NONE);
    for (unsigned byte = 0; byte < 128; byte++) {
        uint32_t id = GUFO_NO_TOKEN;

        word[mark.len] = (char)byte;
        w->punctuation[byte] =
            trie_longest(w->tokens, (gufo_str){word, sizeof word}, &id) == sizeof word
                ? id
                : GUFO_NO_TOKEN;
    }
}

static gufo_status wpm_open(gufo_vocab *vocab, const gufo_model *model, gufo_error *error)
{
    wpm_tables *w = mem_zero(&vocab->allocator, sizeof *w);

    (void)model;
    if (w == NULL)
        return fail_memory(error);
    vocab->tables = w;
    for (unsigned byte = 0; byte < 256; byte++)
        w->kinds[byte] =
            (uint8_t)(vocab->original ? original_kind((uint8_t)byte) : byte_kind((uint8_t)byte));
    w->tokens = text_table_trie(&vocab->texts, NULL, vocab->size, &vocab->allocator, error);
    if (w->tokens != NULL)
        begin_words(w);
    vocab->differs =
        "the tokenizer of BERT keeps all letters of Hangul, drops controls and characters "
        "that are not assigned, and takes words of more than 100 characters as unknown";
    return w->tokens != NULL ? GUFO_OK : trie_status(error);
}

static void wpm_close(gufo_vocab *vocab)
{
    wpm_tables *w = vocab->tables;

    trie_free(w->tokens);
    mem_free(&vocab->allocator, w);
}

static algorithm_scratch *wpm_scratch_new(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                          gufo_error *error)
{
    algorithm_scratch *scratch = mem_zero(allocator, sizeof *scratch);

    if (scratch == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    scratch->cache.allocator = allocator;
    scratch->words = (wpm_words){.lowercase = vocab->lowercase,
                                 .strip_accents = vocab->strip_accents,
                                 .word = {.allocator = allocator},
                                 .text = {.allocator = allocator},
                                 .points = {.allocator = allocator},
                                 .origins = {.allocator = allocator},
                                 .placed = {.allocator = allocator},
                                 .placed_points = {.allocator = allocator}};
    return scratch;
}

static void wpm_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    piece_cache_free(&scratch->cache);
    wpm_words_free(&scratch->words);
    mem_free(allocator, scratch);
}

/* ---- words ---------------------------------------------------------------------------------- */

typedef struct word_output {
    const tokenizing *t;
    gufo_ids *out;
    gufo_error *error;
    gufo_status status;
} word_output;

/* What a stretch of the word comes from. */
static gufo_span span_of(const tokenizing *t, gufo_str text)
{
    const wpm_words *words = &t->scratch->words;
    size_t begin = (size_t)(text.data - words->word.data);

    return origins_range(words->origins.list, begin, begin + text.len);
}

static bool add_id(word_output *o, uint32_t id)
{
    if (ids_add(o->out, id))
        return true;
    o->status = fail_memory(o->error);
    return false;
}

/* The same for a stretch of a word, with what it comes from. */
static bool add_traced(word_output *o, gufo_str text, uint32_t id)
{
    const gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_TOKEN, .text = text, .id = id};

    if (trace_token(o->t, o->out, event, span_of(o->t, text)))
        return true;
    o->status = fail_memory(o->error);
    return false;
}

static bool is_too_long(const gufo_vocab *v, gufo_str word)
{
    size_t characters = 0;

    for (size_t i = 0; v->original && i < word.len; i++)
        characters += ((uint8_t)word.data[i] & 0xc0) != 0x80;
    return characters > LONGEST_ORIGINAL + 1; /* U+2581 is one */
}

/* The unknown token; GUFO_NO_TOKEN, and a failure, if there is none. */
static uint32_t unknown_token(word_output *o)
{
    uint32_t id = o->t->vocab->special[GUFO_SPECIAL_UNKNOWN];

    if (id == GUFO_NO_TOKEN)
        o->status = refuse(o->error, GUFO_E_MALFORMED,
                           "the vocabulary has no tokens for a word, and no unknown token");
    return id;
}

/* The longest token at a place of a word: its node, or TRIE_NONE. */
static inline uint64_t longest_at(const wpm_tables *w, gufo_str word, size_t at)
{
    const size_t mark = sizeof ESCAPED_SPACE - 1;

    if (at == 0 && w->begun != TRIE_NONE)
        return trie_last(w->tokens, w->begun, word, mark, w->begun_best);
    return trie_last(w->tokens, w->tokens->root, str_from(word, at), 0, TRIE_NONE);
}

/* Whether a word is made of tokens. */
static bool is_known(const gufo_vocab *v, gufo_str word)
{
    const wpm_tables *w = v->tables;
    uint32_t id;
    size_t at = 0, len = is_too_long(v, word) ? 0 : 1;

    for (; len > 0 && at < word.len; at += len)
        len = trie_longest(w->tokens, str_from(word, at), &id);
    return len > 0;
}

/* Appends the tokens of a word that is traced. */
static bool take_traced(void *context, gufo_str word)
{
    word_output *o = context;
    const wpm_tables *w = o->t->vocab->tables;
    uint32_t id = GUFO_NO_TOKEN;
    bool done = true;

    trace_step(
        o->t, (gufo_tokenize_event){.kind = GUFO_TOKENIZE_PIECE, .text = word, .id = GUFO_NO_TOKEN},
        span_of(o->t, word));
    if (!is_known(o->t->vocab, word)) {
        id = unknown_token(o);
        return id != GUFO_NO_TOKEN && add_traced(o, word, id);
    }
    for (size_t at = 0, len; done && at < word.len; at += len) {
        len = trie_longest(w->tokens, str_from(word, at), &id);
        done = add_traced(o, (gufo_str){word.data + at, len}, id);
    }
    return done;
}

/* Appends the tokens of a word. */
static bool take_word(void *context, gufo_str word)
{
    word_output *o = context;
    const wpm_tables *w = o->t->vocab->tables;
    size_t before = o->out->count;
    bool unknown = is_too_long(o->t->vocab, word);
    uint32_t id;

    for (size_t at = 0; at < word.len && !unknown;) {
        uint64_t node = longest_at(w, word, at);

        at += trie_length(w->tokens, node);
        if (node == TRIE_NONE)
            unknown = true;
        else if (!add_id(o, trie_value(node)))
            return false;
    }
    if (!unknown)
        return true;
    o->out->count = before;
    id = unknown_token(o);
    return id != GUFO_NO_TOKEN && add_id(o, id);
}

/* ---- encoding ------------------------------------------------------------------------------- */

static gufo_status split_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    word_output o = {t, out, error, GUFO_OK};
    wpm_words *words = &t->scratch->words;
    size_t begin = (size_t)(piece.data - t->scratch->part);
    bool done;

    words->take = t->traced ? take_traced : take_word;
    words->context = &o;
    words->word.len = 0;
    words->traced = t->traced;
    done = t->vocab->original ? wpm_split_original(words, piece, begin)
                              : wpm_split(words, piece, begin);
    if (done || o.status != GUFO_OK)
        return o.status;
    return fail_memory(error);
}

static gufo_status encode_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    return piece_cache_encode(&t->scratch->cache, split_piece, t, piece, out, error);
}

static gufo_status wpm_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    const wpm_tables *w = t->vocab->tables;
    const uint8_t *kinds = w->kinds;
    const uint8_t *text = (const uint8_t *)part.text.data;
    size_t at = 0;
    gufo_status status = GUFO_OK;

    t->scratch->part = part.text.data;
    while (status == GUFO_OK && at < part.text.len) {
        size_t begin = at++;

        if (kinds[text[begin]] == WPM_SPACE)
            continue;
        if (kinds[text[begin]] == WPM_PUNCTUATION && !t->traced &&
            w->punctuation[text[begin]] != GUFO_NO_TOKEN) {
            if (!ids_add(out, w->punctuation[text[begin]]))
                return fail_memory(error);
            continue;
        }
        if (kinds[text[begin]] == WPM_WORD)
            while (at < part.text.len && kinds[text[at]] == WPM_WORD)
                at++;
        status = encode_piece(t, (gufo_str){part.text.data + begin, at - begin}, out, error);
    }
    return status;
}

/* Whether a character that is a word of its own, or white space, begins here, and is complete. */
static bool begins_own_word(const gufo_vocab *v, gufo_str text)
{
    size_t size;
    uint32_t c;

    if ((uint8_t)*text.data < 0xc0)
        return false;
    c = lenient_decode(text.data, text.len, &size);
    if (v->strip_accents)
        c = wpm_first_of_decomposition(c);
    return size > 1 && (class_of(c) == CLASS_W || wpm_is_own_word(c));
}

static size_t wpm_cut(const gufo_vocab *vocab, gufo_str text)
{
    const uint8_t *kinds = ((const wpm_tables *)vocab->tables)->kinds;

    for (size_t at = text.len; at-- > 1;)
        if (kinds[(uint8_t)text.data[at - 1]] != WPM_WORD ||
            kinds[(uint8_t)text.data[at]] != WPM_WORD ||
            (!vocab->original && begins_own_word(vocab, str_from(text, at))))
            return at;
    return 0;
}

const token_algorithm algorithm_wpm = {
    .name = "WPM",
    .open = wpm_open,
    .close = wpm_close,
    .scratch_new = TOKENIZES(wpm_scratch_new),
    .scratch_free = TOKENIZES(wpm_scratch_free),
    .encode = TOKENIZES(wpm_encode),
    .cut = TOKENIZES(wpm_cut),
    .parallel = true,
};
