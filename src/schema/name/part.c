/* The shapes of the single parts of a name.
 *
 * No part but the base name, the fine tune and the shard holds a '-', and all parts have '-' around
 * them: each test is about a whole component. */
#include "schema/name/name.h"

#include <string.h>

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
