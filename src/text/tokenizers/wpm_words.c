/* The words of WPM, as llama.cpp makes them and as the tokenizer of BERT does.
 *
 * Characters that Unicode 15.1 does not have are never mapped: ids do not depend on the version of
 * utf8proc. */
#include "text/tokenizers/wpm_words.h"

#include <string.h>
#include <utf8proc.h>

#include "text/characters/characters.h"
#include "text/characters/escapes.h"

enum { NOT_A_CHARACTER = 0xfffd, LAST_CHARACTER = 0x10ffff };

static bool is_ideograph(uint32_t code_point)
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

    return class == CLASS_P || (class == CLASS_S && code_point < 0x7f) || is_ideograph(code_point);
}

void wpm_words_free(wpm_words *w)
{
    gufo_text_free(&w->word);
    gufo_text_free(&w->text);
    gufo_text_free(&w->points);
    origins_free(&w->origins);
    points_free(&w->placed);
    points_free(&w->placed_points);
}

/* ---- the word ------------------------------------------------------------------------------- */

static bool add_to_word(wpm_words *w, uint32_t code_point)
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

/* The same; what is added comes from w->origin. */
static bool add_traced(wpm_words *w, uint32_t code_point)
{
    size_t before = w->word.len;

    if (before == 0)
        w->origins.count = 0;
    return add_to_word(w, code_point) && origins_add(&w->origins, w->origin, w->word.len - before);
}

static bool end_word(wpm_words *w)
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

/* By the simple mapping. */
static uint32_t lower_case_of(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    return class_of(c) == CLASS_OTHER ? c : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

/* ==== as llama.cpp makes them: each character is decomposed, dropped, or lower-cased ========= */

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
    *written = w->lowercase ? lower_case_of(c) : c;
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

/* How a character is added to a word. */
typedef bool word_adder(wpm_words *w, uint32_t code_point);

static inline bool add_character(wpm_words *w, uint32_t c, word_adder *add)
{
    uint64_t fate = remembered_fate(w, c);
    uint32_t written = (uint32_t)fate & 0xffffff;

    switch ((character_fate)(fate >> 24 & 3)) {
    case FATE_LETTER:
        return add(w, written);
    case FATE_SPACE:
        return end_word(w);
    case FATE_WORD:
        return end_word(w) && add(w, written) && end_word(w);
    default:
        return true;
    }
}

static bool split_traced(wpm_words *w, gufo_str text, size_t begin)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t c = lenient_decode(text.data + at, text.len - at, &size);

        w->origin = origin_of_bytes(begin + at, size);
        if (!add_character(w, c, add_traced))
            return false;
    }
    return end_word(w);
}

bool wpm_split(wpm_words *w, gufo_str text, size_t begin)
{
    if (w->traced)
        return split_traced(w, text, begin);
    for (size_t at = 0, size = 1; at < text.len; at += size) {
        uint32_t c = (uint8_t)text.data[at];

        size = 1;
        if (c >= 0x80)
            c = lenient_decode(text.data + at, text.len - at, &size);
        if (!add_character(w, c, add_to_word))
            return false;
    }
    return end_word(w);
}

/* ==== as the tokenizer of BERT makes them ==================================================== */

/* Its passes over all of a text:
 *
 *     clean        controls and what Unicode 14 does not assign go
 *     split        at white space, and around ideographs
 *     compose      NFC
 *     lower case   by the full mapping: a sigma at the end of a word has its own form
 *     decompose    NFD, without the marks that take no space (Mn)
 *     split        at punctuation
 */

enum {
    CAPITAL_I_WITH_DOT = 0x130,
    DOT_ABOVE = 0x307,
    CAPITAL_SIGMA = 0x3a3,
    SMALL_SIGMA = 0x3c3,
    FINAL_SIGMA = 0x3c2,
};

/* The text between two places to split is in words->text, in UTF-8, or in words->points. */
typedef struct passes {
    wpm_words *words;
    gufo_text *text;
    size_t count; /* of points */
} passes;

