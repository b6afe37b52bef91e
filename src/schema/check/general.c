/* The values of general.*: the syntax of texts (licenses, languages, addresses ...), numbered
 * groups of keys, and what is said of the tensors: quantization version, file type, alignment. */
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "schema/check/check.h"
#include "schema/name/name.h"
#include "schema/syntax/syntax.h"

/* ---- syntax of texts ------------------------------------------------------------------------ */

/* Which syntax the value of a key has, by the end of the key; longer ends go first. */
static const struct syntax_of_key {
    const char *end;
    syntax_result (*check)(gufo_str text);
    rule_number rule;
    bool list; /* an array may have it in each element */
} syntaxes[] = {
    {"general.license", syntax_license, RULE_LICENSE, false},
    {".license.link", syntax_url, RULE_URL, false},
    {".repo_url", syntax_url, RULE_URL, false},
    {".url", syntax_url, RULE_URL, false},
    {".doi", syntax_doi, RULE_DOI, false},
    {".uuid", syntax_uuid, RULE_UUID, false},
    {"general.languages", syntax_language, RULE_LANGUAGE, true},
};

/* A text whose syntax is checked. */
typedef struct checked_text {
    check_context *c;
    const gufo_entry *entry;
    const struct syntax_of_key *syntax;
} checked_text;

enum { LONGEST_OFFER = 512 };

/* The fix is the text with the hint in place of the part.  A hint in words instead where the hint
 * is a choice, or the text one of several. */
static void offer_text(const checked_text *t, gufo_str text, const syntax_result *found,
                       gufo_finding *finding)
{
    bool whole = found->scope == HINT_FOR_TEXT;
    size_t before = whole ? 0 : found->at, end = whole ? text.len : found->at + found->part.len;
    const char *right;

    if (found->hint[0] == '\0')
        return;
    if (found->scope == HINT_IS_CHOICE || text.len > LONGEST_OFFER ||
        t->entry->value.type != GUFO_VALUE_STRING) {
        finding->hint = schema_text(t->c, "did you mean '%s'?", found->hint);
        return;
    }
    right = schema_text(t->c, "%.*s%s%.*s", (int)before, text.data, found->hint,
                        (int)(text.len - end), text.data + end);
    if (right[0] != '\0')
        finding->fix = fix_text(GUFO_FIX_SET, t->entry->key, gufo_str_of(right));
}

/* A deprecated license is one all the same. */
static rule_number rule_of(const checked_text *t, const syntax_result *found)
{
    return t->syntax->rule == RULE_LICENSE && found->verdict == SYNTAX_DEPRECATED
               ? RULE_LICENSE_DEPRECATED
               : t->syntax->rule;
}

/* Spec, general.license: an SPDX expression; model cards have names of their own.  Spec,
 * general.languages: codes of two letters; other readers of ISO 639 take those of three as well. */
static syntax_result check_text_syntax(const checked_text *t, gufo_str text)
{
    syntax_result found = t->syntax->check(text);

    if (t->syntax->rule == RULE_LICENSE && t->c->level != GUFO_LEVEL_SPEC &&
        syntax_is_hub_license(text))
        return (syntax_result){.verdict = SYNTAX_OK};
    if (found.verdict == SYNTAX_OK && t->syntax->rule == RULE_LANGUAGE && text.len > 2 &&
        t->c->level == GUFO_LEVEL_SPEC)
        found = (syntax_result){.verdict = SYNTAX_VARIANT,
                                .part = text,
                                .reason = "is a code of three letters, not of two"};
    return found;
}

static void check_syntax(void *context, gufo_str text, uint64_t at)
{
    const checked_text *t = context;
    syntax_result found = check_text_syntax(t, text);
    gufo_finding finding = at_entry(t->entry);

    if (found.verdict == SYNTAX_OK)
        return;
    finding.offset = at + found.at;
    offer_text(t, text, &found, &finding);
    schema_report(t->c, rule_of(t, &found), finding, "%s: %s %s", QUOTED(t->entry->key),
                  QUOTED(found.part.len > 0 ? found.part : text), found.reason);
}

