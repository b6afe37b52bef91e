/* The longest tokens of stretches of text, eight at a time, side by side: in lanes.
 *
 * One lane alone would wait: which byte comes next is known only when the token before it has been
 * found, and a token has as many bytes as it happens to have.  So each of the first five bytes is
 * looked up without a branch, whether a token can still go on or not, and while the node of one lane
 * is on its way from memory, those of the others are asked for:
 *
 *     pairs["th"]  ->  child 'e'  ->  child ' '
 *
 * The nodes of the first bytes, the heads, have a form of their own: where no token ends, they say
 * what the longest token on the way to them was.  Only tokens that may be longer take a loop. */
#include "text/tokenizers/longest_tokens.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

enum { PAIRS = 256 * 256, LANES = LEAST_STRETCHES };

/* ---- opening -------------------------------------------------------------------------------- */

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

gufo_status longest_tokens_open(longest_tokens *l, const trie *tokens, uint32_t count,
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

void longest_tokens_close(longest_tokens *l)
{
    if (l->tokens == NULL)
        return;
    mem_free(&l->tokens->allocator, l->pairs);
    mem_free(&l->tokens->allocator, l->heads);
}

/* ---- encoding ------------------------------------------------------------------------------- */

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
__attribute__((noinline)) static uint64_t through_chains(const trie *tokens, const char *at,
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

void longest_tokens_encode(const longest_tokens *l, text_stretches *s)
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
