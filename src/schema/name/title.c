/* Names for people, such as general.name, as parts of a file name.
 *
 *     Mistral-Nemo 12B Instruct v0.2     base name Mistral-Nemo, size 12B, fine tune Instruct,
 *                                        version v0.2
 *     Llama 3.1                          base name Llama-3-1
 *     SQLCoder 4bit                      base name SQLCoder-4-bit: a component that begins with a
 *                                        digit cannot have letters
 *
 *     通义千问 7B                        base name 通义千问: the convention refuses these,
 *                                        but they are the name of the model
 *
 * Everything but letters, digits and '.' divides words. */
#include "schema/name/name.h"

/* A size label; but "4k" is a length of context. */
static bool is_weight_class(gufo_str word)
{
    return name_is_size(word) && word.data[word.len - 1] != 'k' && word.data[word.len - 1] != 'K';
}

/* The end of the word, or of the separator, that begins at byte `at`. */
static size_t span(gufo_str text, size_t at, bool word)
{
    while (at < text.len) {
        size_t letter = text.data[at] == '.' ? 1 : name_letter(text, at);

        if ((letter > 0) != word)
            break;
        at += letter > 0 ? letter : 1;
    }
    return at;
}

/* Cuts the next word off the front: empty at the end. */
static gufo_str next_word(gufo_str *text)
{
    size_t from = span(*text, 0, false), to = span(*text, from, true);
    gufo_str word = name_slice(*text, from, to);

    *text = name_slice(*text, to, text->len);
    return word;
}

/* `last`: no word follows, so that a version is that of the model even without a size. */
static void read_word(name_title *title, gufo_str word, bool last)
{
    bool sized = title->size.len > 0, versioned = sized || (last && title->base.len > 0);

    if (!sized && title->base.len > 0 && is_weight_class(word) && name_set_size(&title->size, word))
        return;
    if (versioned && word.len <= NAME_PART_MAX && name_is_version(word))
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
