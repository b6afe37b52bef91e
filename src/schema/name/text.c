/* Texts as parts of a name. */
#include "schema/name/name.h"

#include <string.h>

#include "base/utf8.h"

void name_set(name_text *out, gufo_str text)
{
    *out = (name_text){.len = text.len};
    memcpy(out->data, text.data, text.len);
}

gufo_str name_text_view(const name_text *text)
{
    return text->len > 0 ? (gufo_str){text->data, text->len} : (gufo_str){0};
}

bool name_find(gufo_str text, const char *part, size_t *at)
{
    size_t len = strlen(part);

    for (*at = 0; *at + len <= text.len; (*at)++)
        if (memcmp(text.data + *at, part, len) == 0)
            return true;
    return false;
}

/* Appends a piece, or nothing if it does not fit. */
static bool append(name_text *out, gufo_str piece)
{
    if (piece.len > NAME_PART_MAX - out->len)
        return false;
    memcpy(out->data + out->len, piece.data, piece.len);
    out->len += piece.len;
    out->data[out->len] = '\0';
    return true;
}

/* Drops a '-' at the end of a text that was cut. */
static void trim(name_text *text)
{
    while (text->len > 0 && text->data[text->len - 1] == '-')
        text->len--;
    text->data[text->len] = '\0';
}

/* Characters outside ASCII that are neither letters nor digits nor marks on them: signs,
 * punctuation of the world's scripts, symbols, pictures, and code points without a
 * character. */
static const struct {
    uint32_t first, last;
} dividers[] = {
    {0x80, 0xa9},     {0xab, 0xb4},       {0xb6, 0xb9},        {0xbb, 0xbf},     {0xd7, 0xd7},
    {0xf7, 0xf7},     {0x37e, 0x37e},     {0x387, 0x387},      {0x55a, 0x55f},   {0x589, 0x58a},
    {0x5be, 0x5be},   {0x5f3, 0x5f4},     {0x60c, 0x60d},      {0x61b, 0x61f},   {0x66a, 0x66d},
    {0x6d4, 0x6d4},   {0x964, 0x965},     {0xe4f, 0xe4f},      {0x2000, 0x206f}, {0x20a0, 0x20cf},
    {0x2190, 0x2bff}, {0x2e00, 0x2fff},   {0x3000, 0x3004},    {0x3008, 0x3020}, {0x3030, 0x3030},
    {0x303d, 0x303f}, {0x30fb, 0x30fb},   {0xe000, 0xf8ff},    {0xfd3e, 0xfd3f}, {0xfe00, 0xfe1f},
    {0xfe30, 0xfe6f}, {0xfeff, 0xff0f},   {0xff1a, 0xff20},    {0xff3b, 0xff40}, {0xff5b, 0xff65},
    {0xffe0, 0xffff}, {0x1f000, 0x1faff}, {0xe0000, 0x10ffff},
};

size_t name_letter(gufo_str text, size_t at)
{
    uint32_t code;
    size_t len;

    if ((unsigned char)text.data[at] < 0x80)
        return is_letter(text.data[at]) || is_digit(text.data[at]);
    len = utf8_decode(str_from(text, at), &code);
    for (size_t i = 0; i < sizeof dividers / sizeof *dividers && len > 0; i++)
        if (code >= dividers[i].first && code <= dividers[i].last)
            return 0;
    return len;
}

void name_add(name_text *out, gufo_str text, bool as_base)
{
    bool first = out->len == 0, divide = !first, digits = false, begun = false;

    for (size_t at = 0, len; at < text.len; at += len) {
        bool digit = is_digit(text.data[at]);

        len = name_letter(text, at);
        if (len == 0) {
            divide = out->len > 0;
            len = 1;
            continue;
        }
        /* "4bit" is divided; but a base name may begin with "01ai". */
        divide = divide || (as_base && !first && digits && !digit);
        digits = divide || !begun ? digit : digits;
        if (divide && !append(out, gufo_str_of("-")))
            break;
        first = first && !divide;
        divide = false;
        begun = true;
        if (!append(out, name_slice(text, at, at + len)))
            break;
    }
    trim(out);
}
