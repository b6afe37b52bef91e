/* The shapes of the single parts of a name.
 *
 * No part but the base name, the fine tune and the shard holds a '-', and all parts have '-' around
 * them: each test is about a whole component. */
#include "schema/name/name.h"

#include <string.h>

#include "gufo/print.h"

size_t name_component(gufo_str text, size_t from)
{
    const char *end = from < text.len ? memchr(text.data + from, '-', text.len - from) : NULL;

    return end != NULL ? (size_t)(end - text.data) - from : text.len - from;
}

size_t name_sidecar(gufo_str text)
{
    static const char *const sidecars[] = {"mmproj-", "mtp-"};

    for (size_t i = 0; i < sizeof sidecars / sizeof *sidecars; i++)
        if (str_begins(text, sidecars[i]))
            return strlen(sidecars[i]);
    return 0;
}

bool name_stem(gufo_str name, gufo_str *stem)
{
    if (!str_ends(name, NAME_EXTENSION))
        return false;
    *stem = name_slice(name, 0, name.len - strlen(NAME_EXTENSION));
    return true;
}

/* Each continues from `at` to the end of the class. */
static size_t skip_digits(gufo_str text, size_t at)
{
    return at + str_digits(text, at);
}

static size_t skip_letters(gufo_str text, size_t at)
{
    return at + str_span(text, at, is_letter);
}

static bool has_at(gufo_str text, size_t at, char c)
{
    return at < text.len && text.data[at] == c;
}

/* Digits, with a fraction or without: the end of them, `at` if none exist. */
static size_t skip_number(gufo_str text, size_t at)
{
    size_t end = skip_digits(text, at);
    size_t fraction = has_at(text, end, '.') ? skip_digits(text, end + 1) : 0;

    if (end == at)
        return at;
    return fraction > end + 1 ? fraction : end;
}

/* [A-Za-z0-9\s]* for the first; [A-Za-z\s][A-Za-z0-9\s]* or [0-9\s]* for the others: what begins
 * with a digit has no letters. */
bool name_is_base(gufo_str component, bool first)
{
    bool digits_only = !first && component.len > 0 && is_digit(component.data[0]);

    for (size_t i = 0; i < component.len; i++)
        if (!name_is_plain(component.data[i]) || (digits_only && is_letter(component.data[i])))
            return false;
    return true;
}

/* (\d+x)?(\d+\.)?\d+[A-Za-z] */
bool name_is_size(gufo_str component)
{
    size_t experts = skip_digits(component, 0), at = 0;

    if (experts > 0 && has_at(component, experts, 'x') && experts + 1 < component.len)
        at = experts + 1;
    size_t end = skip_number(component, at);

    return end > at && end + 1 == component.len && is_letter(component.data[end]);
}

/* [A-Za-z]+(\d+\.)?\d+[A-Za-z]+ */
bool name_is_attribute(gufo_str component)
{
    size_t number = skip_letters(component, 0), end = skip_number(component, number);

    return number > 0 && end > number && end < component.len &&
           skip_letters(component, end) == component.len;
}

/* v\d+(\.\d+)* */
bool name_is_version(gufo_str component)
{
    size_t at = 0;

    if (!has_at(component, 0, 'v'))
        return false;
    do {
        size_t end = skip_digits(component, at + 1);

        if (end == at + 1)
            return false;
        at = end;
    } while (has_at(component, at, '.'));
    return at == component.len;
}

static bool is_word_character(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* (?!LoRA|vocab)\w+ */
bool name_is_encoding(gufo_str component)
{
    return component.len > 0 && str_span(component, 0, is_word_character) == component.len &&
           !str_begins(component, "LoRA") && !str_begins(component, "vocab");
}

bool name_is_type(gufo_str component)
{
    return name_is(component, "LoRA") || name_is(component, "vocab");
}

/* \d{5}-of-\d{5} */
bool name_is_shard(gufo_str text)
{
    static const char shape[] = "ddddd-of-ddddd";

    for (size_t i = 0; i < sizeof shape - 1 && text.len == sizeof shape - 1; i++)
        if (shape[i] == 'd' ? !is_digit(text.data[i]) : text.data[i] != shape[i])
            return false;
    return text.len == sizeof shape - 1;
}

/* ---- texts as parts of a name ------------------------------------------------------------------- */

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
    len = gufo_utf8_decode(str_from(text, at), &code);
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
