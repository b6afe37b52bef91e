/* Names in Jinja code. */
#include "schema/syntax/lint_parts.h"

#include "base/error.h"

/* ---- what a name is ------------------------------------------------------------------------- */

static bool is_called(const code_reader *c)
{
    return code_is(c, NOW + 1, "(");
}

static bool has_member(const code_reader *c)
{
    return code_is_in(c, NOW + 1, ".[") ||
           (code_is(c, NOW + 1, "|") && code_is(c, NOW + 2, "attr"));
}

static bool is_separated(const code_reader *c)
{
    return code_is_in(c, NOW - 1, "(,");
}

/* In set, with, for and macro: whether the name is defined by the statement. */
static bool is_defined_here(const code_reader *c)
{
    switch (c->defines) {
    case DEFINES_SET:
        return (c->depth == 0 && code_is(c, NOW + 1, "=")) ||
               (!c->assigns && !has_member(c) && !is_called(c));
    case DEFINES_FOR:
        return !c->in;
    case DEFINES_MACRO:
        return c->around[NOW - 1].at.offset == c->statement.at.offset ||
               (c->depth == 1 && is_separated(c));
    case DEFINES_NOTHING:
        break;
    }
    return false;
}

static bool is_argument_name(const code_reader *c)
{
    return c->depth > 0 && is_separated(c) && code_is(c, NOW + 1, "=");
}

static bool is_test(const code_reader *c)
{
    return code_is(c, NOW - 1, "is") || (code_is(c, NOW - 1, "not") && code_is(c, NOW - 2, "is"));
}

/* ---- findings ------------------------------------------------------------------------------- */

/* As much of a name as fits a message even if all of it has to be escaped. */
enum { SHOWN = 36 };

static void report(code_reader *c, lint_kind kind, const char *what)
{
    const token *now = &c->around[NOW];
    gufo_str shown = {now->text.data, now->text.len < SHOWN ? now->text.len : SHOWN};

    lint_report(c->l, kind, now->at, now->text, "%s %s", QUOTED(shown), what);
}

static void report_risky(code_reader *c, const risky_names *group)
{
    static const char *const reasons[] = {
        [LINT_ACCESS] = "gives access to files, the network, processes or the program "
                        "that runs the template",
        [LINT_BUILTIN] = "is a built-in function, whose attributes lead to what runs the template",
        [LINT_INTERNAL] = "is an inner part of Python or Jinja, a way from the template "
                          "to what runs it",
    };

    report(c, group->kind, reasons[group->kind]);
}

static void look_at_attribute(code_reader *c)
{
    const token *now = &c->around[NOW];
    const risky_names *group = lint_find_attribute(now->text);

    if (group != NULL && (!(group->flags & NAME_CALLED) || is_called(c)))
        report_risky(c, group);
    else if (now->text.data[0] == '_' && code_is(c, NOW - 2, "self") && !code_is(c, NOW - 3, "."))
        report(c, LINT_INTERNAL, "is an inner part of the template itself");
}

/* Whether what comes after the next token is not a constant: those are looked at as strings. */
static bool is_computed(const code_reader *c)
{
    return c->around[NOW + 2].kind != TOKEN_STRING;
}

static void report_computed(code_reader *c)
{
    report(c, LINT_DYNAMIC, "takes an attribute whose name is computed");
}

static void look_at_filter(code_reader *c)
{
    if ((code_is(c, NOW, "attr") || code_is(c, NOW, "groupby")) && is_called(c) && is_computed(c))
        report_computed(c);
}

/* map(attribute=x), but not map(attribute=0), which is the number of an item. */
static bool is_computed_argument(const code_reader *c)
{
    return code_is(c, NOW, "attribute") && code_is(c, NOW + 1, "=") && c->depth > 0 &&
           c->defines != DEFINES_MACRO && is_computed(c) &&
           c->around[NOW + 2].kind != TOKEN_NUMBER &&
           (code_is(c, NOW - 1, ",") || (code_is(c, NOW - 1, "(") && code_is(c, NOW - 3, "|")));
}

/* map('attr', x) */
static void look_at_mapped(code_reader *c)
{
    gufo_str text = c->around[NOW].text;

    if (code_is(c, NOW - 1, "(") && code_is(c, NOW - 2, "map") && code_is(c, NOW + 1, ",") &&
        gufo_str_equal((gufo_str){text.data + 1, text.len - 2}, gufo_str_of("attr")) &&
        is_computed(c))
        report_computed(c);
}

static void look_at_variable(code_reader *c)
{
    uint64_t bit;
    const risky_names *group = lint_find_variable(c->around[NOW].text, &bit);

    if (group == NULL)
        return;
    if (is_defined_here(c))
        c->l->names_to_define |= bit;
    else if ((!(group->flags & NAME_OWN) || !(c->l->own_names & bit)) &&
             (!(group->flags & NAME_CALLED) || is_called(c)) &&
             (!(group->flags & NAME_MEMBER) || has_member(c)))
        report_risky(c, group);
}

static void look_at_name(code_reader *c)
{
    if (lint_is_dunder(c->around[NOW].text))
        report(c, LINT_DUNDER,
               "is one of Python's own names, a way from the template to what runs it");
    else if (code_is(c, NOW - 1, "."))
        look_at_attribute(c);
    else if (code_is(c, NOW - 1, "|"))
        look_at_filter(c);
    else if (is_computed_argument(c))
        report_computed(c);
    else if (!is_test(c) && (!is_argument_name(c) || c->defines == DEFINES_MACRO))
        look_at_variable(c);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void look_at_token(code_reader *c)
{
    const token *now = &c->around[NOW];

    if (now->kind == TOKEN_NAME)
        look_at_name(c);
    else if (now->kind == TOKEN_STRING)
        look_at_mapped(c);
    lint_strings(c);
    c->in |= code_is(c, NOW, "in");
    c->assigns |= c->depth == 0 && code_is(c, NOW, "=");
    if (code_is_in(c, NOW, "([{"))
        c->depth++;
    else if (c->depth > 0 && code_is_in(c, NOW, ")]}"))
        c->depth--;
}

/* Moves the window on by a token; behind the end there are only ends. */
static void step(code_reader *c)
{
    const int last = NOW + TOKENS_AFTER;
    token end = c->around[last];

    for (int i = 0; i < last; i++)
        c->around[i] = c->around[i + 1];
    c->around[last] = end.kind == TOKEN_END ? end : lint_next_token(c->l, c->start);
}

void lint_code(lint *l, const token *start)
{
    code_reader c = {.l = l, .start = start};

    l->names_to_define = 0;
    /* The text before it is the delimiter. */
    for (size_t i = 0; i < sizeof c.around / sizeof *c.around; i++)
        c.around[i] = *start;
    for (int i = 0; i <= TOKENS_AFTER; i++)
        step(&c);
    if (start->text.data[1] == '%') {
        c.statement = c.around[NOW];
        c.defines = lint_definition(c.statement.text);
        if (c.statement.kind != TOKEN_END)
            step(&c);
    }
    while (c.around[NOW].kind != TOKEN_END && !l->stopped) {
        look_at_token(&c);
        step(&c);
    }
    lint_strings(&c); /* the end */
    if (start->text.data[1] == '%')
        lint_statement(l, &c.statement, c.assigns);
    l->own_names |= l->names_to_define;
}
