/* The normalizer of UGM: replacements first, then spaces.
 *
 *     text       " ﬁne  day"
 *     replaced   " fine  day"       by the map; user-defined tokens and what begins one stay
 *     spaces     "▁fine▁day"        or, where extra spaces are kept, "▁▁fine▁▁day"
 */
#include "text/tokenizers/ugm_normalizer.h"

#include <string.h>

#include "text/tokenizers/escaped.h"
#include "text/vocabulary/characters.h"

enum { ESCAPED_SIZE = sizeof ESCAPED_SPACE - 1 };

#define REPLACEMENT_CHARACTER "\xef\xbf\xbd"

/* What bytes may begin.  KIND_PLAIN: neither a key that goes on with ASCII, nor a user-defined token;
 * KIND_TOKEN: a user-defined token. */
enum { KIND_OTHER, KIND_PLAIN, KIND_TOKEN };

static bool begins_token(const ugm_normalizer *n, uint8_t byte)
{
    return trie_step(n->user_defined, n->user_defined->root, byte) != TRIE_NONE;
}

static bool begins_ascii_key(const ugm_normalizer *n, uint8_t byte)
{
    for (unsigned next = 0; next < 0x80; next++)
        if (charsmap_may_match(&n->map, (char)byte, (char)next))
            return true;
    return false;
}

void ugm_normalizer_prepare(ugm_normalizer *n)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;

        n->kinds[i] = KIND_OTHER;
        if (begins_token(n, byte))
            n->kinds[i] = KIND_TOKEN;
        else if (byte < 0x80 && byte != ' ' && !begins_ascii_key(n, byte))
            n->kinds[i] = KIND_PLAIN;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

static void put_escaped_space(gufo_text *out)
{
    for (int i = 0; i < ESCAPED_SIZE; i++)
        text_put_byte(out, ESCAPED_SPACE[i]);
}

/* Begins a word, if none is open. */
static void begin_word(const ugm_normalizer *n, ugm_state *state, gufo_text *out)
{
    if (state->in_word)
        return;
    state->in_word = true;
    if (!n->extra_spaces || (n->space_prefix && !state->prefixed))
        put_escaped_space(out);
    state->prefixed = true;
}

/* Appends text without spaces. */
static bool put_letters(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    if (out->room - out->len < text.len + ESCAPED_SIZE &&
        !text_reserve(out, text.len + ESCAPED_SIZE))
        return false;
    begin_word(n, state, out);
    memcpy(out->data + out->len, text.data, text.len);
    out->len += text.len;
    return true;
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
        begin_word(n, state, out);
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

/* Appends a character, or a byte that is none. */
static size_t put_character(const ugm_normalizer *n, gufo_str text, ugm_state *state,
                            gufo_text *out)
{
    size_t size = 1;
    bool valid = (uint8_t)*text.data < 0x80 ||
                 lenient_decode(text.data, text.len, &size) != 0xfffd || size > 1;
    gufo_str written = valid ? (gufo_str){text.data, size} : gufo_str_of(REPLACEMENT_CHARACTER);

    if (*text.data == ' ')
        return put_words(n, written, state, out) ? size : 0;
    return put_letters(n, written, state, out) ? size : 0;
}

/* Appends the first stretch of a text; returns how long it was, 0 without memory. */
static size_t put_stretch(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    size_t size = 0;
    gufo_str stretch = {text.data, 0};

    if (n->kinds[(uint8_t)*text.data] == KIND_TOKEN)
        stretch.len = size = user_defined(n, text);
    if (size == 0 && charsmap_may_match(&n->map, *text.data, text.len > 1 ? text.data[1] : '\0'))
        size = charsmap_match(&n->map, text, &stretch);
    if (size == 0)
        return put_character(n, text, state, out);
    return put_words(n, stretch, state, out) ? size : 0;
}

/* The length of what stays as it is at the start of a text: a key may begin with the last byte if
 * more than ASCII follows. */
static size_t plain_length(const ugm_normalizer *n, gufo_str text)
{
    size_t len = 0;

    while (len < text.len && n->kinds[(uint8_t)text.data[len]] == KIND_PLAIN)
        len++;
    return len > 0 && len < text.len && (uint8_t)text.data[len] >= 0x80 ? len - 1 : len;
}

bool ugm_normalize(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        gufo_str rest = {text.data + at, text.len - at};

        size = plain_length(n, rest);
        if (size > 0) {
            if (!put_letters(n, (gufo_str){rest.data, size}, state, out))
                return false;
            continue;
        }
        size = put_stretch(n, rest, state, out);
        if (size == 0)
            return false;
    }
    return true;
}
