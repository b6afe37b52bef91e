/* Names for people, such as general.name, as parts of a file name.
 *
 *     Mistral-Nemo 12B Instruct v0.2     base name Mistral-Nemo, size 12B, fine tune Instruct,
 *                                        version v0.2
 *     Llama 3.1                          base name Llama-3-1
 *     SQLCoder 4bit                      base name SQLCoder-4-bit: a component that begins with a
 *                                        digit cannot have letters
 *
 * Everything but letters, digits and '.' divides words. */
#include "schema/name_suggest.h"

#include <string.h>

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '.';
}

static bool divides(char c)
{
    return !is_word(c);
}

static void append(name_text *out, char c)
{
    if (out->len < NAME_PART_MAX)
        out->data[out->len++] = c;
    out->data[out->len] = '\0';
}

/* A '-' that ends a text that was cut divides nothing. */
static void trim(name_text *text)
{
    while (text->len > 0 && text->data[text->len - 1] == '-')
        text->len--;
    text->data[text->len] = '\0';
}

void name_add(name_text *out, gufo_str text, bool as_base)
{
    bool first = out->len == 0, divide = !first, digits = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (!is_letter(c) && !is_digit(c)) {
            divide = out->len > 0;
            continue;
        }
        /* "4bit" has to be divided; but what the base name begins with may be "01ai". */
        if (as_base && !first && !divide && digits && is_letter(c))
            divide = true;
        if (divide) {
            append(out, '-');
            first = false;
        }
        digits = divide || i == 0 ? is_digit(c) : digits;
        divide = false;
        append(out, c);
    }
    trim(out);
}

/* A size label, and no "4k", which is a length of context. */
static bool is_weight_class(gufo_str word)
{
    return name_is_size(word) && strchr("MBTQmbtq", word.data[word.len - 1]) != NULL;
}

/* Cuts the next word off the front: empty at the end. */
static gufo_str next_word(gufo_str *text)
{
    size_t from = str_span(*text, 0, divides), to = from + str_span(*text, from, is_word);
    gufo_str word = name_slice(*text, from, to);

    *text = name_slice(*text, to, text->len);
    return word;
}

/* `last`: no word follows, so that a version belongs to the whole even where no size is. */
static void read_word(name_title *title, gufo_str word, bool last)
{
    bool sized = title->size.len > 0, versioned = sized || (last && title->base.len > 0);

    if (!sized && title->base.len > 0 && word.len <= NAME_PART_MAX && is_weight_class(word))
        name_set(&title->size, word);
    else if (versioned && word.len <= NAME_PART_MAX && name_is_version(word))
        name_set(&title->version, word);
    else
        name_add(sized ? &title->fine_tune : &title->base, word, !sized);
}

void name_read_title(gufo_str text, name_title *out)
{
    gufo_str word = next_word(&text), next;

    *out = (name_title){0};
    for (; word.len > 0; word = next) {
        next = next_word(&text);
        read_word(out, word, next.len == 0);
    }
}
