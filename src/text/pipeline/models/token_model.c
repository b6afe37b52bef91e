/* The frame around models: the vocabulary, and pieces that were encoded before.
 *
 * A piece gives the same ids wherever it is.  Long pieces are cut where the model says that no token
 * and nothing that waits crosses: their parts come again, as words do. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/models/model.h"
#include "text/tokenizers/piece_cache.h"

/* Many times what the largest vocabularies have, and the longest tokens.  Encoding looks as far ahead
 * as tokens reach: longer ones would make the time quadratic, of a text that repeats its begin. */
enum { MOST_TEXTS = TRIE_MOST_TEXTS, LONGEST_TEXT = 65535 };

#define LONGEST_PIECE ((size_t)256 << 20)

/* Without "type", the first one that a file looks like. */
enum { KINDS = 4 };

static const model_class *const kinds[KINDS] = {&model_bpe, &model_wordpiece, &model_unigram,
                                                &model_word_level};

struct model_scratch {
    gufo_allocator allocator;
    piece_cache cache;
    const model_class *kind;
    model_room *room;
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status find_kind(const tokenizer_file *f, const model_class **kind, gufo_error *error)
{
    gufo_str type;
    gufo_status status = model_read_text(f, "type", false, &type, error);

    *kind = NULL;
    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < KINDS && *kind == NULL; i++)
        if (type.data == NULL ? kinds[i]->looks_so(f)
                              : gufo_str_equal(type, gufo_str_of(kinds[i]->name)))
            *kind = kinds[i];
    if (*kind == NULL && type.data == NULL)
        return refuse(error, GUFO_E_MALFORMED,
                      "the model has no \"type\", and its members fit no known type");
    return *kind != NULL ? GUFO_OK
                         : refuse(error, GUFO_E_TYPE, "no model is called %s", QUOTED(type));
}

bool token_model_is(const tokenizer_file *f, const char *name)
{
    const model_class *kind;

    return find_kind(f, &kind, NULL) == GUFO_OK && strcmp(kind->name, name) == 0;
}

/* Ids need not be told where they are the numbers of the texts. */
static bool copy_ids(token_model *m, const tokenizer_file *f)
{
    uint32_t i = 0;

    while (i < f->vocab_count && f->vocab[i].id == i)
        i++;
    if (i == f->vocab_count)
        return true;
    m->ids = mem_array(&m->allocator, f->vocab_count, sizeof *m->ids);
    for (i = 0; m->ids != NULL && i < f->vocab_count; i++)
        m->ids[i] = f->vocab[i].id;
    return m->ids != NULL;
}

static gufo_status copy_texts(token_model *m, const tokenizer_file *f, gufo_error *error)
{
    if (f->vocab_count > MOST_TEXTS)
        return refuse(error, GUFO_E_LIMIT, "a vocabulary of %s tokens is too large",
                      GROUPED(f->vocab_count));
    for (uint32_t i = 0; i < f->vocab_count; i++) {
        if (f->vocab[i].text.len > LONGEST_TEXT)
            return refuse(error, GUFO_E_LIMIT, "token %" PRIu32 " has %s bytes, of at most %s",
                          f->vocab[i].id, GROUPED(f->vocab[i].text.len), GROUPED(LONGEST_TEXT));
        if (f->vocab[i].id == GUFO_NO_TOKEN)
            return refuse(error, GUFO_E_LIMIT,
                          "token %s has the id %" PRIu32 ", which is too large",
                          QUOTED(f->vocab[i].text), f->vocab[i].id);
    }
    return text_table_copy(&m->texts, &f->texts, &m->allocator) && copy_ids(m, f)
               ? GUFO_OK
               : fail_memory(error);
}

token_model *token_model_new(const tokenizer_file *f, unsigned threads,
                             const gufo_allocator *allocator, gufo_error *error)
{
    token_model *m = mem_object(allocator, sizeof *m, error);
    gufo_status status;

    if (m == NULL)
        return NULL;
    m->threads = threads;
    m->verbatim = GUFO_NO_TOKEN;
    status = find_kind(f, &m->kind, error);
    if (status == GUFO_OK)
        status = copy_texts(m, f, error);
    if (status == GUFO_OK)
        status = m->kind->open(m, f, error);
    if (status == GUFO_OK)
        return m;
    token_model_free(m);
    return NULL;
}

