/* Models of words: a word is a token, or the longest tokens from left to right. */
#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/models/model.h"
#include "text/characters/characters.h"

/* ---- WordLevel: a piece is a token, or it is the unknown token ------------------------------ */

typedef struct word_level {
    uint32_t unknown; /* GUFO_NO_TOKEN: "unk_token" is not in the vocabulary */
} word_level;

static bool looks_like_words(const tokenizer_file *f)
{
    return f->has_vocab && !f->vocab_is_list;
}

static gufo_status open_words(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    word_level *w = mem_zero(&m->allocator, sizeof *w);
    gufo_str unknown;
    gufo_status status;

    m->tables = w;
    if (w == NULL)
        return fail_memory(error);
    status = model_vocab(f, false, error);
    if (status == GUFO_OK)
        status = model_read_text(f, "unk_token", true, &unknown, error);
    if (status == GUFO_OK)
        w->unknown = model_find(m, unknown);
    return status;
}

static void close_words(token_model *m)
{
    mem_free(&m->allocator, m->tables);
}

static gufo_status encode_word(const token_model *m, model_room *room, gufo_str piece,
                               token_sink *out, gufo_error *error)
{
    const word_level *w = m->tables;
    uint32_t id = model_find(m, piece);

    (void)room;
    if (id == GUFO_NO_TOKEN)
        id = w->unknown;
    if (id == GUFO_NO_TOKEN)
        return refuse(error, GUFO_E_MALFORMED, "the vocabulary has neither %s nor \"unk_token\"",
                      QUOTED(piece));
    return token_sink_add(out, id, 0, piece.len) ? GUFO_OK : fail_memory(error);
}

const model_class model_word_level = {
    .name = "WordLevel",
    .looks_so = looks_like_words,
    .open = open_words,
    .close = close_words,
    .encode = encode_word,
};

/* ---- WordPiece ------------------------------------------------------------------------------ */

/* The longest tokens from left to right; what is behind the first one has a prefix.
 *
 *     unaffable      un ##aff ##able
 *
 * If some rest begins with no token, or the piece has too many characters, all of it is one unknown
 * token. */

typedef struct wordpiece {
    trie *tokens;
    uint64_t inside;  /* the node behind the prefix; TRIE_NONE: no token has it */
    uint64_t most;    /* characters of a piece */
    uint32_t unknown; /* GUFO_NO_TOKEN: "unk_token" is not in the vocabulary */
} wordpiece;

static bool looks_like_wordpiece(const tokenizer_file *f)
{
    return f->has_vocab && !f->vocab_is_list &&
           tokenizer_file_flag(f, "max_input_chars_per_word") != NULL;
}

static gufo_status read_members(token_model *m, const tokenizer_file *f, gufo_str *prefix,
                                gufo_error *error)
{
    wordpiece *w = m->tables;
    gufo_str unknown;
    bool found;
    gufo_status status = model_vocab(f, false, error);

    if (status == GUFO_OK)
        status = model_read_text(f, "unk_token", true, &unknown, error);
    if (status == GUFO_OK)
        status = model_read_text(f, "continuing_subword_prefix", true, prefix, error);
    if (status == GUFO_OK)
        status = model_read_count(f, "max_input_chars_per_word", &w->most, &found, error);
    if (status == GUFO_OK && !found)
        status = model_lacks(f, "max_input_chars_per_word", error);
    if (status == GUFO_OK)
        w->unknown = model_find(m, unknown);
    return status;
}

static gufo_status open_wordpiece(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    wordpiece *w = mem_zero(&m->allocator, sizeof *w);
    gufo_str prefix;
    gufo_status status;

    m->tables = w;
    if (w == NULL)
        return fail_memory(error);
    status = read_members(m, f, &prefix, error);
    if (status != GUFO_OK)
        return status;
    w->tokens = text_table_trie(&m->texts, NULL, m->texts.count, &m->allocator, error);
    if (w->tokens == NULL)
        return trie_status(error);
    w->inside = trie_walk(w->tokens, w->tokens->root, prefix.data, prefix.len);
    return GUFO_OK;
}

static void close_wordpiece(token_model *m)
{
    wordpiece *w = m->tables;

    trie_free(w->tokens);
    mem_free(&m->allocator, w);
}

static bool is_too_long(const wordpiece *w, gufo_str piece)
{
    uint64_t characters = 0;

    if (piece.len <= w->most)
        return false;
    for (size_t i = 0; i < piece.len; i++)
        characters += ((uint8_t)piece.data[i] & 0xC0) != 0x80;
    return characters > w->most;
}

/* The length of the longest token that goes on from a node, and its number; 0: none. */
static size_t longest(const trie *tokens, uint64_t node, gufo_str text, uint32_t *number)
{
    size_t best = 0;

    for (size_t at = 0; at < text.len && node != TRIE_NONE;) {
        at += trie_skip(tokens, &node, text.data + at, text.len - at);
        node = trie_step(tokens, node, (uint8_t)text.data[at++]);
        if (trie_value(node) != TRIE_NO_ID) {
            *number = trie_value(node);
            best = at;
        }
    }
    return best;
}

/* Whether the piece is tokens; their numbers. */
static bool add_tokens(const token_model *m, gufo_str piece, token_sink *out, bool *memory)
{
    const wordpiece *w = m->tables;
    uint64_t node = w->tokens->root;
    uint32_t number = 0;

    for (size_t at = 0, len; at < piece.len && *memory; at += len, node = w->inside) {
        gufo_str rest = {piece.data + at, piece.len - at};

        len = longest(w->tokens, node, rest, &number);
        if (len == 0)
            return false;
        *memory = token_sink_add(out, model_id(m, number), at, at + len);
    }
    return true;
}

static gufo_status encode_wordpiece(const token_model *m, model_room *room, gufo_str piece,
                                    token_sink *out, gufo_error *error)
{
    const wordpiece *w = m->tables;
    uint64_t count = token_sink_count(out);
    bool memory = true;

    (void)room;
    if (!is_too_long(w, piece) && add_tokens(m, piece, out, &memory))
        return memory ? GUFO_OK : fail_memory(error);
    token_sink_cut(out, count);
    if (w->unknown == GUFO_NO_TOKEN)
        return refuse(error, GUFO_E_MALFORMED,
                      "%s is not made of tokens, and \"unk_token\" is not in the vocabulary",
                      QUOTED(piece));
    return token_sink_add(out, w->unknown, 0, piece.len) ? GUFO_OK : fail_memory(error);
}

const model_class model_wordpiece = {
    .name = "WordPiece",
    .looks_so = looks_like_wordpiece,
    .open = open_wordpiece,
    .close = close_wordpiece,
    .encode = encode_wordpiece,
};
