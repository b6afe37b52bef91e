/* The sets of characters in regular expressions.
 *
 * A set is a list of ranges, each with the classes that it admits: \p{L} is all code points with
 * class L, a letter is a range of one with all classes.  The expressions are our own tables, which
 * need no more than what is read here: see registry/pretokenizer_expressions.tsv. */
#include "text/pretokenizers/character_sets.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"

#define ALL_CLASSES ((1u << CLASS_COUNT) - 1)

void character_sets_free(character_sets *sets)
{
    mem_free(sets->allocator, sets->sets);
    mem_free(sets->allocator, sets->items);
}

/* Bytes up to and with the first `end` from `at` on that no backslash precedes; 0: none. */
static size_t length_to(gufo_str text, size_t at, char end)
{
    for (; at < text.len; at++) {
        if (text.data[at] == '\\')
            at++;
        else if (text.data[at] == end)
            return at + 1;
    }
    return 0;
}

gufo_str expression_element(gufo_str text, bool *is_set)
{
    size_t len = 1;

    *is_set = true;
    if (*text.data == '[') {
        len = length_to(text, 1, ']');
    } else if (*text.data == '\\' && text.len > 1 && memchr("pPx", text.data[1], 3) != NULL) {
        len = length_to(text, 2, '}');
    } else if (*text.data == '\\' && text.len > 1) {
        *is_set = text.data[1] == 's' || text.data[1] == 'S';
        len = 2;
    } else if ((uint8_t)*text.data >= 0x80) {
        (void)lenient_decode(text.data, text.len, &len);
    } else {
        *is_set = false;
    }
    return (gufo_str){text.data, len == 0 ? text.len : len};
}

/* "\s" and "\p{L}"; the capital ones are the others. */
static bool read_class(gufo_str *text, set_item *out)
{
    static const char names[CLASS_COUNT + 1] = "?LNPSM";
    const char *name = text->len > 4 ? memchr(names, text->data[3], CLASS_COUNT) : NULL;
    char kind = text->len > 1 && *text->data == '\\' ? text->data[1] : 0;

    *out = (set_item){0, UINT32_MAX, 1u << CLASS_W};
    if ((kind == 'p' || kind == 'P') && name != NULL && text->data[4] == '}') {
        out->classes = 1u << (name - names);
        *text = str_from(*text, 5);
    } else if (kind == 's' || kind == 'S') {
        *text = str_from(*text, 2);
    } else {
        return false;
    }
    if (is_upper(kind))
        out->classes = ALL_CLASSES & ~out->classes;
    return true;
}

/* The digits of "\x{2028}". */
static bool read_hex(gufo_str *text, uint32_t *out)
{
    uint64_t value;
    size_t at = 3 + str_hex(*text, 3, 8, &value);

    *out = (uint32_t)value;
    if (at >= text->len || text->data[at] != '}')
        return false;
    *text = str_from(*text, at + 1);
    return true;
}

static bool read_character(gufo_str *text, uint32_t *out)
{
    static const char escapes[] = "t\tn\nr\r";
    size_t size = 2;

    if (text->len == 0)
        return false;
    if (*text->data != '\\') {
        *out = lenient_decode(text->data, text->len, &size);
    } else if (text->len == 1) {
        return false;
    } else if (text->data[1] == 'x') {
        return read_hex(text, out);
    } else {
        const char *escape = memchr(escapes, text->data[1], sizeof escapes - 1);

        *out = (uint8_t)(escape != NULL ? escape[1] : text->data[1]);
    }
    *text = str_from(*text, size);
    return true;
}

static bool read_item(gufo_str *text, set_item *out)
{
    if (read_class(text, out))
        return true;
    if (!read_character(text, &out->first))
        return false;
    out->last = out->first;
    out->classes = ALL_CLASSES;
    if (text->len < 2 || *text->data != '-')
        return true;
    *text = str_from(*text, 1);
    return read_character(text, &out->last) && out->first <= out->last;
}

static gufo_status add_items(character_sets *sets, character_set *set, gufo_str text,
                             gufo_error *error)
{
    while (text.len > 0) {
        set_item item;
        set_item *items;

        if (!read_item(&text, &item))
            return refuse(error, GUFO_E_ARGUMENT, "not a set of characters: %s", QUOTED(set->text));
        items = mem_grow(sets->allocator, sets->items, sets->item_count, &sets->item_room,
                         sizeof *items);
        if (items == NULL)
            return fail_memory(error);
        sets->items = items;
        items[sets->item_count++] = item;
        set->count++;
    }
    return GUFO_OK;
}

gufo_status character_sets_add(character_sets *sets, gufo_str text, size_t *number,
                               gufo_error *error)
{
    character_set set = {.text = text, .first = (size_t)sets->item_count};
    character_set *list;
    gufo_status status;

    for (*number = 0; *number < sets->count; (*number)++) {
        if (gufo_str_equal(sets->sets[*number].text, text))
            return GUFO_OK;
    }
    if (*text.data == '[' && text.len > 2) {
        set.negated = text.data[1] == '^';
        text = (gufo_str){text.data + 1 + set.negated, text.len - 2 - set.negated};
    }
    status = add_items(sets, &set, text, error);
    if (status != GUFO_OK)
        return status;
    list = mem_grow(sets->allocator, sets->sets, sets->count, &sets->room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    sets->sets = list;
    list[sets->count++] = set;
    return GUFO_OK;
}

bool character_set_has(const character_sets *sets, size_t number, uint32_t code_point,
                       uint32_t class_bit)
{
    const character_set *set = &sets->sets[number];
    const set_item *item = sets->items + set->first;
    bool has = false;

    for (size_t i = 0; i < set->count && !has; i++, item++)
        has = item->first <= code_point && code_point <= item->last &&
              (item->classes & class_bit) != 0;
    return has != set->negated;
}

uint32_t character_sets_same_until(const character_sets *sets, uint32_t code_point)
{
    uint32_t until = UINT32_MAX;

    for (uint64_t i = 0; i < sets->item_count; i++) {
        const set_item *item = &sets->items[i];
        uint32_t end = code_point < item->first   ? item->first - 1
                       : code_point <= item->last ? item->last
                                                  : UINT32_MAX;

        if (end < until)
            until = end;
    }
    return until;
}
