/* The normalizer of UGM: replacements first, then spaces.
 *
 *     text       " ﬁne  day"
 *     replaced   " fine  day"       by the map; user-defined tokens and what begins one stay
 *     spaces     " fine day"        or, where extra spaces are kept, "  fine  day"
 *
 * A space stands for U+2581, which it is in the texts of tokens. */
#include "text/tokenizers/ugm_normalizer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "text/characters/characters.h"

#define REPLACEMENT_CHARACTER "\xef\xbf\xbd"

static bool begins_token(const ugm_normalizer *n, char byte)
{
    return trie_child(n->user_defined, n->user_defined->root, (uint8_t)byte) != TRIE_NONE;
}

/* Whether a key begins with `byte` and goes on with ASCII. */
static bool goes_on(const ugm_normalizer *n, char byte)
{
    for (unsigned next = 1; next < 0x80; next++)
        if (charsmap_has_pair(&n->map, byte, (char)next))
            return true;
    return false;
}

void ugm_normalizer_prepare(ugm_normalizer *n)
{
    for (unsigned i = 1; i < 0x80; i++) {
        char byte = (char)i;
        gufo_str written = {&byte, 1};

        (void)charsmap_match(&n->map, written, &written);
        if (written.len == 1 && (uint8_t)*written.data < 0x80 && !begins_token(n, byte) &&
            !goes_on(n, byte))
            n->written[i] = *written.data;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Begins a word, if none is open. */
static void begin_word(const ugm_normalizer *n, ugm_state *state, gufo_text *out)
{
    if (state->in_word)
        return;
    state->in_word = true;
    if (!n->extra_spaces || (n->space_prefix && !state->prefixed))
        text_put_byte(out, ' ');
    state->prefixed = true;
}

/* Appends text without spaces. */
static bool put_letters(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    if (out->room - out->len <= text.len && !text_reserve(out, text.len + 1))
        return false;
    begin_word(n, state, out);
    memcpy(out->data + out->len, text.data, text.len);
    out->len += text.len;
    return true;
}

/* The second half: appends replaced text, with a space before words, or all spaces. */
static bool put_words(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    if (text.len > SIZE_MAX / 2 || !text_reserve(out, text.len * 2))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];

        if (byte == ' ') {
            state->in_word = false;
            if (n->extra_spaces)
                text_put_byte(out, ' ');
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

/* A character, or what replaces a byte that is none; returns how long it was. */
static size_t first_character(gufo_str text, gufo_str *written)
{
    size_t size = 1;
    bool valid = (uint8_t)*text.data < 0x80 ||
                 lenient_decode(text.data, text.len, &size) != 0xfffd || size > 1;

    *written = valid ? (gufo_str){text.data, size} : gufo_str_of(REPLACEMENT_CHARACTER);
    return size;
}

/* What becomes of the first stretch of a text; returns how long that is. */
static size_t first_stretch(const ugm_normalizer *n, gufo_str text, gufo_str *written)
{
    size_t size = 0;

    *written = (gufo_str){text.data, 0};
    if (begins_token(n, *text.data))
        written->len = size = user_defined(n, text);
    if (size == 0 && charsmap_may_match(&n->map, *text.data, text.len > 1 ? text.data[1] : '\0'))
        size = charsmap_match(&n->map, text, written);
    return size > 0 ? size : first_character(text, written);
}

/* Appends the first stretch of a text; returns how long it was, 0 without memory. */
static size_t put_stretch(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    gufo_str written;
    size_t size = first_stretch(n, text, &written);

    return put_words(n, written, state, out) ? size : 0;
}

/* Writes what eight bytes become, but for spaces that are left out, behind `last`; returns how many
 * that are, or -1 if it depends. */
static inline int put_eight(const ugm_normalizer *n, const char *text, char last, char *to)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
    uint64_t bytes = 0, spaces;
    int count = 0;

    for (unsigned i = 0; i < 8; i++)
        bytes |= (uint64_t)(uint8_t)n->written[(uint8_t)text[i]] << 8 * i;
    if ((~(bytes + ones * 0x7f) & high) != 0)
        return -1;
    spaces = ~((bytes ^ ones * ' ') + ones * 0x7f) & high;
    spaces &= spaces << 8 | (last == ' ' ? 0x80 : 0);
    if (spaces == 0 || n->extra_spaces) {
        store_u64(to, bytes, HOST_IS_BIG_ENDIAN);
        return 8;
    }
    for (unsigned i = 0; i < 8; i++) {
        to[count] = (char)(bytes >> 8 * i);
        count += (spaces >> 8 * i & 0x80) == 0;
    }
    return count;
}

/* Appends the start of a text as long as each byte becomes a certain one; returns its length, which may
 * be 0.  There is room for the text and one byte more. */
static size_t put_plain(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    const bool all = n->extra_spaces;
    char *to = out->data + out->len, last = 'a', byte;
    size_t len = 0;
    int count;

    if (all && !state->prefixed)
        return 0;
    if (!all && !state->in_word)
        *to++ = last = ' ';
    for (; text.len - len >= 8 && (count = put_eight(n, text.data + len, last, to)) >= 0;
         len += 8) {
        to += count;
        last = n->written[(uint8_t)text.data[len + 7]];
    }
    for (; len < text.len && (byte = n->written[(uint8_t)text.data[len]]) != '\0'; len++) {
        *to = byte;
        to += all || (byte | last) != ' ';
        last = byte;
    }
    /* A key may begin with its last byte. */
    if (len > 0 && len < text.len && (uint8_t)text.data[len] >= 0x80) {
        len--;
        to -= all || last != ' ';
    }
    if (len == 0)
        return 0;
    if (!all) {
        state->in_word = to[-1] != ' ';
        to -= !state->in_word;
    }
    out->len = (size_t)(to - out->data);
    return len;
}

/* The length of the character beyond ASCII that a text begins with; 0: it is not whole. */
static inline size_t wide_length(gufo_str text)
{
    static const uint32_t masks[] = {0, 0, 0xc0e0, 0xc0c0f0, 0xc0c0c0f8};
    static const uint32_t wanted[] = {0, 1, 0x80c0, 0x8080e0, 0x808080f0};
    size_t size = length_by_first_byte(text.data, text.len);
    uint32_t bytes = text.len < 4 ? (uint32_t)load_start(text.data, text.len)
                                  : load_u32(text.data, HOST_IS_BIG_ENDIAN);

    return (bytes & masks[size]) == wanted[size] ? size : 0;
}

/* Appends characters beyond ASCII with which neither a key nor a user-defined token begins; returns
 * their length. */
static size_t put_wide(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    size_t len = 0, size;

    while (len + 1 < text.len && (uint8_t)text.data[len] >= 0x80 &&
           !begins_token(n, text.data[len]) && (size = wide_length(str_from(text, len))) > 0 &&
           (!charsmap_may_match(&n->map, text.data[len], text.data[len + 1]) ||
            charsmap_match(&n->map, str_from(text, len), &(gufo_str){0}) == 0))
        len += size;
    return len == 0 || put_letters(n, (gufo_str){text.data, len}, state, out) ? len : 0;
}

bool ugm_normalize(const ugm_normalizer *n, gufo_str text, ugm_state *state, gufo_text *out)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        gufo_str rest = str_from(text, at);

        if (out->room - out->len <= rest.len && !text_reserve(out, rest.len + 1))
            return false;
        size = (uint8_t)*rest.data < 0x80 ? put_plain(n, rest, state, out)
                                          : put_wide(n, rest, state, out);
        if (size == 0)
            size = put_stretch(n, rest, state, out);
        if (size == 0)
            return false;
    }
    return true;
}

