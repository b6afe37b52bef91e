/* The tokenizer: its model, the lists that the model needs, token ids, pre-tokenizer.  What is in
 * the lists is looked at in vocabulary.c.
 *
 * A file without a tokenizer is fine (a projector, a vision model); one with half of it is not. */
#include "base/bytes.h"

#include <inttypes.h>

#include "base/text.h"
#include "schema/check/check.h"
#include "schema/check/vocabulary.h"
#include "schema/registry/key.h"
#include "schema/registry/tables.h"

/* What is known of the lists; the order is that of vocabulary_list. */
static const struct {
    const char *name; /* as in gufo_tokenizer_info.arrays */
    const char *key;
    rule_number rule; /* broken if a model that uses the list lacks it */
    bool per_token;   /* one element for each token */
} lists[LIST_COUNT] = {
    [LIST_TOKENS] = {"tokens", "tokenizer.ggml.tokens", RULE_VOCABULARY_LIST_MISSING, false},
    [LIST_SCORES] = {"scores", "tokenizer.ggml.scores", RULE_VOCABULARY_LIST_EXPECTED, true},
    [LIST_TOKEN_TYPE] = {"token_type", "tokenizer.ggml.token_type", RULE_VOCABULARY_LIST_EXPECTED,
                         true},
    [LIST_MERGES] = {"merges", "tokenizer.ggml.merges", RULE_MERGES_MISSING, false},
    [LIST_ADDED_TOKENS] = {"added_tokens", "tokenizer.ggml.added_tokens", RULE_TOKENS_ADDED, false},
};

/* Whether a list has elements of a kind that can be read; another check reports other kinds. */
static bool is_usable(const gufo_value *value, vocabulary_list list)
{
    if (value->type != GUFO_VALUE_ARRAY)
        return false;
    if (list == LIST_TOKENS || list == LIST_MERGES || list == LIST_ADDED_TOKENS)
        return value->as.array.type == GUFO_VALUE_STRING;
    return list != LIST_TOKEN_TYPE || key_is_integer(value->as.array.type);
}

static vocabulary read_lists(const check_context *c)
{
    vocabulary v = {.count = 0};

    for (size_t i = 0; i < LIST_COUNT; i++) {
        v.there[i] = gufo_model_key_entry(c->model, lists[i].key, &v.lists[i]);
        v.usable[i] = v.there[i] && is_usable(&v.lists[i].value, (vocabulary_list)i);
    }
    if (v.usable[LIST_TOKENS])
        v.count = v.lists[LIST_TOKENS].value.as.array.count;
    return v;
}

/* ---- model ---------------------------------------------------------------------------------- */

static gufo_str model_at(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(gufo_tokenizer_info_at(index)->id);
}

static gufo_str pretokenizer_at(const void *table, size_t index)
{
    (void)table;
    return gufo_str_of(gufo_pretokenizer_at(index)->id);
}

/* Tells that the text of a key is not in a table of `count` rows. */
static void report_unknown(check_context *c, rule_number rule, const gufo_entry *entry,
                           gufo_text_row_fn *name_at, size_t count)
{
    gufo_finding finding = at_entry(entry);
    size_t nearest;

    if (gufo_text_nearest(entry->value.as.str, name_at, NULL, count, &nearest))
        finding.fix = fix_text(GUFO_FIX_SET, entry->key, name_at(NULL, nearest));
    schema_report(c, rule, finding, "%.*s %s is not known", (int)entry->key.len, entry->key.data,
                  QUOTED(entry->value.as.str));
}

