/* Chat templates: what template_lint.h finds in them, as findings of the file.
 *
 * A finding has two places: line and column for the author of the template, and the byte in the
 * file.  A template that is one long trick gives as many findings as any other. */
#include "schema/check.h"

#include <string.h>

#include "base/error.h"
#include "schema/template_lint.h"

enum { MOST_FINDINGS = 20 }; /* of one template */

typedef struct lint {
    checker *c;
    const gufo_entry *entry;
    uint64_t at; /* of the template in the file */
    unsigned left;
} lint;

static bool report_lint(void *context, const template_finding *finding)
{
    lint *l = context;
    char quoted[GUFO_QUOTE_SIZE];
    finding_place place = schema_place_entry(l->entry);
    bool dangerous = template_is_dangerous(finding->kind);

    place.offset = l->at + finding->offset;
    if (dangerous)
        place.hint = "render it in a sandbox only, or replace it with 'gufo edit FILE "
                     "--set-file=KEY=PATH'";
    schema_report(l->c, dangerous ? SCHEMA_TEMPLATE_DANGER : SCHEMA_TEMPLATE_SYNTAX, place,
                  "%s, line %zu, column %zu: %s", quote_name(quoted, l->entry->key), finding->line,
                  finding->column, finding->message);
    return --l->left > 0;
}

static void lint_text(checker *c, const gufo_entry *entry, gufo_str text, uint64_t at)
{
    lint l = {.c = c, .entry = entry, .at = at, .left = MOST_FINDINGS};

    template_check(text, report_lint, &l);
}

static void lint_entry(checker *c, const gufo_entry *entry)
{
    const gufo_array *array = &entry->value.as.array;
    gufo_array_iter iter;
    gufo_value element;

    if (entry->value.type == GUFO_VALUE_STRING)
        lint_text(c, entry, entry->value.as.str, entry->value_offset);
    if (entry->value.type != GUFO_VALUE_ARRAY || array->type != GUFO_VALUE_STRING)
        return;
    iter = gufo_array_start(array);
    while (gufo_array_next(&iter, &element))
        lint_text(c, entry, element.as.str,
                  entry->value_offset +
                      (uint64_t)(element.as.str.data - (const char *)array->data));
}

/* "tokenizer.chat_template", alone or with a name behind it. */
static bool is_template_key(gufo_str key)
{
    static const char base[] = "tokenizer.chat_template";
    size_t len = sizeof base - 1;

    return key.len >= len && memcmp(key.data, base, len) == 0 &&
           (key.len == len || key.data[len] == '.');
}

void schema_check_templates(checker *c)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_metadata_at(c->model, i, &entry); i++)
        if (is_template_key(entry.key))
            lint_entry(c, &entry);
}