static void check_empty(check_context *c, const gufo_entry *entry)
{
    if (entry->value.type == GUFO_VALUE_STRING && entry->value.as.str.len == 0 &&
        !gufo_str_equal(entry->key, gufo_str_of("general.architecture")))
        schema_report(c, RULE_TEXT_EMPTY,
                      with_fix(with_hint(at_entry(entry), "give it a text, or remove it"),
                               fix_remove(entry->key)),
                      "key %s is present, but empty", QUOTED(entry->key));
}

/* The first syntax that fits the key counts. */
static void check_syntaxes(check_context *c, const gufo_entry *entry)
{
    const gufo_value *value = &entry->value;

    for (size_t i = 0; i < sizeof syntaxes / sizeof *syntaxes; i++)
        if (str_ends(entry->key, syntaxes[i].end)) {
            checked_text text = {c, entry, &syntaxes[i]};

            if (value->type == GUFO_VALUE_STRING ? value->as.str.len > 0 : syntaxes[i].list)
                schema_each_text(entry, check_syntax, &text);
            return;
        }
}

static void check_texts(check_context *c)
{
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++)
        if (str_begins(entry.key, "general.")) {
            check_empty(c, &entry);
            check_syntaxes(c, &entry);
        }
}

/* "8x7B", "30B-A3B": a size, and what may follow one. */
static bool is_size_label(gufo_str label)
{
    size_t len = name_component(label, 0);

    if (!name_is_size(name_slice(label, 0, len)))
        return false;
    for (size_t at = len; at < label.len; at += 1 + len) {
        len = name_component(label, at + 1);
        if (!name_is_attribute(name_slice(label, at + 1, at + 1 + len)))
            return false;
    }
    return true;
}

static void check_size_label(check_context *c)
{
    gufo_entry entry;
    gufo_str label;

    if (gufo_model_find(c->model, "general.size_label", &entry) &&
        gufo_value_str(&entry.value, &label, NULL) == GUFO_OK && label.len > 0 &&
        !is_size_label(label))
        schema_report(c, RULE_SIZE_LABEL,
                      with_hint(at_entry(&entry), "a size is a number and a letter, as in '7B', "
                                                  "'8x7B' or '30B-A3B'"),
                      "general.size_label %s is not a size", QUOTED(label));
}

/* ---- numbered groups ------------------------------------------------------------------------ */

typedef struct numbered_group {
    const char *count;  /* "general.base_model.count" */
    const char *prefix; /* of the numbered keys: "general.base_model." */
} numbered_group;

/* The number in "PREFIX12.name"; false for any other key. */
static bool number_of(gufo_str key, const char *prefix, uint64_t *number)
{
    enum { MOST_DIGITS = 18 };
    size_t at = strlen(prefix), digits;

    if (!str_begins(key, prefix))
        return false;
    digits = str_digits(key, at);
    return digits <= MOST_DIGITS && at + digits < key.len && key.data[at + digits] == '.' &&
           str_number((gufo_str){key.data + at, digits}, number);
}

static void report_beyond(check_context *c, const numbered_group *group, const gufo_entry *entry,
                          bool counted, uint64_t count)
{
    if (counted)
        schema_report(c, RULE_GROUP_COUNT, at_entry(entry), "key %s is present, but %s is %" PRIu64,
                      QUOTED(entry->key), group->count, count);
    else
        schema_report(c, RULE_GROUP_COUNT, at_missing(group->count),
                      "key %s is present, but %s is missing", QUOTED(entry->key), group->count);
}

