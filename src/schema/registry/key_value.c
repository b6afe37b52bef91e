/* The value of a key of a model: that of its entry, or else what readers take where it is missing, the
 * column `fallback` of registry/keys.tsv:
 *
 *     10000, false, linear                      a value
 *     attention.head_count                      that of another key
 *     embedding_length / attention.head_count   a quotient, rounded down, of the first block
 *     length of tokenizer.ggml.tokens           the number of elements
 *
 * Other words are for people: no value follows from them. */
#include "base/text.h"

#include <string.h>

#include "format/model/model.h"
#include "format/value/value.h"
#include "schema/registry/key.h"

/* What a model says of a key: the entry under the name of today, or under another one
 * (registry/key_aliases.tsv).
 *
 *     {arch}.rope.scaling.factor   of llama: llama.rope.scaling.factor, llama.rope.scale_linear,
 *                                            llama.rope.scale
 *
 * Where a model has several of them, the column `order` says which counts. */

static bool is_of_architecture(const char *name)
{
    return str_begins(gufo_str_of(name), KEY_ARCH);
}

/* The entry with a name of a table. */
static bool find_name(const gufo_model *model, gufo_str architecture, const char *name,
                      gufo_entry *out)
{
    char text[KEY_SIZE];
    size_t len;

    if (!is_of_architecture(name))
        return gufo_model_find(model, name, out);
    if (key_put_together(name, architecture, text, &len))
        return gufo_model_find_str(model, (gufo_str){text, len}, out);
    return model_find_entry(model, name, out, NULL) == GUFO_OK;
}

/* Whether another name is one in a model of this architecture: "mpt.attention.clip_kqv" is for mpt
 * alone. */
static bool is_for(const key_alias *alias, gufo_str architecture)
{
    const gufo_str name = {alias->name, strcspn(alias->name, ".")};

    return !is_of_architecture(alias->today) || is_of_architecture(alias->name) ||
           gufo_str_equal(name, architecture);
}

/* The entry under another name that counts more than `order`. */
static bool find_other(const gufo_model *model, gufo_str architecture, const char *key, char order,
                       bool has_front, gufo_entry *out, const key_alias **found)
{
    gufo_str today = gufo_str_of(key);
    const key_alias *alias;
    gufo_entry entry;
    size_t from = 0;

    *found = NULL;
    while ((alias = key_alias_next(today, &from)) != NULL)
        if (alias->order[0] < order && (alias->front[0] != '\0') == has_front &&
            is_for(alias, architecture) && find_name(model, architecture, alias->name, &entry)) {
            *out = entry;
            *found = alias;
            order = alias->order[0];
        }
    return *found != NULL;
}

bool key_entry_of(const gufo_model *model, gufo_str architecture, const char *key, gufo_entry *out)
{
    const key_alias *alias;
    gufo_entry unwanted;
    bool found;

    if (out == NULL)
        out = &unwanted;
    found = find_name(model, architecture, key, out);
    return find_other(model, architecture, key, found ? ALIAS_TODAY : ALIAS_NONE, false, out,
                      &alias) ||
           found;
}

static gufo_str architecture_of(const gufo_model *model, const char *key)
{
    gufo_str architecture = {"", 0};

    if (is_of_architecture(key))
        (void)gufo_model_get_str(model, "general.architecture", &architecture, NULL);
    return architecture;
}

bool gufo_model_key_entry(const gufo_model *model, const char *key, gufo_entry *out)
{
    return key_entry_of(model, architecture_of(model, key), key, out);
}

bool gufo_model_key_text(const gufo_model *model, const char *key, char *room, size_t size,
                         gufo_str *out)
{
    gufo_str architecture = architecture_of(model, key);
    const key_alias *alias;
    gufo_entry entry;
    size_t front;

    if (key_entry_of(model, architecture, key, &entry))
        return gufo_value_str(&entry.value, out, NULL) == GUFO_OK;
    if (!find_other(model, architecture, key, ALIAS_NONE, true, &entry, &alias) ||
        gufo_value_str(&entry.value, out, NULL) != GUFO_OK)
        return false;
    front = strlen(alias->front);
    if (front >= size || out->len > size - front)
        return false;
    memcpy(room, alias->front, front);
    memcpy(room + front, out->data, out->len);
    *out = (gufo_str){room, front + out->len};
    return true;
}

/* Of fallbacks that lead to one another; a test checks that none goes further. */
enum { MAX_DEPTH = 4 };

static bool find_value(const gufo_model *model, const char *key, unsigned depth, gufo_value *out);

static bool value_of(const gufo_model *model, gufo_str name, unsigned depth, gufo_value *out)
{
    const gufo_key_info *info = key_named(name);

    return info != NULL && find_value(model, info->key, depth + 1, out);
}

