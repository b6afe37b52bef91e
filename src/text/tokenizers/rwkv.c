/* RWKV World: at each place, the longest token.
 *
 * A long text is cut where no token crosses, and its stretches are encoded side by side.
 * Token texts are stored with escapes, which are resolved once.  Tokens of any type are found,
 * control tokens too. */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/escapes.h"
#include "text/characters/origins.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/trace.h"
#include "text/vocabulary/trie.h"
#include "text/vocabulary/vocabulary.h"

/* ==== the longest tokens of stretches of text, eight at a time, side by side: in lanes ======= */

/* One lane alone would wait: which byte comes next is known only when the token before it has been
 * found, and a token has as many bytes as it happens to have.  So each of the first five bytes is
 * looked up without a branch, whether a token can still go on or not, and while the node of one lane
 * is on its way from memory, those of the others are asked for:
 *
 *     pairs["th"]  ->  child 'e'  ->  child ' '
 *
 * The nodes of the first bytes, the heads, have a form of their own: where no token ends, they say
 * what the longest token on the way to them was.  Only tokens that may be longer take a loop. */

enum { LEAST_STRETCHES = 8, MOST_STRETCHES = 128, STRETCH_BYTES = 256 };
enum { PAIRS = 256 * 256, LANES = LEAST_STRETCHES };

typedef struct longest_tokens {
    const trie *tokens; /* every byte is one */
    uint64_t
        *heads; /* the units of these; the first ones with the longest token on the way there */
    uint64_t *pairs; /* by two bytes: the head that they lead to */
} longest_tokens;

/* Stretches of a text, one behind the other: stretch i is from begins[i] to begins[i + 1], of
 * STRETCH_BYTES bytes at most, and no token crosses its end. */
typedef struct text_stretches {
    unsigned count; /* LEAST_STRETCHES or more */
    const char *begins[MOST_STRETCHES + 1];
    uint32_t ids[MOST_STRETCHES][STRETCH_BYTES];
    uint32_t counts[MOST_STRETCHES]; /* of ids */
} text_stretches;

/* The bits of a node that say which text ends there; all but where its children are. */
#define BELOW_BASE ((UINT64_C(1) << 40) - 1)
#define ENDING_TEXT (BELOW_BASE & ~(uint64_t)(TRIE_USED | 0xff))

static bool is_token(uint64_t node)
{
    return (node & TRIE_LENGTH) != 0;
}

static bool has_all_bytes(const trie *tokens)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (!is_token(trie_child(tokens, tokens->root, (uint8_t)byte)))
            return false;
    return true;
}

/* The place of two bytes in the table is the number that they are in memory. */
static uint16_t pair_number(const char *text)
{
    uint16_t number;

    memcpy(&number, text, sizeof number);
    return number;
}

/* A node with the longest token on the way to it: its own, or that of the node before.  Where a chain
 * begins, its number is lost (through_chains). */
static uint64_t with_longest(uint64_t node, uint64_t before)
{
    uint64_t longest = is_token(node) ? node : before;

    return (node & ~ENDING_TEXT) | (longest & ENDING_TEXT);
}

/* Makes heads of the nodes on the way to a token, for as long as no chain can begin before them. */
static void add_head(longest_tokens *l, gufo_str token)
{
    uint64_t node = l->tokens->root;

    for (size_t i = 0; i < token.len && i < TRIE_HEAD; i++) {
        uint64_t place = trie_base(node) ^ (uint8_t)token.data[i];

        node = l->heads[place] = with_longest(l->heads[place], node);
        if (i == 1)
            l->pairs[pair_number(token.data)] = node;
    }
}

/* Pairs in no token: the longest one is their first byte. */
static void fill_pairs(longest_tokens *l)
{
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            const char text[] = {(char)first, (char)second};
            uint64_t one = trie_child(l->tokens, l->tokens->root, (uint8_t)first);

            l->pairs[pair_number(text)] = one & BELOW_BASE;
        }
}

/* Makes the tables, 512 KiB and another trie, for tokens of `count` texts, which must outlive them;
 * GUFO_E_MEMORY.  None are made if some byte is not a token. */
