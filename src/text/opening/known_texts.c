/* Tokens whose attributes and roles follow from their texts, or that were added.
 *
 * Files often say "normal" of </s>, or name no end of turn; readers know these texts.  The table,
 * registry/special_texts.tsv, is gone through once; its notation is explained at its head. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "text/characters/escapes.h"
#include "text/opening/opening.h"

/* ==== tokenizer.ggml.added_tokens: texts of tokens that were added after training ============ */

/* Such a token is found in a text before the algorithm sees it, as a user-defined one.  Files mostly
 * say so by its type as well; where a file says "normal", the list decides. */

static gufo_status make_types(gufo_vocab *v, gufo_error *error)
{
    if (v->types != NULL)
        return GUFO_OK;
    v->types = mem_array(&v->allocator, v->size, sizeof *v->types);
    if (v->types == NULL)
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++)
        v->types[id] = TOKEN_NORMAL;
    return GUFO_OK;
}

/* A run of spaces, which merges make.  The original also finds it where a text has U+2581 itself. */
static bool is_escaped_spaces(const gufo_vocab *v, uint32_t id)
{
    return v->escape_spaces && vocab_type(v, id) == TOKEN_NORMAL &&
           str_search(vocab_text(v, id), gufo_str_of(ESCAPED_SPACE)) != NULL;
}

/* Control tokens, bytes and the unknown token stay what they are. */
static gufo_status mark_added(gufo_vocab *v, uint32_t id, gufo_error *error)
{
    bool spaces = is_escaped_spaces(v, id);
    unsigned type = vocab_type(v, id);
    gufo_status status;

    if (spaces)
        v->differs = "the original tokenizer finds added tokens of U+2581 in a text that has this "
                     "character, which is a space to llama.cpp";
    if ((spaces && !v->original) || (type != 0 && type != TOKEN_NORMAL && type != TOKEN_UNUSED))
        return GUFO_OK;
    status = make_types(v, error);
    if (status != GUFO_OK)
        return status;
    v->types[id] = TOKEN_USER_DEFINED;
    v->attributes[id] = GUFO_TOKEN_USER_DEFINED | (spaces ? GUFO_TOKEN_NORMAL : 0);
    return GUFO_OK;
}

gufo_status added_tokens_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_str first_missing = {0};
    uint64_t missing = 0;
    gufo_status status = GUFO_OK;
    gufo_array_iter iter;
    gufo_entry entry;
    gufo_value text;

    if (!vocab_entry(model, "added_tokens", &entry))
        return GUFO_OK;
    if (entry.value.type != GUFO_VALUE_ARRAY || entry.value.as.array.type != GUFO_VALUE_STRING)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                         "%s must be an array of strings", QUOTED(entry.key));
    iter = gufo_array_start(&entry.value.as.array);
    while (status == GUFO_OK && gufo_array_next(&iter, &text)) {
        uint32_t id = vocab_find(v, text.as.str.data, text.as.str.len);

        if (id != GUFO_NO_TOKEN)
            status = mark_added(v, id, error);
        else if (missing++ == 0)
            first_missing = text.as.str;
    }
    if (status != GUFO_OK || missing == 0)
        return status;
    return vocab_warn(v, error,
                      "%s of \"tokenizer.ggml.added_tokens\" are not in the list of "
                      "tokens and have no id: %s is the first one",
                      GROUPED(missing), QUOTED(first_missing));
}

/* ==== known texts ============================================================================ */

typedef struct known_text {
    const char *group, *text, *condition, *effect;
} known_text;

static const known_text known_texts[] = {
#define ROW(group, text, condition, effect) {group, text, condition, effect},
#include "registry/special_texts.inc"
#undef ROW
};

typedef struct applying {
    gufo_vocab *v;
    gufo_str name, pre, arch;       /* in general.name, letters are lower case */
    bool named[GUFO_SPECIAL_COUNT]; /* the file gives the role, or a row did */
    const char *strip;              /* the group of strip rows that holds; NULL: none yet */
} applying;

/* ---- conditions ----------------------------------------------------------------------------- */

/* The text of metadata that a condition such as "name~phi3" is about; false for other conditions. */
static bool metadata_part(const applying *a, const char *condition, gufo_str *text, gufo_str *part)
{
    const char *tilde = strchr(condition, '~');

    if (tilde == NULL)
        return false;
    *text = condition[0] == 'n' ? a->name : condition[0] == 'p' ? a->pre : a->arch;
    *part = gufo_str_of(tilde + 1);
    return true;
}

/* "eog:A+B" */
static bool all_end(const applying *a, const char *texts)
{
    for (gufo_str text = str_piece(&texts, '+'); text.len > 0; text = str_piece(&texts, '+')) {
        uint32_t id = vocab_find(a->v, text.data, text.len);

        if (id == GUFO_NO_TOKEN || (a->v->attributes[id] & GUFO_TOKEN_END) == 0)
            return false;
    }
    return true;
}

static bool holds(applying *a, const known_text *row)
{
    gufo_str text, part;

    if (str_begins(gufo_str_of(row->condition), "unset:"))
        return !a->named[settings_role(gufo_str_of(row->group))];
    if (str_begins(gufo_str_of(row->condition), "eog:"))
        return all_end(a, row->condition + strlen("eog:"));
    if (!metadata_part(a, row->condition, &text, &part))
        return true;
    if (str_search(text, part) == NULL || (a->strip != NULL && strcmp(a->strip, row->group) != 0))
        return false;
    a->strip = row->group;
    return true;
}

