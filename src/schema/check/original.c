/* A file with two tokenizers: tokenizer.huggingface.json beside tokenizer.ggml.*.  Programs read the one
 * or the other, so that an id must mean the same token in both.
 *
 * The JSON is read from front to back where it is: of a text with escapes alone there is a copy. */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/pull.h"
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
    pull p;
    buffer decoded; /* a text that has escapes */
    uint8_t *seen;  /* a bit for each of `tokens`: the JSON has this id */
    bool has_vocab;
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

/* ---- reading -------------------------------------------------------------------------------- */

static void count_fault(fault_count *fault, uint64_t id, gufo_str text)
{
    if (fault->count++ > 0)
        return;
    fault->first = id;
    (void)quote_name(fault->text, text);
}

static void compare(comparison *m, uint64_t id, gufo_str text)
{
    if (id >= m->tokens->count) {
        count_fault(&m->beyond, id, text);
        return;
    }
    m->seen[id / 8] |= (uint8_t)(1u << id % 8);
    if (!is_same(m, text, m->tokens->texts[id]))
        count_fault(&m->different, id, text);
}

/* A string, as pull_string takes it, of a file that must not be written to. */
static bool take_text(comparison *m, gufo_str *out)
{
    const char first = pull_peek(&m->p);
    gufo_str raw;
    pull inner;

    if (first != '"')
        return pull_string(&m->p, out); /* which says what is there instead */
    if (!pull_skip(&m->p, &raw))
        return false;
    *out = (gufo_str){raw.data + 1, raw.len - 2};
    if (memchr(raw.data, '\\', raw.len) == NULL)
        return true;
    m->decoded.len = 0;
    if (!buffer_append(&m->decoded, raw.data, raw.len))
        return pull_fail_memory(&m->p);
    inner = (pull){.text = (char *)m->decoded.data,
                   .len = m->decoded.len,
                   .base = m->p.base + (uint64_t)(raw.data - m->p.text),
                   .error = m->p.error};
    (void)pull_string(&inner, out);
    m->p.status = inner.status;
    return inner.status == GUFO_OK;
}

static bool take_name(comparison *m, gufo_str *out)
{
    return take_text(m, out) && pull_mark(&m->p, ':');
}

/* {"text": id, ...}, or a list of [text, score], where ids are positions. */
static bool take_vocab(comparison *m)
{
    pull *p = &m->p;
    const bool is_list = pull_peek(p) == '[';
    gufo_str text;
    uint64_t id = 0;

    m->has_vocab = true;
    if (!pull_mark(p, is_list ? '[' : '{'))
        return false;
    for (bool first = true; pull_next(p, is_list ? ']' : '}', &first); id += is_list) {
        if (is_list ? !pull_mark(p, '[') || !take_text(m, &text) || !pull_mark(p, ',') ||
                          !pull_skip(p, NULL) || !pull_mark(p, ']')
                    : !take_name(m, &text) || !pull_u64(p, &id))
            return false;
        compare(m, id, text);
    }
    return p->status == GUFO_OK;
}

static bool take_model(comparison *m)
{
    gufo_str name;

    if (pull_peek(&m->p) != '{')
        return pull_skip(&m->p, NULL);
    (void)pull_mark(&m->p, '{');
    for (bool first = true; pull_next(&m->p, '}', &first);)
        if (!take_name(m, &name) ||
            !(gufo_str_equal(name, gufo_str_of("vocab")) ? take_vocab(m) : pull_skip(&m->p, NULL)))
            return false;
    return m->p.status == GUFO_OK;
}

static bool take_added_token(comparison *m)
{
    gufo_str name, content = {NULL, 0};
    uint64_t id = UINT64_MAX;

    if (!pull_mark(&m->p, '{'))
        return false;
    for (bool first = true; pull_next(&m->p, '}', &first);)
        if (!take_name(m, &name) ||
            !(gufo_str_equal(name, gufo_str_of("id"))        ? pull_u64(&m->p, &id)
              : gufo_str_equal(name, gufo_str_of("content")) ? pull_skip(&m->p, &content)
                                                             : pull_skip(&m->p, NULL)))
            return false;
    if (id != UINT64_MAX && content.len > 0) {
        size_t end = m->p.at;

        m->p.at = (size_t)(content.data - m->p.text); /* its name may have had escapes, too */
        if (!take_text(m, &content))
            return false;
        m->p.at = end;
        compare(m, id, content);
    }
    return m->p.status == GUFO_OK;
}

static bool take_added(comparison *m)
{
    if (pull_peek(&m->p) != '[')
        return pull_skip(&m->p, NULL);
    (void)pull_mark(&m->p, '[');
    for (bool first = true; pull_next(&m->p, ']', &first);)
        if (!take_added_token(m))
            return false;
    return m->p.status == GUFO_OK;
}

static bool take_file(comparison *m)
{
    gufo_str name;

    if (!pull_mark(&m->p, '{'))
        return false;
    for (bool first = true; pull_next(&m->p, '}', &first);)
        if (!take_name(m, &name) ||
            !(gufo_str_equal(name, gufo_str_of("model"))          ? take_model(m)
              : gufo_str_equal(name, gufo_str_of("added_tokens")) ? take_added(m)
                                                                  : pull_skip(&m->p, NULL)))
            return false;
    return pull_end(&m->p);
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
                      "token %" PRIu64 " of " JSON_KEY ", %s, is beyond the %" PRIu64
                      " tokens of " LIST_KEY "%s",
                      m->beyond.first, m->beyond.text, m->tokens->count,
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
    finding.offset = error->offset;
    schema_report(c, RULE_TOKENIZERS_AGREE, finding,
                  JSON_KEY " cannot be compared with " LIST_KEY ": %s", error->message);
}

static void compare_file(check_context *c, const gufo_entry *entry, comparison *m,
                         const vocabulary *v)
{
    gufo_error error = {.code = GUFO_OK};

    m->p = (pull){.text = (char *)entry->value.as.str.data, /* take_text writes nothing */
                  .len = entry->value.as.str.len,
                  .base = entry->value_offset,
                  .error = &error};
    if (take_file(m)) {
        if (m->has_vocab)
            report(c, entry, m, v);
    } else if (m->p.status == GUFO_E_MEMORY) {
        c->status = fail_memory(c->error);
    } else {
        report_unread(c, entry, &error);
    }
}

void schema_check_original(check_context *c, const vocabulary *v, const token_list *tokens)
{
    comparison m = {.tokens = tokens,
                    .marks_words = v->model != NULL && strcmp(v->model->id, "bert") == 0,
                    .decoded = {.allocator = c->allocator}};
    gufo_entry entry;

    if (!gufo_metadata_find(c->model, JSON_KEY, &entry) || entry.value.type != GUFO_VALUE_STRING)
        return;
    m.seen = mem_array(c->allocator, tokens->count / 8 + 1, 1);
    if (m.seen != NULL)
        compare_file(c, &entry, &m, v);
    else
        c->status = fail_memory(c->error);
    mem_free(c->allocator, m.seen);
    buffer_free(&m.decoded);
}