static gufo_status longest_tokens_open(longest_tokens *l, const trie *tokens, uint32_t count,
                                       gufo_error *error)
{
    const trie_texts *texts = &tokens->texts;

    l->tokens = tokens;
    if (!has_all_bytes(tokens))
        return GUFO_OK;
    l->pairs = mem_array(&tokens->allocator, PAIRS, sizeof *l->pairs);
    l->heads = mem_array(&tokens->allocator, tokens->unit_count, sizeof *l->heads);
    if (l->pairs == NULL || l->heads == NULL)
        return fail_memory(error);
    memcpy(l->heads, tokens->units, (size_t)tokens->unit_count * sizeof *l->heads);
    fill_pairs(l);
    for (uint32_t id = 0; id < count; id++)
        add_head(l, (gufo_str){texts->bytes + texts->starts[id],
                               texts->starts[id + 1] - texts->starts[id]});
    return GUFO_OK;
}

static void longest_tokens_close(longest_tokens *l)
{
    if (l->tokens == NULL)
        return;
    mem_free(&l->tokens->allocator, l->pairs);
    mem_free(&l->tokens->allocator, l->heads);
}

/* The child of a head; the head itself, from now on without children, if it has none for this byte.
 * No chain begins so early. */
static inline uint64_t child_of(const uint64_t *heads, uint64_t node, uint8_t byte)
{
    uint64_t child = heads[trie_base(node) ^ byte];

    node = (child & (TRIE_USED | 0xff)) == (TRIE_USED | (uint64_t)byte) ? child : node & BELOW_BASE;
    __asm__("" : "+r"(node)); /* which would else become a branch */
    return node;
}

/* The longest token, through chains, whose nodes have no room for the longest one so far: found from
 * the first byte on.  Not inlined: it is needed too seldom. */
static __attribute__((noinline)) uint64_t through_chains(const trie *tokens, const char *at,
                                                         const char *end)
{
    return trie_last(tokens, tokens->root, (gufo_str){at, (size_t)(end - at)}, 0, TRIE_NONE);
}

/* Goes on behind the first bytes.  Nothing is read past the byte that no token goes on with. */
static inline uint64_t longest_from(const longest_tokens *l, uint64_t node, const char *at,
                                    const char *end)
{
    const uint64_t *units = l->tokens->units;
    const char *next = at + TRIE_HEAD;
    uint64_t best = node;

    for (;;) {
        uint64_t byte = (uint8_t)*next, child = units[trie_base(node) ^ byte];

        if ((child & (TRIE_USED | 0xff)) != (TRIE_USED | byte))
            break;
        next++;
        node = child;
        best = (child & TRIE_LENGTH) != 0 ? child : best;
    }
    return trie_base(node) == TRIE_CHAINED ? through_chains(l->tokens, at, end) : best;
}

/* Takes the longest token at a place, which is that of `node` but for what may follow behind the
 * first bytes; returns where it ends. */
static inline const char *put_token(const longest_tokens *l, uint64_t node, const char *at,
                                    const char *end, uint32_t *id)
{
    if (trie_base(node) != TRIE_LEAF)
        node = longest_from(l, node, at, end);
    *id = (uint32_t)(node >> 16 & 0xffffff) - 1;
    return at + trie_length(l->tokens, node);
}

static const char *take_token(const longest_tokens *l, const char *at, const char *end,
                              uint32_t *id)
{
    uint64_t node = l->pairs[pair_number(at)];

#pragma GCC unroll 8
    for (unsigned byte = 2; byte < TRIE_HEAD; byte++)
        node = child_of(l->heads, node, (uint8_t)at[byte]);
    return put_token(l, node, at, end, id);
}

typedef struct lane {
    const char *at, *end;
    uint32_t *ids;
    unsigned stretch;
} lane;

/* Takes a token of each lane; whether every lane has text left.  One byte of all of them is looked up
 * before the next one. */
static inline bool take_side_by_side(const longest_tokens *l, lane *lanes)
{
    const uint64_t *heads = l->heads, *pairs = l->pairs;
    uint64_t nodes[LANES];
    ptrdiff_t least = 0; /* below 0 as soon as a lane has none */

#pragma GCC unroll 8
    for (unsigned i = 0; i < LANES; i++)
        nodes[i] = pairs[pair_number(lanes[i].at)];
#pragma GCC unroll 8
    for (unsigned byte = 2; byte < TRIE_HEAD; byte++)
#pragma GCC unroll 8
        for (unsigned i = 0; i < LANES; i++)
            nodes[i] = child_of(heads, nodes[i], (uint8_t)lanes[i].at[byte]);
#pragma GCC unroll 8
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i].at = put_token(l, nodes[i], lanes[i].at, lanes[i].end, lanes[i].ids++);
        least |= lanes[i].end - lanes[i].at - 1;
    }
    return least >= 0;
}

