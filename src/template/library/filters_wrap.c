/* The filter wordwrap: lines as Python's textwrap breaks them.
 *
 * A paragraph is cut into chunks: blanks, and words, which may end behind a hyphen or before a dash.
 * A line takes chunks as long as they fit.  Chunks lie one behind the other, so a line is a part of
 * its paragraph. */
#include <string.h>

#include "base/text.h"
#include "template/library/natives.h"

typedef struct wrapping {
    machine *m;
    gufo_str text; /* of the paragraph */
    int64_t width;
    bool break_words; /* that are longer than a line */
    bool at_hyphens;  /* long words are broken behind a hyphen */
    bool hyphens;     /* words are cut into chunks behind a hyphen */
} wrapping;

/* ==== Chunks ================================================================================= */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool blank_at(const wrapping *w, size_t at)
{
    return at < w->text.len && is_blank(w->text.data[at]);
}

static bool hyphen_at(const wrapping *w, size_t at)
{
    return at < w->text.len && w->text.data[at] == '-';
}

/* The character at `at`, past which it goes; 0 at the end. */
static uint32_t next_point(const wrapping *w, size_t *at)
{
    uint32_t point = 0;
    size_t len = 0;

    if (*at < w->text.len)
        point = point_at(str_from(w->text, *at), &len);
    *at += len;
    return point;
}

/* The character before `at`, to which it goes; 0 at the start. */
static uint32_t previous_point(const wrapping *w, size_t *at)
{
    size_t len;

    if (*at == 0)
        return 0;
    *at -= last_point((gufo_str){w->text.data, *at});
    return point_at(str_from(w->text, *at), &len);
}

static bool is_word_letter(uint32_t point)
{
    return is_word_point(point) && !is_decimal(point);
}

static bool is_word_mark(uint32_t point)
{
    return is_word_point(point) || (point != 0 && point < 0x80 && strchr("!\"'&.,?", (int)point));
}

/* The end of a dash that begins at `at`: two hyphens or more between what belongs to words; `at` if
 * there is none. */
static size_t dash_end(const wrapping *w, size_t at)
{
    size_t before = at, end = at, behind;

    if (!hyphen_at(w, at) || !hyphen_at(w, at + 1) || !is_word_mark(previous_point(w, &before)))
        return at;
    while (hyphen_at(w, end))
        end++;
    behind = end;
    return is_word_point(next_point(w, &behind)) ? end : at;
}

/* Whether a word can be cut behind the hyphen at `at`: two letters before it, perhaps with a hyphen
 * between them, and two behind it. */
static bool cuts_behind(const wrapping *w, size_t at)
{
    size_t before = at, behind = at + 1;
    uint32_t second;

    if (!hyphen_at(w, at) || !is_word_letter(previous_point(w, &before)))
        return false;
    second = previous_point(w, &before);
    if (second == '-')
        second = previous_point(w, &before);
    if (!is_word_letter(second) || !is_word_letter(next_point(w, &behind)))
        return false;
    behind += hyphen_at(w, behind);
    return is_word_letter(next_point(w, &behind));
}

/* The end of the chunk that begins at `at`. */
static size_t chunk_end(const wrapping *w, size_t at)
{
    size_t end = at;

    if (blank_at(w, at)) {
        while (blank_at(w, end))
            end++;
        return end;
    }
    if (w->hyphens && dash_end(w, at) != at)
        return dash_end(w, at);
    do {
        (void)next_point(w, &end);
        if (w->hyphens && cuts_behind(w, end))
            return end + 1;
    } while (end < w->text.len && !blank_at(w, end) && !(w->hyphens && dash_end(w, end) != end));
    return end;
}

/* ==== Lines ================================================================================== */

/* The byte behind the first `chars` characters of a part, at most its end. */
static size_t characters_end(const wrapping *w, size_t from, size_t end, int64_t chars)
{
    while (from < end && chars-- > 0)
        (void)next_point(w, &from);
    return from;
}

