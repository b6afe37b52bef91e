/* Byte-pair encoding: tokenizer models gpt2 and gemma4.
 *
 *     text     " Hello"        a piece of the pre-tokenizer
 *     symbols  Ġ H e l l o     its bytes in the byte alphabet; or its characters (raw text)
 *     merged   ĠH ell o, ĠHello     pair by pair, as the list of merges says
 *     ids      18435
 *
 * Pieces do not depend on each other: what short ones gave is remembered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/vocab.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/characters/origins.h"
#include "text/characters/unicode.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/pretokenizers/pretokenizer.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/merge_table.h"
#include "text/tokenizers/merging.h"
#include "text/tokenizers/piece_cache.h"
#include "text/tokenizers/trace.h"
#include "text/vocabulary/vocabulary.h"

typedef struct bpe_tables {
    pretokenizer *pre;
    bool composes; /* text is put in form NFC first */
    merge_table merges;
    byte_texts alphabet;
    uint32_t symbols[256];  /* of each byte; in raw text of ASCII characters alone */
    uint32_t *ranks;        /* of the pair of bytes a, b at 256 * a + b; raw text: NULL */
    uint32_t fallback[256]; /* what a byte of a symbol without token becomes: id or GUFO_NO_TOKEN */
    byte_pairs pairs;       /* of raw text: which bytes merges bring together */
} bpe_tables;

struct algorithm_scratch {
    const gufo_vocab *vocab;
    pre_scratch *pre;
    piece_cache cache;
    merging merging;
    buffer parts;
    gufo_text composed;    /* the text in form NFC */
    gufo_text escaped;     /* a piece with U+2581 for spaces */
    buffer shown, offsets; /* the piece as tokens spell it; where each byte is in that */
    tokenizing *work;
    gufo_ids *out;

    /* Where tokens are traced. */
    origin_list origins;      /* of the text that is cut into pieces */
    origin_list escaped_from; /* of the piece with U+2581 for spaces */
    const char *first_piece;
    const text_origin *from; /* of the piece at hand */
};

/* ==== the ids of one piece: from the cache, as a whole, or by merging its symbols ============ */

#define LONGEST_PIECE ((size_t)256 << 20)

/* ---- what the caller watches ---------------------------------------------------------------- */

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

    trace_step(s->work,
               (gufo_tokenize_event){.kind = GUFO_TOKENIZE_MERGE,
                                     .text = shown_text(s, left->begin, end),
                                     .left = shown_text(s, left->begin, right->begin).len,
                                     .id = result < s->vocab->size ? result : GUFO_NO_TOKEN,
                                     .score = left->rank},
               origins_range(s->from, left->begin, end));
}

/* Shows the piece, and finds out what its bytes come from; `raw` is as it was cut off, `piece` with
 * spaces escaped. */
static gufo_status trace_piece(algorithm_scratch *s, gufo_str raw, gufo_str piece,
                               gufo_error *error)
{
    if (s->first_piece == NULL)
        s->first_piece = raw.data;
    s->from = s->origins.list + (raw.data - s->first_piece);
    if (s->vocab->escape_spaces) {
        s->escaped_from.count = 0;
        if (!origins_add_escaped(&s->escaped_from, raw, s->from))
            return fail_memory(error);
        s->from = s->escaped_from.list;
    }
    if (s->work->watch != NULL)
        trace_step(s->work,
                   (gufo_tokenize_event){
                       .kind = GUFO_TOKENIZE_PIECE, .text = spell(s, piece), .id = GUFO_NO_TOKEN},
                   origins_range(s->from, 0, piece.len));
    return GUFO_OK;
}

/* ---- ids of a piece ------------------------------------------------------------------------- */

/* A token for bytes [begin, end) of the piece. */
static gufo_status add_token(algorithm_scratch *s, uint32_t id, size_t begin, size_t end,
                             gufo_error *error)
{
    bool done = !s->work->traced
                    ? ids_add(s->out, id)
                    : trace_token(s->work, s->out,
                                  (gufo_tokenize_event){.kind = GUFO_TOKENIZE_TOKEN,
                                                        .text = vocab_text(s->vocab, id),
                                                        .id = id},
                                  origins_range(s->from, begin, end));

    return done ? GUFO_OK : fail_memory(error);
}

