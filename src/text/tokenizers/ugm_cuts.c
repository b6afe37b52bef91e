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
#include "text/characters/escaped.h"
#include "text/characters/characters.h"

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

/* Whether sums are exact in doubles, for UGM_EXACT characters at least.  The best sum is not below
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
    many.highest += __builtin_ctz(UGM_EXACT);
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

/* ---- the whole ------------------------------------------------------------------------------ */

ugm_cuts ugm_cuts_find(const gufo_vocab *v, const path_rules *rules, const ugm_normalizer *n)
{
    bool any = !v->original && !crosses_spaces(v, n) && spaces_are_known(v, rules->tokens) &&
               sums_are_exact(v, rules);

    return (ugm_cuts){any, copies_parts(v)};
}
