/* The normalizer of UGM: replacements first, then spaces.
 *
 *     text       " ﬁne  day"
 *     replaced   " fine  day"       by the map; user-defined tokens and what begins one stay
 *     spaces     "▁fine▁day"        or, where extra spaces are kept, "▁▁fine▁▁day"
 */
#include "text/tokenizers/ugm_normalizer.h"

#include "text/tokenizers/escaped.h"
#include "text/vocabulary/characters.h"

enum { ESCAPED_SIZE = sizeof ESCAPED_SPACE - 1 };

#define REPLACEMENT_CHARACTER "\xef\xbf\xbd"

static void put_escaped_space(gufo_text *out)
{
    for (int i = 0; i < ESCAPED_SIZE; i++)
        text_put_byte(out, ESCAPED_SPACE[i]);
}

/* The second half: appends replaced text, with U+2581 for spaces and before words. */
static bool put_words(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    if (text.len > SIZE_MAX / (ESCAPED_SIZE + 1) ||
        !text_reserve(out, text.len * (ESCAPED_SIZE + 1)))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];

        if (byte == ' ') {
            state->in_word = false;
            if (n->extra_spaces)
                put_escaped_space(out);
            continue;
        }
        if (!state->in_word) {
            state->in_word = true;
            if (!n->extra_spaces || (n->space_prefix && !state->prefixed))
                put_escaped_space(out);
            state->prefixed = true;
        }
        text_put_byte(out, byte);
    }
    return true;
}

/* How much of a text is, or begins, a user-defined token. */
static size_t user_defined(const ugm_normalizer *n, gufo_str text)
{
    uint64_t node = n->user_defined->root;
    size_t len = 0, whole = 0;

    while (len < text.len) {
        len += trie_skip(n->user_defined, &node, text.data + len, text.len - len);
        node = trie_step(n->user_defined, node, (uint8_t)text.data[len]);
        if (node == TRIE_NONE)
            break;
        len++;
        if (trie_value(node) != TRIE_NO_ID)
            whole = len;
    }
    return n->whole_tokens ? whole : len;
}

/* Appends the first stretch of a text; returns how long it was, 0 without memory. */
static size_t put_stretch(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    size_t size = user_defined(n, text);
    gufo_str stretch = {text.data, size};

    if (size == 0)
        size = charsmap_match(&n->map, text, &stretch);
    if (size == 0) {
        bool valid = lenient_decode(text.data, text.len, &size) != 0xfffd || size > 1;

        stretch = valid ? (gufo_str){text.data, size} : gufo_str_of(REPLACEMENT_CHARACTER);
    }
    return put_words(n, stretch, state, out) ? size : 0;
}

/* The length of what stays as it is at the start of a text: ASCII characters with which neither a
 * key nor a user-defined token begins. */
static size_t plain_length(const ugm_normalizer *n, gufo_str text)
{
    size_t len = 0;

    for (; len < text.len; len++) {
        char c = text.data[len], next = len + 1 < text.len ? text.data[len + 1] : '\0';

        if ((uint8_t)c >= 0x80 || charsmap_may_match(&n->map, c, next) ||
            trie_step(n->user_defined, n->user_defined->root, (uint8_t)c) != TRIE_NONE)
            break;
    }
    return len;
}

bool ugm_normalize(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        gufo_str rest = {text.data + at, text.len - at};

        size = plain_length(n, rest);
        if (size > 0) {
            if (!put_words(n, (gufo_str){rest.data, size}, state, out))
                return false;
            continue;
        }
        size = put_stretch(n, rest, state, out);
        if (size == 0)
            return false;
    }
    return true;
}