static lane start_stretch(text_stretches *s, unsigned stretch)
{
    return (lane){s->begins[stretch], s->begins[stretch + 1], s->ids[stretch], stretch};
}

/* Takes what is left of a lane. */
static void finish_stretch(const longest_tokens *l, text_stretches *s, lane *one)
{
    while (one->at < one->end)
        one->at = take_token(l, one->at, one->end, one->ids++);
    s->counts[one->stretch] = (uint32_t)(one->ids - s->ids[one->stretch]);
}

/* Fills in the ids of all stretches; TRIE_HEAD bytes behind the last one may be read. */
static void longest_tokens_encode(const longest_tokens *l, text_stretches *s)
{
    lane lanes[LANES];
    unsigned next = 0;

    for (unsigned i = 0; i < LANES; i++)
        lanes[i] = start_stretch(s, next++);
    while (next < s->count) {
        while (take_side_by_side(l, lanes))
            continue;
        for (unsigned i = 0; i < LANES && next < s->count; i++)
            if (lanes[i].at == lanes[i].end) {
                finish_stretch(l, s, &lanes[i]);
                lanes[i] = start_stretch(s, next++);
            }
    }
    for (unsigned i = 0; i < LANES; i++)
        finish_stretch(l, s, &lanes[i]);
}

/* ==== the algorithm ========================================================================== */

typedef struct rwkv_tables {
    gufo_text bytes; /* token `id` is bytes[starts[id] ... starts[id + 1]) */
    uint32_t *starts;
    trie *tokens;
    longest_tokens longest;
    byte_pairs pairs;
} rwkv_tables;

struct algorithm_scratch {
    origin_list origins; /* of the part, where tokens are traced */
    text_stretches stretches;
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status unescape_all(const gufo_vocab *v, rwkv_tables *r, gufo_error *error)
{
    r->bytes.allocator = &v->allocator;
    r->starts = mem_array(&v->allocator, (uint64_t)v->size + 1, sizeof *r->starts);
    if (r->starts == NULL || !text_reserve(&r->bytes, v->texts.starts[v->size]))
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++) {
        if (!add_unescaped(vocab_text(v, id), &r->bytes))
            return fail_memory(error);
        r->starts[id + 1] = (uint32_t)r->bytes.len;
    }
    return GUFO_OK;
}

static gufo_status rwkv_open(gufo_vocab *vocab, const gufo_model *model, gufo_error *error)
{
    rwkv_tables *r = mem_zero(&vocab->allocator, sizeof *r);
    gufo_status status;

    (void)model;
    if (r == NULL)
        return fail_memory(error);
    vocab->tables = r;
    status = unescape_all(vocab, r, error);
    if (status != GUFO_OK)
        return status;
    r->tokens = trie_new(&vocab->allocator, &(trie_texts){r->bytes.data, r->starts}, NULL,
                         vocab->size, error);
    if (r->tokens == NULL)
        return trie_status(error);
    for (uint32_t id = 0; id < vocab->size; id++)
        byte_pairs_add(&r->pairs, (gufo_str){r->bytes.data + r->starts[id],
                                             r->starts[id + 1] - r->starts[id]});
    return longest_tokens_open(&r->longest, r->tokens, vocab->size, error);
}

static void rwkv_close(gufo_vocab *vocab)
{
    rwkv_tables *r = vocab->tables;

    longest_tokens_close(&r->longest);
    trie_free(r->tokens);
    mem_free(&vocab->allocator, r->starts);
    gufo_text_free(&r->bytes);
    mem_free(&vocab->allocator, r);
}

static algorithm_scratch *rwkv_scratch_new(const gufo_vocab *vocab, const gufo_allocator *allocator,
                                           gufo_error *error)
{
    algorithm_scratch *scratch = mem_alloc(allocator, sizeof *scratch);

    (void)vocab;
    if (scratch != NULL)
        scratch->origins = (origin_list){.allocator = allocator};
    else
        (void)fail_memory(error);
    return scratch;
}