/* A byte of the piece that is in no token, as tokens would spell it: those of its bytes that have
 * one. */
static gufo_status add_byte(algorithm_scratch *s, gufo_str shown, size_t at, gufo_error *error)
{
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < shown.len && status == GUFO_OK; i++) {
        uint32_t id = t->fallback[(uint8_t)shown.data[i]];

        if (id != GUFO_NO_TOKEN)
            status = add_token(s, id, at, at + 1, error);
    }
    return status;
}

static gufo_status add_symbol(algorithm_scratch *s, gufo_str piece, uint32_t symbol, size_t begin,
                              size_t end, gufo_error *error)
{
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    if (symbol < s->vocab->size)
        return add_token(s, symbol, begin, end, error);
    for (size_t i = begin; i < end && status == GUFO_OK; i++) {
        uint8_t byte = (uint8_t)piece.data[i];

        status = add_byte(s, (gufo_str){t->alphabet.text[byte], t->alphabet.len[byte]}, i, error);
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

static gufo_status encode_piece(tokenizing *t, gufo_str raw, gufo_ids *out, gufo_error *error)
{
    algorithm_scratch *s = t->scratch;
    gufo_str piece = raw;
    uint32_t id;
    gufo_status status;

    s->out = out;
    if (s->vocab->escape_spaces) {
        s->escaped.len = 0;
        if (!add_escaped(&s->escaped, piece))
            return fail_memory(error);
        piece = (gufo_str){s->escaped.data, s->escaped.len};
    }
    status = t->traced ? trace_piece(s, raw, piece, error) : GUFO_OK;
    if (status == GUFO_OK)
        status = find_whole(s, piece, &id, error);
    if (status != GUFO_OK)
        return status;
    return id != GUFO_NO_TOKEN ? add_token(s, id, 0, piece.len, error)
                               : merge_piece(s, piece, error);
}

/* The same for a piece that may be in the cache. */
static gufo_status add_piece(algorithm_scratch *s, gufo_str piece, gufo_error *error)
{
    return piece_cache_encode(&s->cache, encode_piece, s->work, piece, s->out, error);
}

/* Raw text comes in long pieces: parts that no merge leaves are looked up on their own. */
static gufo_status add_pieces(void *context, gufo_str piece, gufo_error *error)
{
    algorithm_scratch *s = context;
    const bpe_tables *t = s->vocab->tables;
    gufo_status status = GUFO_OK;

    if (piece.len > LONGEST_PIECE)
        return refuse(error, GUFO_E_LIMIT, "a piece of text of %s bytes is too long to be merged",
                      GROUPED(piece.len));
    if (s->vocab->byte_alphabet || is_newlines(piece) || s->work->traced)
        return add_piece(s, piece, error);
    for (size_t at = 0, end; at < piece.len && status == GUFO_OK; at = end) {
        end = piece_end(&t->pairs, piece.data, at, piece.len);
        status = add_piece(s, (gufo_str){piece.data + at, end - at}, error);
    }
    return status;
}

/* ==== where llama.cpp cuts text otherwise than the original tokenizer ======================== */

#define RANGES                                                                                  \
    "the original tokenizer finds white space from U+1680 on inside its ranges of characters, " \
    "llama.cpp does not"

typedef struct original_rules {
    const char *pre;          /* the name that llama.cpp goes by */
    const char *architecture; /* NULL: any */
    const char *shape;        /* the cuts of the original */
    bool composes;            /* the original puts text in form NFC */
    bool drops_padding;       /* it lacks the tokens that fill the vocabulary: "[PAD50300]" */
    const char *differs;      /* gufo_vocab_facts.original */
} original_rules;

static const original_rules rules[] = {
    {"deepseek-coder", NULL, "deepseek-coder-original", false, false, RANGES},
    {"deepseek-llm", NULL, "deepseek-llm-original", false, false, RANGES},
    {"default", "gptneox", "gpt-2", true, true,
     "the original tokenizer puts text in Unicode's form NFC and cuts it as \"gpt-2\" does, "
     "llama.cpp cuts it as \"default\" does"},
};

static bool has_architecture(const gufo_model *model, const char *wanted)
{
    gufo_str name = {0};

    return gufo_model_get_str(model, "general.architecture", &name, NULL) == GUFO_OK &&
           gufo_str_equal(name, gufo_str_of(wanted));
}

/* NULL: none is known. */
static const original_rules *find_original(const gufo_vocab *v, const gufo_model *model)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *architecture = rules[i].architecture;

        if (strcmp(rules[i].pre, v->pre->name) == 0 &&
            (architecture == NULL || has_architecture(model, architecture)))
            return &rules[i];
    }
    return NULL;
}