/* ---- effects -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    uint16_t clear, set;
} attribute_words[] = {
    {"+control", 0, GUFO_TOKEN_CONTROL},
    {"+unused", 0, GUFO_TOKEN_UNUSED},
    {"+lstrip", 0, GUFO_TOKEN_LSTRIP},
    {"+rstrip", 0, GUFO_TOKEN_RSTRIP},
    {"-rstrip", GUFO_TOKEN_RSTRIP, 0},
    {"=user_defined", (uint16_t)~GUFO_TOKEN_END, GUFO_TOKEN_USER_DEFINED},
    {"=normal", (uint16_t)~GUFO_TOKEN_END, GUFO_TOKEN_NORMAL},
    {"+eog", 0, GUFO_TOKEN_END},
    {"-eog", GUFO_TOKEN_END, 0},
};

static void change_attributes(uint16_t *attributes, gufo_str word)
{
    for (size_t i = 0; i < sizeof attribute_words / sizeof *attribute_words; i++)
        if (gufo_str_equal(gufo_str_of(attribute_words[i].word), word))
            *attributes =
                (uint16_t)((*attributes & ~attribute_words[i].clear) | attribute_words[i].set);
}

static void apply_effect(applying *a, uint32_t id, const char *effect)
{
    for (gufo_str word = str_piece(&effect, ' '); word.len > 0; word = str_piece(&effect, ' ')) {
        if (str_begins(word, "id:")) {
            gufo_special role = settings_role(str_from(word, strlen("id:")));

            a->v->special[role] = id;
            a->named[role] = true;
        } else {
            change_attributes(&a->v->attributes[id], word);
        }
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A text with a '*' is about many tokens. */
static void apply_to_many(applying *a, const known_text *row)
{
    gufo_vocab *v = a->v;
    size_t len = strlen(row->text);
    gufo_str part = {row->text + 1, len > 2 ? len - 2 : 0};
    uint16_t wanted = len == 1 ? VOCAB_SPECIAL : GUFO_TOKEN_CONTROL;

    for (uint32_t id = 0; id < v->size; id++)
        if ((v->attributes[id] & wanted) != 0 && str_search(vocab_text(v, id), part) != NULL)
            apply_effect(a, id, row->effect);
}

static void apply_row(applying *a, const known_text *row)
{
    uint32_t id;

    if (!holds(a, row))
        return;
    if (row->text[0] == '*') {
        apply_to_many(a, row);
        return;
    }
    if (row->text[0] == '@')
        id = a->v->special[settings_role(gufo_str_of(row->text + 1))];
    else
        id = vocab_find(a->v, row->text, strlen(row->text));
    if (id != GUFO_NO_TOKEN)
        apply_effect(a, id, row->effect);
}

/* ---- the original --------------------------------------------------------------------------- */

/* The attribute that makes texts of this type tokens; 0: none does. */
static uint16_t special_by_type(const gufo_vocab *v, uint32_t id)
{
    static const uint16_t attributes[] = {
        [2] = GUFO_TOKEN_UNKNOWN, [3] = GUFO_TOKEN_CONTROL, [4] = GUFO_TOKEN_USER_DEFINED};
    unsigned type = vocab_type(v, id);

    return type < sizeof attributes / sizeof *attributes ? attributes[type] : 0;
}

/* In old files all tokens are normal, </s>, too. */
static bool types_say_special(const gufo_vocab *v)
{
    for (uint32_t id = 0; id < v->size; id++)
        if (special_by_type(v, id) != 0)
            return true;
    return false;
}

/* Which texts are tokens the original tokenizer knows by types alone. */
static void settle_original(gufo_vocab *v)
{
    if (!types_say_special(v))
        return;
    for (uint32_t id = 0; id < v->size; id++) {
        uint16_t by_type = special_by_type(v, id);

        if (((v->attributes[id] & VOCAB_SPECIAL) != 0) == (by_type != 0) ||
            v->attributes[id] == GUFO_TOKEN_UNUSED) /* padding that the original lacks */
            continue;
        if (v->differs == NULL)
            v->differs = "the original tokenizer takes some texts as plain ones in which llama.cpp "
                         "sees control tokens, such as </s>, whatever their types say";
        if (v->original)
            v->attributes[id] = (uint16_t)((v->attributes[id] & ~VOCAB_SPECIAL) | by_type);
    }
}

/* ---- metadata ------------------------------------------------------------------------------- */

static gufo_str find_text(const gufo_model *model, const char *key)
{
    gufo_str text = {0};

    gufo_entry entry;

    if (gufo_model_key_entry(model, key, &entry))
        (void)gufo_value_str(&entry.value, &text, NULL);
    return text;
}

gufo_status known_texts_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    applying a = {.v = v,
                  .pre = find_text(model, "tokenizer.ggml.pre"),
                  .arch = find_text(model, "general.architecture")};
    gufo_str name = find_text(model, "general.name");
    char *lower = mem_text(&v->allocator, name);

    if (lower == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < name.len; i++)
        lower[i] = to_lower(lower[i]);
    a.name = (gufo_str){lower, name.len};
    for (unsigned role = 0; role < GUFO_SPECIAL_COUNT; role++)
        a.named[role] = v->special[role] != GUFO_NO_TOKEN;
    for (size_t i = 0; i < sizeof known_texts / sizeof *known_texts; i++)
        apply_row(&a, &known_texts[i]);
    settle_original(v);
    mem_free(&v->allocator, lower);
    return GUFO_OK;
}
