/* UGM, the unigram model of SentencePiece (models "t5" and "replit"): of all ways to make the
 * normalized text from tokens, the one with the highest sum of scores.
 *
 * A text is cut where no token crosses (ugm_cuts.h).  Parts are found again in a cache. */
#include <float.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/tokenizers/best_path.h"
#include "text/tokenizers/escaped.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/ugm_cuts.h"
#include "text/tokenizers/ugm_normalizer.h"
#include "text/vocabulary/characters.h"

typedef struct ugm_tables {
    ugm_normalizer normalizer;
    path_rules rules;
    ugm_cuts cuts;
    bool can_stream; /* that a later part has a word before it is certain, too */
} ugm_tables;

struct algorithm_scratch {
    piece_cache cache;
    gufo_text normalized;
    path_room path;
    ugm_state state;
};

/* ---- opening -------------------------------------------------------------------------------- */

static trie *make_trie(const gufo_vocab *v, bool wanted(unsigned type), gufo_error *error)
{
    uint32_t *ids = mem_array(&v->allocator, v->size, sizeof *ids), count = 0;
    trie *made;

    if (ids == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    for (uint32_t id = 0; id < v->size; id++)
        if (wanted(vocab_type(v, id)))
            ids[count++] = id;
    made = text_table_trie(&v->texts, ids, count, &v->allocator, error);
    mem_free(&v->allocator, ids);
    return made;
}

static bool is_user_defined(unsigned type)
{
    return type == TYPE_USER_DEFINED;
}

static void find_range(const gufo_vocab *v, path_rules *rules)
{
    float lowest = FLT_MAX;

    rules->highest = -FLT_MAX;
    for (uint32_t id = 0; id < v->size; id++)
        if (vocab_type(v, id) == TYPE_NORMAL) {
            float score = vocab_score(v, id);

            lowest = score < lowest ? score : lowest;
            rules->highest = score > rules->highest ? score : rules->highest;
        }
    rules->unknown = (float)((double)lowest - 10.0);
}

static gufo_status ugm_open(gufo_vocab *vocab, const gufo_model *model, gufo_error *error)
{
    ugm_tables *u = mem_zero(&vocab->allocator, sizeof *u);
    gufo_entry map;
    gufo_status status = GUFO_OK;

    if (u == NULL)
        return fail_memory(error);
    vocab->tables = u;
    if (vocab_entry(model, "precompiled_charsmap", &map))
        status = charsmap_read(&u->normalizer.map, &map.value, &vocab->allocator, error);
    if (status != GUFO_OK)
        return status;
    u->normalizer.user_defined = make_trie(vocab, is_user_defined, error);
    u->rules.tokens = make_trie(vocab, ugm_is_matched, error);
    if (u->normalizer.user_defined == NULL || u->rules.tokens == NULL)
        return trie_status(error);
    u->normalizer.whole_tokens = vocab->original;
    ugm_normalizer_prepare(&u->normalizer);
    u->rules.scores = mem_array(&vocab->allocator, vocab->size, sizeof *u->rules.scores);
    if (u->rules.scores == NULL)
        return fail_memory(error);
    u->normalizer.extra_spaces = !vocab->remove_extra_spaces;
    u->normalizer.space_prefix = vocab->space_prefix;
    find_range(vocab, &u->rules);
    ugm_cuts_find(&u->cuts, vocab, &u->rules, &u->normalizer);
    u->can_stream = u->cuts.any && (!vocab->space_prefix || vocab->remove_extra_spaces ||
                                    u->normalizer.map.word_count == 0);
    vocab->differs =
        "SentencePiece keeps sums of scores as 32-bit floats, llama.cpp as doubles: where "
        "sums are nearly equal, they choose different tokens";
    return GUFO_OK;
}

static void ugm_settle(gufo_vocab *vocab)
{
    const ugm_tables *u = vocab->tables;

    for (uint32_t id = 0; id < vocab->size; id++) {
        bool user_defined = (vocab->attributes[id] & GUFO_TOKEN_USER_DEFINED) != 0;

        u->rules.scores[id] = user_defined ? 0.0f : vocab_score(vocab, id);
    }
}

static void ugm_close(gufo_vocab *vocab)
{
    ugm_tables *u = vocab->tables;

    charsmap_free(&u->normalizer.map, &vocab->allocator);
    trie_free(u->normalizer.user_defined);
    trie_free(u->rules.tokens);
    mem_free(&vocab->allocator, u->rules.scores);
    mem_free(&vocab->allocator, u);
}

static algorithm_scratch *ugm_scratch_new(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                          gufo_error *error)
{
    algorithm_scratch *scratch = mem_zero(allocator, sizeof *scratch);

    (void)vocab;
    if (scratch == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    scratch->cache.allocator = allocator;
    scratch->normalized.allocator = allocator;
    return scratch;
}

static void ugm_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    piece_cache_free(&scratch->cache);
    gufo_text_free(&scratch->normalized);
    mem_free(allocator, scratch->path.places);
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

static void show(const tokenizing *t, gufo_tokenize_event_kind kind, gufo_str text, uint32_t id)
{
    gufo_tokenize_event event = {.kind = kind, .text = text, .id = id};

    if (t->watch == NULL)
        return;
    if (kind == GUFO_TOKENIZE_TOKEN && id < t->vocab->size)
        event.score = vocab_score(t->vocab, id);
    t->watch(t->watch_context, &event);
}

/* Appends the ids of the best path; unknown tokens in a row are one. */
static gufo_status add_path(const tokenizing *t, gufo_str text, gufo_ids *out, gufo_error *error)
{
    const path_place *places = t->scratch->path.places;
    uint32_t unknown = t->vocab->special[GUFO_SPECIAL_UNKNOWN], at = 0;

    while (at < text.len) {
        uint32_t end = path_other(&places[at]), id = path_id(&places[end]);

        while (id == unknown && end < text.len &&
               path_id(&places[path_other(&places[end])]) == unknown)
            end = path_other(&places[end]);
        if (id == GUFO_NO_TOKEN)
            return refuse(error, GUFO_E_MALFORMED,
                          "the vocabulary has no token for a character, and no unknown token");
        if (!ids_add(out, id))
            return fail_memory(error);
        show(t, GUFO_TOKENIZE_TOKEN, (gufo_str){text.data + at, end - at}, id);
        at = end;
    }
    return GUFO_OK;
}

static gufo_status search_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    const ugm_tables *u = t->vocab->tables;
    algorithm_scratch *scratch = t->scratch;
    gufo_text *normalized = &scratch->normalized;
    gufo_status status;

    normalized->len = 0;
    if (!ugm_normalize(&u->normalizer, piece, &scratch->state, normalized))
        return fail_memory(error);
    piece = (gufo_str){normalized->data, normalized->len};
    if (piece.len == 0)
        return GUFO_OK;
    show(t, GUFO_TOKENIZE_PIECE, piece, GUFO_NO_TOKEN);
    status = best_path(t, &u->rules, piece, &scratch->path, error);
    return status == GUFO_OK ? add_path(t, piece, out, error) : status;
}

/* Pieces are the same wherever they are, as soon as no word can get another space before it. */
static bool can_keep(const tokenizing *t, gufo_str piece)
{
    const ugm_tables *u = t->vocab->tables;
    const ugm_normalizer *n = &u->normalizer;
    const ugm_state *state = &t->scratch->state;

    return u->cuts.any && (!n->extra_spaces || !n->space_prefix || state->prefixed) &&
           (*piece.data == ' ' || state->in_word);
}

/* Several pieces, the next ones of a text: the cache is asked for all before the first is encoded. */
typedef struct piece_batch {
    gufo_str pieces[16];
    piece_key keys[16]; /* of those that are short enough */
    unsigned count;
} piece_batch;

enum { BATCH = sizeof((piece_batch *)0)->pieces / sizeof(gufo_str) };

static inline void add_piece(piece_batch *b, const piece_cache *cache, gufo_str piece)
{
    b->pieces[b->count] = piece;
    if (piece.len <= CACHED_BYTES) {
        b->keys[b->count] = piece_cache_key(piece);
        piece_cache_fetch(cache, &b->keys[b->count]);
    }
    b->count++;
}

/* Cuts a text; returns what is left of it. */
static gufo_str cut_batch(const tokenizing *t, gufo_str text, piece_batch *b)
{
    const ugm_cuts *cuts = &((const ugm_tables *)t->vocab->tables)->cuts;
    const char *start = text.data, *at = start, *end = start + text.len;
    const bool words = t->watch != NULL; /* which are easier to read */

    b->count = 0;
    if (!cuts->any)
        at = end - 1;
    while (++at < end && b->count < BATCH)
        if (ugm_is_cut(cuts, at) && (!words || *at == ' ')) {
            add_piece(b, &t->scratch->cache, (gufo_str){start, (size_t)(at - start)});
            start = at;
        }
    if (at >= end && b->count < BATCH) {
        add_piece(b, &t->scratch->cache, (gufo_str){start, (size_t)(end - start)});
        start = end;
    }
    return (gufo_str){start, (size_t)(end - start)};
}

static gufo_status encode_batch(tokenizing *t, const piece_batch *b, gufo_ids *out,
                                gufo_error *error)
{
    algorithm_scratch *scratch = t->scratch;
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < b->count && status == GUFO_OK; i++) {
        gufo_str piece = b->pieces[i];

        if (piece.len <= CACHED_BYTES && t->watch == NULL && can_keep(t, piece)) {
            status = piece_cache_encode_key(&scratch->cache, search_piece, t, piece, &b->keys[i],
                                            out, error);
            scratch->state.in_word = true;
        } else {
            status = search_piece(t, piece, out, error);
        }
    }
    return status;
}

static gufo_status ugm_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    gufo_str rest = part.text;
    gufo_status status = GUFO_OK;
    piece_batch batch;

    /* A later part begins with a space, behind a word. */
    t->scratch->state = (ugm_state){.prefixed = !part.first};
    while (status == GUFO_OK && rest.len > 0) {
        rest = cut_batch(t, rest, &batch);
        status = encode_batch(t, &batch, out, error);
    }
    return status;
}

static size_t ugm_cut(const gufo_vocab *vocab, gufo_str text)
{
    const ugm_tables *u = vocab->tables;

    for (size_t at = text.len; u->can_stream && at-- > 1;)
        if (text.data[at] == ' ' && ugm_is_cut(&u->cuts, text.data + at))
            return at;
    return 0;
}

const token_algorithm algorithm_ugm = {
    .name = "UGM",
    .open = ugm_open,
    .settle = ugm_settle,
    .close = ugm_close,
    .scratch_new = ugm_scratch_new,
    .scratch_free = ugm_scratch_free,
    .encode = ugm_encode,
    .cut = ugm_cut,
    .parallel = true,
};
