/* Nodes, constants and tokens for the parser, literals, and rows of tables by their names. */
#include "base/error.h"
#include "base/text.h"
#include "gufo/print.h"
#include "template/syntax/parser.h"
#include "template/values/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t table_find(const table *rows, gufo_str name)
{
    uint32_t low = 0, high = rows->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = rows->rows[middle].name;
        size_t len = strlen(other);
        int order = memcmp(name.data, other, name.len < len ? name.len : len);

        if (order == 0 && name.len == len)
            return middle + 1;
        if (order < 0 || (order == 0 && name.len < len))
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

uint32_t parse_fault(parser *p, uint32_t at, const char *format, ...)
{
    heap *memory = &p->tree->memory;
    char sentence[GUFO_MESSAGE_SIZE];
    va_list rest;

    if (memory->status != GUFO_OK)
        return 0;
    va_start(rest, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, rest);
    va_end(rest);
    p->failed_at = at;
    memory->status = fail_with(memory->error, GUFO_E_MALFORMED, at, "%s", sentence);
    return 0;
}

bool parse_enter(parser *p)
{
    if (p->depth++ < PARSE_DEPTH)
        return true;
    (void)parse_fault(p, p->next->at, "more than %d nested levels", PARSE_DEPTH);
    p->tree->memory.status = GUFO_E_LIMIT;
    return false;
}

uint32_t node_add(parser *p, node_kind kind, uint32_t at)
{
    gufo_template *tree = p->tree;

    if (tree->node_count == tree->node_room) {
        uint32_t room = tree->node_room == 0 ? 256 : tree->node_room * 2;
        node *grown = heap_array(&tree->memory, room, sizeof(node));

        if (grown == NULL)
            return 0;
        if (tree->node_count != 0)
            memcpy(grown, tree->nodes, tree->node_count * sizeof(node));
        else
            grown[tree->node_count++] = (node){.kind = NODE_NONE};
        tree->nodes = grown;
        tree->node_room = room;
    }
    tree->nodes[tree->node_count] = (node){.kind = (uint8_t)kind, .at = at};
    return tree->node_count++;
}

void node_append(parser *p, node_list *list, uint32_t item)
{
    if (list->first == 0)
        list->first = item;
    else
        node_of(p, list->last)->next = item;
    list->last = item;
}

uint32_t constant_add(parser *p, value v)
{
    item_list *constants = &p->tree->constants;

    if (constants->count >= UINT32_MAX - 1 || !items_push(&p->tree->memory, constants, v))
        return UINT32_MAX;
    return (uint32_t)constants->count - 1;
}

uint32_t constant_text(parser *p, gufo_str text)
{
    gufo_template *tree = p->tree;
    const dict_entry *known = dict_find_text(tree->interned, tree->key, text);
    value made;
    uint32_t index;

    if (known != NULL)
        return (uint32_t)known->value.as.integer;
    made = string_view(&tree->memory, text);
    index = constant_add(p, made);
    if (index == UINT32_MAX ||
        !dict_set(&tree->memory, tree->interned, tree->key, made, value_int(index)))
        return UINT32_MAX;
    return index;
}

gufo_str token_text(const parser *p, const token *read)
{
    return (gufo_str){p->tree->source.data + read->at, read->len};
}

bool token_is(const parser *p, uint32_t kind)
{
    return p->next->kind == kind;
}

bool token_is_word(const parser *p, const char *word)
{
    return token_is(p, TOKEN_NAME) && gufo_str_equal(token_text(p, p->next), gufo_str_of(word));
}

bool token_is_any(const parser *p, const char *words)
{
    return token_is(p, TOKEN_NAME) && str_is_word(token_text(p, p->next), words);
}

bool token_skip(parser *p, uint32_t kind)
{
    if (!token_is(p, kind))
        return false;
    p->next++;
    return true;
}

bool token_skip_word(parser *p, const char *word)
{
    if (!token_is_word(p, word))
        return false;
    p->next++;
    return true;
}

uint32_t parse_expected(parser *p, const char *what)
{
    const token *found = p->next;

    if (found->kind == TOKEN_NAME)
        return parse_fault(p, found->at, "expected %s, found %s", what,
                           QUOTED(token_text(p, found)));
    if (found->kind >= TOKEN_FLOOR_DIVIDE)
        return parse_fault(p, found->at, "expected %s, found '%s'", what, token_name(found->kind));
    return parse_fault(p, found->at, "expected %s, found %s", what, token_name(found->kind));
}

bool token_expect(parser *p, uint32_t kind)
{
    char what[32];

    if (token_skip(p, kind))
        return true;
    (void)snprintf(what, sizeof(what), kind >= TOKEN_FLOOR_DIVIDE ? "'%s'" : "%s",
                   token_name(kind));
    (void)parse_expected(p, what);
    return false;
}

/* Numbers and texts as a template spells them. */

static value fail_literal(parser *p, const token *literal, const char *what)
{
    (void)parse_fault(p, literal->at, "%s", what);
    return FAILED;
}

value literal_number(parser *p, const token *literal)
{
    gufo_str text = token_text(p, literal);
    double real;
    value whole;

    if (literal->kind == TOKEN_FLOAT)
        return number_read_real(text, &real) ? value_float(real)
                                             : fail_literal(p, literal, "not a number");
    whole = integer_read(&p->tree->memory, text, 0);
    return is_given(whole) ? whole : fail_literal(p, literal, "a number with too many digits");
}

/* The escape whose letter is at `at`: what it gives, and how many bytes it is long; 0 if it is
 * wrong. */
static size_t read_escape(gufo_str text, size_t at, char out[4], size_t *written)
{
    static const char letters[] = "\\'\"abfnrtv", bytes[] = "\\'\"\a\b\f\n\r\t\v";
    const char *letter = memchr(letters, text.data[at], sizeof(letters) - 1);
    size_t digits = text.data[at] == 'x' ? 2 : text.data[at] == 'u' ? 4 : 8, len = 0;
    uint64_t point = 0;

    *written = 0;
    if (text.data[at] == '\n') /* the line goes on */
        return 1;
    if (letter != NULL) {
        out[0] = bytes[letter - letters];
        *written = 1;
        return 1;
    }
    if (text.data[at] >= '0' && text.data[at] <= '7') {
        for (; len < 3 && at + len < text.len && text.data[at + len] >= '0' &&
               text.data[at + len] <= '7';
             len++)
            point = point * 8 + (uint32_t)(text.data[at + len] - '0');
        *written = gufo_utf8_encode((uint32_t)point, out);
        return len;
    }
    if (memchr("xuU", text.data[at], 3) != NULL) {
        if (str_hex(text, at + 1, digits, &point) < digits || point > 0x10FFFF ||
            (point >= 0xD800 && point < 0xE000))
            return 0;
        *written = gufo_utf8_encode((uint32_t)point, out);
        return 1 + digits;
    }
    if (text.data[at] == 'N')
        return 0;
    out[0] = '\\'; /* an escape that does not exist is what it looks like */
    out[1] = text.data[at];
    *written = 2;
    return 1;
}

value literal_text(parser *p, const token *literal)
{
    gufo_str text = token_text(p, literal);
    char *out = heap_take(&p->tree->memory, text.len);
    size_t len = 0, written;

    if (out == NULL)
        return FAILED;
    text = (gufo_str){text.data + 1, text.len - 2};
    for (size_t at = 0; at < text.len;) {
        char bytes[4];
        size_t escape;

        if (text.data[at] != '\\') {
            out[len++] = text.data[at++];
            continue;
        }
        escape = read_escape(text, at + 1, bytes, &written);
        if (escape == 0)
            return fail_literal(p, literal, "an escape that is not known in a text");
        memcpy(out + len, bytes, written);
        len += written;
        at += 1 + escape;
    }
    /* A character above 7F behind a backslash keeps its other bytes: they are copied as they are. */
    return string_view(&p->tree->memory, (gufo_str){out, len});
}
