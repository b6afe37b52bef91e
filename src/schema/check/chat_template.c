/* Chat templates: what a judge finds in them, as findings of the file.
 *
 * The judge, which parses them, is the caller's: this room has no interpreter.  Without one, only
 * the size of a template is judged, and whether what is opened in it is closed.
 *
 * A finding has two places: line and column for the author of the template, and the byte in the
 * file.  A template that is one long trick gives as many findings as any other. */
#include "schema/check/check.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { LARGEST_TEMPLATE = 16 << 20 };

typedef struct lint {
    check_context *c;
    const gufo_entry *entry;
    uint64_t at; /* of the template in the file */
} lint;

static bool report_lint(void *context, const gufo_template_finding *found)
{
    lint *l = context;
    gufo_finding finding = at_entry(l->entry);

    finding.offset = l->at + found->offset;
    if (found->dangerous) {
        finding.hint = "render it in a sandbox only, or replace it";
        if (l->entry->value.type == GUFO_VALUE_STRING)
            finding.fix = fix_typed(GUFO_FIX_SUPPLY, l->entry->key, GUFO_VALUE_STRING);
    }
    schema_report(l->c, found->dangerous ? RULE_TEMPLATE_DANGER : RULE_TEMPLATE_SYNTAX, finding,
                  "%s, line %" PRIu64 ", column %" PRIu64 ": %s", QUOTED(l->entry->key),
                  found->line, found->column, found->message);
    return true;
}

/* The end of what a tag opens: behind `close`, which does not count inside of quotes; 0: nowhere. */
static size_t tag_end(gufo_str text, size_t at, const char close[3])
{
    char quote = 0;

    for (; at + 1 < text.len; at++) {
        char c = text.data[at];

        if (quote != 0 && c == '\\')
            at++;
        else if (quote != 0)
            quote = c == quote ? 0 : quote;
        else if ((c == '\'' || c == '"') && *close != '#')
            quote = c;
        else if (c == close[0] && text.data[at + 1] == close[1])
            return at + 2;
    }
    return 0;
}

/* The first tag that is not closed; false if all are. */
static bool find_open(gufo_str text, size_t *open)
{
    for (size_t at = 0; at + 1 < text.len; at++) {
        static const char marks[] = "{%#", ends[3][3] = {"}}", "%}", "#}"};
        const char *mark = text.data[at] == '{' ? memchr(marks, text.data[at + 1], 3) : NULL;
        size_t end;

        if (mark == NULL)
            continue;
        end = tag_end(text, at + 2, ends[mark - marks]);
        if (end == 0) {
            *open = at;
            return true;
        }
        at = end - 1;
    }
    return false;
}

static void judge_size(lint *l, gufo_str text)
{
    gufo_template_finding finding = {
        .line = 1, .column = 1, .message = "the template is larger than 16 MiB"};
    size_t open = 0;

    if (text.len > LARGEST_TEMPLATE) {
        (void)report_lint(l, &finding);
    } else if (find_open(text, &open)) {
        for (size_t i = 0; i < open; i++) {
            bool ends = text.data[i] == '\n';

            finding.line += ends;
            finding.column = ends ? 1 : finding.column + (((uint8_t)text.data[i] & 0xC0) != 0x80);
        }
        finding.offset = open;
        finding.message = "what is opened here is not closed";
        (void)report_lint(l, &finding);
    }
}

static void lint_text(void *context, gufo_str text, uint64_t at)
{
    lint *l = context;
    check_context *c = l->c;

    l->at = at;
    if (c->options->judge == NULL)
        judge_size(l, text);
    else if (c->status == GUFO_OK)
        c->status = c->options->judge(text, c->allocator, report_lint, l, c->error);
}

/* "tokenizer.chat_template", alone or with a name behind it. */
static bool is_template_key(gufo_str key)
{
    static const char base[] = "tokenizer.chat_template";

    return str_begins(key, base) && (key.len == strlen(base) || key.data[strlen(base)] == '.');
}

void schema_check_templates(check_context *c)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_metadata_at(c->model, i, &entry); i++)
        if (is_template_key(entry.key))
            schema_each_text(&entry, lint_text, &(lint){.c = c, .entry = &entry});
}