/* `seen` has a byte for each number below `count`. */
static void check_numbers(check_context *c, const numbered_group *group, const gufo_entry *counter,
                          uint64_t count, uint8_t *seen)
{
    uint64_t number;
    gufo_entry entry;

    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++) {
        if (!number_of(entry.key, group->prefix, &number))
            continue;
        if (number < count) {
            seen[number] = 1;
            continue;
        }
        report_beyond(c, group, &entry, counter != NULL, count);
        if (counter == NULL)
            return;
    }
    for (number = 0; number < count; number++)
        if (seen[number] == 0) {
            schema_report(c, RULE_GROUP_COUNT, at_entry(counter),
                          "%s is %" PRIu64 ", but no key begins with %s%" PRIu64, group->count,
                          count, group->prefix, number);
            return;
        }
}

static void check_group(check_context *c, const numbered_group *group)
{
    gufo_entry counter;
    bool counted = gufo_model_find(c->model, group->count, &counter);
    uint64_t count = 0, entries = gufo_model_entry_count(c->model);
    uint8_t *seen;

    if (counted && gufo_value_u64(&counter.value, &count, NULL) != GUFO_OK)
        return; /* another check reports its type */
    if (count > entries) {
        schema_report(c, RULE_GROUP_COUNT, at_entry(&counter),
                      "%s is %" PRIu64 ", but the file has only %s keys", group->count, count,
                      GROUPED(entries));
        return;
    }
    seen = mem_zero(c->allocator, (size_t)count + 1);
    if (seen == NULL) {
        c->status = fail_memory(c->error);
        return;
    }
    check_numbers(c, group, counted ? &counter : NULL, count, seen);
    mem_free(c->allocator, seen);
}

static void check_groups(check_context *c)
{
    static const numbered_group groups[] = {
        {"general.base_model.count", "general.base_model."},
        {"general.dataset.count", "general.dataset."},
    };

    for (size_t i = 0; c->status == GUFO_OK && i < sizeof groups / sizeof *groups; i++)
        check_group(c, &groups[i]);
}

/* ---- alignment ------------------------------------------------------------------------------ */

/* Opening has checked that the layout agrees with it. */
static void check_alignment(check_context *c)
{
    enum { LARGEST_PAGE = 65536 };
    gufo_entry entry;
    uint64_t alignment;

    if (schema_check_number(c, "general.alignment", &entry, &alignment) && alignment > LARGEST_PAGE)
        schema_report(c, RULE_ALIGNMENT_LARGE, with_fix(at_entry(&entry), fix_remove(entry.key)),
                      "general.alignment is %" PRIu64
                      ", more than a page of any machine: each tensor wastes half of it on padding",
                      alignment);
}

/* ---- assumed values ------------------------------------------------------------------------- */

static void check_assumed(check_context *c)
{
    gufo_array_iter iter;
    gufo_value key;
    gufo_entry list, entry;

    if (!gufo_model_find(c->model, "gufo.assumed", &list) || list.value.type != GUFO_VALUE_ARRAY ||
        list.value.as.array.type != GUFO_VALUE_STRING)
        return;
    iter = gufo_array_start(&list.value.as.array);
    while (gufo_array_next(&iter, &key))
        if (gufo_model_find_str(c->model, key.as.str, &entry))
            schema_report(c, RULE_ASSUMED, at_entry(&entry),
                          "key %s is assumed: the file that this one comes from does not say it",
                          QUOTED(key.as.str));
}

void schema_check_general(check_context *c)
{
    check_texts(c);
    check_size_label(c);
    check_groups(c);
    if (c->status == GUFO_OK) {
        check_alignment(c);
        check_assumed(c);
        schema_check_weights(c);
    }
}

/* The file's name and its metadata: what a name says should be so.
 *
 * A name that does not conform, or leaves something out, says nothing; that is a finding only where the
 * specification is taken to the letter. */

static gufo_finding place_of(gufo_str part)
{
    return (gufo_finding){.offset = GUFO_NO_OFFSET, .subject = part};
}

/* Whether the text is `word`, or begins with it and a hyphen, in any case of letters. */
static bool is_or_extends(gufo_str text, gufo_str word)
{
    return text.len >= word.len && str_same_folded((gufo_str){text.data, word.len}, word) &&
           (text.len == word.len || text.data[word.len] == '-');
}

