/* Filters of texts.  Other values become texts first. */
#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"
#include "template/machine/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The filter wordwrap: lines as Python's textwrap breaks them.
 *
 * A paragraph is cut into chunks: blanks, and words, which may end behind a hyphen or before a dash.
 * A line takes chunks as long as they fit.  Chunks lie one behind the other, so a line is a part of
 * its paragraph. */

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

/* A method of strings as a filter: of the value's text, with one argument more. */
static value as_method(machine *m, native_call *call, const value *given)
{
    value places[NATIVE_PARAMETERS + 1];

    for (size_t i = 0; i <= NATIVE_PARAMETERS; i++)
        places[i] = i < 2 ? given[i] : value_of(VALUE_ABSENT);
    places[0] = text_of(m, given[0]);
    return is_failed(places[0]) ? FAILED : call(m, places, NULL);
}

value filter_upper(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return as_method(m, str_upper, given);
}

value filter_lower(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return as_method(m, str_lower, given);
}

value filter_capitalize(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return as_method(m, str_capitalize, given);
}

value filter_trim(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return as_method(m, str_strip, given);
}

value filter_center(machine *m, const value *given, const arguments *all)
{
    value width = is_given(given[1]) ? given[1] : value_int(80);

    (void)all;
    return as_method(m, str_center, (value[]){given[0], width});
}

static bool begins_word(char c)
{
    return is_space((uint8_t)c) || memchr("-({[<", c, 5) != NULL;
}

value filter_title(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[0]);
    size_t mark = m->out_len;
    bool first = true;
    gufo_str s;

    (void)all;
    if (is_failed(text))
        return text;
    s = bytes_of(text.as.string);
    if (!machine_spend_bytes(m, s.len * 4))
        return FAILED;
    for (size_t at = 0, len; at < s.len; at += len) {
        uint32_t point = point_at(str_from(s, at), &len);
        bool between = point < 0x80 ? begins_word(s.data[at]) : is_space(point);

        if (!write_point_case(m, s, at, len, first ? CASE_UPPER : CASE_LOWER))
            return FAILED;
        first = between;
    }
    return cut_like(m, mark, text.as.string);
}

value filter_string(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return text_of(m, given[0]);
}

static value marked(machine *m, value text, bool markup)
{
    return is_failed(text) ? text : string_cast(&m->memory, text.as.string, markup);
}

value filter_safe(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return marked(m, text_of(m, given[0]), true);
}

value filter_escape(machine *m, const value *given, const arguments *all)
{
    size_t mark = m->out_len;

    (void)all;
    if (given[0].kind == VALUE_STRING && given[0].as.string->markup)
        return given[0];
    return print_escaped(m, given[0]) ? marked(m, out_cut(m, mark), true) : FAILED;
}

value filter_force_escape(machine *m, const value *given, const arguments *all)
{
    value plain = marked(m, text_of(m, given[0]), false);

    return is_failed(plain) ? plain : filter_escape(m, &plain, all);
}

value filter_format(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[0]), in;
    dict *names;

    if (is_failed(text))
        return text;
    if (all->keywords == 0) {
        in = list_new(&m->memory, VALUE_TUPLE, all->items, all->count);
        return is_failed(in) ? in : format_percent(m, text.as.string, in);
    }
    if (all->keywords != all->count)
        return fail_type(m, "'format' takes arguments by position or by name, not both");
    names = dict_new(&m->memory);
    for (uint32_t i = 0; names != NULL && i < all->count; i++)
        if (!dict_put(m, names, (value){.kind = VALUE_STRING, .as.string = all->names[i]},
                      all->items[i]))
            return FAILED;
    return names == NULL
               ? FAILED
               : format_percent(m, text.as.string, (value){.kind = VALUE_DICT, .as.dict = names});
}

value filter_replace(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[0]), from = is_failed(text) ? text : text_of(m, given[1]);
    value to = is_failed(from) ? from : text_of(m, given[2]);
    size_t mark = m->out_len;
    int64_t limit;

    (void)all;
    if (is_failed(to) ||
        !take_integer(m, given[3].kind == VALUE_NONE ? value_int(-1) : given[3], -1, &limit) ||
        !write_replaced(m, bytes_of(text.as.string), bytes_of(from.as.string),
                        bytes_of(to.as.string), limit))
        return FAILED;
    return out_cut(m, mark);
}

/* What a line is moved in by: blanks, or a text. */
static value indention(machine *m, value width)
{
    size_t mark = m->out_len;
    int64_t blanks;

    if (width.kind == VALUE_STRING)
        return width;
    if (!take_integer(m, width, 4, &blanks) ||
        !out_repeat(m, (gufo_str){" ", 1}, blanks < 0 ? 0 : (uint64_t)blanks))
        return FAILED;
    return out_cut(m, mark);
}

