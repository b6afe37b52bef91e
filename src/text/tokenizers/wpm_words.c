/* The words of WPM, as llama.cpp makes them: each character is decomposed, dropped, or lower-cased,
 * one after the other.
 *
 * Characters that Unicode 15.1 does not have are never mapped: ids do not depend on the version of
 * utf8proc. */
#include "text/tokenizers/wpm_words.h"

#include <string.h>
#include <utf8proc.h>

#include "text/characters/escaped.h"
#include "text/characters/characters.h"

enum { NOT_A_CHARACTER = 0xfffd, LAST_CHARACTER = 0x10ffff };

wpm_byte wpm_byte_kind(uint8_t byte)
{
    if (byte >= 0x7f)
        return WPM_WORD;
    switch (class_of(byte)) {
    case CLASS_W:
        return WPM_SPACE;
    case CLASS_P:
    case CLASS_S:
        return WPM_PUNCTUATION;
    default:
        return WPM_WORD;
    }
}

bool wpm_is_ideograph(uint32_t code_point)
{
    static const uint32_t ranges[][2] = {
        {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
        {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f},
    };

    if (code_point < ranges[0][0])
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code_point >= ranges[i][0] && code_point <= ranges[i][1])
            return true;
    return false;
}

bool wpm_is_own_word(uint32_t code_point)
{
    character_class class = class_of(code_point);

    return class == CLASS_P || (class == CLASS_S && code_point < 0x7f) ||
           wpm_is_ideograph(code_point);
}

void wpm_words_free(wpm_words *w)
{
    gufo_text_free(&w->word);
    gufo_text_free(&w->text);
    gufo_text_free(&w->points);
}

/* ---- the word ------------------------------------------------------------------------------- */

bool wpm_add(wpm_words *w, uint32_t code_point)
{
    enum { MARK = sizeof ESCAPED_SPACE - 1, ROOM = MARK + 4 };
    gufo_text *word = &w->word;

    if (word->room - word->len < ROOM && !text_reserve(word, ROOM))
        return false;
    if (word->len == 0) {
        memcpy(word->data, ESCAPED_SPACE, MARK);
        word->len = MARK;
    }
    if (code_point < 0x80)
        text_put_byte(word, (char)code_point);
    else
        word->len += lenient_encode(code_point, word->data + word->len);
    return true;
}

bool wpm_end_word(wpm_words *w)
{
    bool more = w->word.len == 0 || w->take(w->context, (gufo_str){w->word.data, w->word.len});

    w->word.len = 0;
    return more;
}

/* ---- characters ----------------------------------------------------------------------------- */

uint32_t wpm_first_of_decomposition(uint32_t c)
{
    utf8proc_int32_t parts[8];
    int boundary = 0;

    if (c < 0xc0 || c > LAST_CHARACTER || class_of(c) == CLASS_OTHER)
        return c;
    if (utf8proc_decompose_char((utf8proc_int32_t)c, parts, 8, UTF8PROC_DECOMPOSE, &boundary) < 1)
        return c;
    return (uint32_t)parts[0];
}

uint32_t wpm_lower_case(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    return class_of(c) == CLASS_OTHER ? c : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

typedef enum character_fate { FATE_DROPPED, FATE_SPACE, FATE_LETTER, FATE_WORD } character_fate;

/* What becomes of a character; *written is what it becomes. */
static character_fate fate_of(const wpm_words *w, uint32_t c, uint32_t *written)
{
    character_class class;

    *written = 0;
    if (c > LAST_CHARACTER || c == NOT_A_CHARACTER || c == 0)
        return FATE_DROPPED;
    if (w->strip_accents)
        c = wpm_first_of_decomposition(c);
    class = class_of(c);
    if (class == CLASS_W)
        return FATE_SPACE;
    if (class == CLASS_C || (class == CLASS_M && w->strip_accents))
        return FATE_DROPPED;
    *written = w->lowercase ? wpm_lower_case(c) : c;
    return wpm_is_own_word(c) ? FATE_WORD : FATE_LETTER;
}

/* The fate of a character, mostly remembered: bits 63..32 are the character and 1, 25..24 the fate,
 * 23..0 what is written. */
static uint64_t remembered_fate(wpm_words *w, uint32_t c)
{
    uint64_t *place = &w->remembered[(c ^ c >> 11) % WPM_REMEMBERED];
    uint32_t written;

    if (*place >> 32 != (uint64_t)c + 1) {
        uint64_t fate = fate_of(w, c, &written);

        *place = ((uint64_t)c + 1) << 32 | fate << 24 | written;
    }
    return *place;
}

static bool add_character(wpm_words *w, uint32_t c)
{
    uint64_t fate = remembered_fate(w, c);
    uint32_t written = (uint32_t)fate & 0xffffff;

    switch ((character_fate)(fate >> 24 & 3)) {
    case FATE_LETTER:
        return wpm_add(w, written);
    case FATE_SPACE:
        return wpm_end_word(w);
    case FATE_WORD:
        return wpm_end_word(w) && wpm_add(w, written) && wpm_end_word(w);
    default:
        return true;
    }
}

bool wpm_split(wpm_words *w, gufo_str text)
{
    for (size_t at = 0, size = 1; at < text.len; at += size) {
        uint32_t c = (uint8_t)text.data[at];

        size = 1;
        if (c >= 0x80)
            c = lenient_decode(text.data + at, text.len - at, &size);
        if (!add_character(w, c))
            return false;
    }
    return wpm_end_word(w);
}
