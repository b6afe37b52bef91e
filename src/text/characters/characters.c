/* Characters: UTF-8 as tokenizers read it, and the classes of Unicode 15.1. */
#include "text/characters/characters.h"

#include <string.h>

#include "base/sort.h"
#include "gufo/print.h"

#define LAST_CODE_POINT 0x10FFFF
#define REPLACEMENT 0xFFFD

/* Sorted, without overlap; what no row has is CLASS_OTHER. */
static const struct {
    uint32_t first, last;
    char class[2];
} ranges[] = {
#define ROW(first, last, class) {first, last, class},
#include "registry/unicode_classes.inc"
#undef ROW
};

enum { RANGES = sizeof ranges / sizeof *ranges };

static character_class class_named(char name)
{
    static const char names[] = "-LNPSMCW";

    return (character_class)(strchr(names, name) - names);
}

/* Of a code point that is before the range `row` or in it. */
static character_class class_at(size_t row, uint32_t code_point, uint32_t *last)
{
    if (row == RANGES) {
        *last = UINT32_MAX;
        return CLASS_OTHER;
    }
    if (code_point < ranges[row].first) {
        *last = ranges[row].first - 1;
        return CLASS_OTHER;
    }
    *last = ranges[row].last;
    return class_named(ranges[row].class[0]);
}

character_class class_next(size_t *row, uint32_t code_point, uint32_t *last)
{
    while (*row < RANGES && ranges[*row].last < code_point)
        (*row)++;
    return class_at(*row, code_point, last);
}

static bool ends_before(const void *unused, size_t row, const void *code_point)
{
    (void)unused;
    return ranges[row].last < *(const uint32_t *)code_point;
}

character_class class_of(uint32_t code_point)
{
    uint32_t last;

    return class_at(first_row_from(ranges, RANGES, ends_before, &code_point), code_point, &last);
}

uint32_t lenient_decode(const char *text, size_t len, size_t *size)
{
    static const uint8_t marks[] = {0x7F, 0x1F, 0x0F, 0x07};
    uint8_t first = (uint8_t)*text;
    size_t rest = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    uint32_t code_point = first & marks[rest];

    *size = 1;
    if ((first >= 0x80 && first < 0xC0) || first >= 0xF8 || len <= rest)
        return REPLACEMENT;
    for (size_t i = 1; i <= rest; i++) {
        if (((uint8_t)text[i] & 0xC0) != 0x80)
            return REPLACEMENT;
        code_point = code_point << 6 | ((uint8_t)text[i] & 0x3F);
    }
    *size = rest + 1;
    return code_point;
}

size_t lenient_encode(uint32_t code_point, char out[4])
{
    return gufo_utf8_encode(code_point <= LAST_CODE_POINT ? code_point : REPLACEMENT, out);
}

bool is_plain_character(gufo_str text, size_t at)
{
    char plain[4];
    size_t size;
    uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);

    return lenient_encode(code_point, plain) == size && memcmp(plain, text.data + at, size) == 0;
}

size_t character_before(gufo_str text, size_t end)
{
    for (size_t size = 1; size <= 4 && size <= end; size++) {
        size_t taken;

        (void)lenient_decode(text.data + end - size, size, &taken);
        if (taken == size && (size > 1 || (uint8_t)text.data[end - 1] < 0x80))
            return end - size;
    }
    return end - 1;
}
