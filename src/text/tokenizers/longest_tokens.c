/* The longest tokens of stretches of text, four at a time, side by side: in lanes.
 *
 * One lane alone would wait: which byte comes next is known only when the token before it has been
 * found, and a token has as many bytes as it happens to have.  So each of the first four bytes is
 * looked up without a branch, whether a token can still go on or not, and while the node of one lane
 * is on its way from memory, those of others are looked up:
 *
 *     pairs["th"]  ->  child 'e'  ->  child ' '       node, and the longest token so far
 *
 * Only tokens that may be longer than that take a loop. */
#include "text/tokenizers/longest_tokens.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

enum { PAIRS = 256 * 256, LANES = LEAST_STRETCHES };

/* ---- opening -------------------------------------------------------------------------------- */

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

static uint64_t pair_of(const trie *tokens, uint8_t first, uint8_t second)
{
    const uint64_t below_base = (UINT64_C(1) << 40) - 1;
    uint64_t one = trie_child(tokens, tokens->root, first);
    uint64_t two = trie_child(tokens, one, second);

    return (two & ~below_base) | ((is_token(two) ? two : one) & below_base);
}

gufo_status longest_tokens_open(longest_tokens *l, const trie *tokens, gufo_error *error)
{
    l->tokens = tokens;
    if (!has_all_bytes(tokens))
        return GUFO_OK;
    l->pairs = mem_array(&tokens->allocator, PAIRS, sizeof *l->pairs);
    if (l->pairs == NULL)
        return fail_memory(error);
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            const char text[] = {(char)first, (char)second};

            l->pairs[pair_number(text)] = pair_of(tokens, (uint8_t)first, (uint8_t)second);
        }
    return GUFO_OK;
}

void longest_tokens_close(longest_tokens *l)
{
    if (l->pairs != NULL)
        mem_free(&l->tokens->allocator, l->pairs);
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* All bits of the first number if the second one is 0, else none. */
static inline uint64_t if_zero(uint64_t number, uint64_t zero)
{
    return number & (0 - (uint64_t)(zero == 0));
}

/* The child of a node, or TRIE_NONE, without a branch.  No chain begins so early, and TRIE_NONE has
 * no children. */
static inline uint64_t child_of(const uint64_t *units, uint64_t node, uint8_t byte)
{
    uint64_t child = units[trie_base(node) ^ byte];

    return if_zero(child, (child & (TRIE_USED | 0xff)) ^ (TRIE_USED | (uint64_t)byte));
}

/* The second node if a token ends there, else the first. */
static inline uint64_t longer_of(uint64_t best, uint64_t node)
{
    return node ^ if_zero(best ^ node, node & TRIE_LENGTH);
}

/* Not inlined: it is needed too seldom. */
__attribute__((noinline)) static uint64_t along_chain(const trie *tokens, uint64_t node,
                                                      uint64_t best, const char *begin,
                                                      const char *at, const char *end)
{
    gufo_str text = {begin, (size_t)(end - begin)};

    return trie_last(tokens, node, text, (size_t)(at - begin), best);
}

/* Goes on behind the first bytes.  Nothing is read past the byte that no token goes on with. */
__attribute__((always_inline)) static inline uint64_t longest_from(const longest_tokens *l,
                                                                   const uint64_t *units,
                                                                   uint64_t node, uint64_t best,
                                                                   const char *at, const char *end)
{
    const char *next = at + TRIE_HEAD;

    for (;;) {
        uint64_t byte = (uint8_t)*next, child = units[trie_base(node) ^ byte];

        if ((child & (TRIE_USED | 0xff)) != (TRIE_USED | byte))
            break;
        next++;
        node = child;
        best = (child & TRIE_LENGTH) != 0 ? child : best;
    }
    return trie_base(node) == TRIE_CHAINED ? along_chain(l->tokens, node, best, at, next, end)
                                           : best;
}

/* Takes the longest token at a place; returns where it ends. */
__attribute__((always_inline)) static inline const char *take_token(const longest_tokens *l,
                                                                    const uint64_t *units,
                                                                    const char *at, const char *end,
                                                                    uint32_t *id)
{
    uint64_t node = l->pairs[pair_number(at)], best = node;

    node = child_of(units, node, (uint8_t)at[2]);
    best = longer_of(best, node);
    node = child_of(units, node, (uint8_t)at[3]);
    best = longer_of(best, node);
    if (trie_base(node) != TRIE_LEAF)
        best = longest_from(l, units, node, best, at, end);
    *id = (uint32_t)(best >> 16 & 0xffffff) - 1;
    return at + trie_length(l->tokens, best);
}

typedef struct lane {
    const char *at, *end;
    uint32_t *ids;
    unsigned stretch;
} lane;

/* Goes through all lanes, a token of each at a time, until the first one ends. */
static void take_side_by_side(const longest_tokens *l, lane lanes[LANES])
{
    const uint64_t *units = l->tokens->units;
    lane a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

    while ((a.at < a.end) & (b.at < b.end) & (c.at < c.end) & (d.at < d.end)) {
        a.at = take_token(l, units, a.at, a.end, a.ids++);
        b.at = take_token(l, units, b.at, b.end, b.ids++);
        c.at = take_token(l, units, c.at, c.end, c.ids++);
        d.at = take_token(l, units, d.at, d.end, d.ids++);
    }
    lanes[0] = a;
    lanes[1] = b;
    lanes[2] = c;
    lanes[3] = d;
}

static lane start_stretch(text_stretches *s, unsigned stretch)
{
    return (lane){s->begins[stretch], s->begins[stretch + 1], s->ids[stretch], stretch};
}

/* Takes what is left of a lane. */
static void finish_stretch(const longest_tokens *l, text_stretches *s, lane *one)
{
    while (one->at < one->end)
        one->at = take_token(l, l->tokens->units, one->at, one->end, one->ids++);
    s->counts[one->stretch] = (uint32_t)(one->ids - s->ids[one->stretch]);
}

void longest_tokens_encode(const longest_tokens *l, text_stretches *s)
{
    lane lanes[LANES];
    unsigned next = 0;

    for (unsigned i = 0; i < LANES; i++)
        lanes[i] = start_stretch(s, next++);
    while (next < s->count) {
        take_side_by_side(l, lanes);
        for (unsigned i = 0; i < LANES && next < s->count; i++)
            if (lanes[i].at == lanes[i].end) {
                finish_stretch(l, s, &lanes[i]);
                lanes[i] = start_stretch(s, next++);
            }
    }
    for (unsigned i = 0; i < LANES; i++)
        finish_stretch(l, s, &lanes[i]);
}
