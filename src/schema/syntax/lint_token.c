/* Tokens of Jinja code, and the characters of its strings. */
#include "schema/syntax/lint_parts.h"

#include "base/text.h"

#include <string.h>

/* ---- ends of tokens ------------------------------------------------------------------------- */

/* Blanks that are more than one byte. */
static const char *const wide_blanks[] = {
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};

/* The bytes of the blank at `at`; 0 if none is there. */
static size_t blank_length(gufo_str text, size_t at)
{
    char c = text.data[at];

    if (c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f))
        return 1;
    if (!((unsigned char)c & 0x80))
        return 0;
    for (size_t i = 0; i < sizeof wide_blanks / sizeof *wide_blanks; i++)
        if (c == wide_blanks[i][0] && str_begins(str_from(text, at), wide_blanks[i]))
            return strlen(wide_blanks[i]);
    return 0;
}

size_t lint_blanks_end(gufo_str text, size_t at)
{
    size_t len;

    while (at < text.len && (len = blank_length(text, at)) > 0)
        at += len;
    return at;
}

/* Characters beyond ASCII may be letters. */
static bool is_name_start(char c)
{
    return is_letter(c) || c == '_' || ((unsigned char)c & 0x80);
}

size_t lint_name_end(gufo_str text, size_t at)
{
    while (at < text.len && (is_name_start(text.data[at]) || is_digit(text.data[at])) &&
           blank_length(text, at) == 0)
        at++;
    return at;
}

static size_t number_end(gufo_str text, size_t at)
{
    at = lint_name_end(text, at);
    if (at + 1 < text.len && text.data[at] == '.' && is_digit(text.data[at + 1]))
        at = lint_name_end(text, at + 1);
    return at;
}

/* The end of the string whose quote is at `at`; 0 if it has none. */
static size_t string_end(gufo_str text, size_t at)
{
    char quote = text.data[at];

    for (at++; at < text.len; at++) {
        if (text.data[at] == quote)
            return at + 1;
        if (text.data[at] == '\\')
            at++;
    }
    return 0;
}

static size_t operator_end(gufo_str text, size_t at)
{
    static const char pairs[][3] = {"==", "!=", "<=", ">=", "**", "//"};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (text.len - at >= 2 && memcmp(text.data + at, pairs[i], 2) == 0)
            return at + 2;
    return at + 1;
}

/* ---- brackets ------------------------------------------------------------------------------- */

static char partner(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

static const opening *innermost(const openings *stack)
{
    return stack->depth > 0 && stack->depth <= LINT_BRACKETS ? &stack->kept[stack->depth - 1]
                                                             : NULL;
}

static void close_bracket(lint *l, token *t)
{
    const opening *open = innermost(&l->brackets);
    char c = t->text.data[0];

    if (l->brackets.depth == 0) {
        lint_report(l, LINT_BRACKET, t->at, t->text, "\"%c\" closes no bracket", c);
        if (c == '}') /* more likely a broken end of the code than a bracket too many */
            t->kind = TOKEN_END;
        return;
    }
    if (open != NULL && partner(open->text.data[0]) != c)
        lint_report(l, LINT_BRACKET, t->at, t->text,
                    "\"%c\" closes the \"%c\" of line %zu, column %zu", c, open->text.data[0],
                    open->at.line, open->at.column);
    l->brackets.depth--;
}

static void track_bracket(lint *l, token *t)
{
    char c = t->text.data[0];

    if (c == '(' || c == '[' || c == '{') {
        opening open = {.at = t->at, .text = t->text};

        lint_open(l, &l->brackets, &open, "brackets");
    } else if (c == ')' || c == ']' || c == '}') {
        close_bracket(l, t);
    }
}

/* ---- the end of the code -------------------------------------------------------------------- */

static bool is_here(const lint *l, const char *text)
{
    return str_begins(str_from(l->text, l->pos), text);
}

/* The length of the delimiter here that ends what `start` opened; 0 if none does. */
static size_t end_length(const lint *l, const token *start)
{
    static const struct {
        char opened;
        const char *end;
    } ends[] = {{'{', "}}"}, {'{', "-}}"}, {'%', "%}"}, {'%', "-%}"}, {'%', "+%}"}};
    const opening *open = innermost(&l->brackets);

    /* In braces }} may be two of theirs. */
    if (start->text.data[1] == '{' && open != NULL && open->text.data[0] == '{')
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].opened == start->text.data[1] && is_here(l, ends[i].end))
            return strlen(ends[i].end);
    return 0;
}