static utf8proc_int32_t *points_of(const passes *p)
{
    return (utf8proc_int32_t *)(void *)p->words->points.data;
}

static uint32_t point_at(const passes *p, size_t index)
{
    return (uint32_t)points_of(p)[index];
}

/* Appends what w->origin comes from. */
static bool put_text(passes *p, uint32_t c)
{
    wpm_words *w = p->words;
    char bytes[4];

    return text_add(p->text, bytes, lenient_encode(c, bytes)) &&
           (!w->traced || points_add(&w->placed, c, w->origin));
}

/* The same as `normalize`, with origins. */
static bool trace_normalize(passes *p, bool compose)
{
    wpm_words *w = p->words;
    point_list last = w->placed_points;

    if (!points_normalize(&w->placed, compose))
        return false;
    w->placed_points = w->placed;
    w->placed = last;
    w->placed.count = 0;
    return true;
}

/* Makes code points of the text, which is UTF-8, decomposed; and composes them. */
static bool normalize(passes *p, bool compose)
{
    const utf8proc_uint8_t *text = (const utf8proc_uint8_t *)p->text->data;
    utf8proc_ssize_t len = (utf8proc_ssize_t)p->text->len, count;

    count = utf8proc_decompose(text, len, NULL, 0, UTF8PROC_DECOMPOSE);
    if (count < 0 || (size_t)count > SIZE_MAX / sizeof(utf8proc_int32_t) - 1 ||
        !text_reserve(&p->words->points, ((size_t)count + 1) * sizeof(utf8proc_int32_t)))
        return false;
    count = utf8proc_decompose(text, len, points_of(p), count, UTF8PROC_DECOMPOSE);
    if (count > 0 && compose)
        count = utf8proc_normalize_utf32(points_of(p), count, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    p->count = count < 0 ? 0 : (size_t)count;
    p->text->len = 0;
    return count >= 0 && (!p->words->traced || trace_normalize(p, compose));
}

/* What is read from here on comes from a code point. */
static void read_point(passes *p, size_t index)
{
    wpm_words *w = p->words;

    if (w->traced && index < w->placed_points.count)
        w->origin = w->placed_points.list[index].origin;
}

/* ---- lower case ----------------------------------------------------------------------------- */

static utf8proc_category_t category_of(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c);
}

static bool is_cased(uint32_t c)
{
    utf8proc_category_t category = category_of(c);

    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
           category == UTF8PROC_CATEGORY_LT;
}

