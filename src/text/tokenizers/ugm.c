/* UGM, the unigram model of SentencePiece (models "t5" and "replit"): of all ways to make the
 * normalized text from tokens, the one with the highest sum of scores.
 *
 * A text is cut where no token crosses.  What was searched before, an automaton knows (best_path.h);
 * where that is of no use, a cache of words. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/tokenizers/best_path.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/trace.h"
#include "text/tokenizers/ugm_normalizer.h"

/* ==== places to cut a text =================================================================== */

/* The best path of the whole is that of the parts, one after the other, as long as no token crosses a
 * cut and sums of scores are exact: whether they are is checked on opening, and a vocabulary whose
 * sums are not is never cut. */

/* Characters up to which sums of scores are exact, where texts are cut. */
enum { EXACT_CHARACTERS = 1 << 20 };

typedef struct ugm_cuts {
    bool any;
    bool parts; /* only the begin of a character may be copied: a cut behind one is not certain */
} ugm_cuts;

/* Whether a text, which begins before `at`, can be cut there. */
static inline bool is_cut(ugm_cuts cuts, const char *at)
{
    return cuts.any && at[0] == ' ' && at[-1] != ' ' && (!cuts.parts || (uint8_t)at[-1] < 0x80);
}

/* Whether tokens of a type are found in texts. */
static bool is_matched(unsigned type)
{
    return type == TOKEN_NORMAL || type == TOKEN_USER_DEFINED || type == TOKEN_UNUSED;
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Powers of 2 between which the bits of scores are. */
typedef struct bit_range {
    int lowest, highest;
} bit_range;

/* Adds a score; false for one that is not finite. */
static bool add_bits(bit_range *range, float score)
{
    int exponent, low;
    float fraction = frexpf(fabsf(score), &exponent);

    if (!isfinite(score))
        return false;
    if (score == 0)
        return true;
    low = exponent - FLT_MANT_DIG + __builtin_ctz((unsigned)ldexpf(fraction, FLT_MANT_DIG));
    range->lowest = low < range->lowest ? low : range->lowest;
    range->highest = exponent > range->highest ? exponent : range->highest;
    return true;
}

/* Whether sums are exact in doubles, for EXACT_CHARACTERS characters at least.  The best sum is not below
 * that of a path of single characters, and not above what only the best tokens would give; every
 * sum is such a one and one more score. */
static bool sums_are_exact(const gufo_vocab *v, const path_rules *rules)
{
    bit_range one = {0}, many = {0};

    if (!add_bits(&many, rules->unknown))
        return false;
    for (uint32_t id = 0; id < v->size; id++) {
        gufo_str text = vocab_text(v, id);
        float score = vocab_score(v, id);

        if (!is_matched(vocab_type(v, id)))
            continue;
        if (!add_bits(&one, score))
            return false;
        if (score > 0 || length_by_first_byte(text.data, text.len) == text.len)
            (void)add_bits(&many, score);
    }
    one.lowest = many.lowest < one.lowest ? many.lowest : one.lowest;
    many.highest += __builtin_ctz(EXACT_CHARACTERS);
    one.highest = many.highest > one.highest ? many.highest : one.highest;
    return one.highest + 1 - one.lowest <= DBL_MANT_DIG;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool has_space_inside(gufo_str text)
{
    for (size_t at = 1; at < text.len; at++)
        if (str_begins(str_from(text, at), ESCAPED_SPACE))
            return true;
    return false;
}

static bool is_ascii(gufo_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((uint8_t)text.data[i] >= 0x80)
            return false;
    return true;
}

/* Whether each part begins with a token that is not the unknown one: several of those would become
 * one, across the cut. */
static bool spaces_are_known(const gufo_vocab *v, const trie *tokens)
{
    uint32_t unknown = v->special[GUFO_SPECIAL_UNKNOWN];
    uint64_t space = trie_walk(tokens, tokens->root, ESCAPED_SPACE, sizeof ESCAPED_SPACE - 1);

    return space != TRIE_NONE && trie_value(space) != TRIE_NO_ID &&
           (unknown >= v->size || !is_matched(vocab_type(v, unknown)));
}

/* Whether no text at all may be cut before a space: a token or key crosses, or what is left of a
 * character. */
static bool crosses_spaces(const gufo_vocab *v, const ugm_normalizer *n)
{
    bool crosses = n->map.has_space || n->map.cuts_characters;

    for (uint32_t id = 0; id < v->size && !crosses; id++) {
        gufo_str text = vocab_text(v, id);
        unsigned type = vocab_type(v, id);

        crosses = (is_matched(type) && has_space_inside(text)) ||
                  (type == TOKEN_USER_DEFINED && (memchr(text.data, ' ', text.len) != NULL ||
                                                  gufo_utf8_valid_prefix(text) < text.len));
    }
    return crosses;
}

/* What is left of a character, if only the begin of a user-defined token was copied, would make the
 * next step cross a cut behind it. */
static bool copies_parts(const gufo_vocab *v)
{
    for (uint32_t id = 0; id < v->size; id++)
        if (vocab_type(v, id) == TOKEN_USER_DEFINED && !is_ascii(vocab_text(v, id)))
            return true;
    return false;
}

static ugm_cuts find_cuts(const gufo_vocab *v, const path_rules *rules, const ugm_normalizer *n)
{
    bool any = !v->original && !crosses_spaces(v, n) && spaces_are_known(v, rules->tokens) &&
               sums_are_exact(v, rules);

    return (ugm_cuts){any, copies_parts(v)};
}

/* ==== the algorithm ========================================================================== */

enum { STRETCH = 4096 /* bytes to encode at once, where texts are cut */ };

typedef struct ugm_tables {
    ugm_normalizer normalizer;
    path_rules rules;
    ugm_cuts cuts;
    bool quick;      /* with the automaton */
    bool can_stream; /* that a later part has a word before it is certain, too */
} ugm_tables;

struct algorithm_scratch {
    path_automaton automaton;
    piece_cache cache;
    gufo_text normalized, escaped;
    path_room path;
    ugm_state state;
    const char *part; /* the text of the part at hand */
    origin_list origins,
        escaped_from; /* of normalized and of escaped text, where tokens are traced */
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
    return type == TOKEN_USER_DEFINED;
}

static void find_range(const gufo_vocab *v, path_rules *rules)
{
    float lowest = FLT_MAX;

    rules->highest = -FLT_MAX;
    for (uint32_t id = 0; id < v->size; id++)
        if (vocab_type(v, id) == TOKEN_NORMAL) {
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
    u->rules.tokens = make_trie(vocab, is_matched, error);
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
    u->cuts = find_cuts(vocab, &u->rules, &u->normalizer);
    u->quick = u->cuts.any && !u->cuts.parts && vocab->texts.longest <= AUTOMATON_LONGEST_TOKEN &&
               vocab->special[GUFO_SPECIAL_UNKNOWN] != GUFO_NO_TOKEN;
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
    scratch->automaton.allocator = scratch->cache.allocator = allocator;
    scratch->normalized.allocator = scratch->escaped.allocator = allocator;
    scratch->origins.allocator = scratch->escaped_from.allocator = allocator;
    return scratch;
}

static void ugm_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    path_automaton_free(&scratch->automaton);
    piece_cache_free(&scratch->cache);
    gufo_text_free(&scratch->normalized);
    gufo_text_free(&scratch->escaped);
    origins_free(&scratch->origins);
    origins_free(&scratch->escaped_from);
    mem_free(allocator, scratch->path.places);
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* What a stretch of the escaped text comes from. */
static gufo_span span_of(const tokenizing *t, gufo_str text)
{
    size_t begin = (size_t)(text.data - t->scratch->escaped.data);

    return origins_range(t->scratch->escaped_from.list, begin, begin + text.len);
}

static bool add_token(const tokenizing *t, gufo_str text, uint32_t id, gufo_ids *out)
{
    gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_TOKEN, .text = text, .id = id};

    if (!t->traced)
        return ids_add(out, id);
    if (id < t->vocab->size)
        event.score = vocab_score(t->vocab, id);
    return trace_token(t, out, event, span_of(t, text));
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
        if (!add_token(t, (gufo_str){text.data + at, end - at}, id, out))
            return fail_memory(error);
        at = end;
    }
    return GUFO_OK;
}

/* Fills `normalized`; with origins, where tokens are traced. */
static bool normalize(const tokenizing *t, gufo_str piece)
{
    const ugm_tables *u = t->vocab->tables;
    algorithm_scratch *s = t->scratch;
    gufo_text *out = &s->normalized;

    out->len = 0;
    if (!t->traced)
        return ugm_normalize(&u->normalizer, piece, &s->state, out);
    s->origins.count = s->escaped_from.count = 0;
    return ugm_normalize_traced(&u->normalizer, piece, (size_t)(piece.data - s->part), &s->state,
                                out, &s->origins) &&
           origins_add_escaped(&s->escaped_from, (gufo_str){out->data, out->len}, s->origins.list);
}

static gufo_status search_piece(tokenizing *t, gufo_str piece, gufo_ids *out, gufo_error *error)
{
    const ugm_tables *u = t->vocab->tables;
    algorithm_scratch *scratch = t->scratch;
    gufo_text *normalized = &scratch->normalized, *escaped = &scratch->escaped;
    gufo_status status;

    escaped->len = 0;
    if (!normalize(t, piece) ||
        !add_escaped(escaped, (gufo_str){normalized->data, normalized->len}))
        return fail_memory(error);
    piece = (gufo_str){escaped->data, escaped->len};
    if (piece.len == 0)
        return GUFO_OK;
    if (t->traced)
        trace_step(
            t,
            (gufo_tokenize_event){.kind = GUFO_TOKENIZE_PIECE, .text = piece, .id = GUFO_NO_TOKEN},
            span_of(t, piece));
    status = best_path(t, &u->rules, piece, &scratch->path, error);
    return status == GUFO_OK ? add_path(t, piece, out, error) : status;
}

/* The length of the first part of a text that ends at a cut and has `least` bytes or more. */
static size_t part_length(ugm_cuts cuts, gufo_str text, size_t least)
{
    while (cuts.any && least < text.len && !is_cut(cuts, text.data + least))
        least++;
    return cuts.any && least < text.len ? least : text.len;
}

/* Whether a word is the same wherever it is: none can get another space before it. */
static bool can_keep(const tokenizing *t, gufo_str word)
{
    const ugm_tables *u = t->vocab->tables;
    const ugm_normalizer *n = &u->normalizer;
    const ugm_state *state = &t->scratch->state;

    return u->cuts.any && (!n->extra_spaces || !n->space_prefix || state->prefixed) &&
           (*word.data == ' ' || state->in_word);
}

static gufo_status encode_words(tokenizing *t, gufo_str text, gufo_ids *out, gufo_error *error)
{
    const ugm_tables *u = t->vocab->tables;
    gufo_status status = GUFO_OK;

    for (size_t len; status == GUFO_OK && text.len > 0; text = str_from(text, len)) {
        gufo_str word = {text.data, len = part_length(u->cuts, text, 1)};

        if (!can_keep(t, word)) {
            status = search_piece(t, word, out, error);
            continue;
        }
        status = piece_cache_encode(&t->scratch->cache, search_piece, t, word, out, error);
        t->scratch->state.in_word = true;
    }
    return status;
}

/* Encodes the words of a text at once; *done says whether that was possible. */
static gufo_status encode_quickly(tokenizing *t, gufo_str text, gufo_ids *out, bool *done,
                                  gufo_error *error)
{
    const ugm_tables *u = t->vocab->tables;
    path_automaton *automaton = &t->scratch->automaton;
    gufo_text *normalized = &t->scratch->normalized;

    *done = !t->traced && u->quick && path_automaton_takes(automaton, t, &u->rules, text.len);
    if (!*done)
        return GUFO_OK;
    normalized->len = 0;
    if (!ugm_normalize(&u->normalizer, text, &t->scratch->state, normalized))
        return fail_memory(error);
    *done = normalized->len <= EXACT_CHARACTERS;
    if (!*done || normalized->len == 0)
        return GUFO_OK;
    return path_automaton_encode(automaton, (gufo_str){normalized->data, normalized->len}, out,
                                 done, error);
}

static gufo_status encode_stretch(tokenizing *t, gufo_str text, gufo_ids *out, gufo_error *error)
{
    ugm_state before = t->scratch->state;
    bool done;
    gufo_status status = encode_quickly(t, text, out, &done, error);

    if (status != GUFO_OK || done)
        return status;
    t->scratch->state = before;
    return encode_words(t, text, out, error);
}

static gufo_status ugm_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    const ugm_tables *u = t->vocab->tables;
    gufo_str rest = part.text;
    gufo_status status = GUFO_OK;

    t->scratch->part = part.text.data;
    /* A later part begins with a space, behind a word. */
    t->scratch->state = (ugm_state){.prefixed = !part.first};
    while (status == GUFO_OK && rest.len > 0) {
        size_t len = part_length(u->cuts, rest, STRETCH);

        status = encode_stretch(t, (gufo_str){rest.data, len}, out, error);
        rest = str_from(rest, len);
    }
    return status;
}

static size_t ugm_cut(const gufo_vocab *vocab, gufo_str text)
{
    const ugm_tables *u = vocab->tables;

    for (size_t at = text.len; u->can_stream && at-- > 1;)
        if (is_cut(u->cuts, text.data + at))
            return at;
    return 0;
}

const token_algorithm algorithm_ugm = {
    .name = "UGM",
    .open = ugm_open,
    .settle = ugm_settle,
    .close = ugm_close,
    .scratch_new = TOKENIZES(ugm_scratch_new),
    .scratch_free = TOKENIZES(ugm_scratch_free),
    .encode = TOKENIZES(ugm_encode),
    .cut = TOKENIZES(ugm_cut),
    .parallel = true,
};