uint32_t token_model_verbatim(const token_model *m)
{
    return m->verbatim;
}

void token_model_free(token_model *m)
{
    gufo_allocator allocator;

    if (m == NULL)
        return;
    allocator = m->allocator;
    if (m->tables != NULL)
        m->kind->close(m);
    text_table_free(&m->texts, &allocator);
    mem_free(&allocator, m->ids);
    mem_free(&allocator, m);
}

const char *token_model_name(const token_model *m)
{
    return m->kind->name;
}

model_scratch *model_scratch_new(const token_model *m, const gufo_allocator *allocator,
                                 gufo_error *error)
{
    model_scratch *s = mem_object(allocator, sizeof *s, error);

    if (s == NULL)
        return NULL;
    s->kind = m->kind;
    s->cache.allocator = &s->allocator;
    if (m->kind->room_new == NULL)
        return s;
    s->room = m->kind->room_new(m, &s->allocator, error);
    if (s->room != NULL)
        return s;
    model_scratch_free(s);
    return NULL;
}

void model_scratch_free(model_scratch *s)
{
    gufo_allocator allocator;

    if (s == NULL)
        return;
    allocator = s->allocator;
    if (s->room != NULL)
        s->kind->room_free(s->room, &allocator);
    piece_cache_free(&s->cache);
    mem_free(&allocator, s);
}

/* ---- tokens --------------------------------------------------------------------------------- */

void piece_tokens_free(piece_tokens *t)
{
    mem_free(mem_allocator(t->allocator), t->list);
    *t = (piece_tokens){.allocator = t->allocator};
}

static gufo_status check_length(gufo_str piece, gufo_error *error)
{
    return piece.len <= LONGEST_PIECE
               ? GUFO_OK
               : refuse(error, GUFO_E_LIMIT,
                        "a piece of text of %s bytes is too long to be encoded",
                        GROUPED(piece.len));
}

/* ---- encoding ------------------------------------------------------------------------------- */

static size_t part_length(const token_model *m, gufo_str piece)
{
    return m->kind->part != NULL && piece.len > CACHED_BYTES ? m->kind->part(m, piece) : piece.len;
}

/* The ids of a part of a piece, which may be in the cache. */
static gufo_status add_part(const token_model *m, model_scratch *s, gufo_str part, token_sink *out,
                            gufo_error *error)
{
    size_t before = out->ids->count;
    cached_piece *place = NULL;
    bool found = false;
    gufo_status status;

    if (part.len <= CACHED_BYTES)
        place = piece_cache_at(&s->cache, part, &found);
    if (found)
        return piece_cache_add(place, out->ids) ? GUFO_OK : fail_memory(error);
    status = m->kind->encode(m, s->room, part, out, error);
    if (status == GUFO_OK)
        piece_cache_keep(place, part.len, out->ids, before);
    return status;
}

gufo_status token_model_ids(const token_model *m, model_scratch *s, gufo_str piece, gufo_ids *out,
                            gufo_error *error)
{
    token_sink sink = {.ids = out};
    gufo_status status = check_length(piece, error);

    while (status == GUFO_OK && piece.len > 0) {
        size_t len = part_length(m, piece);

        status = add_part(m, s, (gufo_str){piece.data, len}, &sink, error);
        piece = str_from(piece, len);
    }
    return status;
}

/* Bytes of a prefix are more than the piece has. */
static void clamp(piece_tokens *tokens, uint64_t first, size_t len)
{
    for (uint64_t i = first; i < tokens->count; i++) {
        model_token *token = &tokens->list[i];

        token->end = token->end < len ? token->end : (uint32_t)len;
        token->begin = token->begin < token->end ? token->begin : token->end - 1;
    }
}

gufo_status token_model_encode(const token_model *m, model_scratch *s, gufo_str piece,
                               piece_tokens *out, gufo_error *error)
{
    token_sink sink = {.tokens = out};
    gufo_str rest = piece;
    uint64_t before = out->count;
    gufo_status status = check_length(piece, error);

    while (status == GUFO_OK && rest.len > 0) {
        size_t len = part_length(m, rest);

        status = m->kind->encode(m, s->room, (gufo_str){rest.data, len}, &sink, error);
        rest = str_from(rest, len);
    }
    clamp(out, before, piece.len);
    return status;
}