static void check_size(check_context *c, const gufo_name *name)
{
    gufo_str label;

    if (name->size_label.data == NULL || c->kind == KIND_PROJECTOR ||
        gufo_model_get_str(c->model, "general.size_label", &label, NULL) != GUFO_OK ||
        label.len == 0 || is_or_extends(name->size_label, label) ||
        is_or_extends(label, name->size_label))
        return;
    schema_report(c, RULE_NAME_SIZE, place_of(name->size_label),
                  "the file name has size %s, but general.size_label is %s",
                  QUOTED(name->size_label), QUOTED(label));
}

static void check_encoding(check_context *c, const gufo_name *name)
{
    const gufo_file_type *said, *own;
    uint64_t id;

    if (name->encoding.data == NULL || c->kind == KIND_VOCABULARY ||
        gufo_model_get_u64(c->model, "general.file_type", &id, NULL) != GUFO_OK)
        return;
    said = name_file_type(name->encoding);
    own = gufo_file_type_by_id(id);
    if (said != NULL && own != NULL && said != own)
        schema_report(c, RULE_NAME_ENCODING, place_of(name->encoding),
                      "the file name has encoding %s, but general.file_type is %" PRIu32 " (%s)",
                      QUOTED(name->encoding), own->id, own->name);
}

static void check_shard(check_context *c, gufo_str base)
{
    uint64_t split_no, split_count;
    uint32_t number = 1, count = 1;
    size_t prefix_len;
    bool named = gufo_shard_path_parse(c->options->path, &prefix_len, &number, &count);

    bool said = gufo_model_get_u64(c->model, "split.no", &split_no, NULL) == GUFO_OK &&
                gufo_model_get_u64(c->model, "split.count", &split_count, NULL) == GUFO_OK;

    if (said && split_no >= split_count)
        return; /* reported with the rules of the format */
    if (!said && named && count > 1)
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file name is that of shard %" PRIu32 " of %" PRIu32
                      ", but the file has no split keys",
                      number, count);
    else if (said && !named && split_count > 1)
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file is shard %" PRIu64 " of %" PRIu64
                      " by its split keys, but its name does not say so",
                      split_no + 1, split_count);
    else if (said && named && (split_no != number - 1 || split_count != count))
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file name is that of shard %" PRIu32 " of %" PRIu32
                      ", but by its split keys the file is shard %" PRIu64 " of %" PRIu64,
                      number, count, split_no + 1, split_count);
}

static void check_type(check_context *c, const gufo_name *name)
{
    const struct {
        gufo_str part;
        const char *word;
        subject_kind kind;
        const char *what;
    } types[] = {
        {name->type, "LoRA", KIND_ADAPTER, "an adapter"},
        {name->type, "vocab", KIND_VOCABULARY, "a vocabulary: it has tensors"},
        {name->sidecar, "mmproj", KIND_PROJECTOR, "a projector"},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].part.data != NULL && c->kind != types[i].kind &&
            gufo_str_equal(types[i].part, gufo_str_of(types[i].word)))
            schema_report(c, RULE_NAME_TYPE, place_of(types[i].part),
                          "the file name says %s, but the file is not %s", QUOTED(types[i].part),
                          types[i].what);
}

void schema_check_name(check_context *c)
{
    gufo_name name = {0};
    gufo_error reason = {.code = GUFO_OK};
    const char *slash;
    gufo_str base;

    if (c->options->path == NULL)
        return;
    slash = strrchr(c->options->path, '/');
    base = gufo_str_of(slash != NULL ? slash + 1 : c->options->path);
    /* Leaves out what it does not understand. */
    if (gufo_name_explain(base, &name, &reason) != GUFO_OK)
        schema_report(c, RULE_NAME_CONVENTION, place_of(base),
                      "the file name %s does not conform: %s", QUOTED(base), reason.message);
    check_size(c, &name);
    check_encoding(c, &name);
    check_shard(c, base);
    check_type(c, &name);
}
