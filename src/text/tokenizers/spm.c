/* SPM, the byte-pair encoding of SentencePiece (model "llama"): characters are merged by the scores
 * of the tokens that they give.
 *
 *     text      Hello  world        a space comes first, where the vocabulary wants one
 *     pieces    " Hello", "  world"     where no token crosses: found again, or merged
 *     escaped   ▁Hello, ▁▁world     spaces are U+2581
 *     ids       15043, 29871 3186       bytes of what is not a token have tokens of their own
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/characters/origins.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/trace.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

/* ==== merges by score ======================================================================== */

/* The pair with the highest score is joined first; of equal ones, the leftmost.  Each symbol knows
 * the token that it and the next one would become, and its own node in the trie, from which the
 * look-up of a joined text walks on.  The pairs of short pieces are looked through each time; those
 * of long ones wait in a heap, where a pair that has changed meanwhile is recognised by its length:
 * n log n, whatever the text is. */

enum { SHORT_PIECE = 24 }; /* symbols */

/* A symbol, and what it and the next one would become. */
typedef struct merge_symbol {
    uint32_t start, len; /* bytes of the piece */
    uint32_t previous, next;
    uint32_t id, joined_id; /* TRIE_NO_ID: not a token */
    uint64_t node, joined_node;
    float score; /* of joined_id */
} merge_symbol;

typedef struct waiting_merge {
    float score;
    uint32_t left, len; /* the symbol, and bytes of both */
} waiting_merge;

/* Room for the symbols of a piece; {0} is empty. */
typedef struct merge_room {
    merge_symbol *symbols;
    waiting_merge *heap;
    uint64_t symbol_room, heap_room, heap_count;
} merge_room;

#define NO_SYMBOL UINT32_MAX

/* What is known of a part whose tokens are traced. */
typedef struct piece_origins {
    gufo_str part;
    origin_list raw, escaped; /* of the piece at hand, before and after its spaces are escaped */
} piece_origins;

typedef struct merging {
    tokenizing *t;
    const trie *tokens;
    gufo_str piece;
    merge_room *room;
    merge_symbol *symbols;
    const text_origin *origins; /* of the piece, if it is traced */
} merging;

/* ---- symbols -------------------------------------------------------------------------------- */

/* A score that is not a number is the worst one. */
static float score_of(const merging *m, uint32_t id)
{
    float score = vocab_score(m->t->vocab, id);

    return isnan(score) ? -INFINITY : score;
}

/* Looks up what a symbol and the next one would become. */
static void look_up(merging *m, merge_symbol *s)
{
    s->joined_id = TRIE_NO_ID;
    if (s->next == NO_SYMBOL || s->node == TRIE_NONE)
        return;
    const merge_symbol *right = &m->symbols[s->next];
    s->joined_node = trie_walk(m->tokens, s->node, m->piece.data + right->start, right->len);
    s->joined_id = trie_value(s->joined_node);
    if (s->joined_id != TRIE_NO_ID)
        s->score = score_of(m, s->joined_id);
}

/* One symbol per character, by the lengths that first bytes announce; *count is how many. */
static gufo_status split(merging *m, uint32_t *count, gufo_error *error)
{
    const gufo_allocator *a = m->t->allocator;
    uint32_t n = 0;

    for (size_t at = 0; at < m->piece.len; n++) {
        size_t size = length_by_first_byte(m->piece.data + at, m->piece.len - at);
        merge_symbol *grown =
            mem_grow(a, m->room->symbols, n, &m->room->symbol_room, sizeof *grown);

        if (grown == NULL)
            return fail_memory(error);
        m->room->symbols = grown;
        grown[n] = (merge_symbol){.start = (uint32_t)at,
                                  .len = (uint32_t)size,
                                  .previous = n - 1,
                                  .next = at + size < m->piece.len ? n + 1 : NO_SYMBOL};
        grown[n].node = trie_walk(m->tokens, m->tokens->root, m->piece.data + at, size);
        grown[n].id = trie_value(grown[n].node);
        at += size;
    }
    m->symbols = m->room->symbols;
    for (uint32_t i = 0; i < n; i++)
        look_up(m, &m->symbols[i]);
    *count = n;
    return GUFO_OK;
}

static void show_merge(const merging *m, const merge_symbol *s, uint32_t left)
{
    gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_MERGE,
                                 .text = {m->piece.data + s->start, s->len},
                                 .id = s->id,
                                 .left = left,
                                 .score = s->score};

    if (m->t->traced)
        trace_step(m->t, event, origins_range(m->origins, s->start, s->start + s->len));
}

/* Joins a symbol and the next one. */
static void join(merging *m, merge_symbol *s)
{
    const merge_symbol *right = &m->symbols[s->next];
    uint32_t left = s->len;

    s->len += right->len;
    s->id = s->joined_id;
    s->node = s->joined_node;
    s->next = right->next;
    show_merge(m, s, left);
    if (s->next != NO_SYMBOL)
        m->symbols[s->next].previous = (uint32_t)(s - m->symbols);
    look_up(m, s);
    if (s->start > 0)
        look_up(m, &m->symbols[s->previous]);
}

/* ---- short pieces --------------------------------------------------------------------------- */

static void merge_short(merging *m)
{
    for (;;) {
        merge_symbol *best = NULL, *s = m->symbols;

        for (;; s = &m->symbols[s->next]) {
            if (s->joined_id != TRIE_NO_ID && (best == NULL || s->score > best->score))
                best = s;
            if (s->next == NO_SYMBOL)
                break;
        }
        if (best == NULL)
            return;
        join(m, best);
    }
}