/* Unicode's Case_Ignorable: what may stand between letters of a word. */
static bool is_ignored(uint32_t c)
{
    static const uint16_t inside[] = {'\'',   '.',    ':',    0xb7,   0x387,  0x55f,
                                      0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                      0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};

    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (c == inside[i])
            return true;
    switch (category_of(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        return false;
    }
}

/* Whether a letter comes before place `index`, and none after it. */
static bool ends_word(const passes *p, size_t index)
{
    size_t before = index, after = index + 1;

    while (before > 0 && is_ignored(point_at(p, before - 1)))
        before--;
    while (after < p->count && is_ignored(point_at(p, after)))
        after++;
    return before > 0 && is_cased(point_at(p, before - 1)) &&
           (after == p->count || !is_cased(point_at(p, after)));
}

static bool put_lower_case(passes *p, size_t index)
{
    uint32_t c = point_at(p, index);

    if (c == CAPITAL_I_WITH_DOT)
        return put_text(p, 'i') && put_text(p, DOT_ABOVE);
    if (c == CAPITAL_SIGMA)
        return put_text(p, ends_word(p, index) ? FINAL_SIGMA : SMALL_SIGMA);
    return put_text(p, lower_case_of(c));
}

static bool lower_case(passes *p)
{
    for (size_t i = 0; i < p->count; i++) {
        read_point(p, i);
        if (p->words->lowercase ? !put_lower_case(p, i) : !put_text(p, point_at(p, i)))
            return false;
    }
    return true;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool split_at_punctuation(passes *p)
{
    wpm_words *w = p->words;
    word_adder *add = w->traced ? add_traced : add_to_word;

    for (size_t i = 0; i < p->count; i++) {
        uint32_t c = point_at(p, i);
        character_class class = class_of(c);

        if (w->strip_accents && category_of(c) == UTF8PROC_CATEGORY_MN)
            continue;
        read_point(p, i);
        if (class != CLASS_P && (class != CLASS_S || c >= 0x7f)) {
            if (!add(w, c))
                return false;
        } else if (!end_word(w) || !add(w, c) || !end_word(w)) {
            return false;
        }
    }
    return end_word(w);
}

/* What was read since the last split. */
static bool end_stretch(passes *p)
{
    bool enough;

    if (p->text->len == 0)
        return true;
    enough = normalize(p, true) && lower_case(p) && normalize(p, !p->words->strip_accents) &&
             split_at_punctuation(p);
    p->text->len = 0;
    p->words->placed.count = 0;
    return enough;
}

static bool is_original_ideograph(uint32_t c)
{
    return is_ideograph(c) || (c >= 0x2b820 && c <= 0x2b91f);
}

/* What Unicode 15 added.  The tokenizer of BERT is a Python program, and its results depend on the
 * Unicode of Python; those that we know are from version 14. */
static bool is_new(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0xcf3, 0xcf3},     {0xece, 0xece},     {0x2ffc, 0x2fff},   {0x31ef, 0x31ef},
        {0x10efd, 0x10eff}, {0x1123f, 0x11241}, {0x11b00, 0x11b09}, {0x11f00, 0x11f10},
        {0x11f12, 0x11f3a}, {0x11f3e, 0x11f59}, {0x1342f, 0x1342f}, {0x13439, 0x13455},
        {0x1b132, 0x1b132}, {0x1b155, 0x1b155}, {0x1d2c0, 0x1d2d3}, {0x1df25, 0x1df2a},
        {0x1e030, 0x1e06d}, {0x1e08f, 0x1e08f}, {0x1e4d0, 0x1e4f9}, {0x1f6dc, 0x1f6dc},
        {0x1f774, 0x1f776}, {0x1f77b, 0x1f77f}, {0x1f7d9, 0x1f7d9}, {0x1fa75, 0x1fa77},
        {0x1fa87, 0x1fa88}, {0x1faad, 0x1faaf}, {0x1fabb, 0x1fabd}, {0x1fabf, 0x1fabf},
        {0x1face, 0x1facf}, {0x1fada, 0x1fadb}, {0x1fae8, 0x1fae8}, {0x1faf7, 0x1faf8},
        {0x2b739, 0x2b739}, {0x2ebf0, 0x2ee5d}, {0x31350, 0x323af},
    };
    size_t first = 0, end = sizeof ranges / sizeof *ranges;

    while (end - first > 1) {
        size_t middle = (first + end) / 2;

        if (ranges[middle][0] <= c)
            first = middle;
        else
            end = middle;
    }
    return ranges[first][0] <= c && c <= ranges[first][1];
}

static bool read_character(passes *p, uint32_t c, text_origin here)
{
    character_class class;

    if (c > 0x10ffff || c == NOT_A_CHARACTER)
        return true;
    class = class_of(c);
    if (class == CLASS_C || class == CLASS_OTHER || is_new(c) || (class == CLASS_W && c < 0xa0))
        return true; /* U+0009, 000A, 000D and 0020 do not come here */
    if (class == CLASS_W)
        return end_stretch(p);
    if (!is_original_ideograph(c)) {
        p->words->origin = here;
        return put_text(p, c);
    }
    if (!end_stretch(p))
        return false;
    p->words->origin = here;
    return put_text(p, c) && end_stretch(p);
}

bool wpm_split_original(wpm_words *w, gufo_str text, size_t begin)
{
    passes p = {.words = w, .text = &w->text};

    w->text.len = 0;
    w->placed.count = 0;
    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t c = lenient_decode(text.data + at, text.len - at, &size);

        if (!read_character(&p, c, origin_of_bytes(begin + at, size)))
            return false;
    }
    return end_stretch(&p);
}
