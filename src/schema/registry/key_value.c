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
#include "format/model/model.h"
#include "format/value/value.h"
#include "schema/registry/key.h"

#include <string.h>

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
        !key_type_named(key_scalar_type(info), &type))
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

    if (!gufo_key_entry(model, key, &entry))
        return fallback(model, key, depth, out);
    *out = entry.value;
    return true;
}

bool gufo_key_value(const gufo_model *model, const char *key, gufo_value *out)
{
    return find_value(model, key, 0, out);
}

/* ---- as types of C -------------------------------------------------------------------------- */

static gufo_status need_value(const gufo_model *model, const char *key, gufo_entry *entry,
                              gufo_error *error)
{
    if (gufo_key_entry(model, key, entry))
        return GUFO_OK;
    *entry = (gufo_entry){.key = gufo_str_of(key), .value_offset = GUFO_NO_OFFSET};
    /* Says what is missing: the key, or the architecture. */
    return fallback(model, key, 0, &entry->value) ? GUFO_OK
                                                  : model_find_entry(model, key, entry, error);
}

MODEL_GETTER(gufo_key, need_value, u64, uint64_t)
MODEL_GETTER(gufo_key, need_value, f64, double)
MODEL_GETTER(gufo_key, need_value, bool, bool)
MODEL_GETTER(gufo_key, need_value, str, gufo_str)
MODEL_ARRAY_GETTER(gufo_key, need_value)
