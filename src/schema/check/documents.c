/* Values that other documents define: the layout of tensor data, and embedded tokenizers. */
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#include "schema/check/check.h"
#include "schema/registry/tables.h"
#include "schema/syntax/json.h"
#include "schema/syntax/rwkv_world.h"

static bool find_text(const check_context *c, const char *key, gufo_entry *entry)
{
    return gufo_model_find(c->model, key, entry) && entry->value.type == GUFO_VALUE_STRING;
}

/* ---- layout --------------------------------------------------------------------------------- */

static gufo_str layout_name(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(gufo_data_layout_at(index)->name);
}

/* A known layout may be another architecture's. */
static void check_known_layout(check_context *c, const gufo_entry *entry,
                               const gufo_data_layout *layout)
{
    if (*layout->arch == '\0' || gufo_str_equal(c->architecture, gufo_str_of(layout->arch)))
        return;
    if (str_is_word(c->architecture, layout->others))
        schema_report(c, RULE_UNSPECIFIED, at_entry(entry),
                      "key %s is %s, which the specification describes for %s alone",
                      QUOTED(entry->key), QUOTED(entry->value.as.str), layout->arch);
    else
        schema_report(c, RULE_TENSOR_DATA_LAYOUT, at_entry(entry),
                      "key %s is %s, which is a layout of architecture %s", QUOTED(entry->key),
                      QUOTED(entry->value.as.str), layout->arch);
}

static void check_layout(check_context *c)
{
    gufo_entry entry;
    gufo_finding finding;
    const gufo_data_layout *layout;
    size_t nearest;

    if (c->architecture.len == 0 || !schema_arch_entry(c, &entry, "tensor_data_layout") ||
        entry.value.type != GUFO_VALUE_STRING)
        return;
    layout = schema_layout_find(entry.value.as.str);
    if (layout != NULL) {
        check_known_layout(c, &entry, layout);
        return;
    }
    finding = at_entry(&entry);
    if (gufo_text_nearest(entry.value.as.str, layout_name, NULL, schema_layout_count(), &nearest))
        finding.fix = fix_text(GUFO_FIX_SET, entry.key, layout_name(NULL, nearest));
    schema_report(c, RULE_TENSOR_DATA_LAYOUT, finding, "key %s is %s, which is not a known layout",
                  QUOTED(entry.key), QUOTED(entry.value.as.str));
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

/* The parts that every tokenizer.json has: {"model": {"vocab": ...}}. */
typedef struct tokenizer_parts {
    bool in_model; /* the last member of the outermost object is the model */
    bool model, vocabulary;
} tokenizer_parts;

static void note_part(void *context, unsigned depth, gufo_str name, char first)
{
    tokenizer_parts *parts = context;

    if (depth == 1) {
        parts->in_model = first == '{' && gufo_str_equal(name, gufo_str_of("model"));
        parts->model |= parts->in_model;
    } else if (depth == 2 && parts->in_model && gufo_str_equal(name, gufo_str_of("vocab"))) {
        parts->vocabulary |= first == '{' || first == '[';
    }
}

static void check_huggingface(check_context *c)
{
    static const char key[] = "tokenizer.huggingface.json";
    tokenizer_parts parts = {0};
    gufo_entry entry;
    json_fault fault;

    if (!find_text(c, key, &entry))
        return;
    fault = json_check(entry.value.as.str, note_part, &parts);
    if (fault.reason != NULL) {
        gufo_finding finding = at_entry(&entry);

        finding.offset = entry.value_offset + fault.at;
        schema_report(c, RULE_HUGGINGFACE_JSON, finding, "%s is not JSON: it %s", key,
                      fault.reason);
    } else if (!parts.vocabulary) {
        schema_report(c, RULE_HUGGINGFACE_JSON, at_entry(&entry),
                      "%s is not a tokenizer: it has no %s", key,
                      parts.model ? "vocabulary in its model" : "model");
    }
}

static void check_rwkv_world(check_context *c)
{
    static const char key[] = "tokenizer.rwkv.world";
    gufo_finding finding;
    gufo_entry entry;
    world_survey survey;

    if (!find_text(c, key, &entry))
        return;
    c->status = rwkv_world_survey(entry.value.as.str, c->allocator, &survey, c->error);
    if (c->status != GUFO_OK || survey.status == GUFO_OK)
        return;
    finding = at_entry(&entry);
    finding.offset = entry.value_offset + survey.at;
    schema_report(c, RULE_RWKV_WORLD, finding, "%s: line %" PRIu64 " %s", key, survey.lines,
                  survey.fault);
}

void schema_check_documents(check_context *c)
{
    check_layout(c);
    check_huggingface(c);
    check_rwkv_world(c);
}

/* Chat templates: what a judge finds in them, as findings of the file.
 *
 * The judge, which parses them, is the caller's: this room has no interpreter.  Without one, only
 * the size of a template is judged, and whether what is opened in it is closed.
 *
 * A finding has two places: line and column for the author of the template, and the byte in the
 * file.  A template that is one long trick gives as many findings as any other. */

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
        str_place(text, open, &finding.line, &finding.column);
        finding.offset = open;
        finding.message = "what is opened here is not closed";
        (void)report_lint(l, &finding);
    }
}

static void lint_text(void *context, gufo_str text, uint64_t at)
{
    lint *l = context;
    check_context *c = l->c;
    const gufo_parse_options options = {.allocator = c->allocator};

    l->at = at;
    if (c->options->judge == NULL)
        judge_size(l, text);
    else if (c->status == GUFO_OK)
        c->status = c->options->judge(text, &options, report_lint, l, c->error);
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

    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++)
        if (is_template_key(entry.key))
            schema_each_text(&entry, lint_text, &(lint){.c = c, .entry = &entry});
}
