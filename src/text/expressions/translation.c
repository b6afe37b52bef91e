/* Expressions of Oniguruma (its own syntax), written for PCRE2.
 *
 * Sets of characters are written as numbers: whoever compiles the expression says what they are.  So
 * nothing depends on what PCRE2 knows of Unicode.  What both write alike passes; what they write in
 * different ways is written anew:
 *
 *     \p{N}{1,3}+     (?:(?:#0){1,3})+      Oniguruma's "+" repeats what is repeated
 *     a(?i)b|c        a(?:(?:#1)|(?:#2))    the option holds up to the end of the group, with its "|"
 *     ^               (?:\A|(?<=\x0a)(?!\z))
 *     .               #3                    all but U+000A
 *
 * Groups capture nothing: references to them are refused, like all that is not known to be the same. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/expressions/translation.h"
#include "text/characters/unicode.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_COUNT = 100000, NO_LIMIT = -1, LONGEST_EXPRESSION = 32 << 10 };

/* What an element of a branch is to a quantifier. */
typedef enum element { ELEMENT_NONE, ELEMENT_ANCHOR, ELEMENT_ATOM } element;

void translation_free(translation *t)
{
    buffer_free(&t->text);
    for (unsigned i = 0; i < t->set_count; i++)
        code_ranges_free(&t->sets[i]);
    t->set_count = 0;
}

/* ---- quantifiers ---------------------------------------------------------------------------- */

static bool read_count(const parser *p, size_t *at, long *count)
{
    size_t first = *at;

    for (*count = 0; *at < p->text.len && is_digit(p->text.data[*at]); ++*at) {
        *count = 10 * *count + (p->text.data[*at] - '0');
        if (*count > LARGEST_COUNT)
            *count = LARGEST_COUNT;
    }
    return *at > first;
}

/* {n} {n,} {n,m} {,m}; *len is 0 if the brace is a character like any other. */
static void read_interval(const parser *p, long *least, long *most, size_t *len, bool *fixed)
{
    size_t at = p->at + 1;
    bool has_least = read_count(p, &at, least), has_most = has_least;

    *len = 0;
    *most = *least;
    *fixed = true;
    if (at < p->text.len && p->text.data[at] == ',') {
        at++;
        *fixed = false;
        has_most = read_count(p, &at, most);
        if (!has_most)
            *most = NO_LIMIT;
    }
    if (at < p->text.len && p->text.data[at] == '}' && (has_least || has_most))
        *len = at + 1 - p->at;
}

/* The next quantifier, in PCRE2's syntax; out[0] is 0 if there is none. */
static gufo_status read_quantifier(parser *p, char out[32])
{
    char sign = parser_peek(p, 0);
    long least, most;
    size_t len = 0;
    bool fixed = false;

    out[0] = '\0';
    if (sign == '*' || sign == '+' || sign == '?') {
        (void)snprintf(out, 32, "%c", sign);
        p->at++;
        if (parser_takes(p, "+"))
            (void)snprintf(out, 32, "%c+", sign);
        else if (parser_takes(p, "?"))
            (void)snprintf(out, 32, "%c?", sign);
        return GUFO_OK;
    }
    if (sign == '{')
        read_interval(p, &least, &most, &len, &fixed);
    if (len == 0)
        return GUFO_OK;
    if (most != NO_LIMIT && least > most)
        return parser_unknown(p, "an interval with its larger number first");
    p->at += len;
    if (most == NO_LIMIT)
        (void)snprintf(out, 32, "{%ld,}", least);
    else
        (void)snprintf(out, 32, "{%ld,%ld}", least, most);
    if (!fixed && parser_takes(p, "?"))
        (void)snprintf(out + strlen(out), 32 - strlen(out), "?");
    return GUFO_OK;
}

/* Makes one thing of what is written from `start` on. */
static gufo_status enclose(parser *p, size_t start)
{
    buffer *text = &p->out->text;
    size_t len = text->len - start;

    if (buffer_extend(text, 4) == NULL)
        return fail_memory(p->error);
    memmove(text->data + start + 3, text->data + start, len);
    memcpy(text->data + start, "(?:", 3);
    text->data[text->len - 1] = ')';
    return GUFO_OK;
}

static gufo_status read_quantifiers(parser *p, size_t start, element what)
{
    char quantifier[32];
    gufo_status status;

    for (;;) {
        status = read_quantifier(p, quantifier);
        if (status != GUFO_OK || quantifier[0] == '\0')
            return status;
        if (what == ELEMENT_ANCHOR)
            return parser_unknown(p, "a quantifier of what matches no character");
        status = enclose(p, start);
        if (status == GUFO_OK)
            status = parser_write(p, quantifier);
        if (status != GUFO_OK)
            return status;
    }
}

