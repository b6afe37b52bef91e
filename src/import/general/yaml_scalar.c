/* Scalars of YAML.  Lines of one scalar are folded: a line break becomes a space, and empty lines
 * become line breaks. */
#include "import/general/yaml_reading.h"

#include <string.h>

#include "base/text.h"

void yaml_put(yaml_reading *r, const char *bytes, size_t count)
{
    void *room = count > 0 && !r->no_memory ? buffer_extend(&r->scalar, count) : NULL;

    if (room != NULL)
        memcpy(room, bytes, count);
    else if (count > 0)
        r->no_memory = true;
}

void yaml_put_many(yaml_reading *r, char c, size_t count)
{
    void *room = count > 0 && !r->no_memory ? buffer_extend(&r->scalar, count) : NULL;

    if (room != NULL)
        memset(room, c, count);
    else if (count > 0)
        r->no_memory = true;
}

bool yaml_count(yaml_reading *r)
{
    if (++r->values > YAML_VALUES)
        (void)yaml_wrong(r, "more than 262144 values");
    return !yaml_failed(r);
}

static gufo_str scalar_text(const yaml_reading *r)
{
    return r->scalar.len > 0 ? (gufo_str){(const char *)r->scalar.data, r->scalar.len}
                             : (gufo_str){"", 0};
}

json_t *yaml_string(yaml_reading *r)
{
    gufo_str text = scalar_text(r);
    json_t *string;

    if (!yaml_count(r))
        return NULL;
    string = json_stringn(text.data, text.len);
    r->no_memory = string == NULL;
    return string;
}

/* Breaks between two lines of text, of which `empty` were between them. */
static void put_break(yaml_reading *r, size_t empty)
{
    if (empty > 0)
        yaml_put_many(r, '\n', empty);
    else
        yaml_put(r, " ", 1);
}

/* Moves to the next line that has text; how many empty ones were skipped. */
static size_t skip_empty_lines(yaml_reading *r)
{
    size_t empty = 0;

    for (yaml_next_line(r); r->at < r->text.len; yaml_next_line(r), empty++) {
        yaml_skip_spaces(r);
        if (yaml_peek(r, 0) != '\n')
            break;
    }
    return empty;
}

/* ---- plain ---------------------------------------------------------------------------------- */

static bool begins_plain(const yaml_reading *r)
{
    char c = yaml_peek(r, 0);

    if (c == '-' || c == '?' || c == ':')
        return !yaml_is_gap(r, 1);
    return strchr(",[]{}#&*!|>'\"%@`", c) == NULL;
}

