/* An alphabet of one byte per character: see alphabet.h. */
#include "text/pretokenizers/alphabet.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/characters/characters.h"

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
        gufo_str element = expression_element(rest, &is_set);
        size_t number;

        if (is_set)
            status = character_sets_add(&a->sets, element, &number, error);
        rest = str_from(rest, element.len);
    }
    if (status == GUFO_OK && a->sets.count > MOST_SETS)
        return refuse(error, GUFO_E_LIMIT, "expressions with more than %d sets of characters",
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
        return refuse(error, GUFO_E_LIMIT, "expressions with too many classes of characters");
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
        gufo_str element = expression_element(rest, &is_set);

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
