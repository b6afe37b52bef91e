/* Lines of a World vocabulary: the id, the token as Python writes it, and its length in bytes.
 *
 *     257 b'\xe0' 1
 *     258 'on' 2
 *     259 "it's" 4 */
#include "schema/syntax/rwkv_world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"

/* ---- the token ------------------------------------------------------------------------------ */

/* The bytes of a token: counted, and written where `out` is not NULL. */
typedef struct world_bytes {
    char *out;
    uint64_t size;
} world_bytes;

static void add_byte(world_bytes *bytes, uint64_t byte)
{
    if (bytes->out != NULL)
        bytes->out[bytes->size] = (char)(uint8_t)byte;
    bytes->size++;
}

/* Adds a character in UTF-8; false for what is not a character. */
static bool add_character(uint64_t code, world_bytes *bytes)
{
    char text[4];
    size_t size;

    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
        return false;
    size = gufo_utf8_encode((uint32_t)code, text);
    for (size_t i = 0; i < size; i++)
        add_byte(bytes, (uint8_t)text[i]);
    return true;
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Up to three digits. */
static uint64_t read_octal(gufo_str text, size_t *at)
{
    uint64_t code = 0;

    for (int i = 0; i < 3 && *at < text.len && is_octal(text.data[*at]); i++)
        code = code * 8 + (uint64_t)(text.data[(*at)++] - '0');
    return code;
}

/* Adds the bytes of the escape whose letter is at *at. */
static bool read_escape(gufo_str text, size_t *at, bool raw, world_bytes *bytes)
{
    static const char letters[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v"; /* each with its meaning */
    char c = text.data[*at];
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint64_t code;

    if (is_octal(c)) {
        code = read_octal(text, at);
    } else if (digits == 0 || (raw && c != 'x')) {
        for (size_t i = 0; i < sizeof letters - 1; i += 2)
            if (letters[i] == c) {
                ++*at;
                add_byte(bytes, (uint8_t)letters[i + 1]);
                return true;
            }
        /* Python keeps an unknown escape as it is. */
        ++*at;
        add_byte(bytes, '\\');
        add_byte(bytes, (uint8_t)c);
        return !raw || is_ascii(c);
    } else {
        ++*at;
        if (str_hex(text, *at, digits, &code) < digits)
            return false;
        *at += digits;
    }
    if (!raw)
        return add_character(code, bytes);
    add_byte(bytes, code);
    return code <= 0xff;
}

/* The bytes that the literal at *at means; *at moves past it. */
static bool read_literal(gufo_str text, size_t *at, world_bytes *bytes)
{
    bool raw = *at < text.len && text.data[*at] == 'b';
    char quote;

    *at += raw;
    if (*at == text.len || (text.data[*at] != '\'' && text.data[*at] != '"'))
        return false;
    quote = text.data[(*at)++];
    while (*at < text.len) {
        char c = text.data[(*at)++];

        if (c == quote)
            return true;
        if (raw && !is_ascii(c))
            return false;
        if (c != '\\')
            add_byte(bytes, (uint8_t)c);
        else if (*at == text.len || text.data[*at] == '\0' || !read_escape(text, at, raw, bytes))
            return false;
    }
    return false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* What is wrong with a line, or NULL. */
static const char *read_line(gufo_str line, world_token *token, char *out)
{
    size_t digits = str_digits(line, 0), at = digits + 1;
    world_bytes bytes = {.out = out};
    uint64_t claimed;

    if (digits == 0 || digits == line.len || line.data[digits] != ' ')
        return "does not begin with the number of a token";
    if (!str_number((gufo_str){line.data, digits}, &token->id))
        token->id = UINT64_MAX;
    if (!read_literal(line, &at, &bytes))
        return "has no token in quotes";
    token->size = (size_t)bytes.size;
    if (at == line.len || line.data[at] != ' ' || !str_number(str_from(line, at + 1), &claimed))
        return "does not end with a length";
    if (claimed != bytes.size)
        return "gives another length than the token has";
    return bytes.size > 0 ? NULL : "has an empty token";
}

const char *rwkv_world_read(gufo_str text, size_t *at, world_token *token, char *out)
{
    const char *end = memchr(text.data + *at, '\n', text.len - *at);
    size_t len = end != NULL ? (size_t)(end - text.data) - *at : text.len - *at;
    gufo_str line = {text.data + *at, len};

    *at += len + (end != NULL);
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return read_line(line, token, out);
}

/* ---- vocabularies --------------------------------------------------------------------------- */

/* Ids that vocabularies leave out. */
enum { LARGEST_GAP = 1 << 16 };

static uint64_t count_lines(gufo_str text)
{
    uint64_t lines = text.len > 0 && text.data[text.len - 1] != '\n';

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    return lines;
}

/* The line, from 1, that has an id: the first one. */
static uint64_t line_of(gufo_str text, uint64_t id)
{
    world_token token = {0};
    uint64_t line = 0;

    for (size_t at = 0; at < text.len && (line == 0 || token.id != id); line++)
        (void)rwkv_world_read(text, &at, &token, NULL);
    return line;
}

__attribute__((format(printf, 3, 4))) static void refuse_line(world_survey *s, gufo_status status,
                                                              const char *format, ...)
{
    va_list arguments;

    s->status = status;
    va_start(arguments, format);
    (void)vsnprintf(s->fault, sizeof s->fault, format, arguments);
    va_end(arguments);
}

/* Notes an id among those that were `seen`, by bits, of which there are `most`. */
static void note_id(world_survey *s, gufo_str text, uint64_t id, uint8_t *seen, uint64_t most)
{
    uint8_t bit = (uint8_t)(1u << id % 8);

    if (id >= most) {
        refuse_line(s, GUFO_E_LIMIT, "has an id far above the number of lines");
        return;
    }
    if ((seen[id / 8] & bit) != 0)
        refuse_line(s, GUFO_E_MALFORMED, "has id %" PRIu64 ", as line %" PRIu64 " has", id,
                    line_of(text, id));
    seen[id / 8] |= bit;
    s->largest = id > s->largest ? id : s->largest;
}

gufo_status rwkv_world_survey(gufo_str text, const gufo_allocator *allocator, world_survey *survey,
                              gufo_error *error)
{
    const gufo_allocator *a = mem_allocator(allocator);
    uint64_t most = count_lines(text) + LARGEST_GAP;
    uint8_t *seen = mem_array(a, most / 8 + 1, 1);
    world_survey *s = survey;

    *s = (world_survey){.status = GUFO_OK};
    if (seen == NULL)
        return fail_memory(error);
    for (size_t at = 0; at < text.len && s->status == GUFO_OK; s->lines++) {
        world_token token;
        const char *reason;

        s->at = at;
        reason = rwkv_world_read(text, &at, &token, NULL);
        if (reason != NULL)
            refuse_line(s, GUFO_E_MALFORMED, "%s", reason);
        else
            note_id(s, text, token.id, seen, most);
    }
    if (text.len == 0) {
        s->lines = 1;
        refuse_line(s, GUFO_E_MALFORMED, "is missing");
    }
    mem_free(a, seen);
    return GUFO_OK;
}
