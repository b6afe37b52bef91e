/* Cuts a template into tokens.
 *
 * Outside of tags, the text up to the next {{, {% or {# is one token.  White space goes by the rules
 * of a Jinja environment with trim_blocks and lstrip_blocks, as transformers sets them:
 *
 *     -        beside a tag removes all white space on that side
 *     +        keeps the white space that the next two rules remove
 *     {%  {#   that stand first on their line: the blanks before them go
 *     %}  #}   the line end right after them goes
 *
 * A closing mark inside of brackets, as in {{ {'a': {}} }}, is not one. */
#include "template/syntax/parser.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"
#include "template/values/characters.h"

enum { BRACKET_DEPTH = 500 };

typedef struct lexer {
    heap *memory;
    gufo_str source;
    uint32_t at;
    token_list *out;
    bool line_starts; /* the last token ended a line */
    bool strip_data;  /* the last tag ended with - */
    char open[BRACKET_DEPTH];
    uint32_t depth;
} lexer;

static const struct {
    char text[3];
    uint8_t kind;
} operators[] = {
    {"//", TOKEN_FLOOR_DIVIDE},
    {"**", TOKEN_POWER},
    {"==", TOKEN_EQUAL},
    {"!=", TOKEN_NOT_EQUAL},
    {">=", TOKEN_GREATER_EQUAL},
    {"<=", TOKEN_LESS_EQUAL},
    {"+", TOKEN_ADD},
    {"-", TOKEN_SUBTRACT},
    {"/", TOKEN_DIVIDE},
    {"*", TOKEN_MULTIPLY},
    {"%", TOKEN_REMAINDER},
    {"~", TOKEN_TILDE},
    {"[", TOKEN_LEFT_BRACKET},
    {"]", TOKEN_RIGHT_BRACKET},
    {"(", TOKEN_LEFT_PARENTHESIS},
    {")", TOKEN_RIGHT_PARENTHESIS},
    {"{", TOKEN_LEFT_BRACE},
    {"}", TOKEN_RIGHT_BRACE},
    {">", TOKEN_GREATER},
    {"<", TOKEN_LESS},
    {"=", TOKEN_ASSIGN},
    {".", TOKEN_DOT},
    {":", TOKEN_COLON},
    {"|", TOKEN_PIPE},
    {",", TOKEN_COMMA},
    {";", TOKEN_SEMICOLON},
};

const char *token_name(uint32_t kind)
{
    static const char *const names[] = {
        "the end of the template",
        "text",
        "'{{'",
        "'}}'",
        "'{%'",
        "'%}'",
        "name",
        "text",
        "number",
        "number",
    };

    return kind < TOKEN_FLOOR_DIVIDE ? names[kind] : operators[kind - TOKEN_FLOOR_DIVIDE].text;
}

static bool push(lexer *l, uint32_t kind, size_t at, size_t len)
{
    token_list *out = l->out;

    if (out->count == out->room) {
        size_t room = out->room == 0 ? 64 : out->room * 2;
        token *grown = heap_array(l->memory, room, sizeof(token));

        if (grown == NULL)
            return false;
        if (out->count != 0)
            memcpy(grown, out->tokens, out->count * sizeof(token));
        out->tokens = grown;
        out->room = room;
    }
    out->tokens[out->count++] = (token){kind, (uint32_t)at, (uint32_t)len};
    return true;
}

__attribute__((format(printf, 3, 4))) static bool fault(lexer *l, uint32_t at, const char *format,
                                                        ...)
{
    char sentence[GUFO_MESSAGE_SIZE];
    va_list rest;

    va_start(rest, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, rest);
    va_end(rest);
    l->at = at;
    l->memory->status = fail_with(l->memory->error, GUFO_E_MALFORMED, at, "%s", sentence);
    return false;
}

static bool begins(const lexer *l, size_t at, const char *text)
{
    return at <= l->source.len && str_begins(str_from(l->source, at), text);
}