/* A count, or that of the first block. */
static bool count_of(const gufo_model *model, gufo_str name, unsigned depth, uint64_t *out)
{
    gufo_value value, element;

    if (!value_of(model, name, depth, &value))
        return false;
    if (value.type != GUFO_VALUE_ARRAY)
        return gufo_value_u64(&value, out, NULL) == GUFO_OK;
    return gufo_array_at(&value.as.array, 0, &element, NULL) == GUFO_OK &&
           gufo_value_u64(&element, out, NULL) == GUFO_OK;
}

static bool quotient_of(const gufo_model *model, gufo_str formula, unsigned depth, uint64_t *out)
{
    static const char sign[] = " / ";
    const char *at = str_search(formula, gufo_str_of(sign));
    uint64_t divisor;

    if (at == NULL ||
        !count_of(model, (gufo_str){formula.data, (size_t)(at - formula.data)}, depth, out) ||
        !count_of(model, gufo_str_of(at + strlen(sign)), depth, &divisor) || divisor == 0)
        return false;
    *out /= divisor;
    return true;
}

static bool length_of(const gufo_model *model, gufo_str formula, unsigned depth, uint64_t *out)
{
    static const char words[] = "length of ";
    gufo_value value;

    if (!str_begins(formula, words) ||
        !value_of(model, str_from(formula, strlen(words)), depth, &value) ||
        value.type != GUFO_VALUE_ARRAY)
        return false;
    *out = value.as.array.count;
    return true;
}

/* A number in a type of the row. */
static bool number_of_type(uint64_t number, gufo_value_type type, gufo_value *out)
{
    const gufo_value whole = {.type = GUFO_VALUE_UINT64, .as.u = number};

    return value_convert(&whole, type, out, NULL) == GUFO_OK;
}

static bool is_flag(gufo_str text, bool *flag)
{
    *flag = gufo_str_equal(text, gufo_str_of("true"));
    return *flag || gufo_str_equal(text, gufo_str_of("false"));
}

/* The value that the text of the column is. */
static bool literal(gufo_str text, gufo_value_type type, gufo_value *out)
{
    uint64_t number;
    bool flag;

    if (type == GUFO_VALUE_STRING) {
        *out = (gufo_value){.type = GUFO_VALUE_STRING, .as.str = text};
        return true;
    }
    if (type == GUFO_VALUE_BOOL && is_flag(text, &flag)) {
        *out = (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = flag};
        return true;
    }
    return type != GUFO_VALUE_BOOL && str_number(text, &number) &&
           number_of_type(number, type, out);
}

static bool fallback(const gufo_model *model, const char *key, unsigned depth, gufo_value *out)
{
    const gufo_key_info *info = key_row(key);
    gufo_value_type type;
    gufo_str text;
    uint64_t number;

    if (info == NULL || info->fallback[0] == '\0' || depth == MAX_DEPTH ||
        !gufo_value_type_by_name_str(key_scalar_type(info), &type))
        return false;
    text = gufo_str_of(info->fallback);
    if (value_of(model, text, depth, out))
        return true;
    if (quotient_of(model, text, depth, &number) || length_of(model, text, depth, &number))
        return number_of_type(number, type, out);
    return key_named(text) == NULL && literal(text, type, out);
}

static bool find_value(const gufo_model *model, const char *key, unsigned depth, gufo_value *out)
{
    gufo_entry entry;

    if (!gufo_model_key_entry(model, key, &entry))
        return fallback(model, key, depth, out);
    *out = entry.value;
    return true;
}

bool gufo_model_key_value(const gufo_model *model, const char *key, gufo_value *out)
{
    return find_value(model, key, 0, out);
}

/* ---- as types of C -------------------------------------------------------------------------- */

static gufo_status need_value(const gufo_model *model, const char *key, gufo_entry *entry,
                              gufo_error *error)
{
    if (gufo_model_key_entry(model, key, entry))
        return GUFO_OK;
    *entry = (gufo_entry){.key = gufo_str_of(key), .value_offset = GUFO_NO_OFFSET};
    /* Says what is missing: the key, or the architecture. */
    return fallback(model, key, 0, &entry->value) ? GUFO_OK
                                                  : model_find_entry(model, key, entry, error);
}

MODEL_GETTER(gufo_model_key, need_value, u64, uint64_t)
MODEL_GETTER(gufo_model_key, need_value, f64, double)
MODEL_GETTER(gufo_model_key, need_value, bool, bool)
MODEL_GETTER(gufo_model_key, need_value, str, gufo_str)
MODEL_ARRAY_GETTER(gufo_model_key, need_value)