/* Where a word that is too long is broken, with room for `left` characters. */
static size_t break_word(const wrapping *w, size_t from, size_t end, int64_t left)
{
    size_t room = characters_end(w, from, end, left), hyphen = room, first = from;

    if (!w->at_hyphens)
        return room;
    while (hyphen > from && w->text.data[hyphen - 1] != '-')
        hyphen--;
    while (first + 1 < hyphen && w->text.data[first] == '-')
        first++;
    /* Only hyphens before it: it is not broken there. */
    return first + 1 < hyphen ? hyphen : room;
}

static bool is_white(const wrapping *w, size_t from, size_t end)
{
    return strip_text((gufo_str){w->text.data + from, end - from}, NULL, true, true).len == 0;
}

/* The chunk that comes next: what is left of one that was broken stays one. */
typedef struct chunk {
    size_t at, end;
} chunk;

/* Its characters; one more than the width of a line for any that are longer. */
static int64_t chunk_width(const wrapping *w, const chunk *next)
{
    size_t at = next->at;
    int64_t chars = 0;

    for (; at < next->end && chars <= w->width; chars++)
        (void)next_point(w, &at);
    return chars;
}

static void skip_to(const wrapping *w, chunk *next, size_t at)
{
    next->at = at;
    if (at == next->end && at < w->text.len)
        next->end = chunk_end(w, at);
}

/* Takes the line that begins with *next, past which it goes: the part [*from, returned). */
static size_t take_line(const wrapping *w, bool first, chunk *next, size_t *from)
{
    int64_t chars = 0;
    size_t last;

    if (!first && is_white(w, next->at, next->end))
        skip_to(w, next, next->end);
    *from = last = next->at;
    while (next->at < w->text.len) {
        int64_t more = chunk_width(w, next), left = w->width - chars;
        bool alone = next->at == *from;

        if (more > left && (more <= w->width || !(w->break_words || alone)))
            break;
        last = next->at;
        if (more <= left || !w->break_words)
            skip_to(w, next, next->end);
        else
            skip_to(w, next, break_word(w, next->at, next->end, left));
        if (more > left)
            break;
        chars += more;
    }
    return is_white(w, last, next->at) ? last : next->at;
}

static bool wrap_paragraph(const wrapping *w, gufo_str between)
{
    chunk next = {0, 0};
    bool first = true;

    skip_to(w, &next, 0);
    while (next.at < w->text.len) {
        size_t start = next.at, from, end = take_line(w, first, &next, &from);

        if (!machine_spend_bytes(w->m, (next.at - start) * 16))
            return false;
        if (end == from)
            continue;
        if ((!first && !out_write(w->m, between)) ||
            !out_write(w->m, (gufo_str){w->text.data + from, end - from}))
            return false;
        first = false;
    }
    return true;
}

value filter_wordwrap(machine *m, const value *given, const arguments *all)
{
    const string *text = take_string(m, given[0], "what is wrapped");
    string line_end = {.data = "\n", .len = 1, .chars = 1};
    bool absent = !is_given(given[3]) || given[3].kind == VALUE_NONE;
    const string *between = absent ? &line_end : take_string(m, given[3], "what is between lines");
    wrapping w = {.m = m,
                  .break_words = !is_given(given[2]) || value_truth(given[2]),
                  .at_hyphens = !is_given(given[4]) || value_truth(given[4])};
    size_t mark = m->out_len, end;
    gufo_str rest;

    (void)all;
    if (text == NULL || between == NULL || !take_index(m, given[1], 79, &w.width))
        return FAILED;
    /* Python cuts at hyphens for true alone, not for 1. */
    w.hyphens = w.at_hyphens && (!is_given(given[4]) || given[4].kind == VALUE_BOOL);
    if (w.width <= 0 && text->len != 0)
        return fail_type(m, "a width of at least 1 is expected");
    rest = bytes_of(text);
    for (bool first = true; next_line(&rest, &w.text, &end); first = false)
        if ((!first && !out_write(m, bytes_of(between))) || !wrap_paragraph(&w, bytes_of(between)))
            return FAILED;
    return out_cut(m, mark);
}