/* The end of the white space from `at` on. */
static uint32_t skip_space(const lexer *l, size_t at)
{
    return (uint32_t)(at + space_before(str_from(l->source, at)));
}

/* Where the text of a whole tag such as {%- raw -%} ends that begins at `at`, or 0.  *trim: it ended
 * with - */
static uint32_t raw_tag(const lexer *l, size_t at, const char *word)
{
    at += 2;
    if (begins(l, at, "-") || begins(l, at, "+"))
        at++;
    at = skip_space(l, at);
    if (!begins(l, at, word))
        return 0;
    at = skip_space(l, at + strlen(word));
    if (begins(l, at, "-%}"))
        return skip_space(l, at + 3);
    if (begins(l, at, "%}"))
        return (uint32_t)at + 2;
    return strcmp(word, "endraw") == 0 && begins(l, at, "+%}") ? (uint32_t)at + 3 : 0;
}

/* What remains of the text before a tag. */
static size_t strip_before(const lexer *l, size_t from, size_t tag)
{
    gufo_str text = {l->source.data + from, tag - from};
    size_t line = text.len;

    if (begins(l, tag + 2, "-"))
        return text.len - space_behind(text);
    if (begins(l, tag, "{{") || begins(l, tag + 2, "+"))
        return text.len;
    while (line > 0 && text.data[line - 1] != '\n')
        line--;
    if (line == 0 && !l->line_starts)
        return text.len;
    return space_before(str_from(text, line)) == text.len - line ? line : text.len;
}

/* Goes on at `at`. */
static void move_to(lexer *l, uint32_t at)
{
    l->at = at;
    l->line_starts = at > 0 && l->source.data[at - 1] == '\n';
}

/* The text up to `tag`. */
static bool push_data(lexer *l, size_t tag, bool at_tag)
{
    size_t len = at_tag ? strip_before(l, l->at, tag) : tag - l->at;

    return len == 0 || push(l, TOKEN_DATA, l->at, len);
}

/* Behind the tag end `end` ("%}" or "#}") at `at`: its line end goes with it. */
static uint32_t behind_end(const lexer *l, size_t at)
{
    return (uint32_t)(at + 2) + begins(l, at + 2, "\n");
}

static bool lex_comment(lexer *l, uint32_t tag)
{
    for (size_t at = tag + 2; at + 1 < l->source.len; at++) {
        if (l->source.data[at] != '#' || l->source.data[at + 1] != '}')
            continue;
        if (at > tag + 2 && l->source.data[at - 1] == '-')
            move_to(l, skip_space(l, at + 2));
        else if (at > tag + 2 && l->source.data[at - 1] == '+')
            move_to(l, (uint32_t)at + 2);
        else
            move_to(l, behind_end(l, at));
        return true;
    }
    return fault(l, tag, "a comment without its end '#}'");
}

static bool lex_raw(lexer *l, uint32_t tag, uint32_t inside)
{
    move_to(l, inside);
    for (size_t at = inside; at + 1 < l->source.len; at++) {
        uint32_t end;

        if (l->source.data[at] != '{' || l->source.data[at + 1] != '%')
            continue;
        end = raw_tag(l, at, "endraw");
        if (end == 0)
            continue;
        if (!push_data(l, at, true))
            return false;
        if (l->source.data[end - 1] == '}' && l->source.data[end - 3] != '+' &&
            l->source.data[end - 3] != '-' && begins(l, end, "\n"))
            end++;
        move_to(l, end);
        return true;
    }
    return fault(l, tag, "'{%% raw %%}' without '{%% endraw %%}'");
}

static bool name_begins(const lexer *l)
{
    size_t len;

    return is_name_point(point_at(str_from(l->source, l->at), &len));
}

