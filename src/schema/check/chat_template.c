/* Chat templates: what template_lint.h finds in them, as findings of the file.
 *
 * A finding has two places: line and column for the author of the template, and the byte in the
 * file.  A template that is one long trick gives as many findings as any other. */
#include "schema/check/checks.h"

#include <string.h>

#include "base/text.h"
#include "schema/syntax/lint.h"

typedef struct lint {
    check_context *c;
    const gufo_entry *entry;
    uint64_t at; /* of the template in the file */
} lint;

static bool report_lint(void *context, const lint_finding *found)
{
    lint *l = context;
    gufo_finding finding = at_entry(l->entry);
    bool dangerous = lint_is_dangerous(found->kind);

    finding.offset = l->at + found->offset;
    if (dangerous) {
        finding.hint = "render it in a sandbox only, or replace it";
        if (l->entry->value.type == GUFO_VALUE_STRING)
            finding.fix = fix_typed(GUFO_FIX_SUPPLY, l->entry->key, GUFO_VALUE_STRING);
    }
    schema_report(l->c, dangerous ? RULE_TEMPLATE_DANGER : RULE_TEMPLATE_SYNTAX, finding,
                  "%s, line %zu, column %zu: %s", QUOTED(l->entry->key), found->line, found->column,
                  found->message);
    return true;
}

static void lint_text(void *context, gufo_str text, uint64_t at)
{
    lint *l = context;

    l->at = at;
    lint_template(text, report_lint, l);
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