static bool quantifier_follows(const parser *p)
{
    parser ahead = *p;
    char quantifier[32];

    ahead.error = NULL;
    return read_quantifier(&ahead, quantifier) != GUFO_OK || quantifier[0] != '\0';
}

/* ---- elements ------------------------------------------------------------------------------- */

static gufo_status read_alternatives(parser *p, unsigned flags);

/* Between characters of \w and others, or not between them. */
static gufo_status write_boundary(parser *p, bool is_boundary)
{
    static const char *const parts[2][4] = {{"(?:(?<=", ")(?=", ")|(?<!", ")(?!"},
                                            {"(?:(?<=", ")(?!", ")|(?<!", ")(?="}};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < 4 && status == GUFO_OK; i++) {
        status = parser_write(p, parts[is_boundary][i]);
        if (status == GUFO_OK)
            status = parser_write_property(p, "word", false);
    }
    return status == GUFO_OK ? parser_write(p, "))") : status;
}

static gufo_status write_line_end(parser *p)
{
    code_ranges set = {.allocator = p->out->allocator};
    gufo_status status = parser_write(p, "(?>\\x0d\\x0a|");

    if (status != GUFO_OK)
        return status;
    if (!code_ranges_add(&set, 0x0A, 0x0D) || !code_ranges_add(&set, 0x85, 0x85) ||
        !code_ranges_add(&set, 0x2028, 0x2029)) {
        code_ranges_free(&set);
        return fail_memory(p->error);
    }
    status = parser_write_set(p, &set);
    return status == GUFO_OK ? parser_write(p, ")") : status;
}

/* An extended grapheme cluster, as UAX #29 of Unicode 16 says it, without its rule for Indic consonants.
 * Capital letters are sets. */
static const char cluster[] =
    "(?>\\x0d\\x0a|C|P*(?:L*(?:(?:V|W)V*|X)T*|L+|T+|RR|G(?:E*JG)*|O)(?:E|J|S)*)";
static const struct {
    char letter;
    const char *property;
} cluster_sets[] = {
    {'C', "cluster control"},
    {'P', "cluster prepend"},
    {'L', "grapheme_l"},
    {'V', "grapheme_v"},
    {'T', "grapheme_t"},
    {'W', "grapheme_lv"},
    {'X', "cluster lvt"},
    {'R', "grapheme_regional"},
    {'G', "extendedpictographic"},
    {'E', "cluster extend"},
    {'J', "Joiner"},
    {'S', "cluster spacing"},
    {'O', "cluster other"},
};

static gufo_status write_cluster(parser *p)
{
    gufo_status status = GUFO_OK;

    for (const char *at = cluster; *at != '\0' && status == GUFO_OK; at++) {
        size_t i = 0;

        while (i < sizeof cluster_sets / sizeof *cluster_sets && cluster_sets[i].letter != *at)
            i++;
        status = i < sizeof cluster_sets / sizeof *cluster_sets
                     ? parser_write_property(p, cluster_sets[i].property, false)
                     : parser_write(p, (char[]){*at, '\0'});
    }
    return status;
}

/* Anchors and what else an escape can be. */
static gufo_status read_other_escape(parser *p, element *what)
{
    char letter = parser_peek(p, 1);
    gufo_status status;

    *what = ELEMENT_ANCHOR;
    switch (letter) {
    case 'b':
    case 'B':
        status = write_boundary(p, letter == 'b');
        break;
    case 'A':
        status = parser_write(p, "\\A");
        break;
    case 'z':
        status = parser_write(p, "\\z");
        break;
    case 'Z':
        status = parser_write(p, "(?=\\x0a?\\z)");
        break;
    case 'R':
        *what = ELEMENT_ATOM;
        status = write_line_end(p);
        break;
    case 'X':
        *what = ELEMENT_ATOM;
        status = write_cluster(p);
        break;
    default:
        return refuse(p->error, GUFO_E_TYPE,
                      "the regular expression %s has \\%c at byte %zu, which is not supported",
                      QUOTED(p->text), letter, p->at);
    }
    p->at += 2;
    return status;
}

static gufo_status read_escape(parser *p, element *what)
{
    code_ranges set = {.allocator = p->out->allocator};
    escape_kind kind;
    uint32_t character = 0;
    gufo_status status = parser_escape(p, &kind, &character, &set);

    *what = ELEMENT_ATOM;
    if (status == GUFO_OK && kind == ESCAPE_SET)
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    if (status != GUFO_OK)
        return status;
    if (kind == ESCAPE_OTHER)
        return read_other_escape(p, what);
    return parser_write_character(p, character);
}