/* The end of digits, which single underscores may divide; `at` if there are none. */
static size_t digits_end(gufo_str s, size_t at, bool (*is_in)(char))
{
    size_t end = at;

    for (;;) {
        if (end < s.len && is_in(s.data[end]))
            end++;
        else if (end > at && end + 1 < s.len && s.data[end] == '_' && is_in(s.data[end + 1]))
            end += 2;
        else
            return end;
    }
}

static bool is_binary(char c)
{
    return c == '0' || c == '1';
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static bool is_zero(char c)
{
    return c == '0';
}

/* The end of a float that begins with the digits up to `end`; `end` if it is none. */
static size_t float_end(gufo_str s, size_t end)
{
    size_t fraction = end, exponent, sign;

    if (end < s.len && s.data[end] == '.') {
        fraction = digits_end(s, end + 1, is_digit);
        if (fraction == end + 1)
            return end;
    }
    if (fraction >= s.len || (s.data[fraction] != 'e' && s.data[fraction] != 'E'))
        return fraction;
    sign = fraction + 1;
    if (sign < s.len && (s.data[sign] == '+' || s.data[sign] == '-'))
        sign++;
    exponent = digits_end(s, sign, is_digit);
    return exponent == sign ? fraction : exponent;
}

static bool lex_number(lexer *l)
{
    static const struct {
        char letter;
        bool (*is_in)(char);
    } bases[] = {{'b', is_binary}, {'o', is_octal}, {'x', is_hex}};
    gufo_str s = l->source;
    size_t at = l->at, end = digits_end(s, at, is_digit), real = float_end(s, end);

    if (real != end && (at == 0 || s.data[at - 1] != '.')) {
        l->at = (uint32_t)real;
        return push(l, TOKEN_FLOAT, at, real - at);
    }
    if (s.data[at] == '0') {
        end = digits_end(s, at, is_zero);
        for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
            size_t first = at + 2 + (at + 2 < s.len && s.data[at + 2] == '_');

            if (at + 1 < s.len && to_lower(s.data[at + 1]) == bases[i].letter &&
                digits_end(s, first, bases[i].is_in) != first)
                end = digits_end(s, first, bases[i].is_in);
        }
    }
    l->at = (uint32_t)end;
    return push(l, TOKEN_INTEGER, at, end - at);
}

static bool lex_name(lexer *l)
{
    size_t end = l->at, len;
    gufo_str name;

    for (; end < l->source.len && is_name_point(point_at(str_from(l->source, end), &len));
         end += len) {}
    name = (gufo_str){l->source.data + l->at, end - l->at};
    if (!is_identifier(name))
        return fault(l, l->at, "%s is not a name", QUOTED(name));
    if (!push(l, TOKEN_NAME, l->at, name.len))
        return false;
    l->at = (uint32_t)end;
    return true;
}

static bool lex_string(lexer *l)
{
    char quote = l->source.data[l->at];

    for (size_t at = l->at + 1; at < l->source.len; at++) {
        if (l->source.data[at] == '\\') {
            at++;
        } else if (l->source.data[at] == quote) {
            if (!push(l, TOKEN_STRING, l->at, at + 1 - l->at))
                return false;
            l->at = (uint32_t)at + 1;
            return true;
        }
    }
    return fault(l, l->at, "a text without its closing quote");
}

static bool lex_brackets(lexer *l, char c)
{
    static const char left[] = "([{", right[] = ")]}";
    const char *opens = memchr(left, c, 3), *closes = memchr(right, c, 3);

    if (opens != NULL) {
        if (l->depth == BRACKET_DEPTH)
            return fault(l, l->at, "more than %d nested brackets", BRACKET_DEPTH);
        l->open[l->depth++] = right[opens - left];
    } else if (closes != NULL) {
        if (l->depth == 0)
            return fault(l, l->at, "unexpected '%c'", c);
        if (l->open[--l->depth] != c)
            return fault(l, l->at, "'%c' expected instead of '%c'", l->open[l->depth], c);
    }
    return true;
}

