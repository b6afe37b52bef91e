/* Places to cut a text.
 *
 * The best path of the whole is that of the parts, one after the other, as long as no token crosses a
 * cut and sums of scores are exact: whether they are is checked on opening, and a vocabulary whose
 * sums are not is never cut. */
#include "text/tokenizers/ugm_cuts.h"

#include <math.h>
#include <string.h>
#include <float.h>

#include "base/text.h"
#include "text/tokenizers/escaped.h"

enum { SUM_BITS = 20 };

bool ugm_is_matched(unsigned type)
{
    return type == TYPE_NORMAL || type == TYPE_USER_DEFINED || type == TYPE_UNUSED;
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

/* Whether sums are exact in doubles, for 2^SUM_BITS characters at least.  The best sum is not below
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

        if (!ugm_is_matched(vocab_type(v, id)))
            continue;
        if (!add_bits(&one, score))
            return false;
        if (score > 0 || length_by_first_byte(text.data, text.len) == text.len)
            (void)add_bits(&many, score);
    }
    one.lowest = many.lowest < one.lowest ? many.lowest : one.lowest;
    many.highest += SUM_BITS;
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
           (unknown >= v->size || !ugm_is_matched(vocab_type(v, unknown)));
}

/* Whether no text at all may be cut before a space: a token or key crosses, or what is left of a
 * character. */
static bool crosses_spaces(const gufo_vocab *v, const ugm_normalizer *n)
{
    bool crosses = n->map.has_space || n->map.cuts_characters;

    for (uint32_t id = 0; id < v->size && !crosses; id++) {
        gufo_str text = vocab_text(v, id);
        unsigned type = vocab_type(v, id);

        crosses = (ugm_is_matched(type) && has_space_inside(text)) ||
                  (type == TYPE_USER_DEFINED && (memchr(text.data, ' ', text.len) != NULL ||
                                                 gufo_utf8_valid_prefix(text) < text.len));
    }
    return crosses;
}

/* What is left of a character, if only the begin of a user-defined token was copied, would make the
 * next step cross a cut behind it. */
static bool copies_parts(const gufo_vocab *v)
{
    for (uint32_t id = 0; id < v->size; id++)
        if (vocab_type(v, id) == TYPE_USER_DEFINED && !is_ascii(vocab_text(v, id)))
            return true;
    return false;
}

/* Pairs of bytes in tokens. */
static void add_tokens(const gufo_vocab *v, byte_pairs *inside)
{
    for (uint32_t id = 0; id < v->size; id++) {
        gufo_str text = vocab_text(v, id);

        if (!ugm_is_matched(vocab_type(v, id)))
            continue;
        for (size_t at = 1; at < text.len; at++)
            byte_pairs_join(inside, text.data[at - 1], text.data[at]);
    }
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* A byte of ASCII, and what it becomes. */
typedef struct ascii_byte {
    char
        written; /* the same byte, or another one; ' ' for a space; '\0': not always the same one */
    bool can_join; /* a key may begin with it and go on beyond ASCII */
    bool known;    /* what it becomes is a token */
} ascii_byte;

/* Whether keys begin with `byte` and go on with one of the bytes from `first` to `last`. */
static bool goes_on(const charsmap *map, char byte, unsigned first, unsigned last)
{
    for (unsigned next = first; next <= last; next++)
        if (charsmap_has_pair(map, byte, (char)next))
            return true;
    return false;
}

static ascii_byte look_at(const ugm_normalizer *n, const trie *tokens, char byte)
{
    ascii_byte a = {byte, goes_on(&n->map, byte, 0x80, 0xff), false};
    gufo_str written = {&byte, 1};

    (void)charsmap_match(&n->map, (gufo_str){&byte, 1}, &written);
    a.written = written.len == 1 && (uint8_t)*written.data < 0x80 ? *written.data : '\0';
    if (goes_on(&n->map, byte, 1, 0x7f) ||
        trie_step(n->user_defined, n->user_defined->root, (uint8_t)byte) != TRIE_NONE)
        a.written = '\0';
    a.known = trie_value(trie_step(tokens, tokens->root, (uint8_t)a.written)) != TRIE_NO_ID;
    return a;
}

/* Whether a token may have `left` and then what `byte` becomes. */
static bool may_follow(const byte_pairs *inside, char left, char byte, ascii_byte what)
{
    bool follows = byte_pairs_has(inside, left, byte) || byte_pairs_has(inside, left, what.written);

    for (unsigned wide = 0x80; wide < 0x100 && what.can_join && !follows; wide++)
        follows = byte_pairs_has(inside, left, (char)wide);
    return follows;
}

/* Whether a key may have a byte behind another one. */
static bool follows_in_key(const charsmap *map, char byte)
{
    bool follows = map->inside[(uint8_t)byte];

    for (unsigned first = 1; first < 0x100 && !follows; first++)
        follows = charsmap_has_pair(map, (char)first, byte);
    return follows;
}

/* Finds places inside words, and before other white space than ' '.  Left of a cut is a known token:
 * unknown ones in a row would become one, across the cut. */
static void cut_ascii(ugm_cuts *c, const ugm_normalizer *n, const trie *tokens,
                      const byte_pairs *inside)
{
    ascii_byte bytes[128];

    for (unsigned i = 1; i < 128; i++) {
        bytes[i] = look_at(n, tokens, (char)i);
        if (follows_in_key(&n->map, (char)i))
            bytes[i].written = '\0';
    }
    for (unsigned i = 1; i < 128; i++)
        for (unsigned j = 1; j < 128; j++) {
            char left = (char)i, right = (char)j, written = bytes[i].written;

            if (written == '\0' || written == ' ' || !bytes[i].known || right == ' ' ||
                bytes[j].written == '\0')
                continue;
            if (bytes[j].written == ' ' ? !bytes[j].can_join
                                        : !may_follow(inside, left, right, bytes[j]) &&
                                              !may_follow(inside, written, right, bytes[j]))
                byte_pairs_join(&c->places, left, right);
        }
}

/* ---- the whole ------------------------------------------------------------------------------ */

void ugm_cuts_find(ugm_cuts *c, const gufo_vocab *v, const path_rules *rules,
                   const ugm_normalizer *n)
{
    byte_pairs inside = {0};
    unsigned last;

    *c = (ugm_cuts){0};
    if (v->original || crosses_spaces(v, n) || !spaces_are_known(v, rules->tokens) ||
        !sums_are_exact(v, rules))
        return;
    c->any = true;
    last = copies_parts(v) ? 0x7f : 0xff;
    for (unsigned left = 0; left <= last; left++)
        if (left != ' ')
            byte_pairs_join(&c->places, (char)left, ' ');
    add_tokens(v, &inside);
    cut_ascii(c, n, rules->tokens, &inside);
}
