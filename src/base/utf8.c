/* UTF-8 as RFC 3629 defines it.
 *
 *     bytes                                   code points
 *     0xxxxxxx                                U+0000 .. U+007F
 *     110xxxxx 10xxxxxx                       U+0080 .. U+07FF
 *     1110xxxx 10xxxxxx 10xxxxxx              U+0800 .. U+FFFF without U+D800 .. U+DFFF
 *     11110xxx 10xxxxxx 10xxxxxx 10xxxxxx     U+10000 .. U+10FFFF
 *
 * A sequence that is longer than its code point needs is invalid. */
#include "gufo/print.h"

#include "base/bytes.h"

static const struct utf8_form {
    uint8_t lead_mask, lead_bits;
    uint32_t smallest;
} utf8_forms[] = {
    {0x80, 0x00, 0x0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

size_t gufo_utf8_decode(gufo_str text, uint32_t *code_point)
{
    const unsigned char *bytes = (const unsigned char *)text.data;

    for (size_t form = 0; form < 4; form++) {
        if ((bytes[0] & utf8_forms[form].lead_mask) != utf8_forms[form].lead_bits)
            continue;
        uint32_t value = bytes[0] & (uint8_t)~utf8_forms[form].lead_mask;

        if (form >= text.len)
            return 0;
        for (size_t i = 1; i <= form; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (bytes[i] & 0x3f);
        }
        if (value < utf8_forms[form].smallest || value > 0x10ffff ||
            (value >= 0xd800 && value <= 0xdfff))
            return 0;
        *code_point = value;
        return form + 1;
    }
    return 0;
}

size_t gufo_utf8_encode(uint32_t code_point, char out[4])
{
    size_t form = 0;

    while (form < 3 && code_point >= utf8_forms[form + 1].smallest)
        form++;
    for (size_t i = form; i > 0; i--, code_point >>= 6)
        out[i] = (char)(0x80 | (code_point & 0x3f));
    out[0] = (char)(utf8_forms[form].lead_bits | code_point);
    return form + 1;
}

/* Length of the run of ASCII at the beginning: most of what is checked is ASCII. */
static size_t ascii_run(gufo_str text)
{
    for (size_t done = 0; done < text.len; done += 8) {
        uint64_t others = load_start(text.data + done, text.len - done) & 0x8080808080808080u;

        if (others != 0)
            return done + (size_t)__builtin_ctzll(others) / 8;
    }
    return text.len;
}

/* Length of a valid sequence of two bytes, the usual one in vocabularies of byte-level BPE; 0 for
 * any other. */
static size_t pair_len(gufo_str text)
{
    const unsigned char *at = (const unsigned char *)text.data;

    return text.len > 1 && at[0] >= 0xc2 && at[0] <= 0xdf && (at[1] & 0xc0) == 0x80 ? 2 : 0;
}

size_t gufo_utf8_valid_prefix(gufo_str text)
{
    size_t done = 0, step = 1;

    for (; step > 0 && done < text.len; done += step) {
        gufo_str rest = {text.data + done, text.len - done};
        uint32_t ignored;

        step = (uint8_t)*rest.data < 0x80 ? ascii_run(rest) : pair_len(rest);
        if (step == 0)
            step = gufo_utf8_decode(rest, &ignored);
    }
    return done;
}

typedef struct code_range {
    uint32_t first, last;
} code_range;

static const code_range control_ranges[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c},
    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
};

/* Characters that take no place, but for controls, joiners and variation selectors. */
static const code_range invisible_ranges[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x200b, 0x200b},   {0x2060, 0x2065},   {0x206a, 0x206f},   {0x3164, 0x3164},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff9, 0xfffb},   {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0xe0fff},
};
static const code_range selector_ranges[] = {{0xfe00, 0xfe0f}, {0xe0100, 0xe01ef}};

static bool is_among(const code_range *ranges, size_t count, uint32_t code_point)
{
    for (size_t i = 0; i < count; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last)
            return true;
    return false;
}

#define AMONG(ranges, code_point) is_among(ranges, sizeof(ranges) / sizeof *(ranges), code_point)

bool gufo_utf8_is_control(uint32_t code_point)
{
    return AMONG(control_ranges, code_point);
}

bool gufo_utf8_is_hidden(gufo_str text)
{
    uint32_t code_point, next = 0;
    size_t len = gufo_utf8_decode(text, &code_point);

    if (len == 0)
        return true;
    if (code_point < 0xad)
        return gufo_utf8_is_control(code_point);
    if (AMONG(invisible_ranges, code_point) || gufo_utf8_is_control(code_point))
        return true;
    if (text.len > len)
        (void)gufo_utf8_decode((gufo_str){text.data + len, text.len - len}, &next);
    if (code_point == 0x200c || code_point == 0x200d)
        return next < 0x80;
    return AMONG(selector_ranges, code_point) && AMONG(selector_ranges, next);
}