static bool lex_operator(lexer *l)
{
    char code[5] = {0};
    uint32_t point;
    size_t len;

    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        if (!begins(l, l->at, operators[i].text))
            continue;
        if (!lex_brackets(l, *operators[i].text) ||
            !push(l, operators[i].kind, l->at, strlen(operators[i].text)))
            return false;
        l->at += (uint32_t)strlen(operators[i].text);
        return true;
    }
    len = gufo_utf8_decode(str_from(l->source, l->at), &point);
    memcpy(code, l->source.data + l->at, len == 0 ? 1 : len);
    return fault(l, l->at, "unexpected character %s", QUOTED(gufo_str_of(code)));
}

/* The end of the tag at the place of the lexer, if it is there. */
static bool lex_tag_end(lexer *l, bool block, bool *ends)
{
    const char *mark = block ? "%}" : "}}";
    uint32_t at = l->at, end = 0;

    if (begins(l, at, mark))
        end = block ? behind_end(l, at) : at + 2;
    else if (begins(l, at, "-") && begins(l, at + 1, mark))
        end = skip_space(l, at + 3);
    else if (block && begins(l, at, "+%}"))
        end = at + 3;
    *ends = end != 0 && l->depth == 0;
    if (!*ends)
        return true;
    move_to(l, end);
    return push(l, block ? TOKEN_BLOCK_END : TOKEN_VARIABLE_END, at, 2);
}

static bool lex_code(lexer *l, uint32_t tag, bool block)
{
    bool ends = false;

    l->at = tag + 2;
    if (begins(l, l->at, "-") || begins(l, l->at, "+"))
        l->at++;
    if (!push(l, block ? TOKEN_BLOCK_BEGIN : TOKEN_VARIABLE_BEGIN, tag, 2))
        return false;
    l->depth = 0;
    while (!ends) {
        bool done;
        char c;

        if (!lex_tag_end(l, block, &ends))
            return false;
        if (ends)
            break;
        l->at = skip_space(l, l->at);
        if (l->at >= l->source.len)
            return fault(l, tag, "a tag without its end '%s'", block ? "%}" : "}}");
        if (!lex_tag_end(l, block, &ends))
            return false;
        if (ends)
            break;
        c = l->source.data[l->at];
        done = is_digit(c)             ? lex_number(l)
               : name_begins(l)        ? lex_name(l)
               : c == '\'' || c == '"' ? lex_string(l)
                                       : lex_operator(l);
        if (!done)
            return false;
    }
    return true;
}

/* The next tag from `at` on, or the end of the source. */
static uint32_t next_tag(const lexer *l, uint32_t from)
{
    const char *data = l->source.data;

    for (size_t at = from; at + 1 < l->source.len; at++) {
        const char *found = memchr(data + at, '{', l->source.len - 1 - at);

        if (found == NULL)
            break;
        at = (size_t)(found - data);
        if (data[at + 1] == '{' || data[at + 1] == '%' || data[at + 1] == '#')
            return (uint32_t)at;
    }
    return (uint32_t)l->source.len;
}

bool lex(heap *memory, gufo_str source, token_list *out, uint32_t *at)
{
    lexer l = {.memory = memory, .source = source, .out = out, .line_starts = true};
    bool done = true;

    *out = (token_list){0};
    while (done && l.at < source.len) {
        uint32_t tag = next_tag(&l, l.at), inside;
        bool found = tag < source.len;

        inside = found && source.data[tag + 1] == '%' ? raw_tag(&l, tag, "raw") : 0;
        done = push_data(&l, tag, found);
        l.at = tag;
        if (!done || !found)
            break;
        if (inside != 0)
            done = lex_raw(&l, tag, inside);
        else if (source.data[tag + 1] == '#')
            done = lex_comment(&l, tag);
        else
            done = lex_code(&l, tag, source.data[tag + 1] == '%');
    }
    *at = l.at;
    return done && push(&l, TOKEN_END, source.len, 0);
}