value filter_indent(machine *m, const value *given, const arguments *all)
{
    value text = take_string(m, given[0], "what is indented") == NULL ? FAILED : given[0];
    value by = is_failed(text) ? text : indention(m, given[1]);
    bool first = is_given(given[2]) && value_truth(given[2]);
    bool blank = is_given(given[3]) && value_truth(given[3]);
    size_t mark = m->out_len, end = 0;
    gufo_str rest, line;

    (void)all;
    if (is_failed(by) || !machine_spend_bytes(m, text.as.string->len * 4))
        return FAILED;
    rest = bytes_of(text.as.string);
    if (first && !out_write(m, bytes_of(by.as.string)))
        return FAILED;
    for (bool begun = false, ended = false; !ended; begun = true) {
        /* A line end at the end of the text begins one more line. */
        ended = !next_line(&rest, &line, &end);
        if (ended && begun && end == 0)
            break;
        if (ended)
            line = (gufo_str){NULL, 0};
        if (begun && (!out_text(m, "\n") ||
                      ((line.len != 0 || blank) && !out_write(m, bytes_of(by.as.string)))))
            return FAILED;
        if (!out_write(m, line))
            return FAILED;
    }
    return cut_like(m, mark, text.as.string);
}

value filter_truncate(machine *m, const value *given, const arguments *all)
{
    value text = given[0], cut, chars = value_length(m, text);
    string dots = {.data = "...", .len = 3, .chars = 3};
    const string *end = is_given(given[3]) ? take_string(m, given[3], "the end") : &dots;
    int64_t length, leeway;
    gufo_str kept;

    (void)all;
    if (is_failed(chars) || end == NULL || !take_index(m, given[1], 255, &length) ||
        !take_index(m, given[4].kind == VALUE_NONE ? value_int(5) : given[4], 5, &leeway))
        return FAILED;
    if (length < (int64_t)end->chars || leeway < 0)
        return fail_type(m, "a length of at least %" PRIu64 " is expected", (uint64_t)end->chars);
    if (leeway > INT64_MAX - length || chars.as.integer <= length + leeway)
        return text;
    if (take_string(m, text, "what is cut") == NULL)
        return FAILED;
    cut = get_slice(m, text, value_int(0), value_int(length - (int64_t)end->chars), NONE);
    if (is_failed(cut))
        return cut;
    kept = bytes_of(cut.as.string);
    if (!machine_spend_bytes(m, kept.len))
        return FAILED;
    if (!(is_given(given[2]) && value_truth(given[2])))
        for (size_t i = kept.len; i > 0; i--)
            if (kept.data[i - 1] == ' ') {
                kept.len = i - 1;
                break;
            }
    cut = part_of(m, cut.as.string, kept);
    return is_failed(cut)
               ? cut
               : string_add(&m->memory, cut.as.string, bytes_of(end), text.as.string->markup);
}

value filter_wordcount(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[0]);
    int64_t words = 0;
    bool inside = false;

    (void)all;
    if (is_failed(text) || !machine_spend_bytes(m, text.as.string->len * 4))
        return FAILED;
    for (size_t at = 0, len; at < text.as.string->len; at += len) {
        uint32_t point = point_at(str_from(bytes_of(text.as.string), at), &len);
        bool word = is_word_point(point);

        words += word && !inside;
        inside = word;
    }
    return value_int(words);
}

/* ==== For other languages: HTML and addresses ================================================ */

static bool write_quoted(machine *m, gufo_str text, const char *kept, bool plus)
{
    for (size_t at = 0; at < text.len; at++) {
        char c = text.data[at], code[8];

        if (is_letter(c) || is_digit(c) || (c != 0 && strchr(kept, c) != NULL)) {
            if (!out_write(m, (gufo_str){&c, 1}))
                return false;
            continue;
        }
        (void)snprintf(code, sizeof(code), plus && c == ' ' ? "+" : "%%%02X", (unsigned)(uint8_t)c);
        if (!out_text(m, code))
            return false;
    }
    return machine_spend_bytes(m, text.len * 8);
}

static bool write_query(machine *m, value source)
{
    value pairs = source, pair;
    bool first = true;
    iteration it;

    if (source.kind == VALUE_DICT)
        pairs = dict_items(m, &source, NULL);
    if (is_failed(pairs) || !iterate(m, pairs, &it))
        return false;
    for (; iterate_next(m, &it, &pair); first = false) {
        item_list parts;

        if (!iterate_all(m, pair, &parts))
            return false;
        if (parts.count != 2)
            return !is_failed(fail_type(m, "'urlencode' takes a text, a dict or pairs"));
        for (size_t i = 0; i < 2; i++) {
            value part = text_of(m, parts.items[i]);

            if (is_failed(part) ||
                !out_text(m, i == 1  ? "="
                             : first ? ""
                                     : "&") ||
                !write_quoted(m, bytes_of(part.as.string), "_.-~", true))
                return false;
        }
    }
    return !machine_failed(m);
}