/* Tokens that conversion adds to fill the vocabulary become unused. */
static void drop_padding(gufo_vocab *v)
{
    for (uint32_t id = 0; id < v->size; id++) {
        char padding[32];

        (void)snprintf(padding, sizeof padding, "[PAD%" PRIu32 "]", id);
        if (gufo_str_equal(vocab_text(v, id), gufo_str_of(padding)))
            v->attributes[id] = GUFO_TOKEN_UNUSED;
    }
}

/* ==== the algorithm ========================================================================== */

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status fill_bytes(bpe_tables *t, const gufo_vocab *v, gufo_error *error)
{
    if (v->byte_alphabet)
        byte_alphabet_fill(&t->alphabet);
    else
        byte_alphabet_none(&t->alphabet);
    for (unsigned byte = 0; byte < 256; byte++) {
        gufo_str one = {(const char *)&(uint8_t){(uint8_t)byte}, 1};
        gufo_str shown = {t->alphabet.text[byte], t->alphabet.len[byte]};

        t->fallback[byte] = v->byte_alphabet ? vocab_find(v, one.data, 1)
                                             : text_table_find_byte(&v->texts, (uint8_t)byte);
        t->symbols[byte] = v->byte_alphabet ? merge_table_add(&t->merges, v, shown)
                           : byte < 0x80    ? merge_table_find(&t->merges, v, one)
                                            : NO_SYMBOL;
        if (v->byte_alphabet && t->symbols[byte] == NO_SYMBOL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

/* Most look-ups are those of pairs of bytes. */
static gufo_status fill_ranks(bpe_tables *t, const gufo_vocab *v, gufo_error *error)
{
    t->ranks = mem_array(&v->allocator, 256 * 256, sizeof *t->ranks);
    if (t->ranks == NULL)
        return fail_memory(error);
    for (unsigned pair = 0; pair < 256 * 256; pair++)
        t->ranks[pair] =
            merge_rank(&t->merges.pairs, t->symbols[pair >> 8], t->symbols[pair & 255]);
    return GUFO_OK;
}

static const char *choose_shape(gufo_vocab *v, bpe_tables *t, const gufo_model *model)
{
    const original_rules *original = find_original(v, model);

    if (original == NULL)
        return v->pre->shape;
    v->differs = original->differs;
    if (!v->original)
        return v->pre->shape;
    if (original->drops_padding)
        drop_padding(v);
    t->composes = original->composes;
    return original->shape;
}

/* Without a list of merges no token is made of others: a piece of text is a token, or each of its
 * symbols is. */
static gufo_status make_atomic(gufo_vocab *v, gufo_error *error)
{
    if (v->pre->no_merges)
        return GUFO_OK;
    v->ignore_merges = true;
    return vocab_warn(v, error,
                      "\"tokenizer.ggml.merges\" is missing: tokens are atomic, so a piece of text "
                      "that is not a token becomes single %s",
                      v->byte_alphabet ? "bytes" : "characters");
}

static gufo_status open_bpe(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    bpe_tables *t = mem_zero(&v->allocator, sizeof *t);
    bool merges;
    gufo_status status;

    if (t == NULL)
        return fail_memory(error);
    v->tables = t;
    t->pre = pretokenizer_new(choose_shape(v, t, model), &v->allocator, error);
    if (t->pre == NULL)
        return error != NULL ? error->code : GUFO_E_MEMORY;
    status = merge_table_open(&t->merges, v, model, &merges, error);
    if (status == GUFO_OK && !merges)
        status = make_atomic(v, error);
    if (status == GUFO_OK)
        status = fill_bytes(t, v, error);
    if (status == GUFO_OK && v->byte_alphabet)
        status = fill_ranks(t, v, error);
    for (uint32_t i = 0; status == GUFO_OK && !v->byte_alphabet && i < t->merges.pairs.count; i++)
        byte_pairs_add(&t->pairs, merge_table_text(&t->merges, v, t->merges.pairs.results[i]));
    return status;
}

static void close_bpe(gufo_vocab *v)
{
    bpe_tables *t = v->tables;

    pretokenizer_free(t->pre);
    merge_table_close(&t->merges, v);
    mem_free(&v->allocator, t->ranks);
    mem_free(&v->allocator, t);
}

static void free_scratch(algorithm_scratch *s, const gufo_allocator *allocator)
{
    piece_cache_free(&s->cache);
    pre_scratch_free(s->pre);
    merging_free(&s->merging);
    buffer_free(&s->parts);
    gufo_text_free(&s->composed);
    gufo_text_free(&s->escaped);
    buffer_free(&s->shown);
    buffer_free(&s->offsets);
    origins_free(&s->origins);
    origins_free(&s->escaped_from);
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
    s->cache.allocator = allocator;
    s->merging.table = &t->merges.pairs;
    s->merging.links.allocator = s->merging.heap.allocator = allocator;
    s->parts.allocator = s->escaped.allocator = s->composed.allocator = allocator;
    s->shown.allocator = s->offsets.allocator = allocator;
    s->origins.allocator = s->escaped_from.allocator = allocator;
    s->pre = pre_scratch_new(t->pre, allocator, error);
    if (s->pre != NULL)
        return s;
    free_scratch(s, allocator);
    return NULL;
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Puts text in form NFC. */
static bool compose(algorithm_scratch *s, gufo_str *text)
{
    bool traced = s->work->traced;

    s->composed.len = 0;
    if (!add_composed(&s->composed, *text, traced ? &s->origins : NULL))
        return false;
    *text = (gufo_str){s->composed.data, s->composed.len};
    return true;
}

static gufo_status encode_bpe(tokenizing *work, fragment_part part, gufo_ids *out,
                              gufo_error *error)
{
    algorithm_scratch *s = work->scratch;
    const bpe_tables *t = s->vocab->tables;

    s->work = work;
    s->out = out;
    s->origins.count = 0;
    s->first_piece = NULL;
    if (t->composes && gufo_utf8_valid_prefix(part.text) == part.text.len
            ? !compose(s, &part.text)
            : work->traced && !origins_add_lenient(&s->origins, part.text, 0))
        return fail_memory(error);
    return pretokenizer_run(s->pre, part.text, add_pieces, s, error);
}

/* Of raw text: where no merge crosses.  Bytes that are not UTF-8 will be others when merges see them,
 * so that they say nothing; newlines may be a token together. */
static size_t cut_raw(const bpe_tables *t, gufo_str text)
{
    for (size_t end = text.len, at; (at = last_piece(&t->pairs, (gufo_str){text.data, end})) > 0;
         end = at)
        if ((text.data[at] != '\n' || text.data[at - 1] != '\n') && is_plain_character(text, at) &&
            is_plain_character((gufo_str){text.data, at}, character_before(text, at)))
            return at;
    return 0;
}

static size_t cut_bpe(const gufo_vocab *v, gufo_str text)
{
    const bpe_tables *t = v->tables;
    size_t at = v->byte_alphabet ? 0 : cut_raw(t, text);

    return at > 0 ? at : pretokenizer_cut(t->pre, text);
}

const token_algorithm algorithm_bpe = {
    .name = "BPE",
    .open = open_bpe,
    .close = close_bpe,
    .scratch_new = TOKENIZES(new_scratch),
    .scratch_free = TOKENIZES(free_scratch),
    .encode = TOKENIZES(encode_bpe),
    .cut = TOKENIZES(cut_bpe),
    .parallel = true,
};