static void rwkv_scratch_free(algorithm_scratch *scratch, const gufo_allocator *allocator)
{
    origins_free(&scratch->origins);
    mem_free(allocator, scratch);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* Where two bytes follow each other in no token, every token ends. */
static size_t last_end(const gufo_vocab *vocab, gufo_str text)
{
    const rwkv_tables *r = vocab->tables;

    for (size_t at = text.len; at-- > 1;)
        if (!byte_pairs_has(&r->pairs, text.data[at - 1], text.data[at]))
            return at;
    return 0;
}

/* Not inside a character: a token of a part of it covers all of it. */
static size_t rwkv_cut(const gufo_vocab *vocab, gufo_str text)
{
    const rwkv_tables *r = vocab->tables;

    return last_piece(&r->pairs, text);
}

static bool add_token(const tokenizing *t, gufo_str text, size_t begin, uint32_t id, gufo_ids *out)
{
    const gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_TOKEN, .text = text, .id = id};

    if (!t->traced)
        return ids_add(out, id);
    return trace_token(t, out, event,
                       origins_range(t->scratch->origins.list, begin, begin + text.len));
}

static gufo_status encode_one_by_one(tokenizing *t, gufo_str text, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    size_t len;

    t->scratch->origins.count = 0;
    if (t->traced && !origins_add_text(&t->scratch->origins, text, 0))
        return fail_memory(error);

    for (size_t at = 0; at < text.len; at += len) {
        gufo_str rest = {text.data + at, text.len - at};
        uint32_t id = t->vocab->special[GUFO_SPECIAL_UNKNOWN];

        len = trie_longest(r->tokens, rest, &id);
        if (len == 0)
            len = 1; /* unknown */
        if (id == GUFO_NO_TOKEN)
            return refuse(error, GUFO_E_MALFORMED,
                          "the vocabulary has no token for byte %02X, and no unknown token",
                          (uint8_t)*rest.data);
        if (!add_token(t, (gufo_str){rest.data, len}, at, id, out))
            return fail_memory(error);
    }
    return GUFO_OK;
}

/* Divides what a text begins with into stretches; false if it is too short for them, or has no
 * places to cut. */
static bool divide(const gufo_vocab *vocab, gufo_str text, text_stretches *s)
{
    s->begins[0] = text.data;
    for (s->count = 0; s->count < MOST_STRETCHES; s->count++) {
        const char *begin = s->begins[s->count];
        size_t left = text.len - (size_t)(begin - text.data), len = 0;

        if (left >= STRETCH_BYTES + TRIE_HEAD)
            len = last_end(vocab, (gufo_str){begin, STRETCH_BYTES});
        if (len == 0)
            break;
        s->begins[s->count + 1] = begin + len;
    }
    return s->count >= LEAST_STRETCHES;
}

static gufo_status encode_stretches(tokenizing *t, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    text_stretches *s = &t->scratch->stretches;

    longest_tokens_encode(&r->longest, s);
    for (unsigned i = 0; i < s->count; i++) {
        const gufo_ids found = {.ids = s->ids[i], .count = s->counts[i]};

        if (!ids_append(out, &found))
            return fail_memory(error);
    }
    return GUFO_OK;
}

static gufo_status rwkv_encode(tokenizing *t, fragment_part part, gufo_ids *out, gufo_error *error)
{
    const rwkv_tables *r = t->vocab->tables;
    bool side_by_side = r->longest.pairs != NULL && !t->traced;
    text_stretches *s = &t->scratch->stretches;
    gufo_str rest = part.text;
    gufo_status status = GUFO_OK;

    while (side_by_side && status == GUFO_OK && divide(t->vocab, rest, s)) {
        status = encode_stretches(t, out, error);
        rest = str_from(rest, (size_t)(s->begins[s->count] - s->begins[0]));
    }
    return status == GUFO_OK ? encode_one_by_one(t, rest, out, error) : status;
}

const token_algorithm algorithm_rwkv = {
    .name = "RWKV",
    .open = rwkv_open,
    .close = rwkv_close,
    .scratch_new = TOKENIZES(rwkv_scratch_new),
    .scratch_free = TOKENIZES(rwkv_scratch_free),
    .encode = TOKENIZES(rwkv_encode),
    .cut = TOKENIZES(rwkv_cut),
    .parallel = true,
};