/* ---- with origins --------------------------------------------------------------------------- */

static size_t character_size(gufo_str text)
{
    size_t size;

    (void)lenient_decode(text.data, text.len, &size);
    return size;
}

/* Appends what a stretch, which begins at `begin`, becomes: character by character. */
static bool put_traced(const ugm_normalizer *n, gufo_str written, gufo_str stretch, size_t begin,
                       ugm_state *state, gufo_text *out, origin_list *origins)
{
    text_origin origin = origin_of_first(stretch, begin);

    while (written.len > 0) {
        size_t size = character_size(written), before = out->len;

        if (!put_words(n, (gufo_str){written.data, size}, state, out) ||
            !origins_add(origins, origin, out->len - before))
            return false;
        written = str_from(written, size);
        size = character_size(stretch);
        if (size < stretch.len) {
            stretch = str_from(stretch, size);
            origin = origin_of_first(stretch, begin += size);
        }
    }
    return true;
}

bool ugm_normalize_traced(const ugm_normalizer *n, gufo_str text, size_t begin, ugm_state *state,
                          gufo_text *out, origin_list *origins)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        gufo_str written;

        size = first_stretch(n, str_from(text, at), &written);
        if (!put_traced(n, written, (gufo_str){text.data + at, size}, begin + at, state, out,
                        origins))
            return false;
    }
    return true;
}
