/* What all parts of the lint share: places, findings, what is open, and the tokens around the
 * current one. */
#include "schema/syntax/lint_parts.h"

#include <stdarg.h>
#include <stdio.h>

position lint_position_of(lint *l, size_t offset)
{
    position *p = &l->position;

    for (; p->offset < offset; p->offset++) {
        char c = l->text.data[p->offset];

        if (c == '\n') {
            p->line++;
            p->column = 1;
        } else if (((unsigned char)c & 0xc0) != 0x80) { /* no continuation of a character */
            p->column++;
        }
    }
    return *p;
}

void lint_report(lint *l, lint_kind kind, position at, gufo_str text, const char *format, ...)
{
    char message[LINT_MESSAGE];
    lint_finding finding = {kind, at.offset, at.line, at.column, text, message};
    va_list args;

    if (l->stopped)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    l->stopped = !l->found(l->context, &finding);
}

void lint_open(lint *l, openings *stack, const opening *opened, const char *what)
{
    if (stack->depth < LINT_BLOCKS) {
        stack->kept[stack->depth] = *opened;
    } else if (!stack->reported) {
        stack->reported = true;
        lint_report(l, LINT_NESTING, opened->at, opened->text, "%s are nested more than %d deep",
                    what, LINT_BLOCKS);
    }
    stack->depth++;
}

bool code_is(const code_reader *c, int at, const char *text)
{
    const token *t = &c->around[at];

    return t->kind != TOKEN_STRING && t->kind != TOKEN_END && t->text.data[0] == text[0] &&
           gufo_str_equal(t->text, gufo_str_of(text));
}

bool code_is_in(const code_reader *c, int at, const char *operators)
{
    const token *t = &c->around[at];

    if (t->kind != TOKEN_OPERATOR || t->text.len != 1)
        return false;
    while (*operators != '\0' && *operators != t->text.data[0])
        operators++;
    return *operators != '\0';
}
