/* Methods of strings that ask for the class of their characters, and of other values. */
#include <math.h>

#include "base/text.h"
#include "template/library/natives.h"
#include "template/values/number.h"

/* Whether all characters, and at least one, are of a class. */
static value all_are(machine *m, const value *given, bool (*is_in)(uint32_t))
{
    gufo_str text = bytes_of(given[0].as.string);
    size_t at = 0, len;

    if (!machine_spend_bytes(m, text.len * 4))
        return FAILED;
    for (; at < text.len && is_in(point_at(str_from(text, at), &len)); at += len) {}
    return value_bool(text.len != 0 && at == text.len);
}

static bool is_alphanumeric(uint32_t point)
{
    return is_alphabetic(point) || is_decimal(point) || is_digit_point(point) || is_numeric(point);
}

#define CLASS_METHOD(name, is_in)                                    \
    value name(machine *m, const value *given, const arguments *all) \
    {                                                                \
        (void)all;                                                   \
        return all_are(m, given, (is_in));                           \
    }

CLASS_METHOD(str_isalnum, is_alphanumeric)
CLASS_METHOD(str_isalpha, is_alphabetic)
CLASS_METHOD(str_isdecimal, is_decimal)
CLASS_METHOD(str_isdigit, is_digit_point)
CLASS_METHOD(str_isnumeric, is_numeric)
CLASS_METHOD(str_isspace, is_space)

value str_isprintable(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return given[0].as.string->len == 0 ? value_bool(true) : all_are(m, given, is_printable);
}

value str_isascii(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    return value_bool(string_is_ascii(given[0].as.string));
}

value str_isidentifier(machine *m, const value *given, const arguments *all)
{
    (void)all;
    if (!machine_spend_bytes(m, given[0].as.string->len * 4))
        return FAILED;
    return value_bool(is_identifier(bytes_of(given[0].as.string)));
}

/* Whether at least one character has a case, and none has another than the wanted one. */
static value one_case(machine *m, const value *given, bool (*wanted)(uint32_t))
{
    gufo_str text = bytes_of(given[0].as.string);
    bool found = false;

    if (!machine_spend_bytes(m, text.len * 4))
        return FAILED;
    for (size_t at = 0, len; at < text.len; at += len) {
        uint32_t point = point_at(str_from(text, at), &len);

        if (wanted(point))
            found = true;
        else if (is_cased(point))
            return value_bool(false);
    }
    return value_bool(found);
}

value str_islower(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return one_case(m, given, is_lower_point);
}

value str_isupper(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return one_case(m, given, is_upper_point);
}

value str_istitle(machine *m, const value *given, const arguments *all)
{
    gufo_str text = bytes_of(given[0].as.string);
    bool after = false, found = false;

    (void)all;
    if (!machine_spend_bytes(m, text.len * 4))
        return FAILED;
    for (size_t at = 0, len; at < text.len; at += len) {
        uint32_t point = point_at(str_from(text, at), &len);
        bool big = is_upper_point(point) || is_title_point(point), cased = is_cased(point);

        if (cased && big == after)
            return value_bool(false);
        after = cased;
        found = found || cased;
    }
    return value_bool(found);
}

/* ==== Lists, dicts, numbers ================================================================== */

value list_count(machine *m, const value *given, const arguments *all)
{
    const array *l = given[0].as.list;
    int64_t count = 0;

    (void)all;
    for (size_t i = 0; i < l->count; i++)
        count += value_equal(m, l->items[i], given[1]);
    return value_int(count);
}

value list_index(machine *m, const value *given, const arguments *all)
{
    const array *l = given[0].as.list;
    int64_t count = (int64_t)l->count, from, end;

    (void)all;
    if (!take_index(m, given[2], 0, &from) || !take_index(m, given[3], count, &end))
        return FAILED;
    from = from < -count ? 0 : from < 0 ? from + count : from;
    end = end < -count ? 0 : end < 0 ? end + count : end;
    for (int64_t i = from; i < end && i < count; i++)
        if (value_equal(m, l->items[i], given[1]))
            return value_int(i);
    return fail_type(m, "the value is not in the list");
}

value list_copy(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    return given[0]; /* lists do not change */
}

value dict_copy_method(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    return given[0];
}

value dict_get(machine *m, const value *given, const arguments *all)
{
    const dict_entry *entry;
    uint64_t hash;

    (void)all;
    if (!machine_spend_key(m, given[1]))
        return FAILED;
    if (!value_hash(m->key, given[1], &hash))
        return fail_type(m, "a value of type '%s' cannot be a key", value_type(given[1]));
    entry = dict_find(given[0].as.dict, m->key, given[1]);
    if (entry != NULL)
        return entry->value;
    return is_given(given[2]) ? given[2] : NONE;
}

static value view_of(machine *m, const value *given, view_kind kind)
{
    view *made = HEAP_NEW(&m->memory, view);

    if (made == NULL)
        return FAILED;
    *made = (view){given[0].as.dict, kind};
    return (value){.kind = VALUE_VIEW, .as.view = made};
}

value dict_keys(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return view_of(m, given, VIEW_KEYS);
}

value dict_values(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return view_of(m, given, VIEW_VALUES);
}

value dict_items(machine *m, const value *given, const arguments *all)
{
    (void)all;
    return view_of(m, given, VIEW_ITEMS);
}

value float_is_integer(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    return value_bool(floor(given[0].as.real) == given[0].as.real);
}

value int_bit_length(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    return value_int((int64_t)integer_bits(given[0]));
}

value cycler_next(machine *m, const value *given, const arguments *all)
{
    cycler *c = given[0].as.cycler;

    (void)m;
    (void)all;
    c->at = (c->at + 1) % c->items->count;
    return c->items->items[(c->at + c->items->count - 1) % c->items->count];
}

value cycler_reset(machine *m, const value *given, const arguments *all)
{
    (void)m;
    (void)all;
    given[0].as.cycler->at = 0;
    return NONE;
}
