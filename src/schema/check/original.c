/* A file with two tokenizers: tokenizer.huggingface.json beside tokenizer.ggml.*.  Programs read the one
 * or the other, so that an id must mean the same token in both.  The options of the check have the reader of the JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "schema/check/vocabulary.h"
#include "schema/syntax/json.h"

#define JSON_KEY "tokenizer.huggingface.json"
#define LIST_KEY "tokenizer.ggml.tokens"
#define SPACE_MARK "\xe2\x96\x81" /* U+2581 */

/* Tokens with the same fault. */
typedef struct fault_count {
    uint64_t count, first;
    char text[GUFO_QUOTE_SIZE]; /* of the first, in the JSON */
} fault_count;

typedef struct comparison {
    const token_list *tokens;
    bool marks_words; /* WordPiece */
    uint8_t *seen;    /* a bit for each of `tokens`: the JSON has this id */
    fault_count beyond, different;
} comparison;

/* ---- texts ---------------------------------------------------------------------------------- */

/* U+2581 is a space in user-defined tokens of a GGUF file. */
static bool equal_but_spaces(gufo_str original, gufo_str text)
{
    for (size_t at = 0; at < original.len || text.len > 0;) {
        bool is_mark =
            str_begins(str_from(original, at), SPACE_MARK) && !str_begins(text, SPACE_MARK);
        char expected = is_mark ? ' ' : at < original.len ? original.data[at] : '\0';

        if (at == original.len || text.len == 0 || text.data[0] != expected)
            return false;
        at += is_mark ? strlen(SPACE_MARK) : 1;
        text = str_from(text, 1);
    }
    return true;
}

/* GGUF marks the beginnings of words, WordPiece what continues them. */
static bool equal_but_marks(gufo_str original, gufo_str text)
{
    if (str_begins(original, "##"))
        return gufo_str_equal(str_from(original, 2), text);
    return str_begins(text, SPACE_MARK) &&
           gufo_str_equal(original, str_from(text, strlen(SPACE_MARK)));
}

static bool is_same(const comparison *m, gufo_str original, gufo_str text)
{
    return gufo_str_equal(original, text) || equal_but_spaces(original, text) ||
           (m->marks_words && equal_but_marks(original, text));
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void count_fault(fault_count *fault, uint64_t id, gufo_str text)
{
    if (fault->count++ > 0)
        return;
    fault->first = id;
    (void)quote_name(fault->text, text);
}

static bool compare_token(void *context, uint64_t id, gufo_str text)
{
    comparison *m = context;

    if (id >= m->tokens->count) {
        count_fault(&m->beyond, id, text);
        return true;
    }
    m->seen[id / 8] |= (uint8_t)(1u << id % 8);
    if (!is_same(m, text, m->tokens->texts[id]))
        count_fault(&m->different, id, text);
    return true;
}

/* ---- findings ------------------------------------------------------------------------------- */

/* "[PAD7]", or of the type of unused tokens: the original does not have it. */
static bool is_padding(const vocabulary *v, gufo_str text, uint64_t id)
{
    enum { TYPE_UNUSED = 5 };
    const gufo_array *types = &v->lists[LIST_TOKEN_TYPE].value.as.array;
    gufo_value element;
    int64_t type;

    if (str_begins(text, "[PAD") && str_ends(text, "]") && text.len > 5 &&
        str_digits(text, 4) == text.len - 5)
        return true;
    return v->usable[LIST_TOKEN_TYPE] && gufo_array_at(types, id, &element, NULL) == GUFO_OK &&
           gufo_value_i64(&element, &type, NULL) == GUFO_OK && type == TYPE_UNUSED;
}

static void report_missing(check_context *c, const gufo_entry *entry, const comparison *m,
                           const vocabulary *v)
{
    uint64_t missing = 0, first = 0;

    for (uint64_t id = 0; id < m->tokens->count; id++)
        if ((m->seen[id / 8] >> id % 8 & 1) == 0 && !is_padding(v, m->tokens->texts[id], id) &&
            missing++ == 0)
            first = id;
    if (missing > 0)
        schema_report(c, RULE_TOKENIZERS_AGREE, at_entry(entry),
                      "token %" PRIu64 " of " LIST_KEY ", %s, is not in " JSON_KEY "%s", first,
                      QUOTED(m->tokens->texts[first]), schema_and_more(c, missing));
}

static void report(check_context *c, const gufo_entry *entry, const comparison *m,
                   const vocabulary *v)
{
    if (m->beyond.count > 0)
        schema_report(c, RULE_TOKENIZERS_AGREE, at_entry(entry),
                      "token %" PRIu64 " of " JSON_KEY ", %s, is beyond the %s tokens of " LIST_KEY
                      "%s",
                      m->beyond.first, m->beyond.text, GROUPED(m->tokens->count),
                      schema_and_more(c, m->beyond.count));
    if (m->different.count > 0)
        schema_report(c, RULE_TOKENIZERS_AGREE, at_entry(entry),
                      "token %" PRIu64 " is %s in " JSON_KEY ", but %s in " LIST_KEY "%s",
                      m->different.first, m->different.text,
                      QUOTED(m->tokens->texts[m->different.first]),
                      schema_and_more(c, m->different.count));
    report_missing(c, entry, m, v);
}

/* What is not JSON at all, another check reports. */
static void report_unread(check_context *c, const gufo_entry *entry, const gufo_error *error)
{
    gufo_finding finding = at_entry(entry);

    if (json_check(entry->value.as.str, NULL, NULL).reason != NULL)
        return;
    finding.offset = entry->value_offset + error->offset;
    schema_report(c, RULE_TOKENIZERS_AGREE, finding,
                  JSON_KEY " cannot be compared with " LIST_KEY ": %s", error->message);
}

static void compare_file(check_context *c, const gufo_entry *entry, comparison *m,
                         const vocabulary *v)
{
    gufo_error error = {.code = GUFO_OK};
    const gufo_parse_options options = {.allocator = c->allocator};
    gufo_status status =
        c->options->tokenizer_json(entry->value.as.str, &options, compare_token, m, &error);

    if (status == GUFO_OK)
        report(c, entry, m, v);
    else if (status == GUFO_E_MEMORY)
        c->status = fail_memory(c->error);
    else if (status != GUFO_E_NOT_FOUND)
        report_unread(c, entry, &error);
}

void schema_check_original(check_context *c, const vocabulary *v, const token_list *tokens)
{
    comparison m = {.tokens = tokens,
                    .marks_words = v->model != NULL && strcmp(v->model->id, "bert") == 0};
    gufo_entry entry;

    if (c->options->tokenizer_json == NULL || !gufo_model_find(c->model, JSON_KEY, &entry) ||
        entry.value.type != GUFO_VALUE_STRING)
        return;
    m.seen = mem_array(c->allocator, tokens->count / 8 + 1, 1);
    if (m.seen != NULL)
        compare_file(c, &entry, &m, v);
    else
        c->status = fail_memory(c->error);
    mem_free(c->allocator, m.seen);
}
