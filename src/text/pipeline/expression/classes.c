/* Classes of Oniguruma: [a-z], [^\s[:punct:]], [a-z&&[^aeiou]]. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/expression/parser.h"

/* What of a class has been read. */
typedef struct class_reading {
    code_ranges left; /* before the last "&&" */
    bool has_left;
    code_ranges set; /* behind it */
} class_reading;

static gufo_status read_class(parser *p, code_ranges *out, bool *negated);

/* "[:alpha:]"; *is_bracket: there is one. */
static gufo_status read_bracket(parser *p, code_ranges *set, bool *is_bracket)
{
    size_t at = p->at + 2, len;
    bool negated = parser_peek(p, 2) == '^', done;
    code_ranges one = {.allocator = set->allocator};
    gufo_str name;

    *is_bracket = false;
    at += negated;
    len = at < p->text.len ? str_span(p->text, at, is_letter) : 0;
    if (at + len + 2 > p->text.len || memcmp(p->text.data + at + len, ":]", 2) != 0)
        return GUFO_OK;
    *is_bracket = true;
    name = (gufo_str){p->text.data + at, len};
    if (!str_is_word(name,
                     "alnum alpha ascii blank cntrl digit graph lower print punct space upper "
                     "word xdigit"))
        return parser_unknown(p, "a POSIX bracket of another name");
    if (gufo_str_equal(name, gufo_str_of("punct")))
        name = gufo_str_of("bracket punct");
    else if (gufo_str_equal(name, gufo_str_of("word")))
        name = gufo_str_of("bracket word");
    done = code_ranges_add_property(&one, name, PROPERTY_EXACT) &&
           (!negated || code_ranges_invert(&one)) && code_ranges_join(set, &one);
    code_ranges_free(&one);
    p->at = at + len + 2;
    return done ? GUFO_OK : fail_memory(p->error);
}

static gufo_status read_nested(parser *p, code_ranges *set)
{
    code_ranges one = {.allocator = set->allocator};
    bool is_bracket = false, negated = false;
    gufo_status status = GUFO_OK;

    if (parser_peek(p, 1) == ':')
        status = read_bracket(p, set, &is_bracket);
    if (status != GUFO_OK || is_bracket)
        return status;
    p->at++;
    status = read_class(p, &one, &negated);
    if (status == GUFO_OK &&
        ((negated && !code_ranges_invert(&one)) || !code_ranges_join(set, &one)))
        status = fail_memory(p->error);
    code_ranges_free(&one);
    return status;
}

/* One character, or an escape; *is_set: it is in the set already. */
static gufo_status read_member(parser *p, code_ranges *set, uint32_t *character, bool *is_set)
{
    code_ranges one = {.allocator = set->allocator};
    escape_kind kind = ESCAPE_CHARACTER;
    gufo_status status = GUFO_OK;

    *is_set = false;
    if (parser_peek(p, 0) != '\\') {
        *character = parser_character(p);
        return GUFO_OK;
    }
    if (parser_peek(p, 1) == 'b') {
        *character = '\b';
        p->at += 2;
        return GUFO_OK;
    }
    status = parser_escape(p, &kind, character, &one);
    if (status == GUFO_OK && kind == ESCAPE_OTHER) { /* a letter like any other in a class */
        *character = (uint8_t)parser_peek(p, 1);
        p->at += 2;
    }
    *is_set = kind == ESCAPE_SET;
    if (status == GUFO_OK && *is_set && !code_ranges_join(set, &one))
        status = fail_memory(p->error);
    code_ranges_free(&one);
    return status;
}

/* A character or a range of them, or an escape. */
static gufo_status read_range(parser *p, code_ranges *set)
{
    uint32_t first = 0, last;
    bool is_set;
    gufo_status status = read_member(p, set, &first, &is_set);

    if (status != GUFO_OK || is_set)
        return status;
    last = first;
    if (parser_peek(p, 0) == '-' && parser_peek(p, 1) != ']' && p->text.len - p->at > 1) {
        if (parser_peek(p, 1) == '[' || parser_peek(p, 1) == '&')
            return parser_unknown(p, "a range that ends with a class");
        p->at++;
        status = read_member(p, set, &last, &is_set);
        if (status == GUFO_OK && is_set)
            return parser_unknown(p, "a range that ends with a class");
        if (status == GUFO_OK && last < first)
            return parser_malformed(p, "is behind a range that ends before it begins");
    }
    return status != GUFO_OK                   ? status
           : code_ranges_add(set, first, last) ? GUFO_OK
                                               : fail_memory(p->error);
}

/* What is behind "&&" limits what is before it. */
static gufo_status limit_class(parser *p, class_reading *c)
{
    code_ranges_sort(&c->set);
    if (!c->has_left) {
        c->left = c->set;
        c->set = (code_ranges){.allocator = c->left.allocator};
        c->has_left = true;
        return GUFO_OK;
    }
    if (!code_ranges_intersect(&c->left, &c->set))
        return fail_memory(p->error);
    code_ranges_free(&c->set);
    return GUFO_OK;
}

static gufo_status read_members(parser *p, class_reading *c)
{
    gufo_status status = GUFO_OK;

    for (bool first = true; status == GUFO_OK; first = false) {
        char next = parser_peek(p, 0);

        if (parser_ends(p))
            return parser_malformed(p, "is behind a class without end");
        if (next == ']' && !first)
            break;
        if (next == ']' && memchr(p->text.data + p->at + 1, ']', p->text.len - p->at - 1) == NULL)
            return parser_malformed(p, "ends an empty class");
        if (next == '[')
            status = read_nested(p, &c->set);
        else if (parser_takes(p, "&&"))
            status = limit_class(p, c);
        else
            status = read_range(p, &c->set);
    }
    if (status == GUFO_OK)
        p->at++;
    return status;
}

/* A class behind its "[": what it has, or, negated, what it has not. */
static gufo_status read_class(parser *p, code_ranges *out, bool *negated)
{
    class_reading c = {.left.allocator = out->allocator, .set.allocator = out->allocator};
    gufo_status status;

    p->classes++;
    *negated = parser_takes(p, "^");
    status = ++p->depth > MOST_DEPTH ? parser_unknown(p, "too many nested classes")
                                     : read_members(p, &c);
    if (status == GUFO_OK && c.has_left)
        status = limit_class(p, &c);
    p->depth--;
    p->classes--;
    code_ranges_sort(&c.set);
    *out = c.has_left ? c.left : c.set;
    code_ranges_free(c.has_left ? &c.set : &c.left);
    return status;
}

gufo_status parser_class(parser *p, unsigned flags)
{
    code_ranges set = {.allocator = p->out->allocator};
    bool negated;
    gufo_status status = read_class(p, &set, &negated);

    if (status == GUFO_OK && (flags & IGNORE_CASE) != 0)
        return parser_write_folded_set(p, &set, negated);
    if (status == GUFO_OK && negated && !code_ranges_invert(&set))
        status = fail_memory(p->error);
    if (status == GUFO_OK)
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    return status;
}