/* ---- long pieces ---------------------------------------------------------------------------- */

static inline bool comes_before(const waiting_merge *a, const waiting_merge *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static gufo_status push(merging *m, uint32_t left, gufo_error *error)
{
    const merge_symbol *s = &m->symbols[left];
    merge_room *room = m->room;
    waiting_merge *heap, added;
    uint64_t at = room->heap_count;

    if (s->joined_id == TRIE_NO_ID)
        return GUFO_OK;
    heap = mem_grow(m->t->allocator, room->heap, at, &room->heap_room, sizeof *heap);
    if (heap == NULL)
        return fail_memory(error);
    room->heap = heap;
    room->heap_count++;
    added = (waiting_merge){s->score, left, s->len + m->symbols[s->next].len};
    for (; at > 0 && comes_before(&added, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = added;
    return GUFO_OK;
}

static waiting_merge pop(merge_room *room)
{
    waiting_merge *heap = room->heap;
    waiting_merge first = heap[0], last = heap[--room->heap_count];
    uint64_t at = 0, child;

    while ((child = 2 * at + 1) < room->heap_count) {
        if (child + 1 < room->heap_count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static gufo_status merge_long(merging *m, uint32_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    m->room->heap_count = 0;
    for (uint32_t i = 0; status == GUFO_OK && i < count; i++)
        status = push(m, i, error);
    while (status == GUFO_OK && m->room->heap_count > 0) {
        waiting_merge best = pop(m->room);
        merge_symbol *s = &m->symbols[best.left];
        uint32_t right;

        if (s->len == 0 || s->joined_id == TRIE_NO_ID ||
            s->len + m->symbols[s->next].len != best.len)
            continue;
        right = s->next;
        join(m, s);
        m->symbols[right].len = 0;
        status = push(m, best.left, error);
        if (status == GUFO_OK && s->start > 0)
            status = push(m, s->previous, error);
    }
    return status;
}

/* Merges a piece, not empty, whose spaces are escaped: the symbols that remain begin with
 * room->symbols[0] and go on with `next`, up to NO_SYMBOL.  GUFO_E_MEMORY, GUFO_E_LIMIT. */
static gufo_status merge_by_score(tokenizing *t, const trie *tokens, gufo_str piece,
                                  const text_origin *origins, merge_room *room, gufo_error *error)
{
    merging m = {t, tokens, piece, room, NULL, origins};
    uint32_t count = 0;
    gufo_status status;

    if (piece.len > UINT32_MAX / 2)
        return refuse(error, GUFO_E_LIMIT,
                      "a stretch of %s bytes, which cannot be cut, is too long",
                      GROUPED(piece.len));
    status = split(&m, &count, error);
    if (status != GUFO_OK)
        return status;
    if (count > SHORT_PIECE)
        return merge_long(&m, count, error);
    merge_short(&m);
    return GUFO_OK;
}

static void merge_room_free(merge_room *room, const gufo_allocator *allocator)
{
    mem_free(allocator, room->symbols);
    mem_free(allocator, room->heap);
    *room = (merge_room){0};
}

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
    piece_origins origins;
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
    scratch->origins.raw.allocator = scratch->origins.escaped.allocator = allocator;
    return scratch;
}

static void spm_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    piece_cache_free(&scratch->cache);
    gufo_text_free(&scratch->escaped);
    gufo_text_free(&scratch->first);
    origins_free(&scratch->origins.raw);
    origins_free(&scratch->origins.escaped);
    merge_room_free(&scratch->merges, allocator);
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Finds out what the bytes of the escaped piece come from.  The space before the text comes from the
 * character behind it. */
static bool find_origins(tokenizing *t, gufo_str piece)
{
    piece_origins *o = &t->scratch->origins;
    bool spaced = piece.data == t->scratch->first.data;
    gufo_str own = spaced ? str_from(piece, 1) : piece;
    size_t at = spaced ? 0 : (size_t)(piece.data - o->part.data);

    o->raw.count = o->escaped.count = 0;
    return (!spaced || origins_add(&o->raw, origin_of_first(o->part, 0), 1)) &&
           origins_add_text(&o->raw, own, at) &&
           origins_add_escaped(&o->escaped, piece, o->raw.list);
}

/* What a stretch of the escaped piece comes from. */
static gufo_span span_of(const tokenizing *t, gufo_str text)
{
    size_t begin = (size_t)(text.data - t->scratch->escaped.data);

    return origins_range(t->scratch->origins.escaped.list, begin, begin + text.len);
}

static bool add_token(tokenizing *t, gufo_str text, uint32_t id, gufo_ids *out)
{
    const gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_TOKEN, .text = text, .id = id};

    return t->traced ? trace_token(t, out, event, span_of(t, text)) : ids_add(out, id);
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
    if (!add_escaped(&scratch->escaped, piece) || (t->traced && !find_origins(t, piece)))
        return fail_memory(error);
    piece = (gufo_str){scratch->escaped.data, scratch->escaped.len};
    if (t->traced)
        trace_step(
            t,
            (gufo_tokenize_event){.kind = GUFO_TOKENIZE_PIECE, .text = piece, .id = GUFO_NO_TOKEN},
            span_of(t, piece));
    status =
        merge_by_score(t, s->tokens, piece, scratch->origins.escaped.list, &scratch->merges, error);
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

    t->scratch->origins.part = text;
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
    .scratch_new = TOKENIZES(spm_scratch_new),
    .scratch_free = TOKENIZES(spm_scratch_free),
    .encode = TOKENIZES(spm_encode),
    .cut = TOKENIZES(spm_cut),
    .parallel = true,
};
