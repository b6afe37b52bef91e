/* Constant strings in Jinja code, and the names that they spell however they are put together:
 *
 *     x['__cla' 'ss__']    x['__cla' ~ 'ss__']    x|attr('\x5f' * 2 + 'class__')
 *     ['__cla', 'ss__']|join    dict(__cla=x, ss__=x)|join    '{0.__class__}'.format(x) */
#include "schema/syntax/lint_parts.h"

#include "base/text.h"

#include <string.h>

/* ---- one constant --------------------------------------------------------------------------- */

static bool is_name_character(int c)
{
    return c > 0 && (is_letter((char)c) || is_digit((char)c) || c == '_');
}

static void keep_name(char out[LINT_NAME + 1], gufo_str name)
{
    if (out[0] != '\0')
        return;
    memcpy(out, name.data, name.len);
    out[name.len] = '\0';
}

/* A part of the constant is complete: is it a name that is a finding? */
static void end_part(constant *s)
{
    gufo_str part = {s->part, s->part_len <= LINT_NAME ? s->part_len : 0};
    const risky_names *row = s->use != USE_ANY ? lint_find_attribute(part) : NULL;

    if (row != NULL && row->flags & NAME_CALLED)
        row = NULL;
    if (s->in_field && lint_is_dunder(part))
        keep_name(s->inside, part);
    if (s->found[0] == '\0' && (row != NULL || lint_is_dunder(part))) {
        keep_name(s->found, part);
        s->row = row;
    }
    s->part_len = 0;
}

static void add_character(constant *s, int c)
{
    if (is_name_character(c)) {
        if (s->part_len < LINT_NAME)
            s->part[s->part_len] = (char)c;
        s->part_len += s->part_len <= LINT_NAME;
        return;
    }
    s->plain &= c == '.';
    end_part(s);
    if (c == '{')
        s->in_field = true;
    else if (c != '.' && c != '[' && c != ']')
        s->in_field = false;
}

/* Adds a literal, quotes and all. */
static void add_literal(constant *s, gufo_str literal)
{
    gufo_str inside = {literal.data + 1, literal.len - 2};

    for (size_t at = 0; at < inside.len;) {
        int c = lint_string_character(inside, &at);

        if (c != -2)
            add_character(s, c);
    }
}

static void report_name(code_reader *c, const token *at, size_t end, const constant *s)
{
    lint *l = c->l;
    gufo_str text = {at->text.data, end - at->at.offset};

    if (s->found[0] != '\0' && s->plain)
        lint_report(l, s->row != NULL ? s->row->kind : LINT_DUNDER, at->at, text,
                    "a string spells \"%s\", a way from the template to what runs it", s->found);
    else if (s->inside[0] != '\0')
        lint_report(l, LINT_DUNDER, at->at, text,
                    "a string holds \"%s\", a way from the template to what runs it", s->inside);
}

/* ---- pieces --------------------------------------------------------------------------------- */

static string_use use_of(const code_reader *c)
{
    if (code_is(c, NOW - 1, "(") && code_is(c, NOW - 3, "|") &&
        (code_is(c, NOW - 2, "attr") || code_is(c, NOW - 2, "groupby")))
        return USE_FILTER;
    if (code_is(c, NOW - 1, "=") && code_is(c, NOW - 2, "attribute"))
        return USE_ATTRIBUTE;
    /* A subscript follows an operand, a list an operator or nothing. */
    if (code_is(c, NOW - 1, "[") &&
        (c->around[NOW - 2].kind == TOKEN_STRING || code_is_in(c, NOW - 2, ")]") ||
         (c->around[NOW - 2].kind == TOKEN_NAME && !code_is(c, NOW - 2, "in"))))
        return USE_SUBSCRIPT;
    return USE_ANY;
}

/* Empty if it is too long for a name. */
static void keep_last(string_reader *s, gufo_str literal)
{
    gufo_str inside = {literal.data + 1, literal.len - 2};

    s->last_len = 0;
    for (size_t at = 0; at < inside.len;) {
        int c = lint_string_character(inside, &at);

        if (s->last_len == LINT_NAME) {
            s->last_len = 0;
            return;
        }
        if (c != -2)
            s->last[s->last_len++] = (char)(c >= 0 ? c : '?');
    }
}

