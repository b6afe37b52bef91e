/* An alphabet of one byte per character: see alphabet.h. */
#include "text/pretokenizers/alphabet.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/characters.h"

/* ==== sets =================================================================================== */

/* A set is a list of ranges, each with the classes that it admits: \p{L} is all code points with
 * class L, a letter is a range of one with all classes.  The expressions are our own tables, which
 * need no more than what is read here: see registry/pretokenizer_expressions.tsv. */

#define ALL_CLASSES ((1u << CLASS_COUNT) - 1)

static void character_sets_free(character_sets *sets)
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

/* The next element of an expression (not empty): a set that goes beyond ASCII, or other
 * bytes. */
static gufo_str next_element(gufo_str text, bool *is_set)
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
            return refuse(error, GUFO_E_ARGUMENT, "%s is not a set of characters",
                          QUOTED(set->text));
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

/* The number of the set that is spelt so; equal texts are one set.  GUFO_E_ARGUMENT if it cannot
 * be read. */
static gufo_status character_sets_add(character_sets *sets, gufo_str text, size_t *number,
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

static bool character_set_has(const character_sets *sets, size_t number, uint32_t code_point,
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

/* The last code point from this one on for which all sets answer as for this one, as long as its
 * class does not change. */
static uint32_t character_sets_same_until(const character_sets *sets, uint32_t code_point)
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

/* ==== the alphabet =========================================================================== */

#define PAGE_SIZE 256
#define MOST_SETS 64

void alphabet_free(alphabet *a)
{
    character_sets_free(&a->sets);
    buffer_free(&a->bytes);
}

gufo_status alphabet_learn(alphabet *a, const char *expression, gufo_error *error)
{
    gufo_str rest = gufo_str_of(expression);
    gufo_status status = GUFO_OK;

    while (rest.len > 0 && status == GUFO_OK) {
        bool is_set;
        gufo_str element = next_element(rest, &is_set);
        size_t number;

        if (is_set)
            status = character_sets_add(&a->sets, element, &number, error);
        rest = str_from(rest, element.len);
    }
    if (status == GUFO_OK && a->sets.count > MOST_SETS)
        return refuse(error, GUFO_E_LIMIT, "the expressions have more than %d sets of characters",
                      MOST_SETS);
    return status;
}

/* The byte for characters that are in these sets; 0 if no byte is left. */
static unsigned byte_of_class(alphabet *a, uint64_t sets)
{
    unsigned i = 0;

    while (i < a->class_count && a->classes[i] != sets)
        i++;
    if (i == sizeof a->classes / sizeof *a->classes)
        return 0;
    if (i == a->class_count)
        a->classes[a->class_count++] = sets;
    return 0x80 + i;
}

static uint64_t sets_of(const alphabet *a, uint32_t code_point, character_class class)
{
    uint64_t sets = 0;

    for (size_t i = 0; i < a->sets.count; i++)
        if (character_set_has(&a->sets, i, code_point, 1u << class))
            sets |= (uint64_t)1 << i;
    return sets;
}

/* Code points up to `until` at which no range of a set begins or ends: the class alone decides. */
typedef struct stretch {
    size_t row; /* of class_next */
    uint32_t until;
    uint8_t bytes[CLASS_COUNT]; /* 0: not known yet */
} stretch;

/* The byte of a code point; *last is the last one from there on with the same byte. */
static unsigned find_byte(alphabet *a, stretch *s, uint32_t code_point, uint32_t *last)
{
    character_class class = class_next(&s->row, code_point, last);

    if (code_point < 0x80) {
        *last = code_point;
        return code_point;
    }
    if (code_point > s->until)
        *s = (stretch){s->row, character_sets_same_until(&a->sets, code_point), {0}};
    if (s->until < *last)
        *last = s->until;
    if (s->bytes[class] == 0)
        s->bytes[class] = (uint8_t)byte_of_class(a, sets_of(a, code_point, class));
    return s->bytes[class];
}

/* Pages of one byte alone exist once. */
gufo_status alphabet_close(alphabet *a, gufo_error *error)
{
    uint16_t uniform[PAGE_SIZE] = {0}; /* page + 1 */
    uint32_t last = 0;
    stretch s = {.until = 0x7F};
    unsigned byte = find_byte(a, &s, 0, &last);

    for (uint32_t page = 0; page < ALPHABET_PAGES; page++) {
        uint32_t begin = page * PAGE_SIZE, end = begin + PAGE_SIZE, at = begin;
        bool same;
        uint8_t *bytes;

        if (begin > last)
            byte = find_byte(a, &s, begin, &last);
        same = last >= end - 1;
        if (same && uniform[byte] != 0) {
            a->pages[page] = (uint16_t)(uniform[byte] - 1);
            continue;
        }
        a->pages[page] = (uint16_t)(a->bytes.len / PAGE_SIZE);
        if (same)
            uniform[byte] = (uint16_t)(a->pages[page] + 1);
        bytes = buffer_extend(&a->bytes, PAGE_SIZE);
        if (bytes == NULL)
            return fail_memory(error);
        while (at < end) {
            uint32_t until = last < end - 1 ? last : end - 1;

            memset(bytes + (at - begin), (int)byte, until + 1 - at);
            at = until + 1;
            if (at < end)
                byte = find_byte(a, &s, at, &last);
        }
    }
    if (a->class_count == sizeof a->classes / sizeof *a->classes)
        return refuse(error, GUFO_E_LIMIT, "the expressions have too many classes of characters");
    return GUFO_OK;
}

static byte_set bytes_of(const alphabet *a, size_t number)
{
    byte_set out = {{false}};
    size_t row = 0;
    uint32_t last;

    for (uint32_t c = 0; c < 0x80; c++)
        out.has[c] = character_set_has(&a->sets, number, c, 1u << class_next(&row, c, &last));
    for (unsigned i = 0; i < a->class_count; i++)
        out.has[0x80 + i] = (a->classes[i] >> number & 1) != 0;
    return out;
}

byte_set alphabet_set(const alphabet *a, gufo_str set)
{
    for (size_t i = 0; i < a->sets.count; i++) {
        if (gufo_str_equal(a->sets.sets[i].text, set))
            return bytes_of(a, i);
    }
    return (byte_set){{false}};
}

static bool append(buffer *out, const char *text, size_t len)
{
    char *end = buffer_extend(out, len);

    if (end != NULL)
        memcpy(end, text, len);
    return end != NULL;
}

/* "[\x41-\x5A\x81-\x81]"; "(?!)" for a set without members. */
static bool append_set(buffer *out, const byte_set *set)
{
    size_t start = out->len;

    for (int first = 0, last; first < 256; first = last + 1) {
        char text[16];

        last = first;
        if (!set->has[first])
            continue;
        while (last < 255 && set->has[last + 1])
            last++;
        (void)snprintf(text, sizeof text, "\\x%02X-\\x%02X", (unsigned)first, (unsigned)last);
        if ((out->len == start && !append(out, "[", 1)) || !append(out, text, strlen(text)))
            return false;
    }
    return out->len == start ? append(out, "(?!)", 4) : append(out, "]", 1);
}

gufo_status alphabet_rewrite(const alphabet *a, const char *expression, buffer *out,
                             gufo_error *error)
{
    gufo_str rest = gufo_str_of(expression);
    bool done = true;

    while (rest.len > 0 && done) {
        bool is_set;
        gufo_str element = next_element(rest, &is_set);

        if (is_set) {
            byte_set set = alphabet_set(a, element);

            done = append_set(out, &set);
        } else {
            done = append(out, element.data, element.len);
        }
        rest = str_from(rest, element.len);
    }
    return done && append(out, "", 1) ? GUFO_OK : fail_memory(error);
}