static bool is_bracket(char c)
{
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

/* Whether a plain scalar cannot go on at the next byte of its line. */
static bool ends_plain(const yaml_reading *r, bool flow)
{
    char c = yaml_peek(r, 0);

    if (c == '\n' || (flow && is_bracket(c)))
        return true;
    if (c == ':')
        return yaml_is_gap(r, 1) || (flow && is_bracket(yaml_peek(r, 1)));
    return c == '#' && r->at > r->line && r->text.data[r->at - 1] == ' ';
}

static void put_plain_line(yaml_reading *r, bool flow)
{
    size_t from = r->at, end;

    while (!ends_plain(r, flow))
        r->at++;
    for (end = r->at; end > from && r->text.data[end - 1] == ' ';)
        end--;
    yaml_put(r, r->text.data + from, end - from);
}

/* Whether the next line with text goes on with the scalar, and is put there. */
static bool continue_plain(yaml_reading *r, size_t least, bool flow)
{
    yaml_reading before = *r;
    size_t empty = skip_empty_lines(r);

    if (r->at == r->text.len || yaml_column(r) < least || ends_plain(r, flow)) {
        r->at = before.at;
        r->line = before.line;
        return false;
    }
    put_break(r, empty);
    put_plain_line(r, flow);
    return true;
}

json_t *yaml_plain(yaml_reading *r, size_t least, bool flow)
{
    gufo_str text;

    r->scalar.len = 0;
    if (!begins_plain(r))
        return yaml_wrong(r, "a character that begins no plain text");
    put_plain_line(r, flow);
    while (yaml_peek(r, 0) == '\n' && r->at < r->text.len && continue_plain(r, least, flow))
        continue;
    if (!flow && yaml_peek(r, 0) == ':')
        return yaml_wrong(r, "a mapping inside a text");
    text = scalar_text(r);
    if (str_is_word(text, "~ null Null NULL"))
        return yaml_count(r) ? json_null() : NULL;
    return yaml_string(r);
}

/* ---- in quotes ------------------------------------------------------------------------------ */

static void put_code_point(yaml_reading *r, uint32_t code)
{
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    char bytes[4];

    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        (void)yaml_wrong(r, "an escape that is not a character");
        return;
    }
    bytes[0] = (char)(leads[more] | code >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        bytes[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    yaml_put(r, bytes, more + 1);
}

static unsigned hex_value(char c)
{
    return is_digit(c) ? (unsigned)(c - '0') : (unsigned)(to_lower(c) - 'a') + 10;
}

static void put_hex(yaml_reading *r, unsigned digits)
{
    uint32_t code = 0;

    for (unsigned i = 0; i < digits; i++, r->at++) {
        if (!is_hex(yaml_peek(r, 0))) {
            (void)yaml_wrong(r, "an escape without its digits");
            return;
        }
        code = code << 4 | hex_value(yaml_peek(r, 0));
    }
    put_code_point(r, code);
}

/* The escape behind a backslash. */
static void put_escape(yaml_reading *r)
{
    static const struct escape {
        char name;
        uint32_t code;
    } escapes[] = {{'0', 0},     {'a', 7},    {'b', 8},    {'t', 9},      {'n', 10},    {'v', 11},
                   {'f', 12},    {'r', 13},   {'e', 27},   {' ', ' '},    {'"', '"'},   {'/', '/'},
                   {'\\', '\\'}, {'N', 0x85}, {'_', 0xa0}, {'L', 0x2028}, {'P', 0x2029}};
    char name = yaml_peek(r, 0);

    if (name == '\n') { /* the next line goes on without a blank */
        yaml_next_line(r);
        yaml_skip_spaces(r);
        return;
    }
    r->at++;
    if (name == 'x' || name == 'u' || name == 'U') {
        put_hex(r, name == 'x' ? 2 : name == 'u' ? 4 : 8);
        return;
    }
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (escapes[i].name == name) {
            put_code_point(r, escapes[i].code);
            return;
        }
    (void)yaml_wrong(r, "an unknown escape");
}

/* A line ends inside the quotes; `kept` bytes of the scalar are not blanks at its end. */
static void fold_quoted(yaml_reading *r, size_t kept)
{
    while (r->scalar.len > kept && r->scalar.data[r->scalar.len - 1] == ' ')
        r->scalar.len--;
    put_break(r, skip_empty_lines(r));
}

void yaml_quoted(yaml_reading *r)
{
    char quote = yaml_peek(r, 0);
    size_t kept = 0;

    r->scalar.len = 0;
    for (r->at++; r->at < r->text.len && !yaml_failed(r);) {
        char c = yaml_peek(r, 0);

        if (c == quote && !(quote == '\'' && yaml_peek(r, 1) == quote)) {
            r->at++;
            return;
        }
        if (c == '\n') {
            fold_quoted(r, kept);
            continue;
        }
        r->at += c == quote ? 2 : 1;
        if (c == '\\' && quote == '"') {
            put_escape(r);
            kept = r->scalar.len;
        } else {
            yaml_put(r, &c, 1);
        }
    }
    (void)yaml_wrong(r, "a quote that is not closed");
}

/* ---- blocks of lines ------------------------------------------------------------------------ */

typedef struct block_style {
    bool folded;
    char chomping; /* '-': no line break at the end, '+': all, '\0': one */
    size_t indent; /* 0: that of the first line */
} block_style;

static bool read_style(yaml_reading *r, size_t least, block_style *style)
{
    *style = (block_style){.folded = yaml_peek(r, 0) == '>'};
    for (r->at++; !yaml_is_gap(r, 0); r->at++) {
        char c = yaml_peek(r, 0);

        if (c == '-' || c == '+')
            style->chomping = c;
        else if (c >= '1' && c <= '9')
            style->indent = (least > 0 ? least - 1 : 0) + (size_t)(c - '0');
        else
            return yaml_wrong(r, "an unknown kind of block") != NULL;
    }
    yaml_skip_spaces(r);
    return yaml_peek(r, 0) == '\n' || yaml_peek(r, 0) == '#' ||
           yaml_wrong(r, "text after | or >") != NULL;
}

/* Whether the next line is of the block; an empty one always is.  Its text is at r->at then, behind
 * the indentation. */
static bool is_in_block(yaml_reading *r, size_t least, block_style *style, bool *empty)
{
    size_t spaces = 0;

    while (yaml_peek(r, spaces) == ' ')
        spaces++;
    *empty = yaml_peek(r, spaces) == '\n' && (style->indent == 0 || spaces <= style->indent);
    if (*empty) {
        r->at += spaces;
        return true;
    }
    if (style->indent == 0 && spaces >= least)
        style->indent = spaces;
    if (spaces < style->indent || style->indent == 0)
        return false;
    r->at += style->indent;
    return true;
}

static void put_line(yaml_reading *r)
{
    const char *from = r->text.data + r->at;
    const char *end = memchr(from, '\n', r->text.len - r->at);

    yaml_put(r, from, end != NULL ? (size_t)(end - from) : r->text.len - r->at);
}

json_t *yaml_block(yaml_reading *r, size_t least)
{
    bool begun = false, was_indented = false, empty;
    size_t empties = 0;
    block_style style;

    r->scalar.len = 0;
    if (!read_style(r, least, &style))
        return NULL;
    for (yaml_next_line(r); r->at < r->text.len && is_in_block(r, least, &style, &empty);
         yaml_next_line(r)) {
        bool indented = !style.folded || yaml_peek(r, 0) == ' ';

        if (empty) {
            empties++;
            continue;
        }
        if (begun && (indented || was_indented))
            yaml_put_many(r, '\n', empties + 1);
        else if (begun)
            put_break(r, empties);
        else
            yaml_put_many(r, '\n', empties);
        put_line(r);
        begun = true;
        was_indented = indented;
        empties = 0;
    }
    r->at = r->line;
    yaml_put_many(r, '\n',
                  style.chomping == '+' ? empties + begun : begun && style.chomping == '\0');
    return yaml_string(r);
}