static void check_model(check_context *c, vocabulary *v)
{
    static const char key[] = "tokenizer.ggml.model";
    gufo_entry entry;

    if (!gufo_model_find(c->model, key, &entry)) {
        if (v->there[LIST_TOKENS])
            schema_report(c, RULE_TOKENIZER_MODEL, at_missing(key),
                          "%s is missing, although there are tokens", key);
        return;
    }
    if (entry.value.type != GUFO_VALUE_STRING)
        return;
    v->model = gufo_tokenizer_info_find_str(entry.value.as.str);
    if (v->model == NULL)
        report_unknown(c, RULE_TOKENIZER_MODEL, &entry, model_at, schema_tokenizer_model_count());
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void check_needed(check_context *c, const vocabulary *v)
{
    for (size_t i = 0; v->model != NULL && i < LIST_COUNT; i++)
        if (!v->there[i] && str_is_word(gufo_str_of(lists[i].name), v->model->arrays))
            schema_report(c, lists[i].rule, at_missing(lists[i].key),
                          "%s is missing, which tokenizer model \"%s\" uses", lists[i].key,
                          v->model->id);
}

static void check_length(check_context *c, const vocabulary *v, size_t list)
{
    const gufo_entry *entry = &v->lists[list];
    uint64_t count = entry->value.as.array.count;
    gufo_finding finding = at_entry(entry);

    if (count == v->count)
        return;
    if (count > v->count)
        finding = with_certain_fix(
            finding, fix_number(GUFO_FIX_SHORTEN, entry->key, GUFO_VALUE_UINT64, v->count));
    schema_report(c, RULE_VOCABULARY_LENGTHS, finding,
                  "%s has %s elements, but there are %s tokens", lists[list].key, GROUPED(count),
                  GROUPED(v->count));
}

static void check_lengths(check_context *c, const vocabulary *v)
{
    for (size_t i = 0; v->usable[LIST_TOKENS] && i < LIST_COUNT; i++)
        if (lists[i].per_token && v->there[i] && v->lists[i].value.type == GUFO_VALUE_ARRAY)
            check_length(c, v, i);
}

/* ---- token ids ------------------------------------------------------------------------------ */

/* How some writers say that there is no such token: -1 in 32 bits. */
#define NO_TOKEN_ID UINT32_MAX

static void report_number(check_context *c, rule_number rule, const gufo_entry *entry,
                          uint64_t number, uint64_t tokens)
{
    schema_report(c, rule, at_entry(entry), "%s is %" PRIu64 ", but there are %s tokens",
                  QUOTED(entry->key), number, GROUPED(tokens));
}

static void check_id_list(check_context *c, const gufo_entry *entry, uint64_t tokens)
{
    gufo_array_iter iter = gufo_array_start(&entry->value.as.array);
    uint64_t wrong = 0, first = 0, id;
    gufo_value element;

    while (gufo_array_next(&iter, &element))
        if (gufo_value_u64(&element, &id, NULL) == GUFO_OK && id >= tokens && wrong++ == 0)
            first = id;
    if (wrong > 0)
        schema_report(c, RULE_TOKEN_ID, at_entry(entry),
                      "%s has %" PRIu64 "%s, but there are %s tokens", QUOTED(entry->key), first,
                      schema_and_more(c, wrong), GROUPED(tokens));
}

/* Another check reports ids that are not numbers. */
static void check_ids_of(check_context *c, const gufo_entry *entry, uint64_t tokens)
{
    uint64_t id;

    if (entry->value.type == GUFO_VALUE_ARRAY)
        check_id_list(c, entry, tokens);
    else if (gufo_value_u64(&entry->value, &id, NULL) == GUFO_OK && id >= tokens &&
             id != NO_TOKEN_ID)
        report_number(c, RULE_TOKEN_ID, entry, id, tokens);
}

static void check_ids(check_context *c, const vocabulary *v)
{
    static const char *const of_architecture[] = {"decoder_start_token_id", "mask_token_id"};
    gufo_entry entry;

    for (size_t i = 0; i < schema_special_token_count(); i++)
        if (gufo_model_key_entry(c->model, gufo_special_token_at(i)->key, &entry))
            check_ids_of(c, &entry, v->count);
    if (gufo_model_find(c->model, "tokenizer.ggml.suppress_tokens", &entry))
        check_ids_of(c, &entry, v->count);
    for (size_t i = 0; i < sizeof of_architecture / sizeof *of_architecture; i++)
        if (schema_arch_entry(c, &entry, "%s", of_architecture[i]))
            check_ids_of(c, &entry, v->count);
}

/* A token that is to be added must be known: by its key, or by the model. */
static void check_added(check_context *c, const gufo_tokenizer_info *model)
{
    const struct {
        const char *add, *id; /* keys */
        const char *fallback;
    } added[] = {
        {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", model->bos},
        {"tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", model->eos},
        {"tokenizer.ggml.add_sep_token", "tokenizer.ggml.separator_token_id", model->separator},
    };
    gufo_entry entry;

    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        if (gufo_model_find(c->model, added[i].add, &entry) &&
            entry.value.type == GUFO_VALUE_BOOL && entry.value.as.b &&
            added[i].fallback[0] == '\0' && !gufo_model_key_entry(c->model, added[i].id, NULL))
            schema_report(c, RULE_TOKEN_ADDED, at_entry(&entry), "%s is true, but %s is missing",
                          added[i].add, added[i].id);
}

/* ---- more keys ------------------------------------------------------------------------------ */

/* Models that are byte-level BPE: text is cut into words first. */
static bool cuts_words(const gufo_tokenizer_info *model)
{
    return str_is_word(gufo_str_of(model->id), "gpt2 hybriddna whitespace");
}

static void check_pretokenizer(check_context *c, const gufo_tokenizer_info *model)
{
    static const char key[] = "tokenizer.ggml.pre";
    gufo_entry entry;
    bool there = gufo_model_find(c->model, key, &entry);

    if (!cuts_words(model) || (there && entry.value.type != GUFO_VALUE_STRING))
        return;
    if (!there || entry.value.as.str.len == 0)
        schema_report(
            c, RULE_PRETOKENIZER_MISSING,
            with_fix(with_hint(at_missing(key), "set it to what the model was trained with"),
                     fix_typed(GUFO_FIX_SUPPLY, gufo_str_of(key), GUFO_VALUE_STRING)),
            "%s is %s; readers then choose how to split text", key, there ? "empty" : "missing");
    else if (gufo_pretokenizer_find_str(entry.value.as.str) == NULL)
        report_unknown(c, RULE_PRETOKENIZER_UNKNOWN, &entry, pretokenizer_at,
                       schema_pretokenizer_count());
}

static void check_size(check_context *c, const vocabulary *v)
{
    gufo_entry entry;
    uint64_t size;

    if (schema_arch_entry(c, &entry, "vocab_size") &&
        gufo_value_u64(&entry.value, &size, NULL) == GUFO_OK && size != v->count)
        report_number(c, RULE_VOCABULARY_SIZE, &entry, size, v->count);
}

/* The table is SentencePiece's: the bytes of a trie (their number first, little-endian whatever the
 * file is), then the texts that it leads to. */
static void check_character_map(check_context *c)
{
    static const char key[] = "tokenizer.ggml.precompiled_charsmap";
    const gufo_array *array;
    gufo_entry entry;
    uint32_t trie;

    if (!gufo_model_find(c->model, key, &entry) || entry.value.type != GUFO_VALUE_ARRAY)
        return;
    array = &entry.value.as.array;
    if (gufo_value_type_size(array->type) != 1 || !key_is_integer(array->type) || array->count == 0)
        return;
    trie = array->count < sizeof trie ? UINT32_MAX : load_u32(array->data, bytes_swapped(false));
    if (trie == 0 || trie % sizeof trie != 0 || trie > array->count - sizeof trie)
        schema_report(c, RULE_CHARACTER_MAP, at_entry(&entry),
                      "%s has %s bytes, which do not hold a table of characters", key,
                      GROUPED(array->count));
}

void schema_check_tokenizer(check_context *c)
{
    vocabulary v = read_lists(c);

    check_model(c, &v);
    check_needed(c, &v);
    check_lengths(c, &v);
    schema_check_tokens(c, &v);
    if (v.usable[LIST_TOKENS]) {
        check_ids(c, &v);
        check_size(c, &v);
    }
    if (v.model != NULL) {
        check_added(c, v.model);
        check_pretokenizer(c, v.model);
    }
    check_character_map(c);
}

/* Values that programs know and the specification does not list (spec, General metadata, Scaling,
 * Tokenizer, ggml_type).  Unknown values break rules of their own. */

static void report_value(check_context *c, const gufo_entry *entry, const char *value)
{
    schema_report(c, RULE_UNSPECIFIED, at_entry(entry),
                  "key %s is %s, which programs know, but which the specification does not list",
                  QUOTED(entry->key), value);
}

static void check_text(check_context *c, const gufo_entry *entry, const char *key, bool known)
{
    if (known && values_find(key, entry->value.as.str) != VALUE_STANDARD)
        report_value(c, entry, QUOTED(entry->value.as.str));
}

static void check_scaling(check_context *c)
{
    static const char key[] = "{arch}.rope.scaling.type";
    gufo_entry entry;

    if (c->architecture.len > 0 && schema_arch_entry(c, &entry, "rope.scaling.type") &&
        entry.value.type == GUFO_VALUE_STRING)
        check_text(c, &entry, key, values_find(key, entry.value.as.str) != VALUE_UNKNOWN);
}

static void check_model_name(check_context *c)
{
    static const char key[] = "tokenizer.ggml.model";
    gufo_entry entry;

    if (gufo_model_find(c->model, key, &entry) && entry.value.type == GUFO_VALUE_STRING)
        check_text(c, &entry, key, gufo_tokenizer_info_find_str(entry.value.as.str) != NULL);
}

static void check_file_type(check_context *c)
{
    static const char key[] = "general.file_type";
    const gufo_file_type *type;
    gufo_entry entry;
    uint64_t id;

    if (!schema_check_number(c, key, &entry, &id) || values_find_number(key, id) == VALUE_STANDARD)
        return;
    type = gufo_file_type_by_id(id);
    if (type != NULL && (type->flags & GUFO_FILE_TYPE_REMOVED) == 0)
        report_value(c, &entry, schema_text(c, "%" PRIu64 " (%s)", id, type->name));
}

/* One finding for all tensors: the first, and how many there are. */
static void check_element_types(check_context *c)
{
    gufo_tensor tensor, first;
    uint64_t count = 0;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(tensor.type);

        if (type != NULL && (type->flags & GUFO_ELEMENT_REMOVED) == 0 &&
            values_find_number("ggml_type", type->id) != VALUE_STANDARD && count++ == 0)
            first = tensor;
    }
    if (count > 0)
        schema_report(
            c, RULE_UNSPECIFIED, at_tensor(&first),
            "tensor %s has type %s, which programs know, but which the specification does "
            "not list%s",
            QUOTED(first.name), gufo_element_type_by_id(first.type)->name,
            schema_and_more(c, count));
}

void schema_check_additions(check_context *c)
{
    check_file_type(c);
    check_model_name(c);
    check_scaling(c);
    check_element_types(c);
}