value filter_urlencode(machine *m, const value *given, const arguments *all)
{
    size_t mark = m->out_len;
    value text = given[0];

    (void)all;
    if (text.kind != VALUE_STRING && value_is_iterable(text))
        return write_query(m, text) ? out_cut(m, mark) : FAILED;
    text = text_of(m, text);
    return !is_failed(text) && write_quoted(m, bytes_of(text.as.string), "_.-~/", false)
               ? out_cut(m, mark)
               : FAILED;
}

value filter_xmlattr(machine *m, const value *given, const arguments *all)
{
    size_t mark = m->out_len;
    bool autospace = !is_given(given[1]) || value_truth(given[1]);
    const dict *d = given[0].as.dict;

    (void)all;
    if (given[0].kind != VALUE_DICT)
        return fail_type(m, "'xmlattr' takes a dict, not '%s'", value_type(given[0]));
    for (uint32_t i = 0; i < d->count; i++) {
        const dict_entry *entry = &d->entries[i];
        const string *key = take_string(m, entry->key, "the name of an attribute");

        if (key == NULL)
            return FAILED;
        if (entry->value.kind == VALUE_NONE || entry->value.kind == VALUE_UNDEFINED)
            continue;
        for (size_t at = 0; at < key->len; at++)
            if (memchr(" \t\n\r\f/>=", key->data[at], 8) != NULL)
                return fail_type(m, "%s cannot be the name of an attribute", QUOTED(bytes_of(key)));
        if (!out_text(m, m->out_len != mark || autospace ? " " : "") ||
            !print_escaped(m, entry->key) || !out_text(m, "=\"") ||
            !print_escaped(m, entry->value) || !out_text(m, "\""))
            return FAILED;
    }
    return out_cut(m, mark);
}

/* The end of the tag or comment that a text begins with; 0: it has none.  *endless: no comment ends
 * from here on. */
static size_t tag_end(gufo_str text, bool *endless)
{
    bool comment = !*endless && str_begins(text, "<!--");
    const char *comment_end = comment ? find_bytes(str_from(text, 4), (gufo_str){"-->", 3}) : NULL;
    const char *end = memchr(text.data, '>', text.len);

    *endless = *endless || (comment && comment_end == NULL);
    if (comment_end != NULL)
        return (size_t)(comment_end - text.data) + 3;
    return end == NULL ? 0 : (size_t)(end - text.data) + 1;
}

/* Writes the character that an entity such as &lt; or &#39; is; its length; 0: it is none. */
static size_t write_entity(machine *m, gufo_str text)
{
    static const struct {
        const char *name;
        uint32_t point;
    } entities[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                    {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", 0xA0}};
    uint32_t point = 0;
    size_t at = 2;

    for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
        if (str_begins(text, entities[i].name))
            return write_point(m, entities[i].point) ? strlen(entities[i].name) : 0;
    if (!str_begins(text, "&#"))
        return 0;
    for (; at < text.len && is_digit(text.data[at]) && point < 0x110000; at++)
        point = point * 10 + (uint32_t)(text.data[at] - '0');
    if (at == 2 || at == text.len || text.data[at] != ';' || point == 0 || point > 0x10FFFF ||
        (point >= 0xD800 && point < 0xE000))
        return 0;
    return write_point(m, point) ? at + 1 : 0;
}

/* Words with one blank between them, without tags. */
value filter_striptags(machine *m, const value *given, const arguments *all)
{
    value text = text_of(m, given[0]), plain, words;
    size_t mark = m->out_len, missing = SIZE_MAX;
    bool endless = false;
    gufo_str s;

    (void)all;
    if (is_failed(text) || !machine_spend_bytes(m, text.as.string->len * 4))
        return FAILED;
    s = bytes_of(text.as.string);
    for (size_t at = 0, len; at < s.len; at += len) {
        len = at < missing && s.data[at] == '<' ? tag_end(str_from(s, at), &endless) : 0;
        if (len != 0)
            continue;
        if (s.data[at] == '<')
            missing = at; /* no > from here on */
        len = 1;
        if (!out_write(m, (gufo_str){s.data + at, 1}))
            return FAILED;
    }
    plain = out_cut(m, mark);
    if (is_failed(plain))
        return plain;
    words = str_split(m, (value[]){plain, value_of(VALUE_ABSENT), value_of(VALUE_ABSENT)}, NULL);
    for (size_t i = 0; !is_failed(words) && i < words.as.list->count; i++) {
        gufo_str word = bytes_of(words.as.list->items[i].as.string);

        if (i != 0 && !out_text(m, " "))
            return FAILED;
        for (size_t at = 0, len; at < word.len; at += len) {
            len = word.data[at] == '&' ? write_entity(m, str_from(word, at)) : 0;
            if (len == 0 && !out_write(m, (gufo_str){word.data + at, len = 1}))
                return FAILED;
        }
    }
    return is_failed(words) ? words : out_cut(m, mark);
}