static void add_string(code_reader *c)
{
    string_reader *s = &c->strings;
    const token *now = &c->around[NOW];

    if (!s->open) {
        s->open = true;
        s->first = *now;
        s->joined = (constant){.use = use_of(c), .plain = true};
    }
    s->end = now->at.offset + now->text.len;
    add_literal(&s->joined, now->text);
    if (s->listing)
        add_literal(&s->listed, now->text);
    keep_last(s, now->text);
    if (lint_is_dunder((gufo_str){s->last, s->last_len}))
        keep_name(s->joined.inside, (gufo_str){s->last, s->last_len});
}

/* 'a' * 3; more than a few times makes no name. */
static void repeat_last(code_reader *c)
{
    string_reader *s = &c->strings;
    gufo_str number = c->around[NOW].text;
    int times = number.len == 1 ? number.data[0] - '0' : 0;

    for (; times > 1; times--)
        for (size_t i = 0; i < s->last_len; i++) {
            add_character(&s->joined, s->last[i]);
            if (s->listing)
                add_character(&s->listed, s->last[i]);
        }
}

/* The constant is complete.  The text after it decides whether the filter attr gets just it. */
static void end_string(code_reader *c)
{
    string_reader *s = &c->strings;

    if (!s->open)
        return;
    s->open = false;
    end_part(&s->joined);
    if (s->joined.use == USE_FILTER)
        lint_report(c->l, LINT_DYNAMIC, s->first.at, s->first.text,
                    "a filter takes an attribute whose name is computed");
    report_name(c, &s->first, s->end, &s->joined);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void start_list(code_reader *c)
{
    string_reader *s = &c->strings;

    s->listing = true;
    s->list = c->around[NOW];
    s->listed = (constant){.plain = true};
}

static void end_list(code_reader *c)
{
    string_reader *s = &c->strings;

    if (s->listing && code_is(c, NOW + 1, "|") && code_is(c, NOW + 2, "join")) {
        end_part(&s->listed);
        report_name(c, &s->list, c->around[NOW].at.offset + 1, &s->listed);
    }
    s->listing = false;
}

/* In dict(a=x, b=x) the names of the arguments are the items, whatever their values are. */
static bool is_item_name(const code_reader *c)
{
    return c->around[NOW].kind == TOKEN_NAME && code_is(c, NOW + 1, "=") &&
           code_is_in(c, NOW - 1, "(,");
}

static void add_item_name(string_reader *s, gufo_str name)
{
    for (size_t i = 0; i < name.len; i++)
        add_character(&s->listed, (unsigned char)name.data[i]);
}

/* Whether the token can be in a list of constants. */
static bool lists(const code_reader *c)
{
    return code_is_in(c, NOW, ",~+*=") || code_is(c, NOW - 1, "=") ||
           c->around[NOW].kind == TOKEN_NUMBER;
}

static void read_list(code_reader *c)
{
    if (code_is_in(c, NOW, "(["))
        start_list(c);
    else if (code_is_in(c, NOW, ")]"))
        end_list(c);
    else if (c->strings.listing && is_item_name(c))
        add_item_name(&c->strings, c->around[NOW].text);
    else if (!lists(c))
        c->strings.listing = false;
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* Whether the token can be inside a constant that consists of several strings. */
static bool joins(const code_reader *c)
{
    return code_is_in(c, NOW, "~+)") || (code_is(c, NOW, "(") && code_is_in(c, NOW - 1, "~+")) ||
           (code_is(c, NOW, "*") && c->around[NOW + 1].kind == TOKEN_NUMBER) ||
           (c->around[NOW].kind == TOKEN_NUMBER && code_is(c, NOW - 1, "*"));
}

void lint_strings(code_reader *c)
{
    string_reader *s = &c->strings;
    const token *now = &c->around[NOW];

    if (now->kind == TOKEN_STRING) {
        add_string(c);
        return;
    }
    if (s->open && now->kind == TOKEN_NUMBER && joins(c))
        repeat_last(c);
    /* The filter attr has got a constant. */
    if (s->open && s->joined.use == USE_FILTER && code_is_in(c, NOW, "),"))
        s->joined.use = USE_ATTRIBUTE;
    if (s->open && !joins(c))
        end_string(c);
    read_list(c);
}
