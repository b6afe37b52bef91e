/* Characters as Python sees them, on utf8proc: that one has the categories and the simple cases;
 * the cases that make several characters of one are a table here. */
#include "text/template/values/characters.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "base/text.h"
#include "base/utf8.h"

typedef struct point_range {
    uint32_t first, last;
} point_range;

static bool in_ranges(const point_range *ranges, size_t count, uint32_t point)
{
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

#define IN(ranges, point) in_ranges((ranges), sizeof(ranges) / sizeof(*(ranges)), (point))

bool is_space(uint32_t point)
{
    static const point_range spaces[] = {
        {0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
        {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
    };

    return IN(spaces, point);
}

uint32_t point_at(gufo_str text, size_t *len)
{
    uint32_t point = 0xFFFD;

    if ((uint8_t)*text.data < 0x80) {
        *len = 1;
        return (uint8_t)*text.data;
    }
    *len = utf8_decode(text, &point);
    if (*len == 0)
        *len = 1;
    return point;
}

size_t last_point(gufo_str text)
{
    size_t len = 1;

    while (len < text.len && len < 4 && ((uint8_t)text.data[text.len - len] & 0xC0) == 0x80)
        len++;
    return len;
}

size_t point_write(uint32_t point, char out[4])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)point, (utf8proc_uint8_t *)out);
}

size_t space_before(gufo_str text)
{
    size_t at = 0, len;

    while (at < text.len && is_space(point_at(str_from(text, at), &len)))
        at += len;
    return at;
}

size_t space_behind(gufo_str text)
{
    size_t rest = text.len, len;

    while (rest > 0) {
        size_t last = last_point((gufo_str){text.data, rest});

        if (!is_space(point_at((gufo_str){text.data + rest - last, last}, &len)))
            break;
        rest -= last;
    }
    return text.len - rest;
}

static utf8proc_category_t category(uint32_t point)
{
    return utf8proc_category((utf8proc_int32_t)point);
}

static bool category_in(uint32_t point, uint64_t set)
{
    return (set >> category(point) & 1) != 0;
}

#define CATEGORY(name) (UINT64_C(1) << UTF8PROC_CATEGORY_##name)
#define LETTERS (CATEGORY(LU) | CATEGORY(LL) | CATEGORY(LT) | CATEGORY(LM) | CATEGORY(LO))

bool is_name_point(uint32_t point)
{
    return point == '_' || point == 0xB7 ||
           category_in(point, LETTERS | CATEGORY(MN) | CATEGORY(MC) | CATEGORY(ND) | CATEGORY(NL) |
                                  CATEGORY(NO) | CATEGORY(PC));
}

bool is_identifier(gufo_str text)
{
    for (size_t at = 0, len; at < text.len; at += len) {
        uint32_t point = point_at(str_from(text, at), &len);
        uint64_t inside = at == 0 ? 0 : CATEGORY(MN) | CATEGORY(MC) | CATEGORY(ND) | CATEGORY(PC);

        if (point != '_' && !category_in(point, LETTERS | CATEGORY(NL) | inside))
            return false;
    }
    return text.len != 0;
}

bool is_printable(uint32_t point)
{
    return point == ' ' ||
           !category_in(point, CATEGORY(CN) | CATEGORY(CC) | CATEGORY(CF) | CATEGORY(CS) |
                                   CATEGORY(CO) | CATEGORY(ZL) | CATEGORY(ZP) | CATEGORY(ZS));
}

bool is_alphabetic(uint32_t point)
{
    return category_in(point, LETTERS);
}

bool is_decimal(uint32_t point)
{
    return category_in(point, CATEGORY(ND));
}