static gufo_status write_dot(parser *p, unsigned flags)
{
    code_ranges set = {.allocator = p->out->allocator};
    bool done = (flags & DOT_IS_ANY) != 0 ? code_ranges_add(&set, 0, LAST_CODE_POINT)
                                          : code_ranges_add(&set, 0, '\n' - 1) &&
                                                code_ranges_add(&set, '\n' + 1, LAST_CODE_POINT);

    if (done)
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    return fail_memory(p->error);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* What is read behind a parenthesis, and written. */
static const struct {
    const char *read, *written;
    element what;
} groups[] = {
    {"?:", "(?:", ELEMENT_ATOM},   {"?>", "(?>", ELEMENT_ATOM},     {"?=", "(?=", ELEMENT_ANCHOR},
    {"?!", "(?!", ELEMENT_ANCHOR}, {"?<=", "(?<=", ELEMENT_ANCHOR}, {"?<!", "(?<!", ELEMENT_ANCHOR},
};

static gufo_status end_group(parser *p)
{
    if (!parser_takes(p, ")"))
        return parser_malformed(p, "is behind a group without end");
    return parser_write(p, ")");
}

static gufo_status read_group_inside(parser *p, const char *opening, unsigned flags)
{
    gufo_status status = parser_write(p, opening);

    if (status == GUFO_OK)
        status = read_alternatives(p, flags);
    return status == GUFO_OK ? end_group(p) : status;
}

/* Options behind "(?": i, m, x, those behind "-" off. */
static gufo_status read_options(parser *p, unsigned *flags)
{
    static const char letters[] = "imx";
    bool off = false;

    for (;; p->at++) {
        char letter = parser_peek(p, 0);
        const char *known = letter != '\0' ? strchr(letters, letter) : NULL;

        if (letter == '-')
            off = true;
        else if (known == NULL)
            return letter == ')' || letter == ':' ? GUFO_OK
                                                  : parser_unknown(p, "an unknown kind of group");
        else if (off)
            *flags &= ~(1u << (known - letters));
        else
            *flags |= 1u << (known - letters);
    }
}

/* (?i:...), or (?i) up to the end of the group around it. */
static gufo_status read_option_group(parser *p, unsigned flags)
{
    gufo_status status = read_options(p, &flags);

    if (status != GUFO_OK)
        return status;
    if (parser_takes(p, ":"))
        return read_group_inside(p, "(?:", flags);
    p->at++;
    status = parser_write(p, "(?:");
    if (status == GUFO_OK)
        status = read_alternatives(p, flags);
    return status == GUFO_OK ? parser_write(p, ")") : status;
}

static gufo_status skip_comment(parser *p)
{
    const char *end = memchr(p->text.data + p->at, ')', p->text.len - p->at);

    if (end == NULL)
        return parser_malformed(p, "is in a comment without end");
    p->at = (size_t)(end - p->text.data) + 1;
    return GUFO_OK;
}

/* Behind "(". */
static gufo_status read_group(parser *p, unsigned flags, element *what)
{
    *what = ELEMENT_ATOM;
    if (parser_peek(p, 0) == '*')
        return parser_unknown(p, "a callout");
    if (parser_peek(p, 0) != '?')
        return read_group_inside(p, "(?:", flags);
    if (parser_takes(p, "?#")) {
        *what = ELEMENT_NONE;
        return skip_comment(p);
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (parser_takes(p, groups[i].read)) {
            *what = groups[i].what;
            return read_group_inside(p, groups[i].written, flags);
        }
    if (parser_peek(p, 1) == '<' || parser_peek(p, 1) == '\'') {
        const char *end = memchr(p->text.data + p->at + 2, parser_peek(p, 1) == '<' ? '>' : '\'',
                                 p->text.len - p->at - 2);

        if (end == NULL)
            return parser_malformed(p, "is in a name without end");
        p->at = (size_t)(end - p->text.data) + 1;
        return read_group_inside(p, "(?:", flags);
    }
    p->at++;
    return read_option_group(p, flags);
}

/* ---- branches ------------------------------------------------------------------------------- */

static gufo_status read_element(parser *p, unsigned flags, element *what)
{
    char next = parser_peek(p, 0);

    *what = ELEMENT_ATOM;
    if (next == '\\')
        return read_escape(p, what);
    if (next == '(' || next == '[' || next == '.' || next == '^' || next == '$')
        p->at++;
    switch (next) {
    case '(':
        return read_group(p, flags, what);
    case '[':
        return parser_class(p, flags);
    case '.':
        return write_dot(p, flags);
    case '^':
        *what = ELEMENT_ANCHOR;
        return parser_write(p, "(?:\\A|(?<=\\x0a)(?!\\z))");
    case '$':
        *what = ELEMENT_ANCHOR;
        return parser_write(p, "(?=\\x0a|\\z)");
    default:
        break;
    }
    return parser_write_character(p, parser_character(p));
}

/* Blanks and comments, where they do not count. */
static bool skip_blanks(parser *p, unsigned flags)
{
    size_t before = p->at;

    if ((flags & EXTENDED) == 0)
        return false;
    while (!parser_ends(p) && memchr(" \t\n\r\f\v", parser_peek(p, 0), 6) != NULL)
        p->at++;
    if (parser_peek(p, 0) == '#')
        while (!parser_ends(p) && parser_peek(p, 0) != '\n')
            p->at++;
    return p->at > before;
}

/* Reads the next element if it is a character. */
static gufo_status read_literal(parser *p, uint32_t *character, bool *is_literal)
{
    code_ranges set = {.allocator = p->out->allocator};
    char next = parser_peek(p, 0);
    size_t before = p->at;
    escape_kind kind;
    gufo_status status;

    *is_literal = false;
    if (parser_ends(p) || (next != '\0' && strchr("([.^$|)*+?", next) != NULL))
        return GUFO_OK;
    if (next != '\\') {
        *is_literal = true;
        *character = parser_character(p);
        return GUFO_OK;
    }
    status = parser_escape(p, &kind, character, &set);
    code_ranges_free(&set);
    *is_literal = kind == ESCAPE_CHARACTER;
    if (status == GUFO_OK && !*is_literal)
        p->at = before;
    return status;
}

/* Characters whose case does not count: as many as there are, for several can be one in another case.
 * The one that a quantifier follows is alone. */
static gufo_status read_folded_text(parser *p, unsigned flags, size_t *count)
{
    size_t start = p->out->text.len;
    gufo_status status = GUFO_OK;
    bool is_literal = true, repeated = false;
    uint32_t character = 0;

    for (*count = 0; status == GUFO_OK && !repeated; ++*count) {
        size_t before = p->at;

        if (*count > 0)
            (void)skip_blanks(p, flags);
        status = read_literal(p, &character, &is_literal);
        if (status != GUFO_OK || !is_literal)
            break;
        repeated = quantifier_follows(p);
        if (repeated && *count > 0) {
            p->at = before;
            break;
        }
        status = parser_write_folded(p, character);
    }
    if (status == GUFO_OK)
        status = parser_end_folded(p);
    return status == GUFO_OK && repeated && *count == 1 ? read_quantifiers(p, start, ELEMENT_ATOM)
                                                        : status;
}

static gufo_status read_branch(parser *p, unsigned flags)
{
    gufo_status status = GUFO_OK;

    while (status == GUFO_OK && !parser_ends(p) && parser_peek(p, 0) != '|' &&
           parser_peek(p, 0) != ')') {
        size_t start = p->out->text.len, count = 0;
        element what;

        if (skip_blanks(p, flags))
            continue;
        if (quantifier_follows(p))
            return parser_malformed(p, "repeats nothing");
        if ((flags & IGNORE_CASE) != 0)
            status = read_folded_text(p, flags, &count);
        if (status != GUFO_OK || count > 0)
            continue;
        status = read_element(p, flags, &what);
        if (status == GUFO_OK && what != ELEMENT_NONE)
            status = read_quantifiers(p, start, what);
    }
    return status;
}

static gufo_status read_alternatives(parser *p, unsigned flags)
{
    gufo_status status;

    if (++p->depth > MOST_DEPTH)
        return parser_unknown(p, "too many nested groups");
    for (;;) {
        status = read_branch(p, flags);
        if (status != GUFO_OK || !parser_takes(p, "|"))
            break;
        status = parser_write(p, "|");
        if (status != GUFO_OK)
            break;
    }
    p->depth--;
    return status;
}

gufo_status translate_expression(translation *t, gufo_str expression, gufo_error *error)
{
    parser p = {.out = t, .text = expression, .error = error, .folded.allocator = t->allocator};
    gufo_status status;

    t->text.allocator = t->allocator;
    if (expression.len > LONGEST_EXPRESSION)
        return refuse(error, GUFO_E_LIMIT, "a regular expression has %s bytes, more than %s",
                      GROUPED(expression.len), GROUPED(LONGEST_EXPRESSION));
    if (gufo_utf8_valid_prefix(expression) < expression.len)
        return parser_malformed(&p, "begins an expression that is not UTF-8");
    status = read_alternatives(&p, 0);
    if (status == GUFO_OK && !parser_ends(&p))
        status = parser_malformed(&p, "ends a group that has no beginning");
    buffer_free(&p.folded);
    return status;
}
