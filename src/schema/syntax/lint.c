/* The lint of chat templates: finds the code in the text, and reports.
 *
 * A template is text with code in it, {{ expressions }} and {% statements %}; only the code is
 * looked at, never the text around it, comments {# #}, or the text between raw and endraw:
 *
 *     You are an os. {{ message.content }} {# exec #} {% if x %} ... {% endif %}
 *                    ^^^^^^^^^^^^^^^^^^^^^            ^^^^^^^^^^     ^^^^^^^^^^^
 *
 * lint_token.c cuts the code into tokens, lint_code.c looks at names and strings,
 * lint_block.c at statements; the tables of names are in lint_names.c. */
#include "schema/syntax/lint_parts.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text ----------------------------------------------------------------------------------- */

/* Where `first` and then one of `seconds` are, at or behind `at`; the end of the text if nowhere. */
static size_t find_pair(gufo_str text, size_t at, char first, const char *seconds)
{
    while (at < text.len) {
        const char *next = memchr(text.data + at, first, text.len - at);

        if (next == NULL)
            return text.len;
        at = (size_t)(next - text.data);
        if (at + 1 < text.len && memchr(seconds, next[1], strlen(seconds)) != NULL)
            return at;
        at++;
    }
    return text.len;
}

static void skip_comment(lint *l, const token *start)
{
    size_t end = find_pair(l->text, l->pos, '#', "}");

    if (end == l->text.len) {
        lint_report(l, LINT_UNCLOSED, start->at, start->text, "\"{#\" is never closed");
        l->pos = end;
    } else {
        l->pos = end + 2;
    }
}

/* ---- raw ------------------------------------------------------------------------------------ */

/* Behind the sign that says what blanks around code become, if one is at `at`. */
static size_t sign_end(gufo_str text, size_t at)
{
    return at + (at < text.len && (text.data[at] == '-' || text.data[at] == '+'));
}

/* The end of {% NAME %} if that is what begins at `at`; 0 otherwise. */
static size_t tag_end(gufo_str text, size_t at, const char *name)
{
    at = lint_blanks_end(text, sign_end(text, at + strlen("{%")));
    if (!str_begins(str_from(text, at), name))
        return 0;
    at = sign_end(text, lint_blanks_end(text, at + strlen(name)));
    return str_begins(str_from(text, at), "%}") ? at + strlen("%}") : 0;
}

/* Skips {% raw %} ... {% endraw %}; false if that is not what starts here. */
static bool skip_raw(lint *l, const token *start)
{
    size_t end = tag_end(l->text, start->at.offset, "raw");

    if (end == 0)
        return false;
    for (size_t at = end; (at = find_pair(l->text, at, '{', "%")) < l->text.len; at += 2) {
        size_t after = tag_end(l->text, at, "endraw");

        if (after > 0) {
            l->pos = after;
            return true;
        }
    }
    lint_report(l, LINT_UNCLOSED, start->at, start->text, "\"raw\" is never closed");
    l->pos = l->text.len;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

void lint_template(gufo_str text, lint_found *found, void *context)
{
    lint l = {.text = text, .position = {0, 1, 1}, .found = found, .context = context};

    while (!l.stopped && (l.pos = find_pair(text, l.pos, '{', "{%#")) < text.len) {
        token start = {TOKEN_OPERATOR, lint_position_of(&l, l.pos), {text.data + l.pos, 2}};

        l.pos += 2;
        if (start.text.data[1] == '#')
            skip_comment(&l, &start);
        else if (start.text.data[1] != '%' || !skip_raw(&l, &start)) {
            l.pos = sign_end(text, l.pos);
            lint_code(&l, &start);
        }
    }
    lint_end_blocks(&l);
}