bool is_digit_point(uint32_t point)
{
    static const point_range digits[] = {
        {0xB2, 0xB3},       {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},
        {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
        {0x2474, 0x247C},   {0x2488, 0x2490},   {0x24EA, 0x24EA},   {0x24F5, 0x24FD},
        {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},   {0x278A, 0x2792},
        {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A},
    };

    return is_decimal(point) || IN(digits, point);
}

bool is_numeric(uint32_t point)
{
    return category_in(point, CATEGORY(ND) | CATEGORY(NL) | CATEGORY(NO)) || is_digit_point(point);
}

bool is_word_point(uint32_t point)
{
    return point == '_' || is_alphabetic(point) || is_numeric(point);
}

bool is_lower_point(uint32_t point)
{
    static const point_range others[] = {
        {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},
        {0x2E0, 0x2E4},     {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},
        {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},   {0x2071, 0x2071},   {0x207F, 0x207F},
        {0x2090, 0x209C},   {0x2170, 0x217F},   {0x24D0, 0x24E9},   {0x2C7C, 0x2C7D},
        {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},   {0xAB5C, 0xAB5F},
        {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA},
    };

    return category_in(point, CATEGORY(LL)) || IN(others, point);
}

bool is_upper_point(uint32_t point)
{
    static const point_range others[] = {
        {0x2160, 0x216F},   {0x24B6, 0x24CF},   {0x1F130, 0x1F149},
        {0x1F150, 0x1F169}, {0x1F170, 0x1F189},
    };

    return category_in(point, CATEGORY(LU)) || IN(others, point);
}

bool is_title_point(uint32_t point)
{
    return category_in(point, CATEGORY(LT));
}

bool is_cased(uint32_t point)
{
    return is_lower_point(point) || is_upper_point(point) || is_title_point(point);
}

bool is_case_ignorable(uint32_t point)
{
    static const point_range marks[] = {
        {'\'', '\''},     {'.', '.'},       {':', ':'},       {0xB7, 0xB7},
        {0x2018, 0x2019}, {0x2024, 0x2024}, {0x2027, 0x2027},
    };

    return category_in(point,
                       CATEGORY(MN) | CATEGORY(ME) | CATEGORY(CF) | CATEGORY(LM) | CATEGORY(SK)) ||
           IN(marks, point);
}

/* Unicode's SpecialCasing: characters whose upper or title case has several. */
typedef struct special_case {
    uint32_t point, upper[3], title[3];
} special_case;

static const special_case special_cases[] = {
    {0xDF, {0x53, 0x53}, {0x53, 0x73}},
    {0x149, {0x2BC, 0x4E}, {0x2BC, 0x4E}},
    {0x1F0, {0x4A, 0x30C}, {0x4A, 0x30C}},
    {0x390, {0x399, 0x308, 0x301}, {0x399, 0x308, 0x301}},
    {0x3B0, {0x3A5, 0x308, 0x301}, {0x3A5, 0x308, 0x301}},
    {0x587, {0x535, 0x552}, {0x535, 0x582}},
    {0x1E96, {0x48, 0x331}, {0x48, 0x331}},
    {0x1E97, {0x54, 0x308}, {0x54, 0x308}},
    {0x1E98, {0x57, 0x30A}, {0x57, 0x30A}},
    {0x1E99, {0x59, 0x30A}, {0x59, 0x30A}},
    {0x1E9A, {0x41, 0x2BE}, {0x41, 0x2BE}},
    {0x1F50, {0x3A5, 0x313}, {0x3A5, 0x313}},
    {0x1F52, {0x3A5, 0x313, 0x300}, {0x3A5, 0x313, 0x300}},
    {0x1F54, {0x3A5, 0x313, 0x301}, {0x3A5, 0x313, 0x301}},
    {0x1F56, {0x3A5, 0x313, 0x342}, {0x3A5, 0x313, 0x342}},
    {0x1F80, {0x1F08, 0x399}, {0x1F88}},
    {0x1F81, {0x1F09, 0x399}, {0x1F89}},
    {0x1F82, {0x1F0A, 0x399}, {0x1F8A}},
    {0x1F83, {0x1F0B, 0x399}, {0x1F8B}},
    {0x1F84, {0x1F0C, 0x399}, {0x1F8C}},
    {0x1F85, {0x1F0D, 0x399}, {0x1F8D}},
    {0x1F86, {0x1F0E, 0x399}, {0x1F8E}},
    {0x1F87, {0x1F0F, 0x399}, {0x1F8F}},
    {0x1F88, {0x1F08, 0x399}, {0x1F88}},
    {0x1F89, {0x1F09, 0x399}, {0x1F89}},
    {0x1F8A, {0x1F0A, 0x399}, {0x1F8A}},
    {0x1F8B, {0x1F0B, 0x399}, {0x1F8B}},
    {0x1F8C, {0x1F0C, 0x399}, {0x1F8C}},
    {0x1F8D, {0x1F0D, 0x399}, {0x1F8D}},
    {0x1F8E, {0x1F0E, 0x399}, {0x1F8E}},
    {0x1F8F, {0x1F0F, 0x399}, {0x1F8F}},
    {0x1F90, {0x1F28, 0x399}, {0x1F98}},
    {0x1F91, {0x1F29, 0x399}, {0x1F99}},
    {0x1F92, {0x1F2A, 0x399}, {0x1F9A}},
    {0x1F93, {0x1F2B, 0x399}, {0x1F9B}},
    {0x1F94, {0x1F2C, 0x399}, {0x1F9C}},
    {0x1F95, {0x1F2D, 0x399}, {0x1F9D}},
    {0x1F96, {0x1F2E, 0x399}, {0x1F9E}},
    {0x1F97, {0x1F2F, 0x399}, {0x1F9F}},
    {0x1F98, {0x1F28, 0x399}, {0x1F98}},
    {0x1F99, {0x1F29, 0x399}, {0x1F99}},
    {0x1F9A, {0x1F2A, 0x399}, {0x1F9A}},
    {0x1F9B, {0x1F2B, 0x399}, {0x1F9B}},
    {0x1F9C, {0x1F2C, 0x399}, {0x1F9C}},
    {0x1F9D, {0x1F2D, 0x399}, {0x1F9D}},
    {0x1F9E, {0x1F2E, 0x399}, {0x1F9E}},
    {0x1F9F, {0x1F2F, 0x399}, {0x1F9F}},
    {0x1FA0, {0x1F68, 0x399}, {0x1FA8}},
    {0x1FA1, {0x1F69, 0x399}, {0x1FA9}},
    {0x1FA2, {0x1F6A, 0x399}, {0x1FAA}},
    {0x1FA3, {0x1F6B, 0x399}, {0x1FAB}},
    {0x1FA4, {0x1F6C, 0x399}, {0x1FAC}},
    {0x1FA5, {0x1F6D, 0x399}, {0x1FAD}},
    {0x1FA6, {0x1F6E, 0x399}, {0x1FAE}},
    {0x1FA7, {0x1F6F, 0x399}, {0x1FAF}},
    {0x1FA8, {0x1F68, 0x399}, {0x1FA8}},
    {0x1FA9, {0x1F69, 0x399}, {0x1FA9}},
    {0x1FAA, {0x1F6A, 0x399}, {0x1FAA}},
    {0x1FAB, {0x1F6B, 0x399}, {0x1FAB}},
    {0x1FAC, {0x1F6C, 0x399}, {0x1FAC}},
    {0x1FAD, {0x1F6D, 0x399}, {0x1FAD}},
    {0x1FAE, {0x1F6E, 0x399}, {0x1FAE}},
    {0x1FAF, {0x1F6F, 0x399}, {0x1FAF}},
    {0x1FB2, {0x1FBA, 0x399}, {0x1FBA, 0x345}},
    {0x1FB3, {0x391, 0x399}, {0x1FBC}},
    {0x1FB4, {0x386, 0x399}, {0x386, 0x345}},
    {0x1FB6, {0x391, 0x342}, {0x391, 0x342}},
    {0x1FB7, {0x391, 0x342, 0x399}, {0x391, 0x342, 0x345}},
    {0x1FBC, {0x391, 0x399}, {0x1FBC}},
    {0x1FC2, {0x1FCA, 0x399}, {0x1FCA, 0x345}},
    {0x1FC3, {0x397, 0x399}, {0x1FCC}},
    {0x1FC4, {0x389, 0x399}, {0x389, 0x345}},
    {0x1FC6, {0x397, 0x342}, {0x397, 0x342}},
    {0x1FC7, {0x397, 0x342, 0x399}, {0x397, 0x342, 0x345}},
    {0x1FCC, {0x397, 0x399}, {0x1FCC}},
    {0x1FD2, {0x399, 0x308, 0x300}, {0x399, 0x308, 0x300}},
    {0x1FD3, {0x399, 0x308, 0x301}, {0x399, 0x308, 0x301}},
    {0x1FD6, {0x399, 0x342}, {0x399, 0x342}},
    {0x1FD7, {0x399, 0x308, 0x342}, {0x399, 0x308, 0x342}},
    {0x1FE2, {0x3A5, 0x308, 0x300}, {0x3A5, 0x308, 0x300}},
    {0x1FE3, {0x3A5, 0x308, 0x301}, {0x3A5, 0x308, 0x301}},
    {0x1FE4, {0x3A1, 0x313}, {0x3A1, 0x313}},
    {0x1FE6, {0x3A5, 0x342}, {0x3A5, 0x342}},
    {0x1FE7, {0x3A5, 0x308, 0x342}, {0x3A5, 0x308, 0x342}},
    {0x1FF2, {0x1FFA, 0x399}, {0x1FFA, 0x345}},
    {0x1FF3, {0x3A9, 0x399}, {0x1FFC}},
    {0x1FF4, {0x38F, 0x399}, {0x38F, 0x345}},
    {0x1FF6, {0x3A9, 0x342}, {0x3A9, 0x342}},
    {0x1FF7, {0x3A9, 0x342, 0x399}, {0x3A9, 0x342, 0x345}},
    {0x1FFC, {0x3A9, 0x399}, {0x1FFC}},
    {0xFB00, {0x46, 0x46}, {0x46, 0x66}},
    {0xFB01, {0x46, 0x49}, {0x46, 0x69}},
    {0xFB02, {0x46, 0x4C}, {0x46, 0x6C}},
    {0xFB03, {0x46, 0x46, 0x49}, {0x46, 0x66, 0x69}},
    {0xFB04, {0x46, 0x46, 0x4C}, {0x46, 0x66, 0x6C}},
    {0xFB05, {0x53, 0x54}, {0x53, 0x74}},
    {0xFB06, {0x53, 0x54}, {0x53, 0x74}},
    {0xFB13, {0x544, 0x546}, {0x544, 0x576}},
    {0xFB14, {0x544, 0x535}, {0x544, 0x565}},
    {0xFB15, {0x544, 0x53B}, {0x544, 0x56B}},
    {0xFB16, {0x54E, 0x546}, {0x54E, 0x576}},
    {0xFB17, {0x544, 0x53D}, {0x544, 0x56D}},
};

static int compare_special(const void *wanted, const void *row)
{
    uint32_t point = *(const uint32_t *)wanted, other = ((const special_case *)row)->point;

    return (point > other) - (point < other);
}

static size_t copy_points(const uint32_t from[3], uint32_t out[3])
{
    size_t count = 0;

    while (count < 3 && from[count] != 0) {
        out[count] = from[count];
        count++;
    }
    return count;
}

static size_t fold(uint32_t point, uint32_t out[3])
{
    utf8proc_int32_t folded[8];
    int boundary = 0;
    utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)point, folded, 8, UTF8PROC_CASEFOLD, &boundary);

    if (count < 1 || count > 3) {
        out[0] = point;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++)
        out[i] = (uint32_t)folded[i];
    return (size_t)count;
}

size_t point_case(uint32_t point, letter_case to, uint32_t out[3])
{
    utf8proc_int32_t (*const simple[])(utf8proc_int32_t) = {
        [CASE_LOWER] = utf8proc_tolower,
        [CASE_UPPER] = utf8proc_toupper,
        [CASE_TITLE] = utf8proc_totitle,
    };
    const special_case *row;

    if (to == CASE_FOLD)
        return fold(point, out);
    if (to == CASE_LOWER && point == 0x130) /* dotted I: i and a dot above */
        return copy_points((const uint32_t[3]){'i', 0x307, 0}, out);
    row = to == CASE_LOWER || point < 0x80
              ? NULL
              : bsearch(&point, special_cases, sizeof(special_cases) / sizeof(*special_cases),
                        sizeof(*special_cases), compare_special);
    if (row != NULL)
        return copy_points(to == CASE_UPPER ? row->upper : row->title, out);
    out[0] = (uint32_t)simple[to]((utf8proc_int32_t)point);
    return 1;
}