static token end_code(lint *l, size_t len)
{
    const opening *open = innermost(&l->brackets);
    token end = {TOKEN_END, lint_position_of(l, l->pos), {l->text.data + l->pos, len}};

    if (open != NULL)
        lint_report(l, LINT_BRACKET, open->at, open->text, "\"%c\" is never closed",
                    open->text.data[0]);
    l->brackets.depth = 0;
    l->pos += len;
    return end;
}

static token end_unclosed(lint *l, const token *start)
{
    lint_report(l, LINT_UNCLOSED, start->at, start->text, "\"%.2s\" is never closed",
                start->text.data);
    l->brackets.depth = 0;
    return (token){TOKEN_END, lint_position_of(l, l->pos), str_from(l->text, l->pos)};
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* A string, or its quote alone if it is never closed. */
static size_t read_string(lint *l, token *t)
{
    bool *endless = &l->endless_quote[l->text.data[l->pos] == '"'];
    size_t end = *endless ? 0 : string_end(l->text, l->pos);

    if (end > 0) {
        t->kind = TOKEN_STRING;
        return end;
    }
    if (!*endless)
        lint_report(l, LINT_UNCLOSED, t->at, (gufo_str){l->text.data + l->pos, 1},
                    "a string is never closed");
    *endless = true;
    return l->pos + 1;
}

token lint_next_token(lint *l, const token *start)
{
    token t = {.kind = TOKEN_OPERATOR};
    size_t end;
    char c;

    l->pos = lint_blanks_end(l->text, l->pos);
    if (l->pos == l->text.len || is_here(l, "{%") || is_here(l, "{#"))
        return end_unclosed(l, start);
    end = end_length(l, start);
    if (end > 0)
        return end_code(l, end);
    t.at = lint_position_of(l, l->pos);
    c = l->text.data[l->pos];
    if (is_name_start(c)) {
        t.kind = TOKEN_NAME;
        end = lint_name_end(l->text, l->pos);
    } else if (is_digit(c)) {
        t.kind = TOKEN_NUMBER;
        end = number_end(l->text, l->pos);
    } else if (c == '\'' || c == '"') {
        end = read_string(l, &t);
    } else {
        end = operator_end(l->text, l->pos);
    }
    t.text = (gufo_str){l->text.data + l->pos, end - l->pos};
    l->pos = end;
    if (t.kind == TOKEN_OPERATOR)
        track_bracket(l, &t);
    return t;
}

/* ---- strings -------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    return is_digit(c) ? c - '0' : to_lower(c) - 'a' + 10;
}

/* A number of up to `most` digits; what is above ASCII is -1. */
static int read_code(gufo_str text, size_t *at, int base, size_t most)
{
    int code = 0;

    for (size_t i = 0;
         i < most && *at < text.len && is_hex(text.data[*at]) && digit_value(text.data[*at]) < base;
         i++, (*at)++)
        if (code < 128)
            code = code * base + digit_value(text.data[*at]);
    return code < 128 ? code : -1;
}

/* \N{LOW LINE} is "_": no other name of a character matters to the names of attributes. */
static int read_named(gufo_str text, size_t *at)
{
    static const char low_line[] = "{LOW LINE}";

    if (!str_begins_folded(str_from(text, *at), low_line))
        return -1;
    *at += sizeof low_line - 1;
    return '_';
}

static int read_escape(gufo_str text, size_t *at)
{
    static const char codes[] = "abfnrtv";
    static const char characters[] = "\a\b\f\n\r\t\v";
    char c = text.data[(*at)++];
    const char *found;

    switch (c) {
    case 'x':
        return read_code(text, at, 16, 2);
    case 'u':
        return read_code(text, at, 16, 4);
    case 'U':
        return read_code(text, at, 16, 8);
    case 'N':
        return read_named(text, at);
    case '\n':
        return -2;
    default:
        break;
    }
    if (c >= '0' && c <= '7') {
        (*at)--;
        return read_code(text, at, 8, 3);
    }
    found = c != '\0' ? strchr(codes, c) : NULL;
    if (found != NULL)
        return characters[found - codes];
    return (unsigned char)c < 128 ? c : -1;
}

int lint_string_character(gufo_str text, size_t *at)
{
    char c = text.data[(*at)++];

    if (c == '\\' && *at < text.len)
        return read_escape(text, at);
    return (unsigned char)c < 128 ? c : -1;
}
